"""Findings of a chapter: asserted with its defaults; with other parameters said in words where they fail."""

import os

DEFAULTS = "TEXTSAN_DEFAULTS"
"""The variable that is set where a chapter runs with its defaults, to be stored or compared with that."""


def finding(holds, words: str) -> None:
    """Assert a finding of the default run; with other parameters say in words that it does not hold there.

    What must hold with any parameters (a theorem, a sum) is a plain assertion. The words are a clause.

    >>> finding(1 > 2, "one is more than two")
    Not with these parameters: one is more than two.
    """
    if holds:
        return
    if DEFAULTS in os.environ:
        raise AssertionError(f"the default run no longer finds that {words}")
    print(f"Not with these parameters: {words}.")
