"""Mahalanobis (Xu, Aggarwal, Feyisetan and Teissier 2020): noise shaped like the cloud of words."""

import numpy as np

from textsan.base import checks
from textsan.mechanisms.base import Oov
from textsan.mechanisms.noise import NoiseMechanism
from textsan.privacy import Adjacency, Guarantee
from textsan.text.embeddings import Embeddings


class Mahalanobis(NoiseMechanism):
    """Nearest word to phi(x) + z, z of density proportional to exp(-epsilon |z|_M).

    |z|_M = sqrt(z' M^-1 z) is the regularised Mahalanobis norm, M = strength Sigma + (1 - strength) I, and Sigma
    the covariance of the word vectors divided by their mean variance, so that its trace is the dimension. Then
    z = M^(1/2) u for spherical u. Satisfies epsilon-metric DP for the distance |phi(x) - phi(x')|_M, not for the
    Euclidean one; `metric` has it. The word nearest to the noisy vector is the Euclidean one. The peer package
    `mldp-text` divides the covariance by the variance of all entries about their common mean, which gives less
    noise wherever coordinates have different means.

    Args:
        embeddings, oov: as for `VectorMechanism`.
        epsilon: privacy parameter per unit of |.|_M, from 1e-6 to 1e6.
        strength: weight of the words' covariance in the noise (the paper's lambda), from 0, which is FBDD, to 1.

    >>> Mahalanobis(Embeddings(["a", "b"], [[0.0], [9.0]]), epsilon=50).sanitize([["a", "b"]], seed=0)
    [['a', 'b']]
    """

    def __init__(self, embeddings: Embeddings, epsilon: float, *, strength: float = 0.2, oov: Oov = "uniform"):
        super().__init__(embeddings, epsilon, oov=oov)
        self.strength = checks.number("strength", strength, 0, 1)
        centred = self._points - self._points.mean(axis=0)
        covariance = centred.T @ centred / len(centred)
        variance = np.trace(covariance) / len(covariance)
        identity = np.eye(len(covariance))
        sigma = covariance / variance if variance > 0 else identity
        values, axes = np.linalg.eigh(self.strength * sigma + (1 - self.strength) * identity)
        if values.min() <= 1e-12:
            raise ValueError(f"strength: at {strength!r} the words span no whole space; pass a number below 1")
        self._root = (axes * np.sqrt(values)) @ axes.T
        self._whitener = (axes / np.sqrt(values)) @ axes.T

    @property
    def metric(self) -> Embeddings:
        """The vocabulary with vectors whose Euclidean distance is |phi(x) - phi(x')|_M."""
        return Embeddings(self.embeddings.words, self._points @ self._whitener)

    @property
    def guarantee(self) -> Guarantee:
        adjacency = Adjacency(distance=self.metric, distance_name="regularised Mahalanobis distance")
        return Guarantee("metric DP", self.epsilon, adjacency, self._outside())

    def _noise(self, spherical):
        return spherical @ self._root
