"""Claims that the papers make in words, each a test on the result tables: holds, does not hold, or undecided.

A claim (`paper_claims`) compares two sets of rows, cell by cell: a cell is what two attacks share (corpus,
sentences, defence, epsilon), or two learners, or two searches, less the columns in which the claim itself varies.

    at most    in no cell is the difference above the tolerance
    within     in no cell is it beyond the tolerance, on either side
    above      the difference is positive on average, or above the gain that the claim names

Tests are one-sided at 5 % (two-sided where "within" is refuted). A claim about every cell *holds* if it is shown
in every cell, for which no correction is needed, and *does not hold* if it is refuted in one after Holm's
correction for all. "Above" does not hold if the mean is shown to be below a stated margin: a gain that small is
none. A cell that rests on a detector counts only if that has passed its gate: such a claim can hold, and hardly
fail. A rule is to be older than the tables that it judges: where it is not, `fixed` says "after"; where it was
*changed* after a result had been seen, there is a number and no verdict.
"""

import math
import statistics
from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from itertools import product
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.special import ndtri, stdtrit

from textsan.evaluation import Estimate
from textsan.sweeps.tables import FAMILY, difference, estimate, load_tables, select
from textsan_book.judging.paper_claims import Claim
from textsan_book.judging.verdicts import LEVEL, NOT_COMPARABLE, Z, holm, p_below, standard_error, untrained


class Cell(NamedTuple):
    """A difference, left minus right with its 95 % interval, in one cell of a corpus (`dataset`)."""

    name: str
    dataset: str
    difference: Estimate

    @property
    def error(self) -> float:
        """Standard error of the difference."""
        return standard_error(self.difference)


class Finding(NamedTuple):
    """The verdict of a rule on cells, with the difference that it rests on and where that was found (`reason`)."""

    verdict: str
    number: Estimate | None
    reason: str


def at_most(cells: Sequence[Cell], tolerance: float) -> Finding:
    """Judge if in no cell the difference is above the tolerance.

    >>> cells = [Cell("a", "rt", Estimate(0.02, 0.01, 0.03)), Cell("b", "rt", Estimate(-0.1, -0.2, 0.0))]
    >>> at_most(cells, 0.05).verdict, at_most(cells, 0.021).verdict, at_most(cells, 0.0).verdict
    ('holds', 'undecided', 'does not hold')
    """
    gaps = [cell.difference.value - tolerance for cell in cells]
    return _of_every_cell(cells, gaps, 1, f"above {tolerance:g}")


def within(cells: Sequence[Cell], tolerance: float) -> Finding:
    """Judge if in no cell the difference is beyond the tolerance, above 0, on either side."""
    gaps = [abs(cell.difference.value) - tolerance for cell in cells]
    return _of_every_cell(cells, gaps, 2, f"beyond {tolerance:g}")


def _of_every_cell(cells: Sequence[Cell], gaps: Sequence[float], sides: int, beyond: str) -> Finding:
    """The verdict on a claim about every cell, by what each is beyond its tolerance, on one side or two."""
    shown = [p_below(gap, cell.error) for gap, cell in zip(gaps, cells, strict=True)]
    refuted = [min(1.0, sides * p_below(-gap, cell.error)) for gap, cell in zip(gaps, cells, strict=True)]
    against, for_it = sum(p <= LEVEL for p in holm(refuted)), sum(p <= LEVEL for p in shown)
    reason = f"of {_cells(len(cells))} {against} shown to be {beyond}, {for_it} shown not to be; the furthest: "
    furthest = max(range(len(cells)), key=lambda i: (-refuted[i], gaps[i]))
    verdict = "does not hold" if against else "holds" if for_it == len(cells) else "undecided"
    need = ""
    if verdict == "undecided":
        factors = [_factor(gap, cell.error) for gap, cell, p in zip(gaps, cells, shown, strict=True) if p > LEVEL]
        furthest, need = max(range(len(cells)), key=lambda i: shown[i]), f"; {_sample(max(factors))}"
    return Finding(verdict, cells[furthest].difference, f"{reason}{cells[furthest].name}{need}")


