"""Distances of many points in blocks, fast and with the same bits for a point whatever stands beside it."""

import numpy as np

from textsan.base.blocks import BLOCK
from textsan.text.embeddings import CANCELLATION

TILE = 4096  # columns at a time: 64 rows of them fit into the cache of a core


class ScaledDistances:
    """scale * min(d, cutoff) between two sets of points, d Euclidean.

    Blocks are computed at one fixed height, so that a row comes out with the same bits whatever stands in the
    other rows: what is drawn from it never depends on what else is sanitized.

    >>> ScaledDistances(np.zeros((1, 2)), np.array([[3.0, 4.0]]), scale=2.0).block(np.array([0]))
    array([[10.]])
    """

    def __init__(self, points, others, scale: float, cutoff: float = np.inf):
        self.shape = (len(points), len(others))
        self._points, self._others = (np.asarray(array, dtype=np.float64) * scale for array in (points, others))
        self._limit = scale * cutoff if cutoff < np.inf else np.inf
        norms_a, norms_b = (np.einsum("ij,ij->i", array, array) for array in (self._points, self._others))
        # [-2a, |a|^2, 1] times [b, 1, |b|^2] is |a - b|^2 in one product.
        self._left = np.hstack([-2.0 * self._points, norms_a[:, None], np.ones((len(points), 1))])
        self._right = np.vstack([self._others.T, np.ones(len(others)), norms_b])

    def block(self, rows, columns: slice = slice(None), *, out=None, height: int = BLOCK) -> np.ndarray:
        """Distances of some rows to a range of columns, by products of `height` rows, however many `rows`."""
        start, stop, _ = columns.indices(self.shape[1])
        out = np.empty((len(rows), stop - start)) if out is None else out
        left = np.zeros((height, self._left.shape[1]))
        left[: len(rows)] = self._left[rows]
        for at in range(start, stop, TILE):
            tile = slice(at, min(at + TILE, stop))
            piece = out[:, at - start : tile.stop - start]
            if len(rows) == height:
                np.matmul(left, self._right[:, tile], out=piece)
            else:
                piece[:] = (left @ self._right[:, tile])[: len(rows)]
            self._repair(piece, rows, tile)
            np.sqrt(piece, out=piece)
            if self._limit < np.inf:
                np.minimum(piece, self._limit, out=piece)
        return out

    def _repair(self, squared, rows, tile):
        """Squared distances that cancellation has spoilt, from differences."""
        floors = CANCELLATION * (self._left[rows, -2] + self._right[-1, tile].max())
        close = np.flatnonzero(squared < floors[:, None])  # ten times as fast as `nonzero` of a table
        for at in range(0, len(close), TILE):
            a, b = np.divmod(close[at : at + TILE], squared.shape[1])
            difference = self._points[rows[a]] - self._others[tile.start + b]
            squared[a, b] = np.einsum("ij,ij->i", difference, difference)
