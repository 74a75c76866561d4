"""The success of the best matcher that looks for the original of a release among N candidates.

A sanitizer is a noisy channel, the candidates are its code book, and to link is to decode. Here the words of all
documents are independent draws of one prior, one of N documents of equal length goes through the channel word by
word, and the matcher, who has all N, names the one of greatest likelihood (a random one of those where several
have it): no matcher does better. Random codes are Shannon's; their exact error with ties is that of Polyanskiy,
Poor and Verdu (2010, "random coding union", before its union bound); matching of data bases is of Cullina, Mittal
and Kiyavash (2018) and of Shirani, Garg and Erkip (2019).

The score of a candidate x is its information i = sum_t log Pr(y_t | x_t) / Pr(y_t), since Pr(y) is the same for
all. Under the posterior, Pr(x) exp(i), the law of a wrong candidate's score is tilted to where the right one's
lies, so that probabilities of 1e-12 keep their digits:

    Pr(i(X'; y) >= i) = E[exp(-i(X; y)); i(X; y) >= i],  X' from the prior, X from the posterior.
"""

import math
from itertools import product
from typing import NamedTuple

import numpy as np
import scipy

from textsan.base import checks
from textsan.base.blocks import BLOCK, map_blocks, map_jobs
from textsan.channel import Channel
from textsan.evaluation import Estimate
from textsan.leakage.vulnerability import conditional_entropy, entropy
from textsan.privacy import composed_uniform_success

_ENUMERATED = 4096  # pairs of documents and releases up to which all are looked at, and none is drawn
_FEW = 64  # different scores that a released word gives, up to which they are held one by one
_SUMS = 4096  # distinct sums of scores up to which a document's are held one by one
_CELLS = 12, 17  # least and largest binary logarithm of the cells of the grid that else holds the law of a sum
_FINE = 0.02  # standard deviations of a sum within which the grid should know it
_EQUAL = 1e-9  # nats within which two scores are the same
_SURE = 16.0  # nats above log N from which a document is linked but for exp(-16) = 1e-7
_LOWEST = -30.0  # information of a word below which its posterior probability, at most exp(-30), is left out
_REST = 1e-9  # probability that rounding adds up to more than is allowed for
_MEMORY = 1 << 28  # bytes of laws of sums that are made at a time


def mutual_information(prior, channel: Channel) -> float:
    """I(X; Y) = H(X) - H(X | Y) of one word, in nats: what a release tells of its original on average.

    >>> identity = Channel.from_matrix([[1, 0], [0, 1]], inputs=["a", "b"], outputs=["a", "b"])
    >>> round(mutual_information([0.5, 0.5], identity), 4)  # log 2
    0.6931
    """
    p = channel.prior_array(prior)
    return max(0.0, (entropy(p) - conditional_entropy(p, channel)) * math.log(2))


def sharp_information(epsilon: float) -> float:
    """The most that one word of any epsilon-DP channel tells, whatever the prior: A - 1 - log A nats.

    A = epsilon / (1 - exp(-epsilon)). For a released y the ratio Pr(y | X) / Pr(y) has mean 1 and values of a
    range of factor exp(epsilon), and r log r is convex, so that two values bound it. About epsilon^2 / 8 for a
    small epsilon and epsilon - 1 - log epsilon for a large one; approached by subset selection among many equally
    likely words (Wang et al. 2016).

    >>> round(sharp_information(1.0), 4)
    0.1233
    """
    epsilon = checks.epsilon(epsilon)
    if epsilon == 0:
        return 0.0
    excess = epsilon / -math.expm1(-epsilon) - 1
    return excess - math.log1p(excess)


def linkage_threshold(information: float, candidates: int) -> float:
    """log N / I: words from which a document can be told among N, to first order; infinite where I is 0.

    It is Shannon's: from there on, as documents grow, the best matcher succeeds, and below it fails. For texts as
    short as sentences it is poor: scores of twenty words scatter so widely that a document of half the threshold
    is often linked and one of twice it is not always. `linkage_success` is exact.

    >>> round(linkage_threshold(0.27, 1000), 1)
    25.6
    """
    information = checks.number("information", information, low=0)
    nats = math.log(checks.whole("candidates", candidates, low=1))
    return nats / information if information else math.inf


class LinkageLimit(NamedTuple):
    """Bounds on linking a document by a guarantee alone; see `linkage_limit`.

    Attributes:
        composed: by composition of the words.
        fano: by the information that they can carry.
    """

    composed: float
    fano: float

    @property
    def value(self) -> float:
        """The lesser of the two, which holds as well."""
        return min(self)


