"""Checks at the door: the value, or a ValueError of one line that names argument, value and way out."""

import math
from numbers import Real

import numpy as np


def number(name: str, value, low: float = -math.inf, high: float = math.inf) -> float:
    """`value` as a float, if it is a finite real number in [low, high].

    >>> number("epsilon", 2, low=0)
    2.0
    """
    limits = f"from {low:g} to {high:g}" if high < math.inf else f"of at least {low:g}"
    if isinstance(value, bool) or not isinstance(value, Real) or not math.isfinite(value):
        raise ValueError(f"{name}: {value!r} is not a number; pass a finite number {limits}")
    if not low <= value <= high:  # type: ignore[operator]  # numbers.Real says nothing of other numbers
        raise ValueError(f"{name}: {value!r} is out of range; pass a number {limits}")
    return float(value)


LARGEST_EPSILON = 1e6  # beyond it rounding alone moves epsilon d(x, y) by hundredths, and soon by everything


def epsilon(value) -> float:
    """`value` as a privacy parameter: from 0 to 1e6, far above every epsilon that still hides a word.

    >>> epsilon(2)
    2.0
    """
    return number("epsilon", value, low=0, high=LARGEST_EPSILON)


def has_words(name: str, value):
    """`value`, if it has words with vectors.

    >>> has_words("embeddings", ["a", "b"])
    Traceback (most recent call last):
    ...
    ValueError: embeddings: list holds no vectors; pass Embeddings, as load_embeddings() gives them
    """
    if not (hasattr(value, "words") and hasattr(value, "vectors")):
        raise ValueError(
            f"{name}: {type(value).__name__} holds no vectors; pass Embeddings, as load_embeddings() gives them"
        )
    return value


def whole(name: str, value, low: int = 0) -> int:
    """`value` as an int of at least `low`.

    >>> whole("k", 20, low=1)
    20
    """
    if number(name, value, low) != int(value):
        raise ValueError(f"{name}: {value!r} is not whole; pass an integer of at least {low}")
    return int(value)


def words(name: str, value) -> frozenset[str]:
    """`value`, an iterable of words, as a set.

    >>> sorted(words("keep", ["the", "a", "the"]))
    ['a', 'the']
    """
    if isinstance(value, str):
        raise ValueError(f"{name}: it is one string; pass a set of words")
    return frozenset(value)


def probabilities(name: str, value, size: int | None = None) -> np.ndarray:
    """`value` as an array of `size` probabilities, or of any number, that sum to one within 1e-9.

    >>> probabilities("prior", [0.25, 0.75])
    array([0.25, 0.75])
    """
    array = np.asarray(value, dtype=np.float64)
    if array.ndim != 1 or len(array) != (len(array) if size is None else size):
        wanted = "a list of numbers" if size is None else f"one number a word, {size}"
        raise ValueError(f"{name}: shape {array.shape}; pass {wanted}")
    if not (array >= 0).all() or abs(array.sum() - 1) > 1e-9:
        raise ValueError(f"{name}: pass numbers of at least 0 that sum to 1")
    return array


def choice(name: str, value, known) -> str:
    """`value`, if it is one of `known`.

    >>> choice("oov", "keep", ["keep", "error"])
    'keep'
    """
    if value not in known:
        raise ValueError(f"{name}: {value!r} is unknown; pass one of {', '.join(map(repr, known))}")
    return value


def documents(name: str, value) -> list[list[str]]:
    """`value` as a list of token lists.

    >>> documents("docs", [("a", "b"), []])
    [['a', 'b'], []]
    """
    docs = [] if isinstance(value, str) else list(value)  # once: it may be a generator
    if isinstance(value, str) or any(isinstance(document, str) for document in docs):
        raise ValueError(f"{name}: pass a list of token lists; textsan.tokenize(text) makes one of a string")
    return [list(document) for document in docs]
