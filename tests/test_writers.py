"""Stored tables of writers, and what is computed of documents, against other routes."""

from collections import Counter

import numpy as np
import pytest

from textsan import CusText, Embeddings, SanText
from textsan_book.judging import writers
from textsan_book.studies.writer import content_words

WORDS = [f"w{i}" for i in range(40)] + ["the", "."]
EMBEDDINGS = Embeddings(WORDS, np.random.default_rng(0).normal(size=(len(WORDS), 3)))
DOCS = [[*np.random.default_rng(seed).choice(WORDS, 12)] for seed in range(30)] + [["the"]]


def by_hand(mechanism):
    content, matrix = content_words(mechanism), mechanism.channel.matrix()
    n = Counter(word for doc in DOCS for word in doc if word in content)
    inputs = [word for word in mechanism.channel.inputs if n[word]]
    rows = np.array([matrix[mechanism.channel.input_index[word]] for word in inputs])
    return inputs, rows * np.array([[n[word]] for word in inputs]) / sum(n.values())


def test_an_exposure_is_the_mean_over_the_words_of_a_document():
    mechanism = SanText(EMBEDDINGS, 2.0)
    inputs, joint = by_hand(mechanism)
    best = joint.argmax(axis=0)
    rows = joint / joint.sum(axis=1, keepdims=True)
    chance = {word: rows[i, best == i].sum() for i, word in enumerate(inputs)}
    wanted = sorted(np.mean([chance[w] for w in doc if w in chance]) for doc in DOCS if set(doc) & set(chance))
    assert len(wanted) == 30  # without the document of a stop word
    assert np.allclose(writers.exposures(mechanism, DOCS), wanted)


def test_santext_is_set_to_the_same_success():
    custext = CusText(EMBEDDINGS, 1.0, k=6)
    santext = writers.equal_on_words(custext, DOCS, EMBEDDINGS)
    success = [by_hand(one)[1].max(axis=0).sum() for one in (custext, santext)]
    assert success[0] == pytest.approx(success[1], abs=0.02)


@pytest.mark.parametrize("precision", [0.3, 0.5, 0.7])
def test_no_other_set_of_outputs_of_its_size_is_claimed_more_surely(precision):
    mechanism = SanText(EMBEDDINGS, 2.5)
    _, joint = by_hand(mechanism)
    mass, best = joint.sum(axis=0), joint.max(axis=0)
    share = writers.claimable(mechanism, DOCS, precision)
    generator = np.random.default_rng(1)
    for _ in range(500):
        chosen = generator.random(len(mass)) < generator.random()
        if mass[chosen].sum() > share + 1e-9:  # a larger share: never that precise, but for one output
            assert best[chosen].sum() < precision * mass[chosen].sum() + mass.max()
    sure = np.argsort(-best / mass)
    taken = next(
        n for n in range(len(sure), -1, -1) if best[sure[:n]].sum() >= precision * mass[sure[:n]].sum() - 1e-12
    )
    assert share == pytest.approx(mass[sure[:taken]].sum())
