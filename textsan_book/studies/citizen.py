"""Citizen numbers by rule: 18 characters of region, date of birth, sequence and check character (GB 11643).

Every number here is drawn, none is anybody's. The region codes have the form of GB/T 2260, with the numbers of
real provinces and drawn numbers for city and county.
"""

from datetime import date, timedelta

import numpy as np

from textsan.base import checks

PROVINCES = (
    "11 12 13 14 15 21 22 23 31 32 33 34 35 36 37 41 42 43 44 45 46 50 51 52 53 54 61 62 63 64 65"
).split()
FIRST, LAST = date(1900, 1, 1), date(1999, 12, 31)
"""Dates of birth: a hundred years, as the year's baseline of 0.01 in Pan et al. 2020 (Table II) has it."""

_WEIGHTS = np.array([pow(2, 17 - i, 11) for i in range(17)])
_CHECKS = "10X98765432"


def check_character(digits: str) -> str:
    """Compute the character that makes sum of a_i 2^(i-1) equal to 1 modulo 11, X for ten (ISO 7064 MOD 11-2).

    >>> check_character("11010519491231002")
    'X'
    """
    if len(digits) != 17 or not (digits.isascii() and digits.isdigit()):
        raise ValueError(f"digits: {digits!r}; pass a string of 17 digits")
    return _CHECKS[int(_WEIGHTS @ np.array(list(digits), int)) % 11]


def generate(n: int, seed) -> list[str]:
    """Draw numbers: every region, date of birth and sequence is as likely as every other."""
    n, random = checks.whole("n", n), np.random.default_rng(seed)
    sizes = len(PROVINCES), 20, 30, (LAST - FIRST).days + 1, 999
    numbers = []
    # A row of draws a number, so that the first thousand are the same however many follow.
    for province, city, county, day, sequence in (random.random((n, 5)) * sizes).astype(int).tolist():
        born = FIRST + timedelta(days=day)
        digits = f"{PROVINCES[province]}{city + 1:02}{county + 1:02}{born:%Y%m%d}{sequence + 1:03}"
        numbers.append(digits + check_character(digits))
    return numbers


def blind(k: int = 1) -> dict[str, float]:
    """Compute the exact success of the best k blind guesses of each segment and of the date, by counting days."""
    k = checks.whole("k", k, low=1)
    days = [FIRST + timedelta(days=i) for i in range((LAST - FIRST).days + 1)]
    parts = {name: [getattr(day, name) for day in days] for name in ("year", "month", "day")}
    return {
        name: float(np.sort(np.unique(values, return_counts=True)[1])[::-1][:k].sum() / len(days))
        for name, values in (parts | {"whole": [day.toordinal() for day in days]}).items()
    }
