"""Success of attacks on words of a stored table, pooled over its seeds, from its hits."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from textsan.evaluation import Estimate, clustered_rate
from textsan.sweeps.hits import load_hits
from textsan.sweeps.paired import paired_differences
from textsan.sweeps.tables import load_tables, pooled, select
from textsan_book.judging import stored


def success(table: Path, attackers: Mapping[str, Mapping], where: Mapping) -> list[dict]:
    """Compute the success rate on words with a letter or a digit, pooled over the seeds, a row a corpus.

    Each attacker is a column: values by column of `load_tables` that, with those of `where`, one row a seed has.
    """
    rows, hits, found = load_tables(table.parent, table.name), load_hits(table), []
    for corpus in dict.fromkeys(select(rows, where).dataset):
        line: dict[str, Any] = {"corpus": stored.corpus(corpus)}
        for name, asked in attackers.items():
            chosen = select(rows, {**where, **asked, "dataset": corpus})
            if not len(chosen) or chosen.seed.duplicated().any():
                raise ValueError(f"attackers: {name!r} has {len(chosen)} rows of {corpus}, not one a seed")
            line[name] = share(chosen, hits)
        found.append(line)
    return found


def share(rows: pd.DataFrame, hits: Mapping[int, Mapping[str, np.ndarray]], event: str = "hit") -> Estimate:
    """Compute the share of words with a letter or a digit that had an event: "hit", "unchanged" or another one."""
    words = [(at[event][at["letter"]], at["source"][at["letter"]]) for at in map(hits.get, rows.index)]
    return pooled([clustered_rate(*one) for one in words])


def gains(
    table: Path, ours: Mapping, theirs: Mapping | str, by: Sequence[str], *, marks: bool = False
) -> pd.DataFrame:
    """Compute what one attacker gains over another on the same words with a letter or a digit.

    An attacker is an attack's name or values by column of `load_tables`. A row for each value of the columns `by`,
    with `gain`, pooled over the seeds; `marks` counts punctuation, too.
    """
    found = paired_differences(table, ours, theirs, where=None if marks else lambda at: at["letter"])
    rows = []
    for values, seeds in found.groupby(list(by), sort=False):
        draws = [Estimate(row.difference, row.low, row.high) for row in seeds.itertuples()]
        rows.append(dict(zip(by, values, strict=True)) | {"gain": pooled(draws)})
    return pd.DataFrame(rows)
