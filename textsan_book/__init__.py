"""The machinery of the book: its chapters, its course, the programs of its tables, and what it makes of them.

It stands beside `textsan`, which never imports it, and is no part of that package's wheel.
"""
