"""One rule for every published number and every claim: shown, refuted, or undecided; lack of power is no verdict.

A number that hangs on other vectors, encoders, units of epsilon or text is not comparable, in every paper alike,
however near ours comes (`NOT_COMPARABLE`): a rate over thousands of words can be the same under other vectors of
words, a count for one word cannot. The others are tested, ours u with the standard error s_o against a published v
with s_p.

    agrees      |u - v| < margin is shown: two one-sided tests, with our error
    differs     u ≠ v is shown: a two-sided test, with the errors of both
    undecided   neither; with the sample that would decide

The margin is 1.96 s_p, the published number's own 95 % band, and never more than 3 points of a rate (of the rate
above the line, for a ratio) or 15 % of a count. The published error is in it already, and no number can both agree
and differ. Agreement must be able to fail: where "nothing changes" agrees as well the row is *trivial*
(`nothing_agrees`). A published *limit* has no margin: ours is shown to be on the stated side, or on the other one
even with the error of the paper's own sample. Claims made in words are decided by the same one-sided tests
(`textsan_book.judging.claims`).

A standard error is the width of a 95 % interval over 3.92, and p-values are normal: with thousands of positions
that is no approximation to worry about, with a hundred it is a rough one. Within a table, and within a claim, they
are corrected by Holm's method, those of equivalence and those of difference each for themselves, so that a single
false "agrees" has a probability of at most 5 %, and so has a single false "differs". Rows of `DETECTORS` count
only where their column `gate` says "passed".
"""

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from scipy.special import ndtr, ndtri

from textsan.evaluation import Estimate, hit_rate
from textsan.sweeps.tables import pooled

LEVEL = 0.05
Z = 1.959963984540054
"""Half the width of a 95 % interval, in standard errors."""

MOST_OF_A_RATE, MOST_OF_A_COUNT = 0.03, 0.15
"""The largest margins: three points of a rate, 15 % of a count."""

LITTLE = 0.05
"""An excess of main over control that is shown to be at most this is called "not seen"."""

VERDICTS = ("agrees", "differs", "undecided", "detector untrained", "not comparable", "not run", "no result")

NOT_COMPARABLE = {
    "no number": "the paper prints no number",
    "unit": "epsilon counts in a unit of distance, or of scores, that our vectors do not have",
    "fitted": "epsilon was fitted to this number, so that its neighbours can be compared",
    "unstated": "the paper does not state what it is measured on",
    "corpus": "other text, another list of words, or another routine",
    "vectors": "a property of one word's neighbours, and those are of other vectors",
    "reader": "our mask inference fills blanks from a table of word triples, where the paper has BERT",
    "encoder": "a property of an encoder, and ours is another one",
    "positions": "the two rates of ours are from different positions",
    "protocol": "another encoder, not fine-tuned, that has learnt from far fewer sentences",
    "smaller": "fine-tuned as the papers do, on nearly as many sentences, but a smaller encoder",
    "few": "ten sentences and another victim: the chapter sets the numbers side by side",
    "reach": "our grid of epsilon does not reach the published success",
}
"""Why a number of ours, or of the paper, cannot be compared: one of these, and nothing else."""

NO_RESULT = {
    "setting": "a setting, no result",
    "machine": "the time of another machine, or with another training budget",
    "text": "an example in words",
}
"""Numbers of a paper that are no result."""

DETECTORS = ("contextual", "contextual bound", "density ratio")
"""Attacks and bounds that rest on a trained detector."""


def untrained(row: Mapping) -> bool:
    """Tell if a row of a result table rests on a detector that has not passed the gate."""
    return str(row.get("attack")).casefold() in DETECTORS and row.get("gate") != "passed"


def standard_error(estimate: Estimate) -> float:
    """Compute the standard error of a value with its 95 % interval, taken as normal.

    >>> round(standard_error(Estimate(0.5, 0.402, 0.598)), 3)
    0.05
    """
    return (estimate.high - estimate.low) / (2 * Z)


class Excess(NamedTuple):
    """The verdict of draws on an excess of main over control: "given away", "not seen" or "undecided".

    `pooled` is the mean excess of the draws with one interval.
    """

    verdict: str
    pooled: Estimate

    def __str__(self) -> str:
        if self.verdict == "given away":
            return self.verdict
        return f"{self.verdict} (at most {math.ceil(100 * self.pooled.high - 1e-9) / 100:.2f})"


