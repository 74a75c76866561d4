"""How much a channel gives away: Bayes vulnerability, entropies, repeated releases, enumerated small worlds.

Imports `text`, `channel`, `priors` and `privacy`; pure functions of a prior and a channel.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach(
    __name__,
    submodules=[
        "enumeration",
        "repeated_releases",
        "wrong_prior",
    ],
    submod_attrs={
        "learning": ["learning_curve"],
        "vulnerability": [
            "bayes_vulnerability",
            "conditional_entropy",
            "entropy",
            "min_entropy_leakage",
            "prior_vulnerability",
            "vulnerability_bracket",
        ],
    },
)
