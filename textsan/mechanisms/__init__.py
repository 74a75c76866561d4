"""Sanitizers, one module each; all of them build a channel and draw from it (see `base`)."""

from textsan.mechanisms.base import Mechanism
from textsan.mechanisms.custext import CusText
from textsan.mechanisms.fbdd import FBDD
from textsan.mechanisms.mahalanobis import Mahalanobis
from textsan.mechanisms.random import Random
from textsan.mechanisms.santext import SanText, SanTextPlus, least_frequent
from textsan.mechanisms.tem import TEM
from textsan.mechanisms.vickrey import Vickrey

__all__ = [
    "FBDD",
    "TEM",
    "CusText",
    "Mahalanobis",
    "Mechanism",
    "Random",
    "SanText",
    "SanTextPlus",
    "Vickrey",
    "least_frequent",
]
