"""Two-layer reconstruction, step by step: Hermite tensors, the feature tensor, decompositions, least squares."""

import itertools
import math

import numpy as np
import pytest
import torch
from helpers import refused

from textsan.gradient_leakage import cases, features, victims


def planted(B, activation="selu", *, m=6000, d=12, alike=0.0, seed=0):
    rng = np.random.default_rng(seed)
    x, mean = rng.normal(size=(B, d)), rng.normal(size=d)
    x = np.sqrt(1 - alike) * x / np.linalg.norm(x, axis=1, keepdims=True) + np.sqrt(alike) * mean / np.linalg.norm(
        mean
    )
    weights, slopes = rng.normal(size=(m, d)), rng.choice([-0.5, 0.5], size=B)
    gates = features.SLOPES[activation](weights @ x.T) * slopes
    return x, slopes, features.TwoLayer(weights, gates @ x / m)


@pytest.mark.parametrize("order", [1, 2, 3, 4])
def test_hermite_tensors_are_derivatives_of_the_density(order):
    """By Gauss-Hermite quadrature: E[H_p(w) w^a] is the derivative of the monomial, exactly."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(8)
    weights = weights / weights.sum()
    for a, b in itertools.product(range(5), repeat=2):
        total = np.zeros((2,) * order)
        for (u, p), (v, q) in itertools.product(zip(nodes, weights, strict=True), repeat=2):
            total = total + p * q * u**a * v**b * features.hermite([u, v], order)
        for index in itertools.product(range(2), repeat=order):
            i, j = index.count(0), index.count(1)
            assert total[index] == pytest.approx(moment(a, i) * moment(b, j), abs=1e-8)


def moment(power, order):
    """E of the order-th derivative of Z^power."""
    if order > power:
        return 0.0
    left = power - order
    even = math.prod(range(left - 1, 0, -2)) if left % 2 == 0 else 0
    return math.perm(power, order) * even


@pytest.mark.parametrize("activation", ["selu", "tanh", "cube plus square", "relu"])
def test_slopes_are_derivatives(activation):
    z = torch.tensor([-2.0, -0.3, 0.4, 1.7], dtype=torch.float64, requires_grad=True)
    (slope,) = torch.autograd.grad(victims.ACTIVATIONS[activation](z).sum(), z)
    assert np.allclose(slope.numpy(), features.SLOPES[activation](z.detach().numpy()))


def test_the_tensor_estimates_the_third_derivative():
    x, slopes, seen = planted(3, "cube plus square", m=40_000, d=6)
    truth = 6 * np.einsum("i,ia,ib,ic->abc", slopes, x, x, x)
    tensor = features.feature_tensor(seen)
    assert np.linalg.norm(tensor - truth) < 0.15 * np.linalg.norm(truth)
    for axes in itertools.permutations(range(3)):
        assert np.allclose(tensor, tensor.transpose(axes))


def test_the_tensor_of_fourth_order_is_the_sum_and_estimates_the_fourth_derivative():
    x, slopes, seen = planted(3, "relu", m=60_000, d=6)
    along = np.eye(6)[0]
    few = features.TwoLayer(seen.weights[:7], seen.gradient[:7])
    loop = sum(
        np.multiply.outer(g, features.hermite(w, 3) @ along)
        for w, g in zip(few.weights, few.gradient, strict=True)
    )
    assert np.allclose(features.feature_tensor(few, symmetric=False, along=along), loop)
    fourth = -1 / np.sqrt(2 * np.pi)  # E[step(Z) (Z^3 - 3 Z)], by parts
    truth = fourth * np.einsum("i,ia,ib,ic->abc", slopes * (x @ along), x, x, x)
    tensor = features.feature_tensor(seen, along=along)
    assert np.linalg.norm(tensor - truth) < 0.25 * np.linalg.norm(truth)


@pytest.mark.parametrize("method", [features.decompose, features.power_method])
def test_decompositions_find_orthogonal_components(method):
    vectors = np.linalg.qr(np.random.default_rng(1).normal(size=(6, 4)))[0].T
    weights = np.array([2.0, -1.5, 1.0, 0.7])
    tensor = np.einsum("i,ia,ib,ic->abc", weights, vectors, vectors, vectors)
    found, directions = method(tensor, 4, seed=0)
    assert np.allclose(sorted(np.abs(found)), sorted(np.abs(weights)), atol=1e-5)
    assert np.allclose(features.cosines(directions, vectors), 1, atol=1e-6)
    assert np.allclose(np.einsum("i,ia,ib,ic->abc", found, *[directions] * 3), tensor, atol=1e-5)


def test_weights_are_those_of_components_that_are_alike():
    """Of two features with cosine .9 and slopes of two signs T(v, v, v) has one sign; the weights have both."""
    vectors = np.array([[1.0, 0, 0], [0.9, np.sqrt(1 - 0.81), 0]])
    tensor = np.einsum("i,ia,ib,ic->abc", np.array([1.0, -0.6]), vectors, vectors, vectors)
    along = np.einsum("abc,ia,ib,ic->i", tensor, vectors, vectors, vectors)
    assert (along > 0).all()
    weights, found = features.decompose(tensor, 2, restarts=5)
    order = np.argsort(-np.abs(found @ vectors[0]))
    signs = np.sign((found[order] * vectors).sum(axis=1))
    assert np.allclose(weights[order] * signs, [1.0, -0.6], atol=0.02)  # how far the fit has come


@pytest.mark.parametrize("activation, works", [("selu", True), ("tanh", True), ("relu", False)])
def test_planted_features_are_found_unless_the_third_derivative_vanishes(activation, works):
    x, _, seen = planted(3, activation, m=40_000)
    found = features.recover_features(seen, 3, restarts=5)
    assert (features.cosines(found.directions, x).mean() > 0.98) == works


@pytest.mark.parametrize("reduce", [True, False])
def test_the_fourth_order_finds_what_relu_hides_from_the_third(reduce):
    x, _, seen = planted(3, "relu", m=40_000, alike=0.5)
    found = features.recover_features(seen, 3, along=x.mean(0), reduce=reduce, restarts=5)
    assert features.cosines(found.directions, x).mean() > 0.98


def test_features_lie_in_the_row_space_and_singular_vectors_are_not_them():
    x, _, seen = planted(4)
    found = features.baseline(seen, 4).directions
    assert np.allclose(features.in_span(found, x), 1)
    assert features.cosines(found, x).mean() < 0.95


@pytest.mark.parametrize("activation", ["tanh", "cube plus square"])
def test_least_squares_is_exact_and_finds_slopes(activation):
    x, slopes, seen = planted(2, activation, m=400, alike=0.5)
    start = x + 0.1 * np.random.default_rng(0).normal(size=x.shape)
    guess, c, error = features.fit_features(seen, start, activation)
    assert error < 1e-6 and np.allclose(guess, x, atol=1e-4)
    assert np.allclose(c * 400, slopes, rtol=1e-3)


def test_cosines_match_one_to_one():
    # Both directions are near the first feature; only one may be its answer.
    directions = np.array([[1.0, 0.0], [0.9, 0.1]])
    assert features.cosines(directions, np.eye(2)).tolist() == pytest.approx([1.0, 0.1 / np.hypot(0.9, 0.1)])


@pytest.fixture(scope="module")
def small(default_data):
    return victims.small_victim(seed=0)


def test_a_widened_victim_is_the_papers(small):
    wide = victims.widened(small, "selu", width=500, recovered=20)
    assert (wide.pooler.weight[:64] == small.pooler.weight).all()
    assert (wide.pooler.weight[64:, 20:] == 0).all()
    assert float(wide.pooler.weight[64:, :20].detach().std()) == pytest.approx(1, abs=0.05)
    assert torch.allclose(wide.classifier.weight[:, 64:], torch.tensor([[0.0], [1 / 436]]).expand(2, 436))
    assert small.activation == "tanh" and small.recovered == 0


def test_the_pooler_gradient_is_the_two_layer_model(small):
    wide = victims.widened(small, "selu", width=500, recovered=20).double()
    case = cases.make_case(wide, ["a good film", "not so good"], [1, 0])
    seen, x = features.TwoLayer.of(case.shared), case.features.numpy()
    with torch.no_grad():
        slopes = (wide.logits(case.features).softmax(1)[:, 1] - case.shared.labels).numpy() / 2
    gates = features.SLOPES["selu"](wide.pooler.weight[64:].detach().numpy() @ x.T) * slopes
    assert np.allclose(seen.gradient, gates @ x[:, :20] / 436)
    small.float()


def test_an_unchanged_pooler_gives_the_feature(small):
    case = cases.make_case(small, ["a good film", "no"], [1, 0])
    seen, outer = features.TwoLayer.own(case.shared)
    start = case.features.double().numpy() + 0.05
    guess, slopes, error = features.fit_features(seen, start, "tanh", outer=outer)
    assert error < 1e-4 and features.cosines(guess, case.features.double().numpy()).min() > 0.999
    assert (slopes < 0).tolist() == [True, False]


def test_no_gradient_has_no_components():
    refused("tensor: it is zero", lambda: features.decompose(np.zeros((2, 2, 2)), 2))
    rng = np.random.default_rng(0)
    seen = features.TwoLayer(rng.normal(size=(50, 4)), np.zeros((50, 4)))
    refused("sure of every label", lambda: features.recover_features(seen, 2))
