"""textsan: how much does differentially private text sanitization really hide?

A prior, a channel, an attack, a score; see the book for what each of them means.
"""

from textsan import attacks, evaluation, leakage, priors, privacy
from textsan.channel import Channel
from textsan.embeddings import Embeddings, load_embeddings
from textsan.mechanisms import SanText
from textsan.priors import Prior
from textsan.vocabulary import STOP_WORDS, count_words, tokenize

__all__ = [
    "STOP_WORDS",
    "Channel",
    "Embeddings",
    "Prior",
    "SanText",
    "attacks",
    "count_words",
    "evaluation",
    "leakage",
    "load_embeddings",
    "priors",
    "privacy",
    "tokenize",
]