def linkage_limit(epsilon: float, length: int, candidates: int) -> LinkageLimit:
    """Above which no matcher links a document, by plain epsilon-DP of each of its words alone.

    Every word goes through epsilon-DP, with no groups and no word kept, and N candidates of one length are equally
    likely; their words may hang together in any way. Then the success is at most B (`composed_success` of N equal
    probabilities and `length` words) and, by Fano's inequality, at most (length phi(epsilon) + log 2) / log N, phi
    the `sharp_information`.

    >>> limit = linkage_limit(1.0, 10, 1000)
    >>> round(limit.composed, 3), round(limit.fano, 3)
    (0.417, 0.279)
    """
    length, n = checks.whole("length", length, low=1), checks.whole("candidates", candidates, low=1)
    composed = composed_uniform_success(n, epsilon, length)
    if n == 1:
        return LinkageLimit(composed, 1.0)
    fano = (length * sharp_information(epsilon) + math.log(2)) / math.log(n)
    return LinkageLimit(composed, min(1.0, fano))


def linkage_success(
    prior, channel: Channel, length: int, candidates: int, *, releases: int = 1, draws: int = 200, seed=0
) -> Estimate:
    """Compute how often the best matcher links a document of independent words among N, ties included.

    Given the original and its release, with b the probability that a wrong candidate scores less and a that it
    scores the same, the right one is named with probability ((a + b)^N - b^N) / (N a), which is b^(N - 1) where
    a = 0. In a small world this is summed over all documents and releases. Else it is averaged over some that are
    drawn, each with its exact law of scores: one by one where they are few, or on a grid, whose floor and ceiling
    are the two ends. Of ties the grid knows those of word with word, which the interval then contains.

    Args:
        length: words of each candidate, at least 1. It is released, so that others are excluded for free.
        candidates: N, the original among them, at least 1.
        releases: how often the document is released, each time with fresh noise; the matcher has all of them. They
            are one release through the channel Pr(y_1, .., y_k | x) = Pr(y_1 | x) .. Pr(y_k | x).
        draws: documents drawn, at least 2.

    Returns:
        the success rate, with an interval that holds both the grid's ends and 95 % of the draws.

    >>> coin = Channel.from_matrix([[0.75, 0.25], [0.25, 0.75]], inputs=["a", "b"], outputs=["a", "b"])
    >>> round(linkage_success([0.5, 0.5], coin, length=1, candidates=2).value, 4)
    0.625
    """
    channel = channel.exact("linkage")
    p = channel.prior_array(prior)
    length, n = checks.whole("length", length, low=1), checks.whole("candidates", candidates, low=1)
    releases, draws = checks.whole("releases", releases, low=1), checks.whole("draws", draws, low=2)
    every = _every_pair(p, channel, length, releases)
    if every is None:
        rng = np.random.default_rng(seed)
        x = rng.choice(len(p), (draws, length), p=p)
        each = np.repeat(x.ravel(), releases)
        y = channel.sample(each, rng.random(each.size)).reshape(*x.shape, releases)
        weights = np.full(draws, 1 / draws)
    else:
        x, y, weights = every
    low, high = _Matches(channel, p, x, y, n).ends()
    floor, ceiling = max(float(weights @ low), 1 / n), min(float(weights @ high), 1.0)
    value = (floor + ceiling) / 2
    if every is not None:
        return Estimate(value, floor, ceiling)
    return Estimate(value, _wilson(floor, draws)[0], _wilson(ceiling, draws)[1])


def _wilson(mean: float, n: int) -> tuple[float, float]:
    """The 95 % score interval of the mean of n values in [0, 1], whose variance is largest if all are 0 or 1."""
    z = 1.96
    middle, spread = mean + z**2 / (2 * n), math.sqrt(mean * (1 - mean) / n + (z / (2 * n)) ** 2)
    return max(0.0, (middle - z * spread) / (1 + z**2 / n)), min(1.0, (middle + z * spread) / (1 + z**2 / n))


def _every_pair(p: np.ndarray, channel: Channel, length: int, releases: int):
    """All documents with all their releases and their probabilities, if they are few; else None."""
    possible = np.flatnonzero(p)
    if len(possible) * channel.shape[1] ** min(releases, 64) > _ENUMERATED:
        return None
    joint, rows = p[possible], channel.rows(possible)
    for _ in range(releases):
        joint = joint[..., None] * rows.reshape(len(rows), *[1] * (joint.ndim - 1), -1)
    x, *y = np.nonzero(joint)
    if len(x) ** min(length, 64) > _ENUMERATED:
        return None
    pairs = np.array(list(product(range(len(x)), repeat=length)), dtype=np.intp)
    return possible[x][pairs], np.stack(y, axis=1)[pairs], joint[x, *y][pairs].prod(axis=1)


