"""Leakage of channels: Bayes vulnerability, entropies, repeated releases.

Imports `text`, `channel`, `priors`, `privacy` and `mechanisms`; pure functions of a prior and a channel.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
