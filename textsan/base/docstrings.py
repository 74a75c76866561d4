"""Meanings of parameters, read from docstrings, for help texts and records."""

import inspect
import re
from collections.abc import Callable

UNDOCUMENTED = "not documented"


def meaning(constructor: Callable, name: str) -> str:
    """Return a constructor's documentation of a parameter, in one line.

    A function that leaves it to what it makes ("as for `CusText`") is answered from there, and a class that says
    nothing from those above it.

    >>> from textsan import SanText
    >>> meaning(SanText, "epsilon")
    'privacy parameter per unit of distance, at least 0; 0 is uniform.'
    """
    made = constructor if inspect.isclass(constructor) else inspect.signature(constructor).return_annotation
    for documented in (constructor, *(made.__mro__ if inspect.isclass(made) else ())):
        arguments = (inspect.getdoc(documented) or "").partition("Args:")[2].partition("\n\n")[0]
        found = re.search(rf"^( *){name}: (.*(?:\n\1 +\S.*)*)", arguments, re.MULTILINE)
        if found:
            return " ".join(found[2].split())
    return UNDOCUMENTED


def short_meaning(constructor: Callable, name: str) -> str:
    """Return `meaning` up to the first colon, semicolon, bracket or full stop.

    >>> from textsan import SanText
    >>> short_meaning(SanText, "epsilon")
    'privacy parameter per unit of distance, at least 0'
    """
    whole = meaning(constructor, name)
    first = re.match(r"[^:;(]+?(?=[:;(]|\.(?:\s|$)|$)", whole)
    return first[0].strip() if first else whole
