"""Recertification: a few stale results are computed anew; if all agree, the code as it is is taken for all.

After a change of code that should change no number, it costs minutes where the whole table would cost days.
"""

from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import numpy as np
import pandas as pd
import yaml

from textsan.base import checks
from textsan.sweeps import provenance, sweep
from textsan.sweeps.specification import Cell, cell_name
from textsan_book.chapters.stored_tables import table_changes
from textsan_book.studies import stored_cells

_ATTACK = "position", ("document", "index"), ("hit", "substring", "unchanged")
_TASK = "example", ("truth", "source"), ("answer",)
_SCORES = {"asr": ("asr", "low", "high"), "utility": ("utility", "utility_low", "utility_high")}
_FURTHER = "n_positions", "asr_substring", "unchanged", "n_test", "vulnerability"
TRAINED = frozenset({"citizens", "departments", "gradient_defences", "keywords", "preparations", "trade_offs"})
"""Experiments whose rows come from networks or heads that are trained there."""
_ROUNDED = 5.1e-6  # stored tables have five decimals; one position among 3,000 moves a rate by 3.3e-4


class Verdict(NamedTuple):
    """What came of it.

    Attributes:
        stale: how many results were stale.
        checked: how many of them were computed anew.
        differing: a line for each that came out otherwise, or not at all; empty if the results were stamped.
    """

    stale: int
    checked: int
    differing: list[str]


def recertify(cells: list[Cell], folder: Path, number: int, *, seed: int = 0, **means) -> Verdict:
    """Computes some stale cells anew, and if all agree stamps every stale one with the code as it is.

    Hits must be the same position by position, answers of a task example by example, rows of other experiments to
    the digits that are stored. Of attacks, models and experiments that are trained, which do not repeat from
    machine to machine, what has an interval must lie within the stored one, and all else be the same.

    Args:
        cells: of `textsan.sweeps.specification.read_spec`.
        folder: that of `sweep.run`.
        number: how many are computed, drawn at random.
        seed: of the draw.
        means: workers and scheduler, as of `sweep.run`.
    """
    stale = sweep.state(cells, folder).stale

    def differs(cell: Cell, again: Path) -> str | None:
        rows, anew = (sweep.load_result(cell, where)["rows"] for where in (folder, again))
        if "experiment" in cell:
            return _changed(cell, pd.DataFrame(rows), anew)
        [stored], [row] = rows, anew
        ours, theirs = (sweep.load_hits(cell, where) for where in (folder, again))
        what, given, said = _TASK if "task" in cell else _ATTACK
        if any(not np.array_equal(ours[name], theirs[name]) for name in given):
            return f"other {what}s"
        if _is_trained(stored):
            return _outside(stored, row)
        moved = sum(~np.isclose(ours[name], theirs[name], rtol=0, atol=_ROUNDED) for name in said) > 0
        if moved.any():
            return f"{moved.sum()} of {len(moved)} {what}s come out otherwise"
        return _otherwise(stored, row)

    verdict = _check(stale, folder, number, seed, differs, means)
    if not verdict.differing:
        for cell in stale:
            sweep.stamp(cell, folder, agreement(verdict))
    return verdict


def recertify_table(cells: list[Cell], table: Path, number: int, *, seed: int = 0, **means) -> Verdict:
    """The same for a table whose cells are not at hand: rows must come out equal, to the digits that are stored.

    Args:
        cells: of the specification that made it.
        table: a csv file; its record is the yml file beside it.
        number, seed, means: as those of `recertify`.

    Raises:
        ValueError: a row is no cell of the specification.
    """
    record, rows = Path(table).with_suffix(".yml"), pd.read_csv(table)
    places = stored_cells.places(cells, table)
    if left := len(rows) - sum(map(len, places.values())):
        raise ValueError(f"table: {left} rows of {table} are of no cell of the specification")

    def differs(cell: Cell, again: Path) -> str | None:
        stored, anew = rows.loc[places[cell_name(cell)]], sweep.load_result(cell, again)["rows"]
        if "experiment" in cell:
            return _changed(cell, stored, anew)
        [one], [row] = (line.dropna().to_dict() for _, line in stored.iterrows()), anew
        return _outside(one, row) if _is_trained(one) else _otherwise(one, row)

    stale = [cell for cell in cells if places[cell_name(cell)]] if table_changes(record) else []
    with TemporaryDirectory() as folder:
        verdict = _check(stale, Path(folder), number, seed, differs, means)
    if stale and not verdict.differing:
        said = yaml.safe_load(record.read_text(encoding="utf-8"))
        said |= {"recertified": [agreement(verdict)], **provenance.describe(map(provenance.code_of, stale))}
        sweep.write_whole(record, yaml.safe_dump(said, sort_keys=False, width=110).encode())
    return verdict


