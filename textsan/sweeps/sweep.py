"""Tables: every table of results is a grid of cells, computed, kept and recorded by this one engine.

A cell is an attack or a task on sanitized text (`sanitized`), or an experiment of another kind (`studies`). Cells
that share their sanitized text are a family, which one worker computes together. A result is a json file (written
last: where it is, the cell is done) and an npz file of what was hit at each position, or of what was answered in
each test example; so a sweep that was killed goes on where it stopped. The json holds a fingerprint of each module
that made it, so that a sweep knows which cells its code would make anew.
"""

import io
import json
import logging
import os
import platform
import time
import traceback
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import CancelledError
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, nullcontext
from functools import lru_cache
from importlib.metadata import version
from importlib.util import find_spec
from operator import ne
from pathlib import Path
from tempfile import NamedTemporaryFile
from threading import Event, Thread
from typing import Any, NamedTuple

import joblib
import numpy as np
import pandas as pd
import yaml
from filelock import FileLock, Timeout
from tqdm import tqdm

from textsan.attacks import ATTACKS
from textsan.base import cluster, extras, plugins
from textsan.base.registry import Entry
from textsan.evaluation import bootstrap_mean
from textsan.mechanisms import MECHANISMS
from textsan.models.causal import CAUSAL
from textsan.models.encoders import ENCODER
from textsan.sweeps import hits, provenance, sanitized, studies
from textsan.sweeps.outcomes import Outcome
from textsan.sweeps.specification import Cell, cell_name, released_by
from textsan.text import corpora
from textsan.text.loading import COUNTER_FITTED, GLOVE
from textsan.utility import TASKS

_log = logging.getLogger(__name__)

SUBSTITUTIONS = {
    "rt": "in place of SST-2, whose sentences are of the same reviews",
    "nyt": "in place of AG News",
    "amazon": "in place of Yelp",
    "tweets": "in no paper",
}
"""What the default corpora stand for."""

_VECTORS = {
    GLOVE: f"{GLOVE}, in place of GloVe 840B with 300 dimensions",
    COUNTER_FITTED: f"{GLOVE}, counter-fitted anew, in place of the published counter-fitted vectors",
}
_MODELS = {
    ENCODER: f"{ENCODER}, in place of bert-base-uncased",
    CAUSAL: f"{CAUSAL}, instruction-tuned, four bits a weight, in place of the base model in full precision",
}

_PACKAGES = ("textsan", "numpy", "scipy", "scikit-learn", "torch", "transformers", "tensorly")
_MODULES = {"scikit-learn": "sklearn"}  # of packages whose module has another name
_DATA = ("dataset", "shadow_dataset")  # keys of a cell that name data sets
_DIGITS = 5  # of the numbers in a stored table
_BEAT = 0.5  # seconds between two looks at which cells have ended


