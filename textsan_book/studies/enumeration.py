"""Small worlds: sentences and sanitized sentences few enough to enumerate, so that every probability is exact.

A world is the joint distribution of X_1 .. X_n and Y_1 .. Y_n as one array. Nothing is assumed of it: token-wise
mechanisms give one kind of world, mechanisms with a memory another. Theorems are checked here, term by term.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy

LIMIT = 1 << 24  # entries of the joint distribution: 128 MiB


class JointDistribution:
    """The distribution Pr(x_1, .., x_n, y_1, .., y_n): an array with n axes for words, then n axes for outputs."""

    def __init__(self, joint):
        self.joint = np.asarray(joint, dtype=np.float64)
        self.n = self.joint.ndim // 2
        if self.joint.ndim % 2 or not self.n:
            raise ValueError(f"joint: {self.joint.ndim} axes; pass n axes for words, then n for outputs")
        if not (self.joint >= 0).all() or not abs(self.joint.sum() - 1) <= 1e-9:
            raise ValueError("joint: pass probabilities of at least 0 that sum to 1")

    @classmethod
    def tokenwise(cls, source, matrix) -> "JointDistribution":
        """Make the world in which each word goes through the channel Pr(y | x), (m, outputs), by itself.

        The source is Pr(x_1, .., x_n), n axes of m words.
        """
        source, matrix = _checked(source, matrix)
        n = source.ndim
        operands: list[Any] = [source, list(range(n))]
        for i in range(n):
            operands += [matrix, [i, n + i]]
        return cls(np.einsum(*operands, list(range(2 * n))))

    @classmethod
    def reusing(cls, source, matrix) -> "JointDistribution":
        """Make the world in which a word that occurs again in a sentence gets the replacement it got first.

        Released code of CusText attacks does this (Tong et al. 2024). It is no token-wise mechanism.
        """
        source, matrix = _checked(source, matrix)
        n, outputs = source.ndim, matrix.shape[1]
        joint = np.zeros(source.shape + (outputs,) * n)
        for x in np.ndindex(source.shape):
            distinct = sorted(set(x))
            for drawn in np.ndindex((outputs,) * len(distinct)):
                y = tuple(drawn[distinct.index(word)] for word in x)
                joint[x + y] = source[x] * np.prod(matrix[distinct, drawn])
        return cls(joint)

    def marginal(self, inputs: Sequence[int] = (), outputs: Sequence[int] = ()) -> np.ndarray:
        """Compute Pr of the words at `inputs` and the outputs at `outputs`, axes in this order."""
        axes = [*inputs, *(self.n + i for i in outputs)]
        others = tuple(axis for axis in range(2 * self.n) if axis not in axes)
        kept = sorted(axes)
        return self.joint.sum(axis=others).transpose([kept.index(axis) for axis in axes])

    def vulnerability(self, i: int, inputs: Sequence[int] = (), outputs: Sequence[int] = ()) -> float:
        """Compute V(X_i | X_inputs, Y_outputs): the success rate of the best guess of X_i from what is given."""
        return float(self.marginal([i, *inputs], outputs).max(axis=0).sum())

    def entropy(self, i: int, inputs: Sequence[int] = (), outputs: Sequence[int] = ()) -> float:
        """Compute H(X_i | X_inputs, Y_outputs), in bits."""
        joint = self.marginal([i, *inputs], outputs)
        return float((scipy.special.entr(joint).sum() - scipy.special.entr(joint.sum(axis=0)).sum()) / np.log(2))

    def hierarchy(self, i: int) -> tuple[float, float, float, float]:
        """Compute V(X) <= V(X | Y) <= V(X | Y, C) <= V(X | Y, X_others) at position i, C the other outputs.

        The last step holds for token-wise mechanisms: there C is the other words with noise.
        """
        everything = [j for j in range(self.n) if j != i]
        return (
            self.vulnerability(i),
            self.vulnerability(i, outputs=[i]),
            self.vulnerability(i, outputs=range(self.n)),
            self.vulnerability(i, inputs=everything, outputs=[i]),
        )

    def value(self, rule: np.ndarray, i: int) -> float:
        """Compute the success rate at position i of a rule: the word guessed for each y_1 .. y_n, n axes."""
        joint = self.marginal([i], range(self.n))
        return float(np.take_along_axis(joint, np.asarray(rule)[None], axis=0).sum())

    def best_rule(self, i: int) -> np.ndarray:
        """Compute argmax_x Pr(x_i = x | y_1 .. y_n), the rule of Theorem 2."""
        return self.marginal([i], range(self.n)).argmax(axis=0)

    def shortlist_rule(self, i: int, k: int) -> np.ndarray:
        """Apply the rule among the `k` words of largest Pr(x_i = x | y_i): the K-ASR bound's (Definition 2)."""
        joint, alone = self.marginal([i], range(self.n)), self.marginal([i], [i])
        rank = np.argsort(np.argsort(-alone, axis=0, kind="stable"), axis=0)
        listed = np.moveaxis(rank[(...,) + (None,) * (self.n - 1)] < k, 1, i + 1)
        return np.where(listed, joint, -1.0).argmax(axis=0)

    def terms(self, i: int) -> dict[str, np.ndarray]:
        """Compute the factors of Eq. 6, axes (x, y, c_1, .., c_{n-1}), of length 1 where nothing depends on one.

        Pr(x | y, c) = Pr(y | x) Pr(x) Pr(c | x, y) / (Pr(y) Pr(c | y)); and Pr(c | x), for the lemma. What is
        conditioned on an impossible event is nan.
        """
        joint = self.marginal([i], [i, *(j for j in range(self.n) if j != i)])
        context = tuple(range(2, joint.ndim))
        xy, xc = joint.sum(axis=context, keepdims=True), joint.sum(axis=1, keepdims=True)
        x, y = xy.sum(axis=1, keepdims=True), xy.sum(axis=0, keepdims=True)
        yc = joint.sum(axis=0, keepdims=True)
        with np.errstate(invalid="ignore", divide="ignore"):
            return {
                "x | y, c": joint / yc,
                "y | x": xy / x,
                "x": x,
                "c | x, y": joint / xy,
                "y": y,
                "c | y": yc / y,
                "c | x": xc / x,
            }


def markov_source(initial, transition, n: int) -> np.ndarray:
    """Compute Pr(x_1, .., x_n) of a Markov source, n axes, from Pr(x_1) and rows Pr(. | x)."""
    source = np.asarray(initial, dtype=np.float64)
    for _ in range(n - 1):
        source = source[..., None] * np.asarray(transition, dtype=np.float64)
    return source


def _checked(source, matrix) -> tuple[np.ndarray, np.ndarray]:
    source, matrix = np.asarray(source, dtype=np.float64), np.asarray(matrix, dtype=np.float64)
    entries = source.size * matrix.shape[1] ** source.ndim
    if entries > LIMIT:
        raise ValueError(f"source: the world has {entries} entries, above {LIMIT}; take fewer words or positions")
    return source, matrix
