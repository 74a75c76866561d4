"""Channels held as tables, for mechanisms whose rows have no shorter form: one table, or one a group of words."""

from collections.abc import Callable, Sequence

import numpy as np
import scipy

from textsan.base.blocks import map_blocks
from textsan.channel import Channel
from textsan.channel.channel import DENSE_LIMIT

_SMALLEST = 1e-300  # an entry above it has all its digits


def table_channel(
    words: Sequence[str], rows: Callable[[np.ndarray], np.ndarray], *, positive: bool = False
) -> Channel:
    """Make the channel over `words` whose rows a function gives: of row numbers (n,), weights (n, len(words)).

    They are divided by their sums. Where it must be `positive` the promise rests on every word being possible, so
    that an entry that rounds to 0 is refused.

    >>> table_channel(["a", "b"], lambda rows: np.ones((len(rows), 2))).matrix()
    array([[0.5, 0.5],
           [0.5, 0.5]])
    """
    n = len(words)
    if n * n > DENSE_LIMIT:
        most = int(DENSE_LIMIT**0.5)
        raise ValueError(
            f"embeddings: {n:,} words are a table of {n * n:.1e} entries; pass {most:,} words at most"
        )

    def block(numbers):
        weights = rows(numbers)
        entries = weights / weights.sum(axis=1, keepdims=True)
        if positive and entries.min() < _SMALLEST:
            raise ValueError(
                "epsilon: so large that some words are released with probabilities below 1e-300, which numbers "
                "cannot hold, and nothing is promised; pass a smaller one"
            )
        return entries

    return Channel.from_matrix(np.concatenate(list(map_blocks(block, np.arange(n)))), words, words)


def grouped_channel(words: list[str], groups: Sequence[np.ndarray], tables: Sequence[np.ndarray]) -> Channel:
    """Make the channel over `words` whose disjoint groups of rows are tables of their own.

    >>> groups = [np.array([0, 2]), np.array([1])]
    >>> grouped_channel(["a", "b", "c"], groups, [np.full((2, 2), 0.5), np.eye(1)]).matrix()
    array([[0.5, 0. , 0.5],
           [0. , 1. , 0. ],
           [0.5, 0. , 0.5]])
    """
    rows = np.concatenate([np.repeat(group, len(group)) for group in groups])
    columns = np.concatenate([np.tile(group, len(group)) for group in groups])
    entries = np.concatenate([table.ravel() for table in tables])
    matrix = scipy.sparse.coo_array((entries, (rows, columns)), shape=(len(words), len(words)))
    return Channel.from_sparse(matrix.tocsr(), words, words)
