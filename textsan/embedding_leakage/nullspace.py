"""Iterative nullspace projection: a concept taken out of vectors direction by direction, as readers find it.

INLP (Ravfogel et al. 2020): train a linear reader of the concept, project the vectors on what it does not look at,
train another on those, and so on. Each round costs the vectors a dimension for each concept, whatever else was in
it; `erasure` takes out what goes with the concept at once, and no more than that.
"""

from dataclasses import dataclass
from typing import Self

import numpy as np

from textsan.base import checks
from textsan.embedding_leakage.erasure import with_concept
from textsan.embedding_leakage.heads import Standard


@dataclass(frozen=True)
class NullspaceProjection:
    """x - B^T B (x - m) in standardised coordinates, with the rows of B the directions of all readers.

    Attributes:
        standard: to mean 0 and standard deviation 1, and back.
        basis: B, (k, d), orthonormal.

    >>> vectors = np.array([[0.0, 1.0], [0.0, -1.0], [2.0, 1.0], [2.0, -1.0]])
    >>> NullspaceProjection.fit(vectors, [0, 0, 1, 1], rounds=1)(vectors).round(6).tolist()
    [[1.0, 1.0], [1.0, -1.0], [1.0, 1.0], [1.0, -1.0]]
    """

    standard: Standard
    basis: np.ndarray

    @classmethod
    def fit(cls, vectors: np.ndarray, concept, rounds: int) -> Self:
        """Directions in which `rounds` logistic readers, one after another, find each concept (their algorithm 1).

        Args:
            vectors: (n, d), of texts that whoever erases may read.
            concept: (n,) or (n, k) of 0 and 1: what is to be erased.
            rounds: readers of each concept, of at least 1; they end early where no direction is left.

        Raises:
            ValueError: not one row of the concept a vector, or a column that is the same for all of them.
        """
        from sklearn.linear_model import LogisticRegression

        x, z = with_concept(vectors, concept)
        standard = Standard(x)
        x = standard(x)
        basis = np.empty((0, x.shape[1]))
        for _ in range(checks.whole("rounds", rounds, low=1)):
            for truth in z.T:
                left = x - x @ basis.T @ basis
                reader = LogisticRegression(class_weight="balanced", C=0.01, max_iter=1000).fit(left, truth)
                direction = reader.coef_[0] - basis.T @ (basis @ reader.coef_[0])
                size = np.linalg.norm(direction)
                if size > 1e-9:
                    basis = np.vstack([basis, direction / size])
        return cls(standard, basis)

    @property
    def dimensions(self) -> int:
        """How many are taken out."""
        return len(self.basis)

    def __call__(self, vectors: np.ndarray) -> np.ndarray:
        """The vectors without what the readers looked at, (n, d), of the same type.

        Args:
            vectors: (n, d), those of the fit or others.
        """
        given = np.asarray(vectors)
        taken = self.standard(given) @ self.basis.T @ self.basis
        return (given - taken * self.standard.scale).astype(given.dtype, copy=False)
