"""Studies: grids over the arguments of one experiment, for what is no sanitizer under attack (vectors, gradients).

    experiment: citizens
    grids:
      - {encoder: all-minilm-l6-v2, pooling: [mean, cls], layer: 2, pairs: 8000, steps: 99, victims: 500, seed: 0}

An experiment is a function from settings to rows of a table. As in a sweep of sanitizers each cell is a file of
its own, so that a killed study goes on where it stopped, and holds the code that made it.
"""

import hashlib
import importlib
import inspect
import json
import platform
import time
from collections.abc import Callable, Mapping
from importlib.metadata import version
from importlib.util import find_spec
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import joblib
import numpy as np
import pandas as pd
import yaml
from tqdm import tqdm

from textsan.experiments import provenance
from textsan.experiments.recertification import Verdict, agreement
from textsan.experiments.sweep import State, failure_line, only_writer, write_whole

EXPERIMENTS = {
    "citizens": "textsan.experiments.vectors",
    "genomes": "textsan.experiments.vectors",
    "keywords": "textsan.experiments.vectors",
    "inversions": "textsan.experiments.vectors",
    "trade_offs": "textsan.experiments.vector_defences",
    "preparations": "textsan.experiments.preparation",
    "gradient_spans": "textsan.experiments.gradients",
    "gradient_features": "textsan.experiments.gradients",
    "gradient_attacks": "textsan.experiments.gradients",
    "gradient_defences": "textsan.experiments.gradient_defences",
    "known_neighbours": "textsan.experiments.language",
    "found_words": "textsan.experiments.words",
    "remembered": "textsan.experiments.words",
}
"""What a specification can name, and the module that has a function of this name."""

_PACKAGES = ("textsan", "numpy", "scipy", "scikit-learn", "torch", "transformers", "tensorly")


class Study(NamedTuple):
    """What a specification asks for.

    Attributes:
        experiment: of `EXPERIMENTS`.
        cells: arguments of each, none twice.
    """

    experiment: str
    cells: list[dict]


def is_study(path: Path) -> bool:
    """Whether a specification names an experiment; the others are of sanitizers.

    Args:
        path: a YAML file.
    """
    try:
        return "experiment" in yaml.safe_load(Path(path).read_text(encoding="utf-8"))
    except (yaml.YAMLError, UnicodeDecodeError, TypeError):
        return False  # `specification.read_spec` says what is wrong


def read_study(path: Path) -> Study:
    """The experiment and the cells of a specification, all checked.

    Args:
        path: a YAML file: experiment, and grids, a list of mappings from argument to value or values.

    Raises:
        KeyError, ValueError: a key, an experiment or an argument that is unknown or missing; the line names the
            known ones.
    """
    spec = yaml.safe_load(Path(path).read_text(encoding="utf-8"))
    for key in ("experiment", "grids"):
        if key not in spec:
            raise KeyError(f"spec: key {key!r} is missing; known: experiment, grids")
    if further := sorted(spec.keys() - {"experiment", "grids"}):
        raise KeyError(f"spec: key {further[0]!r} is unknown; known: experiment, grids")
    name, grids = spec["experiment"], spec["grids"]
    if not isinstance(name, str) or name not in EXPERIMENTS:
        raise KeyError(f"experiment: {name!r} is unknown; known: {', '.join(EXPERIMENTS)}")
    if not isinstance(grids, list) or not grids or not all(isinstance(grid, dict) for grid in grids):
        raise ValueError(f"grids: {grids!r} is no list of mappings from argument to value or values")
    arguments = inspect.signature(_function(name)).parameters
    cells = []
    for grid in grids:
        if unknown := [key for key in grid if key not in arguments]:
            raise KeyError(f"{name}: {unknown[0]!r} is unknown; known: {', '.join(arguments)}")
        missing = [key for key, one in arguments.items() if key not in grid and one.default is one.empty]
        if missing:
            raise KeyError(f"{name}: {missing[0]!r} is missing; known: {', '.join(arguments)}")
        values = [value if isinstance(value, list) else [value] for value in grid.values()]
        if [] in values:
            raise ValueError(f"{name}: {list(grid)[values.index([])]}: [] is empty; give at least one value")
        cells += [dict(zip(grid, some, strict=True)) for some in product(*values)]
    return Study(name, list({_digest(cell): cell for cell in cells}.values()))  # grids may overlap


def run(study: Study, folder: Path, *, workers: int = -1) -> list[str]:
    """Computes the cells that have no result or one of other code; then writes `results.csv` and `results.yml`.

    Args:
        study: of `read_study`.
        folder: where results go.
        workers: processes; -1 is one a core.

    Returns:
        a line for each cell that failed.

    Raises:
        ValueError: another one is writing to the folder.
    """
    now = state(study, folder)
    failures = compute(study, now.stale + now.missing, folder, workers=workers)
    write_table(study, folder)
    return failures


def state(study: Study, folder: Path) -> State:
    """Which cells have a result that is still good.

    Args:
        study, folder: those of `run`.
    """
    code, parts, changed = code_of(study), {"fresh": [], "stale": [], "missing": []}, set()
    for cell in study.cells:
        made = load_result(cell, folder)
        differing = provenance.changed(made.get("code"), code) if made else []
        changed.update(differing)
        parts["missing" if made is None else "stale" if differing else "fresh"].append(cell)
    return State(**parts, changed=sorted(changed))


