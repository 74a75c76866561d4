"""The one type of an argument that is a list of numbers, flags or words, or an array of them."""

from collections.abc import Sequence
from typing import TypeVar

import numpy as np

One = TypeVar("One")
Listed = Sequence[One] | np.ndarray
"""`Listed[float]`: what NumPy takes for a line of numbers, and what has a length and parts."""
