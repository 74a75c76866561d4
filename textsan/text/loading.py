"""Word vectors by name, or from a file of one's own."""

import csv
import os
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from textsan.base import assets
from textsan.text.corpora import read_lines
from textsan.text.counter_fitting import counter_fit
from textsan.text.embeddings import Embeddings
from textsan.text.parquet import read_columns

GLOVE = "glove-6b-50d"
"""The word vectors that are used unless others are asked for."""

COUNTER_FITTED = "counter-fitted"
"""The name of GLOVE's vectors, counter-fitted."""

RADIUS = 0.1
"""Radius of `counter_fitted`: half of the published one, which is for 300 dimensions."""


def load_embeddings(name: str | Path = GLOVE) -> Embeddings:
    """Load word vectors by name or from a file of one's own; registered ones are fetched, verified and cached.

    Args:
        name: an embedding of `textsan/data/registry.toml`: "glove-6b-50d" (400,000 lower-case words, 50
            dimensions, float32); or "counter-fitted", those vectors fitted to the synonyms and antonyms in
            `TEXTSAN_DATA` (`counter_fitted`); or a file or http(s) address of vectors as text, as GloVe and
            word2vec are published: a word and its numbers a line, blanks between, plain or compressed (.gz, .xz,
            .zip). A first line with the two sizes is skipped.

    Raises:
        KeyError: a name that is no embedding's, and no file's; nothing is fetched then.
        ValueError: the file holds something else.
    """
    if check_embeddings(name) == COUNTER_FITTED:
        return counter_fitted()
    return _registered(str(name)) if _kinds().get(name) == "embedding" else _read(name)


def check_embeddings(name: str | Path) -> str | Path:
    """Check a name or file as `load_embeddings` takes it: a KeyError where it is neither; nothing is read."""
    kinds = _kinds()
    if name == COUNTER_FITTED or kinds.get(name) == "embedding":
        return name
    if name not in kinds and (str(name).startswith(("http://", "https://")) or Path(name).is_file()):
        return name
    what = f"a {kinds[name]}, no embedding" if name in kinds else "unknown, and no file"
    known = ", ".join([*(asset for asset, kind in kinds.items() if kind == "embedding"), COUNTER_FITTED])
    raise KeyError(f"embedding: {str(name)!r} is {what}; known: {known}")


@lru_cache(maxsize=1)
def counter_fitted() -> Embeddings:
    """GloVe's vectors of the words that Mrkšić et al. 2016 published vectors for, fitted anew to their pairs.

    The words are in GloVe's order, frequent ones first. Words and pairs are those of the folder `counterfit` in
    `TEXTSAN_DATA`: `vocabulary.jsonl.xz` (word), and `ppdb_synonyms`, `ppdb_antonyms` and `wordnet_antonyms`, each
    of w1 and w2.
    """
    folder = Path(os.environ.get("TEXTSAN_DATA", ""), "counterfit")
    if not (folder / "vocabulary.jsonl.xz").is_file():
        what = "synonyms and antonyms are not there; put them into a folder counterfit of TEXTSAN_DATA"
        raise FileNotFoundError(f"embedding: counter-fitted: {what}, or pass a file of fitted vectors")

    def pairs(name):
        return [(row["w1"], row["w2"]) for row in read_lines(folder / f"{name}.jsonl.xz")]

    glove, published = load_embeddings(), {row["word"] for row in read_lines(folder / "vocabulary.jsonl.xz")}
    known = glove.restrict(word for word in glove.words if word in published)
    opposite = pairs("ppdb_antonyms") + pairs("wordnet_antonyms")
    return counter_fit(known, pairs("ppdb_synonyms"), opposite, radius=RADIUS)


def _kinds() -> dict[Any, str]:
    registry = assets.registry()
    kinds = dict.fromkeys(registry["datasets"], "data set")
    return kinds | {asset: about["kind"] for asset, about in registry["assets"].items()}


def _registered(name: str) -> Embeddings:
    folder = assets.fetch(name)
    vectors_file, words_file = next(folder.rglob("*.npy")), next(folder.rglob("*.parquet"))
    vectors = np.load(vectors_file, allow_pickle=False)
    words, *_ = read_columns(words_file).values()
    return Embeddings(words, np.ascontiguousarray(vectors))


def _read(path: str | Path) -> Embeddings:
    """Vectors of a text file, float32."""
    import pandas as pd

    # a quotation mark is a word like others, and so are "null" and "nan"
    lines = {"sep": r"\s+", "header": None, "quoting": csv.QUOTE_NONE, "keep_default_na": False, "dtype": {0: str}}
    try:
        first = pd.read_csv(path, nrows=1, **lines).iloc[0].tolist()
        sizes = len(first) == 2 and first[0].isdigit()
        table = pd.read_csv(path, skiprows=int(sizes), **lines)
        return Embeddings(table[0], table.drop(columns=0).to_numpy(dtype=np.float32))
    except (ValueError, OSError) as error:  # of pandas, of the address, of Embeddings
        what = f"no word vectors ({' '.join(str(error).split())}); a line is a word and its numbers"
        raise ValueError(f"embedding: {path} holds {what}") from None
