"""Exact nearest words, in blocks of one matrix product."""

from threading import local

import numpy as np

from textsan.base.blocks import BLOCK, map_blocks


def nearest_rows(points: np.ndarray, vectors: np.ndarray, k: int = 1) -> tuple[np.ndarray, np.ndarray]:
    """Find rows and distances of the `k` of `vectors` nearest to each of `points`, (n, k), ties by row.

    >>> nearest_rows(np.array([[1.9]]), np.array([[0.0], [1.0], [3.0]]), k=2)[0]
    array([[1, 2]])
    """
    points = np.ascontiguousarray(points, dtype=np.float64)
    columns = np.ascontiguousarray(vectors.T, dtype=np.float64)
    # [p, 1] times [-v, |v|^2 / 2] is a score that orders the rows as |p - v| does.
    columns = np.vstack([-columns, np.einsum("ij,ij->j", columns, columns) / 2])
    space = local()

    def block(numbers):
        if not hasattr(space, "scores"):
            space.scores = np.empty((BLOCK, columns.shape[1]))
        part = np.ones((BLOCK, len(columns)))
        part[: len(numbers), :-1] = points[numbers]
        scores = np.matmul(part, columns, out=space.scores)
        found = np.empty((len(numbers), k), dtype=np.intp)
        for rank in range(k):
            found[:, rank] = scores[: len(numbers)].argmin(axis=1)
            scores[np.arange(len(numbers)), found[:, rank]] = np.inf
        return found

    parts = list(map_blocks(block, np.arange(len(points))))
    found = np.concatenate(parts) if parts else np.empty((0, k), dtype=np.intp)
    distances = [np.linalg.norm(points - vectors[found[:, rank]], axis=1) for rank in range(k)]
    return found, np.stack(distances, axis=1)