def run(
    cells: list[Cell],
    folder: Path,
    *,
    workers: int = -1,
    scheduler: str | None = None,
    baselines: Sequence[str] = (),
) -> list[str]:
    """Computes the cells that have no result yet or one of other code, which a warning names.

    Then writes the table of those that have one, its record and its hits: see `write_table`.

    Args:
        cells: of `textsan.sweeps.specification.read_spec`.
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
    now = state(cells, folder)
    if now.stale:
        _log.warning("%d cells were made by %s; computing them anew", len(now.stale), made_by(now.changed))
    failures = compute(now.stale + now.missing, folder, workers=workers, scheduler=scheduler, of=len(cells))
    write_table(cells, folder, baselines)
    return failures


class State(NamedTuple):
    """Which cells of a sweep have a result, and whether it is still good.

    Attributes:
        fresh: made by the code as it is.
        stale: made by other code.
        missing: not computed.
        changed: what differs between the code of the stale ones and the code as it is.
    """

    fresh: list[Cell]
    stale: list[Cell]
    missing: list[Cell]
    changed: list[str]


def state(cells: list[Cell], folder: Path) -> State:
    """Which cells have a result that is still good.

    Args:
        cells: of `textsan.sweeps.specification.read_spec`.
        folder: that of `run`.
    """
    fresh, stale, missing, changed = [], [], [], set()
    for cell in cells:
        if not is_computed(cell, folder):
            missing.append(cell)
        elif differing := provenance.changed(load_result(cell, folder).get("code"), provenance.code_of(cell)):
            stale.append(cell)
            changed.update(differing)
        else:
            fresh.append(cell)
    return State(fresh, stale, missing, sorted(changed))


def made_by(changed: list[str]) -> str:
    """What made a result that is stale, in words.

    >>> made_by(["textsan/mechanisms/tem.py"])
    'other code: textsan/mechanisms/tem.py'
    """
    return changed[0] if changed == [provenance.UNRECORDED] else f"other code: {', '.join(changed)}"


def compute(
    cells: list[Cell], folder: Path, *, workers: int = -1, scheduler: str | None = None, of: int | None = None
) -> list[str]:
    """Computes cells, whatever results they have.

    Args:
        cells, folder, workers, scheduler: as those of `run`.
        of: how many cells there are in all, for the progress bar.

    Returns, raises: as `run`.
    """
    stored = Path(folder).resolve() / "cells"
    stored.mkdir(parents=True, exist_ok=True)
    for name in {cell[key] for cell in cells if "experiment" not in cell for key in _DATA} - {None}:
        corpora.load_dataset(name)  # one that is not there ends before anything runs
    families: dict[str, Family] = {}
    for cell in cells:
        family = families.setdefault(json.dumps(released_by(cell)), Family([], [], plugged_in(), plugins.loaded()))
        family.cells.append(cell)
        family.codes.append(provenance.code_of(cell))
    total, failures = of or len(cells), []
    with only_writer(stored.parent), cluster.connect(scheduler) if scheduler else nullcontext() as client:
        for part in stored.glob("*.part"):  # of a sweep that was killed
            part.unlink()
        done = total - len(cells)
        with tqdm(total=total, initial=done, desc="sweep", unit="cell") as progress:
            with _following(progress, [stored / f"{cell_name(cell)}.json" for cell in cells]):
                for number, failed in _computed(list(families.values()), stored, workers, client):
                    failures += failed
                    done += number
            progress.update(done - progress.n)  # with those that failed
    return failures


@contextmanager
def _following(progress: tqdm, results: list[Path]) -> Iterator[None]:
    """Moves the bar as results are written: a worker returns with a whole family of cells, minutes later."""
    start, before, ended = progress.n, list(map(_written, results)), Event()

    def follow():
        while not ended.wait(_BEAT):
            done = start + sum(map(ne, map(_written, results), before))
            if done > progress.n:  # else nothing is drawn: not every output is a terminal
                progress.update(done - progress.n)

    follower = Thread(target=follow, daemon=True)
    follower.start()
    try:
        yield
    finally:
        ended.set()
        follower.join()


def _written(path: Path) -> int | None:
    """When a file was written, which a file that is not there was not."""
    try:
        return path.stat().st_mtime_ns
    except FileNotFoundError:
        return None


def write_table(cells: list[Cell], folder: Path, baselines: Sequence[str] = ()) -> None:
    """Writes `results.csv`, `results.yml` and the hits of attacks, `results.npz`, of what has been computed.

    Numbers are rounded; text, a published number for example, is left as it is, and so is an epsilon that was
    asked for, because rows are found by it.

    Args:
        cells, folder, baselines: as those of `run`.
    """
    folder = Path(folder)
    rows = table(cells, folder, baselines)
    named = {"epsilon"} if any("experiment" not in cell for cell in cells) else set()
    rows = rows.round({name: _DIGITS for name in rows.select_dtypes("floating").columns if name not in named})
    write_whole(folder / "results.csv", rows.to_csv(index=False, lineterminator="\n").encode())
    write_whole(folder / "results.yml", yaml.safe_dump(record(cells, folder), sort_keys=False).encode())
    computed = [cell for cell in cells if is_computed(cell, folder)]
    found = {row: cell for row, cell in enumerate(computed) if "attack" in cell}
    if found:
        of = {row: (json.dumps(released_by(cell)), load_hits(cell, folder)) for row, cell in found.items()}
        write_whole(folder / "results.npz", hits.packed(of))


def table(cells: list[Cell], folder: Path, baselines: Sequence[str] = ()) -> pd.DataFrame:
    """Tidy results of the cells that have been computed; of an attack or a task one row.

    Args:
        cells: of `textsan.sweeps.specification.read_spec`.
        folder: that of `run`.
        baselines: names of attacks. For each there are three more columns, "over NAME" and its "low" and "high":
            the attack's success rate minus the baseline's on the same positions, 95 % interval from resampling
            sources (a sentence with its phrases, say), both together. Empty where the baseline has not been
            computed.

    Raises:
        ValueError: a baseline that is no attack of the cells, or is there with more than one set of parameters.
    """
    others = [_attack(name, cells) for name in baselines]
    computed = [cell for cell in cells if is_computed(cell, folder)]
    rows = []
    for cell in computed:
        found = load_result(cell, folder)["rows"]
        for attack in others if "attack" in cell else []:
            other = cell | {"attack": attack}
            if other in computed and other != cell:
                name, ours, theirs = f"over {attack['name']}", *(load_hits(one, folder) for one in (cell, other))
                more = ours["hit"].astype(float) - theirs["hit"]
                gain = bootstrap_mean(more, ours["source"], seed=cell["seed"])
                found[0] |= dict(zip((name, f"{name} low", f"{name} high"), gain, strict=True))
        rows += found
    return pd.DataFrame(rows)


def _attack(name: str, cells: list[Cell]) -> dict:
    attacks = [cell["attack"] for cell in cells if "attack" in cell]
    found = list({json.dumps(attack): attack for attack in attacks if attack["name"] == name}.values())
    if len(found) != 1:
        what = f"over: {name!r} is {len(found)} attacks of the sweep; name one that is there just once"
        raise ValueError(what if name in ATTACKS else f"{what}{ATTACKS.meant(name)}")
    return found[0]


def record(cells: list[Cell], folder: Path) -> dict:
    """What made the results: hardware, versions, code, and what stands in for the papers' data and models.

    Args:
        cells: of `textsan.sweeps.specification.read_spec`.
        folder: that of `run`.
    """
    made = [load_result(cell, folder) for cell in cells if is_computed(cell, folder)]
    return {
        "cells": f"{len(made)} of {len(cells)}",
        "seconds": round(sum(one["seconds"] for one in made), 1),
        "hardware": sorted({one["hardware"] for one in made}),
        "versions": [dict(pairs) for pairs in sorted({tuple(one["versions"].items()) for one in made})],
        **_stand_ins([cell for cell in cells if "experiment" not in cell], made),
        "recertified": sorted({one["recertified"] for one in made if "recertified" in one}),
        **provenance.describe(one.get("code") for one in made),
    }


def _stand_ins(cells: list[Cell], made: list[dict]) -> dict:
    """Data, word vectors and models of a sweep of sanitizers, and what they stand for."""
    if not cells:
        return {}
    names = {cell[key] for cell in cells for key in _DATA} - {None}
    vectors = {cell["embeddings"] for cell in cells}
    models = {name for one in made for name in one.get("models", ())}
    return {
        "data": {name: SUBSTITUTIONS.get(name) or corpora.origin(name) for name in sorted(names)},
        "word vectors": "; ".join(sorted(_VECTORS.get(name, name) for name in vectors)),
        **({"models": sorted(_MODELS.get(name, name) for name in models)} if models else {}),
    }


def model_names(said: Sequence[str]) -> tuple[str, ...]:
    """The names of models as a record says them.

    >>> model_names(["all-minilm-l6-v2, in place of bert-base-uncased"])
    ('all-minilm-l6-v2',)
    """
    return tuple(one.partition(",")[0] for one in said)


def is_computed(cell: Cell, folder: Path) -> bool:
    """Whether a cell has a result, of whatever code."""
    return _result(cell, folder).exists()


def _result(cell: Mapping, folder: Path) -> Path:
    """The file of a cell's result: under its name, or under an older one, with the defaults written out."""
    name, stored = cell_name(cell), Path(folder) / "cells"
    path = stored / f"{name}.json"
    if path.exists() or not stored.is_dir():
        return path
    return _older(stored, stored.stat().st_mtime_ns, cell.get("experiment")).get(name, path)


