"""Word vectors: a list of words, a matrix, and exact distances between rows."""

import csv
import hashlib
from collections.abc import Iterable
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from textsan.base import checks

# Where |a - b|^2 is below this share of |a|^2 + |b|^2, the expansion |a|^2 + |b|^2 - 2ab has lost too many
# digits to cancellation and the difference a - b is taken instead. Distances of GloVe vectors are then right
# to about 1e-11 everywhere, and a word's distance to itself or to a duplicate is exactly 0.
CANCELLATION = 1e-6

GLOVE = "glove-6b-50d"
"""The word vectors that are used unless others are asked for."""

COUNTER_FITTED = "counter-fitted"
"""The name of GLOVE's vectors, counter-fitted."""


class Embeddings:
    """Words and their vectors, row by row.

    Args:
        words: V distinct, non-empty strings.
        vectors: float array of shape (V, d), finite.

    Raises:
        ValueError: duplicate words, shapes that disagree, or a vector that is not finite.

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
        """Row numbers of `words`, int array.

        Raises:
            KeyError: a word without a vector.
        """
        words = list(words)
        unknown = [word for word in words if word not in self.index]
        if unknown:
            raise KeyError(f"words: {unknown[0]!r} has no vector ({len(unknown)} unknown); use restrict()")
        return np.array([self.index[word] for word in words], dtype=np.intp)

    def restrict(self, words: Iterable[str]) -> "Embeddings":
        """The embedding of `words` alone, in their order, unknown and repeated ones dropped.

        Raises:
            ValueError: none of `words` has a vector.

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

        Args:
            n: at least 1.

        Raises:
            ValueError: it is not.

        >>> Embeddings(["the", "of", "zebra"], [[0.0], [1.0], [2.0]]).frequent(2).words
        ['the', 'of']
        """
        return self.restrict(self.words[: checks.whole("n", n, low=1)])

    def distances(self, words: Iterable[str], others: Iterable[str] | None = None) -> np.ndarray:
        """Euclidean distances between `words` and `others` (default: all words), shape (n, m).

        Raises:
            KeyError: a word without a vector.
        """
        other = self.vectors if others is None else self.vectors[self.rows(others)]
        return euclidean(self.vectors[self.rows(words)], other)

    def nearest(self, word: str, k: int = 10) -> list[str]:
        """The `k` words nearest to `word` in Euclidean distance, itself first, ties by row.

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


def load_embeddings(name: str | Path = GLOVE) -> Embeddings:
    """Word vectors by name or from a file of one's own; registered ones are fetched, verified and cached.

    Args:
        name: an embedding of `textsan/data/registry.toml`: "glove-6b-50d" (400,000 lower-case words, 50
            dimensions, float32); or "counter-fitted", those vectors fitted to the synonyms and antonyms in
            `TEXTSAN_DATA` (`textsan.text.counter_fitting.counter_fitted`); or a file or http(s) address of vectors
            as text, as GloVe and word2vec are published: a word and its numbers a line, blanks between, plain or
            compressed (.gz, .xz, .zip). A first line with the two sizes is skipped.

    Raises:
        KeyError: a name that is no embedding's, and no file's; nothing is fetched then.
        ValueError: the file holds something else.
    """
    if check_embeddings(name) == COUNTER_FITTED:
        from textsan.text.counter_fitting import counter_fitted

        return counter_fitted()
    return _registered(str(name)) if _kinds().get(name) == "embedding" else _read(name)


def check_embeddings(name: str | Path) -> str | Path:
    """A name or file as `load_embeddings` takes it; nothing is fetched or read.

    Args:
        name: of word vectors.

    Raises:
        KeyError: it is neither.
    """
    kinds = _kinds()
    if name == COUNTER_FITTED or kinds.get(name) == "embedding":
        return name
    if name not in kinds and (str(name).startswith(("http://", "https://")) or Path(name).is_file()):
        return name
    what = f"a {kinds[name]}, no embedding" if name in kinds else "unknown, and no file"
    known = ", ".join([*(asset for asset, kind in kinds.items() if kind == "embedding"), COUNTER_FITTED])
    raise KeyError(f"embedding: {str(name)!r} is {what}; known: {known}")


def _kinds() -> dict[Any, str]:
    from textsan.base import assets

    registry = assets.registry()
    kinds = dict.fromkeys(registry["datasets"], "data set")
    return kinds | {asset: about["kind"] for asset, about in registry["assets"].items()}


def _registered(name: str) -> Embeddings:
    import pyarrow.parquet

    from textsan.base import assets

    folder = assets.fetch(name)
    vectors_file, words_file = next(folder.rglob("*.npy")), next(folder.rglob("*.parquet"))
    vectors = np.load(vectors_file, allow_pickle=False)
    column = pyarrow.parquet.read_table(words_file).column(0)
    return Embeddings(column.to_pylist(), np.ascontiguousarray(vectors))


def _read(path: str | Path) -> Embeddings:
    """Vectors of a text file, float32."""
    import pandas as pd

    # a quotation mark is a word like others, and so are "null" and "nan"
    lines = {"sep": r"\s+", "header": None, "quoting": csv.QUOTE_NONE, "keep_default_na": False, "dtype": {0: str}}
    try:
        first = pd.read_csv(path, nrows=1, **lines).iloc[0].tolist()
        sizes = len(first) == 2 and first[0].isdigit()
        table = pd.read_csv(path, skiprows=int(sizes), **lines)
        return Embeddings(table[0], table.drop(columns=0).to_numpy(dtype=np.float32))
    except (ValueError, OSError) as error:  # of pandas, of the address, of Embeddings
        what = f"no word vectors ({' '.join(str(error).split())}); a line is a word and its numbers"
        raise ValueError(f"embedding: {path} holds {what}") from None
