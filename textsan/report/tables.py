"""The committed result tables, read alike whatever made them, and the rows of them that are asked for."""

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pandas as pd

from textsan.evaluation import Estimate

_WIDTH = 3.919927969080108  # of a 95 % interval, in standard errors


def load_tables(folder: Path, patterns: str | Sequence[str]) -> pd.DataFrame:
    """Rows of all tables of a folder that match; an empty frame where none does.

    Lines that begin with # are comments. The parameters of a sweep's table become columns, "attack.k" and
    "defence.mapping" for example, and four more follow from others: table (the file), shadow_ratio (in percent),
    own_shadow (the shadow set is of the private text's corpus) and minutes_per_1000 (of 1,000 attacked words).

    Args:
        folder: where the tables are.
        patterns: file names, with * for anything.
    """
    patterns = [patterns] if isinstance(patterns, str) else patterns
    files = dict.fromkeys(path for pattern in patterns for path in sorted(Path(folder).glob(pattern)))
    frames = [_read(path) for path in files]
    return pd.concat(frames, ignore_index=True) if frames else pd.DataFrame()


def _read(path: Path) -> pd.DataFrame:
    with path.open(encoding="utf-8", newline="") as file:
        above = 0
        while file.readline().startswith("#"):
            above += 1
    frame = pd.read_csv(path, skiprows=above)
    for kind in ("defence", "attack"):
        column = f"{kind}_parameters"
        if column in frame:
            given = [json.loads(text) for text in frame[column]]
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
    """The rows that have the given value, or one of a list of them, in each column.

    Case does not count, None is an empty cell, and a column that is not there has empty cells only.

    Args:
        rows: a table.
        where: value or values by column.

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
        return value.casefold()
    if value is None or value != value:
        return None
    return value if isinstance(value, bool) else round(float(value), 9)


def estimate(row: Mapping, column: str = "asr") -> Estimate:
    """A cell of a table with its interval: columns low and high for asr, else COLUMN_low and COLUMN_high.

    Where there are none the value is exact.

    >>> estimate({"asr": 0.5, "low": 0.4, "high": 0.6}), estimate({"k": 3}, "k")
    (Estimate(value=0.5, low=0.4, high=0.6), Estimate(value=3.0, low=3.0, high=3.0))
    """
    ends = ("low", "high") if column == "asr" else (f"{column}_low", f"{column}_high")
    value = float(row[column])
    return Estimate(value, *(float(row[end]) if end in row and row[end] == row[end] else value for end in ends))


def crossed(rows: pd.DataFrame, index: str, columns: str, cell: Callable = estimate) -> pd.DataFrame:
    """One value a cell, a row for each value of one column and a column for each of another, in their order.

    Args:
        rows: of a table; where two fall into one cell, the last one counts.
        index, columns: the names of the two columns.
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
        cells.setdefault(row[columns], {})[row[index]] = cell(row)
    places = rows[index].drop_duplicates().tolist()
    filled = {name: [found.get(at) for at in places] for name, found in cells.items()}
    return pd.DataFrame(filled, index=pd.Index(places, name=index))


def difference(row: Mapping, other: Mapping, column: str = "asr", other_column: str = "asr") -> Estimate:
    """A cell minus one of another row, with a 95 % interval.

    Paired, from the sweep's columns "over NAME", where the rows are attacks on the same positions and the table
    has them. Else the intervals are added as if independent: on the same positions that is rather too wide.

    >>> difference({"asr": 0.5, "low": 0.4, "high": 0.6}, {"asr": 0.25, "low": 0.25, "high": 0.25})
    Estimate(value=0.25, low=0.15, high=0.35)
    """
    if column == other_column == "asr" and _same(row, other):
        if paired := over(row, other.get("attack")):
            return paired
        if paired := over(other, row.get("attack")):
            return Estimate(-paired.value, -paired.high, -paired.low)
    ours, theirs = estimate(row, column), estimate(other, other_column)
    value = ours.value - theirs.value
    half = sum((one.high - one.low) ** 2 for one in (ours, theirs)) ** 0.5 / 2
    return Estimate(value, round(value - half, 12), round(value + half, 12))


def over(row: Mapping, attack: str) -> Estimate | None:
    """An attack's success minus that of another on the same positions, from the sweep's columns "over NAME".

    Args:
        row: of a sweep's table.
        attack: the other one; where the sweep did not compare them, the answer is None.

    >>> over({"over markov": 0.25, "over markov low": 0.125, "over markov high": 0.375}, "markov")
    Estimate(value=0.25, low=0.125, high=0.375)
    """
    found = Estimate(*(float(row.get(f"over {attack}{end}", "nan")) for end in ("", " low", " high")))
    return None if found.value != found.value else found


def ratio(row: Mapping, other: Mapping, column: str = "asr") -> Estimate:
    """A cell divided by that of another row; 95 % interval by the delta method, as if independent.

    >>> ratio({"asr": 0.5, "low": 0.5, "high": 0.5}, {"asr": 0.25, "low": 0.25, "high": 0.25}).value
    2.0
    """
    ours, theirs = estimate(row, column), estimate(other, column)
    value = ours.value / theirs.value
    relative = [(one.high - one.low) / _WIDTH / one.value for one in (ours, theirs)]
    half = _WIDTH / 2 * value * sum(one**2 for one in relative) ** 0.5
    return Estimate(value, value - half, value + half)


FAMILY = (
    "table",
    "dataset",
    "shadow_dataset",
    "split_by",
    "drawn_from",
    "vocabulary",
    "n_private",
    "n_shadow",
    "seed",
    "defence",
    "epsilon",
)
FAMILY += ("defence_parameters", "n_positions")
"""Columns in which two attacks on the same positions agree."""


def _same(row: Mapping, other: Mapping) -> bool:
    return all(_key(row.get(column)) == _key(other.get(column)) for column in FAMILY)
