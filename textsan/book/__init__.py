"""The book as a program: chapters, their execution and comparison, the pages.

Imports the rooms above; no chapter imports it.
"""
