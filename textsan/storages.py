"""How a channel is held: the matrix, the non-zero entries of its rows, or only vectors (see `channel`).

All three answer the same questions: `log_rows` and `log_columns` of some row or column numbers, and `sample`.
"""

from functools import cached_property
from threading import Lock, local

import numpy as np
from scipy import sparse

from textsan.blocks import BLOCK, map_blocks
from textsan.embeddings import ScaledDistances

_PART = 64  # weights under one partial sum: a draw looks for its part first, then within it
_TOKENS = 1024  # draws resolved at a time
_ONE_THREAD = Lock()  # not one a channel, so that mechanisms can be sent to other processes


class Dense:
    """The logarithm of the matrix."""

    def __init__(self, log_matrix: np.ndarray):
        self.log_matrix, self.shape = log_matrix, log_matrix.shape

    def log_rows(self, rows):
        return self.log_matrix[rows]

    def log_columns(self, columns):
        return self.log_matrix[:, columns].T.copy()

    def sample(self, rows, uniforms):
        return _sample_by_row(rows, uniforms, lambda row: np.exp(self.log_matrix[row]))


class Sparse:
    """Positive entries, row by row."""

    def __init__(self, matrix: sparse.csr_array):
        matrix.eliminate_zeros()
        matrix.sort_indices()
        self.matrix, self.shape = matrix, matrix.shape

    @cached_property
    def _by_column(self):
        return sparse.csc_array(self.matrix)

    def log_rows(self, rows):
        with np.errstate(divide="ignore"):
            return np.log(self.matrix[rows].toarray())

    def log_columns(self, columns):
        with np.errstate(divide="ignore"):
            return np.log(self._by_column[:, columns].toarray().T.copy())

    def sample(self, rows, uniforms):
        indptr, indices, data = self.matrix.indptr, self.matrix.indices, self.matrix.data
        within = _sample_by_row(rows, uniforms, lambda row: data[indptr[row] : indptr[row + 1]])
        return indices[indptr[rows] + within]


