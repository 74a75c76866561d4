"""Sweeps: a grid of cells, each with a result file of its own, so that a killed sweep goes on where it stopped.

Cells that differ in the attack or the task alone are a family: they share sentences, positions and sanitized text,
and one worker computes them together. A result is a json file (written last: where it is, the cell is done) and an
npz file of what was hit at each position, or of what was answered in each test example; until then the state of a
long training is kept there. The json holds a fingerprint of each module that made it, so that a sweep knows which
cells its code would make anew.
"""

import io
import json
import logging
import os
import platform
import time
import traceback
from collections.abc import Iterator, Sequence
from concurrent.futures import CancelledError
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, nullcontext
from importlib.metadata import version
from importlib.util import find_spec
from operator import ne
from pathlib import Path
from tempfile import NamedTemporaryFile
from threading import Event, Thread
from typing import NamedTuple

import joblib
import numpy as np
import pandas as pd
import yaml
from filelock import FileLock, Timeout
from tqdm import tqdm

from textsan.attacks import ATTACKS
from textsan.evaluation import Estimate, bootstrap_mean, means_the_same, words_at
from textsan.experiments import problems, provenance
from textsan.experiments.cluster import connect
from textsan.experiments.specification import Cell, cell_name, released_by
from textsan.mechanisms import MECHANISMS
from textsan.models import encoders
from textsan.text import corpora, extras, plugins
from textsan.text.embeddings import COUNTER_FITTED, GLOVE, Embeddings
from textsan.text.registry import Entry
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

_READS = {"language model", "mixture"}
_LANGUAGE = "smollm2-135m, instruction-tuned, four bits a weight, in place of the base model in full precision"

_BEAT = 0.5  # seconds between two looks at which cells have ended
_PATIENCE = 20  # seconds without a result after which a cluster is asked whether it still has workers


def run(
    cells: list[Cell],
    folder: Path,
    *,
    workers: int = -1,
    scheduler: str | None = None,
    baselines: Sequence[str] = (),
) -> list[str]:
    """Computes the cells that have no result yet or one of other code, which a warning names.

    Then writes `results.csv` of those that have one and `results.yml`, which says what made them.

    Args:
        cells: of `textsan.experiments.specification.read_spec`.
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
        _log.warning(
            "%d cells were made by %s; computing them anew; --recertify N checks N of them and keeps the rest if "
            "all agree",
            len(now.stale),
            made_by(now.changed),
        )
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
        cells: of `textsan.experiments.specification.read_spec`.
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
    families: dict[str, Family] = {}
    for cell in cells:
        family = families.setdefault(json.dumps(released_by(cell)), Family([], [], plugged_in(), plugins.loaded()))
        family.cells.append(cell)
        family.codes.append(provenance.code_of(cell))
    total, failures = of or len(cells), []
    with only_writer(stored.parent), connect(scheduler) if scheduler else nullcontext() as cluster:
        for part in stored.glob("*.part"):  # of a sweep that was killed
            part.unlink()
        done = total - len(cells)
        with tqdm(total=total, initial=done, desc="sweep", unit="cell") as progress:
            with _following(progress, [stored / f"{cell_name(cell)}.json" for cell in cells]):
                for number, failed in _computed(list(families.values()), stored, workers, cluster):
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
    """Writes `results.csv` and `results.yml` of the cells that have been computed; arguments as those of `run`."""
    folder = Path(folder)
    write_whole(folder / "results.csv", table(cells, folder, baselines).to_csv(index=False).encode())
    write_whole(folder / "results.yml", yaml.safe_dump(record(cells, folder), sort_keys=False).encode())


def table(cells: list[Cell], folder: Path, baselines: Sequence[str] = ()) -> pd.DataFrame:
    """Tidy results, a row a cell, of those that have been computed.

    Args:
        cells: of `textsan.experiments.specification.read_spec`.
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
        row = load_result(cell, folder)["row"]
        for attack in others if "attack" in cell else []:
            other = cell | {"attack": attack}
            if other in computed and other != cell:
                name, gain = f"over {attack['name']}", _difference(cell, other, folder)
                row |= dict(zip((name, f"{name} low", f"{name} high"), gain, strict=True))
        rows.append(row)
    return pd.DataFrame(rows)


_SHARED = "dataset shadow_dataset split_by drawn_from vocabulary embeddings targets".split()
_SHARED += "n_private n_shadow seed".split()


