"""Random: every word becomes a uniform draw from the vocabulary, the baseline that hides everything."""

from functools import cached_property

import numpy as np

from textsan.base import checks
from textsan.channel import Channel
from textsan.mechanisms.base import Mechanism, Oov
from textsan.privacy import Adjacency, Guarantee
from textsan.text.embeddings import Embeddings


class Random(Mechanism):
    """Pr(y | x) = 1 / |V| (baseline of Yue et al. 2021 and Chen et al. 2023).

    Args:
        embeddings: the vocabulary, inputs and outputs alike; the vectors are not used.
        oov: what becomes of words outside of the vocabulary: "uniform" treats all words alike, "keep" releases
            them, "error" refuses them.

    >>> Random(Embeddings(["a", "b"], [[0.0], [2.0]])).channel.matrix()
    array([[0.5, 0.5],
           [0.5, 0.5]])
    """

    def __init__(self, embeddings: Embeddings, *, oov: Oov = "uniform"):
        super().__init__(checks.has_words("embeddings", embeddings).words, oov=oov)
        self.embeddings = embeddings

    @cached_property
    def channel(self) -> Channel:
        point = np.zeros((len(self.inputs), 1))
        return Channel.exponential(self.inputs, self.inputs, point, point, scale=0.0)

    @property
    def guarantee(self) -> Guarantee:
        return Guarantee("DP", 0.0, Adjacency(), self._outside())
