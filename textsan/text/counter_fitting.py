"""Counter-fitting: word vectors pulled towards synonyms and away from antonyms (Mrkšić et al. 2016).

CusText was published with such vectors, under which a word's nearest ones mean the same instead of going together.
The published vectors are no pinned artefact; the method and its word pairs are public, so they can be made again.
"""

from collections.abc import Iterable

import numpy as np

from textsan.base import checks
from textsan.text.embeddings import Embeddings

Pairs = Iterable[tuple[str, str]]

_WEIGHT = 0.1  # of each of the three terms, as published
_BLOCK = 1024
_ROUNDING = 1e-12  # a pair that nothing moved is no further apart


def counter_fit(
    embeddings: Embeddings,
    synonyms: Pairs,
    antonyms: Pairs,
    *,
    margin: float = 1.0,
    radius: float = 0.2,
    epochs: int = 20,
) -> Embeddings:
    """Counter-fit vectors to unit length (Mrkšić et al. 2016, Equations 1 to 4; d is the cosine distance).

    The objective is the sum of max(0, margin - d) over antonyms, of d over synonyms, and, over all pairs that were
    within the radius, of how much further apart they are than before. As in the published code every epoch takes
    the gradients of all pairs, moves each word by their mean, and scales it to unit length.

    Args:
        synonyms, antonyms: pairs of words; pairs with a word that has no vector do not count, nor do synonyms that
            are antonyms as well.
        margin: cosine distance that antonyms are pushed to, from 0 to 2.
        radius: cosine distance below which a pair counts as near at first, from 0 to 1. Published is 0.2, for 300
            dimensions; with 50 there are many more such pairs, and they hold back what synonyms pull.

    >>> two = Embeddings(["cheap", "inexpensive"], [[1.0, 0.0], [0.0, 1.0]])
    >>> bool(counter_fit(two, [("cheap", "inexpensive")], []).distances(["cheap"], ["inexpensive"]) < 0.1)
    True
    """
    checks.number("margin", margin, 0, 2)
    lengths = np.linalg.norm(embeddings.vectors, axis=1, keepdims=True)
    if not (lengths > 0).all():
        raise ValueError(f"embeddings: {embeddings.words[int(np.argmin(lengths))]!r} has a vector of length 0")
    vectors = embeddings.vectors / lengths
    opposite = _numbers(embeddings, antonyms)
    alike = _numbers(embeddings, synonyms)
    alike = alike[~np.isin(_keys(alike, len(vectors)), _keys(opposite, len(vectors)))]
    if not len(alike) + len(opposite):
        raise ValueError("synonyms, antonyms: no pair of words with vectors; check casing and language")
    near, before = _near(vectors, checks.number("radius", radius, 0, 1))
    for _ in range(checks.whole("epochs", epochs, low=1)):
        step, count = np.zeros_like(vectors), np.zeros(len(vectors))
        apart = _distances(vectors, opposite)
        _push(step, count, vectors, opposite[apart < margin], +_WEIGHT)
        _push(step, count, vectors, alike[_distances(vectors, alike) > 0], -_WEIGHT)
        _push(step, count, vectors, near[_distances(vectors, near) > before + _ROUNDING], -_WEIGHT)
        moved = vectors + step / np.maximum(count, 1)[:, None]
        vectors = moved / np.linalg.norm(moved, axis=1, keepdims=True)
    return Embeddings(embeddings.words, vectors)


def _numbers(embeddings: Embeddings, pairs: Pairs) -> np.ndarray:
    """(n, 2) rows of the pairs whose words both have a vector, each pair once."""
    index = embeddings.index
    known = {tuple(sorted((index[a], index[b]))) for a, b in pairs if a in index and b in index and a != b}
    return np.array(sorted(known), dtype=np.intp).reshape(-1, 2)


def _keys(pairs: np.ndarray, n: int) -> np.ndarray:
    return pairs[:, 0] * n + pairs[:, 1]


def _near(vectors: np.ndarray, radius: float) -> tuple[np.ndarray, np.ndarray]:
    """Pairs within the radius, (n, 2), and their cosine distances."""
    found = []
    for start in range(0, len(vectors), _BLOCK):
        cosines = vectors[start : start + _BLOCK] @ vectors.T
        rows, columns = np.nonzero(cosines >= 1 - radius)
        later = columns > rows + start
        found.append(np.stack([rows[later] + start, columns[later]], axis=1))
    pairs = np.concatenate(found)
    return pairs, _distances(vectors, pairs)


def _distances(vectors: np.ndarray, pairs: np.ndarray) -> np.ndarray:
    return 1 - np.einsum("nd,nd->n", vectors[pairs[:, 0]], vectors[pairs[:, 1]])


def _push(step, count, vectors, pairs: np.ndarray, weight: float) -> None:
    """Add the weighted gradient of the distance of each pair, for both words of it."""
    for here, there in ((0, 1), (1, 0)):
        own, other = vectors[pairs[:, here]], vectors[pairs[:, there]]
        # d/du (1 - cos(u, v)) at |u| = |v| = 1
        gradient = np.einsum("nd,nd->n", own, other)[:, None] * own - other
        np.add.at(step, pairs[:, here], weight * gradient)
        np.add.at(count, pairs[:, here], 1)
