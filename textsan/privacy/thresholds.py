"""The largest parameter that keeps a promise: a number that no print may round up."""

import math
from decimal import ROUND_FLOOR, Decimal, localcontext


class Threshold(float):
    """A number up to which a promise holds: formatted, it is rounded down, never up.

    >>> limit = Threshold(0.42519)
    >>> f"{limit:.3f} {limit:.2f}", f"{float(limit):.2f}"
    ('0.425 0.42', '0.43')
    """

    def __format__(self, spec: str) -> str:
        if not math.isfinite(self):
            return super().__format__(spec)
        with localcontext() as context:
            context.rounding = ROUND_FLOOR
            return format(Decimal(float.__repr__(self)), spec)
