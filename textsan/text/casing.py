"""The case of a text: what the capital letters that `tokenize` folds say of its words."""

from collections import Counter
from collections.abc import Sequence
from functools import cache

from textsan.text.corpora import Record, load_dataset
from textsan.text.vocabulary import normalize, tokenize

TITLES = frozenset(
    """mr mrs ms miss dr sir sen senator rep representative gov governor president mayor judge justice secretary
    capt captain prof professor aunt uncle pope jr sr""".split()
)

_CASED = ("rt", "nyt", "tweets")  # corpora whose case tells names from common words ("bill", "rose")
_SENTENCE_ENDS = frozenset(".!?:;\"'`*([{-") | {"--", "..", "...", "....", "\u201c"}


def surface(document: Record | str | Sequence[str]) -> list[str]:
    """The tokens of a document as they are written, with capitals where its text has them; a list is its own.

    >>> surface("Ask Ann's friend")
    ['Ask', 'Ann', "'s", 'friend']
    """
    if not isinstance(document, (Record, str)):
        return list(document)
    if isinstance(document, Record):
        text, words = document.text, document.tokens
    else:
        text, words = normalize(document), tokenize(document)
    lower = "".join(c.lower() if len(c.lower()) == 1 else c for c in text).replace("\u2019", "'")
    tokens, start = [], 0
    for token in words:
        found = lower.find(token, start)
        if found >= 0:  # else it has one of the few letters whose lower case is two
            start = found + len(token)
        tokens.append(text[found:start] if found >= 0 else token)
    return tokens


def capitals(words: list[str]) -> list[bool | None]:
    """Mark words with a capital; None where that says nothing: first words, shouting, text without case.

    >>> capitals(["They", "met", "Ann"])
    [None, False, True]
    """
    letters = [word for word in words if word.isalpha()]
    share = sum(word[0].isupper() for word in letters) / max(1, len(letters))
    if not any(map(str.isupper, "".join(words))) or share > 0.7:
        return [None] * len(words)
    found, first = [], True
    for before, word in zip(["", *words], words, strict=False):
        shouted = len(word) > 1 and word.isupper()
        found.append(None if first or shouted or not word[0].isalpha() else word[0].isupper())
        abbreviated = word == "." and (before.lower() in TITLES or (len(before) == 1 and before.isupper()))
        first = word in _SENTENCE_ENDS and not abbreviated
    return found


@cache
def lower_share() -> dict[str, float]:
    """Share of lower-case occurrences of each word inside of the sentences of the corpora that have case.

    Where they do not, as in SST-2, this is what tells a bill from Bill.
    """
    upper: Counter[str] = Counter()
    lower: Counter[str] = Counter()
    for name in _CASED:
        for record in load_dataset(name, "all"):
            for word, capital in zip(record.tokens, capitals(surface(record)), strict=True):
                if capital is not None:
                    (upper if capital else lower)[word] += 1
    return {word: lower[word] / (upper[word] + lower[word]) for word in {*upper, *lower}}
