"""Words and where they come from: vocabulary, tokens, embeddings, corpora, names, casing.

Imports `base` alone.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach(
    __name__,
    submodules=[
        "corpora",
        "names",
        "vocabulary",
    ],
    submod_attrs={
        "corpora": ["Record", "load_dataset"],
        "embeddings": ["Embeddings", "load_embeddings"],
        "vocabulary": ["STOP_WORDS", "count_words", "tokenize"],
    },
)
