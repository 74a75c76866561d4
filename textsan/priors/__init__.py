"""Priors: what an attacker believes of words before seeing anything released.

Imports the rooms above it: `text`, `evaluation`, `models`, `channel`.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach(
    __name__,
    submod_attrs={
        "language_model": ["LanguageModel"],
        "markov": ["MarkovModel"],
        "unigram": ["Prior"],
        "unseen": ["good_turing", "unseen_mass"],
    },
)
