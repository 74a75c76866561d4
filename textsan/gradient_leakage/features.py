"""Two-layer reconstruction: what a pooler reads, from its gradient (Wang et al. 2023, Li et al. 2023).

Row j of the pooler's gradient is g_j = sum_i c_i sigma'(w_j . x_i) x_i / m, with c_i the loss's slope for sentence
i. With normal w_j Stein's lemma turns sums over j into derivatives of sigma: the tensor
T = sum_j g_j (x) (w_j w_j^T - I) estimates sum_i c_i E[sigma'''(w . x_i)] x_i (x) x_i (x) x_i, whose
components are the features. Every g_j lies in the span of the x_i: singular vectors of the gradient are the
baseline.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import least_squares, linear_sum_assignment

from textsan.base import checks
from textsan.gradient_leakage.cases import Shared

_BLOCK = 2000  # rows of the pooler at a time
_RESTARTS, _ITERATIONS = 20, 100  # of the power method
_ROWS = 500  # of the pooler, that features are fitted to


def hermite(w: np.ndarray, order: int) -> np.ndarray:
    """Compute the tensor H_p(w), p from 1 to 4, with E[f(w) H_p(w)] = E[the p-th derivative of f], w normal.

    H_p(w) = (-1)^p grad^p phi(w) / phi(w), phi the density: H_1 = w, H_2 = w w^T - I, and so on by the recurrence
    H_p = w (x) H_{p-1} - grad H_{p-1}. For small sizes; sums over many w are products of matrices, see
    `feature_tensor`.

    >>> hermite(np.array([2.0, 0.0]), 2)
    array([[ 3.,  0.],
           [ 0., -1.]])
    """
    w, eye = np.asarray(w, dtype=float), np.eye(len(w))
    order = int(checks.number("order", checks.whole("order", order, 1), 1, 4))
    if order == 1:
        return w
    two = np.multiply.outer(w, w)
    if order == 2:
        return two - eye
    if order == 3:
        pairs = np.multiply.outer(eye, w)
        return np.multiply.outer(two, w) - pairs - pairs.transpose(0, 2, 1) - pairs.transpose(2, 0, 1)
    fours, mixed = np.multiply.outer(two, two), np.multiply.outer(eye, two)
    places = [(0, 1, 2, 3), (0, 2, 1, 3), (0, 2, 3, 1), (2, 0, 1, 3), (2, 0, 3, 1), (2, 3, 0, 1)]
    both = np.multiply.outer(eye, eye)
    halves = [(0, 1, 2, 3), (0, 2, 1, 3), (0, 2, 3, 1)]
    return fours - sum(mixed.transpose(p) for p in places) + sum(both.transpose(p) for p in halves)


@dataclass(frozen=True)
class TwoLayer:
    """The server's view of the pooler's random rows.

    Attributes:
        weights: w_j, (m, d').
        gradient: g_j in the same coordinates, (m, d').
    """

    weights: np.ndarray
    gradient: np.ndarray

    @classmethod
    def of(cls, shared: Shared) -> "TwoLayer":
        """The widened part of the pooler of a case."""
        victim = shared.victim
        if not victim.recovered:
            raise ValueError("victim: its pooler is not widened; load it with width=30522, for example")
        d, kept = victim.pooler.weight.shape[1], victim.recovered
        rows = victim.pooler.weight.detach()[d:, :kept], shared.gradient["pooler.weight"][d:, :kept]
        return cls(*(one.double().numpy() for one in rows))

    @classmethod
    def own(cls, shared: Shared) -> tuple["TwoLayer", np.ndarray]:
        """The rows of a pooler of two classes as it is, nothing widened, and the a_j of `fit_features`."""
        victim = shared.victim
        if len(victim.classifier.bias) != 2:
            raise ValueError(f"victim: {len(victim.classifier.bias)} classes; this is written for 2")
        rows = victim.pooler.weight.detach(), shared.gradient["pooler.weight"]
        slopes = (victim.classifier.weight[1] - victim.classifier.weight[0]).detach().double().numpy()
        return cls(*(one.double().numpy() for one in rows)), slopes

    def projected(self, basis: np.ndarray) -> "TwoLayer":
        """Change to the coordinates of an orthonormal basis, (d', k), of a space that holds the features."""
        return TwoLayer(self.weights @ basis, self.gradient @ basis)


def row_space(gradient: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray]:
    """The first right singular vectors of a gradient, (d', count), and all singular values.

    With one sentence the first is its feature's direction, exactly; with more they span the features.
    """
    values, vectors = np.linalg.eigh(gradient.T @ gradient)
    return vectors[:, ::-1][:, :count], np.sqrt(np.clip(values[::-1], 0, None))


def feature_tensor(seen: TwoLayer, symmetric: bool = True, *, along: np.ndarray | None = None) -> np.ndarray:
    """Compute T = sum_j g_j (x) H_2(w_j), (d', d', d'), or its symmetric mean (Li et al. 2023, App. B.1).

    Args:
        along: a direction a, (d',). With it H_3(w_j)(I, I, a) stands in place of H_2(w_j): H_4 of App. B.2, one
            order lower for gradients of w_j. T estimates sum_i c_i E[sigma^(4)(w . x_i)] (a . x_i) x_i (x) x_i (x)
            x_i, for an activation whose third derivative is zero in mean.

    >>> rng = np.random.default_rng(0)
    >>> seen = TwoLayer(rng.normal(size=(5, 2)), rng.normal(size=(5, 2)))
    >>> loop = sum(np.multiply.outer(g, hermite(w, 2)) for w, g in zip(seen.weights, seen.gradient))
    >>> np.allclose(feature_tensor(seen, symmetric=False), loop)
    True
    """
    (m, d), tensor = seen.weights.shape, 0.0
    gradient = seen.gradient if along is None else seen.gradient * (seen.weights @ along)[:, None]
    for at in range(0, m, _BLOCK):
        w, g = seen.weights[at : at + _BLOCK], gradient[at : at + _BLOCK]
        tensor = tensor + g.T @ (w[:, :, None] * w[:, None, :]).reshape(len(w), d * d)
    tensor = np.reshape(tensor, (d, d, d)) - gradient.sum(0)[:, None, None] * np.eye(d)
    if along is not None:  # H_3(w)(I, I, a) = (w . a) H_2(w) - w (x) a - a (x) w
        both = np.multiply.outer(seen.gradient.T @ seen.weights, along)
        tensor = tensor - both - both.transpose(0, 2, 1)
    if not symmetric:
        return tensor
    return (tensor + tensor.transpose(1, 0, 2) + tensor.transpose(1, 2, 0)) / 3


def power_method(tensor: np.ndarray, count: int, *, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Find `count` components of a symmetric tensor by the robust power method (Anandkumar et al. 2014).

    It is exact where components are orthogonal. Weights are (count,), unit vectors (count, k).
    """
    generator, left = np.random.default_rng(seed), tensor.copy()
    weights, vectors = [], []
    for _ in range(count):
        starts = generator.normal(size=(_RESTARTS, len(tensor)))
        starts /= np.linalg.norm(starts, axis=1, keepdims=True)
        for _ in range(_ITERATIONS):
            starts = np.einsum("abc,rb,rc->ra", left, starts, starts)
            starts /= np.linalg.norm(starts, axis=1, keepdims=True).clip(1e-300)
        values = np.einsum("abc,ra,rb,rc->r", left, starts, starts, starts)
        best = np.abs(values).argmax()
        weights.append(values[best])
        vectors.append(starts[best])
        left = left - weights[-1] * np.einsum("a,b,c->abc", *[vectors[-1]] * 3)
    return np.array(weights), np.array(vectors)


def decompose(tensor: np.ndarray, count: int, *, restarts: int = 20, seed: int = 0):
    """Compute the CP decomposition of a symmetric tensor (k, k, k), sum_i lambda_i v_i (x) v_i (x) v_i.

    Alternating least squares of `tensorly` from several starts, the one that fits best; components need not be
    orthogonal.

    Returns:
        lambda (count,), sign and all: those that fit the tensor best for these vectors; and unit vectors v
        (count, k), that with the largest |T(v, v, v)| first.

    Raises:
        ValueError: the tensor is zero: the classifier is so sure of every label that no gradient is left.
    """
    from tensorly.decomposition import parafac

    size, best, error = np.linalg.norm(tensor), None, np.inf
    if not size > 0:
        raise ValueError("tensor: it is zero; a classifier that is sure of every label has no gradient to read")
    generator = np.random.RandomState(seed)  # what tensorly takes
    options: dict[str, Any] = {"n_iter_max": 200, "init": "random", "tol": 1e-10, "normalize_factors": True}
    for _ in range(restarts):
        weights, (a, b, c) = parafac(tensor / size, count, **options, random_state=generator)
        off = np.linalg.norm(np.einsum("r,ar,br,cr->abc", weights, a, b, c) - tensor / size)
        if off < error - 1e-12:
            best, error = (weights, a, b, c), off
        if error < 1e-8:
            break
    assert best is not None  # restarts is at least 1
    weights, a, b, c = best
    # The three factors are one up to sign where the tensor is symmetric: the sign goes to the weight.
    b, c = b * np.sign((a * b).sum(0)), c * np.sign((a * c).sum(0))
    vectors = a + b + c
    vectors /= np.linalg.norm(vectors, axis=0).clip(1e-300)
    along = np.array([np.einsum("abc,a,b,c->", tensor, v, v, v) for v in vectors.T])
    order = np.argsort(-np.abs(along))
    vectors, along = vectors.T[order], along[order]
    # Least squares: the inner product of two components v (x) v (x) v is the cube of that of their vectors.
    return np.linalg.lstsq((vectors @ vectors.T) ** 3, along)[0], vectors


@dataclass(frozen=True)
class Recovered:
    """Directions of features, in no known order and of no known sign."""

    directions: np.ndarray  # unit vectors, (B, d')
    weights: np.ndarray  # of the components, (B,)


def recover_features(
    seen: TwoLayer,
    count: int,
    *,
    reduce: bool = True,
    along: np.ndarray | None = None,
    restarts: int = 20,
    seed: int = 0,
) -> Recovered:
    """Find directions of the features of a batch: tensor, then CP decomposition.

    Args:
        reduce: within the span of the gradient's rows, in which all features lie: the tensor is then B x B x B and
            all estimation error outside of the span is gone. Without it, the d' x d' x d' tensor of the paper.
        along: a direction, (d',), for the tensor of fourth order, see `feature_tensor`. It should have a part in
            every feature, as the mean of public ones has: a feature that is orthogonal to it is not in the tensor.
    """
    basis = row_space(seen.gradient, count)[0] if reduce else np.eye(seen.weights.shape[1])
    tensor = feature_tensor(seen.projected(basis), along=None if along is None else along @ basis)
    weights, vectors = decompose(tensor, count, restarts=restarts, seed=seed)
    return Recovered(vectors @ basis.T, weights)


def baseline(seen: TwoLayer, count: int) -> Recovered:
    """The singular vectors of the gradient themselves: exact at B = 1, a basis of the features' span beyond."""
    vectors, values = row_space(seen.gradient, count)
    return Recovered(vectors.T, values[:count])


def cosines(directions: np.ndarray, features: np.ndarray) -> np.ndarray:
    """Compute cosines of features (B, d') with directions (B, d') matched one to one, without sign: by an oracle.

    Nobody who attacks can compute it: the match is made with the true features (Hungarian assignment).

    >>> cosines(np.eye(2), np.array([[0.0, -2.0], [1.0, 0.0]]))
    array([1., 1.])
    """
    units = [one / np.linalg.norm(one, axis=1, keepdims=True) for one in (features, directions)]
    table = np.abs(units[0] @ units[1].T)
    rows, columns = linear_sum_assignment(-table)
    return table[rows, columns]


def in_span(directions: np.ndarray, features: np.ndarray) -> np.ndarray:
    """Cosine of each feature with its projection onto the span of some directions: 1 where it lies in it."""
    basis = np.linalg.qr(directions.T)[0]
    return np.linalg.norm(features @ basis, axis=1) / np.linalg.norm(features, axis=1)


SLOPES = {
    "tanh": lambda z: 1 - np.tanh(z) ** 2,
    "relu": lambda z: (z > 0).astype(float),
    "selu": lambda z: 1.0507009873554805 * np.where(z > 0, 1.0, 1.6732632423543772 * np.exp(np.minimum(z, 0))),
    "cube plus square": lambda z: 3 * z**2 + 2 * z,
}
"""First derivatives of the activations."""


def fit_features(
    seen: TwoLayer, start: np.ndarray, activation: str, *, outer=None, seed: int = 0
) -> tuple[np.ndarray, np.ndarray, float]:
    """Fit features by least squares on the model g_j = a_j sum_i c_i sigma'(w_j . x_i) x_i itself.

    The model is exact. Where the fit reaches zero the features are recovered as far as the model tells them: for
    tanh (whose slope is even) but for a common sign of x_i and c_i, for ReLU but for the length of x_i. Within the
    span there are B + 1 numbers a sentence to find, from thousands of equations.

    Args:
        start: directions or features, (B, d').
        activation: a key of `SLOPES`.
        outer: a_j, (m,), as far as it differs between rows; None is all one.

    Returns:
        features (B, d'), slopes c (B,), and the relative error of the fit.
    """
    count = len(start)
    basis = row_space(seen.gradient, count)[0]
    inside = seen.projected(basis)
    pick = np.random.default_rng(seed).permutation(len(inside.weights))[:_ROWS]
    w, g = inside.weights[pick], inside.gradient[pick]
    a = np.ones(len(pick)) if outer is None else np.asarray(outer)[pick]
    size, slope = np.linalg.norm(g), SLOPES[activation]
    first = start @ basis

    def scales(x):
        terms = slope(w @ x.T) * a[:, None]
        columns = np.stack([(terms[:, i : i + 1] * x[i]).ravel() for i in range(count)], axis=1)
        return np.linalg.lstsq(columns, g.ravel() / size, rcond=None)[0], columns

    def error(flat):  # the slopes enter linearly and are solved for (variable projection)
        c, columns = scales(flat.reshape(count, count))
        return columns @ c - g.ravel() / size

    found = least_squares(error, first.ravel(), method="trf", x_scale="jac", max_nfev=60)
    x = found.x.reshape(count, count)
    return x @ basis.T, scales(x)[0] * size, float(np.linalg.norm(found.fun))
