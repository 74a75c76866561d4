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


@pytest.fixture
def cells(monkeypatch):
    defences = [{"name": "santext", "epsilon": e} for e in (0.5, 2.0, 8.0)]
    defences += [{"name": "custext", "epsilon": 1.0, "k": 5}]
    monkeypatch.setattr(study, "_cells", lambda *_: [{"defence": one} for one in defences])
    monkeypatch.setattr(study, "_split", lambda _: SPLIT)


def test_no_mechanism_is_below_the_least_and_noise_is_ordered(cells, monkeypatch):
    monkeypatch.setattr(study, "LEVELS", (0.2, 0.5, 0.8))
    rows = study.distances(sweeps="", seed=0)
    for row in rows:
        assert row["lost"] >= row["least"] - 1e-9
        assert row["linked_low"] <= row["linked"] <= row["linked_high"]
        assert row["exposure"] == pytest.approx(row["v"] * 6 / 7)  # a word in seven is not in the vocabulary
    noise = [row for row in rows if row["defence"] == "santext"]
    assert all(np.diff([row["lost"] for row in noise]) < 0) and all(np.diff([row["v"] for row in noise]) > 0)


def test_what_is_lost_by_hand():
    mechanism = make_mechanism("santext", EMBEDDINGS, epsilon=1.0)
    words = [word for doc in PRIVATE for word in doc if word in EMBEDDINGS]
    far = EMBEDDINGS.distances(WORDS, WORDS)
    matrix = mechanism.channel.restrict(WORDS).matrix()
    rows = [EMBEDDINGS.index[word] for word in words]
    assert study.lost(mechanism, SPLIT) == pytest.approx(np.mean((matrix * far).sum(axis=1)[rows]))
    kept = CusText(EMBEDDINGS, 1.0, k=5, keep=WORDS)
    assert study.lost(kept, SPLIT) == 0.0


def test_cells_of_several_private_texts_are_refused():
    names = ("dataset", "n_private", "n_shadow", "seed", "shadow_dataset", "vocabulary", "split_by", "drawn_from")
    cell = dict.fromkeys((*names, "embeddings"), 1)
    with pytest.raises(ValueError, match="several private texts"):
        study._split([cell, cell | {"vocabulary": 2}])
