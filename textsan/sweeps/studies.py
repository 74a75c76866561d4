"""Experiments that are no sanitizer under attack (vectors, gradients, derived tables): functions by name.

An experiment is a function from settings, all given by name, to rows of a table. A specification gives its
settings values, as in `textsan.sweeps.specification`; a cell holds the experiment's name and its arguments.
"""

import importlib
import inspect
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, partial
from importlib.metadata import entry_points
from itertools import product
from pathlib import Path

from textsan.sweeps.outcomes import Outcome


@dataclass(frozen=True)
class Experiment:
    """Where an experiment is, and what it reads beside its arguments.

    Args:
        module: has a function of the experiment's name.
        reads: files of `data/`, with * for anything; those after a ! are left out. Another content makes its
            cells stale.
    """

    module: str
    reads: tuple[str, ...] = ()


@cache
def known() -> dict[str, Experiment]:
    """What a specification can name: the experiments of installed packages, by their entry points.

    A package names a dict of them under the group `textsan.experiments`, as that of the book does.
    """
    return {name: one for found in entry_points(group="textsan.experiments") for name, one in found.load().items()}


def cells_of(spec: Mapping) -> list[dict]:
    """The cells of a specification that names an experiment, all checked.

    Args:
        spec: experiment, and grids: a list of mappings from argument to value or values.

    Raises:
        KeyError, ValueError: a key, an experiment or an argument that is unknown or missing; the line names the
            known ones.
    """
    for key in ("experiment", "grids"):
        if key not in spec:
            raise KeyError(f"spec: key {key!r} is missing; known: experiment, grids")
    if further := sorted(spec.keys() - {"experiment", "grids"}):
        raise KeyError(f"spec: key {further[0]!r} is unknown; known: experiment, grids")
    name, grids = spec["experiment"], spec["grids"]
    if not isinstance(name, str) or name not in known():
        raise KeyError(f"experiment: {name!r} is unknown; known: {', '.join(known()) or 'none is installed'}")
    if not isinstance(grids, list) or not grids or not all(isinstance(grid, dict) for grid in grids):
        raise ValueError(f"grids: {grids!r} is no list of mappings from argument to value or values")
    arguments, cells = inspect.signature(function(name)).parameters, []
    for grid in grids:
        if unknown := [key for key in grid if key not in arguments]:
            raise KeyError(f"{name}: {unknown[0]!r} is unknown; known: {', '.join(arguments)}")
        missing = [key for key, one in arguments.items() if key not in grid and one.default is one.empty]
        if missing:
            raise KeyError(f"{name}: {missing[0]!r} is missing; known: {', '.join(arguments)}")
        values = [value if isinstance(value, list) else [value] for value in grid.values()]
        if [] in values:
            raise ValueError(f"{name}: {list(grid)[values.index([])]}: [] is empty; give at least one value")
        cells += [{"experiment": name} | dict(zip(grid, some, strict=True)) for some in product(*values)]
    return cells


def function(name: str) -> Callable[..., list[dict]]:
    """The experiment of this name, imported now."""
    return getattr(importlib.import_module(known()[name].module), name)


def defaults(name: str) -> dict:
    """The defaults that its arguments have now."""
    arguments = inspect.signature(function(name)).parameters.values()
    return {one.name: one.default for one in arguments if one.default is not one.empty}


def outcomes(cells: list[dict], folder: Path) -> Iterator[Callable[[], Outcome]]:
    """What computes each cell.

    Args:
        cells: of `cells_of`.
        folder: not used: experiments keep no state of their own there.
    """
    for cell in cells:
        yield partial(_outcome, cell)


def _outcome(cell: Mapping) -> Outcome:
    arguments = labels(cell)
    return Outcome([arguments | row for row in function(cell["experiment"])(**arguments)])


def labels(cell: Mapping) -> dict:
    """The columns of the table that say which cell a row is: the arguments."""
    return {name: value for name, value in cell.items() if name != "experiment"}
