"""Knowledge: what follows from a mechanism, who may see what, and every attack made from it."""

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from helpers import refused

import textsan
from textsan import Channel, CusText, Embeddings, Knowledge, Prior
from textsan.attacks import ATTACKS, Attack, ContextFreeBayes, MarkovBayes, Truth
from textsan.attacks.contextual import _BOUND_FIRST
from textsan.evaluation import attack_success_rate, sensitive_positions, words_at
from textsan.mechanisms import ChannelMechanism
from textsan.priors import MarkovModel

WORDS = ["the", "of", *(f"w{i}" for i in range(30))]


@pytest.fixture(scope="module")
def world():
    generator = np.random.default_rng(0)
    embeddings = Embeddings(WORDS, generator.normal(size=(32, 3)))
    weights = generator.dirichlet(np.full(32, 0.3)) * 0.6
    weights[:2] += 0.2
    docs = generator.choice(WORDS, size=(400, 8), p=weights / weights.sum()).tolist()
    mechanism = CusText(embeddings, 1.0, k=8, keep=["the", "of"])
    return mechanism, docs[:200], docs[200:]


def test_kept_words_among_the_positions_are_no_trap(world):
    """An attack made of the channel alone, at all positions, beats leaving the text as it is."""
    mechanism, private, shadow = world
    released = mechanism.sanitize(private, seed=1)
    positions = sensitive_positions(private, set(WORDS))
    truths = words_at(private, positions)
    unchanged = attack_success_rate(words_at(released, positions), truths)
    plain = ContextFreeBayes(mechanism.channel, textsan.count_words(shadow)).reconstruct(released, positions)
    granted = ContextFreeBayes.against(Knowledge.of(mechanism, shadow=shadow)).reconstruct(released, positions)
    by_hand = Knowledge(mechanism.channel, shadow=shadow, kept=["the", "of"])
    assert attack_success_rate(plain, truths).low > unchanged.value and granted == plain
    assert ContextFreeBayes.against(by_hand).reconstruct(released, positions) == plain
    told = Knowledge.of(mechanism, shadow=shadow, attacked=mechanism.protected)
    secret = sensitive_positions(private, mechanism.protected)
    rates = [
        attack_success_rate(ContextFreeBayes.against(k).reconstruct(released, secret), words_at(private, secret))
        for k in (told, by_hand)
    ]
    assert rates[0].value >= rates[1].value


def test_a_raw_channel_gets_the_rows_of_what_is_kept():
    channel = Channel.from_matrix(np.full((2, 2), 0.5), ["the", "cat"], ["the", "cat"])
    knowledge = Knowledge(channel, prior=Prior(["the", "cat"], [0.5, 0.5]), kept=["the"])
    np.testing.assert_array_equal(knowledge.channel.matrix(), [[1, 0], [0.5, 0.5]])
    assert ContextFreeBayes.against(knowledge).reconstruct([["the", "cat"]], [(0, 0), (0, 1)]) == ["the", "cat"]
    assert knowledge.kept == {"the"} and knowledge.candidates == {"the", "cat"}


def test_the_attacker_sanitizes_with_the_mechanism_or_with_the_channel(world):
    mechanism, _, shadow = world
    by_mechanism = Knowledge.of(mechanism, shadow=shadow, seed=3)
    by_channel = Knowledge(mechanism.channel, shadow=shadow, seed=3)
    assert by_mechanism.sanitized() == by_channel.sanitized()  # no unknown words here
    docs, released = by_mechanism.sanitized(copies=2)
    assert len(docs) == len(released) == 2 * len(shadow) and released[: len(shadow)] != released[len(shadow) :]
    later = Knowledge.of(mechanism, shadow=shadow, seed=3, first=1)
    assert later.sanitized()[1][:-1] != by_mechanism.sanitized()[1][:-1]
    assert ChannelMechanism(mechanism.channel).guarantee.definition == "none"


def test_a_prior_instead_of_shadow_text(world):
    mechanism, private, shadow = world
    released = mechanism.sanitize(private, seed=1)
    positions = sensitive_positions(private, mechanism.protected)
    model = MarkovModel.fit(shadow, words=mechanism.channel.inputs)
    knowledge = Knowledge.of(mechanism, prior=model)
    assert MarkovBayes.against(knowledge).model is model
    np.testing.assert_allclose(knowledge.unigram().probabilities, [model.unigram[model.index[x]] for x in WORDS])
    unigram = Prior.from_counts(textsan.count_words(shadow), mechanism.channel.inputs)
    same = [Knowledge.of(mechanism, prior=unigram), Knowledge.of(mechanism, shadow=shadow)]
    one, two = (ContextFreeBayes.against(k).reconstruct(released, positions) for k in same)
    assert one == two


