"""Sources of records, so that a split can keep a source on one side.

Lines of a file are not independent texts: phrases of one sentence, sentences of one paragraph, one agency's story
in two papers. What is told of one of them is half told of the others.
"""

from collections.abc import Collection, Hashable, Sequence

import numpy as np
import scipy

SHARED = 8
"""Tokens in a row that two independent texts are taken not to share."""


def phrase_sources(docs: Sequence[Sequence[str]]) -> list[int]:
    """Number of the longest document that each document is a part of, words in a row; the earliest of the longest.

    A treebank's phrases are parts of sentences, and a set of phrases has mostly the sentences too. A phrase that
    more than one sentence has is counted to one of them.

    >>> phrase_sources([["a", "film"], ["it", "is", "a", "film"], ["no"]])
    [1, 1, 2]
    """
    texts = [f" {' '.join(doc)} " for doc in docs]
    having: dict[str, list[int]] = {}  # the documents that have a word, the longest first
    for number in sorted(range(len(docs)), key=lambda i: -len(docs[i])):
        for word in set(docs[number]):
            having.setdefault(word, []).append(number)

    def source(number: int) -> int:
        rarest = min((having[word] for word in docs[number]), key=len, default=[number])
        return next(other for other in rarest if texts[number] in texts[other])

    return [source(number) for number in range(len(docs))]


def sharing(keys: Sequence[Collection[Hashable]]) -> list[int]:
    """Number the connected components of records that share a key, directly or through others, as they come.

    >>> sharing([{"Who?", "He."}, {"Why?"}, {"When?", "He."}, {"When?", "Now."}])
    [0, 1, 0, 0]
    """
    number: dict[Hashable, int] = {}
    pairs = [(at, number.setdefault(key, len(number))) for at, some in enumerate(keys) for key in some]
    records, numbers = np.array(pairs, dtype=np.intp).reshape(-1, 2).T
    return _components(len(keys), records, numbers)


def sharing_runs(docs: Sequence[Sequence[str]], n: int = SHARED) -> list[int]:
    """Number the connected components of documents that share `n` tokens in a row, directly or through others.

    Markup and an agency's formulas count as any other tokens, so that what they link stays together.

    >>> sharing_runs([["a", "b", "c"], ["x"], ["d", "b", "c"]], n=2)
    [0, 1, 0]
    """
    number: dict[str, int] = {}
    tokens = np.array([number.setdefault(word, len(number)) for doc in docs for word in doc], dtype=np.int32)
    owner = np.repeat(np.arange(len(docs)), [len(doc) for doc in docs])
    if len(tokens) < n:
        return list(range(len(docs)))
    runs, owners = np.lib.stride_tricks.sliding_window_view(tokens, n), owner[: len(tokens) - n + 1]
    inside = owners == owner[n - 1 :]  # no run goes from one document into the next
    _, keys = np.unique(runs[inside], axis=0, return_inverse=True)
    return _components(len(docs), owners[inside], keys.reshape(-1))


def _components(n: int, records: np.ndarray, keys: np.ndarray) -> list[int]:
    """Components of `n` records under the pairs of a record and a key of it."""
    size = n + keys.max(initial=-1) + 1
    links = scipy.sparse.coo_array((np.ones(len(keys), dtype=bool), (records, n + keys)), shape=(size, size))
    _, component = scipy.sparse.csgraph.connected_components(links, directed=False)
    order: dict[int, int] = {}
    return [order.setdefault(one, len(order)) for one in component[:n].tolist()]
