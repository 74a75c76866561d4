"""Claims that the papers make in words, each a test on the result tables: holds, does not hold, or undecided.

A claim compares two sets of rows, cell by cell: a cell is what two attacks share (corpus, sentences, defence,
epsilon), or two learners, or two searches, less the columns in which the claim itself varies.
`data/scoreboard.yml` says which rows and which rule.

    at most    in no cell is the difference above the tolerance
    within     in no cell is it beyond the tolerance, on either side
    above      the difference is positive on average, or above the gain that the claim names

Each verdict is shown by a one-sided test at 5 % (two-sided where "within" is refuted). A claim about every cell
*holds* if it is shown in every cell, for which no correction is needed, and *does not hold* if it is refuted in
one cell after Holm's correction for all of them. "Above" holds if the mean is shown to be positive, and does not
hold if it is shown to be below a margin that is stated with the claim: a gain that small is none. What is neither
is undecided, whatever way it leans. A cell that rests on a detector counts only if the detector has passed its
gate: such a claim can hold, and hardly fail.

A rule is to be older than the tables that it judges. Where it was written when they were there, `fixed` says
"after"; where it was *changed* after a result had been seen, there is a number and no verdict.
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
from textsan_book.judging.verdicts import LEVEL, NOT_COMPARABLE, Z, holm, p_below, standard_error, untrained

VERDICTS = (
    "does not hold",
    "holds",
    "undecided",
    "no verdict",
    "detector untrained",
    "not comparable",
    "not run",
)
"""In the order in which a reader is to see them: what is refuted first."""


class Cell(NamedTuple):
    """A difference, left minus right, in one cell.

    Attributes:
        name: what the cell is called.
        dataset: of the private text.
        difference: with its 95 % interval.
    """

    name: str
    dataset: str
    difference: Estimate

    @property
    def error(self) -> float:
        """Standard error of the difference."""
        return standard_error(self.difference)


class Finding(NamedTuple):
    """What a rule says of the cells.

    Attributes:
        verdict: one of `VERDICTS`.
        number: the difference that the verdict rests on, left minus right.
        reason: where it was found, and in how many cells.
    """

    verdict: str
    number: Estimate | None
    reason: str


def at_most(cells: Sequence[Cell], tolerance: float) -> Finding:
    """In no cell is the difference above the tolerance.

    Args:
        cells: at least one.
        tolerance: in the unit of the differences.

    >>> cells = [Cell("a", "rt", Estimate(0.02, 0.01, 0.03)), Cell("b", "rt", Estimate(-0.1, -0.2, 0.0))]
    >>> at_most(cells, 0.05).verdict, at_most(cells, 0.021).verdict, at_most(cells, 0.0).verdict
    ('holds', 'undecided', 'does not hold')
    """
    gaps = [cell.difference.value - tolerance for cell in cells]
    within = [p_below(gap, cell.error) for gap, cell in zip(gaps, cells, strict=True)]
    beyond = [p_below(-gap, cell.error) for gap, cell in zip(gaps, cells, strict=True)]
    return _of_every_cell(cells, gaps, within, beyond, f"above {tolerance:g}")


def within(cells: Sequence[Cell], tolerance: float) -> Finding:
    """In no cell is the difference beyond the tolerance, on either side.

    Args:
        cells: at least one.
        tolerance: above 0, in the unit of the differences.

    >>> within([Cell("a", "rt", Estimate(-0.1, -0.2, -0.05))], 0.01).verdict
    'does not hold'
    """
    gaps = [abs(cell.difference.value) - tolerance for cell in cells]
    inside = [p_below(gap, cell.error) for gap, cell in zip(gaps, cells, strict=True)]
    beyond = [min(1.0, 2 * p_below(-gap, cell.error)) for gap, cell in zip(gaps, cells, strict=True)]
    return _of_every_cell(cells, gaps, inside, beyond, f"beyond {tolerance:g}")


def _of_every_cell(cells, gaps, shown, refuted, beyond: str) -> Finding:
    """The verdict on a claim about every cell, from the p-values for and against it in each."""
    against = sum(p <= LEVEL for p in holm(refuted))
    for_it = sum(p <= LEVEL for p in shown)
    reason = f"of {_cells(len(cells))} {against} shown to be {beyond}, {for_it} shown not to be; the furthest: "
    furthest = max(range(len(cells)), key=lambda i: (-refuted[i], gaps[i]))
    verdict = "does not hold" if against else "holds" if for_it == len(cells) else "undecided"
    if verdict == "undecided":
        need = [_factor(gap, cell.error) for gap, cell, p in zip(gaps, cells, shown, strict=True) if p > LEVEL]
        furthest = max(range(len(cells)), key=lambda i: shown[i])
        reason += f"{cells[furthest].name}; {_sample(max(need))}"
        return Finding(verdict, cells[furthest].difference, reason)
    return Finding(verdict, cells[furthest].difference, reason + cells[furthest].name)


def above(cells: Sequence[Cell], margin: float, by: float = 0.0) -> Finding:
    """The difference is positive on average, or above a gain.

    Args:
        cells: at least one. Data sets count alike, and so do the cells of one. Cells of one data set share
            sentences, so that their mean is as uncertain as they are on average; data sets are taken for
            independent, though rt and SST-2 share sentences.
        margin: a mean that is shown to be below the gain and it refutes the claim.
        by: the gain that is claimed.

    >>> cells = [Cell("a", "rt", Estimate(0.2, 0.1, 0.3)), Cell("b", "rt", Estimate(0.0, -0.05, 0.05))]
    >>> above(cells, 0.01).verdict, above(cells, 0.01).number
    ('holds', Estimate(value=0.1, low=0.025, high=0.175))
    >>> above([Cell("a", "rt", Estimate(0.0, -0.01, 0.01))], 0.01).verdict
    'does not hold'
    """
    by_dataset: dict[str, list[Cell]] = {}
    for cell in cells:
        by_dataset.setdefault(cell.dataset, []).append(cell)
    values = [statistics.fmean(cell.difference.value for cell in some) for some in by_dataset.values()]
    errors = [statistics.fmean(cell.error for cell in some) for some in by_dataset.values()]
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


RULES = {"above": above, "at most": at_most, "within": within}


def _cells(number: int) -> str:
    return "one cell" if number == 1 else f"{number} cells"


def _factor(gap: float, error: float) -> float:
    """How many times the positions would show that a difference of this size is below zero; inf if it is not."""
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
    """Left minus right in each cell that has rows of both.

    Args:
        rows: result tables.
        left, right: value or values by column; "column" is what is compared, asr if it is not given. A number on
            the right is compared with as it is.
        free: columns that need not agree within a cell. Rows of a side that differ in one are all compared.
        cell: columns that make a cell.
        sample: columns of it over which a cell's difference is a mean, the first the unit that was drawn; the
            interval of the mean is Student's, from the units.
        factor: the right side is multiplied by it.

    Returns:
        the cells, and the number of those that rest on a detector that has not passed its gate, which are left
        out.

    Raises:
        ValueError: rows on a side of a cell that differ in no such column; one that is in two tables counts once.
    """
    names = [column for column in ("table", *cell, *sample) if column not in free and column in rows]
    apart = [column for column in free if column != "table"]
    ours, column = _side(rows, left, names, apart)
    if isinstance(right, Mapping):
        theirs, other = _side(rows, right, names, apart)
    else:
        theirs, other = {key: {(): {column: right}} for key in ours}, column
    both = [
        (key, *pair) for key in ours if key in theirs for pair in product(ours[key].values(), theirs[key].values())
    ]
    trained = [one for one in both if not any(map(untrained, one[1:]))]
    kept = [i for i, name in enumerate(names) if name not in sample]
    whole: dict[tuple, list[tuple]] = {}
    for i, (key, row, against) in enumerate(trained):
        gap = _gap(row, against, column, other, free, factor, isinstance(right, Mapping))
        of = tuple(key[k] for k in kept) if sample else (i,)
        whole.setdefault(of, []).append((row, gap))
    cells = []
    for found in whole.values():
        row = found[0][0]
        gaps = _mean([(str(one.get(sample[0])), gap.value) for one, gap in found]) if sample else found[0][1]
        cells.append(Cell(_called(row, [names[k] for k in kept]), str(row.get("dataset", "")), gaps))
    return cells, len(both) - len(trained)


def _side(rows, where: Mapping, names, apart) -> tuple[dict[tuple, dict[tuple, dict]], str]:
    """The rows of one side by cell, and by the free columns within it; and the column that is compared."""
    where = dict(where)
    column = where.pop("column", "asr")
    found: dict[tuple, dict[tuple, dict]] = {}
    for row in select(rows, where).to_dict("records"):
        cell, which = (tuple(str(row.get(name)) for name in some) for some in (names, apart))
        there = found.setdefault(cell, {}).setdefault(which, row)
        if there[column] != row[column]:
            raise ValueError(f"claim: {where} has several rows in the cell {', '.join(cell)}; ask for more")
    return found, column


def _gap(row, against, column, other, free, factor, paired) -> Estimate:
    """Left minus right; paired where the table has it, and where nothing is multiplied."""
    if paired and factor == 1:
        return difference(row, against, column, other, free)
    ours, theirs = estimate(row, column), Estimate(*(factor * one for one in estimate(against, other)))
    half = math.hypot(*((one.high - one.low) / 2 for one in (ours, theirs)))
    value = ours.value - theirs.value
    return Estimate(value, value - half, value + half)


def _mean(gaps: Sequence[tuple[str, float]]) -> Estimate:
    """The mean of differences by unit, with Student's 95 % interval, which a single unit does not have."""
    by_unit: dict[str, list[float]] = {}
    for unit, gap in gaps:
        by_unit.setdefault(unit, []).append(gap)
    means = [statistics.fmean(some) for some in by_unit.values()]
    if len(means) < 2:
        raise ValueError("claim: a mean over one unit has no interval; sample over more")
    half = float(stdtrit(len(means) - 1, 0.975)) * statistics.stdev(means) / math.sqrt(len(means))
    mean = statistics.fmean(means)
    return Estimate(mean, mean - half, mean + half)


