"""textsan: how much does differentially private text sanitization really hide?

A prior, a channel, an attack, a score; see the book for what each of them means. Names load when used.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
