"""Numbers as people say them: so many of a hundred, and small odds."""

from collections.abc import Mapping
from fractions import Fraction

_RARE = 0.005  # share below which small numbers say more than is known
_NO_TENTHS = 0.12  # share below which one in so many says it better than so many in ten


def percent(share: float) -> str:
    """A share as so many of a hundred.

    >>> percent(0.381), percent(0.002), percent(0.998), percent(0)
    ('38', 'fewer than 1', 'more than 99', 'none')
    """
    whole = round(100 * share)
    if whole == 0:
        return "fewer than 1" if share > 0 else "none"
    return "more than 99" if whole == 100 and share < 1 else str(whole)


def odds(share: float) -> str:
    """A share in small numbers, as people say it.

    >>> odds(0.381), odds(0.02), odds(0.08), odds(0.98), odds(1.0)
    ('about 3 in 8', 'about 1 in 50', 'about 1 in 12', 'all but 1 in 50', 'all')
    """
    if share in (0, 1):
        return "all" if share else "none"
    if min(share, 1 - share) < _RARE:
        return "nearly all" if share > 0.5 else "hardly any"
    if share < _NO_TENTHS:  # the nearest of small fractions would be up to twice as much
        return f"about 1 in {round(1 / share)}"
    if share > 1 - _NO_TENTHS:
        return f"all but 1 in {round(1 / (1 - share))}"
    fraction = Fraction(share).limit_denominator(10)
    return f"about {fraction.numerator} in {fraction.denominator}"


def factor(value: float) -> str:
    """A factor to three digits.

    >>> factor(1.234), factor(27812.0)
    ('1.23', '27,800')
    """
    return f"{float(f'{value:.3g}'):,.0f}" if value >= 100 else f"{value:.3g}"


def interval(row: Mapping[str, float]) -> str:
    """The interval of a share, of a hundred.

    >>> interval({"low": 0.1234, "high": 0.3})
    '12.3 to 30.0'
    """
    return f"{100 * row['low']:.1f} to {100 * row['high']:.1f}"


def not_shown(measured: Mapping[str, float], other: float, what: str) -> str:
    """A clause for a share whose interval is not above what is had without it; else "".

    >>> not_shown({"value": 0.04, "low": 0.03}, 0.05, "a reader does better")
    ', and that a reader does better is not shown'
    """
    return "" if measured["low"] > other else f", and that {what} is not shown"


def many(number: int, noun: str) -> str:
    """A number of things.

    >>> many(1, "document"), many(2000, "document")
    ('1 document', '2,000 documents')
    """
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
