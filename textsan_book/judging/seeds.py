"""Result tables as a reader sees them: one row for all seeds of a cell, and what the vocabulary was made of."""

import statistics
from collections.abc import Sequence

import pandas as pd

from textsan.evaluation import Estimate
from textsan.sweeps.tables import FAMILY, pooled
from textsan_book.judging import stored


def over_seeds(rows: pd.DataFrame, by: Sequence[str] | None = None) -> pd.DataFrame:
    """Pool the rows of a table that differ in their seed alone; `by` are the columns that tell cells apart.

    Each seed draws sentences, positions and replacements of its own. Rates, and differences to other attacks, are
    `pooled`, other numbers are means, positions are added up. Two columns are new: seeds, how many there are, and
    spread, the largest success rate minus the smallest.
    """
    shared = {*FAMILY, "table"} - {"seed", "n_positions"}
    names = by or [name for name in rows if name in shared or name.startswith(("defence", "attack"))]
    numbers, estimated = [*rows.select_dtypes("number").columns.difference(by or [])], _estimated(rows)
    cells = rows.groupby([rows[name].map(str) for name in names], sort=False)
    return pd.DataFrame([_one(cell.to_dict("records"), numbers, estimated) for _, cell in cells])


def _one(rows: list[dict], numbers: list[str], estimated: list[tuple[str, str, str]]) -> dict:
    """The rows of one cell as one."""
    rates = [row["asr"] for row in rows]
    mean_row = rows[0] | {name: statistics.fmean(row[name] for row in rows) for name in numbers}
    mean_row |= {"seeds": len(rows), "spread": max(rates) - min(rates)}
    if "n_positions" in mean_row:
        mean_row["n_positions"] = sum(row["n_positions"] for row in rows)
    for three in estimated:
        if known := [Estimate(*(row[name] for name in three)) for row in rows if not pd.isna(row[three[0]])]:
            mean = stored.share(pooled(known)) if three[0] == "asr" else pooled(known)
            mean_row |= zip(three, mean, strict=True)
    return mean_row


def _estimated(rows: pd.DataFrame) -> list[tuple[str, str, str]]:
    """The columns that have an interval, each with those of its ends."""
    ends = [("asr", "low", "high")]
    ends += [(name, f"{name}{gap}low", f"{name}{gap}high") for name in rows for gap in ("_", " ")]
    return [three for three in ends if {*three} <= {*rows}]


def vocabulary_of(rows: pd.DataFrame) -> str:
    """Name the source of the vocabulary of a table's sweeps in words; a table without the column is an old one.

    >>> vocabulary_of(pd.DataFrame({"vocabulary": ["20000", "data"]}))
    'the 20,000 most frequent words of the embeddings; every word of the data set'
    >>> vocabulary_of(pd.DataFrame({"asr": [0.5]}))
    'the words of the drawn text'
    """
    values = rows["vocabulary"] if "vocabulary" in rows else pd.Series(None, index=rows.index, dtype=object)
    return "; ".join(dict.fromkeys(map(_words, values)))


def _words(value) -> str:
    if value is None or value != value:
        return "the words of the drawn text"
    if value == "data":
        return "every word of the data set"
    return f"the {int(float(value)):,} most frequent words of the embeddings"
