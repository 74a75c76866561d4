"""Words and where they come from: vocabulary, embeddings, corpora, names, assets; and the helpers everybody needs.

Imports nothing else of the package. `assets` is the only module that touches the network.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach(
    __name__,
    submodules=[
        "assets",
        "checks",
        "corpora",
        "names",
        "vocabulary",
    ],
    submod_attrs={
        "corpora": ["Record", "load_dataset"],
        "embeddings": ["Embeddings", "load_embeddings"],
        "plugins": ["load_plugin"],
        "project": ["project_data"],
        "vocabulary": ["STOP_WORDS", "count_words", "tokenize"],
    },
)
