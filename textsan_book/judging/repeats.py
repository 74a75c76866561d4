"""Fresh noise at each place of a word or one draw for all of them, from the stored table of `studies.memoized`."""

from typing import NamedTuple

import pandas as pd

from textsan.evaluation import Estimate
from textsan_book.judging import stored

FRESH, TOLD, ONCE = "fresh, context", "told, context", "once, counts, context"
"""The strongest attacks: on fresh noise, on it by who is told the repeats, on one draw for all places."""


class Verdict(NamedTuple):
    """The verdict of the rule of `data/sweeps/memoized.yml` on one mechanism, corpus and scope.

    One draw gives away "more" than fresh noise, "less" or is "undecided" (`compared`); it `guards` if it gives
    away less than fresh noise of which the repeats are told; `counts` by themselves may add with every seed.
    """

    compared: str
    guards: bool
    counts: bool


def cases() -> pd.DataFrame:
    """Load the table, as of `stored.released`."""
    rows = stored.released("memoized.csv")
    return rows.assign(occurrences=rows.occurrences.astype(str))


def verdict(rows: pd.DataFrame) -> Verdict:
    """Judge one mechanism, corpus, scope and group of occurrences by its rows of all attacks and seeds."""
    by = {attack: one.set_index("seed").sort_index() for attack, one in rows.groupby("attack")}
    once, told = by[ONCE], by[TOLD]
    above, below = (once.gain_low > 0).all(), (once.gain_high < 0).all()
    guards = (once.asr < told.asr).all() and (once.gain_high < told.gain_low).all()
    counts = (by["once, counts"].asr > by["once"].asr).all()
    return Verdict("more" if above else "less" if below else "undecided", bool(guards), bool(counts))


def summary(rows: pd.DataFrame, corpora: dict[str, str]) -> list[dict]:
    """Return mean rates over seeds as rows of a table, one a corpus and mechanism.

    The gain of one draw in a file over fresh noise has the hull of the seeds' intervals.
    """
    found = []
    for (dataset, who), some in rows[rows.occurrences == "all"].groupby(["dataset", "who"], sort=False):
        rate = some.groupby(["scope", "attack"]).asr.mean()
        gains = some[(some.scope == "file") & (some.attack == ONCE)]
        gain = Estimate(gains.gain.mean(), gains.gain_low.min(), gains.gain_high.max())
        means = {"fresh": rate["file", FRESH], "document": rate["document", ONCE], "file": rate["file", ONCE]}
        about = {"text": corpora[dataset], "sanitizer": who}
        means |= {"gain of file, span of seeds": gain, "fresh, repeats known": rate["file", TOLD]}
        found.append(about | means)
    return found