def compute(study: Study, cells: list[dict], folder: Path, *, workers: int = -1) -> list[str]:
    """Computes cells, whatever results they have.

    Args:
        study, folder, workers: those of `run`.
        cells: some of the study.

    Returns, raises: as `run`.
    """
    stored = Path(folder).resolve() / "cells"
    stored.mkdir(parents=True, exist_ok=True)
    jobs = [joblib.delayed(_run_cell)(study.experiment, cell, stored, code_of(study)) for cell in cells]
    with only_writer(stored.parent):
        found = joblib.Parallel(n_jobs=workers, return_as="generator_unordered")(jobs)
        return [line for line in tqdm(found, desc=study.experiment, unit="cell", total=len(jobs)) if line]


def recertify(study: Study, folder: Path, number: int, *, seed: int = 0, workers: int = -1) -> Verdict:
    """Computes some stale cells anew; if all come out as stored, every stale one is taken for the code as it is.

    Args:
        study, folder, workers: those of `run`.
        number: how many are computed, drawn at random.
        seed: of the draw.
    """
    stale = state(study, folder).stale
    drawn = np.random.default_rng(seed).permutation(len(stale))[:number]
    chosen = [stale[i] for i in sorted(drawn)]
    if not chosen:
        return Verdict(0, 0, [])
    with TemporaryDirectory(dir=folder, prefix="recertify-") as again:
        differing = compute(study, chosen, Path(again), workers=workers)
        for cell in chosen:
            ours, theirs = load_result(cell, folder), load_result(cell, Path(again))
            if theirs and not _same(ours["rows"], theirs["rows"]):
                differing.append(f"{_name(study.experiment, cell)}: comes out otherwise")
    verdict = Verdict(len(stale), len(chosen), differing)
    if not differing:
        for cell in stale:
            stamped = load_result(cell, folder) | {"code": code_of(study), "recertified": agreement(verdict)}
            write_whole(_file(cell, folder), _json(stamped))
    return verdict


def _same(ours: list[dict], theirs: list[dict]) -> bool:
    """Whether two tables are equal to the digits that are stored."""
    return pd.DataFrame(ours).round(5).astype(str).equals(pd.DataFrame(theirs).round(5).astype(str))


def write_table(study: Study, folder: Path) -> None:
    """Writes `results.csv` of the cells that have been computed, and `results.yml`, which says what made them.

    Args:
        study, folder: those of `run`.
    """
    made = [one for cell in study.cells if (one := load_result(cell, folder))]
    rows = [one["cell"] | row for one in made for row in one["rows"]]
    write_whole(Path(folder) / "results.csv", pd.DataFrame(rows).round(5).to_csv(index=False).encode())
    about = {
        "cells": f"{len(made)} of {len(study.cells)}",
        "seconds": round(sum(one["seconds"] for one in made), 1),
        "hardware": sorted({one["hardware"] for one in made}),
        "versions": [dict(pairs) for pairs in sorted({tuple(one["versions"].items()) for one in made})],
        "recertified": sorted({one["recertified"] for one in made if "recertified" in one}),
        **provenance.describe(one["code"] for one in made),
    }
    write_whole(Path(folder) / "results.yml", yaml.safe_dump(about, sort_keys=False).encode())


def load_result(cell: Mapping, folder: Path) -> dict | None:
    """What is stored of a cell: its rows, and what made them; None where there is nothing.

    Args:
        cell: of a study.
        folder: that of `run`.
    """
    file = _file(cell, folder)
    return json.loads(file.read_text(encoding="utf-8")) if file.is_file() else None


def code_of(study: Study) -> provenance.Code:
    """The modules that make the cells of a study, each with its fingerprint."""
    return provenance.code_from([(EXPERIMENTS[study.experiment], study.experiment)])


def _run_cell(experiment: str, cell: dict, stored: Path, code: provenance.Code) -> str | None:
    """In a worker: one cell; a line if it failed."""
    start = time.perf_counter()
    try:
        rows = _function(experiment)(**cell)
    except Exception as error:
        return failure_line(_name(experiment, cell), error)
    made = {
        "cell": cell,
        "rows": rows,
        "seconds": round(time.perf_counter() - start, 3),
        "hardware": provenance.hardware(),
        "versions": {"python": platform.python_version()}
        | {name: version(name) for name in _PACKAGES if find_spec(_MODULES.get(name, name))},
        "code": code,
    }
    write_whole(stored / f"{_digest(cell)}.json", _json(made))
    return None


_MODULES = {"scikit-learn": "sklearn"}


def _function(experiment: str) -> Callable[..., list[dict]]:
    return getattr(importlib.import_module(EXPERIMENTS[experiment]), experiment)


def _name(experiment: str, cell: Mapping) -> str:
    return f"{experiment} {', '.join(f'{key}={value}' for key, value in cell.items())}"


def _file(cell: Mapping, folder: Path) -> Path:
    return Path(folder) / "cells" / f"{_digest(cell)}.json"


def _digest(cell: Mapping) -> str:
    return hashlib.sha256(json.dumps(cell, sort_keys=True).encode()).hexdigest()[:16]


def _json(made: dict) -> bytes:
    return (json.dumps(made, indent=1) + "\n").encode()
