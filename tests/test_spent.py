"""Spent: the claim is what the channel has, no more and hardly less."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from textsan import CusText, Embeddings, SanText
from textsan.mechanisms import Spent, make_mechanism

WORDS = ["the", "of", *(f"w{i}" for i in range(38))]
EMBEDDINGS = Embeddings(WORDS, np.random.default_rng(0).normal(size=(40, 4)))
FAR = cdist(EMBEDDINGS.vectors, EMBEDDINGS.vectors)


@pytest.mark.parametrize("of", ["custext", "custext+", "santext", "tem"])
@pytest.mark.parametrize("epsilon", [0.4, 2.0])
def test_the_claim_is_spent_and_not_passed(of, epsilon):
    mechanism = Spent(EMBEDDINGS, epsilon, of=of)
    tight = mechanism.guarantee.tight(mechanism.channel)
    plain = make_mechanism(of, EMBEDDINGS, epsilon=epsilon)
    assert 0.999 * epsilon <= tight <= epsilon + 1e-9
    assert plain.guarantee.tight(plain.channel) < 0.99 * epsilon
    assert mechanism.guarantee == plain.guarantee and mechanism.exposed == plain.exposed


def test_every_group_of_custext_spends_what_it_may():
    mechanism = Spent(EMBEDDINGS, 1.0)
    promise = mechanism.guarantee
    for group in CusText(EMBEDDINGS, 1.0).group_words:
        rows = mechanism.channel.log_rows(group)
        rows = rows[:, rows[0] > -np.inf]
        assert (rows.max(axis=0) - rows.min(axis=0)).max() == pytest.approx(1.0, abs=1e-3)
    assert promise.definition == "DP within groups" and (mechanism.epsilons > 1).all()


def test_a_larger_epsilon_would_be_caught():
    """Planted: the channel of twice the epsilon that was found."""
    mechanism = Spent(EMBEDDINGS, 1.0, of="santext")
    wrong = SanText(EMBEDDINGS, 1.3 * float(mechanism.epsilons[0]))
    assert mechanism.guarantee.tight(wrong.channel) > 1.0


def test_a_group_with_one_word_that_is_not_kept_is_left_as_it_is():
    """Nothing is promised of it, so that no epsilon would ever be spent."""
    few = Embeddings(["the", "w1", "of"], [[0.0], [1.0], [2.0]])
    spent, plain = Spent(few, 1.0, of="custext+"), make_mechanism("custext+", few, epsilon=1.0)
    assert spent.channel.rows(["w1"]) == pytest.approx(plain.channel.rows(["w1"]))


def test_nothing_can_be_spent_at_zero_and_other_names_are_refused():
    assert Spent(EMBEDDINGS, 0.0).channel.rows(["w1"])[0].max() == pytest.approx(1 / 20, abs=1e-6)
    with pytest.raises(
        ValueError, match="of: 'rot13' is unknown; pass one of 'custext', 'custext.', 'santext', 'tem'"
    ):
        Spent(EMBEDDINGS, 1.0, of="rot13")


def test_groups_are_of_the_size_that_is_asked_for():
    small = Spent(EMBEDDINGS, 1.0, k=5)
    assert small.guarantee == CusText(EMBEDDINGS, 1.0, k=5).guarantee and len(small.epsilons) == 8
    assert small.with_(epsilon=2.0).k == 5
    with pytest.raises(ValueError, match="k: 0 is out of range"):
        Spent(EMBEDDINGS, 1.0, k=0)