@pytest.mark.parametrize(
    "granted, message",
    [
        ({"shadow": ["a string"]}, "shadow: pass a list of token lists"),
        ({"attacked": "w1"}, "attacked: 'w1' is one string"),
        ({"kept": "the"}, "kept: 'the' is one string"),
        ({"shadow": [["w1"]], "prior": Prior(["w1"], [1.0])}, "prior: granted beside shadow text"),
        ({"attacked": ["nowhere"]}, "attacked: none of the words is an input"),
    ],
)
def test_bad_knowledge_is_refused(world, granted, message):
    refused(message, lambda: Knowledge(world[0].channel, **granted))


def test_a_prior_of_other_words_is_refused(world):
    stranger = MarkovModel.from_arrays(["nobody"], [1.0], [[1.0]])
    with pytest.raises(ValueError, match="prior: the model has no word that is an input"):
        Knowledge.of(world[0], prior=stranger).unigram()


def test_what_is_shown_of_knowledge_holds_no_text(world):
    shown = repr(Knowledge.of(world[0], shadow=world[2], attacked=["w1"], resources={"adapter": "x"}))
    assert "200 shadow documents, 2 kept words, 1 words under attack, adapter" in shown and "w1" not in shown


@pytest.mark.parametrize("name", ["context-free", "markov", "empirical inversion", "contextual"])
def test_without_shadow_text_attacks_that_learn_from_it_say_so(world, name):
    for shadow in (None, [], [[]]):
        with pytest.raises(ValueError, match="shadow: this attack learns from the attacker's own text"):
            ATTACKS[name].load()(Knowledge.of(world[0], shadow=shadow))


@pytest.mark.parametrize("name", ["context-free", "context-free bound", "markov", "empirical inversion"])
def test_modes_of_posteriors_are_the_guesses_and_dicts_sum_to_one(world, name):
    mechanism, private, shadow = world
    released = mechanism.sanitize(private[:40], seed=1)
    positions = sensitive_positions(private[:40], mechanism.protected)
    knowledge = Knowledge.of(mechanism, shadow=shadow, attacked=mechanism.protected)
    truth = Truth(private, mechanism.sanitize(private, seed=1), positions, positions)
    make = ATTACKS[name].load()
    attack = make(knowledge, truth) if ATTACKS[name].is_bound else make(knowledge)
    table = attack.posteriors(released, positions, k=32)
    assert table.mode() == attack.reconstruct(released, positions)
    for at in range(len(positions)):
        assert sum(table.mapping(at).values()) == pytest.approx(1.0)
    if name != "context-free bound":  # which considers every input
        assert all(set(table.mapping(at)) <= mechanism.protected for at in range(len(positions)))


def test_an_attack_that_only_guesses_has_no_posterior():
    class Stubborn(Attack):
        def _guess(self, docs, positions):
            return ["stone"] * len(positions)

    with pytest.raises(NotImplementedError, match="Stubborn has no posterior, only guesses"):
        Stubborn().posteriors([["a"]], [(0, 0)])
    refused("no against", lambda: Stubborn.against(None), NotImplementedError)


def test_owner_attacker_and_bound_draw_apart(world):
    """Also where none of them says from where on it numbers its documents, and all have one seed."""
    mechanism, private, _ = world
    released = mechanism.sanitize(private, seed=0)
    attacker = Knowledge.of(mechanism, shadow=private)  # the very text, so that equal draws would show
    bound = replace(attacker, first=_BOUND_FIRST)
    texts = [released, attacker.sanitized(100)[1][: len(private)], bound.sanitized()[1]]
    for one, two in combinations(texts, 2):
        same = np.mean(np.array(one) == np.array(two))
        assert same < 0.9 and one != two
    copies = attacker.sanitized(100)[1]
    assert not {tuple(doc) for doc in bound.sanitized(2)[1]} <= {tuple(doc) for doc in copies}


def test_words_that_the_channel_does_not_have_cannot_stand_anywhere():
    channel = Channel.from_matrix([[0.9, 0.1], [0.1, 0.9]], inputs=["cat", "dog"], outputs=["cat", "dog"])
    assert Knowledge(channel, attacked={"cat", "unicorn"}).attacked == {"cat"}
