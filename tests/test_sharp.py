"""Sharp bounds of guarantees against linear programmes over all channels, and their inverses."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy.optimize import linprog
from scipy.spatial.distance import cdist

from textsan import Channel, Embeddings, SanText, leakage
from textsan.privacy import (
    best_guess,
    metric_success,
    sharp_bounds as module,
    sharp_success,
    sharp_success_in_context,
    tight_epsilon,
)
from textsan_book.studies.enumeration import JointDistribution, markov_source


def most(worth, allowed):
    """Largest sum of worth and Pr(y | x) of a channel with P(y|x) <= exp(allowed[x, x']) P(y|x'), by LP."""
    n, m = worth.shape
    rows = []
    for y in range(m):
        for x in range(n):
            for other in range(n):
                if x != other and allowed[x, other] < np.inf:
                    row = np.zeros((n, m))
                    row[x, y], row[other, y] = 1.0, -np.exp(allowed[x, other])
                    rows.append(row.ravel())
    sums = np.kron(np.eye(n), np.ones(m))
    found = linprog(-worth.ravel(), rows, np.zeros(len(rows)), sums, np.ones(n), (0, 1), method="highs")
    assert found.success
    return -found.fun


def best_channel(prior, allowed):
    """Bayes vulnerability of the best channel with as many outputs as words."""
    return most(np.diag(prior), allowed)


@pytest.mark.parametrize("seed", range(12))
def test_dp_against_the_programme_over_all_channels(seed):
    generator = np.random.default_rng(seed)
    n, epsilon = generator.integers(2, 6), generator.uniform(0.1, 4)
    prior = generator.dirichlet(np.full(n, generator.choice([0.3, 1, 5])))
    assert sharp_success(prior, epsilon) == pytest.approx(best_channel(prior, np.full((n, n), epsilon)), abs=1e-8)


@pytest.mark.parametrize("seed", range(6))
def test_dp_within_groups_against_the_programme_over_all_channels(seed):
    generator = np.random.default_rng(seed)
    epsilon, groups = generator.uniform(0.1, 3), [[0, 3], [1, 4]]
    prior = generator.dirichlet(np.ones(5))
    allowed = np.full((5, 5), np.inf)  # word 2 is in no group: nothing hides it
    for group in groups:
        allowed[np.ix_(group, group)] = epsilon
    found = sharp_success(prior, epsilon, groups=groups)
    assert found == pytest.approx(best_channel(prior, allowed), abs=1e-8)
    assert found == pytest.approx(sharp_success(prior, epsilon, groups=[*groups, [2]]))


def test_groups_that_cannot_be():
    for groups in ([[0, 1], [1, 2]], [[0, 4]]):
        with pytest.raises(ValueError, match="not disjoint, or beyond 4 words"):
            sharp_success([0.4, 0.3, 0.2, 0.1], 1.0, groups=groups)


@pytest.mark.parametrize("outputs", [1, 2, 3])
def test_few_outputs_give_away_less(outputs):
    """The best channel over so many outputs, each for one of the likeliest words, by a linear programme."""
    generator = np.random.default_rng(outputs)
    prior, epsilon = generator.dirichlet(np.ones(4)), 2.0
    found = sharp_success(prior, epsilon, outputs=outputs)
    likeliest = np.argsort(-prior)[:outputs]
    best = np.zeros((4, outputs))
    best[likeliest, range(outputs)] = prior[likeliest]
    assert found == pytest.approx(most(best, np.full((4, 4), epsilon)), abs=1e-8)
    assert found <= sharp_success(prior, epsilon, outputs=outputs + 1) <= sharp_success(prior, epsilon) + 1e-12


@pytest.mark.parametrize("seed", range(10))
def test_what_a_release_adds_to_context_in_small_worlds(seed):
    """V(X | Y, C) by enumeration, under the bound that the tight epsilon of the channel gives."""
    generator = np.random.default_rng(seed)
    channel = generator.dirichlet(np.full(4, 2.0), size=3)
    source = markov_source(generator.dirichlet(np.ones(3)), generator.dirichlet(np.full(3, 0.4), size=3), 3)
    world = JointDistribution.tokenwise(source, channel)
    epsilon = float(tight_epsilon(Channel.from_matrix(channel, "abc", "uvwx")))
    joint = world.marginal([1], [0, 2]).reshape(3, -1)
    contexts = joint.sum(axis=0)
    bound = sharp_success_in_context((joint / contexts).T, epsilon, weights=contexts)
    alone, both = world.vulnerability(1, outputs=[0, 2]), world.vulnerability(1, outputs=[0, 1, 2])
    assert both <= bound + 1e-12 and bound <= best_guess(epsilon, alone) + 1e-12
    assert both > sharp_success_in_context((joint / contexts).T, 0.0, weights=contexts) - 1e-12


def test_the_unigram_bound_is_no_ceiling_with_context():
    """Uniform on 10 words, epsilon 1: three releases of one word beat F of the unigram prior ."""
    response = (1 + (np.e - 1) * np.eye(10)) / (np.e + 9)
    same = np.zeros((10, 10, 10))
    same[range(10), range(10), range(10)] = 0.1
    world = JointDistribution.tokenwise(same, response)
    found = world.vulnerability(1, outputs=range(3))
    assert sharp_success(np.full(10, 0.1), 1.0) == pytest.approx(0.232, abs=5e-4)
    assert found == pytest.approx(0.258, abs=5e-4) and found <= best_guess(
        1.0, world.vulnerability(1, outputs=[0, 2])
    )


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 10**6), epsilon=st.floats(0.0, 12.0))
def test_the_bound_is_attained_monotone_and_inverted(seed, epsilon):
    generator = np.random.default_rng(seed)
    prior = generator.dirichlet(np.full(generator.integers(2, 30), 0.5))
    value = sharp_success(prior, epsilon)
    assert prior.max() - 1e-12 <= value <= 1 and value <= sharp_success(prior, epsilon + 0.1) + 1e-12
    order = np.argsort(-prior)
    # Randomised response on a prefix, all other words released as a uniform draw of it.
    best = 0.0
    for m in range(1, len(prior) + 1):
        matrix = np.full((len(prior), m), 1.0 / m)
        matrix[order[:m]] = (1 + (np.exp(epsilon) - 1) * np.eye(m)) / (np.exp(epsilon) - 1 + m)
        best = max(best, (prior[:, None] * matrix).max(axis=0).sum())
    assert value == pytest.approx(best)


def test_the_numbers_that_a_reader_can_check():
    assert sharp_success(np.full(10, 0.1), 1.0) == pytest.approx(np.e / (np.e + 9))
    assert sharp_success([1.0], 0.0) == 1.0 and sharp_success([0.7, 0.3], 0.0) == pytest.approx(0.7)
    assert sharp_success([0.5, 0.5], 1e6) == 1.0 and sharp_success([0.5, 0.5], np.inf) == 1.0
    with pytest.raises(ValueError, match="sum to 1"):
        sharp_success([0.5, 0.4], 1.0)


@pytest.mark.parametrize("seed", range(8))
def test_metric_dp_against_the_programme_over_all_channels(seed):
    generator = np.random.default_rng(seed)
    points = generator.normal(size=(5, 2))
    prior, epsilon = generator.dirichlet(np.ones(5)), generator.uniform(0.2, 2)
    far = cdist(points, points)
    best = best_channel(prior, epsilon * far)
    bound = metric_success(prior, far, epsilon)
    assert best <= bound.value + 1e-8
    assert (np.exp(-epsilon * far) @ bound.dual >= prior - 1e-9).all() and bound.dual.min() >= 0
    assert bound.value == pytest.approx(min(bound.dual.sum(), 1.0))


def test_the_bound_that_is_not_attained():
    far = np.abs(np.subtract.outer([0.0, 1.0, 2.0], [0.0, 1.0, 2.0]))
    prior = np.array([6, 2, 7]) / 15
    assert metric_success(prior, far, 1.0).value == pytest.approx(0.7634, abs=5e-5)
    assert best_channel(prior, far) == pytest.approx(0.7129, abs=5e-5)


@pytest.mark.parametrize("epsilon", [0.3, 1.0, 2.5])
def test_descent_agrees_with_the_programme_and_holds_for_santext(monkeypatch, epsilon):
    generator = np.random.default_rng(4)
    embeddings = Embeddings([f"w{i}" for i in range(150)], generator.normal(size=(150, 8)))
    prior = generator.dirichlet(np.full(150, 0.3))
    exact = metric_success(prior, embeddings, epsilon)
    monkeypatch.setattr(module, "_EXACT", 0)
    descended = metric_success(prior, embeddings, epsilon)
    assert exact.value - 1e-9 <= descended.value <= 1.04 * exact.value
    channel = SanText(embeddings, epsilon).channel
    assert leakage.bayes_vulnerability(prior, channel) <= exact.value + 1e-9


@pytest.mark.parametrize("epsilon", [0.0, 0.5, 3.0])
def test_the_best_guess_is_what_a_release_of_the_largest_ratio_says(epsilon):
    for prior in (0.001, 0.3, 0.5):
        likely, rare = np.exp(epsilon) / (1 + np.exp(epsilon)), 1 / (1 + np.exp(epsilon))
        assert best_guess(epsilon, prior) == pytest.approx(prior * likely / (prior * likely + (1 - prior) * rare))
