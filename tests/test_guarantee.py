"""Guarantees as data: what a channel uses of them, two-sided, and the prose that is made from the fields."""

import math
from decimal import Decimal

import numpy as np
import pytest
import scipy
from helpers import refused
from hypothesis import given, settings, strategies as st

from textsan import Channel, CusText, Embeddings, Prior, SanText, SanTextPlus, leakage, plotting
from textsan.leakage import linkage_limit
from textsan.mechanisms import MECHANISMS, make_mechanism
from textsan.privacy import Adjacency, Guarantee, Threshold

WORDS = ["the", "of", *(f"w{i}" for i in range(58))]
EMBEDDINGS = Embeddings(WORDS, np.random.default_rng(0).normal(size=(60, 4)))
EXACT = ["random", "santext", "santext+", "custext", "custext+", "tem", "weighted santext", "optimal custext"]
EXACT += ["optimal custext+", "context-aware custext", "spent"]


def made(name, epsilon=1.3):
    return make_mechanism(
        name, EMBEDDINGS, **({"epsilon": epsilon} if "epsilon" in MECHANISMS[name].parameters() else {})
    )


@pytest.mark.parametrize("name", EXACT)
def test_a_mechanism_keeps_its_promise_and_uses_some_of_it(name):
    mechanism = made(name)
    tight = mechanism.guarantee.tight(mechanism.channel)
    assert tight <= mechanism.guarantee.epsilon + 1e-9
    assert tight > mechanism.guarantee.epsilon / 3 or name == "random"


@pytest.mark.parametrize("name", [name for name in EXACT if name != "random"])
def test_a_channel_that_promises_less_than_it_uses_is_caught(name):
    """The channel of a larger epsilon, under the guarantee of a smaller one."""
    promise, broken = made(name).guarantee, made(name, epsilon=4.0).channel
    assert promise.tight(broken) > promise.epsilon


def test_kept_words_are_outside_and_words_of_other_groups_are_not_adjacent():
    plus = made("custext+")
    assert plus.guarantee.tight(plus.channel) == made("custext").guarantee.tight(made("custext").channel)
    assert any("kept words" in clause for clause in plus.guarantee.outside)
    anybody = Guarantee("DP", 1.3, Adjacency())
    assert anybody.tight(plus.channel) == np.inf


def test_distances_count_up_to_their_cutoff():
    near = Adjacency(distance=EMBEDDINGS, cutoff=0.5)
    channel = SanText(EMBEDDINGS, 1.3).channel
    assert Guarantee("metric DP", 1.3, near).tight(channel) > 1.3  # far words differ by more than 0.5 epsilon


def test_what_cannot_be_said_is_refused_or_infinite():
    none = CusText(EMBEDDINGS, 1.0, k=4, mapping="overlapping")
    assert none.guarantee.tight(none.channel) == np.inf
    stays = SanTextPlus(EMBEDDINGS, 1.0, sensitive={"w1", "w2"}, p=0)
    refused("epsilon_0: infinite", lambda: stays.guarantee.tight(stays.channel))
    with pytest.raises(ValueError, match="estimated from 5 draws"):
        Guarantee("DP", 1.0, Adjacency()).tight(Channel.estimated([[5]], 5, "a", "a"))
    refused("definition: 'pure' is unknown", lambda: Guarantee("pure", 1.0, Adjacency()))


# What a promise alone says of success

PRIOR = Prior(WORDS, np.random.default_rng(1).dirichlet(np.full(60, 0.3)))


@pytest.mark.parametrize("name", [name for name in EXACT if name not in ("random", "santext+")])
def test_a_channel_of_another_epsilon_is_above_a_small_promise(name):
    promise = made(name, 0.05).guarantee
    broken = made(name, 60.0)
    assert leakage.bayes_vulnerability(PRIOR, broken.channel.restrict(WORDS)) > promise.success(PRIOR) + 0.01