def _called(row: Mapping, names: Sequence[str]) -> str:
    if "attack" in row or "defence_parameters" in row:
        return f"{row['dataset']}, {row['defence']}, epsilon {row['epsilon']:g}"
    return ", ".join(f"{name} {row[name]}" for name in names if row.get(name) == row.get(name))


def rule(claim: Mapping) -> str:
    """The rule of a claim in words.

    >>> rule({"test": "above", "margin": 0.01, "by": 0.2}), rule({"test": "at most", "tolerance": 0.03})
    ('above 0.2 on average, refuted below 0.21', 'at most 0.03 in every cell')
    """
    if claim["test"] == "above":
        by = claim.get("by", 0)
        return f"above {by:g} on average, refuted below {by + claim['margin']:g}"
    return f"{claim['test']} {claim['tolerance']:g} in every cell"


def judge(claims: Sequence[Mapping], folder: Path) -> pd.DataFrame:
    """A row a claim: claim, place, rule, fixed, verdict, value, low, high, reason, tables.

    Args:
        claims: of `data/scoreboard.yml`: claim and place; then not_comparable or not_run with a reason, or tables,
            test (a name in `RULES`) with its tolerance or margin (and by), left, right, and maybe free, cell,
            sample and factor of `pairs`, and where (a condition on both sides). `fixed: after` says that the rule
            was written when its tables were there, `changed` how it was changed after a result had been seen.
        folder: of the result tables.
    """
    load = cache(partial(load_tables, folder))
    return pd.DataFrame([_judged(one, load) for one in claims])


