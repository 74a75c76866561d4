"""Fixtures that several tests share."""

import pytest
import setuptools  # noqa: F401  it refuses to load after the standard library's distutils, which some tests bring

from textsan.text import assets


@pytest.fixture(scope="session")
def default_data():
    """The cache with all default assets; tests that read them ask for it, so that none goes to the network."""
    missing = [name for name in assets.defaults() if not assets.is_cached(name)]
    if missing:
        pytest.fail(f"not in the cache: {', '.join(missing)}; run `textsan data pull` (make test does)")
    return assets.cache_folder()
