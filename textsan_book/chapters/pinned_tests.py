"""Tests and the package's own examples run with the pinned kernels, in workers and in the processes they start."""

from textsan.base import kernels

kernels.pin()  # before anything that a test imports has loaded NumPy
