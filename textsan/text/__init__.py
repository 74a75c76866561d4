"""Words and where they come from: vocabulary, tokens, embeddings, corpora, names, casing.

Imports `base` alone.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
