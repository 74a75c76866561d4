"""Attacks on sanitized text, one module each: from what a threat model grants to a guess a position (see `base`).

Imports the rooms above it; an attack never sees the truth, only bounds and scores do. Throughout, `docs` are token
lists, positions pairs (document, index), `shadow_docs` the attacker's own, each as often as it was sanitized, and
`sanitized_docs` what became of them. `channel` is Pr(y | x), known to the attacker, `counts` are occurrences of
words in the reference text, `attacked` are the words that can stand at attacked positions, None for all inputs,
`k` is the number of candidates a position. `against(knowledge, **settings)` takes a channel and, where an attack
learns, shadow text; a setting means what the class says of it.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
