"""Sweeps: a grid of cells, each with a result file of its own, so that a killed sweep goes on where it stopped.

Cells that differ in the attack alone are a family: they share sentences, positions and sanitized text, and one
worker computes them together. A result is a json file (written last: where it is, the cell is done) and an npz
file of what was hit at each position.
"""

import io
import json
import os
import platform
import time
import traceback
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from tempfile import NamedTemporaryFile

import joblib
import numpy as np
import pandas as pd
from filelock import FileLock, Timeout
from tqdm import tqdm

from textsan import experiment
from textsan.evaluation import bootstrap_rate, paired_difference, words_at
from textsan.grid import Cell, cell_name


def run(cells: list[Cell], folder: Path, *, workers: int = -1, scheduler: str | None = None) -> list[str]:
    """Computes the cells that have no result yet, and writes `results.csv` of those that have one.

    Args:
        cells: of `textsan.grid.read_spec`.
        folder: where results go; every worker must reach it under this name.
        workers: processes on this machine; -1 is one a core.
        scheduler: address of a dask scheduler, whose workers are used instead.

    Returns:
        a line for each cell that failed.

    Raises:
        ValueError: another sweep is writing to the folder, or dask is asked for and not installed.
        ConnectionError: no scheduler answers.
    """
    folder = Path(folder).resolve()
    stored = folder / "cells"
    stored.mkdir(parents=True, exist_ok=True)
    with _only_writer(folder), _backend(scheduler):
        for part in stored.glob("*.part"):  # of a sweep that was killed
            part.unlink()
        missing = [cell for cell in cells if not (stored / f"{cell_name(cell)}.json").exists()]
        families: dict[str, list[Cell]] = {}
        for cell in missing:
            families.setdefault(json.dumps(cell | {"attack": None}), []).append(cell)
        failures = []
        jobs = [joblib.delayed(_run_family)(family, stored) for family in families.values()]
        parallel = joblib.Parallel(n_jobs=workers, return_as="generator_unordered")
        with tqdm(total=len(cells), initial=len(cells) - len(missing), desc="sweep", unit="cell") as progress:
            try:
                for number, failed in parallel(jobs):
                    failures += failed
                    progress.update(number)
            except BrokenProcessPool:
                failures.append("a worker was killed (out of memory?); start again with fewer workers")
        _write(folder / "results.csv", table(cells, folder).to_csv(index=False).encode())
    return failures


def table(cells: list[Cell], folder: Path) -> pd.DataFrame:
    """Tidy results, a row a cell, of those that have been computed.

    Args:
        cells: of `textsan.grid.read_spec`.
        folder: that of `run`.
    """
    rows = []
    for cell in cells:
        path = Path(folder) / "cells" / f"{cell_name(cell)}.json"
        if path.exists():
            rows.append(json.loads(path.read_text(encoding="utf-8"))["row"])
    return pd.DataFrame(rows)


def load_hits(cell: Cell, folder: Path) -> dict[str, np.ndarray]:
    """What the attack of a cell hit, for paired comparisons: arrays of one entry a position.

    Two cells of a family attack the same positions in the same order.

    Args:
        cell: one of `textsan.grid.read_spec`, computed.
        folder: that of `run`.

    Returns:
        document and index (int32) of each position; hit, substring and unchanged (bool).

    Raises:
        FileNotFoundError: the cell has no result.
    """
    with np.load(Path(folder) / "cells" / f"{cell_name(cell)}.npz", allow_pickle=False) as file:
        return dict(file)


def differences(cells: list[Cell], folder: Path, baseline: str) -> pd.DataFrame:
    """Success rate of each attack minus that of a baseline on the same positions, a row a computed cell.

    The columns of `table`, and `baseline_asr`, `gain`, `gain_low`, `gain_high`: a 95 % interval from resampling
    sentences, both attacks together.

    Args:
        cells: of `textsan.grid.read_spec`.
        folder: that of `run`.
        baseline: name of an attack that every family has once.

    Raises:
        FileNotFoundError: a cell has no result.
    """
    rows = []
    for cell in cells:
        if cell["attack"]["name"] == baseline:
            continue
        other = next(
            c for c in cells if c | {"attack": cell["attack"]} == cell and c["attack"]["name"] == baseline
        )
        ours, theirs = load_hits(cell, folder), load_hits(other, folder)
        truths = np.ones(len(ours["hit"]), dtype=bool)
        gain = paired_difference(ours["hit"], theirs["hit"], truths, ours["document"], seed=cell["seed"])
        [row] = table([cell], folder).to_dict("records")
        columns = {
            "baseline_asr": theirs["hit"].mean(),
            "gain": gain.value,
            "gain_low": gain.low,
            "gain_high": gain.high,
        }
        rows.append(row | columns)
    return pd.DataFrame(rows)


