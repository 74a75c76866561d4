"""A model that is told the words before, in a world that is known."""

from types import SimpleNamespace

import numpy as np
import pytest

from textsan.attacks import Knowledge
from textsan.attacks.language_model import _Chain
from textsan.channel import Channel
from textsan.priors import LanguageModel, MarkovModel
from textsan_book.studies import words as language

WORDS = ["a", "b", "c", "d"]


@pytest.fixture
def world():
    """Words that follow each other in a circle; what is released says next to nothing of them."""
    rng = np.random.default_rng(0)
    channel = Channel.from_matrix(np.full((4, 4), 0.24) + 0.04 * np.eye(4), WORDS, WORDS)
    docs = [[WORDS[(start + i) % 4] for i in range(6)] for start in rng.integers(0, 4, 40)]
    released = [[WORDS[y] for y in rng.integers(0, 4, 6)] for _ in docs]
    positions = [(d, i) for d in range(40) for i in range(6)]
    knows = Knowledge(channel, shadow=[["a", "b", "c", "d", "a"]], attacked=frozenset(WORDS))
    return SimpleNamespace(
        knowledge=knows, released=released, positions=positions, truth=SimpleNamespace(docs=docs)
    )


def circle():
    return _Chain(MarkovModel.from_arrays(WORDS, np.full(4, 0.25), np.roll(np.eye(4), 1, axis=1)))


def test_a_model_that_knows_the_source_and_is_told_what_stands_before_is_always_right(world, monkeypatch):
    monkeypatch.setattr(LanguageModel, "named", lambda: circle())
    guesses = language.told(world, language.listed_words(world, 4))
    right = [world.truth.docs[d][i] == g for (d, i), g in zip(world.positions, guesses, strict=True)]
    first = [i == 0 for _, i in world.positions]
    assert all(hit for hit, start in zip(right, first, strict=True) if not start)
    assert np.mean([hit for hit, start in zip(right, first, strict=True) if start]) < 0.7  # nothing is told there


def test_it_is_told_the_true_words_and_never_the_released_ones(world, monkeypatch):
    monkeypatch.setattr(LanguageModel, "named", lambda: circle())
    some = language.told(world, language.listed_words(world, 4))
    world.truth.docs = [[WORDS[0]] * 6 for _ in world.truth.docs]
    other = language.told(world, language.listed_words(world, 4))
    after = [g for (_, i), g in zip(world.positions, other, strict=True) if i > 0]
    assert set(after) == {"b"} and some != other
