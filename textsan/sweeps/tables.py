"""The committed result tables, read alike whatever made them, and the rows of them that are asked for."""

import json
import re
import statistics
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pandas as pd

from textsan.evaluation import Estimate

_NUMBER = re.compile(r"-?\d+(\.\d+)?(e[+-]?\d+)?")
_WIDTH = 3.919927969080108  # of a 95 % interval, in standard errors


def load_tables(folder: Path, patterns: str | Sequence[str]) -> pd.DataFrame:
    """Load the rows of all tables of a folder that match a pattern (* is anything); else an empty frame.

    Lines that begin with # are comments. The parameters of a sweep's table become columns, "attack.k",
    "defence.mapping" and "task.text" for example, and four more follow from others: table (the file), shadow_ratio
    (in percent), own_shadow (the shadow set is of the private text's corpus) and minutes_per_1000 (of 1,000
    attacked words).
    """
    patterns = [patterns] if isinstance(patterns, str) else patterns
    files = dict.fromkeys(path for pattern in patterns for path in sorted(Path(folder).glob(pattern)))
    frames = [_read(path) for path in files]
    return pd.concat(frames, ignore_index=True) if frames else pd.DataFrame()


def _read(path: Path) -> pd.DataFrame:
    with path.open(encoding="utf-8", newline="") as file:
        above = next(number for number, line in enumerate(file) if not line.startswith("#"))
    frame = pd.read_csv(path, skiprows=above)
    for kind in ("defence", "attack", "task"):
        column = f"{kind}_parameters"
        if column in frame:
            given = [json.loads(text) for text in frame[column].fillna("{}")]
            for name in dict.fromkeys(name for one in given for name in one):
                frame[f"{kind}.{name}"] = pd.Series([one.get(name) for one in given], dtype=object)
    if {"n_shadow", "n_private"} <= {*frame}:
        frame["shadow_ratio"] = 100 * frame.n_shadow / frame.n_private
    if {"dataset", "shadow_dataset"} <= {*frame}:
        frame["own_shadow"] = frame.shadow_dataset.isna() | (frame.shadow_dataset == frame.dataset)
    if {"seconds", "n_positions"} <= {*frame}:
        frame["minutes_per_1000"] = frame.seconds / frame.n_positions * 1000 / 60
    return frame.assign(table=path.name)


def select(rows: pd.DataFrame, where: Mapping) -> pd.DataFrame:
    """Return the rows that have the given value, or one of a list of them, in each column.

    Case does not count, nor whether a number is written as one ("10000" in a column that also has words). None is
    an empty cell, and a column that is not there has empty cells only.

    >>> rows = pd.DataFrame({"k": [5, 10], "attack": ["Markov", "other"]})
    >>> len(select(rows, {"k": 5.0, "attack": "markov", "copies": None}))
    1
    """
    for column, wanted in where.items():
        wanted = [_key(value) for value in (wanted if isinstance(wanted, list) else [wanted])]
        cells = rows[column] if column in rows else pd.Series(None, index=rows.index, dtype=object)
        rows = rows[[_key(value) in wanted for value in cells]]
    return rows


def _key(value):
    if isinstance(value, str):
        return round(float(value), 9) if _NUMBER.fullmatch(value) else value.casefold()
    if value is None or value != value:
        return None
    return value if isinstance(value, bool) else round(float(value), 9)


def estimate(row: Mapping, column: str = "asr") -> Estimate:
    """Return a cell of a table with its interval: columns low and high for asr, else COLUMN_low and COLUMN_high.

    Where there are none the value is exact.

    >>> estimate({"asr": 0.5, "low": 0.4, "high": 0.6}), estimate({"k": 3}, "k")
    (Estimate(value=0.5, low=0.4, high=0.6), Estimate(value=3.0, low=3.0, high=3.0))
    """
    ends = ("low", "high") if column == "asr" else (f"{column}_low", f"{column}_high")
    value = float(row[column])
    return Estimate(value, *(float(row[end]) if end in row and row[end] == row[end] else value for end in ends))


def crossed(rows: pd.DataFrame, index: str, columns: str, cell: Callable = estimate) -> pd.DataFrame:
    """Arrange rows in a grid: a row for each value of one column, a column for each of another, in their order.

    Args:
        rows: of a table; where two fall into one cell, the last one counts.
        cell: what is shown of a row; None leaves the cell empty.

    >>> rows = [{"n": 2, "attack": "markov", "asr": 0.5}, {"n": 1, "attack": "other", "asr": 0.25}]
    >>> crossed(pd.DataFrame(rows), "n", "attack", lambda row: row["asr"])
       markov  other
    n
    2     0.5    NaN
    1     NaN   0.25
    """
    cells: dict = {}
    for row in rows.to_dict("records"):
        cells.setdefault(row[columns], {})[_key(row[index])] = cell(row)
    places = rows[index].drop_duplicates().tolist()
    filled = {name: [found.get(_key(at)) for at in places] for name, found in cells.items()}
    return pd.DataFrame(filled, index=pd.Index(places, name=index))


