"""Priors: what an attacker believes of words before seeing anything released.

Imports the rooms above it: `text`, `evaluation`, `models`, `channel`.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
