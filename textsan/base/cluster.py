"""The workers of a dask scheduler."""

from collections.abc import Collection, Iterator
from concurrent.futures import CancelledError
from contextlib import contextmanager

from textsan.base import extras

PATIENCE = 20  # seconds without a result after which a scheduler is asked whether it still has workers


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


def finished(client, futures: Collection) -> set:
    """Those of some futures that are done, one at least; it is waited for as long as there are workers.

    Args:
        client: of `connect`.
        futures: of its `submit`.

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
