"""A channel that is made of one table a group of words, none of which becomes a word of another group."""

from collections.abc import Sequence

import numpy as np
import scipy

from textsan.channel import Channel


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
