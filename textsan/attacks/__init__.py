"""Attacks on sanitized text, one module each: from what a threat model grants to a guess a position (see `base`).

Imports the rooms above it; an attack never sees the truth, only bounds and scores do. Throughout, `docs` and
`sanitized_docs` are token lists, positions pairs (document, index), and `Attack.against(knowledge, **settings)`
takes a channel and, where an attack learns, shadow text; settings of one name mean what the class says of them.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
