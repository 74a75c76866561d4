"""The mechanisms by name."""

from functools import partial

from textsan.mechanisms.custext import CusText
from textsan.mechanisms.fbdd import FBDD
from textsan.mechanisms.mahalanobis import Mahalanobis
from textsan.mechanisms.random import Random
from textsan.mechanisms.santext import SanText, SanTextPlus
from textsan.mechanisms.tem import TEM
from textsan.mechanisms.vickrey import Vickrey
from textsan.text.vocabulary import STOP_WORDS

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
