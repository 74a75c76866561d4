"""textsan: how much does differentially private text sanitization really hide?

A prior, a channel, an attack, a score; see the book for what each of them means.
"""

from textsan import attacks, deniability, evaluation, leakage, precision, priors, privacy
from textsan.channel import Channel
from textsan.datasets import load_dataset
from textsan.embeddings import Embeddings, load_embeddings
from textsan.mechanisms import (
    FBDD,
    TEM,
    CusText,
    Mahalanobis,
    Random,
    SanText,
    SanTextPlus,
    Vickrey,
    least_frequent,
)
from textsan.priors import Prior
from textsan.setting import Setting, load_setting
from textsan.vocabulary import STOP_WORDS, count_words, tokenize

__all__ = [
    "FBDD",
    "STOP_WORDS",
    "TEM",
    "Channel",
    "CusText",
    "Embeddings",
    "Mahalanobis",
    "Prior",
    "Random",
    "SanText",
    "SanTextPlus",
    "Setting",
    "Vickrey",
    "attacks",
    "count_words",
    "deniability",
    "evaluation",
    "leakage",
    "least_frequent",
    "load_dataset",
    "load_embeddings",
    "load_setting",
    "precision",
    "priors",
    "privacy",
    "tokenize",
]