def _run_family(cells: list[Cell], stored: Path) -> tuple[int, list[str]]:
    """In a worker: all attacks on one sanitized text; how many cells, and a line for each that failed."""
    failures = []
    try:
        shared = {key: value for key, value in cells[0].items() if key not in ("defence", "attack")}
        defence = dict(cells[0]["defence"])
        case = experiment.prepare(**shared, defence=defence.pop("name"), **defence)
    except Exception as error:
        return len(cells), [_line(cell, error) for cell in cells]
    for cell in cells:
        try:
            _run_cell(cell, case, stored)
        except Exception as error:
            failures.append(_line(cell, error))
    return len(cells), failures


def _run_cell(cell: Cell, case: experiment.Case, stored: Path) -> None:
    parameters = dict(cell["attack"])
    attack, _ = experiment.ATTACKS[parameters.pop("name")]
    start = time.perf_counter()
    guesses = attack(case, **parameters)
    seconds = time.perf_counter() - start
    truths = case.truths
    document, index = np.array(case.positions, dtype=np.int32).T
    pairs = list(zip(guesses, truths, strict=True))
    released = words_at(case.released, case.positions)
    arrays = {
        "document": document,
        "index": index,
        "hit": np.array([guess == truth for guess, truth in pairs]),
        "substring": np.array([truth in guess for guess, truth in pairs]),
        "unchanged": np.array([word == truth for word, truth in zip(released, truths, strict=True)]),
    }
    estimate = bootstrap_rate(guesses, truths, document, seed=cell["seed"])
    defence = dict(cell["defence"])
    row = {
        **{key: cell[key] for key in ("dataset", "n_private", "n_shadow", "seed")},
        "defence": defence.pop("name"),
        "epsilon": defence.pop("epsilon"),
        "defence_parameters": json.dumps(defence),
        "attack": cell["attack"]["name"],
        "attack_parameters": json.dumps(parameters),
        "n_positions": len(truths),
        "asr": estimate.value,
        "low": estimate.low,
        "high": estimate.high,
        "asr_substring": float(arrays["substring"].mean()),
        "unchanged": float(arrays["unchanged"].mean()),
        "seconds": round(seconds, 3),
    }
    versions = {name: version(name) for name in ("textsan", "numpy", "scipy")} | {
        "python": platform.python_version()
    }
    hits = io.BytesIO()
    np.savez_compressed(hits, **arrays)
    name = cell_name(cell)
    _write(stored / f"{name}.npz", hits.getvalue())
    result = {"cell": cell, "row": row, "versions": versions}
    _write(stored / f"{name}.json", (json.dumps(result, indent=1) + "\n").encode())


def _line(cell: Cell, error: Exception) -> str:
    where = traceback.extract_tb(error.__traceback__)[-1]
    place = f"{Path(where.filename).name}:{where.lineno}"
    return f"{cell_name(cell)}: {type(error).__name__}: {error} ({place})"


def _write(path: Path, content: bytes) -> None:
    """The whole file or none of it, also if two write it at a time."""
    with NamedTemporaryFile(dir=path.parent, prefix=f"{path.name}.", suffix=".part", delete=False) as part:
        part.write(content)
    os.replace(part.name, path)


@contextmanager
def _only_writer(folder: Path):
    try:
        with FileLock(folder / ".lock", timeout=0):
            yield
    except Timeout:
        raise ValueError(f"output: another sweep is writing to {folder}; wait for it, or choose another") from None


@contextmanager
def _backend(scheduler: str | None):
    if scheduler is None:
        yield
        return
    try:
        from distributed import Client
    except ImportError:
        raise ValueError("scheduler: dask is not installed; pip install 'textsan[cluster]'") from None
    try:
        client = Client(scheduler, timeout=20)
    except (OSError, ValueError) as error:
        raise ConnectionError(f"scheduler: {scheduler!r} does not answer ({error})") from None
    with client, joblib.parallel_config("dask"):
        yield
