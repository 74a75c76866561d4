"""Linear concept erasure: the least change of vectors after which no linear reader sees a concept.

LEACE (Belrose et al. 2023). Whiten the vectors, so that no direction is louder than another; there, take out the
directions in which they go with the concept; undo the whitening. What is left has no covariance with the concept,
which is the same as that no linear reader beats a constant answer (their section 3). Other readers may.
"""

from dataclasses import dataclass
from typing import Self

import numpy as np

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
        """The eraser of these vectors: exact for them, and for others as near as they are like them.

        Args:
            vectors: (n, d), of texts that whoever erases may read.
            concept: (n,) or (n, k) numbers: what is to be erased, 0 and 1 for a keyword; k of them are erased
                together, in at most k dimensions.

        Raises:
            ValueError: not one row of the concept a vector, or a column that is the same for all of them.
        """
        x, z = with_concept(vectors, concept)
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
        """How many are taken out: at most one for each column of the concept."""
        return len(self.reads)

    def __call__(self, vectors: np.ndarray) -> np.ndarray:
        """The vectors without the concept, (n, d), of the same type.

        Args:
            vectors: (n, d), those of the fit or others.
        """
        given = np.asarray(vectors)
        taken = (given - self.mean) @ self.reads.T @ self.writes.T
        return (given - taken).astype(given.dtype, copy=False)


def with_concept(vectors: np.ndarray, concept) -> tuple[np.ndarray, np.ndarray]:
    """Vectors and the concept that is to be erased from them, (n, d) and (n, k), as numbers.

    Args:
        vectors: (n, d).
        concept: (n,) or (n, k).

    Raises:
        ValueError: not one row of the concept a vector, or a column that is the same for all of them.

    >>> with_concept(np.eye(2), [0, 1])[1].tolist()
    [[0.0], [1.0]]
    """
    x, z = np.asarray(vectors, dtype=float), np.asarray(concept, dtype=float)
    z = z.reshape(len(z), -1)
    if len(z) != len(x):
        raise ValueError(f"concept: {len(z)} rows for {len(x)} vectors; pass one a vector")
    if len(x) < 2 or (np.ptp(z, axis=0) == 0).any():
        raise ValueError(f"concept: it is the same for all {len(x)} vectors; pass texts with and without it")
    return x, z