def _judged(one: Mapping, load: Callable) -> dict:
    finding, used = _found(one, load)
    value, low, high = finding.number or (np.nan,) * 3
    row = {"claim": one["claim"], "place": one["place"], "rule": rule(one) if "test" in one else ""}
    fixed = "after" if "changed" in one else one.get("fixed", "before")
    row |= {"fixed": fixed if "test" in one else "", "verdict": finding.verdict}
    row |= {"value": round(value, 4), "low": round(low, 4), "high": round(high, 4), "reason": finding.reason}
    return row | {"tables": " ".join(used)}


def _found(one: Mapping, load: Callable) -> tuple[Finding, list[str]]:
    if "not_comparable" in one:
        return Finding("not comparable", None, NOT_COMPARABLE[one["not_comparable"]]), []
    if "not_run" in one:
        return Finding("not run", None, one["not_run"]), []
    patterns = one["tables"] if isinstance(one["tables"], str) else tuple(one["tables"])
    rows = select(load(patterns), one.get("where", {}))
    given = {name: one[name] for name in ("cell", "sample", "factor") if name in one}
    cells, left_out = (
        pairs(rows, one["left"], one["right"], one.get("free", ()), **given) if len(rows) else ([], 0)
    )
    if not cells and not left_out:
        return Finding("not run", None, "no table has the rows"), []
    if not cells:
        return Finding("detector untrained", None, f"{_cells(left_out)}, none with a detector that has learnt"), []
    limits = {name: one[name] for name in ("tolerance", "margin", "by") if name in one}
    finding = RULES[one["test"]](cells, **limits)
    if "changed" in one:
        finding = Finding("no verdict", finding.number, f"{one['changed']}; {finding.reason}")
    return finding, sorted(set(rows.table))
