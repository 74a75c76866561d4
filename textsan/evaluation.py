"""Scores: which positions are attacked, how often a guess is right, and how sure we are of it."""

from collections.abc import Collection, Sequence
from typing import NamedTuple

import numpy as np
import scipy

from textsan.base import checks
from textsan.base.listed import Listed
from textsan.text.embeddings import Embeddings

_BLOCK = 256  # words whose neighbours are looked for together


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


def attack_success_rate(
    guesses: Sequence[str], truths: Sequence[str], positions: Sequence[tuple[int, int]] | None = None, *, seed=0
) -> Estimate:
    """Share of guesses that equal the truth exactly, with its 95 % interval.

    Words of one sentence are no independent ones. With `positions` whole sentences are resampled, as everywhere in
    the book; without, the interval is Wilson's, of positions that are taken for independent.

    Args:
        guesses, truths: words, one a position.
        positions: (document, index) of each.
        seed: of the resampling, an int or Generator.

    Raises:
        ValueError: no position, or lists of different lengths.

    >>> attack_success_rate(["a", "b"], ["a", "c"], [(0, 0), (1, 0)]).value
    0.5
    """
    if positions is None:
        return hit_rate(_hits(guesses, truths))
    return bootstrap_rate(guesses, truths, [document for document, _ in positions], seed=seed)


def means_the_same(guesses: Sequence[str], truths: Sequence[str], embeddings: Embeddings, *, k: int = 10):
    """Whether each guess is the true word or one of its `k` nearest by cosine: a hit of meaning.

    A guess that is not the word may give away as much. The embeddings should be others than those that the
    mechanism draws with, or a replacement counts as a hit because the mechanism chose it so.

    Args:
        guesses, truths: words, one a position. One without a vector means the same as itself only.
        embeddings: what says which words are near; no vector of length 0, to which all words are as near.
        k: how many neighbours count, at least 1.

    Returns:
        (n,) bool.

    Raises:
        ValueError: lists of different lengths, or none.

    >>> table = Embeddings(["film", "movie", "dog"], [[1.0, 0.0], [0.9, 0.1], [0.0, 1.0]])
    >>> means_the_same(["movie", "dog"], ["film", "film"], table, k=1)
    array([ True, False])
    """
    same, k = _hits(guesses, truths), checks.whole("k", k, low=1)
    vectors = embeddings.vectors / np.maximum(np.linalg.norm(embeddings.vectors, axis=1, keepdims=True), 1e-12)
    asked: dict[int, list[tuple[int, int]]] = {}
    for i, (guess, truth) in enumerate(zip(guesses, truths, strict=True)):
        if guess != truth and guess in embeddings.index and truth in embeddings.index:
            asked.setdefault(embeddings.index[truth], []).append((i, embeddings.index[guess]))
    rows = list(asked)
    for at in range(0, len(rows), _BLOCK):
        block = rows[at : at + _BLOCK]
        for row, near in zip(block, vectors[block] @ vectors.T, strict=True):
            near[row] = -np.inf  # not a neighbour of itself
            for i, guess in asked[row]:
                same[i] = (near > near[guess]).sum() < k
    return same


def hit_rate(hits: Listed[bool]) -> Estimate:
    """Share of hits with its 95 % Wilson interval, which takes them for independent.

    Args:
        hits: whether each of what was tried came out right.

    Raises:
        ValueError: none was tried.

    >>> print(hit_rate([True, False]))
    0.500 [0.095, 0.905]
    """
    hits = np.asarray(hits, dtype=bool)
    if not len(hits):
        raise ValueError("hits: none; pass at least one")
    interval = scipy.stats.binomtest(int(hits.sum()), len(hits)).proportion_ci(method="wilson")
    return Estimate(float(hits.mean()), float(interval.low), float(interval.high))


def clustered_rate(hits: Listed[bool], groups: Listed[int]) -> Estimate:
    """Share of hits with a 95 % interval for hits of one group (a document's, say) that hang together; no draws.

    Wilson's interval at the effective number of hits, p (1 - p) over the variance of the ratio of group sums, less
    what Student's t of so many groups takes (Korn and Graubard 1998). Where all groups have the same share of hits
    it is the number of groups. For 100,000 positions it takes what resampling takes a thousand times.

    Args:
        hits: whether each of what was tried came out right.
        groups: number of the group of each.

    Raises:
        ValueError: none was tried, or not as many groups as hits.

    >>> print(clustered_rate([True, True, False, False], [0, 0, 1, 2]))
    0.500 [0.022, 0.978]
    """
    values = np.asarray(hits, dtype=float)
    if not len(values):
        raise ValueError("hits: none; pass at least one")
    if len(groups) != len(values):
        raise ValueError(f"groups: {len(groups)} for {len(values)} hits; pass one a hit")
    _, group = np.unique(np.asarray(groups), return_inverse=True)
    sums, sizes = np.bincount(group, weights=values), np.bincount(group)
    p, n = float(values.mean()), len(sums)
    if n < 2:
        return Estimate(p, 0.0, 1.0)
    apart = sums - p * sizes
    apart[np.abs(apart) <= 1e-12 * sizes] = 0.0  # rounding, where all groups have the same share
    variance = (apart**2).sum() / len(values) ** 2 * n / (n - 1)
    effective = min(p * (1 - p) / variance, len(values)) if variance > 0 else n
    z, t = scipy.stats.norm.ppf(0.975), scipy.stats.t.ppf(0.975, n - 1)
    m = effective * (z / t) ** 2
    middle, width = p + z * z / (2 * m), z * np.sqrt(p * (1 - p) / m + (z / (2 * m)) ** 2)
    low, high = ((middle + side * width) / (1 + z * z / m) for side in (-1, 1))
    return Estimate(p, float(max(low, 0.0)), float(min(high, 1.0)))


