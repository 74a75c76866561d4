"""RANTEXT (Tong et al. 2025, in InferDPT): the exponential mechanism within a random radius."""

import math
from functools import cached_property

import numpy as np

from textsan.channel import Channel
from textsan.mechanisms.base import Oov
from textsan.mechanisms.table import table_channel
from textsan.mechanisms.vectors import VectorMechanism
from textsan.privacy import Guarantee
from textsan.text.embeddings import Embeddings, euclidean

RADII = 64
"""Values that the radius takes, each as likely."""
_DRAWS = 1 << 14  # norms whose quantiles they are
_SLOPE, _OFFSET, _A, _B = 0.01658160142016071, 9.311083811697406, 19.064721649556482, 38.1294334077209


class RanText(VectorMechanism):
    """Pr(y | x, r) proportional to exp(epsilon (1 - d(x, y) / r) / 2) for words y nearer to x than a random r.

    r is the norm of Laplace noise on every coordinate of the vector, of scale (largest - least coordinate) / s,
    with s = epsilon below 2 and `strength` from there on. The adjacency list of a word is what lies within r.

    Nothing is promised here. The published claim, epsilon-DP, is of the exponential mechanism on a given list. But
    the list is around x, so that a word that lies within r of x need not lie within r of x': already of two words
    in one dimension, epsilon = 1, the log-ratio is 1.7 (tested, against the integral).
    And s does not tend to 2 where the rule changes: from just below epsilon = 2 to 2 the radius falls by a factor
    of 4.6, and then hardly any more.

    Departures: r takes `RADII` values, the middle quantiles of its law, so that the channel is a finite mixture
    and exact; the released code deletes tokens that it does not know and draws whole numbers for numbers, ours
    draws words; its vectors are those of an encoder of a company, ours are the vocabulary's.

    Args:
        embeddings: the vocabulary, inputs and outputs alike; 16,384 words at most.
        epsilon: the parameter of both noises, from 1e-6 to 1e6.
        others: as for `VectorMechanism`.

    >>> words = Embeddings(["a", "b", "c"], [[0.0], [1.0], [9.0]])
    >>> RanText(words, epsilon=2.0).channel.rows(["a"]).round(3)
    array([[0.872, 0.128, 0.   ]])
    """

    epsilons_from = 1e-6

    def __init__(self, embeddings: Embeddings, epsilon: float, *, oov: Oov = "uniform"):
        super().__init__(embeddings, epsilon, oov=oov)

    @cached_property
    def radii(self) -> np.ndarray:
        """The values of r, (`RADII`,), ascending."""
        vectors = self._points
        noise = np.random.default_rng(0).laplace(size=(_DRAWS, vectors.shape[1])) * np.ptp(vectors, axis=0)
        shares = (np.arange(RADII) + 0.5) / RADII
        return np.quantile(np.linalg.norm(noise, axis=1), shares) / strength(self.epsilon)

    @cached_property
    def channel(self) -> Channel:
        vectors = self._points

        def rows(numbers):
            far = euclidean(vectors[numbers], vectors)
            far[np.arange(len(numbers)), numbers] = 0.0
            weights = np.zeros_like(far)
            for radius in self.radii:
                if radius > 0:
                    inside = np.where(far < radius, np.exp(-self.epsilon / 2 * far / radius), 0.0)
                else:  # all words are the same point
                    inside = np.ones_like(far)
                weights += inside / inside.sum(axis=1, keepdims=True)
            return weights

        return table_channel(self.inputs, rows)

    @property
    def guarantee(self) -> Guarantee:
        clause = "the list of possible words is drawn around the word itself: the published epsilon does not hold"
        return Guarantee("none", math.inf, None, (clause, *self._outside()))


def strength(epsilon: float) -> float:
    """Compute s, by which a coordinate's range is divided for the scale of its noise (released code, as fitted).

    >>> strength(1.9), round(strength(2.0), 2), round(strength(16.0), 2)
    (1.9, 9.12, 9.4)
    """
    return epsilon if epsilon < 2 else _SLOPE * math.log(_A * epsilon - _B) + _OFFSET
