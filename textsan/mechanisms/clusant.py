"""CluSanT (Awon et al. 2025): a cluster by the exponential mechanism, then a word of it by another."""

import math
from functools import cached_property

import numpy as np

from textsan.base import checks
from textsan.channel import Channel
from textsan.mechanisms.base import Oov
from textsan.mechanisms.custext import CusText
from textsan.mechanisms.table import table_channel
from textsan.mechanisms.vectors import VectorMechanism
from textsan.privacy import Adjacency, Guarantee
from textsan.text.embeddings import Embeddings, euclidean


class CluSanT(VectorMechanism):
    """Pr(c | x) proportional to exp(-epsilon K d(m_x, m_c) / 2), Pr(y | x, c) to exp(-epsilon d(x, y) / (2 D_c)).

    m_c is the mean vector of cluster c, m_x that of the cluster of x, and D_c the largest distance of two words of
    c. With a large K the own cluster is always taken, which is CusText's way; with K = 0 all are as likely.

    Two words of one cluster are epsilon-DP, and two of clusters at distance d within epsilon (K d + 1): the
    released code's claim, which holds. Proof: by the triangle inequality the first step is within
    epsilon K d(m_x, m_x'). Within c the distances of any x to its words differ by D_c at most, and what all of
    them have in common cancels, so that the second step is within epsilon, wherever x and x' are. As a distance of
    vectors, which `guarantee` needs, K d + 1 becomes sqrt(2) |(K d, 1)|, which is not smaller. Computed, it holds
    while epsilon (K d + 1) is at most about 1300 for all clusters: beyond it weights underflow, and the channel is
    refused.

    Departures: the released clusters are those of a language model (places, organisations) or grown around random
    words; ours are CusText's groups, of k words, around the most frequent word that is left. Where D_c is 0 the
    released code divides by it; ours draws uniformly.

    Args:
        embeddings: the vocabulary, inputs and outputs alike; 16,384 words at most.
        epsilon: privacy parameter of each of both steps, at least 0.
        k: words of a cluster, at least 1.
        factor: the released code's K, at least 0: how much distances between clusters count.
        others: as for `VectorMechanism`.

    >>> words = Embeddings(["good", "nice", "bad", "poor"], [[0.0], [1.0], [9.0], [8.0]])
    >>> CluSanT(words, epsilon=1.0, k=2).channel.rows(["good"]).round(3)
    array([[0.611, 0.371, 0.007, 0.011]])
    """

    def __init__(
        self, embeddings: Embeddings, epsilon: float, *, k: int = 20, factor: float = 1.0, oov: Oov = "uniform"
    ):
        super().__init__(embeddings, epsilon, oov=oov)
        self.k = checks.whole("k", k, low=1)
        self.factor = checks.number("factor", factor, low=0)

    @cached_property
    def clusters(self) -> list[np.ndarray]:
        """Row numbers of each cluster."""
        return CusText(self.embeddings, 0.0, k=self.k).groups

    @cached_property
    def cluster(self) -> np.ndarray:
        """The number of each word's cluster, (V,)."""
        number = np.empty(len(self.inputs), dtype=np.intp)
        for label, words in enumerate(self.clusters):
            number[words] = label
        return number

    @cached_property
    def diameters(self) -> np.ndarray:
        """D_c, the largest distance of two words of each cluster."""
        return np.array([euclidean(self._points[words], self._points[words]).max() for words in self.clusters])

    @cached_property
    def channel(self) -> Channel:
        far = euclidean(self._centres, self._centres)
        steps = np.exp(-self.epsilon / 2 * self.factor * far)
        steps /= steps.sum(axis=1, keepdims=True)
        scale = self.epsilon / 2 / np.where(self.diameters > 0, self.diameters, np.inf)[self.cluster]

        def rows(numbers):
            scores = -scale * euclidean(self._points[numbers], self._points)
            weights = np.empty_like(scores)
            for label, words in enumerate(self.clusters):
                inside = np.exp(scores[:, words] - scores[:, words].max(axis=1, keepdims=True))
                taken = steps[self.cluster[numbers], label]
                weights[:, words] = inside * (taken / inside.sum(axis=1))[:, None]
            return weights

        return table_channel(self.inputs, rows, positive=True)

    @property
    def guarantee(self) -> Guarantee:
        """Metric DP: 1 between words of a cluster, at least K d + 1 between clusters."""
        clusters = np.eye(len(self.clusters))[self.cluster]
        member = np.empty(len(self.inputs), dtype=np.intp)
        for words in self.clusters:
            member[words] = np.arange(len(words))
        members = np.eye(member.max() + 1)[member]
        means = self.factor * self._centres[self.cluster]
        places = np.hstack([math.sqrt(2) * means, clusters, members / math.sqrt(2)])
        adjacency = Adjacency(
            distance=Embeddings(self.inputs, places), distance_name="distance of clusters, and 1"
        )
        return Guarantee("metric DP", self.epsilon, adjacency, self._outside())

    @cached_property
    def _centres(self):
        return np.array([self._points[words].mean(axis=0) for words in self.clusters])
