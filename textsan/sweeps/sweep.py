"""Tables: every table of results is a grid of cells, computed, kept and recorded by this one engine.

A cell is an attack or a task on sanitized text (`sanitized`), or an experiment of another kind (`studies`). Cells
that share their sanitized text are a family, which one worker computes together. A result is a json file (written
last: where it is, the cell is done) and an npz file of what was hit at each position, or of what was answered in
each test example; so a sweep that was stopped goes on where it was. A cell is known by its values: a result that
is there is taken, unless a plugin, or a file of word vectors, was another.
"""

import io
import json
import platform
import time
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import CancelledError
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, nullcontext
from functools import partial
from pathlib import Path
from threading import Event, Thread
from typing import Any

import joblib
import numpy as np
import pandas as pd
import yaml
from filelock import FileLock, Timeout
from tqdm import tqdm

from textsan.attacks import ATTACKS
from textsan.base import cache, cluster, extras, kernels, plugins
from textsan.base.assets import file_sha256
from textsan.base.cache import write_whole
from textsan.base.registry import Entry
from textsan.evaluation import clustered_difference
from textsan.mechanisms import MECHANISMS
from textsan.models.causal import CAUSAL
from textsan.models.encoders import ENCODER
from textsan.sweeps import hits, sanitized, studies
from textsan.sweeps.specification import Cell
from textsan.text import corpora
from textsan.text.loading import COUNTER_FITTED, GLOVE
from textsan.utility import TASKS

_CORPORA = {
    "rt": "in place of SST-2, whose sentences are of the same reviews",
    "nyt": "in place of AG News",
    "amazon": "in place of Yelp",
    "tweets": "in no paper",
}
_VECTORS = {
    GLOVE: f"{GLOVE}, in place of GloVe 840B with 300 dimensions",
    COUNTER_FITTED: f"{GLOVE}, counter-fitted anew, in place of the published counter-fitted vectors",
}
_MODELS = {
    ENCODER: f"{ENCODER}, in place of bert-base-uncased",
    CAUSAL: f"{CAUSAL}, instruction-tuned, four bits a weight, in place of the base model in full precision",
}

_PACKAGES = ("textsan", "numpy", "scipy", "scikit-learn", "torch", "transformers", "tensorly")
_PACKAGES += ("presidio-analyzer", "presidio-anonymizer", "spacy")
_DATA = ("dataset", "shadow_dataset")  # keys of a cell that name data sets
_INTERVALS = "clustered_rate and clustered_difference, of other scores resampled, by source"
_DIGITS = 5  # of the numbers in a stored table
_BEAT = 0.5  # seconds between two looks at which cells have ended
_REGISTRIES = (MECHANISMS, ATTACKS, TASKS)


def run(
    cells: list[Cell],
    folder: Path,
    *,
    workers: int = -1,
    scheduler: str | None = None,
    baselines: Sequence[str] = (),
) -> list[str]:
    """Compute the cells that have no result yet, and write the table of all that have: see `write_table`.

    Args:
        folder: where results go; every worker must reach it under this name.
        workers: processes on this machine; -1 is one a core.
        scheduler: address of a dask scheduler, whose workers are used instead.
        baselines: names of attacks that the others are compared with in the table.

    Returns:
        a line for each cell that failed.

    Raises:
        ValueError: another sweep is writing to the folder, or dask is asked for and not installed.
        ConnectionError: no scheduler answers.
    """
    for name in baselines:
        _attack(name, cells)
    missing = [cell for cell in cells if not is_computed(cell, folder)]
    for name in {cell[key] for cell in missing if "experiment" not in cell for key in _DATA} - {None}:
        corpora.load_dataset(name)  # one that is not there ends before anything runs
    stored, failures = Path(folder).resolve() / "cells", []
    files = [stored / f"{cell.name}.json" for cell in cells]
    stored.mkdir(parents=True, exist_ok=True)
    with only_writer(stored.parent), cluster.connect(scheduler) if scheduler else nullcontext() as client:
        for part in stored.glob("*.part"):  # of a sweep that was killed
            part.unlink()
        for cell in missing:  # made with other plugins
            _file(cell, folder).unlink(missing_ok=True)
        done = len(cells) - len(missing)
        with tqdm(total=len(cells), initial=done, desc="sweep", unit="cell") as progress:
            with _following(progress, files):
                for number, failed in _computed(missing, stored, workers, client):
                    failures += failed
                    done += number
            progress.update(done - progress.n)  # with those that failed
    write_table(cells, folder, baselines)
    return failures


