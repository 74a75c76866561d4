"""Two keyword attacks on the same texts: how much more area one has."""

import numpy as np

from textsan.evaluation import Estimate


def area(scores: np.ndarray, there: np.ndarray) -> float:
    """The share of pairs, one text with the keyword and one without, that the scores put in the right order.

    Args:
        scores: (n,).
        there: (n,) bool, of both kinds.

    >>> area(np.array([1.0, 0.0, 0.0]), np.array([True, True, False]))
    0.75
    """
    ranks = np.searchsorted(np.sort(scores), scores, "left") + np.searchsorted(np.sort(scores), scores, "right")
    positives, n = int(there.sum()), len(there)
    return float((ranks[there].sum() / 2 - positives**2 / 2) / (positives * (n - positives)))


def area_gain(
    scores: np.ndarray, others: np.ndarray, there: np.ndarray, *, seed, resamples: int = 500
) -> Estimate:
    """Area of one attack minus that of another; 95 % interval from resampling texts of both kinds, paired.

    Args:
        scores, others: (n,) of the two attacks on the same texts.
        there: (n,) bool, of both kinds.
        seed: int or Generator.
        resamples: bootstrap samples.

    >>> area_gain(np.array([1.0, 0.0]), np.array([0.0, 1.0]), np.array([True, False]), seed=0).value
    1.0
    """
    scores, others, there = np.asarray(scores), np.asarray(others), np.asarray(there, dtype=bool)
    yes, no, random = np.flatnonzero(there), np.flatnonzero(~there), np.random.default_rng(seed)

    def gain(rows):
        return area(scores[rows], there[rows]) - area(others[rows], there[rows])

    drawn = [
        gain(np.concatenate([random.choice(kind, len(kind)) for kind in (yes, no)])) for _ in range(resamples)
    ]
    return Estimate(gain(np.arange(len(there))), *np.quantile(drawn, [0.025, 0.975]).tolist())
