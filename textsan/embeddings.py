"""Word vectors: a list of words, a matrix, and exact distances between rows."""

import hashlib
from collections.abc import Iterable
from functools import cached_property

import numpy as np

from textsan.blocks import BLOCK

# Where |a - b|^2 is below this share of |a|^2 + |b|^2, the expansion |a|^2 + |b|^2 - 2ab has lost too many
# digits to cancellation and the difference a - b is taken instead. Distances of GloVe vectors are then right
# to about 1e-11 everywhere, and a word's distance to itself or to a duplicate is exactly 0.
_CANCELLATION = 1e-6
_TILE = 4096  # columns at a time: 64 rows of them fit into the cache of a core


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
        digest.update(np.ascontiguousarray(self.vectors))
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
    floor = _CANCELLATION * (norms_a + norms_b.max(initial=0.0))
    i, j = np.nonzero(squared < floor[:, None])
    difference = a[i] - b[j]
    squared[i, j] = np.einsum("ij,ij->i", difference, difference)
    return np.sqrt(squared, out=squared)


class ScaledDistances:
    """scale * min(d, cutoff) between two sets of points, a block of rows at a time, in pieces that stay in cache.

    Blocks are computed at one fixed height, so that a row comes out with the same bits whatever stands in the
    other rows: what is drawn from it never depends on what else is sanitized.

    Args:
        points: (n, d).
        others: (m, d).
        scale: at least 0.
        cutoff: largest distance.

    >>> ScaledDistances(np.zeros((1, 2)), np.array([[3.0, 4.0]]), scale=2.0).block(np.array([0]))
    array([[10.]])
    """

    def __init__(self, points, others, scale: float, cutoff: float = np.inf):
        points, others = (np.ascontiguousarray(array, dtype=np.float64) for array in (points, others))
        self.shape = (len(points), len(others))
        self.tiles = [slice(at, min(at + _TILE, len(others))) for at in range(0, len(others), _TILE)]
        self._points, self._others = points * scale, others * scale
        self._limit = scale * cutoff if cutoff < np.inf else np.inf
        norms_a, norms_b = (np.einsum("ij,ij->i", array, array) for array in (self._points, self._others))
        # [-2a, |a|^2, 1] times [b, 1, |b|^2] is |a - b|^2 in one product.
        self._left = np.hstack([-2.0 * self._points, norms_a[:, None], np.ones((len(points), 1))])
        self._right = np.vstack([self._others.T, np.ones(len(others)), norms_b])
        self._floors = [_CANCELLATION * (norms_a + norms_b[tile].max(initial=0.0)) for tile in self.tiles]

    def block(self, rows: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
        """Distances of at most 64 rows to all others, float64 (len(rows), m)."""
        out = np.empty((len(rows), self.shape[1])) if out is None else out
        left = np.zeros((BLOCK, self._left.shape[1]))
        left[: len(rows)] = self._left[rows]
        for tile, floors in zip(self.tiles, self._floors, strict=True):
            piece = out[:, tile]
            if len(rows) == BLOCK:
                np.matmul(left, self._right[:, tile], out=piece)
            else:
                piece[:] = (left @ self._right[:, tile])[: len(rows)]
            self._repair(piece, rows, tile.start, floors[rows])
            np.sqrt(piece, out=piece)
            if self._limit < np.inf:
                np.minimum(piece, self._limit, out=piece)
        return out

    def _repair(self, squared, rows, first, floors):
        close = np.flatnonzero(squared < floors[:, None])  # ten times as fast as `nonzero` of a table
        for at in range(0, len(close), _TILE):
            a, b = np.divmod(close[at : at + _TILE], squared.shape[1])
            difference = self._points[rows[a]] - self._others[first + b]
            squared[a, b] = np.einsum("ij,ij->i", difference, difference)


def load_embeddings(name: str = "glove-6b-50d") -> Embeddings:
    """Registered word vectors by name; fetched, verified and cached on first use.

    Args:
        name: an embedding of `data/registry.toml`: "glove-6b-50d" (400,000 lower-case words, 50
            dimensions, float32).

    Raises:
        KeyError: unknown name.
    """
    import pyarrow.parquet

    from textsan import assets

    folder = assets.fetch(name)
    vectors_file, words_file = next(folder.rglob("*.npy")), next(folder.rglob("*.parquet"))
    vectors = np.load(vectors_file, allow_pickle=False)
    column = pyarrow.parquet.read_table(words_file).column(0)
    return Embeddings(column.to_pylist(), np.ascontiguousarray(vectors))
