"""The attacks of the study of one draw a word: each against its formula, written down again word by word."""

import numpy as np
import pytest
from scipy.stats import poisson

from textsan import Embeddings
from textsan.attacks import MarkovBayes
from textsan.evaluation import words_at
from textsan.mechanisms import CusText, Memoized
from textsan_book.studies.memoized import SCOPES, Attacker

RNG = np.random.default_rng(0)
WORDS = [f"w{i}" for i in range(60)]
MECHANISM = CusText(Embeddings(WORDS, RNG.normal(size=(60, 3))), 2.0, k=10)
FOLLOWS = RNG.dirichlet(np.full(60, 0.1), size=60)


def texts(n):
    docs = []
    for _ in range(n):
        numbers = [int(RNG.integers(60))]
        while len(numbers) < 15:
            numbers.append(int(RNG.choice(60, p=FOLLOWS[numbers[-1]])))
        docs.append([WORDS[number] for number in numbers])
    return docs


@pytest.fixture(scope="module")
def world():
    docs = texts(40)
    return Attacker(MECHANISM, texts(300)), docs


def named(attacker, guesses):
    return [attacker.channel.inputs[number] for number in guesses]


def test_by_context_alone_it_is_the_markov_attack(world):
    attacker, docs = world
    released = MECHANISM.sanitize(docs, seed=1)
    positions = [(d, i) for d, doc in enumerate(docs) for i in range(len(doc))]
    markov = MarkovBayes(MECHANISM.channel, attacker.model).reconstruct(released, positions)
    places = attacker.places(docs, released)
    assert named(attacker, attacker.guess(attacker.alone(places), 0.0, 1.0)) == markov
    hits = attacker.hits(places, attacker.guess(attacker.alone(places), 0.0, 1.0))
    assert hits.tolist() == [x == y for x, y in zip(markov, words_at(docs, positions), strict=True)]


@pytest.mark.parametrize("scope", SCOPES)
def test_counts_and_repeats_by_their_formulas(world, scope):
    attacker, docs = world
    matrix, prior = MECHANISM.channel.matrix(), np.exp(attacker.log_prior)
    column = {word: y for y, word in enumerate(MECHANISM.channel.outputs)}
    for once in (True, False):
        mechanism = Memoized(MECHANISM, scope) if once else MECHANISM
        released = mechanism.sanitize(docs, seed=2)
        places = attacker.places(docs, released)
        evidence = attacker.shared(places, scope, once=once)
        for a in (0.0, 1.0) if once else (0.0,):
            guesses = named(attacker, attacker.guess(evidence, a, 0.0))
            for at in range(0, len(guesses), 7):
                known = places.released if once else places.truth
                same = known == known[at]
                inside = places.document == places.document[at] if scope == "document" else same | True
                drawn = set(places.released[same & inside]) if once else places.released[same & inside]
                score = prior * np.prod([matrix[:, column[y]] for y in drawn], axis=0)
                score = score * poisson.pmf((same & inside).sum() - 1, inside.sum() * prior) ** a
                assert score[attacker.channel.input_index[guesses[at]]] == pytest.approx(score.max())