@pytest.mark.parametrize("name", sorted(MECHANISMS.keys() - {"released custext+"}))
def test_which_epsilon_a_promise_needs_is_the_inverse_of_what_it_allows(name):
    mechanism = made(name)
    blind = PRIOR.probabilities.max()
    for success in (blind / 2, 0.4, 0.9):
        epsilon = mechanism.epsilon_for(success, PRIOR)
        if np.isfinite(epsilon):
            assert mechanism.with_(epsilon=epsilon).guarantee.success(PRIOR) == pytest.approx(success, abs=5e-4)
        elif name in ("random", "erasure"):
            assert (epsilon == np.inf) == (name == "random" and success >= blind)
        else:
            assert np.isnan(epsilon) and mechanism.with_(epsilon=1e-5).guarantee.success(PRIOR) > success
    assert np.isnan(mechanism.epsilon_for(blind / 2, PRIOR)) and mechanism.epsilon_for(1.0, PRIOR) == np.inf


@settings(max_examples=60, deadline=None)
@given(
    weights=st.lists(st.floats(0.01, 1.0), min_size=60, max_size=60),
    success=st.floats(0.1, 0.99),
    name=st.sampled_from(["santext", "santext+", "custext", "custext+", "tem", "fbdd"]),
)
def test_the_epsilon_for_a_success_errs_on_the_safe_side(weights, success, name):
    prior, mechanism = Prior(WORDS, np.array(weights) / sum(weights)), made(name)
    epsilon = mechanism.epsilon_for(success, prior)
    if np.isfinite(epsilon):
        assert mechanism.with_(epsilon=epsilon).guarantee.success(prior) <= success
        assert mechanism.with_(epsilon=epsilon * 1.001).guarantee.success(prior) > success - 1e-9  # none to spare


def test_nothing_promised_is_nothing_bounded():
    none = CusText(EMBEDDINGS, 1.0, k=4, mapping="overlapping")
    assert none.guarantee.success(PRIOR) == 1.0 and np.isnan(none.epsilon_for(0.9, PRIOR))
    stays = SanTextPlus(EMBEDDINGS, 1.0, sensitive=WORDS[:30], p=0)
    assert stays.guarantee.success(PRIOR) == pytest.approx(1.0)


def test_words_that_a_promise_is_not_about_count_as_known():
    promise = Guarantee("metric DP", 0.0, Adjacency(distance=EMBEDDINGS))
    assert promise.success(Prior(["w1", "w2", "unknown"], [0.25, 0.25, 0.5])) == pytest.approx(0.75)
    assert promise.success(Prior(["unknown"], [1.0])) == 1.0


def test_a_word_whose_group_is_kept_has_none_to_hide_among():
    hidden = CusText(EMBEDDINGS, 1.0, k=3, keep=WORDS[:58])
    by_group = [sum(word not in hidden.keep for word in group) for group in hidden.group_words]
    lonely = f"{by_group.count(1)} words whose groups have no other word that is sanitized"
    assert 1 in by_group and any(lonely in clause for clause in hidden.guarantee.outside)
    assert any(lonely in clause for clause in hidden.exposed)


@given(st.floats(1e-6, 1e6), st.integers(0, 6))
def test_what_is_printed_of_a_threshold_is_never_above_it(value, digits):
    for kind in "fg":
        printed = format(Threshold(value), f".{digits}{kind}")
        assert float(printed) <= value
        unit = Decimal(10) ** (-digits if kind == "f" else math.floor(math.log10(value)) + 1 - max(digits, 1))
        assert Decimal(repr(value)) - Decimal(printed) < unit


def test_a_printed_threshold_keeps_its_promise_where_a_rounded_one_does_not():
    """Twenty words, a thousand candidates: .425 keeps the success to a tenth, and .43 was printed."""

    def success(e):
        return linkage_limit(e, 20, 1000).value

    exact = Threshold(scipy.optimize.brentq(lambda e: success(e) - 0.1, 1e-6, 50))
    assert success(float(f"{exact:.2f}")) <= 0.1 < success(float(f"{float(exact):.2f}"))
    shown = repr(plotting.table([{"ε": exact}, {"ε": Threshold(25.0)}]))
    assert "0.42" in shown and "0.43" not in shown
    assert f"{Threshold(math.inf)}" == "inf"
