"""The `textsan` command, one module a sub-command.

A thin shell: it may import every room, and no room imports it.
"""
