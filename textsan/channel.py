"""A channel: one row-stochastic matrix Pr(y | x) over words, in three storages.

`dense` holds the matrix, `sparse` the non-zero entries of each row, `metric` only word vectors, from which
rows and columns are computed on demand: Pr(y | x) proportional to exp(-scale * d(x, y)). All of them answer in
natural logarithms and float64, for a block of rows, for a block of columns, or with a draw.
"""

import os
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property

import numpy as np
from scipy import sparse
from threadpoolctl import threadpool_limits

from textsan.embeddings import euclidean

DENSE_LIMIT = 1 << 28  # entries: 2 GiB of float64; above it `matrix()` refuses
BLOCK = 64  # rows or columns computed at a time in the metric storage


class Channel:
    """Pr(y | x) for x in `inputs` and y in `outputs`.

    Build one with `from_matrix`, `from_sparse` or `metric`; mechanisms do.

    >>> channel = Channel.from_matrix([[0.75, 0.25], [0.5, 0.5]], inputs=["a", "b"], outputs=["u", "v"])
    >>> channel.rows(["b"])
    array([[0.5, 0.5]])
    """

    def __init__(self, inputs: Iterable[str], outputs: Iterable[str], storage):
        self.inputs, self.outputs, self._storage = list(inputs), list(outputs), storage
        for name, words, size in zip(
            ("inputs", "outputs"), (self.inputs, self.outputs), storage.shape, strict=True
        ):
            if len(words) != size:
                raise ValueError(f"{name}: {len(words)} words for {size} rows or columns; pass one a line")
            if len(set(words)) != len(words):
                raise ValueError(f"{name}: a word occurs more than once; pass distinct words")

    @classmethod
    def from_matrix(cls, matrix, inputs: Iterable[str], outputs: Iterable[str]) -> "Channel":
        """A channel from its dense matrix, shape (n_in, n_out), rows summing to one within 1e-9.

        Raises:
            ValueError: a negative or non-finite entry, or a row that does not sum to one.
        """
        matrix = np.array(matrix, dtype=np.float64)
        if matrix.ndim != 2:
            raise ValueError(f"matrix: {matrix.ndim} dimensions; pass a table of rows Pr(. | x)")
        _check_rows(matrix.min(initial=0.0), matrix.sum(axis=1))
        with np.errstate(divide="ignore"):
            return cls(inputs, outputs, _Dense(np.log(matrix)))

    @classmethod
    def from_sparse(cls, matrix, inputs: Iterable[str], outputs: Iterable[str]) -> "Channel":
        """A channel from a scipy sparse matrix of probabilities, shape (n_in, n_out)."""
        matrix = sparse.csr_array(matrix, dtype=np.float64)
        _check_rows(matrix.data.min(initial=0.0), matrix.sum(axis=1))
        return cls(inputs, outputs, _Sparse(matrix))

    @classmethod
    def metric(
        cls, inputs, outputs, input_vectors, output_vectors, scale: float, *, cutoff=np.inf, stay=None
    ) -> "Channel":
        """Pr(y | x) = stay_x [y = x] + (1 - stay_x) exp(-scale min(d(x, y), cutoff)) / Z_x, d Euclidean.

        Args:
            inputs, outputs: words.
            input_vectors: (n_in, d).
            output_vectors: (m, d), the vectors of the first m outputs; later outputs are reached by staying only.
            scale: inverse temperature, at least 0 (SanText: epsilon / 2).
            cutoff: distance beyond which all outputs weigh the same.
            stay: (n_in,) probabilities of releasing x itself; None is 0 everywhere.
        """
        inputs, outputs = list(inputs), list(outputs)
        position = {word: j for j, word in enumerate(outputs)}
        own = np.array([position.get(word, -1) for word in inputs], dtype=np.intp)
        stay = np.zeros(len(inputs)) if stay is None else np.asarray(stay, dtype=np.float64)
        if (own[stay > 0] < 0).any():
            raise ValueError("stay: a word that may stay is not among the outputs; add it")
        storage = _Metric(input_vectors, output_vectors, len(outputs), scale, cutoff, stay, own)
        return cls(inputs, outputs, storage)

    def __repr__(self) -> str:
        kind = type(self._storage).__name__.strip("_").lower()
        return f"Channel({len(self.inputs)} inputs, {len(self.outputs)} outputs, {kind})"

    @property
    def shape(self) -> tuple[int, int]:
        """(number of inputs, number of outputs)."""
        return self._storage.shape

    @cached_property
    def input_index(self) -> dict[str, int]:
        """Row of each input word."""
        return {word: i for i, word in enumerate(self.inputs)}

    @cached_property
    def output_index(self) -> dict[str, int]:
        """Column of each output word."""
        return {word: j for j, word in enumerate(self.outputs)}

    def log_rows(self, inputs: Sequence) -> np.ndarray:
        """log Pr(. | x) for some inputs (words or row numbers), shape (len(inputs), n_out)."""
        return self._storage.log_rows(_numbers(inputs, self.input_index, "inputs"))

    def rows(self, inputs: Sequence) -> np.ndarray:
        """Pr(. | x) for some inputs (words or row numbers), shape (len(inputs), n_out)."""
        return np.exp(self.log_rows(inputs))

    def log_columns(self, outputs: Sequence) -> np.ndarray:
        """log Pr(y | .) for some outputs (words or column numbers), shape (len(outputs), n_in)."""
        return self._storage.log_columns(_numbers(outputs, self.output_index, "outputs"))

    def matrix(self) -> np.ndarray:
        """The whole channel, dense float64 (n_in, n_out).

        Raises:
            ValueError: more than `DENSE_LIMIT` entries.
        """
        if np.prod(self.shape) > DENSE_LIMIT:
            raise ValueError(
                f"channel: {self.shape[0]} x {self.shape[1]} entries are above the limit of {DENSE_LIMIT}; "
                "use rows() or log_columns() in blocks"
            )
        return self.rows(np.arange(self.shape[0]))

    def sample(self, inputs: Sequence, uniforms: np.ndarray) -> np.ndarray:
        """Outputs drawn by inversion: column numbers, a function of each (input, uniform) pair alone.

        Args:
            inputs: words or row numbers, n of them.
            uniforms: (n,) independent draws from [0, 1).
        """
        numbers = _numbers(inputs, self.input_index, "inputs")
        return self._storage.sample(numbers, np.asarray(uniforms, dtype=np.float64))

    def best_inputs(self, log_prior: np.ndarray, outputs: Sequence | None = None, k: int = 1):
        """The `k` inputs of largest Pr(x) Pr(y | x) for each output, best first, ties by row.

        Args:
            log_prior: (n_in,) log weights of the inputs, -inf for impossible ones.
            outputs: words or column numbers; None is all of them.
            k: how many, from 1 to n_in.

        Returns:
            row numbers and log joint probabilities, both of shape (n outputs, k).
        """
        columns = np.arange(self.shape[1]) if outputs is None else _numbers(outputs, self.output_index, "outputs")
        k = min(k, self.shape[0])

        def block(part):
            joint = self._storage.log_columns(part)
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
        return tuple(np.concatenate(part) for part in zip(*parts, strict=True))


