"""1-Diffractor (Meisenbacher et al. 2024): words in one line, and noise on a word's place in it."""

import math
from functools import cached_property
from typing import Literal
from weakref import WeakKeyDictionary

import numpy as np

from textsan.base import checks
from textsan.channel import Channel
from textsan.channel.weighted_exponential import WeightedExponential
from textsan.mechanisms.base import Oov
from textsan.mechanisms.vectors import VectorMechanism
from textsan.privacy import Adjacency, Guarantee
from textsan.text.embeddings import Embeddings

_LISTS: WeakKeyDictionary[Embeddings, np.ndarray] = WeakKeyDictionary()


class OneDiffractor(VectorMechanism):
    """Releases the word at a noisy place of a list in which each word is followed by its nearest of those left.

    "geometric" adds two-sided geometric noise and stops at the ends of the list: Pr(y | x) proportional to
    w_y exp(-epsilon |i_x - i_y|), with w_y = 1 but for the ends, where it is 1 / (1 - exp(-epsilon)) (Ghosh et al.
    2012). "truncated" is TEM on places: proportional to exp(-epsilon min(|i_x - i_y|, gamma) / 2).

    Promises metric DP of the distance of two places, |i_x - i_x'|, and the geometric one uses all of it. That is
    not the distance of the vectors: the list jumps wherever no near word is left, so that two near words may be
    thousands of places apart. The promise speaks of the list.

    Departures: the published mechanism draws in each of several lists, from five embeddings, and releases one of
    the draws at random; ours has one list. Lists of the code of 2024 begin at a random word and ask an approximate
    index, those of `dp-diffractor` 0.2.1 look among the 50 nearest words only and go on with any word where none
    of those is left; ours begins at the most frequent word and is exact. Both release a word that is on no list,
    and by default every stop word, as it is; ours protects stop words and draws for unknown ones.

    Args:
        embeddings, oov: as for `VectorMechanism`.
        epsilon: privacy parameter per place of the list, from 1e-6 to 1e6.
        method: "geometric" or "truncated".
        gamma: places up to which distance counts, of "truncated"; at least 0.

    >>> words = Embeddings(["a", "c", "b"], [[0.0], [2.0], [1.0]])
    >>> one = OneDiffractor(words, epsilon=math.log(2))
    >>> one.places, one.channel.rows(["a"]).round(3)
    (array([0, 2, 1]), array([[0.667, 0.167, 0.167]]))
    """

    epsilons_from = 1e-6

    def __init__(
        self,
        embeddings: Embeddings,
        epsilon: float,
        *,
        method: Literal["geometric", "truncated"] = "geometric",
        gamma: int = 5,
        oov: Oov = "uniform",
    ):
        super().__init__(embeddings, epsilon, oov=oov)
        self.method = checks.choice("method", method, ("geometric", "truncated"))
        self.gamma = checks.whole("gamma", gamma, low=0)

    @cached_property
    def places(self) -> np.ndarray:
        """The place of each word in the list, (V,); made once for the same embeddings."""
        if self.embeddings not in _LISTS:
            _LISTS[self.embeddings] = _places(self._points)
        return _LISTS[self.embeddings]

    @cached_property
    def channel(self) -> Channel:
        line, words, last = self.places[:, None].astype(float), self.inputs, len(self.inputs) - 1
        if self.method == "truncated":
            return Channel.exponential(words, words, line, line, self.epsilon / 2, cutoff=float(self.gamma))
        ends = (self.places == 0) | (self.places == last)
        weights = np.where(ends, -math.log(-math.expm1(-self.epsilon)), 0.0)
        return Channel(words, words, WeightedExponential(line, line, weights, self.epsilon))

    @property
    def guarantee(self) -> Guarantee:
        line = Embeddings(self.inputs, self.places[:, None].astype(np.float64))
        cutoff = math.inf if self.method == "geometric" else float(self.gamma)
        adjacency = Adjacency(distance=line, distance_name="places apart in the list", cutoff=cutoff)
        return Guarantee("metric DP", self.epsilon, adjacency, self._outside())


def _places(vectors: np.ndarray) -> np.ndarray:
    """The place of each row in the chain of nearest neighbours that begins with the first."""
    left = np.arange(len(vectors))
    remaining, squares = vectors.copy(), np.einsum("ij,ij->i", vectors, vectors)
    places = np.empty(len(vectors), dtype=np.intp)
    here = 0
    for place in range(len(vectors)):
        n, at = len(vectors) - place, left[here]
        places[at] = place
        # what is visited makes room for the last of those left, so that no copy is made
        left[here], remaining[here], squares[here] = left[n - 1], remaining[n - 1], squares[n - 1]
        if n > 1:
            far = squares[: n - 1] - 2 * (remaining[: n - 1] @ vectors[at])
            nearest = np.flatnonzero(far == far.min())
            here = int(nearest[left[nearest].argmin()])  # of words as near the most frequent
    return places
