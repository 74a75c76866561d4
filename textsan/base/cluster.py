"""The workers of a dask scheduler."""

from collections.abc import Iterator
from contextlib import contextmanager

from textsan.base import extras


@contextmanager
def connect(scheduler: str) -> Iterator:
    """A client of a dask scheduler.

    Args:
        scheduler: its address.

    Raises:
        ValueError: dask is not installed.
        ConnectionError: no scheduler answers.
    """
    try:
        from distributed import Client
    except ModuleNotFoundError as error:
        raise ValueError(f"scheduler: {extras.missing(error)}") from None
    try:
        client = Client(scheduler, timeout=20)
    except (OSError, ValueError) as error:
        raise ConnectionError(f"scheduler: {scheduler!r} does not answer ({error})") from None
    with client:
        yield client
