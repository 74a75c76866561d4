"""Nothing quoted: what keeps the words of a text out of a report, a log and an error.

Public are the thousand most frequent words of the vocabulary; every other word of the text is private. The
report is made without them, and what goes wrong meanwhile is told without them: an unforeseen error by its kind
and place.
"""

import re
import traceback
from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

from textsan.auditing.material import is_word, tokens_of

PUBLIC_WORDS = 1_000
"""Words at the head of the public list, which a report may show."""

HIDDEN = "[hidden]"
"""What stands in place of a word that is not shown."""

Result = TypeVar("Result")
_FORESEEN = (ValueError, KeyError, OSError)  # that the command line tells in a line


def public_words(inputs: Sequence[str]) -> frozenset[str]:
    """The words that may be shown.

    Args:
        inputs: of the mechanism, in the order of a public list.
    """
    return frozenset(inputs[:PUBLIC_WORDS])


def private_words(texts: Iterable, inputs: Sequence[str]) -> frozenset[str]:
    """The words of a text that may not be shown; of what is no text, none.

    Args:
        texts: documents.
        inputs: of the mechanism, in the order of a public list.
    """
    try:
        tokens = {token for text in texts for token in tokens_of(text)}
    except (TypeError, AttributeError, ValueError):
        return frozenset()
    return frozenset(filter(is_word, tokens)) - public_words(inputs)


def masked(line: str, private: frozenset[str]) -> str:
    """A line with `HIDDEN` for each word of a text in it.

    Args:
        line: a message.
        private: the words of the text that are not public.

    >>> masked("labels: 'Zyx' is no number", frozenset({"zyx"}))
    "labels: '[hidden]' is no number"
    """
    lower = line.lower()  # tokens of lists need not be those of `tokenize`: o'brien, new_york
    for word in sorted((one for one in private if one.lower() in lower), key=len, reverse=True):
        line = re.sub(rf"(?<!\w){re.escape(word)}(?!\w)", HIDDEN, line, flags=re.IGNORECASE)
    return line


def masked_quotes(clause: str, private: frozenset[str]) -> str:
    """A clause with `HIDDEN` for each word of a text that stands in it between quotation marks.

    Args:
        clause: of a mechanism, which knows its vocabulary and no text; so all else of it stays readable.
        private: the words of the text that are not public.

    >>> masked_quotes("'cat', the one word of the last group: a cat", frozenset({"cat"}))
    "'[hidden]', the one word of the last group: a cat"
    """
    return re.sub(r"'[^']*'|\"[^\"]*\"", lambda found: masked(found[0], private), clause)


def unquoted(private: frozenset[str] | None, work: Callable[[], Result]) -> Result:
    """What some work returns; its errors quote no word of a text, nor do their tracebacks.

    Args:
        private: the words of the text that are not public; None lets everything through.
        work: done now.

    Raises:
        ValueError, KeyError: as the work does, with the words masked; ValueError, too, for an OSError, a
            ConnectionError among them.
        RuntimeError: anything else, of which kind and place are told.
    """
    if private is None:
        return work()
    told: Exception
    try:
        return work()
    except _FORESEEN as error:
        said = error.args[0] if isinstance(error, KeyError) and error.args else error
        told = (KeyError if isinstance(error, KeyError) else ValueError)(masked(str(said), private))
    except Exception as error:  # a bug: its message may hold anything
        place = traceback.extract_tb(error.__traceback__)[-1]
        where = f"line {place.lineno} of {place.name}"
        told = RuntimeError(f"{type(error).__name__} at {where}; without --no-quotes it is told whole")
    raise told  # here, where the error that it is told of is no longer at hand
