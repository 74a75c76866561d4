"""Disclosure about the writers of releases, and for each document, from the tables of `studies.writer`."""

from collections.abc import Sequence

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from scipy.optimize import brentq

from textsan import plotting
from textsan.mechanisms import ChannelMechanism, Mechanism, make_mechanism
from textsan.priors import Prior
from textsan.sweeps.tables import estimate
from textsan.text.embeddings import Embeddings
from textsan_book.judging import stored, verdicts
from textsan_book.studies.exposure import vulnerability_of
from textsan_book.studies.writer import content_counts, content_words

Docs = Sequence[Sequence[str]]

_NAMES = {"rt": "film reviews", "amazon": "product reviews", "drugs": "drug reviews"}
_NAMES |= {"symptom2disease": "symptoms", "ag_news": "news"}
_KEPT = "kept words and length"


def readings(name: str) -> pd.DataFrame:
    """Load a stored table of writers with names for its sanitizers and, in `texts`, its corpora."""
    rows = stored.released(name)
    return rows.assign(texts=rows.dataset.replace(_NAMES))


def judged(rows: pd.DataFrame, column: str = "excess") -> verdicts.Excess:
    """Judge an excess, of main over control, or a lead, of main over baseline, pooled over seeds and corpora."""
    return verdicts.of_excess([estimate(row, column) for row in rows.to_dict("records")], rows.n_released)


def summary(rows: pd.DataFrame) -> list[dict]:
    """Compute how often an attribute is read from each release, from parts of it, and from the original text.

    A row a sanitizer and three more, for the words that CusText+ keeps, the length alone and the original text:
    `word` is the success on a content word; excess and lead are pooled over seeds and corpora.
    """
    kept = rows[rows.reading == _KEPT]
    parts = dict([*rows[rows.reading == "release"].groupby("who", sort=False)])
    parts["words that CusText+ keeps"] = kept[kept.defence == "custext+"]
    parts["length alone"] = kept[kept.defence == "santext"]  # which keeps no word
    parts["original text"] = rows[rows.reading == "original"]
    lines = []
    for name, part in parts.items():
        one = part.drop_duplicates(["dataset", "seed"])  # lengths and originals are the same at every epsilon
        word = one.vulnerability.mean() if name in set(rows.who) else None
        line = {"read": name, "word": word} | one[["main", "control"]].mean().to_dict()
        lines.append(line | {column: judged(one, column).pooled for column in ("excess", "lead")})
    return lines


def by_corpus(rows: pd.DataFrame) -> list[dict]:
    """Compute how often an attribute is read from releases, a row a corpus and sanitizer.

    `main` and `excess` are estimates; `original` is the rate of the same attacker on the original text.
    """
    lines = []
    for (texts, who), part in rows[rows.reading == "release"].groupby(["texts", "who"], sort=False):
        original = rows[(rows.reading == "original") & (rows.texts == texts)]
        line = {"texts": texts, "sanitizer": who, "main": stored.mean(part, "main")}
        line |= part[["control", "baseline"]].mean().to_dict()
        lines.append(line | {"original": original.main.mean(), "excess": judged(part).pooled})
    return lines


def at_equal(rows: pd.DataFrame, column: str) -> list[dict]:
    """Compare SanText's excess, between two of its epsilons, with that of CusText and CusText+ at an equal column.

    It is "vulnerability", of a content word, or "linked", of documents. A row a corpus and mechanism: least and
    most, of the differences of the seeds; discloses, "more" or "less" if SanText's excess is larger or smaller
    with every seed, else "undecided".
    """
    releases, lines = rows[rows.reading == "release"], []
    for texts, part in releases.groupby("texts", sort=False):
        for defence in ("custext", "custext+"):
            gaps = np.array([_gap(seed, defence, column) for _, seed in part.groupby("seed")])
            word = "more" if (gaps > 0).all() else "less" if (gaps < 0).all() else "undecided"
            line = {"texts": texts, "compared": stored.called(defence)}
            lines.append(line | {"least": gaps.min(), "most": gaps.max(), "discloses": word})
    return lines


