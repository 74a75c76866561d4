"""Exact nearest words, in blocks of one matrix product."""

import numpy as np

from textsan.channel import map_blocks

_HEIGHT = 64  # points at a time; products of one fixed shape make an answer independent of its neighbours


def nearest_rows(points: np.ndarray, vectors: np.ndarray, k: int = 1) -> tuple[np.ndarray, np.ndarray]:
    """The `k` rows of `vectors` nearest to each of `points` in Euclidean distance, nearest first, ties by row.

    Args:
        points: (n, d).
        vectors: (m, d), m at least k.
        k: how many; meant for a few.

    Returns:
        row numbers (n, k) and distances (n, k).

    >>> nearest_rows(np.array([[1.9]]), np.array([[0.0], [1.0], [3.0]]), k=2)[0]
    array([[1, 2]])
    """
    points = np.ascontiguousarray(points, dtype=np.float64)
    columns = np.ascontiguousarray(vectors.T, dtype=np.float64)
    half_norms = np.einsum("ij,ij->j", columns, columns) / 2

    def block(numbers):
        part = np.zeros((_HEIGHT, points.shape[1]))
        part[: len(numbers)] = points[numbers]
        # |v|^2 / 2 - pv orders the rows as |p - v| does.
        scores = half_norms - part @ columns
        found = np.empty((len(numbers), k), dtype=np.intp)
        for rank in range(k):
            found[:, rank] = scores[: len(numbers)].argmin(axis=1)
            scores[np.arange(len(numbers)), found[:, rank]] = np.inf
        return found

    parts = list(map_blocks(block, np.arange(len(points))))
    found = np.concatenate(parts) if parts else np.empty((0, k), dtype=np.intp)
    distances = [np.linalg.norm(points - vectors[found[:, rank]], axis=1) for rank in range(k)]
    return found, np.stack(distances, axis=1)
