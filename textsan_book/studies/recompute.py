"""Recomputation: one cell of a committed table is computed anew, and what differs is said.

Trust in a table comes from cells that come out again: the golden ones at every run of the tests, others as they
are drawn.
"""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pandas as pd
import yaml

from textsan.base import kernels
from textsan.sweeps import hits, sanitized, studies
from textsan.sweeps.specification import Cell

TRAINED = frozenset({"citizens", "departments", "gradient_defences", "keywords", "preparations", "trade_offs"})
"""Experiments whose rows come from networks or heads that are trained there."""

SEARCHES = frozenset({"gradient_attacks", "gradient_spans", "gradient_whole"})
"""Experiments that search for a text: with other kernels the search ends elsewhere, and rows have no interval."""

_ROUNDED = 5.1e-6  # stored tables have five decimals; one position among 3,000 moves a rate by 3.3e-4
_ARRAYS = "document", "index", "hit", "substring", "unchanged"  # of an attack, compared position by position
_GIVEN = _ARRAYS[:2]
_END = re.compile(r"(^|[_ ])(low|high)$")  # of an interval
_NEAR = 0.02, 0.005  # share and distance within which a number without interval is near


def difference(cell: Cell, table: Path, rows: Sequence[int]) -> str:
    """Compute a cell of a stored table anew, and say in a line what differs; "" if nothing does.

    Rows must be equal to the digits that are stored, and hits position by position, without the ends of intervals,
    which are another's method, and seconds. Where something is trained, or where this machine or one that made the
    table has not the pinned kernels, what has an interval must lie in the stored one, and all else be near.
    """
    kind = studies if "experiment" in cell else sanitized
    with TemporaryDirectory() as folder:
        [compute] = kind.outcomes([cell], Path(folder))
        outcome = compute()
    stored = pd.read_csv(table, low_memory=False).loc[list(rows)]
    record = yaml.safe_load(table.with_suffix(".yml").read_text(encoding="utf-8"))
    is_exact = not is_trained(cell) and _is_same_arithmetic(record)
    moved = _moved(stored, pd.DataFrame(outcome.rows), is_exact)
    if "attack" in cell and table.with_suffix(".npz").is_file():
        kept = hits.load_hits(table).get(rows[0], {})
        compared = [name for name in (_ARRAYS if is_exact else _GIVEN) if name in kept]
        moved += [
            f"{name} of positions" for name in compared if not np.array_equal(kept[name], outcome.arrays[name])
        ]
    return "; ".join(moved)


def is_trained(cell: Cell) -> bool:
    """Tell if a cell's numbers come from something trained, which need not repeat on another machine."""
    if "experiment" in cell:
        return cell["experiment"] in TRAINED
    return bool(cell.get("attack", {}).get("epochs")) or cell.get("task", {}).get("protocol") == "fine-tuned"


def is_pinned(record: Mapping) -> bool:
    """Return whether a table's record names processors with the pinned kernels alone."""
    made = record.get("hardware") or ["unknown"]
    named = not isinstance(made, str) and all(re.fullmatch(r"x86_64, \d+ cores", processor) for processor in made)
    return named and "made elsewhere" not in record


def incomparable(cell: Cell, record: Mapping) -> str:
    """Name what a cell would need to be compared, which no computation here has; "" if it can be."""
    if "times of one machine" in record.get("made elsewhere", ""):
        return "the machine whose times it has"
    if cell.get("experiment") in SEARCHES and not _is_same_arithmetic(record):
        return "the kernels that made it"
    return ""


def _is_same_arithmetic(record: Mapping) -> bool:
    return is_pinned(record) and not kernels.held()


def _moved(stored: pd.DataFrame, anew: pd.DataFrame, is_exact: bool) -> list[str]:
    """A line for each column that comes out otherwise."""
    if len(stored) != len(anew):
        return [f"{len(anew)} rows, stored are {len(stored)}"]
    ends, moved = _ends(stored), []
    for name, column in stored.items():
        if name == "seconds" or _END.search(str(name)) or str(name).startswith("over "):
            continue
        if str(name).endswith("_parameters"):
            continue  # by which the rows were found, some with an option that other rows of their table have
        if column.isna().all():
            continue  # of other rows, or of other cells
        values = anew[name] if name in anew else pd.Series([None] * len(anew))
        low = high = column
        if name in ends and not is_exact:
            low, high = (stored[end].fillna(column) for end in ends[name])
        near = (0.0, 0.0) if is_exact else _NEAR
        for number, (least, value, most) in enumerate(zip(low, values, high, strict=True)):
            if not _is_within(least, value, most, near):
                moved.append(f"{name} {value!r}, stored {column.iloc[number]!r}")
                break
    return moved


def _ends(stored: pd.DataFrame) -> dict[str, tuple[str, str]]:
    """The ends of the interval of each column that has one."""
    bare = ("asr", "difference") if "share" in stored else ("asr", "difference", "excess")
    pairs = {name: ("low", "high") for name in bare if {name, "low", "high"} <= {*stored}}
    for name in stored:
        for mark in ("_", " "):
            ends = (f"{name}{mark}low", f"{name}{mark}high")
            if {*ends} <= {*stored}:
                pairs[name] = ends
    return pairs


def _is_within(low, value, high, near: tuple[float, float]) -> bool:
    numbers = [_number(value_or_end) for value_or_end in (low, value, high)]
    if any(isinstance(value_or_end, str) or value_or_end is None for value_or_end in numbers):
        return numbers[0] == numbers[1] == numbers[2]
    least, number, most = numbers
    if number in (least, most):
        return True  # infinity too, of which nothing can be taken away
    slack = _ROUNDED + near[1] + (near[0] + 1e-9) * abs(number)
    return least - slack <= number <= most + slack


def _number(value) -> float | str | None:
    """A number as such; words as they are; None for nothing."""
    try:
        number = float(value)
    except (TypeError, ValueError):
        return None if value is None else str(value) or None
    return None if np.isnan(number) else number
