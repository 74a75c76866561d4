"""Leakage of channels: Bayes vulnerability, entropies, repeated releases.

Imports `text`, `channel`, `priors`, `privacy` and `mechanisms`; pure functions of a prior and a channel. A `prior`
is a `Prior`, or (n_in,) probabilities in the order of the channel's inputs; a `channel` is Pr(y | x), exact unless
it is said otherwise. A prior over other words, or an estimated channel where none will do, is a ValueError.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