class Metric:
    """exp(-scale min(d, cutoff)) / Z_x over the first `m` outputs, mixed with staying put."""

    def __init__(self, input_vectors, output_vectors, n_out, scale, cutoff, stay, own):
        self.rows = ScaledDistances(input_vectors, output_vectors, scale, cutoff)
        self.columns = ScaledDistances(output_vectors, input_vectors, scale, cutoff)
        self.shape = (len(input_vectors), n_out)
        self.stay, self.own = stay, own

    @cached_property
    def _log_stay_move(self):
        with np.errstate(divide="ignore"):
            return np.log(self.stay), np.log1p(-self.stay)

    @cached_property
    def _owner(self):
        """The input that may stay at each output, or -1."""
        owner = np.full(self.shape[1], -1)
        staying = np.flatnonzero(self.stay > 0)
        owner[self.own[staying]] = staying
        return owner

    @property
    def log_normaliser(self) -> np.ndarray:
        """log Z_x of every input, (n_in,), computed once."""
        with _ONE_THREAD:
            return self._log_normaliser

    @cached_property
    def _log_normaliser(self):
        space = local()

        def block(rows):
            weights, _, least = self._weights(rows, space)
            return np.log(weights.sum(axis=1)) - least

        return np.concatenate(list(map_blocks(block, np.arange(self.shape[0]))))

    def _weights(self, rows, space):
        """exp(least - scale d) of some rows, padded with zeros to whole parts; the sums of the parts; least."""
        m = self.rows.shape[1]
        if not hasattr(space, "weights"):
            space.weights = np.zeros((BLOCK, -(-m // _PART) * _PART))
        weights = space.weights[: len(rows)]
        least = self.rows.block(rows, weights[:, :m]).min(axis=1)
        for tile in self.rows.tiles:
            np.subtract(least[:, None], weights[:, tile], out=weights[:, tile])
            np.exp(weights[:, tile], out=weights[:, tile])
        return weights, weights.reshape(len(rows), _PART, -1).sum(axis=1), least

    def log_rows(self, rows):
        log_rows = np.full((len(rows), self.shape[1]), -np.inf)
        log_stay, log_move = self._log_stay_move
        for at in range(0, len(rows), BLOCK):
            part = rows[at : at + BLOCK]
            scaled = self.rows.block(part)
            scaled -= scaled.min(axis=1, keepdims=True)
            normaliser = np.log(np.exp(-scaled).sum(axis=1)) - log_move[part]
            log_rows[at : at + BLOCK, : scaled.shape[1]] = -scaled - normaliser[:, None]
        i = np.flatnonzero(self.stay[rows] > 0)
        own = self.own[rows[i]]
        log_rows[i, own] = np.logaddexp(log_rows[i, own], log_stay[rows[i]])
        return log_rows

    def log_columns(self, columns):
        log_columns = np.full((len(columns), self.shape[0]), -np.inf)
        log_stay, log_move = self._log_stay_move
        drawn = np.flatnonzero(columns < self.rows.shape[1])
        offset = log_move - self.log_normaliser
        for at in range(0, len(drawn), BLOCK):
            part = drawn[at : at + BLOCK]
            log_columns[part] = offset - self.columns.block(columns[part])
        owner = self._owner[columns]
        i = np.flatnonzero(owner >= 0)
        log_columns[i, owner[i]] = np.logaddexp(log_columns[i, owner[i]], log_stay[owner[i]])
        return log_columns

    def sample(self, rows, uniforms):
        drawn = np.empty(len(rows), dtype=np.intp)
        stay = uniforms < self.stay[rows]
        drawn[stay] = self.own[rows[stay]]
        moving = np.flatnonzero(~stay)
        moving = moving[np.argsort(rows[moving], kind="stable")]
        chance = self.stay[rows[moving]]
        left = (uniforms[moving] - chance) / (1.0 - chance)
        words, starts = np.unique(rows[moving], return_index=True)
        ends = np.append(starts[1:], len(moving))
        space = local()

        def block(numbers):
            weights, sums, _ = self._weights(words[numbers], space)
            lines = np.repeat(np.arange(len(numbers)), ends[numbers] - starts[numbers])
            tokens = slice(starts[numbers[0]], ends[numbers[-1]])
            drawn[moving[tokens]] = _invert_parts(weights, sums, lines, left[tokens])

        list(map_blocks(block, np.arange(len(words))))
        return drawn


def _invert_parts(weights, sums, lines, uniforms) -> np.ndarray:
    """Inversion in two steps, for many tokens of many rows: the part of the row, then the entry of the part.

    A part is every so many-th entry, so that the sums are sums of contiguous runs.

    Args:
        weights: (rows, _PART * parts).
        sums: (rows, parts), the sums of the parts.
        lines: (tokens,), the row of each.
        uniforms: (tokens,).
    """
    cumulative = np.cumsum(sums, axis=1)
    parts = weights.reshape(len(sums), _PART, -1)
    found = np.empty(len(lines), dtype=np.intp)
    for at in range(0, len(lines), _TOKENS):
        tokens = slice(at, at + _TOKENS)
        line = lines[tokens]
        target = uniforms[tokens] * cumulative[line, -1]
        part = _first_above(cumulative[line], target)
        below = np.where(part > 0, cumulative[line, part - 1], 0.0)
        within = np.cumsum(parts[line, :, part], axis=1)
        found[tokens] = _first_above(within, target - below) * sums.shape[1] + part
    return found


def _first_above(cumulative: np.ndarray, targets: np.ndarray) -> np.ndarray:
    """In each row the first index above the target, or of the last value: an entry of positive weight."""
    last = cumulative[:, -1:]
    above = (cumulative <= targets[:, None]).sum(axis=1)
    return np.minimum(above, (cumulative < last).sum(axis=1))


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
