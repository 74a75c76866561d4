"""Sanitizers, one module each: a mechanism builds a channel from public parameters and draws from it (see `base`).

Imports the rooms above it; `registry` knows all mechanisms by name.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
