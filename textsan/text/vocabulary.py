"""Words: one tokenizer, one stop-word list, counts.

The unit of everything in this package is the *word*. Papers differ here, and the difference moves
numbers: Tong et al. split with NLTK and keep case, SanText with spaCy or WordPiece, CusText on blanks.
"""

import re
from collections import Counter
from collections.abc import Iterable

# Words with inner apostrophes, hyphens or dots (don't, well-made, u.s.), numbers with their separators,
# else one visible character. Clitics are split off as in the Penn Treebank, whose forms GloVe's
# vocabulary has ("n't", "'s", "'re"); NLTK and spaCy do the same.
_TOKEN = re.compile(
    r"\d+(?:[.,:]\d+)*|n't\b|'(?:s|re|ve|ll|d|m)\b"
    r"|[^\W\d_]+?(?=n't\b)|[^\W\d_](?:\.[^\W\d_])+\.?|[^\W_]+(?:-[^\W_]+)*|\.{2,}|--+|[^\w\s]|_"
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


def tokenize(text: str) -> list[str]:
    """Lower-cased word-level tokens of `text`; punctuation marks are tokens of their own.

    Unlike NLTK and spaCy (the papers' tokenizers) case is folded, because GloVe-6B has lower-case words
    only, and hyphenated words stay whole; unlike WordPiece no word is cut into pieces.

    Args:
        text: any string.

    Returns:
        list of tokens; empty if `text` has no visible character.

    Raises:
        ValueError: it is no string.

    >>> tokenize("It's n't U.S.-made, don't you think?")[:4]
    ['it', "'s", "n't", 'u.s.']
    """
    if not isinstance(text, str):
        raise ValueError(f"text: {text!r} is no string; leave empty cells out")
    return _TOKEN.findall(text.lower().replace("\u2019", "'"))


def count_words(documents: Iterable[Iterable[str]]) -> Counter:
    """Number of occurrences of every word in `documents` (lists of tokens).

    >>> count_words([["a", "b"], ["a"]])["a"]
    2
    """
    return Counter(word for document in documents for word in document)
