"""Checks of answers: functions that take a student's function and fail with a sentence that teaches.

A check asks for properties, or compares with another way to the same number, mostly a sum over everything in a
small world. Worlds follow from `seed`, so an answer that was read off one of them fails in the next.
"""

from textsan_book.course.checks import (
    attacks,
    broken,
    channels,
    gradients,
    language,
    linking,
    names,
    scores,
    utility,
    vectors,
)

__all__ = [
    "attacks",
    "broken",
    "channels",
    "gradients",
    "language",
    "linking",
    "names",
    "scores",
    "utility",
    "vectors",
]
