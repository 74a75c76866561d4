"""The loss by a wrong prior: its parts against brute force, facts that are told, the interval on a text."""

from itertools import combinations
from math import factorial

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from textsan import Channel, CusText, Embeddings, Prior, leakage
from textsan_book.studies.wrong_prior import (
    FACTS,
    loss_on_text,
    outweighing_epsilons,
    prior_loss,
    shapley_values,
    told,
)

WORDS = list("abcdef")


def world(seed):
    generator = np.random.default_rng(seed)
    channel = Channel.from_matrix(generator.dirichlet(np.full(5, 0.4), size=6), WORDS, list("stuvw"))
    true = Prior(WORDS, generator.dirichlet(np.full(6, 0.5)))
    counts = dict(zip(WORDS, generator.integers(0, 4, size=6).tolist(), strict=True))
    return channel, counts, true, generator


def success(channel, prior, true):
    matrix = channel.matrix()
    return sum(
        true.probabilities[x] * matrix[x, y] for y, x in enumerate((prior[:, None] * matrix).argmax(axis=0))
    )


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6))
def test_the_parts_are_shapley_values_and_add_up(seed):
    channel, counts, true, _ = world(seed)
    found = prior_loss(channel, counts, true)
    assert found.bound == pytest.approx(leakage.bayes_vulnerability(true, channel))
    assert found.success == pytest.approx(success(channel, np.array([counts[word] + 1 for word in WORDS]), true))
    assert found.loss >= -1e-12 and sum(found.parts.values()) == pytest.approx(found.loss, abs=1e-12)
    value = {
        some: success(channel, told(some, counts, true, WORDS), true)
        for size in range(4)
        for some in combinations(FACTS, size)
    }
    for fact in FACTS:  # the formula by subsets, where the module goes through orders
        without = [some for some in value if fact not in some]
        weights = [factorial(len(some)) * factorial(2 - len(some)) / factorial(3) for some in without]
        gains = [value[tuple(f for f in FACTS if f in some or f == fact)] - value[some] for some in without]
        assert found.parts[fact] == pytest.approx(np.dot(weights, gains), abs=1e-12)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6))
def test_each_fact_that_is_told_holds_in_the_prior(seed):
    _, counts, true, _ = world(seed)
    counts |= {"a": 0, "b": 0, "c": 2, "d": 1}
    seen = np.array([counts[word] > 0 for word in WORDS])
    guess, exact = told((), counts, true, WORDS), true.probabilities
    np.testing.assert_allclose(guess, (np.array(list(counts.values())) + 1) / (sum(counts.values()) + 6))
    np.testing.assert_allclose(told(FACTS, counts, true, WORDS), exact)
    for size in range(4):
        for some in combinations(FACTS, size):
            prior = told(some, counts, true, WORDS)
            assert prior.sum() == pytest.approx(1)
            weight, which, frequencies = (exact if fact in some else guess for fact in FACTS)
            assert prior[~seen].sum() == pytest.approx(weight[~seen].sum())
            np.testing.assert_allclose(prior[~seen] / prior[~seen].sum(), which[~seen] / which[~seen].sum())
            np.testing.assert_allclose(
                prior[seen] / prior[seen].sum(), frequencies[seen] / frequencies[seen].sum()
            )


def test_a_game_of_one_tall_player():
    """The left glove and two right ones: a pair is worth 1; Shapley values are 2/3, 1/6, 1/6."""
    values = shapley_values(["left", "right", "other right"], lambda some: float("left" in some and len(some) > 1))
    assert values == pytest.approx({"left": 2 / 3, "right": 1 / 6, "other right": 1 / 6})
    assert shapley_values(["one"], len) == {"one": 1.0}


@pytest.mark.parametrize("seed", range(5))
def test_the_loss_on_a_text_is_that_of_its_frequencies_and_its_interval_covers(seed):
    channel, counts, _, generator = world(seed)
    docs = [generator.choice([*WORDS, "the"], size=6).tolist() for _ in range(40)]
    true = Prior.from_counts({word: sum(doc.count(word) for doc in docs) for word in WORDS}, WORDS, 0)
    loss, found = loss_on_text(channel, counts, docs), prior_loss(channel, counts, true)
    assert loss.value == pytest.approx(found.loss) and loss.low <= loss.value <= loss.high
    assert loss == loss_on_text(channel, counts, docs)
    longer = loss_on_text(channel, counts, docs * 16)
    assert longer.value == pytest.approx(loss.value)
    assert (longer.high - longer.low) * 4 == pytest.approx(loss.high - loss.low, rel=0.3)


@pytest.mark.parametrize("seed", range(5))
def test_above_its_epsilon_a_released_word_is_its_own_best_guess(seed):
    """Just above the largest of a group for all of it; and a frequent neighbour makes some need a large one."""
    generator = np.random.default_rng(seed)
    embeddings = Embeddings([f"w{i}" for i in range(41)], generator.normal(size=(41, 3)))
    kept = embeddings.words[:3]
    prior = Prior(embeddings.words[3:], generator.dirichlet(np.full(38, 0.2)) * (1 - 1e-6) + 1e-6 / 38)
    mechanism = CusText(embeddings, 1.0, k=5, keep=kept)
    needed = outweighing_epsilons(mechanism, prior)
    assert needed.keys() == set(prior.words) and max(needed.values()) > 10
    checked = 0
    for epsilon in (0.5, 4.0, *(value * (1 + 1e-9) for value in needed.values() if 0 < value < 1000)):
        channel = mechanism.with_(epsilon=epsilon).channel.restrict(prior.words)
        answers = dict(zip(channel.outputs, channel.posterior(prior, k=1).mode(), strict=True))
        above = [word for word, value in needed.items() if value < epsilon]
        assert [answers[word] for word in above] == above
        checked += len(above) not in (0, len(needed))
    assert checked


def test_a_word_alone_in_its_group_needs_no_epsilon():
    three = Embeddings(["a", "b", "c"], [[0.0], [1.0], [9.0]])
    assert outweighing_epsilons(CusText(three, 1.0, k=2), Prior("abc", [0.2, 0.3, 0.5]))["c"] == -np.inf
