"""Findings of a chapter: asserted with its defaults; with other parameters said in words where they fail."""

import os

DEFAULTS = "TEXTSAN_DEFAULTS"
"""The variable that is set where a chapter runs with its defaults, to be stored or compared with that."""


def finding(holds, words: str) -> None:
    """Asserts a finding of the default run; with other parameters says in words that it does not hold there.

    What must hold with any parameters (a theorem, a sum) is a plain assertion.

    Args:
        holds: whether the run found it.
        words: the finding as a clause, "the bound lies above the attack".

    Raises:
        AssertionError: it does not hold, in a run that is stored or compared.

    >>> finding(1 > 2, "one is more than two")
    Not with these parameters: one is more than two.
    """
    if holds:
        return
    if DEFAULTS in os.environ:
        raise AssertionError(f"the default run no longer finds that {words}")
    print(f"Not with these parameters: {words}.")
