"""Vulnerability of a noisy vector before it becomes a word: an end above V(X | Y) of the noise mechanisms."""

import numpy as np
import scipy

from textsan.base import checks
from textsan.evaluation import Estimate
from textsan.mechanisms.noise import NoiseMechanism
from textsan.priors import Prior

_AT_ONCE = 1024  # noisy vectors whose distances to all words are held at a time


def noisy_vector_vulnerability(prior: Prior, mechanism: NoiseMechanism, draws: int = 4000, *, seed) -> Estimate:
    """V(X | v), the success of the best guess from the noisy vector v = phi(x) + z itself.

    The released word is chosen from v alone, so that V(X | Y) is at most this (data processing). The posterior
    Pr(x | v) is proportional to Pr(x) exp(-epsilon |v - phi(x)|); the mean of its maximum over draws of x and z is
    an unbiased estimate, whatever the number of draws, and the same for every choice among near words (FBDD,
    Vickrey).

    Returns:
        the estimate with its 95 % interval, of the draws.

    >>> from textsan import Embeddings, Prior
    >>> from textsan.mechanisms import FBDD
    >>> far = FBDD(Embeddings(["a", "b"], [[0.0], [9.0]]), epsilon=50)
    >>> noisy_vector_vulnerability(Prior(["a", "b"], [0.5, 0.5]), far, draws=10, seed=0).value
    1.0
    """
    draws, rng = checks.whole("draws", draws, low=2), np.random.default_rng(seed)
    vectors = np.asarray(mechanism.metric.restrict(prior.words).vectors, dtype=np.float64)
    if len(vectors) != len(prior.words):
        raise ValueError("prior: some of its words have no vector; pass those that have one")
    (n, d), p = vectors.shape, prior.probabilities
    highest = []
    for at in range(0, draws, _AT_ONCE):
        size = min(_AT_ONCE, draws - at)
        normals = rng.standard_normal((size, d))
        radii = rng.standard_gamma(d, (size, 1)) / mechanism.epsilon
        points = vectors[rng.choice(n, size, p=p)]
        points += radii * normals / np.linalg.norm(normals, axis=1, keepdims=True)
        scores = -mechanism.epsilon * scipy.spatial.distance.cdist(points, vectors)
        weights = p * np.exp(scores - scores.max(axis=1, keepdims=True))
        highest.append(weights.max(axis=1) / weights.sum(axis=1))
    highest = np.concatenate(highest)
    value, error = highest.mean(), highest.std(ddof=1) / np.sqrt(draws)
    return Estimate(float(value), max(0.0, float(value - 1.96 * error)), min(1.0, float(value + 1.96 * error)))
