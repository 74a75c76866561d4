"""Claims that the papers make in words, each a rule on the result tables: holds, does not hold, or not run.

A rule compares two sets of rows, cell by cell: a cell is what two attacks share (corpus, sentences, defence,
epsilon), less the columns in which the claim itself varies. `data/scoreboard.yml` says which rows and which rule.
"""

from collections.abc import Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from textsan.evaluation import Estimate
from textsan.report.tables import FAMILY, difference, load_tables, select


class Finding(NamedTuple):
    """What a rule says of the cells.

    Attributes:
        verdict: "holds", "does not hold" or "not run".
        number: the difference that the verdict rests on, left minus right.
        reason: where it was found, and in how many cells.
    """

    verdict: str
    number: Estimate | None
    reason: str


Cell = tuple[str, Estimate]  # what the cell is called, and left minus right


def at_most(cells: Sequence[Cell], tolerance: float = 0.0) -> Finding:
    """No difference is above the tolerance: in no cell the whole 95 % interval is.

    >>> at_most([("a", Estimate(0.02, -0.01, 0.05)), ("b", Estimate(-0.1, -0.2, 0.0))]).verdict
    'holds'
    """
    where, largest = max(cells, key=lambda cell: cell[1].low)
    above = sum(one.low > tolerance for _, one in cells)
    reason = f"{above} of {len(cells)} cells significantly above {tolerance:g}; the furthest: {where}"
    return Finding(_word(not above), largest, reason)


def within(cells: Sequence[Cell], tolerance: float = 0.0) -> Finding:
    """No difference is beyond the tolerance on either side: in no cell the whole 95 % interval is.

    >>> within([("a", Estimate(-0.1, -0.2, -0.05))], tolerance=0.01).verdict
    'does not hold'
    """
    where, farthest = max(cells, key=lambda cell: max(cell[1].low, -cell[1].high))
    beyond = sum(one.low > tolerance or one.high < -tolerance for _, one in cells)
    reason = f"{beyond} of {len(cells)} cells significantly beyond {tolerance:g}; the furthest: {where}"
    return Finding(_word(not beyond), farthest, reason)


def above(cells: Sequence[Cell]) -> Finding:
    """The difference is positive on average: the mean over all cells has a 95 % interval above zero.

    The cells share sentences, so the interval of the mean is the mean of the intervals, not a narrower one.

    >>> above([("a", Estimate(0.2, 0.1, 0.3)), ("b", Estimate(0.0, -0.05, 0.05))]).number
    Estimate(value=0.1, low=0.025, high=0.175)
    """
    mean = Estimate(*(round(float(np.mean(ends)), 9) for ends in zip(*(one for _, one in cells), strict=True)))
    up, down = sum(one.low > 0 for _, one in cells), sum(one.high < 0 for _, one in cells)
    reason = f"mean of {len(cells)} cells; significantly above in {up}, below in {down}"
    return Finding(_word(mean.low > 0), mean, reason)


RULES = {"above": above, "at most": at_most, "within": within}


def _word(true: bool) -> str:
    return "holds" if true else "does not hold"


def pairs(rows: pd.DataFrame, left: Mapping, right: Mapping, free: Sequence[str] = ()) -> list[Cell]:
    """Left minus right in each cell that has rows of both.

    Args:
        rows: result tables.
        left, right: value or values by column; "column" is what is compared, asr if it is not given.
        free: columns that need not agree within a cell. Rows of a side that differ in one are all compared.

    Raises:
        ValueError: rows on a side of a cell that differ in no such column; one that is in two tables counts once.
    """
    names = [column for column in FAMILY if column not in free and column in rows]
    apart = [column for column in free if column != "table"]
    sides = []
    for where in (left, right):
        where = dict(where)
        column = where.pop("column", "asr")
        found: dict[tuple, dict[tuple, dict]] = {}
        for row in select(rows, where).to_dict("records"):
            cell, which = (tuple(str(row.get(name)) for name in some) for some in (names, apart))
            there = found.setdefault(cell, {}).setdefault(which, row)
            if there[column] != row[column]:
                raise ValueError(f"claim: {where} has several rows in the cell {', '.join(cell)}; ask for more")
        sides.append((found, column))
    (ours, column), (theirs, other) = sides
    common = [cell for cell in ours if cell in theirs]
    both = [pair for cell in common for pair in product(ours[cell].values(), theirs[cell].values())]
    return [(_called(row), difference(row, against, column, other)) for row, against in both]


def _called(row: Mapping) -> str:
    return f"{row['dataset']}, {row['defence']}, epsilon {row['epsilon']:g}"


def judge(claims: Sequence[Mapping], folder: Path) -> pd.DataFrame:
    """A row a claim: claim, place, verdict, value, low, high, reason, tables.

    Args:
        claims: of `data/scoreboard.yml`: claim, place, tables, test (a name in `RULES`), left, right, and maybe
            free, tolerance and where (a condition on both sides).
        folder: of the result tables.
    """
    judged = []
    for one in claims:
        rows = select(load_tables(folder, one["tables"]), one.get("where", {}))
        cells = pairs(rows, one["left"], one["right"], one.get("free", ())) if len(rows) else []
        finding = Finding("not run", None, "no table has the rows")
        if cells:
            given = {"tolerance": one["tolerance"]} if "tolerance" in one else {}
            finding = RULES[one["test"]](cells, **given)
        value, low, high = finding.number or (np.nan,) * 3
        row = {"claim": one["claim"], "place": one["place"], "verdict": finding.verdict}
        row |= {"value": round(value, 4), "low": round(low, 4), "high": round(high, 4), "reason": finding.reason}
        used = sorted(set(rows.table)) if cells else []
        judged.append(row | {"tables": " ".join(used)})
    return pd.DataFrame(judged)
