"""Mechanisms that add noise to a word's vector and release the word nearest to the sum."""

from functools import cached_property
from typing import NamedTuple

import numpy as np
from scipy import sparse, stats

from textsan.channel import Channel
from textsan.mechanisms.base import Mechanism
from textsan.mechanisms.neighbours import nearest_rows
from textsan.text import checks
from textsan.text.embeddings import Embeddings
from textsan.text.randomness import streams

_DRAWS = 1 << 16  # tokens whose noise is held at a time


class EstimatedChannel(NamedTuple):
    """Rows of a channel estimated by simulation: frequencies, not probabilities.

    A word that was never drawn has frequency 0 and may still have a positive probability, so that no epsilon can
    be read off this channel; `interval` says how much probability a frequency leaves room for.

    Args:
        channel: the frequencies of `draws` draws a row.
        draws: draws a row.
    """

    channel: Channel
    draws: int

    def interval(self, x: str, y: str, confidence: float = 0.95) -> tuple[float, float]:
        """The Clopper-Pearson interval of Pr(y | x)."""
        frequency = self.channel.rows([x])[0, self.channel.output_index[y]]
        result = stats.binomtest(round(frequency * self.draws), self.draws)
        interval = result.proportion_ci(confidence, method="exact")
        return float(interval.low), float(interval.high)


class NoiseMechanism(Mechanism):
    """Releases the word nearest to phi(x) + z, z of density proportional to exp(-epsilon |z|) in some norm.

    Nearest words are exact and found in batches. There is no closed form of Pr(y | x) above one dimension:
    `estimate_channel` simulates. Sub-classes shape the noise (`_noise`) or choose among near words (`_choose`).

    Args:
        embeddings: the vocabulary, inputs and outputs alike.
        epsilon: privacy parameter per unit of distance, above 0.
        oov: "uniform", "keep" or "error" for words without a vector.
    """

    def __init__(self, embeddings: Embeddings, epsilon: float, *, oov: str = "uniform"):
        super().__init__(embeddings.words, oov=oov)
        self.embeddings = embeddings
        self.epsilon = checks.number("epsilon", epsilon, low=0)
        if self.epsilon < 1e-6:  # the noise of smaller ones has no use, and at 0 no density
            raise ValueError(f"epsilon: {epsilon!r} is too small for noise; pass a number of at least 1e-06")
        self._estimates = {}

    @property
    def channel(self) -> Channel:
        """Not available: there is no closed form."""
        name = type(self).__name__
        raise ValueError(
            f"channel: {name} has no closed form; estimate_channel(words, draws, seed=0) simulates rows"
        )

    @property
    def replacements(self) -> list[str]:
        """The vocabulary."""
        return self.embeddings.words

    def estimate_channel(self, inputs=None, draws: int = 1000, *, seed) -> EstimatedChannel:
        """Rows of the channel by simulation, kept in memory where the seed is an int.

        Args:
            inputs: words; None is the whole vocabulary, which takes |V| draws searches through |V| words.
            draws: how many a row.
            seed: None, int or Generator; a row depends on the seed and its word, not on the other rows.

        Raises:
            KeyError: a word without a vector.
        """
        inputs = list(self.inputs if inputs is None else inputs)
        draws = checks.whole("draws", draws, low=1)
        key = (tuple(inputs), draws, seed) if isinstance(seed, int) else None
        if key is None or key not in self._estimates:
            estimate = EstimatedChannel(self._simulate(inputs, draws, seed), draws)
            if key is None:
                return estimate
            self._estimates[key] = estimate
        return self._estimates[key]

    def _simulate(self, inputs, draws, seed):
        rows = self.embeddings.rows(inputs)
        drawn = [
            self._draw(np.full(draws, row), self._variates(stream, draws))
            for row, stream in zip(rows, streams(seed, rows), strict=True)
        ]
        lines = np.repeat(np.arange(len(rows)), draws)
        shares = np.full(len(lines), 1 / draws)
        shape = (len(inputs), len(self.embeddings))
        counted = sparse.coo_array((shares, (lines, np.concatenate(drawn))), shape=shape)
        return Channel.from_sparse(counted.tocsr(), inputs, self.embeddings.words)

    def _variates(self, stream, n):
        # One uniform, the direction, the radius in units of 1 / epsilon.
        dimension = self.embeddings.vectors.shape[1]
        uniforms, normals = stream.random((n, 1)), stream.standard_normal((n, dimension))
        return np.hstack([uniforms, normals, stream.standard_gamma(dimension, (n, 1))])

    def _draw(self, rows, variates):
        drawn = np.empty(len(rows), dtype=np.intp)
        for at in range(0, len(rows), _DRAWS):
            part = slice(at, at + _DRAWS)
            uniforms, normals, radii = variates[part, 0], variates[part, 1:-1], variates[part, -1:]
            directions = normals / np.linalg.norm(normals, axis=1, keepdims=True)
            points = self._vectors[rows[part]] + self._noise(directions * (radii / self.epsilon))
            drawn[part] = self._choose(points, uniforms)
        return drawn

    @cached_property
    def _vectors(self):
        return np.asarray(self.embeddings.vectors, dtype=np.float64)

    def _noise(self, spherical: np.ndarray) -> np.ndarray:
        """Noise from spherical noise, (n, d): uniform direction, Gamma(d, 1 / epsilon) radius."""
        return spherical

    def _choose(self, points: np.ndarray, uniforms: np.ndarray) -> np.ndarray:
        """The row released for each noisy vector."""
        return nearest_rows(points, self._vectors)[0][:, 0]
