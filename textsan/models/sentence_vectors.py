"""Sentence vectors by name of their encoder: one forward gives every layer and pooling that is asked for.

Vectors are kept on disk in blocks (`textsan.base.cache`): a long run that is killed goes on at the block where it
stopped.
"""

import functools
import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from textsan.base import assets, cache, checks
from textsan.models import causal, encoders
from textsan.text.loading import GLOVE, load_embeddings
from textsan.text.vocabulary import tokenize_v1

STATIC = GLOVE
"""The floor: the mean of word vectors, which knows no order."""

POOLINGS = ("mean", "cls", "pooled", "last")
"""Mean over pieces; the first piece; the first piece through the encoder's own pooler; the last piece."""

_CAUSAL = ("llama", "gpt2", "openai-gpt")
_BLOCK = 2048  # texts a file
_LONGEST = 256  # pieces that are read of a text


class View(NamedTuple):
    """A layer and a pooling of a forward pass.

    Attributes:
        pooling: one of `POOLINGS`.
        layer: 0 are the input embeddings, -1 is the last layer.
    """

    pooling: str = "mean"
    layer: int = -1


def sentence_vectors(
    texts: Sequence[str], encoder: str = encoders.ENCODER, *, pooling: str = "mean", layer: int = -1, **options
) -> np.ndarray:
    """Compute one vector a text.

    Args:
        texts: any strings; read up to 256 pieces.
        encoder: a model of the registry, "glove-6b-50d" for the mean of static word vectors, or the name of an
            encoder on the Hugging Face hub, owner/name.
        pooling: one of `POOLINGS`; static vectors have the mean alone.
        layer: 0 are the input embeddings, -1 is the last layer.
        **options: batch and stored, as of `views`.

    Raises:
        ValueError: an encoder that cannot be had, a pooling that it has not, no such layer, one string for texts.

    >>> sentence_vectors(["a fine film", "a fine film"], "glove-6b-50d").shape
    (2, 50)
    """
    [vectors] = views(texts, encoder, [View(pooling, layer)], **options)
    return vectors


def views(
    texts: Sequence[str],
    encoder: str = encoders.ENCODER,
    of: Sequence[View] = (View(),),
    *,
    batch: int = 64,
    stored: bool = True,
) -> list[np.ndarray]:
    """Compute several vectors a text, all of one forward pass.

    Args:
        of: which layers and poolings.
        batch: texts that are read together; texts of like length are, so that little is padded.
        stored: whether vectors are kept in the cache, and read from it.
    """
    if isinstance(texts, str):
        raise ValueError("texts: one string; pass a list of strings")
    texts, of = list(texts), [View(*view) for view in of]
    batch = checks.whole("batch", batch, low=1)
    for view in of:
        checks.choice("pooling", view.pooling, POOLINGS)
    print_of = fingerprint(encoder)
    parts: list[list[np.ndarray]] = [[] for _ in of]
    width = 0
    for start in range(0, len(texts), _BLOCK):
        block = texts[start : start + _BLOCK]
        files = [cache.place("vectors", [print_of, *view, *block], code=__name__) for view in of] if stored else []
        kept = [cache.read(file) for file in files]
        made = [one["vectors"] for one in kept if one is not None]
        if len(made) < len(of):
            made = _forward(block, encoder, of, batch)
            for file, vectors in zip(files, made, strict=False):
                cache.write(file, {"vectors": vectors})
        for part, vectors in zip(parts, made, strict=True):
            part.append(vectors)
            width = vectors.shape[1]
    return [np.concatenate(part) if part else np.empty((0, width), np.float32) for part in parts]


@functools.cache
def fingerprint(encoder: str) -> str:
    """sha256 of what an encoder's vectors depend on: its name and the hashes of its files."""
    known = assets.registry()["assets"]
    if encoder in known:
        _folder(encoder)
        files = [[file["path"], file.get("sha256")] for file in known[encoder]["files"]]
    else:
        files = [[encoder, getattr(_loaded(encoder)[0].config, "_commit_hash", None)]]
    return hashlib.sha256(json.dumps([encoder, files, _LONGEST]).encode()).hexdigest()


def available() -> list[str]:
    """Encoders that can be had without a network: those of the registry in the cache, and static vectors.

    >>> "glove-6b-50d" in available()
    True
    """
    known = assets.registry()["assets"]
    kinds = {name: asset["kind"] for name, asset in known.items()}
    return [name for name, kind in kinds.items() if (kind == "model" or name == STATIC) and assets.is_cached(name)]


# --- the forward pass -----------------------------------------------------------------------------------------


