"""Encoders by name: pinned weights without code or pickle, words as pieces and vectors, the choice of device."""

from collections.abc import Iterable, Sequence
from contextlib import contextmanager
from functools import cache
from typing import Any

from textsan.base import assets
from textsan.text.embeddings import Embeddings

ENCODER = "all-minilm-l6-v2"
"""The default path's encoder: BERT architecture, uncased, 6 layers, 384 wide. The papers use bert-base-uncased."""

ADAPTERS = assets.DATA / "models"
"""Weights that readers have learnt from public text, half precision; see `textsan_book.studies.adapters`."""

CLS, SEP, MASK, UNKNOWN = "[CLS]", "[SEP]", "[MASK]", "[UNK]"


def pick_device():
    """The torch device that models run on: a GPU where there is one, else the CPU."""
    import torch

    return torch.device("cuda" if torch.cuda.is_available() else "cpu")


@contextmanager
def seeded(seed: int):
    """A context in which torch draws from `seed`; after it, the caller's own streams go on where they were."""
    import torch

    with torch.random.fork_rng(devices=range(torch.cuda.device_count())):
        torch.manual_seed(seed)
        yield


def load_encoder(name: str = ENCODER, *, classes: int | None = None, masked: bool = False):
    """Load a transformers model with the weights of a registered encoder, in evaluation mode.

    Args:
        classes: None is the bare encoder; a number puts dropout and a fresh linear layer of so many classes on its
            pooled output (drawn from torch's stream: see `seeded`).
        masked: with its own masked-language-model head.
    """
    from transformers import AutoModel, AutoModelForMaskedLM, AutoModelForSequenceClassification

    options: dict[str, Any] = {"local_files_only": True, "use_safetensors": True, "trust_remote_code": False}
    kind = AutoModel
    if classes:
        kind, options["num_labels"] = AutoModelForSequenceClassification, classes
    if masked:
        kind, options["output_loading_info"] = AutoModelForMaskedLM, True
    with quiet():
        model = kind.from_pretrained(assets.fetch(name), **options)
    if masked:
        model, loading = model
        if loading["missing_keys"]:
            raise ValueError(f"model: {name!r} has no masked-language-model head; bert-base-uncased has one")
    return model.eval()


@contextmanager
def quiet():
    """A context in which transformers shows no progress bars and does not say that a fresh layer is fresh."""
    from transformers.utils import logging

    level, bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        logging.set_verbosity(level)
        if bars:
            logging.enable_progress_bar()


@cache
def load_tokenizer(name: str = ENCODER):
    """The WordPiece tokenizer of a registered encoder: no special pieces, no truncation, no padding."""
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(assets.fetch(name) / "tokenizer.json"))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer


def word_pieces(words: Sequence[str], name: str = ENCODER) -> list[list[int]]:
    """Return piece numbers of each word, at least one each; WordPiece never looks beyond a word."""
    tokenizer = load_tokenizer(name)
    unknown = [tokenizer.token_to_id(UNKNOWN)]
    return [piece.ids or unknown for piece in tokenizer.encode_batch(list(words), add_special_tokens=False)]


def input_embeddings(words: Iterable[str], name: str = ENCODER) -> Embeddings:
    """Return an encoder's input vectors of words, before any context: `word_vectors` as `Embeddings`."""
    words = list(words)
    table = load_encoder(name).get_input_embeddings().weight.detach()
    return Embeddings(words, word_vectors(words, table, name).numpy())


def word_vectors(words: Iterable[str], table, name: str = ENCODER):
    """Average the input embeddings, (pieces, d), of each word's pieces, a tensor (len(words), d)."""
    import torch

    pieces = word_pieces(list(words), name)
    flat = torch.tensor([piece for word in pieces for piece in word], device=table.device)
    starts = torch.tensor([0] + [len(word) for word in pieces[:-1]], device=table.device).cumsum(0)
    return torch.nn.functional.embedding_bag(flat, table, starts, mode="mean")
