"""Helpers without a subject: assets, registries, plugins, checks, randomness, pinned arithmetic, work in blocks.

Imports nothing else of the package. `assets` is the only module that touches the network.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
