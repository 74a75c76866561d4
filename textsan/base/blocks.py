"""Work in blocks on all cores: NumPy frees the interpreter, so that threads are enough."""

import os
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import cache

import numpy as np
from threadpoolctl import ThreadpoolController

BLOCK = 64  # rows or columns at a time
_threads = cache(ThreadpoolController)


def map_blocks(function, numbers: np.ndarray) -> Iterator:
    """`function` of consecutive blocks of at most 64 `numbers`, in order, on all cores.

    >>> list(map_blocks(len, np.arange(100)))
    [64, 36]
    """
    return map_jobs(function, [numbers[at : at + BLOCK] for at in range(0, len(numbers), BLOCK)])


def map_jobs(function, jobs: Iterable) -> Iterator:
    """`function` of each of `jobs`, in order, on all cores.

    >>> list(map_jobs(abs, [-1, 2]))
    [1, 2]
    """
    jobs = list(jobs)
    if len(jobs) < 2:
        yield from map(function, jobs)
        return
    # One core a job: threads inside of the matrix products of small blocks only wait for each other.
    with _threads().limit(limits=1, user_api="blas"), ThreadPoolExecutor(os.cpu_count()) as pool:
        yield from pool.map(function, jobs)
