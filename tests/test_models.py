"""Encoders by name: words, pieces and vectors agree with the reference tokenizer; no network, no pickle."""

import socket

import pytest
import torch

from textsan.attacks.sentence_pairs import Pair, PairClassifier
from textsan.base import assets
from textsan.models import encoders
from textsan.models.context_model import Batch, Reader, train

pytestmark = pytest.mark.usefixtures("default_data")


def test_pieces_of_words_are_the_pieces_of_the_sentence():
    from transformers import AutoTokenizer

    words = ["undersupplied", "n't", "café", "u.s.", "'s", "--", "naïvely", "2,000", "co-writer", "☃"]
    reference = AutoTokenizer.from_pretrained(assets.fetch(encoders.ENCODER), local_files_only=True)
    encoded = reference(words, is_split_into_words=True, add_special_tokens=False)
    by_word = [[] for _ in words]
    for number, piece in zip(encoded.word_ids(), encoded["input_ids"], strict=True):
        by_word[number].append(piece)
    assert encoders.word_pieces(words) == by_word


def test_encoders_load_offline_and_without_pickle(monkeypatch):
    def forbidden(*args, **kwargs):
        raise AssertionError("network or pickle")

    monkeypatch.setattr(socket.socket, "connect", forbidden)
    monkeypatch.setattr(torch, "load", forbidden)
    model = encoders.load_encoder()
    assert not model.training
    assert model.config.hidden_size == 384
    torch.manual_seed(3)
    first = encoders.load_encoder(classes=2).classifier.weight
    torch.manual_seed(3)
    assert torch.equal(first, encoders.load_encoder(classes=2).classifier.weight)


def test_unknown_models_are_named_and_without_a_gpu_the_cpu_computes(monkeypatch):
    with pytest.raises(KeyError, match="no-such-model"):
        encoders.load_encoder("no-such-model")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert encoders.pick_device() == torch.device("cpu")


def test_what_is_seeded_depends_on_the_seed_alone_and_the_caller_draws_on():
    torch.manual_seed(1)
    expected = torch.rand(3)
    torch.manual_seed(1)
    with encoders.seeded(7):
        first = torch.rand(3)
    assert torch.equal(torch.rand(3), expected)
    with encoders.seeded(7):
        assert torch.equal(torch.rand(3), first)
    with encoders.seeded(8):
        assert not torch.equal(torch.rand(3), first)


def train_a_reader():
    reader = Reader(seed=1)
    words = reader.vectors(["cat", "dog"]).detach()
    where = torch.tensor([[0, 0], [0, 1]])
    batch = Batch(words[None], torch.tensor([2]), where, words, torch.zeros(()), torch.tensor([0, 1]))
    train(reader, lambda step: batch, steps=2, learning_rate=1e-3, seed=5)
    return list(reader.trained().values())


def train_on_pairs():
    classifier = PairClassifier(seed=1)
    pairs = [Pair(("a", "cat"), ("a", "dog")), Pair(("the", "mat"), ("the", "film"))]
    settings = {"epochs": 2, "learning_rate": 1e-4, "batch_size": 1, "seed": 5}
    classifier.train([(pairs, [0, 1])], **settings)
    return list(classifier.model.parameters())


@pytest.mark.parametrize("build", [train_a_reader, train_on_pairs])
def test_building_and_training_leave_the_callers_stream_alone(build):
    torch.manual_seed(1)
    expected = torch.rand(3)
    torch.manual_seed(1)
    first = build()
    assert torch.equal(torch.rand(3), expected)
    torch.manual_seed(2)  # and what it draws does not depend on the caller
    assert all(map(torch.equal, first, build()))
