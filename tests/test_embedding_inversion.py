import numpy as np
import pytest

from textsan import CusText, Embeddings, SanText
from textsan.attacks import EmbeddingInversion
from textsan.evaluation import attack_success_rate, sensitive_positions, words_at


@pytest.fixture(scope="module")
def world():
    generator = np.random.default_rng(0)
    embeddings = Embeddings([f"w{i}" for i in range(150)], generator.normal(size=(150, 4)))
    docs = [generator.choice(embeddings.words, size=10).tolist() for _ in range(200)]
    return embeddings, docs


@pytest.mark.parametrize("epsilon", [0.0, 2.0, 6.0])
@pytest.mark.parametrize("mechanism", [SanText, CusText])
def test_its_success_rate_is_the_unchanged_rate(world, mechanism, epsilon):
    embeddings, docs = world
    released = mechanism(embeddings, epsilon).sanitize(docs, seed=1)
    positions = sensitive_positions(docs, embeddings.words)
    guesses = EmbeddingInversion(embeddings).reconstruct(released, positions)
    assert guesses == words_at(released, positions)
    unchanged = np.mean([x == y for a, b in zip(docs, released, strict=True) for x, y in zip(a, b, strict=True)])
    assert attack_success_rate(guesses, words_at(docs, positions)).value == unchanged


def test_the_variant_answers_the_nearest_other_word(world):
    embeddings, docs = world
    doc = embeddings.words
    positions = [(0, i) for i in range(len(doc))]
    guesses = EmbeddingInversion(embeddings, exclude_itself=True).reconstruct([doc], positions)
    assert guesses == [embeddings.nearest(word, 2)[1] for word in doc]
    assert all(guess != word for guess, word in zip(guesses, doc, strict=True))


def test_words_with_the_same_vector_are_not_confused():
    twins = Embeddings(["a", "b", "c"], [[1.0], [1.0], [4.0]])
    positions = [(0, 0), (0, 1), (0, 2)]
    assert EmbeddingInversion(twins).reconstruct([["b", "a", "c"]], positions) == ["b", "a", "c"]
    assert EmbeddingInversion(twins, exclude_itself=True).reconstruct([["b", "a", "c"]], positions) == [
        "a",
        "b",
        "a",
    ]


def test_a_word_without_a_vector_is_guessed_to_be_itself(world):
    for exclude in (False, True):
        assert EmbeddingInversion(world[0], exclude).reconstruct([["the"]], [(0, 0)]) == ["the"]


def test_a_single_word_leaves_no_other_answer():
    with pytest.raises(ValueError, match="embeddings"):
        EmbeddingInversion(Embeddings(["a"], [[0.0]]), exclude_itself=True)
