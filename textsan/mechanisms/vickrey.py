"""Vickrey (Xu, Aggarwal, Feyisetan and Teissier 2021): the first or the second nearest word."""

import numpy as np

from textsan.base import checks
from textsan.mechanisms.base import Oov
from textsan.mechanisms.noise import NoiseMechanism, nearest_rows
from textsan.text.embeddings import Embeddings


class Vickrey(NoiseMechanism):
    """FBDD's noise, and then one of the two words nearest to the noisy vector v.

    At distances d1 and d2 from v the first of them is released with

        Pr(first) = (1 - t) d2 / (t d1 + (1 - t) d2),

    else the second. At t = 0 this is FBDD, at t = 1 the second is always taken. Whatever t, the choice looks at v
    alone: it is post-processing, and epsilon-metric DP holds as for FBDD. The peer package `mldp-text` takes a
    softmax of (-d1, 0) instead, of squared distances with its default search, and skips x itself where it is
    nearest; a rule that looks at x is no post-processing: there a word is never released where it stood.

    Args:
        embeddings, oov: as for `VectorMechanism`.
        epsilon: privacy parameter per unit of distance, from 1e-6 to 1e6.
        t: weight of the second word, from 0 to 1.

    >>> Vickrey(Embeddings(["a", "b"], [[0.0], [9.0]]), epsilon=50, t=1).sanitize([["a", "b"]], seed=0)
    [['b', 'a']]
    """

    def __init__(self, embeddings: Embeddings, epsilon: float, *, t: float = 0.5, oov: Oov = "uniform"):
        super().__init__(embeddings, epsilon, oov=oov)
        self.t = checks.number("t", t, 0, 1)

    def _choose(self, points, uniforms):
        if len(self.embeddings) == 1:
            return np.zeros(len(points), dtype=np.intp)
        nearest, distances = nearest_rows(points, self._points, k=2)
        first, second = self.t * distances[:, 0], (1 - self.t) * distances[:, 1]
        # Multiplied out: with two words exactly at v both sides are 0, and the first is taken.
        return np.where(uniforms * (first + second) <= second, nearest[:, 0], nearest[:, 1])
