"""Priors: what an attacker believes of a word before seeing anything."""

from collections.abc import Iterable, Mapping

import numpy as np

from textsan.base import checks


class Prior:
    """Pr(x) over a list of words.

    Args:
        words: distinct words.
        probabilities: (len(words),) non-negative weights summing to one within 1e-9.

    >>> Prior(["a", "b"], [0.25, 0.75])["b"]
    0.75
    """

    def __init__(self, words: Iterable[str], probabilities):
        self.words = list(words)
        self.probabilities = checks.probabilities("probabilities", probabilities, len(self.words))
        self._index = {word: i for i, word in enumerate(self.words)}
        if len(self._index) != len(self.words):
            raise ValueError("words: a word occurs more than once; pass distinct words")

    def __getitem__(self, word: str) -> float:
        return float(self.probabilities[self._index[word]])

    def __len__(self) -> int:
        return len(self.words)

    def __repr__(self) -> str:
        return f"Prior({len(self)} words)"

    @classmethod
    def from_counts(
        cls, counts: Mapping[str, int], words: Iterable[str], alpha_inverse: float | None = None
    ) -> "Prior":
        """Unigram frequencies plus a constant (Tong et al. 2024, Eq. 10), renormalised over `words`.

        With alpha the total of `counts`, each word weighs counts[x] / alpha + alpha_inverse. The default
        alpha_inverse = 1 / alpha is add-one smoothing: (counts[x] + 1) / alpha.

        Args:
            counts: occurrences in the reference text, words outside `words` included.
            alpha_inverse: constant of at least 0 added to each frequency; None is 1 / alpha.

        >>> Prior.from_counts({"a": 2, "b": 1}, ["a", "b", "c"]).probabilities.round(3)
        array([0.5  , 0.333, 0.167])
        """
        words = list(words)
        alpha = sum(counts.values())
        if not alpha > 0:
            raise ValueError("counts: empty; count the words of at least one non-empty document")
        constant = 1 / alpha if alpha_inverse is None else checks.number("alpha_inverse", alpha_inverse, low=0)
        weights = np.array([counts.get(word, 0) for word in words], dtype=np.float64) / alpha + constant
        if not weights.sum() > 0:
            raise ValueError("counts: none of the prior's words occurs in them; smooth, or count other text")
        return cls(words, weights / weights.sum())

    def aligned(self, words: list[str]) -> np.ndarray:
        """Probabilities in the order of `words`, those of a channel or of vectors."""
        if words == self.words:
            return self.probabilities
        there = set(words)
        if lost := [word for word in self.words if word not in there and self[word] > 0]:
            few = f"{lost[0]!r} has mass but is no word of the channel or the vectors ({len(lost)} such words)"
            raise ValueError(f"prior: {few}; make the prior over theirs")
        return np.array([self[word] if word in self._index else 0.0 for word in words])
