"""Windows of twenty bases around splice sites, as in Pan et al. 2020, from a model of donor and acceptor sites.

For where the splice-junction data are not at hand.
"""

from collections.abc import Sequence

import numpy as np

from textsan.base import checks
from textsan_book.studies.genome import BASES, LENGTH, numbered

KINDS = ("donor", "acceptor", "none")

# Rounded frequencies of A, C, G, T beside human splice sites, after Shapiro and Senapathy (1987).
_DONOR = {
    7: (0.32, 0.37, 0.19, 0.12),
    8: (0.60, 0.13, 0.12, 0.15),
    9: (0.09, 0.03, 0.80, 0.08),
    10: (0, 0, 1, 0),
    11: (0, 0, 0, 1),
    12: (0.59, 0.03, 0.35, 0.03),
    13: (0.71, 0.08, 0.12, 0.09),
    14: (0.07, 0.05, 0.84, 0.04),
    15: (0.16, 0.16, 0.22, 0.46),
}
_ACCEPTOR = {i: (0.10, 0.32, 0.12, 0.46) for i in range(6)} | {
    6: (0.24, 0.30, 0.20, 0.26),
    7: (0.05, 0.65, 0.01, 0.29),
    8: (1, 0, 0, 0),
    9: (0, 0, 1, 0),
    10: (0.25, 0.14, 0.51, 0.10),
}


def frequencies(kind: str) -> np.ndarray:
    """Compute Pr(base) at each position of a window, (20, 4).

    A "donor" or "acceptor" site is between positions 9 and 10; of "none" every base is as likely as every other.
    """
    known = {"donor": _DONOR, "acceptor": _ACCEPTOR, "none": {}}[checks.choice("kind", kind, KINDS)]
    return np.array([known.get(position, (0.25,) * 4) for position in range(LENGTH)], dtype=float)


def generate(n: int, seed, kinds: Sequence[str] = KINDS) -> list[str]:
    """Draw windows, the kinds in turn."""
    n, random = checks.whole("n", n), np.random.default_rng(seed)
    ends = [frequencies(kind).cumsum(axis=1) for kind in kinds]
    windows = []
    for at, row in enumerate(random.random((n, LENGTH))):
        bases = (row[:, None] >= ends[at % len(kinds)][:, :3]).sum(axis=1)
        windows.append("".join(BASES[base] for base in bases))
    return windows


def window(sequence: str) -> str | None:
    """Cut the twenty bases in the middle out of a longer sequence; None if a letter is ambiguous.

    The 60 letters of the UCI data have their site in the middle.

    >>> window("A" * 20 + "C" * 20 + "T" * 20)
    'CCCCCCCCCCCCCCCCCCCC'
    """
    start = (len(sequence) - LENGTH) // 2
    middle = sequence.upper()[start : start + LENGTH]
    return middle if len(middle) == LENGTH and set(middle) <= set(BASES) else None


def majority(known: Sequence[str], truths: Sequence[str]) -> np.ndarray:
    """Guess the base that is most frequent at each position of the attacker's windows; hits, (n, 20).

    >>> int(majority(["A" * 20], ["A" * 20, "C" * 20]).sum())
    20
    """
    most = [np.bincount(column, minlength=len(BASES)).argmax() for column in numbered(known).T]
    return numbered(truths) == np.array(most)
