"""A budget that is distributed over words (Meisenbacher et al. 2025): SanText with an epsilon for each word."""

import math
from collections.abc import Mapping
from functools import cached_property
from typing import Literal

import numpy as np

from textsan.base import checks
from textsan.channel import Channel
from textsan.mechanisms.base import Oov
from textsan.mechanisms.table import table_channel
from textsan.mechanisms.vectors import VectorMechanism, public_prior
from textsan.privacy import Adjacency, Guarantee
from textsan.text.embeddings import Embeddings, euclidean


class BudgetedSanText(VectorMechanism):
    """Pr(y | x) proportional to exp(-epsilon_x d(x, y) / 2), epsilon_x larger for words that say little.

    A document of n words is given n epsilon on average: epsilon_x = epsilon s_x, and the mean of s under the
    public prior is 1. By information content -log Pr(x), of which "common" gives more to words with little of it
    (s_x proportional to 1 / -log Pr(x)), the published way, and "rare" to those with much.

    The sum of a budget is no promise about a pair of words: whose budget is larger is itself seen. With S the
    largest s and D at least the largest distance of two words, what holds is metric DP of
    sqrt(2) |(S x, D s_x) - (S x', D s_x')|. Proof: |s_x d(x, y) - s_x' d(x', y)| is at most
    S d(x, x') + D |s_x - s_x'|; numerator and normaliser are each within epsilon / 2 times that, and
    a + b <= sqrt(2) |(a, b)|. Epsilon per unit of the vectors' own distance is passed (tested). Computed, it holds
    while epsilon_x d(x, y) is at most about 1300 for all pairs: beyond it weights underflow, and the channel is
    refused.

    Departure: as published, shares are normalised over the words of each document, by scores of the document
    (entities, parts of speech, importance of a word in it). Then what a word is given depends on all others, and
    there is no channel of a word; ours are normalised by the public prior, so that there is one.

    Args:
        embeddings: the vocabulary, inputs and outputs alike; 16,384 words at most.
        epsilon: mean privacy parameter per unit of distance, at least 0.
        counts: word counts of public text; None takes the order of the vocabulary (Zipf).
        more: which words are given more: "common" or "rare".
        others: as for `VectorMechanism`.

    >>> words = Embeddings(["the", "cat"], [[0.0], [1.0]])
    >>> BudgetedSanText(words, epsilon=2.0, counts={"the": 8}).shares.round(3)
    array([1.105, 0.051])
    """

    def __init__(
        self,
        embeddings: Embeddings,
        epsilon: float,
        *,
        counts: Mapping[str, int] | None = None,
        more: Literal["common", "rare"] = "common",
        oov: Oov = "uniform",
    ):
        super().__init__(embeddings, epsilon, oov=oov)
        self.counts = counts
        self.more = checks.choice("more", more, ("common", "rare"))

    @cached_property
    def shares(self) -> np.ndarray:
        """s_x, (V,), of mean 1 under the public prior."""
        prior = public_prior(self.counts, self.inputs)
        information = np.maximum(-np.log(prior), 1e-9)  # a vocabulary of one word has none
        weights = 1 / information if self.more == "common" else information
        return weights / (prior @ weights)

    @cached_property
    def channel(self) -> Channel:
        vectors, scale = self._points, self.epsilon / 2 * self.shares

        def rows(numbers):
            far = euclidean(vectors[numbers], vectors)
            far[np.arange(len(numbers)), numbers] = 0.0
            return np.exp(-scale[numbers, None] * far)

        return table_channel(self.inputs, rows, positive=True)

    @property
    def guarantee(self) -> Guarantee:
        """Metric DP of a distance in which the budgets are a coordinate."""
        centre = self._points.mean(axis=0)
        widest = 2 * np.linalg.norm(self._points - centre, axis=1).max()
        places = np.hstack([self.shares.max() * self._points, (widest * self.shares)[:, None]])
        adjacency = Adjacency(
            distance=Embeddings(self.inputs, math.sqrt(2) * places),
            distance_name="distance of words and of budgets",
        )
        return Guarantee("metric DP", self.epsilon, adjacency, self._outside())
