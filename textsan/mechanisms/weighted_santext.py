"""SanText with weights on its outputs: the same metric epsilon, and less distance lost."""

from collections.abc import Mapping
from functools import cached_property
from typing import Literal

import numpy as np
from tqdm import tqdm

from textsan.base import checks
from textsan.base.blocks import map_blocks
from textsan.channel import Channel
from textsan.channel.distances import ScaledDistances
from textsan.channel.weighted_exponential import WeightedExponential
from textsan.mechanisms.base import Oov
from textsan.mechanisms.vectors import VectorMechanism, public_prior
from textsan.text.embeddings import Embeddings

_ROUNDS = 40  # of Blahut and Arimoto, at most
_STILL = 1e-3  # total change of the weights in a round at which they stand still
_UNIFORM = 1e-3  # share of uniform weights that is mixed in, so that every word stays an output


class WeightedSanText(VectorMechanism):
    """Pr(y | x) proportional to q(y) exp(-epsilon d(x, y) / 2), d the Euclidean distance of raw vectors.

    Satisfies epsilon-metric DP for any public q > 0: in log Pr(y | x) - log Pr(y | x') the weight of y cancels,
    what is left is -epsilon (d(x, y) - d(x', y)) / 2 + log(Z_x' / Z_x), and each of the two is at most epsilon
    d(x, x') / 2 by the triangle inequality, as in Theorem 1 of Yue et al. 2021, where q is uniform. q must not
    depend on the text.

    "blahut-arimoto" takes the q that minimises I(X; Y) + epsilon / 2 E d(X, Y) for the public prior (Blahut 1972,
    Arimoto 1972): what an optimal code of that distortion would use. It begins with the prior: half of its first
    round is "prior". SanText is half of a round from uniform weights.

    Args:
        embeddings, epsilon, oov: as for `VectorMechanism`.
        counts: word counts of public text; None is the order of the vocabulary, the r-th word weighing 1 / r.
        weights: where q comes from: "blahut-arimoto", or "prior", the counts themselves.

    >>> words = Embeddings(["the", "a", "film"], [[0.0], [1.0], [1.0]])
    >>> public = {"the": 9, "a": 4, "film": 4}
    >>> WeightedSanText(words, 1, counts=public, weights="prior").channel.rows(["a"]).round(3)
    array([[0.377, 0.311, 0.311]])
    """

    def __init__(
        self,
        embeddings: Embeddings,
        epsilon: float,
        *,
        counts: Mapping[str, int] | None = None,
        weights: Literal["blahut-arimoto", "prior"] = "blahut-arimoto",
        oov: Oov = "uniform",
    ):
        super().__init__(embeddings, epsilon, oov=oov)
        self.counts = counts
        self.weights = checks.choice("weights", weights, ("blahut-arimoto", "prior"))

    @cached_property
    def output_weights(self) -> np.ndarray:
        """q, (V,), summing to one; a thousandth of it is uniform, so that no word is ruled out."""
        q = public_prior(self.counts, self.inputs)
        if self.weights == "blahut-arimoto":
            q = blahut_arimoto(q, self.embeddings.vectors, self.epsilon / 2)
        return (1 - _UNIFORM) * q + _UNIFORM / len(q)

    @cached_property
    def channel(self) -> Channel:
        vectors, words = self.embeddings.vectors, self.embeddings.words
        storage = WeightedExponential(vectors, vectors, np.log(self.output_weights), self.epsilon / 2)
        return Channel(words, words, storage)


def blahut_arimoto(prior: np.ndarray, vectors: np.ndarray, scale: float) -> np.ndarray:
    """Find the output weights q, (n,), that minimise I(X; Y) + scale E d(X, Y), in forty rounds from the prior on.

    Each round gives every output what it is released for: q(y) <- sum_x Pr(x) q(y) exp(-scale d(x, y)) / Z_x. The
    objective never rises. A round of 20,000 words takes some seconds; no table of all distances is held.

    >>> blahut_arimoto(np.array([0.5, 0.5]), np.array([[0.0], [9.0]]), scale=2.0).round(3)
    array([0.5, 0.5])
    """
    between = ScaledDistances(vectors, vectors, scale)
    q = prior
    for _ in tqdm(range(_ROUNDS), desc="output weights", disable=None, delay=2):

        def shares(rows, q=q):
            weights = np.exp(-between.block(rows))
            weights *= q
            return (prior[rows] / weights.sum(axis=1)) @ weights

        before, q = q, sum(map_blocks(shares, np.arange(len(prior))))
        q = q / q.sum()
        if np.abs(q - before).sum() < _STILL:
            break
    return q