class _Dense:
    def __init__(self, log_matrix: np.ndarray):
        self.log_matrix, self.shape = log_matrix, log_matrix.shape

    def log_rows(self, rows):
        return self.log_matrix[rows]

    def log_columns(self, columns):
        return self.log_matrix[:, columns].T.copy()

    def sample(self, rows, uniforms):
        return _sample_by_row(rows, uniforms, lambda row: np.exp(self.log_matrix[row]))


class _Sparse:
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


class _Metric:
    """exp(-scale min(d, cutoff)) over the first `m` outputs, mixed with staying put."""

    def __init__(self, input_vectors, output_vectors, n_out, scale, cutoff, stay, own):
        self.input_vectors = np.ascontiguousarray(input_vectors, dtype=np.float64)
        self.output_vectors = np.ascontiguousarray(output_vectors, dtype=np.float64)
        self.shape = (len(self.input_vectors), n_out)
        self.scale, self.cutoff, self.stay, self.own = scale, cutoff, stay, own

    def _log_weights(self, a, b):
        """-scale min(d, cutoff), for rows of `a`; the block has a fixed height.

        Matrix products of one fixed shape give each row the same bits whatever stands in the other rows,
        so that a draw never depends on what else was sanitized in the same batch.
        """
        block = np.zeros((BLOCK, a.shape[1]))
        block[: len(a)] = a
        distances = euclidean(block, b)[: len(a)]
        if self.cutoff < np.inf:
            np.minimum(distances, self.cutoff, out=distances)
        distances *= -self.scale
        return distances

    @cached_property
    def log_normaliser(self) -> np.ndarray:
        """log Z_x of every input, (n_in,), computed once."""

        def block(rows):
            weights = self._log_weights(self.input_vectors[rows], self.output_vectors)
            top = weights.max(axis=1, keepdims=True)
            weights -= top
            return np.log(np.exp(weights, out=weights).sum(axis=1)) + top[:, 0]

        return np.concatenate(list(map_blocks(block, np.arange(self.shape[0]))))

    def log_rows(self, rows):
        log_rows = np.full((len(rows), self.shape[1]), -np.inf)
        m = len(self.output_vectors)
        with np.errstate(divide="ignore"):
            log_stay, log_move = np.log(self.stay[rows]), np.log1p(-self.stay[rows])
        for at in range(0, len(rows), BLOCK):
            part = slice(at, at + BLOCK)
            weights = self._log_weights(self.input_vectors[rows[part]], self.output_vectors)
            weights -= weights.max(axis=1, keepdims=True)
            weights -= np.log(np.exp(weights).sum(axis=1, keepdims=True))
            log_rows[part, :m] = weights + log_move[part, None]
        own = self.own[rows]
        i = np.flatnonzero(self.stay[rows] > 0)
        log_rows[i, own[i]] = np.logaddexp(log_rows[i, own[i]], log_stay[i])
        return log_rows

    def log_columns(self, columns):
        log_columns = np.full((len(columns), self.shape[0]), -np.inf)
        with np.errstate(divide="ignore"):
            log_stay, log_move = np.log(self.stay), np.log1p(-self.stay)
        drawn = np.flatnonzero(columns < len(self.output_vectors))
        for at in range(0, len(drawn), BLOCK):
            part = drawn[at : at + BLOCK]
            weights = self._log_weights(self.output_vectors[columns[part]], self.input_vectors)
            log_columns[part] = weights - self.log_normaliser + log_move
        owner = {j: i for i, j in enumerate(self.own) if self.stay[i] > 0}
        for at, column in enumerate(columns):
            if (x := owner.get(column)) is not None:
                log_columns[at, x] = np.logaddexp(log_columns[at, x], log_stay[x])
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

        def block(part):
            weights = self._log_weights(self.input_vectors[words[part]], self.output_vectors)
            weights -= weights.max(axis=1, keepdims=True)
            np.exp(weights, out=weights)
            np.cumsum(weights, axis=1, out=weights)
            for cumulative, i in zip(weights, part, strict=True):
                tokens = slice(starts[i], ends[i])
                drawn[moving[tokens]] = _invert(cumulative, left[tokens])

        list(map_blocks(block, np.arange(len(words))))
        return drawn