def bootstrap_mean(values: Listed[float], groups: Listed[int], *, seed, resamples: int = 1000) -> Estimate:
    """Mean with a 95 % percentile interval from resampling whole groups: those of the same sentence, say.

    Args:
        values: numbers, or hits; of a difference on the same positions, the differences.
        groups: number of the group that each value belongs to.
        seed: int or Generator.
        resamples: bootstrap samples.

    Raises:
        ValueError: no value, or not as many groups as values.

    >>> print(bootstrap_mean([1, 1, 0, 1], groups=[0, 0, 1, 2], seed=0))
    0.750 [0.000, 1.000]
    """
    values = np.asarray(values, dtype=float)
    if not len(values):
        raise ValueError("values: none; pass at least one")
    if len(groups) != len(values):
        raise ValueError(f"groups: {len(groups)} for {len(values)} values; pass one a value")
    _, group = np.unique(np.asarray(groups), return_inverse=True)
    sums, sizes = np.bincount(group, weights=values), np.bincount(group)
    means = _resampled(sums, sizes, _picks(len(sums), seed, resamples))
    return Estimate(float(values.mean()), *_middle(means))


def bootstrap_difference(first, second, *, seed, resamples: int = 1000) -> Estimate:
    """Mean of one kind minus the mean of another with a 95 % interval; they share sentences, resampled together.

    Unlike a mean of differences it compares what stands at different positions: names with other words, say.

    Args:
        first, second: of each kind a pair of arrays of one entry a sentence: the sum of its values there, and
            their number (or weight).
        seed: int or Generator.
        resamples: bootstrap samples. In one without any of a kind, the mean of that kind counts as 0.

    Raises:
        ValueError: arrays of different lengths, or a kind that is in no sentence.

    >>> print(bootstrap_difference(([2, 1], [2, 2]), ([0, 1], [1, 1]), seed=0))
    0.250 [-0.500, 1.000]
    """
    first, second = (tuple(np.asarray(part, dtype=float) for part in kind) for kind in (first, second))
    lengths = {len(part) for part in (*first, *second)}
    if len(lengths) > 1:
        raise ValueError(f"first, second: of {sorted(lengths)} sentences; pass arrays of the same sentences")
    if not all(sizes.sum() > 0 for _, sizes in (first, second)):
        raise ValueError("first, second: one is in no sentence; pass two kinds that are there")
    [sentences] = lengths
    picks = _picks(sentences, seed, resamples)
    means = [_resampled(sums, sizes, picks) for sums, sizes in (first, second)]
    values = [sums.sum() / sizes.sum() for sums, sizes in (first, second)]
    return Estimate(float(values[0] - values[1]), *_middle(means[0] - means[1]))


def bootstrap_rate(guesses, truths, groups: Listed[int], *, seed, resamples: int = 1000) -> Estimate:
    """Attack success rate with a 95 % percentile interval from resampling whole sentences.

    Args:
        guesses, truths: words, one a position.
        groups: number of the sentence that each position stands in.
        seed: int or Generator.
        resamples: bootstrap samples.

    >>> bootstrap_rate(["a", "b"], ["a", "c"], [0, 1], seed=0).value
    0.5
    """
    return bootstrap_mean(_hits(guesses, truths), groups, seed=seed, resamples=resamples)


def paired_difference(guesses, others, truths, groups: Listed[int], *, seed, resamples: int = 1000) -> Estimate:
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
    return bootstrap_mean(difference, groups, seed=seed, resamples=resamples)


def _picks(groups: int, seed, resamples: int) -> np.ndarray:
    """How often each group is in each resample, (resamples, groups)."""
    return np.random.default_rng(seed).multinomial(groups, np.full(groups, 1 / groups), size=resamples)


def _resampled(sums: np.ndarray, sizes: np.ndarray, picks: np.ndarray) -> np.ndarray:
    """The mean in each resample, 0 where it holds no value."""
    total, size = picks @ sums, picks @ sizes
    return np.divide(total, size, out=np.zeros(len(picks)), where=size > 0)


def _middle(means: np.ndarray) -> list[float]:
    return np.quantile(means, [0.025, 0.975]).tolist()


def _hits(guesses, truths) -> np.ndarray:
    if len(guesses) != len(truths):
        raise ValueError(f"guesses: {len(guesses)} for {len(truths)} truths; pass one a position")
    if not len(guesses):
        raise ValueError("guesses: none; attack at least one position")
    return np.array([guess == truth for guess, truth in zip(guesses, truths, strict=True)])
