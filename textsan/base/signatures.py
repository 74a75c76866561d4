"""Parameters that one constructor hands on to another: said once, and still seen by help texts and sweeps."""

import inspect
from collections.abc import Callable, Collection
from functools import wraps
from typing import TypeVar, cast

F = TypeVar("F", bound=Callable)


def takes_parameters_of(made: Callable, but: Collection[str] = ()) -> Callable[[F], F]:
    """Give a function with `**settings` the keyword parameters of what it calls with them.

    Args:
        made: a class or function whose keyword parameters `settings` are.
        but: names of those that the function sets itself.

    >>> @takes_parameters_of(sorted, but=("reverse",))
    ... def descending(items, **settings):
    ...     return sorted(items, reverse=True, **settings)
    >>> inspect.signature(descending)
    <Signature (items, *, key=None)>
    """
    handed_on = inspect.signature(made, eval_str=True).parameters.values()

    def with_signature(function: F) -> F:
        signature = inspect.signature(function)
        own = [p for p in signature.parameters.values() if p.kind is not p.VAR_KEYWORD]
        names = {*but, *(p.name for p in own)}
        others = [p for p in handed_on if p.kind is p.KEYWORD_ONLY and p.name not in names]

        @wraps(function)
        def handing_on(*given, **settings):
            return function(*given, **settings)

        del handing_on.__wrapped__  # else tools take its source for the signature's
        handing_on.__signature__ = signature.replace(parameters=[*own, *others])  # type: ignore[attr-defined]
        return cast(F, handing_on)

    return with_signature
