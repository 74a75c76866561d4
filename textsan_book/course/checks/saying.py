"""Beginnings of all checks: is there an answer, is it of the right kind, is it the right number."""

import signal
import threading
from contextlib import contextmanager

import numpy as np


@contextmanager
def within(seconds: float, **answers):
    """Ask that answers be there, and stop what takes longer, so that a loop costs its own check and no other.

    There is no limit on Windows, which has no such alarm, and outside of a program's main thread.

    >>> with within(0.1):
    ...     while True: pass
    Traceback (most recent call last):
    TimeoutError: it ran for more than 0.1 seconds: is there an endless loop?
    >>> with within(0.1, response=None):
    ...     pass
    Traceback (most recent call last):
    AssertionError: there is no `response` yet: write it in its cell and run the cell
    """
    for name, answer in answers.items():
        there = answer is not None and answer is not Ellipsis
        assert there, f"there is no `{name}` yet: write it in its cell and run the cell"

    def late(*_):
        raise TimeoutError(f"it ran for more than {seconds:g} seconds: is there an endless loop?")

    if not hasattr(signal, "setitimer") or threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGALRM, late)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def returned(value, what: str):
    """Return what an answer is, or fail with a sentence if a function of a student ends without one."""
    assert value is not None and value is not Ellipsis, f"{what} returns nothing: end the function with a return"
    return value


def array(value, shape: tuple, what: str) -> np.ndarray:
    """Check that an answer is numbers of a shape, None where any size will do, and return them as float64."""
    try:
        numbers = np.asarray(returned(value, what), dtype=np.float64)
    except (TypeError, ValueError):
        wanted = "an array of numbers" if shape else "a number"
        raise AssertionError(f"{what} returns {type(value).__name__}, but {wanted} is wanted") from None
    pairs = zip(numbers.shape, shape, strict=False)
    fits = len(numbers.shape) == len(shape) and all(size in (None, own) for own, size in pairs)
    wanted = " x ".join("any" if size is None else str(size) for size in shape) or "a single number"
    assert fits, f"{what} has shape {numbers.shape}, but {wanted} is wanted"
    assert not np.isnan(numbers).any(), f"{what} holds nan: a division of zero by zero?"
    return numbers


def number(value, what: str) -> float:
    """Check that an answer is a number."""
    return float(array(value, (), what))


def close(value, wanted, sentence: str, *, within: float = 1e-9) -> None:
    """Fail with `sentence`, and both numbers where there is one each, unless they agree."""
    value, wanted = np.asarray(value, dtype=np.float64), np.asarray(wanted, dtype=np.float64)
    agree = np.allclose(value, wanted, rtol=within, atol=within)
    both = f" (yours is {float(value):.6g}, not {float(wanted):.6g})" if value.ndim == 0 else ""
    assert agree, sentence + both


def chosen(value, known, what: str) -> list:
    """Check that an answer is a list whose members are all in `known`."""
    assert isinstance(returned(value, what), (list, tuple, set, frozenset, np.ndarray)), (
        f"{what} returns {type(value).__name__}, but a list is wanted"
    )
    members = [member.item() if isinstance(member, np.generic) else member for member in value]
    strange = [member for member in members if member not in known]
    assert not strange, f"{what} returns {strange[0]!r}, which was not among the choices"
    return members


def random_channel(generator: np.random.Generator, inputs: int, outputs: int) -> np.ndarray:
    """Draw a row-stochastic matrix."""
    return generator.dirichlet(np.ones(outputs), size=inputs)
