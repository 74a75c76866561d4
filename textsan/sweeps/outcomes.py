"""Outcomes of the cells of sweeps and studies: rows of a table, arrays behind them, the models that were read."""

from collections.abc import Mapping
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
