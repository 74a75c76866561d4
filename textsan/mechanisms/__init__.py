"""Sanitizers, one module each: a mechanism builds a channel from public parameters and draws from it (see `base`).

Imports the rooms above it; `registry` knows all mechanisms by name.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach(
    __name__,
    submod_attrs={
        "base": ["Mechanism"],
        "bert": ["bert_vocabulary", "join_pieces", "wordpieces"],
        "custext": ["CusText"],
        "fbdd": ["FBDD"],
        "given_channel": ["ChannelMechanism"],
        "mahalanobis": ["Mahalanobis"],
        "random": ["Random"],
        "make": ["make_mechanism"],
        "registry": ["MECHANISMS"],
        "santext": ["SanText", "SanTextPlus", "least_frequent"],
        "tem": ["TEM"],
        "vickrey": ["Vickrey"],
    },
)
