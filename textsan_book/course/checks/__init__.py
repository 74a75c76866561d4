"""Checks of answers: functions that take a student's function and fail with a sentence that teaches.

A check asks for properties, or compares with another way to the same number, mostly a sum over everything in a
small world. Worlds follow from `seed`, so an answer that was read off one of them fails in the next. For cells
of a chapter the world is a corpus, and `again` runs the notebook with another one.
"""

from textsan_book.course.checks import (
    again,
    attacks,
    broken,
    channels,
    chapters,
    gradients,
    language,
    linking,
    names,
    scores,
    utility,
    vectors,
)
from textsan_book.course.checks.saying import within

__all__ = [
    "again",
    "attacks",
    "broken",
    "channels",
    "chapters",
    "gradients",
    "language",
    "linking",
    "names",
    "scores",
    "utility",
    "vectors",
    "within",
]
