"""Storage of a channel: the matrix, or the non-zero entries of its rows; `exponential` has the third way.

All three answer the same questions: `log_rows` and `log_columns` of some row or column numbers, the `best_inputs`
of some columns, and `sample`; and `keeping` makes rows those of the identity, in a table that may have grown by
words, and `restrict` leaves some rows only. `columns_on` is `log_columns` on a torch device, as a function.
"""

from functools import cached_property

import numpy as np
import scipy

from textsan.base.blocks import map_blocks
from textsan.channel.accelerator import dense_columns, sparse_columns


class Dense:
    """The logarithm of the matrix."""

    def __init__(self, log_matrix: np.ndarray):
        self.log_matrix, self.shape = log_matrix, log_matrix.shape

    def log_rows(self, rows):
        return self.log_matrix[rows]

    def log_columns(self, columns):
        return self.log_matrix[:, columns].T.copy()

    def columns_on(self, device):
        return dense_columns(self.log_matrix, device)

    def best_inputs(self, log_prior, columns, k):
        return best_by_blocks(self.log_columns, log_prior, columns, k)

    def keeping(self, rows, columns, shape):
        log_matrix = np.full(shape, -np.inf)
        log_matrix[: self.shape[0], : self.shape[1]] = self.log_matrix
        log_matrix[rows] = -np.inf
        log_matrix[rows, columns] = 0.0
        return Dense(log_matrix)

    def restrict(self, rows):
        return Dense(self.log_matrix[rows])

    def sample(self, rows, uniforms):
        return _sample_by_row(rows, uniforms, lambda row: np.exp(self.log_matrix[row]))


class Sparse:
    """Positive entries, row by row."""

    def __init__(self, matrix: "scipy.sparse.csr_array"):
        matrix.eliminate_zeros()
        matrix.sort_indices()
        self.matrix, self.shape = matrix, matrix.shape

    @cached_property
    def _by_column(self):
        return scipy.sparse.csc_array(self.matrix)

    def log_rows(self, rows):
        return _log_dense(self.matrix[rows])

    def log_columns(self, columns):
        return _log_dense(self._by_column[:, columns].T)

    def columns_on(self, device):
        return sparse_columns(self._by_column, device)

    def best_inputs(self, log_prior, columns, k):
        """By the entries of each column alone: what has no entry, or no prior, is -inf, its number 0."""
        entries = self._by_column[:, columns]
        x, y = entries.indices, np.repeat(np.arange(len(columns)), np.diff(entries.indptr))
        joint = np.log(entries.data) + log_prior[x]
        order = np.lexsort((-joint, y))  # stable, so that ties stay in the order of rows
        rank = np.arange(len(y)) - entries.indptr[y]  # sorted within columns, so that `y` is as it was
        order, y, rank = (part[rank < k] for part in (order, y, rank))
        best, scores = np.zeros((len(columns), k), dtype=np.intp), np.full((len(columns), k), -np.inf)
        best[y, rank], scores[y, rank] = x[order], joint[order]
        return best, scores

    def keeping(self, rows, columns, shape):
        stays = np.zeros(shape[0])
        stays[rows] = 1.0
        matrix = self.matrix.copy()
        matrix.resize(shape)
        identity = scipy.sparse.csr_array((np.ones(len(rows)), (rows, columns)), shape=shape)
        return Sparse(scipy.sparse.csr_array(scipy.sparse.diags_array(1.0 - stays) @ matrix + identity))

    def restrict(self, rows):
        return Sparse(self.matrix[rows])

    def sample(self, rows, uniforms):
        indptr, indices, data = self.matrix.indptr, self.matrix.indices, self.matrix.data
        within = _sample_by_row(rows, uniforms, lambda row: data[indptr[row] : indptr[row + 1]])
        return indices[indptr[rows] + within]


def best_by_blocks(log_columns, log_prior, columns, k) -> tuple[np.ndarray, np.ndarray]:
    """Find the `k` inputs of largest log weight of each column, and these weights, from whole columns."""

    def block(part):
        joint = log_columns(part)
        joint += log_prior
        if k == 1:
            best = joint.argmax(axis=1)[:, None]
        else:
            best = np.sort(np.argpartition(-joint, k - 1, axis=1)[:, :k], axis=1)
            order = np.argsort(-np.take_along_axis(joint, best, axis=1), axis=1, kind="stable")
            best = np.take_along_axis(best, order, axis=1)
        return best, np.take_along_axis(joint, best, axis=1)

    parts = list(map_blocks(block, columns))
    if not parts:
        return np.empty((0, k), dtype=np.intp), np.empty((0, k))
    best, logs = (np.concatenate(part) for part in zip(*parts, strict=True))
    return best, logs


def _log_dense(matrix) -> np.ndarray:
    """Logarithms of positive entries only: those of zeros take ten times as long as filling in -inf."""
    matrix = matrix.tocoo()
    table = np.full(matrix.shape, -np.inf)
    table[matrix.row, matrix.col] = np.log(matrix.data)
    return table


def _sample_by_row(rows, uniforms, row_of) -> np.ndarray:
    drawn = np.empty(len(rows), dtype=np.intp)
    order = np.argsort(rows, kind="stable")
    words, starts = np.unique(np.asarray(rows)[order], return_index=True)
    for word, tokens in zip(words, np.split(order, starts)[1:], strict=True):
        cumulative = np.cumsum(row_of(word))
        target = uniforms[tokens] * cumulative[-1]
        found = np.searchsorted(cumulative, target, side="right")
        drawn[tokens] = np.minimum(found, np.searchsorted(cumulative, cumulative[-1], side="left"))
    return drawn
