"""Checks at the door: one line that names the argument, the value and the way out."""

import math
from numbers import Real


def number(name: str, value, low: float = -math.inf, high: float = math.inf) -> float:
    """`value` as a float, if it is a finite real number in [low, high].

    Raises:
        ValueError: it is not.

    >>> number("epsilon", 2, low=0)
    2.0
    """
    limits = f"from {low:g} to {high:g}" if high < math.inf else f"of at least {low:g}"
    if isinstance(value, bool) or not isinstance(value, Real) or not math.isfinite(value):
        raise ValueError(f"{name}: {value!r} is not a number; pass a finite number {limits}")
    if not low <= value <= high:
        raise ValueError(f"{name}: {value!r} is out of range; pass a number {limits}")
    return float(value)


LARGEST_EPSILON = 1e6  # beyond it rounding alone moves epsilon d(x, y) by hundredths, and soon by everything


def epsilon(value) -> float:
    """`value` as a privacy parameter: from 0 to 1e6, far above every epsilon that still hides a word.

    Raises:
        ValueError: it is not.

    >>> epsilon(2)
    2.0
    """
    return number("epsilon", value, low=0, high=LARGEST_EPSILON)


def whole(name: str, value, low: int = 0) -> int:
    """`value` as an int of at least `low`.

    Raises:
        ValueError: it is not.

    >>> whole("k", 20, low=1)
    20
    """
    if number(name, value, low) != int(value):
        raise ValueError(f"{name}: {value!r} is not whole; pass an integer of at least {low}")
    return int(value)


def choice(name: str, value, known) -> str:
    """`value`, if it is one of `known`.

    Raises:
        ValueError: it is not.

    >>> choice("oov", "keep", ["keep", "error"])
    'keep'
    """
    if value not in known:
        raise ValueError(f"{name}: {value!r} is unknown; pass one of {', '.join(map(repr, known))}")
    return value


def documents(name: str, value) -> list[list[str]]:
    """`value` as a list of token lists.

    Raises:
        ValueError: it is a string, or one of its documents is.

    >>> documents("docs", [("a", "b"), []])
    [['a', 'b'], []]
    """
    if isinstance(value, str) or any(isinstance(document, str) for document in value):
        raise ValueError(f"{name}: pass a list of token lists; textsan.tokenize(text) makes one of a string")
    return [list(document) for document in value]