def labels(cell: Cell) -> dict:
    """The columns of the table that say which cell a row is."""
    defence, kind = dict(cell["defence"]), "task" if "task" in cell else "attack"
    asked = dict(cell[kind])
    return {
        **{key: cell[key] for key in _SHARED},
        "defence": defence.pop("name"),
        "epsilon": defence.pop("epsilon", None),
        "defence_parameters": json.dumps(defence),
        kind: asked.pop("name"),
        f"{kind}_parameters": json.dumps(asked),
    }


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
        cells: of `textsan.experiments.specification.read_spec`.
        folder: that of `run`.
    """
    made = [load_result(cell, folder) for cell in cells if is_computed(cell, folder)]
    names = {cell[key] for cell in cells for key in ("dataset", "shadow_dataset")} - {None}
    vectors = {cell["embeddings"] for cell in cells}
    return {
        "cells": f"{len(made)} of {len(cells)}",
        "seconds": round(sum(one["row"]["seconds"] for one in made), 1),
        "hardware": sorted({one["hardware"] for one in made}),
        "versions": [dict(pairs) for pairs in sorted({tuple(one["versions"].items()) for one in made})],
        "data": {name: SUBSTITUTIONS.get(name) or corpora.origin(name) for name in sorted(names)},
        "word vectors": "; ".join(sorted(_VECTORS.get(name, name) for name in vectors)),
        "encoder": f"{encoders.ENCODER}, in place of bert-base-uncased",
        **({"language model": _LANGUAGE} if any(map(_reads_language, cells)) else {}),
        "recertified": sorted({one["recertified"] for one in made if "recertified" in one}),
        **provenance.describe(one.get("code") for one in made),
    }


def _reads_language(cell: Cell) -> bool:
    return "attack" in cell and cell["attack"]["name"] in _READS


def is_computed(cell: Cell, folder: Path) -> bool:
    """Whether a cell has a result, of whatever code."""
    return _result(cell, folder).exists()


def _result(cell: Cell, folder: Path) -> Path:
    return Path(folder) / "cells" / f"{cell_name(cell)}.json"


def load_result(cell: Cell, folder: Path) -> dict:
    """What is stored of a cell: its row in the table, and what made it.

    Args:
        cell: one of `textsan.experiments.specification.read_spec`, computed.
        folder: that of `run`.

    Raises:
        FileNotFoundError: the cell has no result.
    """
    return json.loads(_result(cell, folder).read_text(encoding="utf-8"))


def stamp(cell: Cell, folder: Path, recertified: str) -> None:
    """Writes into a stored result that the code as it is makes the same.

    Args:
        cell, folder: as those of `load_result`.
        recertified: how that is known.
    """
    result = load_result(cell, folder) | {"recertified": recertified, "code": provenance.code_of(cell)}
    write_whole(_result(cell, folder), (json.dumps(result, indent=1) + "\n").encode())


def load_hits(cell: Cell, folder: Path) -> dict[str, np.ndarray]:
    """What the attack of a cell hit, for paired comparisons: arrays of one entry a position.

    Two cells of a family attack the same positions in the same order.

    Args:
        cell: one of `textsan.experiments.specification.read_spec`, computed.
        folder: that of `run`.

    Returns:
        document, index and source (int32) of each position, source what intervals resample; hit, substring,
        unchanged and, if asked for, meaning (bool).

    Raises:
        FileNotFoundError: the cell has no result.
    """
    with np.load(Path(folder) / "cells" / f"{cell_name(cell)}.npz", allow_pickle=False) as file:
        return dict(file)


def _difference(cell: Cell, other: Cell, folder: Path) -> Estimate:
    ours, theirs = load_hits(cell, folder), load_hits(other, folder)
    return bootstrap_mean(ours["hit"].astype(float) - theirs["hit"], ours["source"], seed=cell["seed"])


class Family(NamedTuple):
    """Cells that differ in the attack alone, for one worker.

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


def _computed(families: list[Family], stored: Path, workers: int, cluster) -> Iterator[tuple[int, list[str]]]:
    """Has all families computed; how many cells each had and a line for each that failed, as they are done."""
    if cluster is not None:
        yield from _computed_by(cluster, families, stored)
        return
    jobs = [joblib.delayed(_run_family)(family, stored) for family in families]
    try:
        yield from joblib.Parallel(n_jobs=workers, return_as="generator_unordered")(jobs)
    except BrokenProcessPool:
        yield 0, ["a worker was killed (out of memory?); start again with fewer workers"]


def _computed_by(cluster, families: list[Family], stored: Path) -> Iterator[tuple[int, list[str]]]:
    """The same by a dask client. A worker that dies takes its family along; the others go on."""
    from distributed import KilledWorker, wait

    waiting = {cluster.submit(_run_family, family, stored, pure=False): family for family in families}
    lost = None
    while waiting and not lost:
        try:
            for future in wait(list(waiting), timeout=_PATIENCE, return_when="FIRST_COMPLETED").done:
                family = waiting.pop(future)
                try:
                    yield future.result()
                except KilledWorker:
                    cause = (
                        "the dask worker that had it was killed (out of memory?); start again with smaller ones"
                    )
                    yield (
                        len(family.cells),
                        [f"{cell_name(family.cells[0])} and its {len(family.cells) - 1} further attacks: {cause}"],
                    )
        except TimeoutError:
            lost = None if cluster.nthreads() else "it has no workers left"
        except CancelledError:
            lost = "it is gone"
    if lost:
        yield 0, [f"scheduler: {lost}, with {len(waiting)} families to do; start again"]