def of_excess(draws: Sequence[Estimate], sizes: Sequence[int]) -> Excess:
    """Judge an excess of main over control by the pooled interval of its draws, each a seed and a corpus.

    It is given away if the interval lies above 0, not seen if the interval holds 0 and ends at `LITTLE` at most,
    and undecided else: an interval that holds 0 shows that little is given away only where its upper end is small.
    An interval without width, of a draw in which all documents agree, is given that of a rate of which none of its
    documents was hit.

    >>> str(of_excess([Estimate(0.2, 0.1, 0.3), Estimate(0.1, 0.0, 0.2)], [100, 100]))
    'given away'
    >>> str(of_excess([Estimate(0.0, 0.0, 0.0)], [100])), str(of_excess([Estimate(0.1, -0.1, 0.3)], [20]))
    ('not seen (at most 0.04)', 'undecided (at most 0.30)')
    """
    wide = []
    for draw, documents in zip(draws, sizes, strict=True):
        half = hit_rate(np.zeros(int(documents), dtype=bool)).high if draw.high == draw.low else 0.0
        wide.append(Estimate(draw.value, draw.low - half, draw.high + half))
    excess = Estimate(*(max(-1.0, min(1.0, end)) for end in pooled(wide)))
    if excess.low > 0:
        return Excess("given away", excess)
    return Excess("not seen" if excess.high <= LITTLE else "undecided", excess)


def rate_error(rate: float, positions: float) -> float:
    """Compute the binomial standard error of a published rate, in [0, 1], of so many positions."""
    return math.sqrt(rate * (1 - rate) / positions)


def holm(p_values: Sequence[float]) -> list[float]:
    """Correct p-values for being several (Holm 1979): each is significant at a level if the corrected one is.

    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    corrected, largest = [0.0] * len(p_values), 0.0
    for rank, i in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        largest = max(largest, (len(p_values) - rank) * p_values[i])
        corrected[i] = min(1.0, largest)
    return corrected


def p_below(gap: float, error: float) -> float:
    """Compute the probability of an estimate as low as `gap` of a difference that is not below zero (one-sided).

    Without an error the answer is certain.

    >>> round(p_below(-1.645, 1.0), 3), p_below(-0.1, 0.0), p_below(0.1, 0.0)
    (0.05, 0.0, 1.0)
    """
    if error == 0:
        return float(gap >= 0)
    return float(ndtr(gap / error))


class Comparison(NamedTuple):
    """A number of ours beside a published one, with the standard errors of both.

    `gap` is ours minus theirs; `margin`, how far ours may be and still agree; `limit`, "upper" or "lower" if the
    paper says that the truth is below or above its number, else empty.
    """

    gap: float
    error: float
    published_error: float
    margin: float
    limit: str = ""

    @property
    def both(self) -> float:
        """Standard error of the difference."""
        return math.hypot(self.error, self.published_error)

    @property
    def p_agrees(self) -> float:
        """The p-value that ours only looks equivalent, or on the right side of a limit."""
        if self.limit:
            return p_below(self._beyond, self.error)
        return p_below(abs(self.gap) - self.margin, self.error)

    @property
    def p_differs(self) -> float:
        """The p-value that the difference, or the crossing of a limit, is of chance."""
        if self.limit:
            return p_below(-self._beyond, self.both)
        return min(1.0, 2 * p_below(-abs(self.gap), self.both))

    @property
    def _beyond(self) -> float:
        return self.gap if self.limit == "upper" else -self.gap

    def factor(self, tests: int = 1) -> float:
        """Return the multiple of our positions that would decide if both numbers stayed; inf if none would.

        Holm's method counts so many tests, all of them at worst.
        """
        one_sided, two = -ndtri(LEVEL / tests), -ndtri(LEVEL / tests / 2)
        if self.limit:
            return (one_sided * self.error / self.gap) ** 2 if self._beyond < 0 else self._apart(one_sided)
        room = self.margin - abs(self.gap)
        to_agree = (one_sided * self.error / room) ** 2 if room > 0 else math.inf
        return min(to_agree, self._apart(two))

    def _apart(self, z: float) -> float:
        """The multiple of our positions that shows a difference of this size."""
        left = (self.gap / z) ** 2 - self.published_error**2
        return self.error**2 / left if left > 0 else math.inf


def margin(published_error: float, most: float) -> float:
    """Compute how far ours may be from a published number and still agree: its 95 % band, `most` at most."""
    return min(Z * published_error, most)


def nothing_agrees(gap: float, margin: float) -> bool:
    """Tell if "nothing changes" agrees with a published number as well: then agreement with it says nothing.

    `gap` is what "nothing changes" predicts, minus the published number; a prediction has no error.

    >>> nothing_agrees(0.007, 0.0135), nothing_agrees(0.05, 0.0135)
    (True, False)
    """
    return abs(gap) < margin


def judge(comparisons: Sequence[Comparison]) -> list[str]:
    """Decide each number of one table, "agrees", "differs" or "undecided", corrected for being several.

    >>> near, far, coarse = (Comparison(*one, 0.009, 0.018) for one in ((0.0, 0.002), (0.1, 0.002), (0.01, 0.02)))
    >>> judge([near, far, coarse])
    ['agrees', 'differs', 'undecided']
    """
    agree, differ = holm([one.p_agrees for one in comparisons]), holm([one.p_differs for one in comparisons])
    both = zip(agree, differ, strict=True)
    return ["agrees" if a <= LEVEL else "differs" if d <= LEVEL else "undecided" for a, d in both]
