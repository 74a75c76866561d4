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

import math
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from textsan.base import checks
from textsan.base.listed import Listed

Hits = np.ndarray
"""(documents,) hits of each document at one epsilon."""

_LARGEST_BET = 0.75  # of what would lose all in one document


def source_rate(
    levels: Sequence[float],
    hits: Callable[[float], Sequence[Listed[float]]],
    words: Listed[float],
    share: float,
    *,
    largest: int,
    alpha: float = 0.05,
) -> float | None:
    """The largest level whose rate at the source is at most a share, but for a chance of alpha.

    The levels are tested in their order, each against "E (H - a W) >= 0", until one is not rejected. For a test a
    gambler bets on each document, by what the documents before it showed: the capital prod (1 - lambda_d Z_d) is a
    supermartingale where the hypothesis holds, and exceeds 1 / alpha with a chance of at most alpha (Ville). So no
    correction for many levels is needed, and no order among the rates.

    Args:
        levels: in the order in which they are tested, fixed beforehand; small epsilons first.
        hits: of a level, for each of one or more attacks its hits document by document; asked only as far as is
            tested. A level is rejected where the hypotheses of all attacks are.
        words: (documents,) words that count; hits are between 0 and these.
        share: a, above 0 and below 1.
        largest: B, the most words that count of any document, fixed beforehand.
        alpha: chance of a broken promise, above 0 and below 1.

    Returns:
        the last level that was rejected before the first that was not; None if there is none.

    Raises:
        ValueError: no document with a word, or numbers out of range.

    >>> words = np.full(400, 10)
    >>> source_rate([1.0, 2.0], lambda level: [np.full(400, level)], words, 0.15, largest=10)
    1.0
    """
    sizes, a = _checked(words, share, alpha, largest)
    chosen = None
    for level in levels:
        if not all(rejected(_excess(one, sizes, a), a, largest, alpha) for one in hits(level)):
            break
        chosen = level
    return chosen


def rejected(excess: np.ndarray, share: float, largest: float, alpha: float) -> bool:
    """Whether "the mean of the excess H - a W is at least 0" is rejected, by betting on each document in turn.

    Args:
        excess: (documents,) in the order in which they came, from -a B to (1 - a) B.
        share: a.
        largest: B, the most words of any document.
        alpha: chance of rejecting what is true.

    >>> rejected(np.full(200, -1.0), 0.5, 10, 0.05), rejected(np.zeros(200), 0.5, 10, 0.05)
    (True, False)
    """
    scale = (1 - share) * largest
    capital, total, square = 0.0, 0.0, 0.25 * scale**2  # before any document: a guess of the spread
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
    """The largest level at which one more document has E H <= a E W (conformal risk control).

    It is the largest with sum_d Z_d + (1 - a) B <= 0, Z_d the running maximum over levels of H_d - a W_d, so that
    what is given up can only grow: the document to come is given the worst that it may have.

    Args:
        levels: ascending.
        hits: (levels, documents).
        words: (documents,) words that count.
        share: a, above 0 and below 1.
        largest: B, the most words that count of any document, the one to come too.

    Returns:
        a level; None if the smallest does not keep it.

    Raises:
        ValueError: no document with a word, or numbers out of range.

    >>> next_document([1.0, 2.0], [np.full(50, 1), np.full(50, 4)], np.full(50, 10), 0.2, largest=10)
    1.0
    """
    sizes, a = _checked(words, share, 0.5, largest)
    kept = [excess.sum() + (1 - a) * largest <= 0 for excess in _worst(hits, sizes, a)]
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
    """The largest level at which the next text of T documents exceeds a share with a chance of at most alpha.

    The documents are cut into M blocks of that size. Of the M ratios H / W, the largest so far over levels, the
    k-th smallest counts, k = ceil((1 - alpha) (M + 1)): the next block is as likely to have any rank among them.

    Args:
        levels: ascending.
        hits: (levels, documents), in an order that says nothing of them.
        words: (documents,) words that count.
        share: a, above 0 and below 1.
        documents: T, at least 1.
        alpha: chance of a broken promise.

    Returns:
        a level; None if the smallest does not keep it.

    Raises:
        ValueError: fewer blocks than ceil((1 - alpha) (M + 1)), 19 at 5 %, or numbers out of range.

    >>> next_text([1.0, 2.0], [np.full(40, 1), np.full(40, 4)], np.full(40, 10), 0.2, documents=2)
    1.0
    """
    sizes, a = _checked(words, share, alpha)
    size, (number, rank) = documents, blocks(len(sizes), documents, alpha)
    worst, kept = np.zeros(number), []
    total = sizes[: number * size].reshape(number, size).sum(axis=1)
    for one in hits:
        _excess(one, sizes, a)  # for its checks
        sums = np.asarray(one, dtype=float)[: number * size].reshape(number, size).sum(axis=1)
        worst = np.maximum(worst, np.divide(sums, total, out=np.zeros(number), where=total > 0))
        kept.append(bool(np.sort(worst)[rank - 1] <= a))
    return _last(levels, kept)


def blocks(choose: int, ahead: int, alpha: float = 0.05) -> tuple[int, int]:
    """How many texts the documents make, and the rank k of the one that counts, for `next_text`.

    Args:
        choose: documents that choose.
        ahead: documents of a text, at least 1.
        alpha: chance of a broken promise, above 0 and below 1.

    Returns:
        M = choose // ahead, and k = ceil((1 - alpha) (M + 1)).

    Raises:
        ValueError: fewer texts than that rank.

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
    """A number above 0 and below 1.

    Args:
        name: of the argument, for the error.
        value: given.

    Raises:
        ValueError: it is not.

    >>> checked_share("alpha", 0.05)
    0.05
    """
    if not 0 < checks.number(name, value) < 1:
        raise ValueError(f"{name}: {value!r} is out of range; pass a number above 0 and below 1")
    return float(value)


def _worst(hits: Sequence[Listed[float]], sizes: np.ndarray, share: float) -> Iterator[np.ndarray]:
    """The running maximum over levels of H_d - a W_d."""
    worst = np.full(len(sizes), -np.inf)
    for one in hits:
        worst = np.maximum(worst, _excess(one, sizes, share))
        yield worst


def _last(levels: Sequence[float], kept: Sequence[bool]) -> float | None:
    """The last level before the first that is not kept; what is given up only grows."""
    number = next((at for at, one in enumerate(kept) if not one), len(kept))
    return levels[number - 1] if number else None


def _excess(hits: Listed[float], sizes: np.ndarray, share: float) -> np.ndarray:
    found = np.asarray(hits, dtype=float)
    if found.shape != sizes.shape or not ((found >= 0) & (found <= sizes)).all():
        raise ValueError("hits: pass one number a document, from 0 to its words")
    return found - share * sizes


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
