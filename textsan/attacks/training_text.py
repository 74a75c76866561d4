"""The attacker's own text as training material: pairs, splits that share no sentence, batches of one length."""

from collections.abc import Sequence

import numpy as np

from textsan.base import checks
from textsan.text.sources import phrase_sources

WINDOW = 128  # tokens that a reader reads together; longer documents are read in parts


def paired(shadow_docs, sanitized_docs) -> tuple[list[list[str]], list[list[str]]]:
    """Both as token lists.

    Raises:
        ValueError: none, or lengths that disagree.

    >>> paired([["a", "b"]], [("u", "v")])
    ([['a', 'b']], [['u', 'v']])
    """
    shadow = checks.documents("shadow_docs", shadow_docs)
    released = checks.documents("sanitized_docs", sanitized_docs)
    if [len(doc) for doc in shadow] != [len(doc) for doc in released]:
        raise ValueError("sanitized_docs: lengths differ from shadow_docs; sanitize the same documents")
    if not any(shadow):
        raise ValueError("shadow_docs: empty; pass at least one token")
    return shadow, released


def held_out_split(docs: Sequence[Sequence[str]], share: float, seed: int) -> tuple[list[int], list[int]]:
    """Numbers of documents in two parts, a document and the phrases of it in the same one.

    Args:
        docs: token lists.
        share: of the documents that are no part of another which is held out.
        seed: of the draw.

    Returns:
        numbers of the others, and of those held out; both ascending.

    Raises:
        ValueError: a part would be empty.

    >>> held_out_split([["a"], ["b"], ["a"]], 0.5, seed=0)
    ([1], [0, 2])
    """
    sentence = whole_sentences(docs)
    order = _shuffled(sentence, seed)
    held = np.isin(sentence, order[: round(share * len(order))])
    if held.all() or not held.any():
        raise ValueError(f"held_out: {share:g} of {len(order)} documents leaves a part empty; pass more documents")
    return np.flatnonzero(~held).tolist(), np.flatnonzero(held).tolist()


def folds(docs: Sequence[Sequence[str]], number: int, seed: int) -> list[list[int]]:
    """Numbers of documents in up to `number` parts, no part empty, a document and its phrases in the same one.

    >>> folds([["a"], ["b"], ["a"]], 5, seed=0)
    [[0, 2], [1]]
    """
    sentence = whole_sentences(docs)
    parts = np.array_split(_shuffled(sentence, seed), number)
    return [np.flatnonzero(np.isin(sentence, part)).tolist() for part in parts if len(part)]


def whole_sentences(docs: Sequence[Sequence[str]]) -> np.ndarray:
    """Which sentence each document is or is a phrase of, numbered as they come.

    An attacker who tries something on shadow sentences, and owns phrases of them, must not learn from the phrases
    what is then tried on the sentences: attacked text has no phrases in the shadow set.

    >>> whole_sentences([["a", "film"], ["no"], ["it", "is", "a", "film"], ["no"]])
    array([0, 1, 0, 1])
    """
    number: dict[int, int] = {}
    return np.array([number.setdefault(source, len(number)) for source in phrase_sources(docs)])


def _shuffled(sentence: np.ndarray, seed: int) -> np.ndarray:
    return np.random.default_rng(seed).permutation(sentence.max(initial=-1) + 1)


def batches_by_length(lengths: Sequence[int], size: int, generator: np.random.Generator) -> list[np.ndarray]:
    """All numbers once, in batches of about one length, in random order.

    Args:
        lengths: of the items.
        size: items a batch, at most.
        generator: of the order.
    """
    jittered = np.asarray(lengths) * generator.uniform(1, 1.1, len(lengths))
    order = np.argsort(jittered, kind="stable")
    batches = [order[at : at + size] for at in range(0, len(order), size)]
    return [batches[i] for i in generator.permutation(len(batches))]


def training_batches(lengths: Sequence[int], size: int, epochs: float, seed) -> list[np.ndarray]:
    """Batches of one pass after another, ceil(epochs n / size) of them: fewer than `epochs` passes where n is
    small.

    Args:
        lengths, size: as for `batches_by_length`.
        epochs: at least 0; passes, if every batch were full.
        seed: of the order.
    """
    steps, generator = int(np.ceil(epochs * len(lengths) / size)), np.random.default_rng(seed)
    order: list[np.ndarray] = []
    while len(order) < steps:
        order += batches_by_length(lengths, size, generator)
    return order[:steps]


def around(doc: Sequence[str], index: int, size: int) -> tuple[Sequence[str], int]:
    """Up to `size` words around a position, and where it is among them.

    >>> around(["a", "b", "c", "d"], 3, size=2)
    (['c', 'd'], 1)
    """
    start = max(0, min(index - size // 2, len(doc) - size))
    return doc[start : start + size], index - start


def windows(lengths: Sequence[int], size: int) -> list[tuple[int, int, int]]:
    """Parts (document, start, end) of at most `size` tokens; an empty document has none.

    >>> windows([3, 0, 1], size=2)
    [(0, 0, 2), (0, 2, 3), (2, 0, 1)]
    """
    return [(d, at, min(at + size, n)) for d, n in enumerate(lengths) for at in range(0, n, size)]
