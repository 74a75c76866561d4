"""The largest epsilon with a promise: three theorems for one fixed attack, with documents as units (THEORY 25).

An attack hits H of the W words of a document that count; W does not depend on epsilon. Wanted is the largest
epsilon of a grid with H at most a share a of W. What is promised differs:

- the *rate of the source*: E H / E W <= a at the chosen epsilon, but for a chance of at most alpha over the
  documents that chose it (fixed-sequence testing by betting; Angelopoulos et al. 2021, Waudby-Smith and Ramdas
  2024);
- the *next document*: E H <= a E W of one more document, over it and those that chose (Angelopoulos et al. 2024);
- the *next text* of T documents: its own share exceeds a with a chance of at most alpha, over it and those that
  chose.

The first needs independent documents of one source, the others exchangeable ones. All are about that attack, its
knowledge trained on other documents, and one use of the documents that chose. None holds for an attack that is
invented later.
"""

import bisect
import math
from collections.abc import Callable, Sequence

import numpy as np

from textsan.base import checks
from textsan.base.listed import Listed

EPSILONS = tuple(
    float(f"{step}e{power}") for power in range(-2, 2) for step in (1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8)
)
"""The grid: ten values a decade, from 0.01 to 80."""

_LARGEST_BET = 0.9  # of what would lose all in one document: with less, a hundred documents pass little


def greatest_within(value: Callable[[float], float], most: float, levels: Sequence[float] = EPSILONS) -> float:
    """Return the greatest level whose value is at most so much, where values rise with levels; 0 if there is none.

    >>> greatest_within(lambda epsilon: epsilon, 3.5), greatest_within(lambda epsilon: epsilon, 0.001)
    (3.0, 0.0)
    """
    number = bisect.bisect_left(levels, True, key=lambda level: not value(level) <= most)
    return levels[number - 1] if number else 0.0


def source_rate(
    levels: Sequence[float],
    hits: Callable[[float], Sequence[Listed[float]]],
    words: Listed[float],
    share: float,
    *,
    largest: int,
    alpha: float = 0.05,
    spread: float | None = None,
) -> float | None:
    """Return the largest level whose rate at the source is at most a share, but for a chance of alpha.

    The levels are tested in their order, each against "E (H - a W) >= 0", until one is not rejected. For a test a
    gambler bets on each document, by what the documents before it showed: the capital prod (1 - lambda_d Z_d) is a
    supermartingale where the hypothesis holds, and exceeds 1 / alpha with a chance of at most alpha (Ville). So no
    correction for many levels is needed, and no order among the rates. The order of levels is fixed beforehand,
    small epsilons first, and so is B, the most words that count of any document.

    The hits of a level are those of one or more attacks, document by document, between 0 and its words; they are
    asked only as far as is tested. A level is rejected where the hypotheses of all attacks are.

    >>> words = np.full(400, 10)
    >>> source_rate([1.0, 2.0], lambda level: [np.full(400, level)], words, 0.15, largest=10)
    1.0
    """
    sizes, a = _checked(words, share, alpha, largest)
    chosen = None
    for level in levels:
        if not all(rejected(_excess(of_attack, sizes, a), a, largest, alpha, spread) for of_attack in hits(level)):
            break
        chosen = level
    return chosen


def rejected(excess: np.ndarray, share: float, largest: float, alpha: float, spread: float | None = None) -> bool:
    """Test "the mean of the excess H - a W is at least 0" by betting on each document in turn; True rejects it.

    The excess of each document, in the order in which they came, is from -a B to (1 - a) B. `spread` is a guess of
    the mean of its square, of anything but these documents: a good one makes early bets larger, and a bad one
    breaks nothing. None is the largest that it can be.

    >>> rejected(np.full(200, -1.0), 0.5, 10, 0.05), rejected(np.zeros(200), 0.5, 10, 0.05)
    (True, False)
    """
    scale = (1 - share) * largest
    capital, total, square = 0.0, 0.0, 0.25 * scale**2 if spread is None else spread
    for number, z in enumerate(excess.tolist()):
        # The bet that would have grown the capital most, by the mean and the square of what was seen.
        bet = min(max(-total / square, 0.0), _LARGEST_BET / scale) if number else 0.0
        capital += math.log1p(-bet * z)
        if capital >= math.log(1 / alpha):
            return True
        total, square = total + z, square + z * z
    return False


