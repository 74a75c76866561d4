import itertools
from collections import Counter

import numpy as np
import pytest

from textsan import Channel, Embeddings, SanText, leakage
from textsan.attacks import ContextFreeBayes
from textsan.evaluation import attack_success_rate, sensitive_positions, words_at
from textsan.priors import Prior


def test_no_deterministic_rule_beats_the_argmax():
    """Theorem 1 by enumeration: all 3^4 rules from outputs to inputs."""
    generator = np.random.default_rng(3)
    prior, matrix = generator.dirichlet(np.ones(3)), generator.dirichlet(np.ones(4), size=3)
    ch = Channel.from_matrix(matrix, "abc", "wxyz")
    values = [
        sum(prior[x] * matrix[x, y] for y, x in enumerate(rule)) for rule in itertools.product(range(3), repeat=4)
    ]
    assert max(values) == pytest.approx(leakage.bayes_vulnerability(prior, ch), abs=1e-12)
    counts = dict(zip("abc", prior * 1e6, strict=True))
    rule = ContextFreeBayes(ch, counts, alpha_inverse=0).reconstruct([list("wxyz")], [(0, y) for y in range(4)])
    value = sum(prior["abc".index(x)] * matrix["abc".index(x), y] for y, x in enumerate(rule))
    assert value == pytest.approx(max(values), abs=1e-12)


@pytest.fixture(scope="module")
def world():
    generator = np.random.default_rng(0)
    embeddings = Embeddings([f"w{i}" for i in range(60)], generator.normal(size=(60, 4)))
    mechanism = SanText(embeddings, 2.0)
    weights = generator.dirichlet(np.full(60, 0.3))
    docs = [[embeddings.words[i] for i in generator.choice(60, size=12, p=weights)] for _ in range(2000)]
    return mechanism, docs


def test_bound_is_the_expectation_of_the_attack_with_the_true_prior(world):
    mechanism, docs = world
    counts = Counter(word for doc in docs for word in doc)
    attack = ContextFreeBayes(mechanism.channel, counts, alpha_inverse=0)
    positions = sensitive_positions(docs, set(mechanism.inputs))
    truths = words_at(docs, positions)
    rates = [
        attack_success_rate(attack.reconstruct(mechanism.sanitize(docs, seed=s), positions), truths).value
        for s in range(12)
    ]
    exact = leakage.bayes_vulnerability(attack.prior, mechanism.channel)
    error = np.std(rates, ddof=1) / np.sqrt(len(rates))
    assert abs(np.mean(rates) - exact) < 4 * error
    assert error < 0.002


def test_a_planted_bug_is_caught(world):
    """An attack that forgets the prior must fall short of the bound by more than the noise."""
    mechanism, docs = world
    counts = Counter(word for doc in docs for word in doc)
    positions = sensitive_positions(docs, set(mechanism.inputs))
    truths = words_at(docs, positions)
    released = mechanism.sanitize(docs, seed=1)
    flat = ContextFreeBayes(mechanism.channel, dict.fromkeys(mechanism.inputs, 1))
    true = ContextFreeBayes(mechanism.channel, counts, alpha_inverse=0)
    forgetful = attack_success_rate(flat.reconstruct(released, positions), truths)
    assert forgetful.high < attack_success_rate(true.reconstruct(released, positions), truths).low


def test_words_the_channel_cannot_release_are_guessed_as_they_stand():
    ch = Channel.from_matrix([[1.0, 0.0], [1.0, 0.0]], "ab", "uv")
    attack = ContextFreeBayes(ch, {"a": 1, "b": 2})
    assert attack.reconstruct([["u", "the"]], [(0, 0), (0, 1)]) == ["b", "the"]
    assert ContextFreeBayes(ch, {"a": 1, "b": 2}, alpha_inverse=0).reconstruct([["v"]], [(0, 0)]) == ["v"]


def test_a_word_that_is_kept_is_no_explanation_of_another():
    ch = Channel.from_matrix(np.full((3, 3), 1 / 3), ["the", "cat", "sat"], ["the", "cat", "sat"])
    counts = {"the": 9, "cat": 2, "sat": 1}
    assert ContextFreeBayes(ch, counts).reconstruct([["sat"]], [(0, 0)]) == ["the"]
    assert ContextFreeBayes(ch, counts, attacked={"cat", "sat"}).reconstruct([["sat"]], [(0, 0)]) == ["cat"]
    kept = ch.keeping({"the"})  # plain Bayes is right by itself
    assert ContextFreeBayes(kept, counts).reconstruct([["sat", "the"]], [(0, 0), (0, 1)]) == ["cat", "the"]


def test_positions_outside_of_the_documents_are_refused():
    attack = ContextFreeBayes(Channel.from_matrix(np.eye(2), "ab", "ab"), {"a": 1})
    for position in ((0, 1), (1, 0), (0, -1)):
        with pytest.raises(ValueError, match="positions"):
            attack.reconstruct([["a"]], [position])
    assert attack.reconstruct([["a"]], []) == []


def test_a_prior_over_other_words_is_put_in_the_order_of_the_channel():
    channel = Channel.from_matrix([[0.6, 0.4], [0.4, 0.6]], inputs=["a", "b"], outputs=["a", "b"])
    attack = ContextFreeBayes(channel, Prior(["c", "b", "a"], [0.0, 0.1, 0.9]))
    np.testing.assert_allclose(attack.log_prior, np.log([0.9, 0.1]))
    with pytest.raises(ValueError, match="^prior: 'c' has mass"):
        ContextFreeBayes(channel, Prior(["c", "b"], [0.5, 0.5]))
    with pytest.raises(ValueError, match="^alpha_inverse: a prior takes no constant"):
        ContextFreeBayes(channel, Prior(["a", "b"], [0.9, 0.1]), 0.5)
