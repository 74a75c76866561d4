"""Sanitization-aware pretraining: what is predicted is the original word, the encoder stays one, runs repeat."""

import pytest
import torch

from textsan import Channel
from textsan.attacks import MaskInference
from textsan.attacks.mask_inference import MaskedBert
from textsan.mechanisms import ChannelMechanism
from textsan.models import encoders
from textsan_book.studies import filling_blanks, pretraining as preparation

PAIRS = {"good": "film", "bad": "plot", "red": "car", "blue": "house"}
"""A first word tells the second one, in text that nobody has sanitized."""

WORDS = [*PAIRS, *PAIRS.values()]
DOCS = [[first, second] for first, second in PAIRS.items()] * 16


def rotated():
    """Releases of each first word the next one, and of the second words themselves: a channel without noise."""
    firsts = list(PAIRS)
    becomes = dict(zip(WORDS, [*firsts[1:], firsts[0], *PAIRS.values()], strict=True))
    matrix = [[float(becomes[x] == y) for y in WORDS] for x in WORDS]
    return ChannelMechanism(Channel.from_matrix(matrix, WORDS, WORDS))


def teach():
    models = {}
    for name, mechanism in (("bare", None), ("prepared", rotated())):
        models[name] = filling_blanks.masked_model()
        filling_blanks.pretrain(models[name], DOCS, mechanism, steps=60, batch=16)
    return models


@pytest.fixture(scope="module")
def taught(default_data, trained_once):
    return trained_once(teach, "textsan_book.studies.filling_blanks", "textsan.mechanisms.given_channel")


def fill(model, docs):
    attack = MaskInference(MaskedBert(WORDS, encoders.ENCODER, model))
    return attack.reconstruct(docs, [(d, 1) for d in range(len(docs))])


def test_blanks_of_sanitized_text_are_filled_with_original_words(taught):
    originals = [[first, second] for first, second in PAIRS.items()]
    released = rotated().sanitize(originals, seed=0)
    assert fill(taught["prepared"], released) == list(PAIRS.values())
    assert fill(taught["bare"], originals) == list(PAIRS.values())
    assert fill(taught["bare"], released) != list(PAIRS.values())  # nobody told it of the channel


def test_a_fresh_head_leaves_the_encoder_as_it_was_published(default_data):
    model, bare = filling_blanks.masked_model(), encoders.load_encoder()
    ids = torch.tensor([[101, 2204, 2143, 102]])
    with torch.no_grad():
        ours, published = (one(ids).last_hidden_state for one in (model.base_model, bare))
    assert torch.equal(ours, published)
    assert model.get_output_embeddings().weight is model.get_input_embeddings().weight  # tied


def study():
    sizes = {"n_private": 16, "n_shadow": 16, "n_positions": 50, "n_test": 10, "steps": 1}
    return preparation.preparations(dataset="rt", epsilon=4.0, vocabulary=500, seed=0, **sizes)


def test_the_study_has_a_row_a_model_from_the_same_text(default_data, trained_once):
    rows = trained_once(study, "textsan_book.studies.pretraining")
    assert [row["model"] for row in rows] == ["as published", "bare", "prepared"]
    published, bare, prepared = rows
    assert "mask" not in published and {"mask", "mask_over_bare", "mask_chance"} <= prepared.keys()
    assert bare["over_bare"] == 0 == bare["mask_over_bare"]
    assert all(row["n"] == 50 and row["utility_low"] <= row["utility"] <= row["utility_high"] for row in rows)
