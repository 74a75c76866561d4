"""Ends of brackets: a channel that a metric guarantee allows, and what a noisy vector gives away."""

import numpy as np
import pytest
import scipy
from hypothesis import given, settings, strategies as st
from test_sharp import best_channel

from textsan import Channel, Embeddings, Prior
from textsan.leakage import noisy_vector_vulnerability, vulnerability_bracket
from textsan.mechanisms import FBDD, Mahalanobis, Vickrey
from textsan.privacy import attained_metric_success, metric_success, tight_metric_epsilon


def points(seed, n, d=3):
    return np.random.default_rng(seed).normal(size=(n, d))


@settings(deadline=None, max_examples=25)
@given(st.integers(0, 10**6), st.floats(0.1, 3.0), st.integers(2, 30))
def test_the_channel_keeps_its_guarantee_and_lies_below_the_bound(seed, epsilon, n):
    vectors = points(seed, n)
    words = Embeddings([f"w{i}" for i in range(n)], vectors)
    prior = np.random.default_rng(seed).dirichlet(np.full(n, 0.5))
    found = attained_metric_success(prior, words, epsilon)
    channel = Channel.from_matrix(found.matrix, inputs=words.words, outputs=[str(y) for y in range(n + 1)])
    assert float(tight_metric_epsilon(channel, words.distances(words.words))) <= epsilon + 1e-6
    assert found.value <= metric_success(prior, words, epsilon).value + 1e-9
    assert found.value >= prior.max() - 1e-9


def test_on_three_words_it_comes_near_the_best_channel_there_is():
    line = np.abs(np.subtract.outer([0, 1, 2], [0, 1, 2]))
    prior = np.array([6, 2, 7]) / 15
    best = best_channel(prior, line)
    assert best - 0.02 < attained_metric_success(prior, line, 1.0).value <= best + 1e-9


def test_fewer_words_to_guess_give_away_less():
    words = Embeddings([f"w{i}" for i in range(60)], points(1, 60))
    prior = np.random.default_rng(0).dirichlet(np.full(60, 0.5))
    values = [attained_metric_success(prior, words, 1.0, guesses=m).value for m in (5, 20, None)]
    assert values == sorted(values) and values[0] < values[-1]


# --- noisy vectors ----------------------------------------------------------------------------------------------


def on_a_line(far, share, epsilon):
    """V(X | v) of two words on a line, by quadrature: the integral of the larger joint density."""

    def larger(v):
        return max(p * epsilon / 2 * np.exp(-epsilon * abs(v - at)) for p, at in ((share, 0.0), (1 - share, far)))

    return scipy.integrate.quad(larger, -60, 60, points=[0.0, far], limit=400)[0]


@pytest.mark.parametrize(("far", "share", "epsilon"), [(1.0, 0.5, 1.0), (2.0, 0.7, 0.5), (1.0, 0.9, 3.0)])
def test_two_words_on_a_line_against_the_integral(far, share, epsilon):
    words = Embeddings(["a", "b"], [[0.0], [far]])
    found = noisy_vector_vulnerability(Prior(["a", "b"], [share, 1 - share]), FBDD(words, epsilon), 20_000, seed=0)
    error = (found.high - found.low) / 3.92
    assert abs(found.value - on_a_line(far, share, epsilon)) < 4 * error + 1e-9


@pytest.mark.parametrize("kind", [FBDD, Vickrey, Mahalanobis])
def test_the_released_word_gives_away_no_more(kind):
    names = [f"w{i}" for i in range(30)]
    prior = Prior(names, np.random.default_rng(3).dirichlet(np.ones(30)))
    mechanism = kind(Embeddings(names, points(2, 30) * [1, 2, 4]), 1.5)
    above = noisy_vector_vulnerability(prior, mechanism, 20_000, seed=1)
    low, _ = vulnerability_bracket(prior, *(mechanism.estimate_channel(names, 4000, seed=seed) for seed in (2, 3)))
    assert prior.probabilities.max() < low <= above.high


def test_the_noise_of_mahalanobis_is_measured_in_its_own_distance():
    """In one dimension its norm is a multiple of the length, and so is its noise: nothing changes."""
    words, prior = Embeddings(["a", "b"], [[0.0], [2.0]]), Prior(["a", "b"], [0.5, 0.5])
    wide = Mahalanobis(Embeddings(["a", "b"], [[0.0], [2.0]]), 1.0, strength=0.0)
    one, other = (noisy_vector_vulnerability(prior, m, 500, seed=0) for m in (wide, FBDD(words, 1.0)))
    assert one.value == pytest.approx(other.value)


def test_a_word_without_a_vector_gets_one_line():
    with pytest.raises(ValueError, match="no vector"):
        noisy_vector_vulnerability(Prior(["a", "c"], [0.5, 0.5]), FBDD(Embeddings(["a"], [[0.0]]), 1.0), seed=0)
