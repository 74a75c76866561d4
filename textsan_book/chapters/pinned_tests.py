"""Plugin of pytest: tests and examples run with the pinned kernels, in workers and in the processes they start."""

import pytest

from textsan.base import kernels


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests():
    """Pin the kernels before anything that a test imports has loaded NumPy."""
    kernels.pin()
