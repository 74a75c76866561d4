"""The book as a program: chapters, their execution and comparison, the pages.

Imports `textsan`; of this module chapters use what they found, and pictures of ideas.
"""
