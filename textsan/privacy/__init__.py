"""Privacy guarantees and what they are worth: tight parameters of a channel, deniability, floating point.

Imports `base`, `text`, `channel` and `priors`; knows no mechanism and no attack.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach(
    __name__,
    submodules=[
        "deniability",
        "floating_point",
        "tight_epsilons",
    ],
    submod_attrs={
        "guarantee": ["Adjacency", "Guarantee"],
        "sharp_bounds": [
            "MetricBound",
            "best_guess",
            "metric_success",
            "sharp_epsilon",
            "sharp_success",
            "sharp_success_in_context",
        ],
        "tight_epsilons": [
            "Tight",
            "tight_epsilon",
            "tight_group_epsilon",
            "tight_metric_epsilon",
            "tight_uldp_epsilon",
            "tight_umldp_epsilon",
        ],
    },
)
