"""Both theorems, the lemma and the ladder on worlds small enough to enumerate."""

import itertools

import numpy as np
import pytest
from helpers import refused
from hypothesis import given, settings, strategies as st

from textsan import Channel, leakage
from textsan_book.studies.enumeration import JointDistribution, markov_source

worlds = st.tuples(st.integers(0, 10**6), st.integers(2, 4), st.integers(2, 4), st.integers(1, 3))


def random_parts(seed, words, outputs, n, markov=False):
    generator = np.random.default_rng(seed)
    matrix = generator.dirichlet(np.full(outputs, 0.5), size=words)
    if markov:
        transition = generator.dirichlet(np.full(words, 0.4), size=words)
        return markov_source(generator.dirichlet(np.ones(words)), transition, n), matrix
    return generator.dirichlet(np.full(words**n, 0.3)).reshape((words,) * n), matrix


@given(worlds)
@settings(deadline=None, max_examples=60)
def test_the_joint_distribution_is_that_of_independent_draws(shape):
    source, matrix = random_parts(*shape)
    joint = JointDistribution.tokenwise(source, matrix).joint
    n = source.ndim
    for x in itertools.islice(np.ndindex(source.shape), 10):
        for y in itertools.islice(np.ndindex(joint.shape[n:]), 10):
            expected = source[x] * np.prod([matrix[word, output] for word, output in zip(x, y, strict=True)])
            assert joint[x + y] == pytest.approx(expected, abs=1e-15)


@given(worlds)
@settings(deadline=None, max_examples=80)
def test_the_ladder_ascends(shape):
    world = JointDistribution.tokenwise(*random_parts(*shape))
    for i in range(world.n):
        rungs = world.hierarchy(i)
        assert all(low <= high + 1e-12 for low, high in itertools.pairwise(rungs))


@given(worlds)
@settings(deadline=None, max_examples=60)
def test_rungs_without_context_are_those_of_the_channel(shape):
    source, matrix = random_parts(*shape)
    world = JointDistribution.tokenwise(source, matrix)
    channel = Channel.from_matrix(matrix, map(str, range(len(matrix))), map(str, range(matrix.shape[1])))
    prior = world.marginal([0])
    assert world.vulnerability(0, outputs=[0]) == pytest.approx(
        leakage.bayes_vulnerability(prior, channel), abs=1e-12
    )
    assert world.entropy(0, outputs=[0]) == pytest.approx(leakage.conditional_entropy(prior, channel), abs=1e-9)


@given(worlds)
@settings(deadline=None, max_examples=60)
def test_equation_6_term_by_term(shape):
    world = JointDistribution.tokenwise(*random_parts(*shape))
    for i in range(world.n):
        t = world.terms(i)
        product = t["y | x"] * t["x"] * t["c | x, y"] / (t["y"] * t["c | y"])
        both = ~np.isnan(product) & ~np.isnan(t["x | y, c"])
        np.testing.assert_allclose(product[both], np.broadcast_to(t["x | y, c"], product.shape)[both], atol=1e-10)
        assert both.any()


def disagreement(world, i):
    """Largest |Pr(c | x, y) - Pr(c | x)| where both are defined."""
    terms = world.terms(i)
    return np.nanmax(np.abs(terms["c | x, y"] - terms["c | x"]))


@given(worlds)
@settings(deadline=None, max_examples=60)
def test_lemma_the_channel_factors_out(shape):
    world = JointDistribution.tokenwise(*random_parts(*shape))
    assert max(disagreement(world, i) for i in range(world.n)) < 1e-10


def test_lemma_fails_where_repeated_words_share_a_draw():
    source, matrix = random_parts(0, 3, 3, 3)
    assert disagreement(JointDistribution.tokenwise(source, matrix), 1) < 1e-12
    assert disagreement(JointDistribution.reusing(source, matrix), 1) > 0.05


def test_reusing_differs_from_tokenwise_only_on_sentences_with_repetitions():
    source, (_, matrix) = np.full((3, 3, 3), 1 / 27), random_parts(1, 3, 2, 3)
    one, other = JointDistribution.tokenwise(source, matrix).joint, JointDistribution.reusing(source, matrix).joint
    for x in np.ndindex(source.shape):
        same = np.allclose(one[x], other[x], atol=1e-15)
        assert same == (len(set(x)) == 3)
        assert other[x].sum() == pytest.approx(source[x], abs=1e-14)


def test_no_deterministic_rule_beats_the_argmax():
    """Theorem 2 by enumeration: all 2^8 rules from three outputs to a word."""
    source, matrix = random_parts(5, 2, 2, 3)
    world = JointDistribution.tokenwise(source, matrix)
    for i in range(3):
        values = [world.value(np.reshape(rule, (2, 2, 2)), i) for rule in itertools.product(range(2), repeat=8)]
        assert max(values) == pytest.approx(world.value(world.best_rule(i), i), abs=1e-12)
        assert max(values) == pytest.approx(world.vulnerability(i, outputs=range(3)), abs=1e-12)


def test_shortlists_climb_to_the_optimum():
    """K-ASR (Definition 2) grows with K and is exact at K = all; K = 1 is the context-free rule."""
    world = JointDistribution.tokenwise(*random_parts(2, 5, 4, 3, markov=True))
    values = [world.value(world.shortlist_rule(1, k), 1) for k in range(1, 6)]
    assert values == sorted(values)
    assert values[0] == pytest.approx(world.vulnerability(1, outputs=[1]), abs=1e-12)
    assert values[-1] == pytest.approx(world.vulnerability(1, outputs=range(3)), abs=1e-12)
    assert values[0] < values[-1] - 0.005


@pytest.mark.parametrize(
    "joint, message", [(np.ones(3) / 3, "1 axes"), (np.ones((2, 2)), "sum to 1"), ([[1.5, -0.5]], "at least 0")]
)
def test_what_is_no_world_is_refused(joint, message):
    refused(message, lambda: JointDistribution(joint))


def test_worlds_too_large_are_refused():
    refused("above", lambda: JointDistribution.tokenwise(np.full((9,) * 5, 9.0**-5), np.full((9, 9), 1 / 9)))
