"""FBDD: calibrated multivariate perturbations (Feyisetan, Balle, Drake and Diethe 2020)."""

from textsan.mechanisms.noise import NoiseMechanism


class FBDD(NoiseMechanism):
    """Nearest word to phi(x) + z, z of density proportional to exp(-epsilon |z|): multivariate Laplace noise.

    The direction of z is uniform, its length Gamma with shape d and scale 1 / epsilon, so that it grows like
    d / epsilon with the dimension d. Satisfies epsilon-metric DP (dX-privacy) for the Euclidean distance: the
    densities at one noisy vector differ by at most the factor exp(epsilon d(x, x')), and taking the nearest word
    is post-processing.

    >>> from textsan import Embeddings
    >>> FBDD(Embeddings(["a", "b"], [[0.0], [9.0]]), epsilon=50).sanitize([["a", "b"]], seed=0)
    [['a', 'b']]
    """
