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
    guesses: Sequence[str], truths: Sequence[str], positions: Sequence[tuple[int, int]] | None = None
) -> Estimate:
    """Share of guesses that equal the truth exactly, with its 95 % interval.

    Words of one document depend on each other. With `positions` the interval is that of `clustered_rate` by
    document; without, it is Wilson's, which takes positions for independent.

    >>> attack_success_rate(["a", "b"], ["a", "c"], [(0, 0), (1, 0)]).value
    0.5
    """
    hits = _hits(guesses, truths)
    return hit_rate(hits) if positions is None else clustered_rate(hits, [document for document, _ in positions])


def means_the_same(guesses: Sequence[str], truths: Sequence[str], embeddings: Embeddings, *, k: int = 10):
    """Score each guess, (n,) bool: the true word or one of its `k` nearest by cosine is a hit of meaning.

    A guess that is not the word may give away as much. The embeddings should be others than those that the
    mechanism draws with, or a replacement counts as a hit because the mechanism chose it so.

    Args:
        guesses, truths: words, one a position. One without a vector means the same as itself only.
        embeddings: what says which words are near; no vector of length 0, to which all words are as near.

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

    >>> print(hit_rate([True, False]))
    0.500 [0.095, 0.905]
    """
    hits = np.asarray(hits, dtype=bool)
    if not len(hits):
        raise ValueError("hits: none; pass at least one")
    interval = scipy.stats.binomtest(int(hits.sum()), len(hits)).proportion_ci(method="wilson")
    return Estimate(float(hits.mean()), float(interval.low), float(interval.high))


def clustered_rate(hits: Listed[float], groups: Listed[int]) -> Estimate:
    """Share of hits with a 95 % interval for hits of one group (a document's, say) that depend on each other.

    The Clopper-Pearson interval at the effective number of trials (Korn and Graubard 1998, Survey Methodology 24,
    193-201): p (1 - p) over the variance of the rate. That variance is the larger of two: from leaving out one
    group at a time, and from the correlation of hits of one group by analysis of variance (Donner 1986,
    International Statistical Review 54, 67-82). Student's t of so many groups widens the interval. Where nothing
    or all was hit the effective number is that of the groups; one group gives [0, 1]. No random draws.

    Args:
        hits: of each trial True or False, or a share in [0, 1].

    >>> print(clustered_rate([True] * 8 + [False] * 32, np.repeat(np.arange(20), 2)))
    0.200 [0.048, 0.464]
    """
    values, group = _grouped("hits", hits, groups, low=0)
    p = float(values.mean())
    return Estimate(p, *_exact(p, _effective(values, group)))


def clustered_difference(gains: Listed[float], groups: Listed[int]) -> Estimate:
    """Mean of differences in [-1, 1] with a 95 % interval, for differences of one group that depend on each other.

    The hybrid score interval of paired proportions (Newcombe 1998, Statistics in Medicine 17, 2635-2650; Zou and
    Donner 2008, Statistics in Medicine 27, 1693-1702): the shares won and lost, each with its interval at the
    effective number of differences, as in `clustered_rate`, and their multinomial correlation. No random draws.

    Args:
        gains: one hit minus another at the same place (-1, 0 or 1), or any differences in [-1, 1].

    >>> print(clustered_difference([1] * 8 + [0] * 32, np.repeat(np.arange(20), 2)))
    0.200 [-0.050, 0.464]
    """
    values, group = _grouped("gains", gains, groups, low=-1)
    won, lost = float(np.maximum(values, 0).mean()), float(np.maximum(-values, 0).mean())
    m = _effective(values, group)
    if not m:
        return Estimate(won - lost, -1.0, 1.0)
    (won_low, won_high), (lost_low, lost_high) = _exact(won, m), _exact(lost, m)
    both = (won * lost) ** 0.5 / max((1 - won) * (1 - lost), 1e-300) ** 0.5  # minus their correlation
    below = _hypotenuse(won - won_low, lost_high - lost, both)
    above = _hypotenuse(won_high - won, lost - lost_low, both)
    return Estimate(float(values.mean()), max(won - lost - below, -1.0), min(won - lost + above, 1.0))