def next_document(
    levels: Sequence[float], hits: Sequence[Listed[float]], words: Listed[float], share: float, *, largest: int
) -> float | None:
    """Return the largest level at which one more document has E H <= a E W (conformal risk control).

    It is the largest with sum_d Z_d + (1 - a) B <= 0, Z_d the running maximum over levels of H_d - a W_d, so that
    what is given up can only grow: the document to come is given the worst that it may have. Levels ascend, hits
    are (levels, documents), and B counts for the document to come, too.

    >>> next_document([1.0, 2.0], [np.full(50, 1), np.full(50, 4)], np.full(50, 10), 0.2, largest=10)
    1.0
    """
    sizes, a = _checked(words, share, 0.5, largest)
    worst, kept = np.full(len(sizes), -np.inf), []
    for at_level in hits:
        worst = np.maximum(worst, _excess(at_level, sizes, a))
        kept.append(bool(worst.sum() + (1 - a) * largest <= 0))
    return _last(levels, kept)


def next_text(
    levels: Sequence[float],
    hits: Sequence[Listed[float]],
    words: Listed[float],
    share: float,
    *,
    documents: int,
    alpha: float = 0.05,
) -> float | None:
    """Return the largest level at which the next text of T documents exceeds a share with chance alpha at most.

    The documents, in an order that says nothing of them, are cut into M blocks of that size. Of the M ratios H /
    W, the largest so far over levels, the k-th smallest counts, k = ceil((1 - alpha) (M + 1)): the next block is
    as likely to have any rank among them. Fewer than k blocks, 19 at 5 %, are refused.

    >>> next_text([1.0, 2.0], [np.full(40, 1), np.full(40, 4)], np.full(40, 10), 0.2, documents=2)
    1.0
    """
    sizes, a = _checked(words, share, alpha)
    size, (number, rank) = documents, blocks(len(sizes), documents, alpha)
    worst, kept = np.zeros(number), []
    total = sizes[: number * size].reshape(number, size).sum(axis=1)
    for at_level in hits:
        _excess(at_level, sizes, a)  # for its checks
        sums = np.asarray(at_level, dtype=float)[: number * size].reshape(number, size).sum(axis=1)
        worst = np.maximum(worst, np.divide(sums, total, out=np.zeros(number), where=total > 0))
        kept.append(bool(np.sort(worst)[rank - 1] <= a))
    return _last(levels, kept)


def blocks(choose: int, ahead: int, alpha: float = 0.05) -> tuple[int, int]:
    """Return M = choose // ahead texts of the documents and k = ceil((1 - alpha) (M + 1)), for `next_text`.

    >>> blocks(400, 20)
    (20, 20)
    """
    checked_share("alpha", alpha)
    size, number = checks.whole("ahead", ahead, low=1), choose // checks.whole("ahead", ahead, low=1)
    rank = math.ceil((1 - alpha) * (number + 1) - 1e-9)
    if rank > number:
        fewest = math.ceil((1 - alpha) / alpha - 1e-9)
        what = f"{choose} documents make {number} texts of {size}, and {fewest} are needed at alpha {alpha:g}"
        raise ValueError(f"ahead: {what}; pass more texts, or promise shorter ones")
    return number, rank


def checked_share(name: str, value: float) -> float:
    """Return a number, checked to be above 0 and below 1; the name of the argument is for the error.

    >>> checked_share("alpha", 0.05)
    0.05
    """
    if not 0 < checks.number(name, value) < 1:
        raise ValueError(f"{name}: {value!r} is out of range; pass a number above 0 and below 1")
    return float(value)


def _last(levels: Sequence[float], kept: Sequence[bool]) -> float | None:
    """The last level before the first that is not kept; what is given up only grows."""
    number = [*kept, False].index(False)
    return levels[number - 1] if number else None


def _excess(hits: Listed[float], sizes: np.ndarray, share: float) -> np.ndarray:
    counts = np.asarray(hits, dtype=float)
    if counts.shape != sizes.shape or not ((counts >= 0) & (counts <= sizes)).all():
        raise ValueError("hits: pass one number a document, from 0 to its words")
    return counts - share * sizes


def _checked(
    words: Listed[float], share: float, alpha: float, largest: float = math.inf
) -> tuple[np.ndarray, float]:
    sizes = np.asarray(words, dtype=float)
    if sizes.max(initial=0) > largest:
        raise ValueError(f"words: a document has {sizes.max():g}, more than {largest}; cut it there")
    if sizes.ndim != 1 or not sizes.any() or not (sizes >= 0).all():
        raise ValueError("words: pass how many words of each document count; one at least has some")
    for name, value in (("share", share), ("alpha", alpha)):
        checked_share(name, value)
    return sizes, float(share)
