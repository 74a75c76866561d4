"""textsan: how much does differentially private text sanitization really hide?

A prior, a channel, an attack, a score; see the book for what each of them means. Names load when used.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach(
    __name__,
    submodules=[
        "attacks",
        "auditing",
        "channel",
        "evaluation",
        "experiments",
        "leakage",
        "mechanisms",
        "models",
        "priors",
        "privacy",
        "report",
        "text",
    ],
    submod_attrs={
        "attacks": ["Knowledge"],
        "channel": ["Channel"],
        "experiments.splits": ["Split", "load_split"],
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
        "text": [
            "Embeddings",
            "STOP_WORDS",
            "count_words",
            "load_dataset",
            "load_embeddings",
            "load_plugin",
            "project_data",
            "tokenize",
        ],
        "version": ["__version__"],
    },
)
