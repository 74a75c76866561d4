"""Experiments that are no sanitizer under attack (vectors, gradients, derived tables): functions by name.

An experiment is a function from settings, all given by name, to rows of a table.
"""

import importlib
import inspect
from collections.abc import Callable, Iterator, Mapping
from functools import cache, partial
from importlib.metadata import entry_points
from pathlib import Path
from typing import NamedTuple

import numpy as np


class Outcome(NamedTuple):
    """The outcome of a cell.

    Attributes:
        rows: of the table, values by column.
        arrays: of an attack one entry a position, of a task one a test example, by name.
        models: names of the models that were read.
    """

    rows: list[dict]
    arrays: Mapping[str, np.ndarray] = {}
    models: tuple[str, ...] = ()


@cache
def known() -> dict[str, str]:
    """Return the experiments of installed packages, each with the module that has a function of its name.

    A package names a dict of them under the entry-point group `textsan.experiments`, as that of the book does.
    """
    return {
        name: module
        for point in entry_points(group="textsan.experiments")
        for name, module in point.load().items()
    }


def function(name: str) -> Callable[..., list[dict]]:
    """Import the experiment of a name."""
    return getattr(importlib.import_module(known()[name]), name)


def defaults(name: str) -> dict:
    """Return the defaults of an experiment's arguments."""
    arguments = inspect.signature(function(name)).parameters.values()
    return {argument.name: argument.default for argument in arguments if argument.default is not argument.empty}


def outcomes(cells: list, folder: Path) -> Iterator[Callable[[], Outcome]]:
    """Yield a function for each cell that computes it; experiments keep no state of their own in the folder."""
    for cell in cells:
        yield partial(_outcome, cell)


def _outcome(cell: Mapping) -> Outcome:
    arguments = labels(cell)
    return Outcome([arguments | row for row in function(cell["experiment"])(**arguments)])


def labels(cell: Mapping) -> dict:
    """Return the columns of the table that tell cells apart: the arguments."""
    return {name: value for name, value in cell.items() if name != "experiment"}
