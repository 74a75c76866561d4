"""The exponential storage with weights on the outputs: Pr(y | x) proportional to q(y) exp(-scale d(x, y)).

A weight is a constant that is taken off the scaled distance, so that everything else is as in `exponential`.
"""

from functools import cached_property
from typing import Any

import numpy as np

from textsan.channel.exponential import Exponential


class WeightedExponential(Exponential):
    """q(y) exp(-scale d(x, y)) / Z_x, d Euclidean, for finite log q, (m,).

    `stay` (n,) are probabilities of releasing x itself, 0 without; `own` (n,) the outputs that are x, -1 without.
    Of more than m `outputs` the later ones are reached by staying only.

    >>> far = WeightedExponential(np.zeros((1, 1)), np.zeros((2, 1)), np.log([3.0, 1.0]), scale=1.0)
    >>> np.exp(far.log_rows(np.array([0])))
    array([[0.75, 0.25]])
    """

    def __init__(self, input_vectors, output_vectors, log_weights, scale, stay=None, own=None, outputs=None):
        n, m = len(input_vectors), len(output_vectors)
        stay = np.zeros(n) if stay is None else stay
        own = np.full(n, -1, dtype=np.intp) if own is None else own
        super().__init__(input_vectors, output_vectors, outputs or m, scale, np.inf, stay, own, "cpu")
        self._log_weights = np.asarray(log_weights, dtype=np.float64)
        self._rows: Any = _Weighted(self._rows, self._log_weights)

    @cached_property
    def _columns(self):
        return _Weighted(super()._columns, self._log_weights, of_rows=True)

    @cached_property
    def _twins(self):
        """None: with weights, a pair's entry is not that of the pair turned round."""
        return None

    def columns_on(self, device):
        import torch

        return lambda columns: torch.as_tensor(self.log_columns(np.asarray(columns)), device=device)

    def keeping(self, rows, columns, shape):
        unweighted = super().keeping(rows, columns, shape)
        return self._with(unweighted._mirror[1], unweighted.stay, unweighted.own, shape[1])

    def restrict(self, rows):
        return self._with(np.asarray(self._mirror[1])[rows], self.stay[rows], self.own[rows], self.shape[1])

    def _with(self, input_vectors, stay, own, outputs):
        given = input_vectors, self._mirror[0], self._log_weights, self._mirror[2]
        return WeightedExponential(*given, stay, own, outputs)


class _Weighted:
    """Scaled distances less log weights, of their columns, or of their rows if they are seen from the outputs."""

    def __init__(self, distances, log_weights: np.ndarray, *, of_rows: bool = False):
        self._distances, self._log_weights, self._of_rows = distances, log_weights, of_rows

    def block(self, rows, columns: slice = slice(None), **given) -> np.ndarray:
        scaled = self._distances.block(rows, columns, **given)
        scaled -= self._log_weights[rows][:, None] if self._of_rows else self._log_weights[columns]
        return scaled