@contextmanager
def _following(progress: tqdm, results: list[Path]) -> Iterator[None]:
    """Move the bar as results are written: a worker returns with a whole family of cells, minutes later."""
    ended = Event()

    def follow():
        while not ended.wait(_BEAT):
            done = sum(map(Path.exists, results))
            if done > progress.n:  # else nothing is drawn: not every output is a terminal
                progress.update(done - progress.n)

    follower = Thread(target=follow, daemon=True)
    follower.start()
    try:
        yield
    finally:
        ended.set()
        follower.join()


@contextmanager
def only_writer(folder: Path) -> Iterator[None]:
    """Hold a folder for one process: an error where another one has it."""
    try:
        with FileLock(folder / ".lock", timeout=0):
            yield
    except Timeout:
        raise ValueError(f"output: another sweep is writing to {folder}; wait for it, or choose another") from None


# --- who computes -------------------------------------------------------------------------------------------


def _computed(cells: list[Cell], stored: Path, workers: int, client) -> Iterator[tuple[int, list[str]]]:
    """Yield, for each family that is done, the number of its cells and a line for each that failed."""
    families: dict[str, list[Cell]] = {}
    for cell in cells:
        families.setdefault(cell.family, []).append(cell)
    entries = [registry.plugged_in for registry in _REGISTRIES]
    compute = partial(_compute_family, stored=stored, entries=entries, plugged=plugins.loaded())
    if client is not None:
        yield from _computed_by(client, compute, families.values())
        return
    jobs = [joblib.delayed(compute)(family) for family in families.values()]
    try:
        yield from joblib.Parallel(n_jobs=workers, return_as="generator_unordered")(jobs)
    except BrokenProcessPool:
        yield 0, ["a worker was killed (out of memory?); start again with fewer workers"]


def _computed_by(client, compute: Callable, families: Iterable[list[Cell]]) -> Iterator[tuple[int, list[str]]]:
    # Not joblib's backend of dask: there a worker that dies ends the sweep. Here it takes its family along.
    from distributed import KilledWorker

    waiting = {client.submit(compute, family, pure=False): family for family in families}
    try:
        while waiting:
            for future in cluster.finished(client, waiting):
                family = waiting.pop(future)
                try:
                    yield future.result()
                except KilledWorker:
                    lost = f"{family[0].name} and its {len(family) - 1} further attacks"
                    cause = "worker that had it was killed (out of memory?); start again with smaller ones"
                    yield len(family), [f"{lost}: the dask {cause}"]
    except (ConnectionError, CancelledError) as error:
        lost = "scheduler: it is gone" if isinstance(error, CancelledError) else str(error)
        yield 0, [f"{lost}, with {len(waiting)} families to do; start again"]


