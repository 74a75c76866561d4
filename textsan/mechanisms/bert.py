"""BERT-vocabulary mode: WordPiece pieces in place of words, an encoder's input embeddings in place of GloVe.

Any mechanism runs on it (Yue et al. 2021 run SanText): `SanText(bert_vocabulary(), epsilon)` sanitizes lists of
pieces, which `wordpieces` makes of texts and `join_pieces` turns back into text. A word of several pieces is
several tokens, and pays epsilon for each.

`santext_pieces` is SanText in that space over a list of *words*, so that it can stand beside the others in a
sweep, under the same attacks and tasks.
"""

import re
from collections.abc import Iterable, Sequence

from textsan.base import assets
from textsan.mechanisms.base import Oov
from textsan.mechanisms.santext import SanText
from textsan.models.encoders import ENCODER, input_embeddings, load_tokenizer
from textsan.text.embeddings import Embeddings

_SPECIAL = re.compile(r"\[(?:PAD|UNK|CLS|SEP|MASK|unused\d+)\]")


def bert_vocabulary(encoder: str = ENCODER) -> Embeddings:
    """Return the encoder's WordPiece pieces with their input embeddings, without special and unused ones.

    The released code keeps those, so that its output may hold [MASK] or [unused12].
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
    """Cut texts into the pieces of an encoder, uncased and whole: no special pieces, no truncation."""
    encoded = load_tokenizer(encoder).encode_batch(list(texts), add_special_tokens=False)
    return [encoding.tokens for encoding in encoded]


def join_pieces(pieces: Sequence[str]) -> str:
    """Text of pieces: a piece that starts with ## continues the one before it.

    >>> join_pieces(["em", "##bed", "##ding", "space"])
    'embedding space'
    """
    return " ".join(pieces).replace(" ##", "").removeprefix("##")


def santext_pieces(
    embeddings: Embeddings, epsilon: float, *, encoder: str = ENCODER, oov: Oov = "uniform", device: str = "auto"
) -> SanText:
    """SanText with an encoder's input embeddings in place of word vectors (Yue et al. 2021, sections 5.3 to 5.5).

    Pr(y | x) is proportional to exp(-epsilon d(x, y) / 2) over the words of a list, d the Euclidean distance of
    what the encoder reads of them. That is the paper's rule for a word of one piece. A word of several pieces,
    several tokens in the paper, is one token with the mean of their embeddings, and pays epsilon once. Satisfies
    epsilon-metric DP for this d (Theorem 1).

    Args:
        embeddings: the vocabulary; of its vectors none is used.
        epsilon: privacy parameter per unit of d, at least 0.
        encoder: a model of the registry with a WordPiece vocabulary.
        oov: what becomes of words that are not in the vocabulary.
        device: as for `SanText`.
    """
    return SanText(input_embeddings(embeddings.words, encoder), epsilon, oov=oov, device=device)
