"""Shared parts of experiments: settings as a dataclass in place of arguments, estimates as columns of a table."""

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import wraps

from textsan.sweeps.problems import Problem, prepare

Rows = list[dict]


def takes_settings(experiment: Callable[..., Rows]) -> Callable[..., Rows]:
    """Make an experiment on a dataclass one that takes its fields by name, as a specification gives them.

    >>> from dataclasses import make_dataclass
    >>> Draw = make_dataclass("Draw", ["dataset", "seed"])
    >>> def rows(draw: Draw, *, size: int = 1): return [{"seed": draw.seed, "size": size}]
    >>> list(inspect.signature(takes_settings(rows)).parameters), takes_settings(rows)(dataset="rt", seed=3)
    (['dataset', 'seed', 'size'], [{'seed': 3, 'size': 1}])
    """
    first, *further = inspect.signature(experiment).parameters.values()
    fields = inspect.signature(first.annotation).parameters.values()
    shared = [field.replace(kind=inspect.Parameter.KEYWORD_ONLY) for field in fields]

    @wraps(experiment)
    def by_name(**given) -> Rows:
        own = {field.name: given.pop(field.name) for field in shared if field.name in given}
        return experiment(first.annotation(**own), **given)

    del by_name.__wrapped__  # type: ignore[attr-defined]  # else tools take its source for the signature's
    by_name.__signature__ = inspect.Signature([*shared, *further])  # type: ignore[attr-defined]
    return by_name


@dataclass(frozen=True)
class Release:
    """Text of a data set that a mechanism releases; the attacker owns other documents, and the seed draws all."""

    dataset: str
    defence: str
    epsilon: float
    seed: int


@dataclass(frozen=True)
class Attacked(Release):
    """A release that is attacked at all positions, and the number of documents of the attacker's own."""

    n_private: int
    n_shadow: int

    def problem(self, **given) -> Problem:
        """Release the text; what is given is as of `prepare`."""
        drawn = self.dataset, self.n_private, self.n_shadow, None, self.seed
        return prepare(*drawn, self.defence, epsilon=self.epsilon, **given)


def columns(estimate: Sequence[float | None], prefix: str = "") -> dict[str, float]:
    """Write an estimate as columns of a table: asr, low and high, or three with a prefix.

    >>> columns((0.5, 0.4, 0.6), "over_")
    {'over': 0.5, 'over_low': 0.4, 'over_high': 0.6}
    """
    names = ("asr", "low", "high") if not prefix else (prefix.rstrip("_"), f"{prefix}low", f"{prefix}high")
    return dict(zip(names, estimate, strict=True))