def _forward(texts: Sequence[str], encoder: str, of: Sequence[View], batch: int) -> list[np.ndarray]:
    if encoder == STATIC:
        return [_static_means(texts, view) for view in of]
    import torch

    model, pieces_of = _loaded(encoder)
    depth = model.config.num_hidden_layers
    for view in of:
        if not -depth - 1 <= view.layer <= depth:
            raise ValueError(f"layer: {view.layer}; {encoder} has layers 0 to {depth}")
        if view.pooling == "pooled" and getattr(model, "pooler", None) is None:
            raise ValueError(f"pooling: {encoder} has no pooler; pass another of {POOLINGS}")
        if view.pooling == "cls" and model.config.model_type in _CAUSAL:
            raise ValueError(f"pooling: the first piece of {encoder} sees no other; pass 'mean' or 'last'")
    ids = pieces_of(texts)
    order = sorted(range(len(texts)), key=lambda i: len(ids[i]))
    out: list[Any] = [None] * len(of)
    for start in range(0, len(order), batch):
        some = order[start : start + batch]
        lengths = torch.tensor([len(ids[i]) for i in some])
        padded = torch.zeros(len(some), int(lengths.max()), dtype=torch.long)
        for row, i in enumerate(some):
            padded[row, : len(ids[i])] = torch.tensor(ids[i])
        there = torch.arange(padded.shape[1]) < lengths[:, None]
        padded, there, lengths = (part.to(model.device) for part in (padded, there, lengths))
        with torch.inference_mode():
            read = model(input_ids=padded, attention_mask=there.long(), output_hidden_states=True)
        for at, view in enumerate(of):
            vectors = _pooled(model, read.hidden_states[view.layer].float(), there, lengths, view).cpu().numpy()
            if out[at] is None:
                out[at] = np.empty((len(texts), vectors.shape[1]), np.float32)
            out[at][some] = vectors
    return out


def _pooled(model, hidden, there, lengths, view: View):
    import torch

    if view.pooling == "mean":
        return (hidden * there[..., None]).sum(1) / lengths[:, None]
    if view.pooling == "last":
        return hidden[torch.arange(len(hidden), device=hidden.device), lengths - 1]
    if view.pooling == "pooled":
        with torch.inference_mode():
            return model.pooler(hidden)
    return hidden[:, 0]


def _static_means(texts: Sequence[str], view: View) -> np.ndarray:
    """The mean vector of each text's words; of a word without a vector, the mean of its characters'."""
    if view != View("mean", view.layer) or view.layer not in (0, -1):
        raise ValueError(f"pooling: {view.pooling!r} at layer {view.layer}; {STATIC} has 'mean' at layer 0")
    table = load_embeddings(STATIC)

    def vector(word: str) -> np.ndarray:
        if word in table.index:
            return table.vectors[table.index[word]]
        rows = [table.index[character] for character in word if character in table.index]
        return table.vectors[rows].mean(axis=0) if rows else np.zeros(table.vectors.shape[1])

    means = [[vector(word) for word in map(str.lower, tokenize_v1(text))] for text in texts]
    empty = np.zeros(table.vectors.shape[1])
    return np.array([np.mean(rows, axis=0) if rows else empty for rows in means], dtype=np.float32)


# --- encoders by name -----------------------------------------------------------------------------------------


def _folder(encoder: str) -> Path:
    if encoder != STATIC and assets.registry()["assets"][encoder]["kind"] != "model":
        raise ValueError(_cannot(encoder))
    try:
        return assets.fetch(encoder)
    except assets.FetchError as error:
        raise ValueError(_cannot(encoder)) from error


def _cannot(encoder: str) -> str:
    return f"encoder: {encoder!r} cannot be had here; without a network there are {', '.join(available())}"


@functools.cache
def _loaded(encoder: str):
    """The model, and what turns texts into lists of piece numbers, special pieces included."""
    known = assets.registry()["assets"]
    if encoder in known:
        config = _folder(encoder) / "config.json"
        if not config.is_file() or '"gpt2"' in config.read_text(encoding="utf8"):  # causal: a GGUF file, or GPT-2
            pieces_of = causal.load_causal_tokenizer(encoder)
            model = causal.load_causal(encoder, precision="float32").base_model
            return model, lambda texts: [ids[:_LONGEST] for ids in pieces_of(list(texts))["input_ids"]]
        tokenizer, model = encoders.load_tokenizer(encoder), encoders.load_encoder(encoder)
        model = model.to(encoders.pick_device())
        return model, lambda texts: [read.ids[:_LONGEST] for read in tokenizer.encode_batch(list(texts))]
    if "/" not in encoder:  # no name on the hub
        raise ValueError(_cannot(encoder))
    from transformers import AutoModel, AutoTokenizer

    try:
        with encoders.quiet():
            tokenizer = AutoTokenizer.from_pretrained(encoder, trust_remote_code=False)
            model = AutoModel.from_pretrained(encoder, use_safetensors=True, trust_remote_code=False)
    except (OSError, ValueError, ImportError) as error:
        raise ValueError(_cannot(encoder)) from error
    read = {"truncation": True, "max_length": _LONGEST}
    model = model.eval().to(encoders.pick_device())
    return model, lambda texts: tokenizer(list(texts), **read)["input_ids"]