def _printed(rows) -> pd.DataFrame:
    """Rows to the digits that are stored."""
    return pd.DataFrame(rows).reset_index(drop=True).round(5)


def _changed(cell: Cell, stored: pd.DataFrame, anew) -> str | None:
    """Which columns of an experiment's rows come out otherwise, or, where none does, which the table has not."""
    ours, theirs = _values(_printed(stored)), _values(_printed(anew))
    moved = {name for name, values in ours.items() if theirs.get(name) != values}
    if cell["experiment"] in TRAINED:
        for name, low, high in _estimates(ours):
            found = theirs.get(name, [])
            is_within = len(found) == len(ours[name]) and all(map(_is_within, ours[low], found, ours[high]))
            moved = moved - {name, low, high} | (set() if is_within else {name})
    if moved:
        return f"{', '.join(name for name in ours if name in moved)} come out otherwise"
    added = [name for name in theirs if name not in ours]
    return f"{', '.join(added)}: not in the table, whose columns agree" if added else None


def _is_within(low, value, high) -> bool:
    """Whether a number lies between two; where there is none, none must come out."""
    return low == value == high if None in (low, value, high) else low <= value <= high


def _estimates(names) -> list[tuple[str, str, str]]:
    """Columns that are an estimate and its ends."""
    ends = [("asr", "low", "high"), *((name, f"{name}_low", f"{name}_high") for name in names)]
    return [three for three in ends if set(three) <= set(names)]


def _values(rows: pd.DataFrame) -> dict[str, list]:
    """Columns that are not empty, numbers as numbers: a whole table may have 1.0 where some of its rows have 1."""
    columns = {name: [_value(one) for one in column] for name, column in rows.items()}
    return {name: values for name, values in columns.items() if any(one is not None for one in values)}


def _value(given) -> float | str | None:
    try:
        number = float(given)
    except (TypeError, ValueError):
        return given or None
    return None if np.isnan(number) else number


def _otherwise(stored: dict, row: dict) -> str | None:
    """Which numbers of a row come out otherwise."""
    names = [*_score(stored), *(name for name in _FURTHER if stored.get(name) is not None)]
    moved = [name for name in names if abs(stored[name] - row[name]) > _ROUNDED]
    return f"{', '.join(moved)} come out otherwise" if moved else None


def _check(
    stale: list[Cell], folder: Path, number: int, seed: int, differs: Callable[[Cell, Path], str | None], means
) -> Verdict:
    number = checks.whole("number", number, low=1)
    drawn = np.random.default_rng(seed).permutation(len(stale))[:number]
    chosen = [stale[i] for i in sorted(drawn)]
    if not chosen:
        return Verdict(0, 0, [])
    with TemporaryDirectory(dir=folder, prefix="recertify-") as again:  # where the workers reach it
        failures = sweep.compute(chosen, Path(again), **means)
        computed = [cell for cell in chosen if sweep.is_computed(cell, Path(again))]
        found = [(cell_name(cell), differs(cell, Path(again))) for cell in computed]
    return Verdict(len(stale), len(chosen), failures + [f"{name}: {why}" for name, why in found if why])


def _score(row: dict) -> tuple[str, str, str]:
    """The columns of what was measured: the value and its interval."""
    return _SCORES["utility" if row.get("metric") else "asr"]


def _is_trained(row: dict) -> bool:
    return "encoded" in row or "fine-tuned" in str(row.get("task_parameters"))


def _outside(stored: dict, row: dict) -> str | None:
    score, least, most = (stored[name] for name in _score(stored))
    again = row[_score(stored)[0]]
    if least <= again <= most:
        return None
    what = "success" if "asr" in stored else stored["metric"]
    return f"{what} {again:.3f}, stored {score:.3f} [{least:.3f}, {most:.3f}]"


def agreement(verdict: Verdict) -> str:
    """What is written into a result that is kept."""
    return f"{verdict.checked} of {verdict.stale} cells were computed anew by the code named below, and agree"
