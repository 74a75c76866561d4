"""Concept erasure: vectors without what linear readers find of a concept.

LEACE (Belrose et al. 2023) is the least change. Whiten the vectors, so that no direction is louder than another;
there, take out the directions in which they go with the concept; undo the whitening. What is left has no
covariance with the concept, which is the same as that no linear reader beats a constant answer (their section 3).
Others may.

INLP (Ravfogel et al. 2020) trains a linear reader of the concept, projects the vectors on what it does not look
at, trains another on those, and so on. Each round costs the vectors a dimension for each concept.
"""

from dataclasses import dataclass
from typing import Self

import numpy as np

from textsan.base import checks
from textsan.embedding_leakage.heads import Standard

_NONE = 1e-9  # a correlation that is rounding alone


@dataclass(frozen=True)
class Eraser:
    """r(x) = x - W^+ P W (x - m), with W = (Cov x)^(-1/2) and P the projection on the columns of W Cov(x, z).

    Of all affine maps whose result has no covariance with the concept z it is the one that changes x least in
    mean square, whatever inner product gives the norm (Belrose et al. 2023, section 4).

    Attributes:
        mean: m, (d,).
        reads: U^T W, (k, d), U an orthonormal basis of the columns: what a vector says of the concept.
        writes: W^+ U, (d, k): what is taken off for it.

    >>> vectors = np.array([[0.0, 1.0], [0.0, -1.0], [2.0, 1.0], [2.0, -1.0]])
    >>> Eraser.fit(vectors, [0, 0, 1, 1])(vectors).tolist()
    [[1.0, 1.0], [1.0, -1.0], [1.0, 1.0], [1.0, -1.0]]
    """

    mean: np.ndarray
    reads: np.ndarray
    writes: np.ndarray

    @classmethod
    def fit(cls, vectors: np.ndarray, concept) -> Self:
        """Fit the eraser: exact for these vectors, and for others as near as they are like them.

        Args:
            vectors: (n, d), of texts that whoever erases may read.
            concept: (n,) or (n, k) numbers: what is to be erased, 0 and 1 for a keyword; k of them are erased
                together, in at most k dimensions.
        """
        x, z = _with_concept(vectors, concept)
        mean, z = x.mean(axis=0), (z - z.mean(axis=0)) / z.std(axis=0)
        # Singular values of the vectors: eigenvalues of their covariance would lose directions 1e8 times as quiet.
        _, lengths, directions = np.linalg.svd(x - mean, full_matrices=False)
        rounding = np.finfo(np.result_type(np.asarray(vectors), np.float32)).eps * max(x.shape) * lengths.max()
        known = lengths > rounding  # a direction that no vector has is read by nobody
        deviations, directions = lengths[known] / np.sqrt(len(x)), directions[known].T
        whitened = (x - mean) @ directions / deviations
        basis, sizes, _ = np.linalg.svd(whitened.T @ z / len(x), full_matrices=False)
        basis = basis[:, sizes > _NONE]
        return cls(mean, (directions / deviations @ basis).T, directions * deviations @ basis)

    @property
    def dimensions(self) -> int:
        """The number of directions that are taken out: at most one for each column of the concept."""
        return len(self.reads)

    def __call__(self, vectors: np.ndarray) -> np.ndarray:
        """Return vectors (n, d) without the concept, of the same type."""
        given = np.asarray(vectors)
        taken = (given - self.mean) @ self.reads.T @ self.writes.T
        return (given - taken).astype(given.dtype, copy=False)


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
        """Find the directions in which `rounds` logistic readers, one after another, see each concept.

        Args:
            vectors, concept: as for `Eraser.fit`; 0 and 1.
            rounds: readers of each concept, of at least 1; they end early where no direction is left.
        """
        from sklearn.linear_model import LogisticRegression

        x, z = _with_concept(vectors, concept)
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
        """The number of directions that are taken out."""
        return len(self.basis)

    def __call__(self, vectors: np.ndarray) -> np.ndarray:
        """Return vectors (n, d) without what the readers looked at, of the same type."""
        given = np.asarray(vectors)
        taken = self.standard(given) @ self.basis.T @ self.basis
        return (given - taken * self.standard.scale).astype(given.dtype, copy=False)


def _with_concept(vectors: np.ndarray, concept) -> tuple[np.ndarray, np.ndarray]:
    """Check a concept, and return vectors (n, d) and it, (n, k), as numbers."""
    x, z = np.asarray(vectors, dtype=float), np.asarray(concept, dtype=float)
    z = z.reshape(len(z), -1)
    if len(z) != len(x):
        raise ValueError(f"concept: {len(z)} rows for {len(x)} vectors; pass one a vector")
    if len(x) < 2 or (np.ptp(z, axis=0) == 0).any():
        raise ValueError(f"concept: it is the same for all {len(x)} vectors; pass texts with and without it")
    return x, z
