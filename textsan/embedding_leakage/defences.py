"""Defences of a released vector: rounding, Laplace noise, fewer dimensions; and text that is sanitized before.

Each is a function of an encoder to an encoder, so that an attacker who may ask the defended service learns from
what it releases. What is random is drawn anew at every call.
"""

from collections.abc import Callable, Sequence

import numpy as np

from textsan.base import checks
from textsan.mechanisms import Mechanism
from textsan.text.vocabulary import tokenize_v1

Encode = Callable[[Sequence[str]], np.ndarray]


def unit(vectors: np.ndarray) -> np.ndarray:
    """Vectors of Euclidean length one; a zero stays zero.

    >>> unit(np.array([[3.0, 4.0]]))
    array([[0.6, 0.8]])
    """
    return vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)


def rounded(vectors: np.ndarray, step: float) -> np.ndarray:
    """Round each coordinate of vectors (n, d), scaled to length one, to the nearest multiple of `step`, above 0.

    >>> rounded(np.array([[3.0, 4.0]]), 0.5)
    array([[0.5, 1. ]])
    """
    if checks.number("step", step, low=0) == 0:
        raise ValueError("step: 0 rounds nothing; pass a number above 0")
    return np.round(unit(vectors) / step) * step


def laplace(vectors: np.ndarray, scale: float, seed) -> np.ndarray:
    """Vectors of length one plus Laplace noise of one scale on each coordinate.

    Two vectors of length one in d dimensions are at most 2 sqrt(d) apart in the sum of absolute differences, so
    this is epsilon-DP between any two texts with `laplace_epsilon(scale, d)`.

    Args:
        scale: of the noise, above 0; its standard deviation is sqrt(2) times that.

    >>> laplace(np.array([[3.0, 4.0]]), 1e-9, seed=0).round(6)
    array([[0.6, 0.8]])
    """
    if checks.number("scale", scale, low=0) == 0:
        raise ValueError("scale: 0 is no noise; pass a number above 0")
    return unit(vectors) + np.random.default_rng(seed).laplace(scale=scale, size=np.shape(vectors))


def laplace_epsilon(scale: float, dimensions: int) -> float:
    """Compute the epsilon of `laplace` between any two texts: 2 sqrt(d) / scale, scale above 0.

    >>> laplace_epsilon(2.0, 4)
    2.0
    """
    return 2 * checks.whole("dimensions", dimensions, low=1) ** 0.5 / checks.number("scale", scale, low=0)


def reduced(vectors: np.ndarray, dimensions: int, seed) -> np.ndarray:
    """Project vectors (n, d), scaled to length one, on random orthogonal directions, the same for the same seed.

    >>> reduced(np.eye(3), 2, seed=0).shape
    (3, 2)
    """
    width = vectors.shape[1]
    if not 1 <= checks.whole("dimensions", dimensions, low=1) <= width:
        raise ValueError(f"dimensions: {dimensions}; pass a number from 1 to {width}")
    directions, _ = np.linalg.qr(np.random.default_rng(seed).normal(size=(width, dimensions)))
    return unit(vectors) @ directions


def defended(encode: Encode, name: str, strength: float, seed: int = 0) -> Encode:
    """Return an encoder whose vectors are defended.

    Args:
        name: "none", "rounding" (strength is the step), "laplace" (the scale), "dimensions" (how many).
        seed: of the noise, which is drawn anew at each call, or of the directions, which are kept.
    """
    random = np.random.default_rng(seed)
    changes: dict[str, Callable[[np.ndarray], np.ndarray]] = {
        "none": lambda vectors: vectors,
        "rounding": lambda vectors: rounded(vectors, strength),
        "laplace": lambda vectors: laplace(vectors, strength, random),
        "dimensions": lambda vectors: reduced(vectors, int(strength), seed),
    }
    change = changes[checks.choice("name", name, changes)]
    return lambda texts: change(np.asarray(encode(texts))).astype(np.float32)


def sanitized(texts: Sequence[str], mechanism: Mechanism, *, seed, first: int = 0) -> list[str]:
    """Sanitize the words of texts in lower case, the first text numbered `first`, and join them by blanks.

    >>> from textsan import CusText, Embeddings
    >>> one = CusText(Embeddings(["a"], [[0.0]]), 1.0, k=1)
    >>> sanitized(["A a"], one, seed=0)
    ['a a']
    """
    tokens = [[word.lower() for word in tokenize_v1(text)] for text in texts]
    return [" ".join(words) for words in mechanism.sanitize(tokens, seed=seed, first=first)]
