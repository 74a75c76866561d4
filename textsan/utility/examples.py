"""Examples of a task: one text or two and a label each; their sanitized form; what an encoder reads of them."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from textsan.base.listed import Listed
from textsan.mechanisms import Mechanism
from textsan.models import encoders

Docs = Sequence[Sequence[str]]

SECOND = 1 << 41
"""Number of the first second text of a pair, so that its draws are not those of the first texts."""

Words = Literal["text", "pieces"]


@dataclass(frozen=True)
class Examples:
    """Texts with labels, to learn from or to be tested on.

    Attributes:
        first: token lists.
        second: the other text of each pair; None where a task has one text.
        labels: (n,) numbers; classes are 0 and 1.
        sources: (n,) number of the source that each example is of: the groups of intervals.
    """

    first: list[list[str]]
    second: list[list[str]] | None
    labels: np.ndarray
    sources: np.ndarray

    def __len__(self) -> int:
        return len(self.first)

    def __repr__(self) -> str:
        """Without the text, which is private."""
        return f"Examples({len(self)}, {'pairs' if self.second else 'single texts'})"

    def take(self, numbers: Listed[int]) -> "Examples":
        """Some of the examples, by number, in that order."""
        second = None if self.second is None else [self.second[i] for i in numbers]
        numbers = np.asarray(numbers, dtype=int)
        return Examples([self.first[i] for i in numbers], second, self.labels[numbers], self.sources[numbers])

    def sanitized(self, mechanism: Mechanism, seed, *, first: int = 0) -> "Examples":
        """Sanitize every text, numbered from `first`; labels stay those of the raw text, as in both papers."""
        one = mechanism.sanitize(self.first, seed, first=first)
        two = None if self.second is None else mechanism.sanitize(self.second, seed, first=first + SECOND)
        return replace(self, first=one, second=two)

    def split(self, share: float, seed: int) -> tuple["Examples", "Examples"]:
        """Split in two parts, the second with a share of the sources, all examples of a source in the same part.

        >>> texts = Examples([["a"], ["b"], ["c"]], None, np.array([0, 1, 0]), np.array([0, 1, 0]))
        >>> sorted(map(len, texts.split(0.5, seed=0)))
        [1, 2]
        """
        known = np.unique(self.sources)
        drawn = np.random.default_rng(seed).permutation(known)[: round(share * len(known))]
        held = np.isin(self.sources, drawn)
        if held.all() or not held.any():
            raise ValueError(f"share: {share:g} of {len(known)} sources leaves a part empty; pass more examples")
        return self.take(np.flatnonzero(~held)), self.take(np.flatnonzero(held))


class Pieces:
    """Words as the numbers of an encoder's pieces.

    Args:
        encoder: a registered encoder.
        words: "text" sends every word through the tokenizer, which cuts rare ones into pieces. "pieces" looks
            words up in the list of pieces, as the released code of Yue et al. 2021 does: what is not in it, a rare
            or a capitalised word, becomes [UNK].
        longest: pieces of a text, special ones included; the papers take 128.

    >>> Pieces(words="pieces").unknown([["good", "Good"]])
    0.5
    """

    def __init__(self, encoder: str = encoders.ENCODER, words: Words = "text", longest: int = 128):
        self.encoder, self.words, self.longest = encoder, words, longest
        self._known: dict[str, list[int]] = {}
        special = [encoders.CLS, encoders.SEP]
        self.first, self.last = (piece for [piece] in encoders.word_pieces(special, encoder))

    def of(self, docs: Docs) -> list[list[int]]:
        """Pieces of each document, without special ones."""
        words = [word for word in dict.fromkeys(w for doc in docs for w in doc) if word not in self._known]
        if words:
            self._known |= zip(words, self._cut(words), strict=True)
        return [[piece for word in doc for piece in self._known[word]] for doc in docs]

    def unknown(self, docs: Docs) -> float:
        """The share of words of which the encoder reads nothing but [UNK]."""
        [unknown] = encoders.word_pieces([encoders.UNKNOWN], self.encoder)
        read = [self.of([[word]])[0] == unknown for doc in docs for word in doc]
        return float(np.mean(read))

    def _cut(self, words: list[str]) -> list[list[int]]:
        if self.words == "text":
            return encoders.word_pieces(words, self.encoder)
        look_up = encoders.load_tokenizer(self.encoder).token_to_id
        unknown = look_up(encoders.UNKNOWN)
        return [[unknown if (number := look_up(word)) is None else number] for word in words]
