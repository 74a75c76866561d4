"""Scores: which positions are attacked, how often a guess is right, and how sure we are of it."""

from collections.abc import Collection, Sequence
from typing import NamedTuple

import numpy as np
from scipy import stats

from textsan.text import checks


class Estimate(NamedTuple):
    """A value and its 95 % interval.

    >>> print(Estimate(0.25, 0.2, 0.3))
    0.250 [0.200, 0.300]
    """

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.value:.3f} [{self.low:.3f}, {self.high:.3f}]"


def sensitive_positions(docs: Sequence[Sequence[str]], words: Collection[str]) -> list[tuple[int, int]]:
    """Every position (document, index) whose original word is one of `words`.

    Args:
        docs: original token lists.
        words: the sensitive words; a mechanism's channel inputs, say. A word the mechanism keeps is not one.

    >>> sensitive_positions([["the", "cat"]], {"cat"})
    [(0, 1)]
    """
    words = frozenset(words)
    docs = checks.documents("docs", docs)
    return [(d, i) for d, doc in enumerate(docs) for i, word in enumerate(doc) if word in words]


def words_at(docs: Sequence[Sequence[str]], positions: Sequence[tuple[int, int]]) -> list[str]:
    """The words that stand at `positions`.

    >>> words_at([["the", "cat"]], [(0, 1)])
    ['cat']
    """
    return [docs[document][index] for document, index in positions]


def attack_success_rate(guesses: Sequence[str], truths: Sequence[str]) -> Estimate:
    """Share of guesses that equal the truth exactly, with its 95 % Wilson interval.

    The interval takes the attacked positions for a random sample of independent ones; `bootstrap_rate` does not.

    Args:
        guesses, truths: words, one a position.

    Raises:
        ValueError: no position, or lists of different lengths.

    >>> attack_success_rate(["a", "b"], ["a", "c"]).value
    0.5
    """
    return _wilson(_hits(guesses, truths))


def substring_success_rate(guesses: Sequence[str], truths: Sequence[str]) -> Estimate:
    """Paper-compatible: share of guesses that contain the truth as a substring, with its 95 % Wilson interval.

    The released code of Tong et al. 2024 scores its own attacks so ("artful" counts as "art"), and the baselines
    by equality. Never below `attack_success_rate`, which is the number; this stands beside it, labelled.

    Args:
        guesses, truths: words, one a position.

    Raises:
        ValueError: no position, or lists of different lengths.

    >>> substring_success_rate(["artful", "art"], ["art", "artful"]).value
    0.5
    """
    _hits(guesses, truths)
    return _wilson(np.array([truth in guess for guess, truth in zip(guesses, truths, strict=True)]))


def bootstrap_rate(guesses, truths, groups: Sequence[int], *, seed, resamples: int = 1000) -> Estimate:
    """Attack success rate with a 95 % percentile interval from resampling whole sentences.

    Args:
        guesses, truths: words, one a position.
        groups: number of the sentence that each position stands in.
        seed: int or Generator.
        resamples: bootstrap samples.

    >>> bootstrap_rate(["a", "b"], ["a", "c"], [0, 1], seed=0).value
    0.5
    """
    return _bootstrap_mean(_hits(guesses, truths).astype(float), groups, seed, resamples)


def paired_difference(guesses, others, truths, groups: Sequence[int], *, seed, resamples: int = 1000) -> Estimate:
    """Success rate of `guesses` minus that of `others` on the same positions, sentences resampled together.

    Args:
        guesses, others, truths: words, one a position.
        groups: number of the sentence that each position stands in.
        seed: int or Generator.
        resamples: bootstrap samples.

    >>> paired_difference(["a", "b"], ["a", "c"], ["a", "b"], [0, 1], seed=0).value
    0.5
    """
    difference = _hits(guesses, truths).astype(float) - _hits(others, truths)
    return _bootstrap_mean(difference, groups, seed, resamples)


def _wilson(hits: np.ndarray) -> Estimate:
    interval = stats.binomtest(int(hits.sum()), len(hits)).proportion_ci(method="wilson")
    return Estimate(float(hits.mean()), float(interval.low), float(interval.high))


def _bootstrap_mean(values: np.ndarray, groups, seed, resamples: int) -> Estimate:
    if len(groups) != len(values):
        raise ValueError(f"groups: {len(groups)} for {len(values)} positions; pass one a position")
    _, group = np.unique(np.asarray(groups), return_inverse=True)
    sums, sizes = np.bincount(group, weights=values), np.bincount(group)
    generator = np.random.default_rng(seed)
    picks = generator.multinomial(len(sums), np.full(len(sums), 1 / len(sums)), size=resamples)
    means = (picks @ sums) / (picks @ sizes)
    low, high = np.quantile(means, [0.025, 0.975])
    return Estimate(float(values.mean()), float(low), float(high))


def _hits(guesses, truths) -> np.ndarray:
    if len(guesses) != len(truths):
        raise ValueError(f"guesses: {len(guesses)} for {len(truths)} truths; pass one a position")
    if not len(guesses):
        raise ValueError("guesses: none; attack at least one position")
    return np.array([guess == truth for guess, truth in zip(guesses, truths, strict=True)])
