"""Mechanisms over public word vectors: what their constructors share, and the promise of most of them."""

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property

import numpy as np

from textsan.base import checks
from textsan.mechanisms.base import Mechanism, Oov
from textsan.priors import Prior
from textsan.privacy import Adjacency, Guarantee
from textsan.text.embeddings import Embeddings


class VectorMechanism(Mechanism):
    """A mechanism over words with vectors; it promises epsilon-metric DP of their Euclidean distance.

    Args:
        embeddings: the vocabulary, inputs and outputs alike.
        epsilon: privacy parameter per unit of distance, at least 0.
        keep: words released verbatim, in any case.
        oov: what becomes of words without a vector: "uniform" draws a word for them, "keep" releases them, "error"
            refuses them.
        device: where the channel is computed: "auto" takes a GPU where there is one, else the CPU.
    """

    epsilons_from, epsilons_to = 0.0, checks.LARGEST_EPSILON

    def __init__(
        self,
        embeddings: Embeddings,
        epsilon: float,
        *,
        keep: Iterable[str] = (),
        oov: Oov = "uniform",
        device: str = "auto",
    ):
        super().__init__(checks.has_words("embeddings", embeddings).words, keep=keep, oov=oov)
        self.embeddings, self.device = embeddings, device
        self.epsilon = checks.number("epsilon", epsilon, self.epsilons_from, self.epsilons_to)

    @property
    def guarantee(self) -> Guarantee:
        return Guarantee("metric DP", self.epsilon, Adjacency(distance=self.embeddings), self._outside())

    @cached_property
    def _points(self) -> np.ndarray:
        return np.asarray(self.embeddings.vectors, dtype=np.float64)


def public_prior(counts: Mapping[str, int] | None, words: Sequence[str]) -> np.ndarray:
    """Pr(x) of a vocabulary, (len(words),), from counts, to each of which one is added, or from its order.

    Counts are of public text, never of the text that is sanitized: the channel would tell of it. Without them the
    r-th word weighs 1 / r (Zipf), for a vocabulary in order of frequency.

    >>> public_prior(None, ["the", "of"]).round(3)
    array([0.667, 0.333])
    """
    if counts is not None:
        return Prior.from_counts(counts, words).probabilities
    weights = 1 / np.arange(1, len(words) + 1)
    return weights / weights.sum()