def above(cells: Sequence[Cell], margin: float, by: float = 0.0) -> Finding:
    """Judge if the difference is positive on average, or above the gain `by`.

    A mean that is shown to be below gain and margin refutes it. Data sets count alike, and so do the cells of one.
    Cells of one data set share sentences, so that their mean is as uncertain as they are on average; data sets are
    taken for independent, though rt and SST-2 share sentences.

    >>> cells = [Cell("a", "rt", Estimate(0.2, 0.1, 0.3)), Cell("b", "rt", Estimate(0.0, -0.05, 0.05))]
    >>> above(cells, 0.01).verdict, above(cells, 0.01).number
    ('holds', Estimate(value=0.1, low=0.025, high=0.175))
    """
    by_dataset: dict[str, list[Cell]] = {}
    for cell in cells:
        by_dataset.setdefault(cell.dataset, []).append(cell)
    values = [statistics.fmean(cell.difference.value for cell in group) for group in by_dataset.values()]
    errors = [statistics.fmean(cell.error for cell in group) for group in by_dataset.values()]
    value, error = statistics.fmean(values), math.hypot(*errors) / len(errors)
    number = Estimate(*(round(value + side * Z * error, 9) for side in (0, -1, 1)))
    up, down = (sum(side * cell.difference.value > Z * cell.error for cell in cells) for side in (1, -1))
    over = "one data set" if len(by_dataset) == 1 else f"mean of {len(by_dataset)} data sets"
    reason = f"{over}, {_cells(len(cells))}, {up} significantly above and {down} below"
    if p_below(by - value, error) <= LEVEL:
        return Finding("holds", number, reason)
    if p_below(value - by - margin, error) <= LEVEL:
        return Finding("does not hold", number, f"{reason}; shown to be below {by + margin:g}")
    factor = min(_factor(gap, error) for gap in (by - value, value - by - margin))
    return Finding("undecided", number, f"{reason}; {_sample(factor)}")


def _cells(number: int) -> str:
    return "one cell" if number == 1 else f"{number} cells"


def _factor(gap: float, error: float) -> float:
    """Return the multiple of the positions that would show a difference to be below zero; inf if it is not."""
    return (ndtri(LEVEL) * error / gap) ** 2 if gap < 0 else math.inf


def _sample(factor: float) -> str:
    if math.isinf(factor):
        return "more positions would refute it or not, if this is the truth"
    return f"about {max(factor, 1.1):.2g} times the positions would show it, if this is the truth"


def pairs(
    rows: pd.DataFrame,
    left: Mapping,
    right: Mapping | float,
    free: Sequence[str] = (),
    *,
    cell: Sequence[str] = FAMILY,
    sample: Sequence[str] = (),
    factor: float = 1.0,
) -> tuple[list[Cell], int]:
    """Compute left minus right in each cell that has rows of both, and count the cells that a gate leaves out.

    `left` and `right` are values by column; their "column" is what is compared, asr if it is not given, and a
    number on the right is compared with as it is, times `factor`. `cell` are the columns that make a cell. Those
    of `free` need not agree within one: rows of a side that differ in one are all compared. Over the columns of
    `sample` a cell's difference is a mean, with Student's interval from the units that the first of them names.
    Rows of a side that differ in no such column are an error; one that is in two tables counts once.
    """
    names = [column for column in ("table", *cell, *sample) if column not in free and column in rows]
    apart = [column for column in free if column != "table"]
    ours, column = _side(rows, left, names, apart)
    if isinstance(right, Mapping):
        theirs, other = _side(rows, right, names, apart)
    else:
        theirs, other = {key: {(): {column: right}} for key in ours}, column
    shared = [key for key in ours if key in theirs]
    both = [pair for key in shared for pair in product(ours[key].values(), theirs[key].values())]
    trained = [pair for pair in both if not any(map(untrained, pair))]
    kept = [name for name in names if name not in sample]
    whole: dict[tuple, list[tuple]] = {}
    for i, (row, against) in enumerate(trained):
        gap = _gap(row, against, column, other, free, factor, isinstance(right, Mapping))
        of = tuple(str(row.get(name)) for name in kept) if sample else (i,)
        whole.setdefault(of, []).append((row, gap))
    cells = []
    for rows_and_gaps in whole.values():
        row, gap = rows_and_gaps[0]
        if sample:
            gap = _mean([(str(row.get(sample[0])), gap.value) for row, gap in rows_and_gaps])
        cells.append(Cell(_called(row, kept), str(row.get("dataset", "")), gap))
    return cells, len(both) - len(trained)


def _side(rows, where: Mapping, names, apart) -> tuple[dict[tuple, dict[tuple, dict]], str]:
    """The rows of one side by cell, and by the free columns within it; and the column that is compared."""
    where = dict(where)
    column = where.pop("column", "asr")
    by_cell: dict[tuple, dict[tuple, dict]] = {}
    for row in select(rows, where).to_dict("records"):
        cell, which = (tuple(str(row.get(name)) for name in columns) for columns in (names, apart))
        first = by_cell.setdefault(cell, {}).setdefault(which, row)
        if first[column] != row[column]:
            raise ValueError(f"claim: {where} has several rows in the cell {', '.join(cell)}; ask for more")
    return by_cell, column


