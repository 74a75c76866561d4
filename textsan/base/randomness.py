"""Randomness as an argument: one independent stream a document, whatever the order of work."""

import secrets
from collections.abc import Iterable, Iterator

import numpy as np
from randomgen import ChaCha


def streams(seed, numbers: Iterable[int]) -> Iterator[np.random.Generator]:
    """Yield a generator for each number (of a document, say) that depends on `seed` and the number only.

    With a seed the streams are disjoint counter ranges of one Philox key. Without, they are what ChaCha20, a
    cryptographic generator, makes of a key of 256 bits from the operating system: who knows a part of the noise
    learns nothing of the rest. It is one generator that moves on: use it before asking for the next.

    Args:
        seed: None, an int of at least 0, or a `numpy.random.Generator` (from which a key is drawn).
        numbers: from 0 to 2^64 - 1.

    >>> [stream.random() for stream in streams(0, [5, 7])] == [next(streams(0, [n])).random() for n in (5, 7)]
    True
    """
    if isinstance(seed, np.random.Generator):
        seed = int(seed.integers(1 << 62))
    if seed is not None and (isinstance(seed, bool) or not isinstance(seed, int | np.integer) or seed < 0):
        raise ValueError(f"seed: {seed!r} is no seed; pass None, an integer of at least 0 or a Generator")
    if seed is None:
        generator = np.random.Generator(ChaCha(key=secrets.randbits(256), rounds=20))
        return (generator for _ in numbers)
    return _move(np.random.SeedSequence(seed).generate_state(2, np.uint64), numbers)


def _move(key: np.ndarray, numbers: Iterable[int]) -> Iterator[np.random.Generator]:
    # Setting the counter costs a tenth of making a generator.
    philox = np.random.Philox(key=key)
    generator, state = np.random.Generator(philox), philox.state
    for number in numbers:
        state["state"]["counter"][:] = 0, 0, 0, number
        philox.state = state
        yield generator