@lru_cache(maxsize=4)
def _older(stored: Path, changed: int, experiment: str | None) -> dict[str, Path]:
    """Results whose file has another name than their cell has now, by the name that it has now."""
    found = {}
    for path in stored.glob("*.json"):
        cell = json.loads(path.read_text(encoding="utf-8"))["cell"]
        if experiment and not {"experiment", "defence"} & {*cell}:
            cell = {"experiment": experiment} | cell  # older results do not name it
        if (name := cell_name(cell)) != path.stem:
            found[name] = path
    return found


def load_result(cell: Cell, folder: Path) -> dict:
    """What is stored of a cell: its rows in the table, and what made it.

    Args:
        cell: one of `textsan.sweeps.specification.read_spec`, computed.
        folder: that of `run`.

    Raises:
        FileNotFoundError: the cell has no result.
    """
    stored = json.loads(_result(cell, folder).read_text(encoding="utf-8"))
    if "row" in stored:  # an older result
        stored["rows"] = [stored.pop("row")]
        stored["seconds"] = stored["rows"][0]["seconds"]
    elif "experiment" in cell and "experiment" not in stored["cell"]:  # and one of an experiment
        stored["rows"] = [studies.labels(stored["cell"]) | row for row in stored["rows"]]
    return stored


def stamp(cell: Cell, folder: Path, recertified: str) -> None:
    """Writes into a stored result that the code as it is makes the same.

    Args:
        cell, folder: as those of `load_result`.
        recertified: how that is known.
    """
    result = load_result(cell, folder) | {"recertified": recertified, "code": provenance.code_of(cell)}
    write_whole(_result(cell, folder), _json(result))


