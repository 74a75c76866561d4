"""The loss of released text over the least possible: by hand, and never below the frontier."""

import numpy as np
import pytest

from textsan import Embeddings
from textsan.mechanisms import CusText, make_mechanism
from textsan.sweeps.splits import Split
from textsan_book.studies import exposure as study

WORDS = [f"w{i}" for i in range(30)]
EMBEDDINGS = Embeddings(WORDS, np.random.default_rng(0).normal(size=(30, 3)))
PRIVATE = [list(np.random.default_rng(i).choice(WORDS[:12], 6)) + ["unknown"] for i in range(40)]
SPLIT = Split(PRIVATE, PRIVATE[:5], EMBEDDINGS)


def test_what_is_lost_by_hand():
    mechanism = make_mechanism("santext", EMBEDDINGS, epsilon=1.0)
    words = [word for doc in PRIVATE for word in doc if word in EMBEDDINGS]
    far = EMBEDDINGS.distances(WORDS, WORDS)
    matrix = mechanism.channel.restrict(WORDS).matrix()
    rows = [EMBEDDINGS.index[word] for word in words]
    assert study.lost(mechanism, SPLIT) == pytest.approx(np.mean((matrix * far).sum(axis=1)[rows]))
    kept = CusText(EMBEDDINGS, 1.0, k=5, keep=WORDS)
    assert study.lost(kept, SPLIT) == 0.0
