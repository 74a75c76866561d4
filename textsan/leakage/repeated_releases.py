"""The query attack: how many releases of one text betray a word by their mode (Chen et al. 2023, Table 2).

Each release draws y from the row Pr(. | x) anew; the attacker answers the word drawn most often, and one of the
words drawn most often at random where several are. N is the fewest draws after which the answer is x with the
wanted confidence. If the mode of the row is not x, or shared, no number of draws gets there: N is infinite.

The answer's success never falls with n: among all relabellings of the row it is the maximum-likelihood rule,
equally good for each of them, and more draws cannot hurt the best rule. So N is found by bisection. (Ties that
count as misses would make an even number of draws worse than the odd one before it.)
"""

import math
from bisect import bisect_left
from typing import Any

import numpy as np
import scipy

from textsan.base import checks

_NEGLIGIBLE = 1e-10  # what all rivals that are left out can change of a probability, together
_TINY = 1e-14  # what a count of x, or a tie of more rivals than are looked at, can change of it
_ORDERS = np.arange(1, 100)
_LEVEL = 1e-6  # a lead below this share of Pr(x | x) counts as none; N would be above 10^12


def mode_probability(row, x: int, n: int, *, ties: str = "split") -> float:
    """Pr(x is the answer after n draws from `row`), exact within 1e-9.

    The counts of n draws are independent Poisson counts of means n Pr(y | x), given that they sum to n (Levin
    1981). With e_c = Pr(Poisson(n Pr(x | x)) = c) and z the roots of unity of order L,

        Pr(win) = 1 / (L Pr(Poisson(n) = n)) sum_z z^-n sum_c e_c z^c int_0^1 prod_y (F_y(z) + u f_y(z)) du,

    F_y the part of rival y's generating function below c and f_y its term c: u^j integrates to the 1 / (j + 1)
    that x keeps of a tie with j others. Sums that differ from n by a multiple of L are confused with it, which
    L = 10 sqrt(n) makes negligible; so is what rivals left out by Chernoff's bound could win.

    Args:
        row: (n_out,) probabilities, Pr(. | x).
        x: position of x in the row.
        n: number of draws, at least 1.
        ties: "split" evenly among the words drawn most often, or "lose": x must be drawn more than any other.

    >>> round(mode_probability([0.6, 0.4], 0, 3), 6)  # two or three of three: 0.36 * (3 - 2 * 0.6)
    0.648
    """
    own, rivals = _split(row, x)
    n = checks.whole("n", n, low=1)
    checks.choice("ties", ties, ("split", "lose"))
    if not own:
        return 0.0
    rivals = np.sort(rivals)
    some = rivals[np.cumsum(_overtaking(own, rivals, n)) > _NEGLIGIBLE]
    if not len(some):
        return 1.0
    means, repeats = np.unique(some, return_counts=True)
    means = n * means[:, None]
    length = 2 * (int(10 * math.sqrt(n)) // 2 + 15) + 1
    # The sum is real: half of the roots of unity, an odd number of them, stand for all.
    half = np.arange(length // 2 + 1)
    step = -2j * np.pi / length * half
    first, last = scipy.stats.binom.ppf([1e-14, 1 - 1e-14], n, own).astype(int)
    first = max(first, 1)
    below: np.ndarray = np.zeros((len(means), length))
    known = np.arange(first)
    places: Any = (slice(None), known % length)  # NumPy's stubs know no slices here
    np.add.at(below, places, scipy.stats.poisson.pmf(known, means))
    below = np.fft.rfft(below, axis=1)
    total = np.zeros(len(half), dtype=complex)
    at_n = scipy.stats.poisson.pmf(n, n)
    for c in range(first, last + 1):
        turn = np.exp(step * (c % length))
        exactly, at_most = scipy.stats.poisson.pmf(c, means), scipy.stats.poisson.cdf(c, means)
        at = exactly * turn
        own_weight = scipy.stats.poisson.pmf(c, n * own)
        if own_weight * np.prod(at_most[:, 0] ** repeats) < _TINY * at_n:
            below += at
            continue
        # More rivals than `degree` do not tie with x: there are no more, the draws do not suffice, or, as
        # Pr(at least d) <= tied^d / d!, it is too rare. Gauss-Legendre is exact up to that degree.
        with np.errstate(divide="ignore"):
            log_tied = np.log(repeats @ (exactly / at_most)[:, 0])
        rare = _ORDERS * log_tied - scipy.special.gammaln(_ORDERS + 1) < math.log(_TINY * at_n)
        degree = min(len(some), (n - c) // c, int(rare.argmax()) if rare.any() else n)
        nodes, weights = np.polynomial.legendre.leggauss(degree // 2 + 1)
        if ties == "lose":
            nodes, weights = np.array([-1.0]), np.array([2.0])
        product = sum(
            weight / 2 * np.prod((below + (node + 1) / 2 * at) ** repeats[:, None], axis=0)
            for node, weight in zip(nodes, weights, strict=True)
        )
        total += own_weight * turn * product
        below += at
    free = max(0.0, 1 - own - some.sum())  # words that cannot win, but may be drawn
    total *= np.exp(n * free * (np.exp(step) - 1)) * np.exp(-step * (n % length))
    value = (2 * total.real.sum() - total[0].real) / length / at_n
    return float(np.clip(value, 0.0, 1.0))


def queries_bounds(row, x: int, confidence: float = 0.95) -> tuple[float, float]:
    """Bound `queries_needed`, certified and cheap for rows of any length; both infinite where N is.

    From below the strongest rival alone: x must be drawn more often than it. From above all rivals by a union
    bound: Pr(y is drawn as often as x) <= (1 - (sqrt Pr(x|x) - sqrt Pr(y|x))^2)^n (Chernoff).

    >>> low, high = queries_bounds([0.6, 0.4], 0)
    >>> low <= queries_needed([0.6, 0.4], 0) <= high
    True
    """
    own, rivals = _split(row, x)
    if not 0.5 < checks.number("confidence", confidence) < 1:
        raise ValueError(f"confidence: {confidence!r} is out of range; pass a number above 0.5 and below 1")
    strongest = rivals.max(initial=0.0)
    if own <= strongest * (1 + _LEVEL):
        return math.inf, math.inf
    if not strongest:
        return 1, 1
    enough = math.log((1 - confidence) / len(rivals)) / _log_overtaking(own, strongest)
    draws = range(1, math.ceil(enough) + 1)
    high = _first(draws, lambda n: _overtaking(own, rivals, n).sum() <= 1 - confidence)
    low = _first(range(1, high + 1), lambda n: _ahead(own, strongest, n) >= confidence)
    return low, high


def queries_needed(row, x: int, confidence: float = 0.95) -> float:
    """N, the fewest draws after which the answer is x with the wanted confidence; exact, by `mode_probability`.

    Each evaluation costs about n times the number of rivals; where N is above 10^6, `queries_bounds` may do.

    Args:
        confidence: above 0.5 and below 1. At 0.5 and below, a mode that is shared would do.

    Returns:
        an int, or inf where the mode of the row is not x alone, or leads by less than a millionth of itself (N is
        above 10^12).

    >>> queries_needed([0.9, 0.1], 0), queries_needed([0.4, 0.6], 0)
    (3, inf)
    """
    low, high = queries_bounds(row, x, confidence)
    if low == high:
        return low
    return _first(range(int(low), int(high) + 1), lambda n: mode_probability(row, x, n) >= confidence)


def _split(row, x) -> tuple[float, np.ndarray]:
    """Pr(x | x) and the probabilities of all others."""
    row = np.asarray(row, dtype=np.float64)
    if row.ndim != 1 or not (row >= 0).all() or abs(row.sum() - 1) > 1e-9:
        raise ValueError("row: no distribution; pass one row of probabilities that sum to 1")
    if not checks.whole("x", x) < len(row):
        raise ValueError(f"x: {x} lies outside of a row of {len(row)} words; pass channel.output_index[word]")
    return min(float(row[x]), 1.0), np.delete(row, x)


def _first(draws: range, enough) -> int:
    """The first of `draws` that is enough, given that the last one is and all after the first are."""
    return draws[bisect_left(draws[:-1], True, key=enough)]


def _log_overtaking(own: float, rivals):
    """Chernoff's exponent a draw; 0 for a rival that is at least as likely."""
    return np.log1p(-((math.sqrt(own) - np.sqrt(np.minimum(rivals, own))) ** 2))


def _overtaking(own: float, rivals: np.ndarray, n: int) -> np.ndarray:
    """At least Pr(a rival is drawn as often as x, or more), for each rival of positive probability."""
    with np.errstate(divide="ignore"):
        return np.where(rivals > 0, np.exp(n * _log_overtaking(own, rivals)), 0.0)


def _ahead(own: float, rival: float, n: int) -> float:
    """Pr(x is drawn more often than one rival) + Pr(as often) / 2."""
    either = min(own + rival, 1.0)
    ends = scipy.stats.binom.ppf([1e-14, 1 - 1e-14], n, either)
    both = np.arange(ends[0], ends[1] + 1)
    share = own / (own + rival)
    ahead = scipy.stats.binom.sf(both // 2, both, share)
    ahead += np.where(both % 2 == 0, scipy.stats.binom.pmf(both // 2, both, share) / 2, 0.0)
    return float(scipy.stats.binom.pmf(both, n, either) @ ahead)
