"""Spent: a mechanism of the largest other epsilon with which it still keeps the promise of the smaller."""

from collections.abc import Callable
from functools import cached_property
from typing import Any, Literal

import numpy as np

from textsan.base import checks
from textsan.channel import Channel
from textsan.mechanisms.base import Mechanism, Oov
from textsan.mechanisms.custext import CusText, custext_plus
from textsan.mechanisms.santext import SanText
from textsan.mechanisms.table import grouped_channel
from textsan.mechanisms.tem import TEM
from textsan.privacy import Guarantee, tight_metric_epsilon
from textsan.text.embeddings import Embeddings

_RESCALED: dict[str, Any] = {"custext": CusText, "custext+": custext_plus, "santext": SanText, "tem": TEM}
_MOST = 1400.0  # of the larger epsilon: above it CusText's rows lose their support
_STEPS = 40  # of bisection, at most
_NEAR = 1e-4  # share of the claim that may be left over


class Spent(Mechanism):
    """A mechanism rescaled until the tight epsilon of its channel is the epsilon that it claims.

    An exponential mechanism's proof gives half of epsilon to the scores and half to the normalisation, and a
    channel seldom needs all of the second half. Which epsilon a channel really has can be computed before any text
    is seen, so that the claim may be what the channel has. Rescaled are SanText and TEM as a whole, and each group
    of CusText by itself, since no word of one is adjacent to a word of another. TEM's gamma falls as its epsilon
    grows, and what it has is measured in the distance up to that gamma: of the claim, whose gamma is larger, up to
    half is left where words are far apart.

    Args:
        embeddings: the vocabulary, inputs and outputs alike.
        epsilon: the parameter that is claimed and spent, from 0 to 1e6 (of CusText 1400), in the unit of the
            mechanism that is rescaled.
        of: the mechanism: "custext", "custext+", "santext" or "tem".
        k: words of a group of CusText, at least 1; the others have none.
        oov: what becomes of words without a vector: "uniform" draws a word for them, "keep" releases them, "error"
            refuses them.

    >>> words = Embeddings(["a", "b", "c"], [[0.0], [2.0], [3.0]])
    >>> mechanism = Spent(words, epsilon=1.0)
    >>> mechanism.guarantee.tight(mechanism.channel) > 0.999, mechanism.epsilons.round(3)
    (True, array([1.812]))
    """

    def __init__(
        self,
        embeddings: Embeddings,
        epsilon: float,
        *,
        of: Literal["custext", "custext+", "santext", "tem"] = "custext",
        k: int = 20,
        oov: Oov = "uniform",
    ):
        make = _RESCALED[checks.choice("of", of, _RESCALED)]
        self.k = checks.whole("k", k, low=1)
        sized = {"k": self.k} if of.startswith("custext") else {}
        self._claimed = make(embeddings, epsilon, oov=oov, **sized)
        super().__init__(self._claimed.inputs, keep=self._claimed.keep, oov=oov)
        self.embeddings, self.of, self.epsilon = embeddings, of, self._claimed.epsilon

    @cached_property
    def epsilons(self) -> np.ndarray:
        """The larger epsilons: of each group of CusText, or the one of the others."""
        if not isinstance(self._claimed, CusText):
            return np.array([self._largest(lambda e: _tight(self._claimed.with_(epsilon=e)))])
        return np.array([self._of_group(group) for group in self._claimed.groups])

    @cached_property
    def channel(self) -> Channel:
        if isinstance(self._claimed, CusText):
            pairs = zip(self._claimed.groups, self.epsilons, strict=True)
            tables = [self._table(group, epsilon) for group, epsilon in pairs]
            return grouped_channel(self.inputs, self._claimed.groups, tables).keeping(self.keep)
        return self._claimed.with_(epsilon=float(self.epsilons[0])).channel

    @property
    def guarantee(self) -> Guarantee:
        """Promise what the mechanism does at the epsilon that is claimed."""
        return self._claimed.guarantee

    @property
    def exposed(self) -> tuple[str, ...]:
        return self._claimed.exposed

    def _largest(self, tight: Callable[[float], float]) -> float:
        """The largest epsilon found with tight(epsilon) <= claim; every one that is returned was measured."""
        claim, low = self.epsilon, self.epsilon
        high = max(claim, 1e-9)
        while high < _MOST and tight(high) <= claim:
            low, high = high, min(2 * high, _MOST)
        if low == high or tight(high) <= claim:
            return high
        for _ in range(_STEPS):
            middle = (low + high) / 2
            found = tight(middle)
            if found <= claim:
                low = middle
                if found >= (1 - _NEAR) * claim:
                    break
            else:
                high = middle
        return low

    def _of_group(self, group: np.ndarray) -> float:
        """The larger epsilon of a group; the claim, where only one of its words is sanitized."""
        about = np.array([self.inputs[word] not in self.keep for word in group])
        if about.sum() < 2:
            return self.epsilon
        return self._largest(lambda epsilon: _spread(self._table(group, epsilon)[about]))

    def _table(self, group: np.ndarray, epsilon: float) -> np.ndarray:
        """Pr(y | x) within a group, by CusText's formula."""
        log_weights = epsilon / 2 * self._claimed._scores(group, group)
        weights = np.exp(log_weights)
        return weights / weights.sum(axis=1, keepdims=True)


def _spread(rows: np.ndarray) -> float:
    """The tight epsilon of a table."""
    return float(np.log(rows.max(axis=0) / rows.min(axis=0)).max())


def _tight(mechanism: Mechanism) -> float:
    """The tight epsilon of a whole channel: for SanText's it is enough to look at y = x."""
    if isinstance(mechanism, SanText):
        return tight_metric_epsilon(mechanism.channel, mechanism.embeddings, outputs="own")
    return mechanism.guarantee.tight(mechanism.channel)
