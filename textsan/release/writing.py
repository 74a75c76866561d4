"""Write released words as text: with single blanks, or as people do; in lower case, or in the text's.

Spacing is made of the released words alone and tells nothing more than they do; only line breaks stay where they
were, so that it is known how many words each line has. Casing is carried over by position and tells what capital
letters tell: where sentences start, and which words were names.
"""

import re
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

from textsan.text.casing import surface
from textsan.text.vocabulary import tokenize

_LINE_BREAK = re.compile(r"\r\n|\r|\n")


class Tokens(NamedTuple):
    """The tokens of a document."""

    words: list[str]  # in lower case
    shapes: list[str]  # the same as they are written; empty where case is not kept
    lengths: list[int]  # tokens of each line
    breaks: list[str]  # between the lines


@dataclass(frozen=True)
class Writing:
    """The way in which released words are written.

    >>> writing = Writing(keep_case=True, detokenize=True)
    >>> writing.text(["who", "did", "n't", "ask", "?"], writing.tokens("They don't. BYE"))
    "Who didn't ask?"
    """

    keep_case: bool = False  # a word gets a capital, or all of them, where the one in its place had
    detokenize: bool = False  # punctuation joins its word, clitics too, and line breaks stay; else blanks only

    def tokens(self, text: str) -> Tokens:
        """Cut a text, and keep what `text` needs of it."""
        lines = _LINE_BREAK.split(text) if self.detokenize else [text]
        words = [tokenize(line) for line in lines]
        shapes = [shape for line in lines for shape in surface(line)] if self.keep_case else []
        breaks = _LINE_BREAK.findall(text) if self.detokenize else []
        return Tokens([word for line in words for word in line], shapes, [len(line) for line in words], breaks)

    def text(self, words: list[str], tokens: Tokens) -> str:
        """Return released words, as many as the document had tokens, as text."""
        if self.keep_case:
            words = [_cased(word, shape) for word, shape in zip(words, tokens.shapes, strict=True)]
        if not self.detokenize:
            return " ".join(words)
        parts: list[str] = []
        start = 0
        for length, after in zip(tokens.lengths, [*tokens.breaks, ""], strict=True):
            parts += _spaced(words[start : start + length]), after
            start += length
        return "".join(parts)

    @property
    def exposed(self) -> tuple[str, ...]:
        """The properties of the text that this releases, a clause each."""
        case = ("the capital letters of every word, which mark names and sentences, are released",)
        breaks = ("line breaks inside of a text are released",)
        return *(case if self.keep_case else ()), *(breaks if self.detokenize else ())

    def __str__(self) -> str:
        case = "case carried over by position" if self.keep_case else "lower case"
        spacing = "spacing of sacremoses, line breaks kept" if self.detokenize else "joined with blanks"
        return f"{case}, {spacing}"


def _cased(word: str, shape: str) -> str:
    # Three shapes for all words alike: the very letters of a word that was drawn again ("iPhone") would tell so.
    if len(shape) > 1 and shape.isupper():
        return word.upper()
    return word[:1].upper() + word[1:] if shape[:1].isupper() else word


def _spaced(words: list[str]) -> str:
    joined: list[str] = []
    for word in words:
        if joined and word.lower() == "n't":  # Moses splits don 't, the Penn Treebank do n't
            joined[-1] += word
        else:
            joined.append(word)
    return _moses().detokenize(joined, unescape=False)


@cache
def _moses():
    from sacremoses import MosesDetokenizer

    return MosesDetokenizer("en")
