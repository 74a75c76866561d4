"""Words read from a defended gradient, and those of the original in sanitized training text."""

import pytest
import torch

from textsan.channel import Channel
from textsan.gradient_leakage import defences, victims
from textsan_book.studies import gradient_defences as study

DOCS = [["not", "a", "good", "film"], ["the", "plot", "is", "unwatchable"]]
LABELS = [[0], [0]]


@pytest.fixture(scope="module")
def small(default_data):
    return victims.small_victim(seed=0)


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


@pytest.mark.parametrize("share", [0.0, 0.5, 0.9])
def test_pruning_drops_the_smallest_entries_of_each_tensor(share):
    sent = defences.prune(share)(gradient := {"a": torch.randn(40, 30), "b": torch.randn(7)}, *[None] * 5)
    for name, tensor in gradient.items():
        flat = tensor.flatten().clone()
        flat[flat.abs().argsort()[: int(share * len(flat))]] = 0
        assert torch.equal(sent[name], flat.view_as(tensor))
