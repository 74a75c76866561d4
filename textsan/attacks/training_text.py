"""The attacker's own text as training material: pairs, splits that share no sentence, batches of one length."""

from collections.abc import Collection, Iterator, Sequence

import numpy as np

from textsan.base import checks
from textsan.text.sources import phrase_sources

WINDOW = 128  # tokens that a reader reads together; longer documents are read in parts
_AT_ONCE = 64  # windows a forward


def paired(shadow_docs, sanitized_docs) -> tuple[list[list[str]], list[list[str]]]:
    """Check shadow text and what became of it, and return both as token lists.

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
    """Split numbers of documents in those to learn from and those held out, phrases with their documents.

    Both ascend; `share` is of the documents that are no part of another which is held out.

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
    """Split numbers of documents in up to `number` parts, none empty, a document and its phrases in the same one.

    >>> folds([["a"], ["b"], ["a"]], 5, seed=0)
    [[0, 2], [1]]
    """
    sentence = whole_sentences(docs)
    parts = np.array_split(_shuffled(sentence, seed), number)
    return [np.flatnonzero(np.isin(sentence, part)).tolist() for part in parts if len(part)]


def whole_sentences(docs: Sequence[Sequence[str]]) -> np.ndarray:
    """Number the sentences that documents are or are phrases of, as they come.

    An attacker must not learn from phrases what is then tried on their sentences: attacked text has none in the
    shadow set.

    >>> whole_sentences([["a", "film"], ["no"], ["it", "is", "a", "film"], ["no"]])
    array([0, 1, 0, 1])
    """
    number: dict[int, int] = {}
    return np.array([number.setdefault(source, len(number)) for source in phrase_sources(docs)])


def _shuffled(sentence: np.ndarray, seed: int) -> np.ndarray:
    return np.random.default_rng(seed).permutation(sentence.max(initial=-1) + 1)


def batches_by_length(lengths: Sequence[int], size: int, generator: np.random.Generator) -> list[np.ndarray]:
    """Return all item numbers once, in batches of at most `size` items of about one length, in random order."""
    jittered = np.asarray(lengths) * generator.uniform(1, 1.1, len(lengths))
    order = np.argsort(jittered, kind="stable")
    batches = [order[at : at + size] for at in range(0, len(order), size)]
    return [batches[i] for i in generator.permutation(len(batches))]


def training_batches(lengths: Sequence[int], size: int, epochs: float, seed) -> list[np.ndarray]:
    """Return ceil(epochs n / size) batches, pass after pass: fewer than `epochs` passes where n is small."""
    steps, generator = int(np.ceil(epochs * len(lengths) / size)), np.random.default_rng(seed)
    order: list[np.ndarray] = []
    while len(order) < steps:
        order += batches_by_length(lengths, size, generator)
    return order[:steps]


def around(doc: Sequence[str], index: int, size: int) -> tuple[Sequence[str], int]:
    """Return up to `size` words around a position, and its place among them.

    >>> around(["a", "b", "c", "d"], 3, size=2)
    (['c', 'd'], 1)
    """
    start = max(0, min(index - size // 2, len(doc) - size))
    return doc[start : start + size], index - start


def windows(lengths: Sequence[int], size: int = WINDOW) -> list[tuple[int, int, int]]:
    """Parts (document, start, end) of at most `size` tokens; an empty document has none.

    >>> windows([3, 0, 1], size=2)
    [(0, 0, 2), (0, 2, 3), (2, 0, 1)]
    """
    return [(d, at, min(at + size, n)) for d, n in enumerate(lengths) for at in range(0, n, size)]


def windows_to_read(
    docs: Sequence[Sequence[str]], positions: Sequence[tuple[int, int]], *, alone: bool = False
) -> Iterator[tuple[list[Sequence[str]], list[int], list[tuple[int, int]]]]:
    """Return batches of windows with attacked positions, the shortest documents first; each for one, if `alone`.

    A batch has its windows, numbers of the positions in them, and their places (window, index).

    >>> list(windows_to_read([["a", "b"], ["c"]], [(0, 1), (1, 0)]))
    [([['c'], ['a', 'b']], [1, 0], [(0, 0), (1, 1)])]
    """
    inside: dict[tuple, list[tuple[int, int]]] = {}
    for number, (d, i) in enumerate(positions):
        inside.setdefault((d, i // WINDOW, i if alone else None), []).append((number, i % WINDOW))
    parts = sorted(inside, key=lambda part: len(docs[part[0]]))
    for start in range(0, len(parts), _AT_ONCE):
        some = parts[start : start + _AT_ONCE]
        places = [(n, i) for n, part in enumerate(some) for _, i in inside[part]]
        numbers = [number for part in some for number, _ in inside[part]]
        yield [docs[d][w * WINDOW : (w + 1) * WINDOW] for d, w, _ in some], numbers, places


def attacked_windows(docs: Sequence[Sequence[str]], positions: Collection[tuple[int, int]]) -> list[tuple]:
    """Parts (document, start, end) of the documents with an attacked position, the shortest first.

    >>> attacked_windows([["a"], ["b", "c"], ["d"]], [(1, 0), (2, 0)])
    [(2, 0, 1), (1, 0, 2)]
    """
    numbers = sorted({d for d, _ in positions})
    parts = windows([len(docs[d]) for d in numbers])
    return sorted(((numbers[n], a, b) for n, a, b in parts), key=lambda part: part[2] - part[1])