class _Matches:
    """Documents x, (draws, length) numbers, with their releases y, (draws, length, releases), linked among n."""

    def __init__(self, channel: Channel, p: np.ndarray, x: np.ndarray, y: np.ndarray, n: int):
        self._channel, self._n, self.x, self.y = channel, n, x, y
        self._possible = np.flatnonzero(p)
        self._p = p[self._possible]
        self._place = np.full(len(p), -1)
        self._place[self._possible] = np.arange(len(self._possible))

    def ends(self) -> tuple[np.ndarray, np.ndarray]:
        """The probability that each is linked, from below and from above."""
        self._look()
        # By Markov's inequality a wrong candidate scores i with probability exp(-i) at most.
        low, high = 1 - self._n * np.exp(-np.maximum(self._scores, 0)), np.ones(len(self.x))
        left = []
        for draw in np.flatnonzero(self._scores < math.log(self._n) + _SURE).tolist():
            sums = self._sums(draw)
            if sums is None:
                left.append(draw)
                continue
            values, masses = sums
            tied = np.abs(values - self._scores[draw]) <= _EQUAL
            above = values > self._scores[draw] + _EQUAL
            low[draw] = high[draw] = _linked(masses[above].sum(), masses[tied].sum(), self._n)
        if left:
            low[left], high[left] = self._on_grid(np.array(left))
        return low.clip(0, 1), high.clip(0, 1)

    def _columns(self, columns: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Compute information and posterior probability of what words were released as, for every possible x."""
        information = np.zeros((len(columns), len(self._possible)))
        for column in columns.T:
            information += self._channel.log_columns(column)[:, self._possible]
        joint = information + np.log(self._p)
        marginal = scipy.special.logsumexp(joint, axis=1, keepdims=True)
        return information - marginal, np.exp(joint - marginal)

    def _look(self) -> None:
        """Scores, and of every released word what the rest needs to know."""
        released, at = np.unique(self.y.reshape(-1, self.y.shape[-1]), axis=0, return_inverse=True)
        letters = np.argsort(at, axis=None, kind="stable")
        first = np.searchsorted(at.ravel()[letters], np.arange(len(released) + 1))
        x, score, tied = self._place[self.x.ravel()], np.empty(self.x.size), np.empty(self.x.size)
        moments = np.empty((len(released), 3))  # mean, variance, range
        few: list = [None] * len(released)

        def block(rows):
            information, posterior = self._columns(released[rows])
            for row, values, weights in zip(rows, information, posterior, strict=True):
                mine = letters[first[row] : first[row + 1]]
                score[mine] = values[x[mine]]
                tied[mine] = self._p[x[mine]]  # of many words it is enough to know that one ties with itself
                finite = values > -np.inf
                scores, masses = _few_values(values[finite], self._p[finite])
                if len(scores):
                    few[row] = scores, masses
                    tied[mine] = masses[np.abs(scores[:, None] - score[mine]).argmin(axis=0)]
                seen = values > _LOWEST
                values, weights = values[seen], weights[seen]
                mean = weights @ values
                moments[row] = mean, weights @ (values - mean) ** 2, np.ptp(values)

        for _ in map_blocks(block, np.arange(len(released))):
            pass
        self._released, self._at, self._few = released, at.reshape(self.x.shape), few
        self._scores = score.reshape(self.x.shape).sum(axis=1)
        self._tied = np.exp(np.log(tied).reshape(self.x.shape).sum(axis=1))
        self._moments = moments

    def _sums(self, draw: int) -> tuple[np.ndarray, np.ndarray] | None:
        """All scores of a wrong candidate and their probabilities; None if they are too many."""
        values, masses = np.zeros(1), np.ones(1)
        for row in self._at[draw]:
            if self._few[row] is None:
                return None
            more, prior = self._few[row]
            if len(values) * len(more) > _SUMS * _FEW:
                return None
            values, masses = _merged(np.add.outer(values, more).ravel(), np.multiply.outer(masses, prior).ravel())
            if len(values) > _SUMS:
                return None
        return values, masses

    def _on_grid(self, draws: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The ends of some draws, whose scores of many words are rounded down to multiples of a width."""
        length = self.x.shape[1]
        mean, variance, span = (self._moments[:, i][self._at[draws]] for i in range(3))
        deviations = np.sqrt(variance.sum(axis=1))
        # Sums lie within twelve deviations and three times the widest word of their mean; what lies beyond would
        # come out at the other end of the grid.
        half = 12 * deviations.max() + 3 * span.max() + 1.0
        # What rounding takes of a sum is independent from word to word and of [0, width]: Hoeffding's inequality.
        widths = min(length / 2, math.sqrt(length * math.log(2 / _REST) / 2))
        fine = max(_FINE * float(np.median(deviations)), 1e-6) / widths
        cells = 1 << int(np.clip(math.ceil(math.log2(2 * half / fine)), *_CELLS))
        width = 2 * half / cells
        ends = []
        at_once = max(1, _MEMORY // (8 * cells))
        for start in range(0, len(draws), at_once):
            part = draws[start : start + at_once]
            spectra, taken = self._spectra(part, width, cells)
            for draw, one, rounding, centre in zip(part, spectra, taken, mean.sum(axis=1)[start:], strict=False):
                law = scipy.fft.irfft(one, n=cells)
                numbers = math.floor(centre / width) - cells // 2 + np.arange(cells)
                values = numbers * width + rounding
                ends.append(self._from_law(draw, values, law[numbers % cells].clip(0), widths * width))
        low, high = zip(*ends, strict=True)
        return np.array(low), np.array(high)

    def _spectra(self, draws: np.ndarray, width: float, cells: int) -> tuple[np.ndarray, np.ndarray]:
        """Transform the posterior law of each draw's rounded score, and average what rounding takes."""
        at = self._at[draws]
        wanted = np.unique(at)
        spectra = np.ones((len(draws), cells // 2 + 1), dtype=complex)
        taken = np.zeros(len(self._released))
        found = np.empty((2 * BLOCK, cells // 2 + 1), dtype=complex)  # of a few words: all would fill the memory

        def block(places):
            rows = wanted[start + places]
            information, posterior = self._columns(self._released[rows])
            for place, row, values, weights in zip(places, rows, information, posterior, strict=True):
                seen = values > _LOWEST
                values, weights = values[seen], weights[seen]
                numbers = np.floor(values / width).astype(np.intp)
                found[place] = scipy.fft.rfft(np.bincount(numbers % cells, weights, minlength=cells))
                taken[row] = weights @ (values - numbers * width)

        def multiply(draw):
            mine = np.searchsorted(wanted, at[draw]) - start
            for place in mine[(mine >= 0) & (mine < len(found))]:
                spectra[draw] *= found[place]

        for start in range(0, len(wanted), len(found)):
            list(map_blocks(block, np.arange(min(len(found), len(wanted) - start))))
            list(map_jobs(multiply, range(len(draws))))
        return spectra, taken[at].sum(axis=1)

    def _from_law(self, draw: int, values: np.ndarray, law: np.ndarray, slack: float) -> tuple[float, float]:
        """The ends of one draw, from the posterior law of its score known to `slack`."""
        score, tied = self._scores[draw], self._tied[draw]
        # Exceptions, of rounding or among words that are left out, are rare under the posterior law.
        rest = (_REST + self.x.shape[1] * math.exp(_LOWEST)) * math.exp(-score)
        reach = values + slack >= score
        at_least = law[reach] @ np.exp(-np.maximum(values[reach] - slack, score)) + rest
        surely = values - slack > score
        above = law[surely] @ np.exp(-(values[surely] + slack)) - rest
        at_least, above = min(max(at_least, tied), 1.0), min(max(above, 0.0), 1.0 - tied)
        return _linked(at_least - tied, tied, self._n), _linked(above, tied, self._n)


def _merged(values: np.ndarray, masses: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Equal values once, ascending, with the sum of their masses."""
    order = np.argsort(values)
    values, masses = values[order], masses[order]
    first = np.flatnonzero(np.diff(values, prepend=-np.inf) > _EQUAL)
    return values[first], np.add.reduceat(masses, first)


def _few_values(values: np.ndarray, masses: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Equal values once, where they are few; else none."""
    # Where the first few hundred are nearly all different there is no need to sort the others.
    for some in (slice(4 * _FEW), slice(None)):
        merged = _merged(values[some], masses[some])
        if len(merged[0]) > _FEW:
            return np.empty(0), np.empty(0)
    return merged


def _linked(above: float, tied: float, n: int) -> float:
    """Pr(the right one of n is named), where a wrong one scores more or the same with these probabilities."""
    if above >= 1:
        return float(n == 1)
    log_not_above = math.log1p(-above)
    share = tied / (1 - above)
    if not share:
        return math.exp((n - 1) * log_not_above)
    log_less = math.log1p(-share) if share < 1 else -math.inf
    return math.exp((n - 1) * log_not_above) * -math.expm1(n * log_less) / (n * share)