def difference(
    row: Mapping, other: Mapping, column: str = "asr", other_column: str = "asr", free: Sequence[str] = ()
) -> Estimate:
    """Compute a cell minus one of another row, with a 95 % interval.

    Paired, from the sweep's columns "over NAME", where the table has them. Else the intervals are added as if
    independent: on the same positions that is rather too wide.

    Args:
        free: columns of `FAMILY` that the comparison varies.

    >>> difference({"asr": 0.5, "low": 0.4, "high": 0.6}, {"asr": 0.25, "low": 0.25, "high": 0.25})
    Estimate(value=0.25, low=0.15, high=0.35)
    """
    _refuse_strangers(row, other, free)
    if column == other_column == "asr" and (paired := _paired(row, other)):
        return paired
    ours, theirs = estimate(row, column), estimate(other, other_column)
    value = ours.value - theirs.value
    half = sum((one.high - one.low) ** 2 for one in (ours, theirs)) ** 0.5 / 2
    return Estimate(value, round(value - half, 12), round(value + half, 12))


def _paired(row: Mapping, other: Mapping) -> Estimate | None:
    """Return the difference on the same positions, where one of the rows has it."""
    if unlike(row, other) or _key(row.get("table")) != _key(other.get("table")):
        return None
    if found := over(row, str(other.get("attack"))):
        return found
    found = over(other, str(row.get("attack")))
    return found and Estimate(-found.value, -found.high, -found.low)


def over(row: Mapping, attack: str) -> Estimate | None:
    """Return an attack's success minus that of another on the same positions, from the columns "over NAME".

    It is None where the sweep did not compare them.

    >>> over({"over markov": 0.25, "over markov low": 0.125, "over markov high": 0.375}, "markov")
    Estimate(value=0.25, low=0.125, high=0.375)
    """
    found = Estimate(*(float(row.get(f"over {attack}{end}", "nan")) for end in ("", " low", " high")))
    return None if found.value != found.value else found


def ratio(row: Mapping, other: Mapping, column: str = "asr") -> Estimate:
    """Compute a cell divided by that of another row from the same positions; 95 % interval by the delta method.

    Where the table has their paired difference, it tells how far the two go together; else they count as
    independent.

    >>> ratio({"asr": 0.5, "low": 0.5, "high": 0.5}, {"asr": 0.25, "low": 0.25, "high": 0.25}).value
    2.0
    """
    _refuse_strangers(row, other)
    ours, theirs = estimate(row, column), estimate(other, column)
    paired = _paired(row, other) if column == "asr" else None
    errors = [(one.high - one.low) / _WIDTH for one in (ours, theirs, paired or ours)]
    together = (errors[0] ** 2 + errors[1] ** 2 - errors[2] ** 2) / 2 if paired else 0.0  # covariance
    value = ours.value / theirs.value
    relative = (errors[0] / ours.value) ** 2 + (errors[1] / theirs.value) ** 2
    relative -= 2 * together / (ours.value * theirs.value)
    half = _WIDTH / 2 * value * max(relative, 0.0) ** 0.5
    return Estimate(value, value - half, value + half)


FAMILY = ("dataset", "shadow_dataset", "split_by", "drawn_from", "vocabulary", "targets", "n_private", "n_shadow")
FAMILY += ("embeddings", "seed", "defence", "epsilon", "defence_parameters", "n_positions")
"""Columns in which two attacks on the same positions agree."""


def unlike(row: Mapping, other: Mapping, free: Sequence[str] = ()) -> list[str]:
    """Return the columns of `FAMILY`, without those that are free, in which two rows differ.

    >>> unlike({"seed": 0, "epsilon": 4}, {"seed": 1, "epsilon": 4.0})
    ['seed']
    """
    columns = [column for column in FAMILY if column not in free]
    return [column for column in columns if _key(row.get(column)) != _key(other.get(column))]


def _refuse_strangers(row: Mapping, other: Mapping, free: Sequence[str] = ()) -> None:
    if apart := unlike(row, other, free):
        names = [f"{one.get('attack')} of {one.get('table')}" for one in (row, other)]
        raise ValueError(f"{' and '.join(names)}: not from the same positions, they differ in {', '.join(apart)}")


def pooled(estimates: Sequence[Estimate]) -> Estimate:
    """Pool several seeds: their mean, with the interval of one of them widened by their spread.

    The seeds draw from one corpus, so that their sentences overlap: the mean of their variances is not divided by
    their number, only the variance between them is. That is rather too wide than too narrow.

    >>> pooled([Estimate(0.5, 0.4, 0.6)]), pooled([Estimate(0.4, 0.4, 0.4), Estimate(0.6, 0.6, 0.6)]).value
    (Estimate(value=0.5, low=0.4, high=0.6), 0.5)
    """
    if len(estimates) == 1:
        return estimates[0]
    values = [one.value for one in estimates]
    within = statistics.fmean(((one.high - one.low) / _WIDTH) ** 2 for one in estimates)
    half = _WIDTH / 2 * (within + statistics.variance(values) / len(values)) ** 0.5
    mean = statistics.fmean(values)
    return Estimate(mean, mean - half, mean + half)
