"""Erasure: a coin and a full stop."""

import numpy as np
import pytest

from textsan import Embeddings
from textsan.mechanisms import Erasure

WORDS = [f"w{i}" for i in range(10)]
EMBEDDINGS = Embeddings(WORDS, np.arange(10.0)[:, None])


def test_a_word_or_a_stop():
    mechanism = Erasure(EMBEDDINGS, q=0.3)
    assert mechanism.channel.matrix()[:, :10] == pytest.approx(0.3 * np.eye(10))
    assert mechanism.channel.matrix()[:, 10] == pytest.approx(0.7)
    docs = [WORDS * 500]
    (released,) = mechanism.sanitize(docs, seed=0)
    kept = np.array([a == b for a, b in zip(released, docs[0], strict=True)])
    assert abs(kept.mean() - 0.3) < 0.03 and {*np.array(released)[~kept]} == {"."}


def test_a_stop_that_is_a_word_stays_one():
    with_stop = Embeddings(["a", ".", "b"], [[0.0], [1.0], [2.0]])
    matrix = Erasure(with_stop, q=0.25).channel.matrix()
    assert matrix == pytest.approx(np.array([[0.25, 0.75, 0], [0, 1, 0], [0, 0.75, 0.25]]))


def test_unknown_words_are_stops_and_nothing_is_promised():
    mechanism = Erasure(EMBEDDINGS, q=1.0)
    assert mechanism.sanitize([["w1", "zebra"]], seed=0) == [["w1", "."]]
    assert Erasure(EMBEDDINGS, q=1.0, oov="keep").sanitize([["zebra"]], seed=0) == [["zebra"]]
    promise = mechanism.guarantee
    assert promise.definition == "none" and promise.tight(mechanism.channel) == np.inf
    assert any("probability 1" in clause for clause in mechanism.exposed) and not Erasure(EMBEDDINGS, 0).exposed
    with pytest.raises(ValueError, match="q: 1.2 is out of range"):
        Erasure(EMBEDDINGS, q=1.2)
