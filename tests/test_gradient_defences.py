"""Words read from a defended gradient, and those of the original in sanitized training text."""

import pytest

from textsan.channel import Channel
from textsan.gradient_leakage import defences, victims
from textsan.text.corpora import load_dataset
from textsan_book.studies import gradient_defences as study

DOCS = [["not", "a", "good", "film"], ["the", "plot", "is", "unwatchable"]]
LABELS = [[0], [0]]


@pytest.fixture(scope="module")
def small(default_data):
    return victims.small_victim(seed=0)


@pytest.fixture
def little(small, monkeypatch):
    records = load_dataset("rt")[:60]
    monkeypatch.setattr(study, "training_records", lambda dataset, seed: records)
    monkeypatch.setattr(study.victims, "load_victim", lambda seed: victims.small_victim(seed=seed))
    monkeypatch.setattr(study, "load_dataset", lambda name, split="train": load_dataset(name, split)[:200])
    monkeypatch.setattr(study, "CUTS", (1e-6, 0.1))
    given = {"dataset": "rt", "steps": 2, "attacked": 2, "longest": 8, "vocabulary": 1000, "seed": 0}
    return lambda defence, size, **more: study.gradient_defences(defence=defence, size=size, **given | more)[0]


def test_an_undefended_gradient_is_read_whole(small):
    assert study.best_reading(small, DOCS, LABELS, None, 0) == DOCS


def test_noise_thirty_times_the_gradient_leaves_nothing_to_read(small):
    read = study.best_reading(small, DOCS, LABELS, defences.noise(30.0), 0)
    right = [a == b for found, truth in zip(read, DOCS, strict=True) for a, b in zip(found, truth, strict=True)]
    assert len(right) == 8 and sum(right) <= 1


def test_a_word_of_several_pieces_is_read_when_all_of_them_are(small):
    tokenizer = study.load_tokenizer(small.name)
    pieces = tokenizer.encode("unwatchable", add_special_tokens=False).ids
    film = tokenizer.encode("film", add_special_tokens=False).ids
    assert len(pieces) > 1
    assert study._words(small.name, ["unwatchable", "film"], pieces + film) == ["unwatchable", "film"]
    wrong = [*pieces[:-1], film[0]]
    assert study._words(small.name, ["unwatchable", "film"], wrong + film)[0] != "unwatchable"


def test_originals_are_guessed_by_the_channel_and_public_counts(monkeypatch):
    """ "film" is said as "movie" more often than not, and public text has "film" only: Bayes' rule says film."""
    rows = [[0.4, 0.6, 0.0], [0.3, 0.7, 0.0], [0.0, 0.0, 1.0]]
    words = ["film", "movie", "dull"]

    class Said:
        channel = Channel.from_matrix(rows, inputs=words, outputs=words)

    class Record:
        tokens = ["film"] * 9 + ["dull"]

    monkeypatch.setattr(study, "load_dataset", lambda name: [Record])
    assert study._originals(Said, [["movie", "dull", "!"]]) == [["film", "dull", "!"]]


def test_the_row_of_no_defence_and_of_sanitized_text(little):
    plain, sanitized = little("none", 0), little("custext+", 1.0)
    assert plain["read"] == plain["sent_read"] == 1.0
    assert sanitized["sent_read"] == 1.0 and sanitized["read"] < 1.0
    for row in (plain, sanitized):
        assert row["accuracy_low"] <= row["accuracy"] <= row["accuracy_high"]
        assert 0.5 <= row["majority"] <= 1 and row["words"] == plain["words"] > 0


def test_a_word_without_a_row_is_read_where_it_is_kept_and_has_one_over_the_words_of_the_data(little):
    drawn, kept = (little("custext+", 1.0, oov=rule) for rule in ("uniform", "keep"))
    assert kept["sent_read"] == 1.0 and kept["read"] > drawn["read"]
    most = little("custext+", 1000.0, vocabulary="data")
    assert most["sent_read"] == 1.0 and most["read"] > drawn["read"]
