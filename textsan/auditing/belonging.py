"""Test whether a release can be that of a text: rows that were shuffled would look well protected."""

import math
from collections import Counter
from collections.abc import Sequence

import numpy as np

from textsan.mechanisms import Mechanism

SURE = 1000
"""Rows that belong together are refused in fewer than one of so many releases."""

_SHARES = (1.0, 0.3, 0.1, 0.03, 0.01, 0.003, 0.001)  # of rows that may be strange
_BLOCK = 64  # words whose rows are held at a time


def check_belonging(
    docs: Sequence[Sequence[str]], released: Sequence[Sequence[str]], mechanism: Mechanism
) -> None:
    """Check that each released document can be what became of its original, the mechanism's channel being exact.

    Refused is a word that the mechanism never puts in the place of the original word, Pr(y | x) = 0. Where nothing
    is impossible, the likelihood ratio of a document is r_d = prod_i q(y_i) / Pr(y_i | x_i), with q the mean of
    Pr(. | x) over the words of the text. It has expectation 1 for rows that belong together, and so has prod_d (1
    - s + s r_d) for each share s of strange rows, and the mean of these over some shares; by Markov's inequality
    it reaches `SURE` with probability 1 / `SURE` at most. The error names the document that shows it best.
    """
    drawn = frozenset(mechanism.channel.input_index) - frozenset(mechanism.keep)
    known = Counter(word for doc in docs for word in doc if word in drawn)
    pairs: dict[str, set[str]] = {}
    uniform = frozenset(mechanism._uniform_words())
    for number, (doc, outputs) in enumerate(zip(docs, released, strict=True), start=1):
        for x, y in zip(doc, outputs, strict=True):
            if x in known:
                pairs.setdefault(x, set()).add(y)
            elif not _is_possible(mechanism, x, y, uniform):
                why = "a word that is kept, or is outside of the vocabulary, became an impossible one"
                raise _strange(number, why)
    log_p, log_q = _likelihoods(mechanism, known, pairs)
    ratios = np.zeros(len(docs))
    for d, (doc, outputs) in enumerate(zip(docs, released, strict=True)):
        for x, y in zip(doc, outputs, strict=True):
            if x in known:
                if log_p[x, y] == -math.inf:
                    raise _strange(d + 1, "it has a word that the mechanism never puts in place of the original's")
                ratios[d] += log_q[y] - log_p[x, y]
    if len(docs) and _log_evidence(ratios) >= math.log(SURE):
        why = f"of rows that belong together fewer than 1 in {SURE:,} are so unlikely"
        raise _strange(int(ratios.argmax()) + 1, why)


def _is_possible(mechanism: Mechanism, x: str, y: str, uniform: frozenset[str]) -> bool:
    """Test if a word that is kept or unknown can have become another one."""
    if x in mechanism.keep:
        return x == y
    numbers = mechanism.parameters.get("numbers")
    if numbers and any(map(str.isdigit, x)):  # of CusText: kept, or another number
        return x == y or numbers != "keep" or y in uniform
    return x == y if mechanism.oov == "keep" else mechanism.oov == "uniform" and y in uniform


def _likelihoods(mechanism, known: Counter, pairs: dict[str, set[str]]):
    """log Pr(y | x) of each pair, and log q(y) of each released word."""
    index, words = mechanism.channel.output_index, list(known)
    mean = np.zeros(len(index))
    log_p: dict[tuple[str, str], float] = {}
    for start in range(0, len(words), _BLOCK):
        block = words[start : start + _BLOCK]
        rows = mechanism.channel.log_rows(block)
        for x, row in zip(block, rows, strict=True):
            log_p |= {(x, y): float(row[index[y]]) if y in index else -math.inf for y in pairs[x]}
        mean += np.array([known[x] for x in block], dtype=float) @ np.exp(rows)
    with np.errstate(divide="ignore"):
        log_mean = np.log(mean / max(known.total(), 1))
    return log_p, {y: float(log_mean[index[y]]) for ys in pairs.values() for y in ys if y in index}


def _log_evidence(log_ratios: np.ndarray) -> float:
    """The logarithm of the mean over `_SHARES` of prod_d (1 - s + s r_d)."""
    with np.errstate(divide="ignore"):
        sums = [np.logaddexp(np.log1p(-s), math.log(s) + log_ratios).sum() for s in _SHARES]
    return float(np.logaddexp.reduce(sums) - math.log(len(_SHARES)))


def _strange(number: int, why: str) -> ValueError:
    what = f"document {number} is not what became of its original ({why})"
    return ValueError(f"released: {what}; pass the release of this very text, in the same order")
