"""The scatter of a success rate with the released types that are drawn to be attacked (Gamma).

The released code of Tong et al. 2024 draws up to 1,000 *types* of the sanitized text and attacks 3,000 of the
positions where one of them stands. A frequent type brings thousands of positions, and success on one type is near
0 or near 1. Which types are drawn decides more than which positions are. Here one text is sanitized, attacked at
all positions, and its hits are drawn from again and again as the code draws them.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from textsan.base import checks
from textsan.evaluation import words_at
from textsan.sweeps import problems
from textsan_book.studies.experiments import Attacked, takes_settings

POSITIONS, DRAWS = 3000, 2000
"""Positions that the paper attacks (section 5.1), and draws of types."""

_CONSTANTS = [("context-free", {"multiple": multiple}) for multiple in (0.0, 0.1, 1.0)]
_FREE = [("empirical inversion", {"copies": 30}), ("context-free", {}), ("context-free bound", {})]
ATTACKED: dict[str, tuple[dict, list[tuple[str, dict]]]] = {
    "released custext+": ({"k": 20}, [("unchanged", {}), *_FREE]),
    "santext+": ({"w": 0.999, "p": 0.0}, _CONSTANTS),
}
"""Parameters and attacks by mechanism: those of which the paper prints a rate."""


class Scatter(NamedTuple):
    """A rate over draws, and its deviation by types alone, all their positions attacked, and in all."""

    mean: float
    of_types: float
    deviation: float


def scatter(
    hits: Sequence[bool],
    released: Sequence[str],
    *,
    types: int = problems.GAMMA,
    positions: int = POSITIONS,
    draws: int = DRAWS,
    seed: int,
) -> Scatter:
    """Measure the rate of hits over the positions of drawn types, each type as likely as another.

    Types, and then positions of theirs, are drawn without replacement; all where there are no more.
    """
    types, positions = checks.whole("types", types, low=1), checks.whole("positions", positions, low=1)
    words, place = np.unique(np.asarray(released), return_inverse=True)
    count = np.bincount(place)
    right = np.bincount(place, weights=np.asarray(hits, dtype=float)).astype(int)
    random = np.random.default_rng(seed)
    whole, part = np.empty(draws), np.empty(draws)
    for i in range(draws):
        chosen = random.choice(len(words), min(types, len(words)), replace=False)
        n, k = int(count[chosen].sum()), int(right[chosen].sum())
        few = min(positions, n)
        whole[i], part[i] = k / n, random.hypergeometric(k, n - k, few) / few
    return Scatter(float(whole.mean()), float(whole.std()), float(part.std()))


@takes_settings
def attacked_types(release: Attacked, *, drawn_from: str) -> list[dict]:
    """Measure the scatter of rates that the paper prints, a row an attack, lines split as in the released code.

    Rows have attack, multiple (of the constant 1 / alpha, where it has one), released_types, n_positions, asr
    (over all positions), then mean, of_types and deviation of `Scatter`. `drawn_from` is that of
    `textsan.sweeps.problems.prepare`.
    """
    parameters, attacks = ATTACKED[checks.choice("defence", release.defence, tuple(ATTACKED))]
    problem = release.problem(vocabulary="data", split_by="line", drawn_from=drawn_from, **parameters)
    released = words_at(problem.released, problem.positions)
    truth, rows = np.array(problem.truth.words), []
    for attack, settings in attacks:
        hits = truth == np.array(problem.guesses(attack, **settings))
        row = {"attack": attack, "multiple": settings.get("multiple"), "released_types": len(set(released))}
        scattered = scatter(hits, released, seed=release.seed)
        numbers = {"n_positions": len(hits), "asr": float(hits.mean())} | scattered._asdict()
        rows.append(row | {name: round(number, 5) for name, number in numbers.items()})
    return rows