def map_blocks(function, numbers: np.ndarray) -> Iterator:
    """`function` of consecutive blocks of `numbers`, in order, on all cores (NumPy frees the interpreter)."""
    blocks = [numbers[at : at + BLOCK] for at in range(0, len(numbers), BLOCK)]
    if len(blocks) < 2:
        yield from map(function, blocks)
        return
    with threadpool_limits(1, user_api="blas"), ThreadPoolExecutor(os.cpu_count()) as pool:
        yield from pool.map(function, blocks)


def _invert(cumulative: np.ndarray, uniforms: np.ndarray) -> np.ndarray:
    """Smallest index whose cumulative weight exceeds u * total: an entry of positive weight, always."""
    total = cumulative[-1]
    found = np.searchsorted(cumulative, uniforms * total, side="right")
    return np.minimum(found, np.searchsorted(cumulative, total, side="left"))


def _sample_by_row(rows, uniforms, row_of) -> np.ndarray:
    drawn = np.empty(len(rows), dtype=np.intp)
    order = np.argsort(rows, kind="stable")
    words, starts = np.unique(np.asarray(rows)[order], return_index=True)
    for word, tokens in zip(words, np.split(order, starts[1:]), strict=True):
        drawn[tokens] = _invert(np.cumsum(row_of(word)), uniforms[tokens])
    return drawn


def _numbers(words: Sequence, index: dict[str, int], name: str) -> np.ndarray:
    if len(words) and isinstance(words[0], str):
        unknown = [word for word in words if word not in index]
        if unknown:
            raise KeyError(f"{name}: {unknown[0]!r} is not a word of the channel ({len(index)} {name})")
        words = [index[word] for word in words]
    return np.asarray(words, dtype=np.intp)


def _check_rows(smallest: float, sums: np.ndarray) -> None:
    if not smallest >= 0:  # also catches NaN
        raise ValueError(f"matrix: an entry is {smallest}; probabilities are at least 0")
    off = np.abs(sums - 1.0)
    if not (off <= 1e-9).all():
        worst = int(np.argmax(np.where(np.isnan(off), np.inf, off)))
        raise ValueError(f"matrix: row {worst} sums to {sums[worst]:.12g}; normalise the rows to 1")
