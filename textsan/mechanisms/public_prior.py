"""Word frequencies in public text, which a mechanism may know beforehand."""

from collections.abc import Mapping, Sequence

import numpy as np

from textsan.priors import Prior


def public_prior(counts: Mapping[str, int] | None, words: Sequence[str]) -> np.ndarray:
    """Pr(x) of a vocabulary, (len(words),), from counts, to each of which one is added, or from its order.

    Counts are of public text, never of the text that is sanitized: the channel would tell of it. Without them the
    r-th word weighs 1 / r (Zipf), for a vocabulary in order of frequency.

    >>> public_prior(None, ["the", "of"]).round(3)
    array([0.667, 0.333])
    """
    if counts is not None:
        return Prior.from_counts(counts, words).probabilities
    weights = 1 / np.arange(1, len(words) + 1)
    return weights / weights.sum()