def load_hits(cell: Cell, folder: Path) -> dict[str, np.ndarray]:
    """What the attack of a cell hit, for paired comparisons: arrays of one entry a position.

    Two cells of a family attack the same positions in the same order.

    Args:
        cell: one of `textsan.sweeps.specification.read_spec`, computed.
        folder: that of `run`.

    Returns:
        document, index and source (int32) of each position, source what intervals resample; letter (the word has
        a letter or a digit), frequency (floor of the binary logarithm of its rank in the vocabulary), unchanged,
        and "as kept" (it was released as a word that is not protected); hit, substring and, if asked for, meaning;
        probability, in 255ths, that a posterior gave the answer.

    Raises:
        FileNotFoundError: the cell has no result.
    """
    with np.load(_result(cell, folder).with_suffix(".npz"), allow_pickle=False) as file:
        return dict(file)


class Family(NamedTuple):
    """Cells that differ in the attack or the task alone, or one cell of an experiment, for one worker.

    Attributes:
        cells: the cells.
        codes: what code makes each of them.
        plugged: mechanisms, attacks and tasks that the worker does not know by itself.
        plugins: those that the worker must import.
    """

    cells: list[Cell]
    codes: list[provenance.Code]
    plugged: tuple[list[Entry], ...]
    plugins: dict[str, str]


_REGISTRIES = (MECHANISMS, ATTACKS, TASKS)


def plugged_in() -> tuple[list[Entry], ...]:
    """Mechanisms, attacks and tasks of this process that another one does not know by itself."""
    return tuple(registry.plugged_in for registry in _REGISTRIES)


def _computed(families: list[Family], stored: Path, workers: int, client) -> Iterator[tuple[int, list[str]]]:
    """Has all families computed; how many cells each had and a line for each that failed, as they are done."""
    if client is not None:
        yield from _computed_by(client, families, stored)
        return
    jobs = [joblib.delayed(_run_family)(family, stored) for family in families]
    try:
        yield from joblib.Parallel(n_jobs=workers, return_as="generator_unordered")(jobs)
    except BrokenProcessPool:
        yield 0, ["a worker was killed (out of memory?); start again with fewer workers"]


