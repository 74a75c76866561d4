"""The commands of the book and the course, which appear under `textsan` where this package is installed.

A thin shell: it may import every room, and no room imports it.
"""
