"""Reconstruction attacks, one module each; all answer `reconstruct(sanitized_docs, positions)` (see `base`)."""

from textsan.attacks.base import Attack
from textsan.attacks.context_free import ContextFreeBayes
from textsan.attacks.markov import MarkovBayes, NeighbourBayes

__all__ = ["Attack", "ContextFreeBayes", "MarkovBayes", "NeighbourBayes"]
