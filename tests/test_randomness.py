"""Streams: with a seed the same for whoever has it; without, a cryptographic generator under a fresh key."""

import secrets

import numpy as np
import pytest

from textsan import CusText, Embeddings
from textsan.base import randomness
from textsan.base.randomness import streams

EMBEDDINGS = Embeddings(["a", "b"], [[0.0], [1.0]])


def test_without_a_seed_the_stream_is_chacha20_of_a_fresh_key(monkeypatch):
    keys = []
    monkeypatch.setattr(secrets, "randbits", lambda n: keys.append(n) or 0)
    [first] = streams(None, [7])
    raw = first.bit_generator.random_raw(8).astype("<u8").tobytes()
    # The key stream of the zero key, block 0: the first test vector of RFC 8439, appendix A.1.
    assert raw.hex().startswith("76b8e0ada0f13d90405d6ae55386bd28bdd219b8a08ded1aa836efcc8b770dc7")
    assert keys == [256]
    next(streams(None, [7]))
    assert keys == [256, 256]


def test_unseeded_noise_is_of_no_other_generator(monkeypatch):
    def refuse(*_, **__):
        raise AssertionError("a generator that is not cryptographic")

    for name in ("Philox", "PCG64", "default_rng", "SeedSequence"):
        monkeypatch.setattr(randomness.np.random, name, refuse)
    mechanism = CusText(EMBEDDINGS, 1.0, k=2)
    released = mechanism.sanitize([["a", "b"] * 500] * 2)
    assert {word for doc in released for word in doc} == {"a", "b"}
    assert released[0] != released[1] and released != mechanism.sanitize([["a", "b"] * 500] * 2)


def test_with_a_seed_a_stream_depends_on_its_number_alone():
    alone = [next(streams(3, [number])).random(4).tolist() for number in (0, 1, 9)]
    assert [stream.random(4).tolist() for stream in streams(3, [0, 1, 9])] == alone
    assert len({*map(tuple, alone)}) == 3
    assert next(streams(4, [0])).random(4).tolist() != alone[0]


def test_unseeded_draws_follow_the_channel():
    mechanism = CusText(EMBEDDINGS, 1.0, k=2)
    [released] = mechanism.sanitize([["a"] * 40_000])
    expected = mechanism.channel.matrix()[0, 0]
    assert np.mean([word == "a" for word in released]) == pytest.approx(expected, abs=5 * 0.5 / 200)
