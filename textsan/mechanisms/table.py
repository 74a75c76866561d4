"""A channel that is held as a table, for mechanisms whose rows have no shorter form."""

from collections.abc import Callable, Sequence

import numpy as np

from textsan.base.blocks import map_blocks
from textsan.channel import Channel
from textsan.channel.channel import DENSE_LIMIT


def table_channel(words: Sequence[str], rows: Callable[[np.ndarray], np.ndarray]) -> Channel:
    """The channel over `words` whose rows a function gives, block by block.

    Args:
        words: inputs and outputs.
        rows: from row numbers (n,) to weights (n, len(words)), which are divided by their sums.

    Raises:
        ValueError: more than `DENSE_LIMIT` entries.

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
        return weights / weights.sum(axis=1, keepdims=True)

    return Channel.from_matrix(np.concatenate(list(map_blocks(block, np.arange(n)))), words, words)
