"""Words found and words remembered: exchanges, labels, and a model whose knowledge is known."""

import importlib.util
from types import SimpleNamespace

import numpy as np
import pytest

from textsan.attacks import Knowledge
from textsan.attacks.language_model import _Chain
from textsan.channel import Channel
from textsan.priors import LanguageModel, MarkovModel
from textsan_book.studies import words

RANKED = [f"w{i}" for i in range(400)]


def test_a_word_is_exchanged_for_another_one_that_is_about_as_frequent():
    rng = np.random.default_rng(0)
    docs = [[RANKED[i] for i in rng.integers(0, 400, 9)] for _ in range(60)]
    positions = [(d, i) for d in range(60) for i in range(0, 9, 2)]
    made = words.exchanged(docs, positions, RANKED, seed=0)
    rank = RANKED.index
    for d, doc in enumerate(docs):
        for i, word in enumerate(doc):
            apart = abs(rank(made[d][i]) - rank(word))
            assert 1 <= apart <= words.NEAR // 2 if (d, i) in positions else apart == 0
    again, other = (words.exchanged(docs, positions, RANKED, seed=seed) for seed in (0, 1))
    assert made == again != other


def test_and_of_the_same_part_of_speech():
    usual = {word: "noun" if i % 7 else "verb" for i, word in enumerate(RANKED)}
    docs = [["w7", "w8", "w9"]] * 50
    tagged = [["verb", "verb", "noun"]] * 50  # w8 is a verb here
    made = words.exchanged(docs, [(d, i) for d in range(50) for i in range(3)], RANKED, (tagged, usual), seed=0)
    for doc in made:
        assert [usual[word] for word in doc] == ["verb", "verb", "noun"]
        assert doc[0] != "w7" and doc[2] != "w9"


@pytest.fixture
def circle(monkeypatch):
    """Words that follow each other in a circle, released as one of two neighbours; and a model that knows that."""
    names, rng = [f"w{i}" for i in range(12)], np.random.default_rng(0)
    source = MarkovModel.from_arrays(names, np.full(12, 1 / 12), np.roll(np.eye(12), 1, axis=1) * 0.88 + 0.01)
    monkeypatch.setattr(LanguageModel, "named", lambda name: _Chain(source))
    matrix = 0.5 * np.eye(12) + 0.5 * np.roll(np.eye(12), 1, axis=1)
    channel = Channel.from_matrix(matrix, names, names)
    docs = [[names[(start + i) % 12] for i in range(7)] for start in rng.integers(0, 12, 50)]
    knows = Knowledge(channel, shadow=docs[:5], attacked=frozenset(names))
    return SimpleNamespace(knowledge=knows, truth=SimpleNamespace(docs=docs), seed=0), channel


def drawn(channel, docs):
    rng = np.random.default_rng(1)
    return [channel.sample(doc, rng.random(len(doc))) for doc in docs]


def test_a_model_that_knows_the_order_adds_to_text_in_order_and_not_to_exchanged_text(circle):
    problem, channel = circle
    docs, names = problem.truth.docs, channel.outputs
    positions = [(d, i) for d in range(50) for i in range(7)]
    released = [[names[y] for y in line] for line in drawn(channel, docs)]
    alone, added = words.model_adds(problem, docs, released, positions, beam=12)
    assert 0.35 < alone.value < 0.65 and added.low > 0.2
    other = words.exchanged(docs, positions, names, seed=0)
    released = [[names[y] for y in line] for line in drawn(channel, other)]
    alone, added = words.model_adds(problem, other, released, positions, beam=12)
    assert 0.35 < alone.value < 0.65 and added.low < 0.05


@pytest.mark.skipif(importlib.util.find_spec("spacy") is None, reason="needs spaCy (extra pii)")
def test_parts_of_speech_in_a_sentence_and_most_often():
    docs = [["the", "movie", "is", "a", "charming", "journey"], ["they", "play", "two", "plays", "badly"], []]
    tagged = words.parts_of_speech(docs)
    assert tagged[0] == ["other", "noun", "verb", "other", "adjective", "noun"]
    assert tagged[1][1:4] == ["verb", "number", "noun"] and tagged[2] == []
    usual = words.usual_parts([["they", "play", "well"], ["the", "play"], ["we", "play"]], ["play", "chair"])
    assert usual == {"play": "verb", "chair": "noun"}
