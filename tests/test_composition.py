"""The certificate of n releases: against enumerated worlds, and against the divergence that it is made of."""

import itertools

import numpy as np
import pytest
from helpers import refused
from hypothesis import given, settings, strategies as st

from textsan.privacy import composed_delta, composed_success, sharp_success
from textsan_book.studies.enumeration import JointDistribution


def response(words, epsilon):
    """Randomised response: rows of an epsilon-DP channel that attains its epsilon for each pair."""
    rows = np.ones((words, words)) + np.expm1(epsilon) * np.eye(words)
    return rows / rows.sum(axis=1, keepdims=True)


def copies(prior, n):
    """The source that says one word n times."""
    source = np.zeros((len(prior),) * n)
    source[(np.arange(len(prior)),) * n] = prior
    return source


@pytest.mark.parametrize("n", [1, 2, 5])
@pytest.mark.parametrize("epsilon", [0.0, 0.3, 2.0])
def test_delta_is_the_divergence_of_all_outputs(n, epsilon):
    one, other = response(2, epsilon)
    here, there = (
        np.array([np.prod([row[y] for y in seen]) for seen in itertools.product((0, 1), repeat=n)])
        for row in (one, other)
    )
    asked = np.linspace(0, n * epsilon + 0.5, 9)
    divergence = [np.maximum(here - np.exp(e) * there, 0).sum() for e in asked]
    assert composed_delta(epsilon, n, asked) == pytest.approx(divergence, abs=1e-12)


@pytest.mark.parametrize("n", [2, 3, 4])
@pytest.mark.parametrize("share", [0.5, 0.6, 0.9])
def test_two_words_attain_it(n, share):
    """Copies of one of two words, under randomised response: there is no better bound."""
    for epsilon in (0.2, 1.0, 2.0):
        world = JointDistribution.tokenwise(copies([share, 1 - share], n), response(2, epsilon))
        bound = composed_success([share, 1 - share], epsilon, n)
        assert -1e-12 < bound - world.vulnerability(0, outputs=range(n)) < 2e-4


@settings(deadline=None, max_examples=60)
@given(st.integers(0, 10**6), st.floats(0.05, 2.0))
def test_no_source_of_three_words_passes_it(seed, epsilon):
    """Any joint law of three words, any epsilon-DP channel for each: mixtures of ones that attain epsilon."""
    rng = np.random.default_rng(seed)
    source = rng.dirichlet(np.full(27, rng.choice([0.03, 0.3]))).reshape(3, 3, 3)
    if rng.random() < 0.5:
        source = 0.7 * copies(rng.dirichlet(np.ones(3)), 3) + 0.3 * source
    rows = response(3, epsilon)[:, rng.permutation(3)]
    world = JointDistribution.tokenwise(source, rows)
    prior = source.sum(axis=(0, 2))
    bound = composed_success(prior, epsilon, 3)
    assert world.vulnerability(1, outputs=range(3)) <= bound + 1e-12
    assert bound <= sharp_success(prior, 3 * epsilon) + 1e-12


def test_one_release_is_the_sharp_bound_and_more_of_them_promise_less():
    prior = [0.4, 0.3, 0.2, 0.1]
    for epsilon in (0.0, 0.1, 1.0, 5.0):
        assert composed_success(prior, epsilon, 1) == pytest.approx(sharp_success(prior, epsilon), abs=1e-12)
        bounds = [composed_success(prior, epsilon, n) for n in (1, 2, 3, 10, 100)]
        assert (np.diff(bounds) >= -1e-9).all() and bounds[0] >= 0.4 and bounds[-1] <= 1
    assert composed_success(prior, 0.0, 50) == pytest.approx(0.4)


def test_for_a_thousand_candidates_it_is_far_below_a_multiple_of_epsilon():
    """The numbers of a derivation made elsewhere."""
    alike = np.full(1000, 1e-3)
    assert composed_success(alike, 0.3, 20) == pytest.approx(0.036, abs=5e-4)
    assert sharp_success(alike, 20 * 0.3) == pytest.approx(0.288, abs=5e-4)
    assert composed_success(alike, 1.0, 10) == pytest.approx(0.417, abs=5e-4)


def test_the_prior_is_that_at_the_place():
    """Every document is "a b": the place names the word, and pooled frequencies bound nobody who knows it."""
    source = np.array([[0.0, 1.0], [0.0, 0.0]])
    world = JointDistribution.tokenwise(source, response(2, 0.0))
    truth = np.mean([world.vulnerability(place, outputs=range(2)) for place in range(2)])
    assert truth == pytest.approx(1.0)
    assert composed_success([0.5, 0.5], 0.0, 2) == pytest.approx(0.5)  # what was printed: no bound
    assert composed_success([[1.0, 0.0], [0.0, 1.0]], 0.0, 2) == pytest.approx(1.0)


@settings(deadline=None, max_examples=60)
@given(st.integers(0, 10**6), st.floats(0.0, 1.0))
def test_no_source_passes_the_mean_over_its_places(seed, epsilon):
    """Any joint law of three words, guessed at every place by who knows which place it is."""
    rng = np.random.default_rng(seed)
    source = rng.dirichlet(np.full(27, rng.choice([0.03, 0.3]))).reshape(3, 3, 3)
    world = JointDistribution.tokenwise(source, response(3, epsilon))
    priors = [source.sum(axis=tuple({0, 1, 2} - {place})) for place in range(3)]
    weights = rng.dirichlet(np.ones(3))
    bound = composed_success(priors, epsilon, 3, weights=weights)
    truths = [world.vulnerability(place, outputs=range(3)) for place in range(3)]
    assert weights @ [max(prior) for prior in priors] - 1e-12 <= weights @ truths <= bound + 1e-12


@pytest.mark.parametrize(("epsilon", "n", "line"), [(-1.0, 2, "epsilon"), (1.0, 0, "n:")])
def test_bad_input_gets_one_line(epsilon, n, line):
    refused(line, lambda: composed_success([0.5, 0.5], epsilon, n))
    refused("weights: 3 for 2 places", lambda: composed_success([[1.0], [0.5, 0.5]], 1.0, 2, weights=[1, 1, 1]))
