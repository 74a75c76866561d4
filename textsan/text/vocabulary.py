"""Words: one tokenizer, one stop-word list, counts.

The unit of everything in this package is the *word*. Papers differ here, and the difference moves
numbers: Tong et al. split with NLTK and keep case, SanText with spaCy or WordPiece, CusText on blanks.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable

# Words with inner apostrophes, hyphens or dots (don't, well-made, u.s.), numbers with their separators,
# else one visible character. Clitics are split off as in the Penn Treebank, whose forms GloVe's
# vocabulary has ("n't", "'s", "'re"); NLTK and spaCy do the same.
_DOTTED = r"[^\W\d_](?:\.[^\W\d_])+\.?"
_TOKEN = re.compile(
    r"\d+(?:[.,:]\d+)*|n't\b|'(?:s|re|ve|ll|d|m)\b"
    rf"|[^\W\d_]+?(?=n't\b)|{_DOTTED}|[^\W_]+(?:-[^\W_]+)*|\.{{2,}}|--+|[^\w\s]|_"
)

STOP_WORDS = frozenset(
    """a about above after again against all am an and any are as at be because been before being below
    between both but by can could did do does doing down during each few for from further had has have
    having he her here hers herself him himself his how i if in into is it its itself just me more most my
    myself no nor not now of off on once only or other our ours ourselves out over own same she should so
    some such than that the their theirs them themselves then there these they this those through to too
    under until up very was we were what when where which while who whom why will with would you your yours
    yourself yourselves 's n't 're 've 'll 'd 'm""".split()
)


_WHOLE = r"(?:https?://|www\.)[^\s<>\"]*[^\W_]/?|[\w.+-]+@[\w-]+(?:\.[\w-]+)+"  # an address is one word
_INITIALS = r"[^\W\d_](?:\.[^\W\d_](?![^\W_]))+\.?"  # but J.Smith is three
_OWN_TOKEN = re.compile(f"{_WHOLE}|{_TOKEN.pattern.replace(_DOTTED, _INITIALS)}")

# What shows nothing and is no format character by its category (Default_Ignorable_Code_Point of Unicode 15).
_INVISIBLE = {0x34F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x180B, 0x180C, 0x180D, 0x180F, 0x3164, 0xFFA0}
_INVISIBLE |= {*range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0)}
_SAME = {0x2019: "'", 0x2010: "-", 0x2011: "-"}  # typographic forms of what is inside of words


def normalize(text: str) -> str:
    """Compose letters with their accents (Unicode's NFC) and drop invisible characters; hyphens become one kind.

    Text that was copied from a page or a PDF has soft hyphens inside of words, and text of macOS has accents apart
    from their letters: unless they are mended a word would be cut there, and its pieces released.

    >>> normalize("her\u00adman, ine\u0301s")
    'herman, inés'
    """
    unseen = {ord(c): None for c in set(text) if _is_invisible(c)}
    return unicodedata.normalize("NFC", text.translate(unseen)).translate(_SAME)


def _is_invisible(c: str) -> bool:
    return not c.isspace() and (unicodedata.category(c) in ("Cf", "Cc") or ord(c) in _INVISIBLE)


def tokenize(text: str) -> list[str]:
    """Cut text into lower-case words and punctuation marks, after `normalize`.

    Unlike NLTK and spaCy (the papers' tokenizers) case is folded, because GloVe-6B has lower-case words
    only, and hyphenated words, mail and web addresses stay whole; unlike WordPiece no word is cut into pieces.

    >>> tokenize("It's n't U.S.-made, don't you think? J.Smith does.")[:4]
    ['it', "'s", "n't", 'u.s.']
    """
    if not isinstance(text, str):
        raise ValueError(f"text: {type(text).__name__} is no string; leave empty cells out")
    lower = unicodedata.normalize("NFC", normalize(text).lower())
    if lower.isascii():
        return _OWN_TOKEN.findall(lower)
    # Marks that no letter takes up, and characters without a meaning, are no place to cut: they count as letters.
    marks = {ord(c): "x" for c in set(lower) if unicodedata.category(c)[0] in "MC" and not c.isspace()}
    whole = lower.translate(marks)
    return [lower[found.start() : found.end()] for found in _OWN_TOKEN.finditer(whole)]


def tokenize_v1(text: str) -> list[str]:
    """Cut text by the rules of version 0.2.0, by which all committed tables were made.

    It takes soft hyphens and lone accents for the ends of words and runs initials into names; `tokenize` does not.

    >>> tokenize_v1("J.Smith"), tokenize("J.Smith")
    (['j.s', 'mith'], ['j', '.', 'smith'])
    """
    if not isinstance(text, str):
        raise ValueError(f"text: {type(text).__name__} is no string; leave empty cells out")
    return _TOKEN.findall(text.lower().replace("\u2019", "'"))


def count_words(documents: Iterable[Iterable[str]]) -> Counter:
    """Number of occurrences of every word in `documents` (lists of tokens).

    >>> count_words([["a", "b"], ["a"]])["a"]
    2
    """
    return Counter(word for document in documents for word in document)