def _compute_family(
    cells: list[Cell], stored: Path, entries: list[list[Entry]], plugged: Mapping[str, str]
) -> tuple[int, list[str]]:
    """Compute and store cells of one family, in a worker, which may have to learn entries of registries."""
    failures, kind = [], studies if "experiment" in cells[0] else sanitized
    try:
        plugins.load_same(plugged)
        for registry, unknown in zip(_REGISTRIES, entries, strict=True):
            for entry in unknown:
                registry.add(entry)
        for cell, compute in zip(cells, kind.outcomes(cells, stored), strict=True):
            try:
                start = time.perf_counter()
                outcome = compute()
                seconds = round(time.perf_counter() - start, 3)
                versions = [f"python {platform.python_version()}", *cache.versions(_PACKAGES)]
                made = {"seconds": seconds, "hardware": kernels.hardware(), "versions": ", ".join(versions)}
                made |= {"models": outcome.models, "files": _user_files(cell, plugged)}
                put(cell, {"rows": outcome.rows, **made}, outcome.arrays, stored)
                # The state of a training that was kept until now.
                (stored / f"{cell.name}.safetensors").unlink(missing_ok=True)
            except Exception as error:
                failures.append(_failure(cell, error))
    except Exception as error:
        return len(cells), [_failure(cell, error) for cell in cells]
    return len(cells), failures


def _failure(cell: Cell, error: Exception) -> str:
    """Name a cell that failed, the error, and where it was raised."""
    name = cell.name
    if "experiment" in cell:
        given = ", ".join(f"{key}={value}" for key, value in studies.labels(cell).items())
        name = f"{cell['experiment']} {given}".strip()
    where = traceback.extract_tb(error.__traceback__)[-1]
    place = f"{Path(where.filename).name}:{where.lineno}"
    message = extras.missing(error) if isinstance(error, ModuleNotFoundError) else error
    return f"{name}: {type(error).__name__}: {message} ({place})"


# --- the files of a cell ------------------------------------------------------------------------------------


def _file(cell: Cell, folder: Path) -> Path:
    return Path(folder) / "cells" / f"{cell.name}.json"


def _user_files(cell: Cell, plugged: Mapping[str, str]) -> list[str]:
    """Return the sha256 of the user's files that a cell is made with: plugins and word vectors."""
    vectors = Path(cell.get("embeddings", ""))
    return sorted([*plugged.values(), *([file_sha256(vectors)] if vectors.is_file() else [])])


def is_computed(cell: Cell, folder: Path) -> bool:
    """Return whether a cell has a result that was made with the plugins and word vectors of now."""
    if not _file(cell, folder).exists():
        return False
    return load_result(cell, folder).get("files", []) == _user_files(cell, plugins.loaded())


def put(cell: Cell, result: dict, arrays: Mapping[str, np.ndarray], stored: Path) -> None:
    """Write the files of one cell; the json last, because where it is the cell is done.

    Args:
        result: rows, seconds, versions, hardware, models and the sha256 of the user's files.
        arrays: those of its `Outcome`.
    """
    if arrays:
        file = io.BytesIO()
        given: dict[str, Any] = dict(arrays)  # else one could be `allow_pickle`
        np.savez_compressed(file, **given)
        write_whole(stored / f"{cell.name}.npz", file.getvalue())
    text = json.dumps({"cell": cell} | result, indent=1) + "\n"
    write_whole(stored / f"{cell.name}.json", text.encode())


def load_result(cell: Cell, folder: Path) -> dict:
    """Load what is stored of a cell: its rows in the table, and what made it."""
    return json.loads(_file(cell, folder).read_text(encoding="utf-8"))


def load_hits(cell: Cell, folder: Path) -> dict[str, np.ndarray]:
    """Load what the attack of a cell hit: arrays of one entry a position, the same positions for all of a family.

    Returns:
        document, index and source (int32) of each position, the source being the group of intervals; letter (the
        word has a letter or a digit), frequency (floor of the binary logarithm of its rank), unchanged,
        and "as kept" (it was released as a word that is not protected); hit, substring and, if asked for, meaning;
        probability, in 255ths, that a posterior gave the answer.
    """
    with np.load(_file(cell, folder).with_suffix(".npz"), allow_pickle=False) as file:
        return dict(file)


# --- the table ----------------------------------------------------------------------------------------------