def _grouped(name: str, values, groups, *, low: int | None) -> tuple[np.ndarray, np.ndarray]:
    """Return values, from a lower limit to 1 if there is one, and the number of the group of each."""
    values = np.asarray(values, dtype=float)
    if not len(values):
        raise ValueError(f"{name}: none; pass at least one")
    if len(groups) != len(values):
        raise ValueError(f"groups: {len(groups)} for {len(values)} {name}; pass one each")
    group = np.unique(np.asarray(groups), return_inverse=True)[1]
    if low is None:
        return values, group
    if not (np.abs(values - (low + 1) / 2) <= (1 - low) / 2 + 1e-9).all():  # sums of probabilities are rounded
        raise ValueError(f"{name}: a number outside [{low}, 1]; use bootstrap_mean for other numbers")
    return np.clip(values, low, 1.0), group


def _effective(values: np.ndarray, group: np.ndarray) -> float:
    """Number of independent hits, or wins and losses, that are as sure of the same mean; 0 for one group."""
    sizes, n = np.bincount(group), len(values)
    mean, groups, one = values.mean(), len(sizes), values.var()
    if groups < 2:
        return 0.0
    t = scipy.stats.t.ppf(0.975, groups - 1) / scipy.stats.norm.ppf(0.975)
    if one <= 1e-12:
        return groups / t**2
    sums = np.bincount(group, weights=values)
    apart = sums - mean * sizes
    left_out = (groups - 1) / groups * ((apart / (n - sizes)) ** 2).sum()
    between = (apart**2 / sizes).sum() / (groups - 1)
    within = max((values**2).sum() - (sums**2 / sizes).sum(), 0.0) / max(n - groups, 1)
    size = (n - (sizes**2).sum() / n) / (groups - 1)
    correlation = min(max((between - within) / (between + (size - 1) * within), 0.0), 1.0)
    alike = one / n * (1 + ((sizes**2).sum() / n - 1) * correlation)
    return (np.abs(values).mean() - mean**2) / max(left_out, alike) / t**2


def _exact(p: float, n: float) -> tuple[float, float]:
    """The Clopper-Pearson interval of a share `p` of `n` trials, which need not be whole."""
    hits, misses = p * n, (1 - p) * n
    low = scipy.special.betaincinv(hits, misses + 1, 0.025) if hits > 0 else 0.0
    return float(low), float(scipy.special.betaincinv(hits + 1, misses, 0.975) if misses > 0 else 1.0)


def _hypotenuse(a: float, b: float, cosine: float) -> float:
    return (a * a + b * b + 2 * a * b * cosine) ** 0.5


def bootstrap_mean(values: Listed[float], groups: Listed[int], *, seed, resamples: int = 1000) -> Estimate:
    """Mean with a 95 % percentile interval from resampling whole groups: those of the same sentence, say.

    For numbers without bounds, losses or ratios for example. Rates and differences of hits have `clustered_rate`
    and `clustered_difference`, which hold near 0 and 1 and with few groups, where this interval is too narrow. One
    group says nothing of the spread; its interval has no ends.

    >>> print(bootstrap_mean([1, 1, 0, 1], groups=[0, 0, 1, 2], seed=0))
    0.750 [0.000, 1.000]
    """
    values, group = _grouped("values", values, groups, low=None)
    sums, sizes = np.bincount(group, weights=values), np.bincount(group)
    if len(sums) < 2:
        return Estimate(float(values.mean()), -np.inf, np.inf)
    means = _resampled(sums, sizes, _picks(len(sums), seed, resamples))
    return Estimate(float(values.mean()), *_middle(means))


def bootstrap_difference(first, second, *, seed, resamples: int = 1000) -> Estimate:
    """Mean of one kind minus the mean of another with a 95 % interval; they share sentences, resampled together.

    Unlike a mean of differences it compares what stands at different positions: names with other words, say. One
    sentence says nothing of the spread; its interval has no ends.

    Args:
        first, second: of each kind a pair of arrays of one entry a sentence: the sum of its values there, and
            their number (or weight).
        resamples: bootstrap samples. In one without any of a kind, the mean of that kind counts as 0.

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
    if sentences < 2:
        return Estimate(float(values[0] - values[1]), -np.inf, np.inf)
    return Estimate(float(values[0] - values[1]), *_middle(means[0] - means[1]))


def paired_difference(guesses, others, truths, groups: Listed[int]) -> Estimate:
    """Success rate of `guesses` minus that of `others` at the same positions, interval of `clustered_difference`.

    >>> paired_difference(["a", "b"], ["a", "c"], ["a", "b"], [0, 1]).value
    0.5
    """
    return clustered_difference(_hits(guesses, truths).astype(float) - _hits(others, truths), groups)


def _picks(groups: int, seed, resamples: int) -> np.ndarray:
    """Draw resamples: the number of times each group is in each, (resamples, groups)."""
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
