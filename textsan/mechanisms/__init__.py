"""Sanitizers, one module each; all of them build a channel and draw from it (see `base`)."""

from textsan.mechanisms.base import Mechanism
from textsan.mechanisms.santext import SanText

__all__ = ["Mechanism", "SanText"]
