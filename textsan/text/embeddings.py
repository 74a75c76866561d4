"""Word vectors: a list of words, a matrix, and exact distances between rows."""

import hashlib
from collections.abc import Iterable
from functools import cached_property

import numpy as np

from textsan.base import checks

# Where |a - b|^2 is below this share of |a|^2 + |b|^2, the expansion |a|^2 + |b|^2 - 2ab has lost too many
# digits to cancellation and the difference a - b is taken instead. Distances of GloVe vectors are then right
# to about 1e-11 everywhere, and a word's distance to itself or to a duplicate is exactly 0.
CANCELLATION = 1e-6


class Embeddings:
    """Words and their vectors, row by row.

    Args:
        words: V distinct, non-empty strings.
        vectors: float array of shape (V, d), finite.

    >>> Embeddings(["good", "bad"], [[0.0, 1.0], [3.0, 5.0]]).distances(["good"])
    array([[0., 5.]])
    """

    def __init__(self, words: Iterable[str], vectors):
        self.words = list(words)
        self.vectors = np.asarray(vectors)
        if self.vectors.dtype.kind != "f":
            self.vectors = self.vectors.astype(np.float64)
        if self.vectors.ndim != 2 or len(self.vectors) != len(self.words):
            raise ValueError(
                f"vectors: shape {self.vectors.shape} does not fit {len(self.words)} words; "
                f"pass one row a word, shape ({len(self.words)}, d)"
            )
        if not self.words or not self.vectors.shape[1]:
            raise ValueError("words: no word or no dimension; pass at least one word with a vector")
        if len(self.index) != len(self.words):
            double = next(word for i, word in enumerate(self.words) if self.index[word] != i)
            raise ValueError(f"words: {double!r} occurs more than once; drop duplicates")
        finite = np.isfinite(self.vectors).all(axis=1)
        if not finite.all():
            word = self.words[int(np.argmin(finite))]
            raise ValueError(f"vectors: the vector of {word!r} is not finite; drop or repair it")

    def __len__(self) -> int:
        return len(self.words)

    def __contains__(self, word: str) -> bool:
        return word in self.index

    def __repr__(self) -> str:
        return f"Embeddings({len(self)} words, {self.vectors.shape[1]} dimensions)"

    @cached_property
    def index(self) -> dict[str, int]:
        """Row of each word."""
        return {word: i for i, word in enumerate(self.words)}

    @cached_property
    def sha256(self) -> str:
        """Hash of words and vectors, to name the embedding in a record of what was done."""
        digest = hashlib.sha256("\n".join(self.words).encode())
        digest.update(np.ascontiguousarray(self.vectors).data)
        return digest.hexdigest()

    def rows(self, words: Iterable[str]) -> np.ndarray:
        """Row numbers of `words`, int array."""
        words = list(words)
        unknown = [word for word in words if word not in self.index]
        if unknown:
            raise KeyError(f"words: {unknown[0]!r} has no vector ({len(unknown)} unknown); use restrict()")
        return np.array([self.index[word] for word in words], dtype=np.intp)

    def restrict(self, words: Iterable[str]) -> "Embeddings":
        """The embedding of `words` alone, in their order, unknown and repeated ones dropped.

        >>> Embeddings(["a", "b", "c"], [[0.0], [1.0], [2.0]]).restrict(["c", "x", "a"]).words
        ['c', 'a']
        """
        known = [word for word in dict.fromkeys(words) if word in self.index]
        if not known:
            raise ValueError("words: none of them has a vector; check casing and language")
        return Embeddings(known, self.vectors[self.rows(known)])

    def frequent(self, n: int) -> "Embeddings":
        """The embedding of the first `n` words, of all if there are fewer: a public vocabulary.

        Word vectors as they are published, GloVe's for example, are in order of frequency. A vocabulary made of
        the text that is to be sanitized would publish which words that text holds.

        >>> Embeddings(["the", "of", "zebra"], [[0.0], [1.0], [2.0]]).frequent(2).words
        ['the', 'of']
        """
        return self.restrict(self.words[: checks.whole("n", n, low=1)])

    def distances(self, words: Iterable[str], others: Iterable[str] | None = None) -> np.ndarray:
        """Euclidean distances between `words` and `others` (default: all words), shape (n, m)."""
        other = self.vectors if others is None else self.vectors[self.rows(others)]
        return euclidean(self.vectors[self.rows(words)], other)

    def nearest(self, word: str, k: int = 10) -> list[str]:
        """The `k` words nearest to `word` in Euclidean distance, itself among them, ties by row.

        >>> Embeddings(["a", "b", "c"], [[0.0], [5.0], [2.0]]).nearest("a", 2)
        ['a', 'c']
        """
        order = np.argsort(self.distances([word])[0], kind="stable")[:k]
        return [self.words[i] for i in order]


def euclidean(a: np.ndarray, b: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
    """Euclidean distances between the rows of `a` (n, d) and of `b` (m, d), float64 (n, m).

    >>> euclidean(np.zeros((1, 2)), np.array([[3.0, 4.0]]))
    array([[5.]])
    """
    a = np.ascontiguousarray(a, dtype=np.float64)
    b = np.ascontiguousarray(b, dtype=np.float64)
    norms_a, norms_b = np.einsum("ij,ij->i", a, a), np.einsum("ij,ij->i", b, b)
    squared = np.matmul(a * -2.0, b.T, out=out)
    squared += norms_a[:, None]
    squared += norms_b
    floor = CANCELLATION * (norms_a + norms_b.max(initial=0.0))
    # `flatnonzero` takes a tenth of the time of `nonzero`.
    i, j = np.divmod(np.flatnonzero(squared < floor[:, None]), max(len(b), 1))
    difference = a[i] - b[j]
    squared[i, j] = np.einsum("ij,ij->i", difference, difference)
    return np.sqrt(squared, out=squared)