def _run_family(family: Family, stored: Path) -> tuple[int, list[str]]:
    """In a worker: all that is asked of one sanitized text; how many cells, a line for each that failed."""
    failures, cells = [], family.cells
    try:
        plugins.load_same(family.plugins)
        for registry, entries in zip(_REGISTRIES, family.plugged, strict=True):
            for entry in entries:
                registry.add(entry)
        shared = released_by(cells[0])
        defence, meaning = dict(shared.pop("defence")), shared.pop("meaning")
        attacked = any("attack" in cell for cell in cells)
        problem = problems.prepare(**shared, attacked=attacked, mechanism=defence.pop("name"), **defence)
        judge = encoders.input_embeddings(problem.split.embeddings.words, meaning) if meaning else None
    except Exception as error:
        return len(cells), [_line(cell, error) for cell in cells]
    for cell, code in zip(cells, family.codes, strict=True):
        try:
            if "task" in cell:
                _run_task(cell, problem, stored, code)
            else:
                _run_attack(cell, problem, judge, stored, code)
        except Exception as error:
            failures.append(_line(cell, error))
    return len(cells), failures


def _run_task(cell: Cell, problem: problems.Problem, stored: Path, code: provenance.Code) -> None:
    parameters = dict(cell["task"])
    start = time.perf_counter()
    outcome = problem.utility(parameters.pop("name"), **parameters)
    seconds = time.perf_counter() - start
    estimate = outcome.estimate(seed=cell["seed"])
    row = {
        **labels(cell),
        "metric": outcome.metric,
        "n_test": len(outcome.truths),
        "utility": estimate.value,
        "utility_low": estimate.low,
        "utility_high": estimate.high,
        "validation": outcome.validation,
        "best_on_test": outcome.best_on_test,
        "chance": outcome.chance,
        "vulnerability": problem.vulnerability,
        "coverage": problem.coverage,
        "right": outcome.right,
        "seconds": round(seconds, 3),
    }
    arrays = {"truth": outcome.truths, "answer": outcome.answers, "source": outcome.sources}
    _store(cell, row, arrays, stored, code)


def _run_attack(
    cell: Cell, problem: problems.Problem, judge: Embeddings | None, stored: Path, code: provenance.Code
) -> None:
    parameters = dict(cell["attack"])
    start = time.perf_counter()
    checkpoint = stored / f"{cell_name(cell)}.safetensors"
    guesses, details = problem.run(parameters.pop("name"), checkpoint=checkpoint, **parameters)
    seconds = time.perf_counter() - start
    truths = problem.truth.words
    document, index = np.array(problem.positions, dtype=np.int32).T
    source = np.array(problem.sentences, dtype=np.int32)
    pairs = list(zip(guesses, truths, strict=True))
    released = words_at(problem.released, problem.positions)
    arrays = {
        "document": document,
        "index": index,
        "source": source,
        "hit": np.array([guess == truth for guess, truth in pairs]),
        "substring": np.array([truth in guess for guess, truth in pairs]),
        "unchanged": np.array([word == truth for word, truth in zip(released, truths, strict=True)]),
    }
    meant = {}
    if judge:
        arrays["meaning"] = means_the_same(guesses, truths, judge)
        mean = bootstrap_mean(arrays["meaning"], source, seed=cell["seed"])
        meant = dict(zip(("asr_meaning", "asr_meaning_low", "asr_meaning_high"), mean, strict=True))
    estimate = bootstrap_mean(arrays["hit"], source, seed=cell["seed"])
    coverage = problem.coverage
    row = {
        **labels(cell),
        "n_positions": len(truths),
        "asr": estimate.value,
        "low": estimate.low,
        "high": estimate.high,
        "coverage": coverage,
        "asr_all": coverage * estimate.value,
        "overlap": problem.overlap,
        "asr_substring": float(arrays["substring"].mean()),
        **meant,
        "unchanged": float(arrays["unchanged"].mean()),
        "seconds": round(seconds, 3),
        **details,
    }
    _store(cell, row, arrays, stored, code)
    checkpoint.unlink(missing_ok=True)


def _store(cell: Cell, row: dict, arrays: dict[str, np.ndarray], stored: Path, code: provenance.Code) -> None:
    """Writes what a cell found; the json last, because where it is the cell is done."""
    versions = {"python": platform.python_version()}
    versions |= {name: version(name) for name in ("textsan", "numpy", "scipy", "torch") if find_spec(name)}
    hits = io.BytesIO()
    np.savez_compressed(hits, **arrays)
    name = cell_name(cell)
    write_whole(stored / f"{name}.npz", hits.getvalue())
    result = {"cell": cell, "row": row, "versions": versions, "hardware": provenance.hardware(), "code": code}
    write_whole(stored / f"{name}.json", (json.dumps(result, indent=1) + "\n").encode())


def _line(cell: Cell, error: Exception) -> str:
    return failure_line(cell_name(cell), error)


def failure_line(name: str, error: Exception) -> str:
    """What became of a cell that failed: its name, the error, where it was raised."""
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
