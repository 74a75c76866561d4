"""Documents that are linked to their releases, from the stored tables of `textsan_book.studies.linkage`."""

from typing import NamedTuple

import numpy as np
import pandas as pd

from textsan.evaluation import Estimate, clustered_difference
from textsan.sweeps.tables import pooled
from textsan_book.judging import stored, verdicts

_LARGEST = 1000  # candidates; a longer list is all documents that there are
_SHOWN = {
    ("original", ""): "the original",
    ("version", "synonyms 0.5"): "a version: synonyms",
    ("version", "summary 0.5"): "a version: summary",
    ("version", "quotation 0.5"): "a version: quotation",
    ("open set", "calibrated 0.01"): "open set",
    ("near copies", ""): "near copies",
    ("two releases", "another day"): "two releases",
    ("length and kept words", ""): "length and kept words",
}


class Sources(NamedTuple):
    """The verdicts of the rules of `data/sweeps/several-releases.yml` on one sanitizer and threat.

    So many releases give the source away in every corpus (`shown`), or most sources (`most`); `added` is main at
    most releases less main at one, pooled over seeds and corpora.
    """

    shown: dict[int, bool]
    most: dict[int, bool]
    added: Estimate


def sources(rows: pd.DataFrame) -> Sources:
    """Judge from how many releases a source is given away, by rows of one sanitizer and threat."""
    shown: dict[int, bool] = {}
    most: dict[int, bool] = {}
    for k, of_k in rows.groupby("releases"):
        corpora = [of_corpus for _, of_corpus in of_k.groupby("dataset")]
        shown[int(k)] = all(verdict(of_corpus).pooled.low > 0 for of_corpus in corpora)
        most[int(k)] = all(of_corpus.main.mean() >= 0.5 for of_corpus in corpora)
    gains = []
    for _, draw in rows.groupby(["dataset", "seed"]):
        hits = [np.array(of_k.named.iloc[0].split(), dtype=float) for _, of_k in draw.groupby("releases")]
        gains.append(clustered_difference(hits[-1] - hits[0], np.arange(len(hits[0]))))
    return Sources(shown, most, pooled(gains))


def shares(rows: pd.DataFrame) -> dict[int, Estimate]:
    """Pool over seeds and corpora the shares of sources that are named, by the number of releases."""
    by_k = rows.groupby("releases")[["main", "main_low", "main_high"]]
    return {int(str(k)): stored.share(pooled([Estimate(*row) for row in draws.to_numpy()])) for k, draws in by_k}


def cases(name: str) -> pd.DataFrame:
    """Load a stored table of linkage, rows of one case next to each other.

    To the columns of `stored.released` it adds `case`, the threat model and the version, and `listed`, the number
    of candidates, or "all".
    """
    rows = stored.released(name)
    rows["version"] = rows.version.fillna("")
    rows["case"] = (rows.threat + ", " + rows.version).str.removesuffix(", ").str.removeprefix("version, ")
    rows["listed"] = rows.candidates.map("{:,}".format).mask(rows.candidates > _LARGEST, "all")
    order = (rows.case + rows.listed).factorize()[0]
    return rows.iloc[order.argsort(kind="stable")].reset_index(drop=True)


def verdict(rows: pd.DataFrame) -> verdicts.Excess:
    """Judge the excess of main over control of one sanitizer in one case, pooled over seeds and corpora."""
    draws = [Estimate(*row) for row in rows[["excess", "low", "high"]].to_numpy()]
    return verdicts.of_excess(draws, rows.released)


def summary(rows: pd.DataFrame) -> dict:
    """Compute the mean main, control and baseline of one sanitizer in one case, and its pooled excess.

    They are shares of the releases; excess is main less control.
    """
    means = rows[["main", "control", "baseline"]].mean().to_dict()
    return means | {"excess": verdict(rows).pooled}


def grid(rows: pd.DataFrame) -> pd.DataFrame:
    """Compute the mean excess of main over control, a row a threat model and a column a sanitizer.

    Versions are apart, the original among 1,000 comes first; sanitizers are in the order of their own mean excess.
    """
    shown = rows.assign(shown=list(map(_SHOWN.get, zip(rows.threat, rows.version, strict=True))))
    shown = shown[shown.shown.notna() & (shown.candidates <= _LARGEST)]
    shown = shown[(shown.threat != "original") | (shown.candidates == _LARGEST)]
    means = shown.pivot_table(index="shown", columns="who", values="excess", aggfunc="mean")
    means = means.loc[[name for name in _SHOWN.values() if name in means.index]]
    return means[means.mean().sort_values(kind="stable").index].rename_axis(index="", columns="")


def undisclosed(rows: pd.DataFrame) -> list[dict]:
    """List the cases, but for lists of all documents, in which no disclosure of the document is shown."""
    lines, names = [], ("sanitizer", "case", "candidates")
    for key, group in rows[rows.listed != "all"].groupby(["who", "case", "listed"], sort=False):
        if (found := verdict(group)).verdict != "given away":
            line = dict(zip(names, key, strict=True))
            lines.append(line | {"excess": found.pooled, "verdict": str(found)})
    return lines
