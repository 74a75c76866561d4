"""The machinery of the book: its chapters, its course, the programs of its tables, and what it makes of them.

It stands beside `textsan`, which never imports it, and is no part of that package's wheel.
"""

from importlib.util import find_spec

if find_spec("textsan_book.chapters"):  # the files of a graded assignment have the course's checks alone
    from textsan_book.chapters import other_parameters

    other_parameters.watch()  # in a kernel alone: what papermill puts into a chapter
