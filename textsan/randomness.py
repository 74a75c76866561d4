"""Randomness as an argument: one independent stream a document, whatever the order of work."""

import numpy as np


def document_streams(seed, first: int, number: int) -> list[np.random.Generator]:
    """Generators of documents `first` to `first + number - 1`; each depends on `seed` and its number only.

    The streams are disjoint counter ranges of one Philox key. No seed means a key of 128 bits from the
    operating system.

    Args:
        seed: None, an int of at least 0, or a `numpy.random.Generator` (from which a key is drawn).
        first: number of the first document.
        number: how many.

    Raises:
        ValueError: a seed of another kind.

    >>> a, b = document_streams(0, 0, 2), document_streams(0, 1, 1)
    >>> bool(a[1].random() == b[0].random())
    True
    """
    if isinstance(seed, np.random.Generator):
        seed = int(seed.integers(1 << 62))
    if seed is not None and (isinstance(seed, bool) or not isinstance(seed, int | np.integer) or seed < 0):
        raise ValueError(f"seed: {seed!r} is no seed; pass None, an integer of at least 0 or a Generator")
    key = np.random.SeedSequence(seed).generate_state(2, np.uint64)
    counters = ([0, 0, 0, document] for document in range(first, first + number))
    return [np.random.Generator(np.random.Philox(key=key, counter=counter)) for counter in counters]
