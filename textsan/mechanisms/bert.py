"""BERT-vocabulary mode: WordPiece pieces in place of words, an encoder's input embeddings in place of GloVe.

Any mechanism runs on it (Yue et al. 2021 run SanText): `SanText(bert_vocabulary(), epsilon)` sanitizes lists of
pieces, which `wordpieces` makes of texts and `join_pieces` turns back into text. A word of several pieces is
several tokens, and pays epsilon for each.
"""

import re
from collections.abc import Iterable, Sequence

from textsan.base import assets
from textsan.models.encoders import ENCODER, load_tokenizer
from textsan.text.embeddings import Embeddings

_SPECIAL = re.compile(r"\[(?:PAD|UNK|CLS|SEP|MASK|unused\d+)\]")


def bert_vocabulary(encoder: str = ENCODER) -> Embeddings:
    """The encoder's WordPiece pieces with their input embeddings; special and unused pieces are left out.

    The released code keeps those, so that its output may hold [MASK] or [unused12].

    Args:
        encoder: a model of the registry with a WordPiece vocabulary.

    Raises:
        KeyError: unknown encoder.
    """
    from safetensors import safe_open

    folder = assets.fetch(encoder)
    pieces = (folder / "vocab.txt").read_text(encoding="utf8").splitlines()
    with safe_open(folder / "model.safetensors", framework="numpy") as tensors:
        name = next(name for name in tensors.keys() if name.endswith("embeddings.word_embeddings.weight"))
        vectors = tensors.get_tensor(name)
    rows = [row for row, piece in enumerate(pieces) if not _SPECIAL.fullmatch(piece)]
    return Embeddings([pieces[row] for row in rows], vectors[rows])


def wordpieces(texts: Iterable[str], encoder: str = ENCODER) -> list[list[str]]:
    """The pieces of each text, uncased and whole: no special pieces, no truncation.

    Args:
        texts: any strings.
        encoder: a model of the registry with a WordPiece vocabulary.
    """
    encoded = load_tokenizer(encoder).encode_batch(list(texts), add_special_tokens=False)
    return [encoding.tokens for encoding in encoded]


def join_pieces(pieces: Sequence[str]) -> str:
    """Text of pieces: a piece that starts with ## continues the one before it.

    >>> join_pieces(["em", "##bed", "##ding", "space"])
    'embedding space'
    """
    return " ".join(pieces).replace(" ##", "").removeprefix("##")
