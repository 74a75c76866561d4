"""The prior of an attacker who knows that some words were not seen: Good and Turing's mass for them.

Add-one smoothing is the posterior mean under a uniform Dirichlet prior, and that prior is what fails on text: it
gives unseen words far too little or too much, whatever the size of the vocabulary says. How much mass they have
can be estimated (Good 1953); how it is split among them is a choice.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from textsan.base import checks
from textsan.priors.unigram import Prior


def unseen_mass(docs: Iterable[Sequence[str]], words: Iterable[str] | None = None) -> float:
    """Estimate the share of a further document's tokens that are words of no document here.

    Each document is left out in turn: the tokens of words that occur in it alone, as a share of all tokens. For
    documents of one token this is Good and Turing's n_1 / n; words cluster in documents, and n_1 / n misses that.

    Args:
        words: the words that count; None is all.

    >>> unseen_mass([["a", "b", "b"], ["a", "c"]])
    0.6
    """
    counts, documents = _counted(docs, words)
    total = sum(counts.values())
    if not total:
        raise ValueError("docs: no token to count; pass at least one")
    return sum(n for word, n in counts.items() if documents[word] == 1) / total


def good_turing(
    docs: Iterable[Sequence[str]], words: Iterable[str], frequencies: Mapping[str, float] | None = None
) -> Prior:
    """Seen frequencies times one minus the unseen mass, and that mass for the words that were not seen.

    Args:
        words: the words that the prior ranges over, known before anything was seen: a public vocabulary.
        frequencies: how the unseen mass is split, for example public word counts; None splits it evenly. A word
            without a frequency gets what the rarest one gets.

    >>> good_turing([["a", "a", "b"], ["a"]], "abc").probabilities
    array([0.5625, 0.1875, 0.25  ])
    """
    words, docs = list(words), checks.documents("docs", list(docs))
    mass = unseen_mass(docs, words)
    counts, _ = _counted(docs, words)
    seen = np.array([counts[word] for word in words], dtype=np.float64)
    rest = seen == 0
    if not rest.any():
        return Prior(words, seen / seen.sum())
    mass = min(mass, 1 - 1 / (seen.sum() + 1))  # where every word was seen in one document alone
    weights = rest * _shares(words, frequencies)
    return Prior(words, (1 - mass) * seen / seen.sum() + mass * weights / weights.sum())


def _counted(docs, words) -> tuple[Counter, Counter]:
    """Occurrences of each word, and documents that have it."""
    known = None if words is None else set(words)
    counts: Counter[str] = Counter()
    documents: Counter[str] = Counter()
    for doc in docs:
        there = Counter(word for word in doc if known is None or word in known)
        counts.update(there)
        documents.update(there.keys())
    return counts, documents


def _shares(words: list[str], frequencies: Mapping[str, float] | None) -> np.ndarray:
    if frequencies is None:
        return np.ones(len(words))
    given = np.array([frequencies.get(word, 0.0) for word in words], dtype=np.float64)
    if (given < 0).any() or not (given > 0).any():
        raise ValueError("frequencies: pass numbers of at least 0, one of them above 0 for a word of the prior")
    return np.where(given > 0, given, given[given > 0].min())