def _gap(rows: pd.DataFrame, defence: str, column: str) -> float:
    line = rows[rows.defence == "santext"].sort_values(column)
    other = rows[rows.defence == defence].iloc[0]
    inside = line[column].min() <= other[column] <= line[column].max()
    return float(np.interp(other[column], line[column], line.excess) - other.excess) if inside else np.nan


def claims(rows: pd.DataFrame) -> dict:
    """Compute which share of words, or of attributes, is claimed at a stated precision, and which is right.

    The rows are one a seed, of reading "words" or "release". `claimed` is a mean over seeds; `right`, a share of
    all claims, or None where there is none.
    """
    made = rows.claimed.sum()
    right = (rows.claimed * rows.precision).sum() / made if made else None
    return {"claimed": rows.claimed.mean(), "right": right}


def draw_excess(rows: pd.DataFrame):
    """Draw the excess over the success on a content word, a panel for each of three corpora."""
    releases, original = (rows[rows.reading == reading] for reading in ("release", "original"))
    figure, axes = plt.subplots(2, 2, figsize=(6.4, 5.4), layout="constrained")
    for ax, (texts, part) in zip(axes.flat, releases.groupby("texts", sort=False), strict=False):
        for name, by in part.groupby("defence"):
            ends = {"excess_low": "min", "excess_high": "max"}  # over seeds
            drawn = by.groupby("epsilon").agg({"vulnerability": "mean", "excess": "mean"} | ends)
            aside = 0.02 * (name == "custext+")  # its intervals would cover CusText's
            points = drawn[["excess", *ends]].to_numpy()
            plotting.points(ax, drawn.vulnerability + aside, points, mechanism=name)
        level = original[original.texts == texts].excess.mean()
        plotting.theory(ax, [0, 1], [level] * 2, role="bound", label="original text")
        ax.set(title=texts, xlim=(0, 1.02))
        ax.set_ylim(bottom=min(0.0, releases.excess_low[releases.texts == texts].min()))
    axes.flat[-1].axis("off")
    axes.flat[-1].legend(*axes.flat[0].get_legend_handles_labels(), loc="center")
    figure.supxlabel("success on a content word")
    figure.supylabel("excess of main over control")
    return figure


def equal_on_words(mechanism: Mechanism, docs: Docs, words: Embeddings) -> Mechanism:
    """Set SanText so that the best guess of a content word succeeds as often as under another sanitizer.

    The documents' own counts are the prior; that no epsilon between 1 and 12 does it is an error.
    """
    content = content_words(mechanism)
    wanted = vulnerability_of(mechanism, docs, content)

    def gap(epsilon):
        return vulnerability_of(make_mechanism("santext", words, epsilon=epsilon), docs, content) - wanted

    return make_mechanism("santext", words, epsilon=brentq(gap, 1.0, 12.0, xtol=0.02))


def exposures(mechanism: ChannelMechanism, docs: Docs) -> np.ndarray:
    """Compute each document's expected share of content words that the best guess recovers, in ascending order.

    The documents' own counts are the prior; those without a content word are left out.
    """
    counted = content_counts(mechanism, docs)
    prior = Prior.from_counts(counted, mechanism.channel.inputs, alpha_inverse=0)
    table = mechanism.channel.posterior(prior, k=1)
    chance = dict(zip(counted, table.hit_probabilities(list(counted)), strict=True))
    parts = ([chance[word] for word in doc if word in counted] for doc in docs)
    return np.sort([float(np.mean(part)) for part in parts if part])


def claimable(mechanism: ChannelMechanism, docs: Docs, precision: float) -> float:
    """Compute the largest share of content words that can be claimed with a precision in (0, 1].

    The documents' own counts are the prior. A released word is claimed always or never, so that the share may fall
    short by that of one word.
    """
    counted = content_counts(mechanism, docs)
    joint = np.array([*counted.values()])[:, None] / sum(counted.values()) * mechanism.channel.rows(list(counted))
    mass, best = joint.sum(axis=0), joint.max(axis=0)
    order = np.argsort(-best / np.maximum(mass, 1e-300))
    mass, best = mass[order].cumsum(), best[order].cumsum()
    return float(mass[best >= precision * mass].max(initial=0.0))
