"""Keep the words of a text out of a report, a log and an error.

Public are those of the thousand first words of the vocabulary that are among the thousand most frequent of the
default vectors, too; every other word of the text is private. The report is made without them, and errors are
masked: an unforeseen one is reported by its kind and place.
"""

import ast
import re
import traceback
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

from textsan.auditing.material import is_word, tokens_of
from textsan.text.loading import load_embeddings

PUBLIC_WORDS = 1_000
"""Words at the head of the public list, which a report may show."""

HIDDEN = "[hidden]"
"""The mark in place of a word that is not shown."""

Result = TypeVar("Result")
_EDGE = r"(?:(?<!\w)|(?!\w))"  # of a word, or outside of any
_FORESEEN = (ValueError, KeyError, OSError)  # that the command line prints as a line


def public_words(inputs: Sequence[str]) -> frozenset[str]:
    """Return the words that may be shown, of the mechanism's inputs: own ones may be in any order."""
    return frozenset(inputs[:PUBLIC_WORDS]) & _most_frequent()


@cache
def _most_frequent() -> frozenset[str]:
    try:
        return frozenset(load_embeddings().words[:PUBLIC_WORDS])
    except _FORESEEN:  # they cannot be fetched, and nothing is known to be public
        return frozenset()


def private_words(texts: Iterable, inputs: Sequence[str]) -> frozenset[str]:
    """Return the words of texts that may not be shown; of what is no text, none."""
    try:
        return _private(map(tokens_of, texts), inputs)
    except (TypeError, AttributeError, ValueError):
        return frozenset()


def _private(docs: Iterable[Sequence[str]], inputs: Sequence[str]) -> frozenset[str]:
    return frozenset(token for doc in docs for token in doc if is_word(token)) - public_words(inputs)


def masked(line: str, private: frozenset[str]) -> str:
    """Return a line with `HIDDEN` for each private word in it.

    >>> masked("labels: 'Zyx' is no number", frozenset({"zyx"}))
    "labels: '[hidden]' is no number"
    """
    lower = line.lower()  # tokens of lists need not be those of `tokenize`: o'brien, new_york
    for word in sorted((word for word in private if word.lower() in lower), key=len, reverse=True):
        line = re.sub(rf"(?<!\w){re.escape(word)}(?!\w)", HIDDEN, line, flags=re.IGNORECASE)
    return line


def masked_quotes(clause: str, private: frozenset[str]) -> str:
    """Return a mechanism's clause with `HIDDEN` for each private word between quotation marks.

    A mechanism knows its vocabulary and no text, so all else of the clause stays readable.

    >>> masked_quotes("'cat', the one word of the last group: a cat", frozenset({"cat"}))
    "'[hidden]', the one word of the last group: a cat"
    """
    return re.sub(r"'[^']*'|\"[^\"]*\"", lambda match: masked(match[0], private), clause)


def silenced(content: dict[str, Any], docs: Sequence[Sequence[str]], inputs: Sequence[str]) -> dict[str, Any]:
    """Hide the private words in an audit: those it quotes, and those that clauses and errors quote."""
    private, public = _private(docs, inputs), public_words(inputs)
    for pair in content["documents"]["given_away"]["words"]:
        pair |= {name: pair[name] if pair[name] in public else HIDDEN for name in ("released", "original")}
    for name in ("outside", "exposed"):
        clauses = content["mechanism"][name]
        content["mechanism"][name] = [masked_quotes(clause, private) for clause in clauses]
    skipped = content["words"]["skipped"]
    skipped |= {name: masked(why, private) for name, why in skipped.items()}
    return content


def _phrases(error: Exception) -> list[str]:
    """Phrases of the package's modules that raised an error, of three words or more, which are of no text."""
    files = {Path(frame.filename) for frame in traceback.extract_tb(error.__traceback__)}
    own = [file for file in files if Path(__file__).parents[1] in file.parents and file.is_file()]
    nodes = [node for file in own for node in ast.walk(ast.parse(file.read_bytes()))]
    found = {node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)}
    return sorted((phrase for phrase in found if len(phrase.split()) > 2), key=len, reverse=True)


def unquoted(quotes: bool, texts: Sequence, inputs: Sequence[str], work: Callable[[], Result]) -> Result:
    """Return what some work returns; its errors quote no private word of the texts, nor do their tracebacks.

    Foreseen errors stay ValueError or KeyError, with the words masked; another is a RuntimeError with its kind and
    place. With `quotes` everything is let through.
    """
    if quotes:
        return work()
    masked_error: Exception
    try:
        return work()
    except _FORESEEN as error:
        message = str(error.args[0] if isinstance(error, KeyError) and error.args else error)
        kind, private = KeyError if isinstance(error, KeyError) else ValueError, private_words(texts, inputs)
        parts = re.split(f"{_EDGE}({'|'.join(map(re.escape, _phrases(error))) or '$.'}){_EDGE}", message)
        masked_error = kind("".join(part if at % 2 else masked(part, private) for at, part in enumerate(parts)))
    except Exception as error:  # a bug: its message may hold anything
        place = traceback.extract_tb(error.__traceback__)[-1]
        where = f"line {place.lineno} of {place.name}"
        masked_error = RuntimeError(f"{type(error).__name__} at {where}; without --no-quotes it is told whole")
    raise masked_error  # here, where the error that it masks is no longer at hand
