"""The channel Pr(y | x) of a token-wise sanitizer, however it is stored, and the posterior Pr(x | y) it gives.

Imports `text` and `models` (for the device).
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