def write_table(cells: list[Cell], folder: Path, baselines: Sequence[str] = ()) -> None:
    """Write `results.csv`, `results.yml` and the hits of attacks, `results.npz`, of the cells that are computed.

    Numbers are rounded; text, a published number for example, is left as it is, and so is an epsilon that was
    asked for, because rows are selected by it.
    """
    folder = Path(folder)
    rows = table(cells, folder, baselines)
    exact = {"epsilon"} if any("experiment" not in cell for cell in cells) else set()
    rows = rows.round({name: _DIGITS for name in rows.select_dtypes("floating").columns if name not in exact})
    write_whole(folder / "results.csv", rows.to_csv(index=False, lineterminator="\n").encode())
    write_whole(folder / "results.yml", yaml.safe_dump(record(cells, folder), sort_keys=False).encode())
    computed = [cell for cell in cells if is_computed(cell, folder)]
    attacked = {row: cell for row, cell in enumerate(computed) if "attack" in cell}
    if attacked:
        content = hits.packed({row: (cell.family, load_hits(cell, folder)) for row, cell in attacked.items()})
        write_whole(folder / "results.npz", content)


def table(cells: list[Cell], folder: Path, baselines: Sequence[str] = ()) -> pd.DataFrame:
    """Return tidy results of the cells that are computed, one row for an attack or a task.

    Args:
        baselines: names of attacks. For each there are three more columns, "over NAME" and its "low" and "high":
            the attack's success rate minus the baseline's on the same positions, with its 95 % interval by source
            (a sentence with its phrases, say). Empty where the baseline has not been computed.
    """
    others = [_attack(name, cells) for name in baselines]
    computed = [cell for cell in cells if is_computed(cell, folder)]
    rows: list[dict] = []
    for cell in computed:
        own = load_result(cell, folder)["rows"]
        for attack in others if "attack" in cell else []:
            baseline = Cell(cell | {"attack": attack})
            if baseline != cell and baseline in computed:
                name, ours = f"over {attack['name']}", load_hits(cell, folder)
                gain = ours["hit"].astype(float) - load_hits(baseline, folder)["hit"]
                estimate = clustered_difference(gain, ours["source"])
                own[0] |= dict(zip((name, f"{name} low", f"{name} high"), estimate, strict=True))
        rows += own
    return pd.DataFrame(rows)


def _attack(name: str, cells: list[Cell]) -> dict:
    attacks = (cell["attack"] for cell in cells if "attack" in cell)
    named = list({json.dumps(attack): attack for attack in attacks if attack["name"] == name}.values())
    if len(named) != 1:
        what = f"over: {name!r} is {len(named)} attacks of the sweep; name one that is there just once"
        raise ValueError(what if name in ATTACKS else f"{what}{ATTACKS.meant(name)}")
    return named[0]


def record(cells: list[Cell], folder: Path) -> dict:
    """Return what made the results: hardware, versions, intervals, stand-ins for the papers' data and models."""
    results = [load_result(cell, folder) for cell in cells if is_computed(cell, folder)]
    made = {
        "cells": f"{len(results)} of {len(cells)}",
        "seconds": round(sum(result["seconds"] for result in results), 1),
        "hardware": sorted({result["hardware"] for result in results}),
        "versions": sorted({result["versions"] for result in results}),
    }
    sanitizers = [cell for cell in cells if "experiment" not in cell]
    if not sanitizers:
        return made
    names = {cell[key] for cell in sanitizers for key in _DATA} - {None}
    vectors = {cell["embeddings"] for cell in sanitizers}
    models = {name for result in results for name in result.get("models", ())}
    made |= {
        "intervals": _INTERVALS,
        "data": {name: _CORPORA.get(name) or corpora.origin(name) for name in sorted(names)},
        "word vectors": "; ".join(sorted(_VECTORS.get(name, name) for name in vectors)),
    }
    return made | ({"models": sorted(_MODELS.get(name, name) for name in models)} if models else {})
