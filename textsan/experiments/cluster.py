"""The workers of a dask scheduler."""

from collections.abc import Iterator
from contextlib import contextmanager


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
    except ImportError:
        raise ValueError("scheduler: dask is not installed; pip install 'textsan[cluster]'") from None
    try:
        client = Client(scheduler, timeout=20)
    except (OSError, ValueError) as error:
        raise ConnectionError(f"scheduler: {scheduler!r} does not answer ({error})") from None
    with client:
        yield client
