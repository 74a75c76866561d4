"""Progress of long work: a bar on a terminal, and elsewhere, in a log say, a plain line now and then."""

import math
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import click

SILENT = 20
"""Seconds without a line where standard error is no terminal."""


@contextmanager
def reporting(unit: str) -> Iterator[Callable[[int, int | None], None]]:
    """Yield a function to call with how much is done, and how much there is (None is unknown), in units."""
    if sys.stderr.isatty():
        from tqdm import tqdm

        with tqdm(unit=f" {unit}", unit_scale=True, delay=2) as bar:

            def draw(done: int, total: int | None) -> None:
                bar.total = total
                bar.update(done - bar.n)

            yield draw
        return
    last, before = time.monotonic(), -1

    def write(done: int, total: int | None) -> None:
        nonlocal last, before
        before = done if before < 0 else before  # what an earlier call had done took no time of this one
        now = time.monotonic()
        if now - last >= SILENT:
            click.echo(f"textsan: so far {line(done, total, unit, done - before, now - last)}", err=True)
            last, before = now, done  # attacks differ in speed: the last one's counts

    yield write


def line(done: int, total: int | None, unit: str, new: int, seconds: float) -> str:
    """Return how far the work is, and how long the rest takes at the speed of what was new in the last seconds.

    >>> line(500, 2000, "documents", 500, 60.0), line(500, None, "bytes", 0, 60.0)
    ('500 of 2,000 documents; at this speed 3 min more', '500 bytes')
    """
    far = f"{done:,} {unit}" if total is None else f"{done:,} of {total:,} {unit}"
    if total is None or not 0 < new or done >= total:
        return far
    return f"{far}; at this speed {math.ceil(seconds * (total - done) / new / 60)} min more"