def _computed_by(client, families: list[Family], stored: Path) -> Iterator[tuple[int, list[str]]]:
    """The same by a dask client. A worker that dies takes its family along; the others go on."""
    from distributed import KilledWorker

    waiting = {client.submit(_run_family, family, stored, pure=False): family for family in families}
    try:
        while waiting:
            for future in cluster.finished(client, waiting):
                family = waiting.pop(future)
                try:
                    yield future.result()
                except KilledWorker:
                    first, others = cell_name(family.cells[0]), len(family.cells) - 1
                    cause = "worker that had it was killed (out of memory?); start again with smaller ones"
                    yield len(family.cells), [f"{first} and its {others} further attacks: the dask {cause}"]
    except (ConnectionError, CancelledError) as error:
        lost = "scheduler: it is gone" if isinstance(error, CancelledError) else str(error)
        yield 0, [f"{lost}, with {len(waiting)} families to do; start again"]


def _run_family(family: Family, stored: Path) -> tuple[int, list[str]]:
    """In a worker: all that is asked of one family; how many cells, a line for each that failed."""
    failures, cells = [], family.cells
    kind = studies if "experiment" in cells[0] else sanitized
    try:
        plugins.load_same(family.plugins)
        for registry, entries in zip(_REGISTRIES, family.plugged, strict=True):
            for entry in entries:
                registry.add(entry)
        for cell, code, compute in zip(cells, family.codes, kind.outcomes(cells, stored), strict=True):
            try:
                start = time.perf_counter()
                _store(cell, compute(), time.perf_counter() - start, stored, code)
            except Exception as error:
                failures.append(_line(cell, error))
    except Exception as error:
        return len(cells), [_line(cell, error) for cell in cells]
    return len(cells), failures


def _store(cell: Cell, found: Outcome, seconds: float, stored: Path, code: provenance.Code) -> None:
    """Writes what a cell found, and what made it."""
    versions = {one: version(one) for one in _PACKAGES if find_spec(_MODULES.get(one, one))}
    result = {"rows": found.rows, "seconds": round(seconds, 3)}
    result |= {"versions": {"python": platform.python_version()} | versions, "hardware": provenance.hardware()}
    result |= {"models": found.models, "code": code}
    put(cell, result, found.arrays, stored)
    name = cell_name(cell)
    (stored / f"{name}.safetensors").unlink(missing_ok=True)  # the state of a training that was kept until now


def put(cell: Cell, result: dict, arrays: Mapping[str, np.ndarray], stored: Path) -> None:
    """Writes the files of one cell; the json last, because where it is the cell is done.

    Args:
        cell: one of `textsan.sweeps.specification.read_spec`.
        result: rows, seconds, versions, hardware, models and code.
        arrays: those of its `Outcome`.
        stored: the folder `cells` in that of `run`.
    """
    if arrays:
        file = io.BytesIO()
        given: dict[str, Any] = dict(arrays)  # else one could be `allow_pickle`
        np.savez_compressed(file, **given)
        write_whole(stored / f"{cell_name(cell)}.npz", file.getvalue())
    write_whole(stored / f"{cell_name(cell)}.json", _json({"cell": cell} | result))


def _json(result: dict) -> bytes:
    return (json.dumps(result, indent=1) + "\n").encode()


def _line(cell: Cell, error: Exception) -> str:
    """What became of a cell that failed: its name, the error, where it was raised."""
    name = cell_name(cell)
    if "experiment" in cell:
        given = ", ".join(f"{key}={value}" for key, value in studies.labels(cell).items())
        name = f"{cell['experiment']} {given}".strip()
    where = traceback.extract_tb(error.__traceback__)[-1]
    place = f"{Path(where.filename).name}:{where.lineno}"
    said = extras.missing(error) if isinstance(error, ModuleNotFoundError) else error
    return f"{name}: {type(error).__name__}: {said} ({place})"


def write_whole(path: Path, content: bytes) -> None:
    """Writes the whole file or none of it, also if two do at a time."""
    with NamedTemporaryFile(dir=path.parent, prefix=f"{path.name}.", suffix=".part", delete=False) as part:
        part.write(content)
    os.replace(part.name, path)


@contextmanager
def only_writer(folder: Path) -> Iterator[None]:
    """Holds a folder for one process.

    Raises:
        ValueError: another one has it.
    """
    try:
        with FileLock(folder / ".lock", timeout=0):
            yield
    except Timeout:
        raise ValueError(f"output: another sweep is writing to {folder}; wait for it, or choose another") from None
