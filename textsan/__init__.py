"""textsan: how much does differentially private text sanitization really hide?

A prior, a channel, an attack, a score; see the book for what each of them means. Names load when used.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach(
    __name__,
    submodules=[
        "attacks",
        "base",
        "channel",
        "evaluation",
        "leakage",
        "mechanisms",
        "models",
        "plotting",
        "priors",
        "privacy",
        "release",
        "sweeps",
        "text",
    ],
    submod_attrs={
        "attacks": ["Knowledge"],
        "base": ["load_plugin", "project_data"],
        "channel": ["Channel"],
        "mechanisms": [
            "CusText",
            "FBDD",
            "Mahalanobis",
            "Random",
            "SanText",
            "SanTextPlus",
            "TEM",
            "Vickrey",
            "least_frequent",
        ],
        "priors": ["Prior"],
        "sweeps.splits": ["Split", "load_split"],
        "text": [
            "Embeddings",
            "STOP_WORDS",
            "count_words",
            "load_dataset",
            "load_embeddings",
            "tokenize",
        ],
        "version": ["__version__"],
    },
)
