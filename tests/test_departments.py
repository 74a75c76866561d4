"""Departments under defences: a planted service whose vectors say which department and which word."""

import numpy as np
import pytest

from textsan.text.corpora import Record
from textsan_book.studies import vector_defences as study, vectors

SIZES = {"encoder": "planted", "pooling": "mean", "layer": -1, "dataset": "any", "keywords": "chest", "n": 200}
SIZES |= {"vocabulary": 100, "seed": 0}


@pytest.fixture
def planted(monkeypatch):
    random = np.random.default_rng(0)
    which, has = random.integers(0, 10, 500), random.random(500) < 0.3
    texts = [f"{'chest ' * int(word)}text {i}" for i, word in enumerate(has)]
    records = [Record(text, study.DEPARTMENTS[d]) for text, d in zip(texts, which, strict=True)]
    known = dict(zip(texts, np.column_stack([np.eye(10)[which], 2 * has]), strict=True))
    monkeypatch.setattr(study, "load_dataset", lambda name, split: records)
    monkeypatch.setattr(vectors, "sentence_vectors", lambda some, **view: np.stack([known[t] for t in some]))


def test_what_the_vectors_say_is_learnt_and_enough_noise_hides_both(planted):
    [plain] = study.departments(defence="none", strength=0, **SIZES)
    [noisy] = study.departments(defence="laplace", strength=50, **SIZES)
    assert plain["asr"] > 0.99 and plain["utility"] > 0.99 and 0.1 < plain["majority"] < 0.2
    assert noisy["balanced_low"] < 0.5 < noisy["balanced_high"] and noisy["utility_low"] < noisy["majority"]
    assert plain["positives"] == noisy["positives"] > 40


def test_a_text_of_two_departments_and_one_of_none_are_left_out():
    labels = [("a", "Urology"), ("A!", "Nephrology"), ("b", "Letters"), ("c", "Neurology"), ("C", "Neurology")]
    assert [record.label for record in study.filed([Record(*pair) for pair in labels])] == ["Neurology"]
