"""Privacy guarantees and what they are worth: tight parameters of a channel, deniability, floating point.

Imports `base`, `text`, `channel` and `priors`; knows no mechanism and no attack.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
