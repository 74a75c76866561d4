"""The workers of a dask scheduler."""

import asyncio
import logging
from collections.abc import Collection, Iterator
from concurrent.futures import CancelledError
from contextlib import contextmanager

from textsan.base import extras

AGAIN = "the same command goes on where this one was"
PATIENCE = 20  # seconds without a result after which a scheduler is asked whether it still has workers


@contextmanager
def connect(scheduler: str) -> Iterator:
    """Connect to a dask scheduler.

    Raises:
        ValueError: dask is not installed.
        ConnectionError: no scheduler answers, or it is gone in between.
    """
    try:
        from distributed import Client
    except ModuleNotFoundError as error:
        raise ValueError(f"scheduler: {extras.missing(error)}") from None
    try:
        client = Client(scheduler, timeout=20)
    except (OSError, ValueError) as error:
        raise ConnectionError(f"scheduler: {scheduler!r} does not answer ({error})") from None
    from distributed.comm import CommClosedError

    logging.getLogger("distributed.client").setLevel(logging.CRITICAL)  # it logs tracebacks while it reconnects
    with client:
        try:
            yield client
        except (CommClosedError, asyncio.CancelledError):
            raise ConnectionError(f"scheduler: it is gone; {AGAIN}") from None


def finished(client, futures: Collection) -> set:
    """Wait, as long as there are workers, until a future is done; return all that are.

    Raises:
        ConnectionError: there are no workers left, or the scheduler is gone.
    """
    from distributed import wait

    while True:
        try:
            return wait(list(futures), timeout=PATIENCE, return_when="FIRST_COMPLETED").done
        except TimeoutError:
            if not client.nthreads():
                raise ConnectionError("scheduler: it has no workers left") from None
        except CancelledError:
            raise ConnectionError("scheduler: it is gone") from None