def _gap(row, against, column, other, free, factor, paired) -> Estimate:
    """Left minus right; paired where the table has it, and where nothing is multiplied."""
    if paired and factor == 1:
        return difference(row, against, column, other, free)
    ours, theirs = estimate(row, column), Estimate(*(factor * end for end in estimate(against, other)))
    half = math.hypot(*((side.high - side.low) / 2 for side in (ours, theirs)))
    value = ours.value - theirs.value
    return Estimate(value, value - half, value + half)


def _mean(gaps: Sequence[tuple[str, float]]) -> Estimate:
    """The mean of differences by unit, with Student's 95 % interval, which a single unit does not have."""
    by_unit: dict[str, list[float]] = {}
    for unit, gap in gaps:
        by_unit.setdefault(unit, []).append(gap)
    means = [statistics.fmean(gaps) for gaps in by_unit.values()]
    if len(means) < 2:
        raise ValueError("claim: a mean over one unit has no interval; sample over more")
    half = float(stdtrit(len(means) - 1, 0.975)) * statistics.stdev(means) / math.sqrt(len(means))
    mean = statistics.fmean(means)
    return Estimate(mean, mean - half, mean + half)


def _called(row: Mapping, names: Sequence[str]) -> str:
    if row.get("defence") and row.get("epsilon", np.nan) == row.get("epsilon"):
        dataset = [row["dataset"]] if "dataset" in row else []
        return ", ".join([*dataset, row["defence"], f"epsilon {row['epsilon']:g}"])
    return ", ".join(f"{name} {row[name]}" for name in names if row.get(name) == row.get(name))


def rule(claim: Claim) -> str:
    """Name the rule of a claim in words; empty where it has none.

    >>> rule(Claim("c", "p", "t.csv", by=0.2)), rule(Claim("c", "p", "t.csv", at_most=0.03))
    ('above 0.2 on average, refuted below 0.21', 'at most 0.03 in every cell')
    """
    if not claim.tables:
        return ""
    for word, tolerance in (("at most", claim.at_most), ("within", claim.within)):
        if tolerance is not None:
            return f"{word} {tolerance:g} in every cell"
    return f"above {claim.by:g} on average, refuted below {claim.by + claim.margin:g}"


def judge(claims: Sequence[Claim], folder: Path) -> pd.DataFrame:
    """Decide claims by the tables of a folder, a row each."""
    load = cache(partial(load_tables, folder))
    return pd.DataFrame([_judged(claim, load) for claim in claims])


def _judged(claim: Claim, load: Callable) -> dict:
    finding, tables = _finding(claim, load)
    value, low, high = finding.number or (np.nan,) * 3
    fixed = "after" if claim.changed else claim.fixed
    row = {"claim": claim.claim, "place": claim.place, "rule": rule(claim), "fixed": fixed if claim.tables else ""}
    row |= {"verdict": finding.verdict, "value": round(value, 4), "low": round(low, 4), "high": round(high, 4)}
    return row | {"reason": finding.reason, "tables": " ".join(tables)}


def _finding(claim: Claim, load: Callable) -> tuple[Finding, list[str]]:
    if claim.not_comparable:
        return Finding("not comparable", None, NOT_COMPARABLE[claim.not_comparable]), []
    if claim.not_run:
        return Finding("not run", None, claim.not_run), []
    rows = select(load(claim.tables if isinstance(claim.tables, str) else tuple(claim.tables)), claim.where)
    given = {"cell": claim.cell, "sample": claim.sample, "factor": claim.factor}
    cells, left_out = pairs(rows, claim.left, claim.right, claim.free, **given) if len(rows) else ([], 0)
    if not cells and not left_out:
        return Finding("not run", None, "no table has the rows"), []
    if not cells:
        return Finding("detector untrained", None, f"{_cells(left_out)}, none with a detector that has learnt"), []
    if claim.at_most is not None:
        finding = at_most(cells, claim.at_most)
    elif claim.within is not None:
        finding = within(cells, claim.within)
    else:
        finding = above(cells, claim.margin, claim.by)
    if claim.changed:
        finding = Finding("no verdict", finding.number, f"{claim.changed}; {finding.reason}")
    return finding, sorted(set(rows.table))
