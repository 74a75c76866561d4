"""CusText's promise kept by the channel that loses least: an optimum within each group, in place of a formula."""

from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Literal

import numpy as np
from tqdm import tqdm

from textsan.base import cache, checks
from textsan.base.blocks import map_jobs
from textsan.base.signatures import takes_parameters_of
from textsan.channel import Channel
from textsan.channel.optimal import private_channel
from textsan.mechanisms.base import Oov
from textsan.mechanisms.custext import CusText
from textsan.mechanisms.table import grouped_channel
from textsan.mechanisms.vectors import public_prior
from textsan.text.embeddings import Embeddings
from textsan.text.vocabulary import STOP_WORDS

_FEW = 50  # groups that are not worth keeping
_PRICES = 20  # of a unit of vulnerability, that are tried at most for a success rate
_DEAREST = 100.0  # price, of the largest loss, at which vulnerability alone counts
_ALIKE = 1e-12  # success rates that differ by rounding alone
_NEAR = 2e-3  # share of loss and price that a better channel might save, at which to stop


class OptimalCusText(CusText):
    """The epsilon-DP channel of least expected distance within each group of CusText's Algorithm 1.

    The groups and the promise are those of CusText (Chen et al. 2023): epsilon-DP of two words of one group. But
    the rows solve a linear programme (`channel.optimal.private_channel`) for a public prior, while CusText's
    exponential mechanism spends part of its epsilon on normalisation. At a small epsilon few of a group's words
    are released at all: a release has fewer different words, which no distance shows.

    With a `success` the channel loses least among those whose Bayes vulnerability under the public prior is at
    most that: a price of vulnerability, the same in all groups, is searched for, and two channels are mixed.

    Args:
        embeddings, epsilon: as for `CusText`.
        counts: word counts of public text; None is the order of the vocabulary, the r-th word weighing 1 / r. Kept
            words count as never met.
        similarity: which words are close, and what is lost: "euclidean" distance, or "cosine", one less the
            cosine.
        success: the largest Bayes vulnerability, under the public prior, of a word that is not kept; None bounds
            none.
        k, keep, oov, numbers: as for `CusText`.

    Raises:
        ValueError: an argument out of range, or a success rate below what the groups alone give away.

    >>> words = Embeddings(["good", "nice", "bad", "poor"], [[0.0], [1.0], [9.0], [8.0]])
    >>> OptimalCusText(words, epsilon=2, k=2, counts={}.fromkeys(words.words, 1)).channel.rows(["good"]).round(3)
    array([[0.881, 0.119, 0.   , 0.   ]])
    """

    def __init__(
        self,
        embeddings: Embeddings,
        epsilon: float,
        *,
        counts: Mapping[str, int] | None = None,
        k: int = 20,
        similarity: Literal["euclidean", "cosine"] = "euclidean",
        success: float | None = None,
        keep: Iterable[str] = (),
        oov: Oov = "uniform",
        numbers: Literal["keep", "jitter"] | None = None,
    ):
        super().__init__(embeddings, epsilon, k=k, similarity=similarity, keep=keep, oov=oov, numbers=numbers)
        self.counts = counts
        self.success = None if success is None else checks.number("success", success, 0, 1)

    @property
    def parameters(self) -> dict:
        return {name: value for name, value in super().parameters.items() if name != "outputs"}

    @cached_property
    def channel(self) -> Channel:
        """The channel; its tables are computed once for the same words, counts and parameters, and kept."""
        if len(self.groups) <= _FEW:
            entries = self._entries()
        else:
            sizes = np.array([len(group) for group in self.groups])
            losses = np.concatenate([self._losses(group).ravel() for group in self.groups])
            inputs = [self.epsilon, self._allowed, sizes, losses, self.joints]
            kept = cache.arrays("channels", inputs, lambda: {"entries": self._entries()}, code=__name__)
            entries = kept["entries"]
        return grouped_channel(self.inputs, self.groups, self._split(entries)).keeping(self.keep)

    @cached_property
    def prior(self) -> np.ndarray:
        """The public prior of words that are not kept, (V,); nought for those that are."""
        p = public_prior(self.counts, self.inputs)
        p = np.where([word in self.keep for word in self.inputs], 0.0, p)
        return p / p.sum() if p.sum() > 0 else p

    @property
    def joints(self) -> np.ndarray:
        """Pr(x, class) of the classes that the guess may know, (classes, V): here one."""
        return self.prior[None]

    @property
    def _allowed(self) -> float | None:
        """The largest success of the guess; None bounds none."""
        return self.success

    def _losses(self, group: np.ndarray) -> np.ndarray:
        far = self._dissimilarity(self._points[group], self._points[group])
        return far if self.similarity == "euclidean" else far + 1

    def _entries(self) -> np.ndarray:
        """The tables of all groups, one after another."""
        allowed = self._allowed
        if allowed is None:
            return self._priced(0.0)
        least = sum(self.joints[:, group].max(axis=1).sum() for group in self.groups)
        if allowed < least - 1e-12:
            raise ValueError(
                f"success: {allowed:g} is below what the groups give away; pass {least:.6g} or a larger k"
            )
        dear = self._priced(0.0)
        if self._taken(dear)[0] <= allowed:
            return dear
        far = max(0.0, *(self._losses(group).max() for group in self.groups))  # rounding may leave less than 0
        cheap = self._priced(_DEAREST * far)
        if self._taken(cheap)[0] > allowed:  # the solver's tolerance: equal rows give away the least, exactly
            cheap = np.concatenate([np.full(len(group) ** 2, 1 / len(group)) for group in self.groups])
        for _ in range(_PRICES):
            (high, less), (low, more) = self._taken(dear), self._taken(cheap)
            if high - low <= _ALIKE:
                return cheap  # nothing lies between the two
            price = max(more - less, 0.0) / (high - low)  # at which the two are worth the same
            found = self._priced(price)
            v, loss = self._taken(found)
            if less + price * high - (loss + price * v) <= _NEAR * (less + price * high):
                break  # no channel is better than a mixture of the two by more
            if v > allowed:
                dear = found
            else:
                cheap = found
        high, low = self._taken(dear)[0], self._taken(cheap)[0]
        # V is convex: that of the mixture is no more than the mixture of both
        share = np.clip((allowed - low) / (high - low), 0.0, 1.0)
        return share * dear + (1 - share) * cheap

    def _priced(self, price: float) -> np.ndarray:
        def table(group):
            prior, losses, joints = self.prior[group], self._losses(group), self.joints[:, group]
            return private_channel(prior, losses, self.epsilon, price=price, joints=joints).ravel()

        done = tqdm(map_jobs(table, self.groups), "groups", len(self.groups), unit="group", disable=None, delay=2)
        return np.concatenate(list(done))

    def _taken(self, entries: np.ndarray) -> tuple[float, float]:
        """Success of the guess and expected loss of tables under the public prior."""
        v, loss = 0.0, 0.0
        for group, table in zip(self.groups, self._split(entries), strict=True):
            v += (self.joints[:, group, None] * table).max(axis=1).sum()
            loss += (self.prior[group][:, None] * table * self._losses(group)).sum()
        return v, loss

    def _split(self, entries: np.ndarray) -> list[np.ndarray]:
        """The tables that stand in one array, each of its own shape."""
        ends = np.cumsum([len(group) ** 2 for group in self.groups])
        parts = np.split(entries, ends[:-1])
        return [part.reshape(len(group), -1) for group, part in zip(self.groups, parts, strict=True)]


@takes_parameters_of(OptimalCusText)
def optimal_custext_plus(
    embeddings: Embeddings, epsilon: float, *, keep: Iterable[str] = (), **settings
) -> OptimalCusText:
    """Make OptimalCusText with stop words released verbatim, as CusText+ does.

    Args:
        embeddings, epsilon, settings: as for `OptimalCusText`.
        keep: words that are released verbatim, too.

    >>> optimal_custext_plus(Embeddings(["the", "cat"], [[0.0], [1.0]]), 1.0, k=2).channel.rows(["the"])
    array([[1., 0.]])
    """
    return OptimalCusText(embeddings, epsilon, keep=STOP_WORDS | checks.words("keep", keep), **settings)
