"""SanText (Yue et al. 2021, Eq. 1): the exponential mechanism over the whole vocabulary."""

from functools import cached_property

from textsan import checks
from textsan.channel import Channel
from textsan.embeddings import Embeddings
from textsan.mechanisms.base import Mechanism


class SanText(Mechanism):
    """Pr(y | x) proportional to exp(-epsilon d(x, y) / 2), d the Euclidean distance of raw vectors.

    Satisfies epsilon-metric DP (Yue et al. 2021, Theorem 1): log Pr(y | x) - log Pr(y | x') is at most
    epsilon d(x, x') for all words x, x', y.

    Args:
        embeddings: the vocabulary, inputs and outputs alike.
        epsilon: privacy parameter per unit of distance, at least 0; 0 is uniform.
        oov: "uniform", "keep" or "error" for words without a vector.

    Raises:
        ValueError: epsilon is not a finite number of at least 0.

    >>> SanText(Embeddings(["a", "b"], [[0.0], [2.0]]), epsilon=0).channel.matrix()
    array([[0.5, 0.5],
           [0.5, 0.5]])
    """

    def __init__(self, embeddings: Embeddings, epsilon: float, *, oov: str = "uniform"):
        super().__init__(embeddings.words, oov=oov)
        self.embeddings = embeddings
        self.epsilon = checks.number("epsilon", epsilon, low=0)

    @cached_property
    def channel(self) -> Channel:
        """The channel, its rows computed on demand."""
        vectors, words = self.embeddings.vectors, self.embeddings.words
        return Channel.metric(words, words, vectors, vectors, scale=self.epsilon / 2)
