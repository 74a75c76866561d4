"""Mechanisms that add noise to a word's vector and release the word nearest to the sum."""

from threading import local

import numpy as np
import scipy
from tqdm import tqdm

from textsan.base import checks
from textsan.base.blocks import BLOCK, map_blocks
from textsan.base.randomness import streams
from textsan.channel import Channel
from textsan.mechanisms.base import Oov
from textsan.mechanisms.vectors import VectorMechanism
from textsan.text.embeddings import Embeddings

DRAWS = 1000
"""Draws a row of `NoiseMechanism.channel`."""
_AT_ONCE = 1 << 16  # tokens whose noise is held at a time


class NoiseMechanism(VectorMechanism):
    """Releases the word nearest to phi(x) + z, z of density proportional to exp(-epsilon |z|) in some norm.

    Nearest words are exact and found in batches. There is no closed form of Pr(y | x) above one dimension:
    `estimate_channel` simulates. Sub-classes shape the noise (`_noise`) or choose among near words (`_choose`).

    Args:
        epsilon: privacy parameter per unit of distance, from 1e-6 to 1e6.
        embeddings, oov: as for `VectorMechanism`.
    """

    def __init__(self, embeddings: Embeddings, epsilon: float, *, oov: Oov = "uniform"):
        super().__init__(embeddings, epsilon, oov=oov)
        if self.epsilon < 1e-6:  # the noise of smaller ones has no use, and at 0 no density
            raise ValueError(f"epsilon: {epsilon!r} is too small for noise; pass a number of at least 1e-06")
        self._estimates: dict = {}

    @property
    def channel(self) -> Channel:
        """The channel as `DRAWS` draws a row show it: there is no closed form. See `Channel.estimated`.

        That is one search through the vocabulary a draw: seconds for 1,000 words, an hour for 20,000. For some
        rows alone, or for more draws, there is `estimate_channel`.
        """
        return self.estimate_channel(draws=DRAWS, seed=0)

    @property
    def replacements(self) -> list[str]:
        return self.embeddings.words

    @property
    def metric(self) -> Embeddings:
        """The vocabulary with vectors in whose Euclidean distance the noise is spherical: its own."""
        return self.embeddings

    def estimate_channel(self, inputs=None, draws: int = 1000, *, seed) -> Channel:
        """Simulate rows of the channel, kept in memory where the seed is an int.

        Args:
            inputs: words; None is the whole vocabulary, which takes |V| draws searches through |V| words.
            draws: how many a row.
            seed: None, int or Generator; a row depends on the seed and its word, not on the other rows.
        """
        inputs = list(self.inputs if inputs is None else inputs)
        draws = checks.whole("draws", draws, low=1)
        if not isinstance(seed, int):
            return self._simulate(inputs, draws, seed)
        key = tuple(inputs), draws, seed
        if key not in self._estimates:
            self._estimates[key] = self._simulate(inputs, draws, seed)
        return self._estimates[key]

    def _simulate(self, inputs, draws, seed):
        rows = self.embeddings.rows(inputs)
        pairs = zip(rows, streams(seed, rows), strict=True)
        progress = tqdm(pairs, desc="channel", unit="row", total=len(rows), disable=None, delay=2)
        drawn = [self._draw(np.full(draws, row), self._variates(stream, draws)) for row, stream in progress]
        lines = np.repeat(np.arange(len(rows)), draws)
        shape = (len(inputs), len(self.embeddings))
        counted = scipy.sparse.coo_array((np.ones(len(lines)), (lines, np.concatenate(drawn))), shape=shape)
        return Channel.estimated(counted.tocsr(), draws, inputs, self.embeddings.words)

    def _variates(self, stream, n):
        # One uniform, the direction, the radius in units of 1 / epsilon.
        dimension = self.embeddings.vectors.shape[1]
        uniforms, normals = stream.random((n, 1)), stream.standard_normal((n, dimension))
        return np.hstack([uniforms, normals, stream.standard_gamma(dimension, (n, 1))])

    def _draw(self, rows, variates):
        drawn = np.empty(len(rows), dtype=np.intp)
        for at in range(0, len(rows), _AT_ONCE):
            part = slice(at, at + _AT_ONCE)
            uniforms, normals, radii = variates[part, 0], variates[part, 1:-1], variates[part, -1:]
            directions = normals / np.linalg.norm(normals, axis=1, keepdims=True)
            points = self._points[rows[part]] + self._noise(directions * (radii / self.epsilon))
            drawn[part] = self._choose(points, uniforms)
        return drawn

    def _noise(self, spherical: np.ndarray) -> np.ndarray:
        """Noise from spherical noise, (n, d): uniform direction, Gamma(d, 1 / epsilon) radius."""
        return spherical

    def _choose(self, points: np.ndarray, uniforms: np.ndarray) -> np.ndarray:
        """The row released for each noisy vector."""
        return nearest_rows(points, self._points)[0][:, 0]


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
