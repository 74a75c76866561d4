"""Sanitizers, one module each; all of them build a channel and draw from it (see `base`).

To add one: a module with a sub-class of `Mechanism` that gives `channel` and `guarantee`, and keeps its arguments
as attributes of the same names; and a line in `MECHANISMS`.
"""

from functools import partial

from textsan.mechanisms.base import Mechanism
from textsan.mechanisms.bert import bert_vocabulary, join_pieces, wordpieces
from textsan.mechanisms.custext import CusText
from textsan.mechanisms.fbdd import FBDD
from textsan.mechanisms.mahalanobis import Mahalanobis
from textsan.mechanisms.random import Random
from textsan.mechanisms.santext import SanText, SanTextPlus, least_frequent
from textsan.mechanisms.tem import TEM
from textsan.mechanisms.vickrey import Vickrey
from textsan.vocabulary import STOP_WORDS

# Names on the command line; all are called with embeddings, and all but "random" with an epsilon.
MECHANISMS = {
    "random": Random,
    "santext": SanText,
    "santext+": SanTextPlus,
    "custext": CusText,
    "custext+": partial(CusText, keep=STOP_WORDS),
    "fbdd": FBDD,
    "mahalanobis": Mahalanobis,
    "vickrey": Vickrey,
    "tem": TEM,
}

__all__ = [
    "FBDD",
    "MECHANISMS",
    "TEM",
    "CusText",
    "Mahalanobis",
    "Mechanism",
    "Random",
    "SanText",
    "SanTextPlus",
    "Vickrey",
    "bert_vocabulary",
    "join_pieces",
    "least_frequent",
    "wordpieces",
]
