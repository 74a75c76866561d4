"""Measure what a release gives away of words: by attacks with intervals, exactly, and by what is promised.

Each function returns a part of the json; `audit.schema.json` says what its fields are.
"""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import reduce
from typing import Any

import numpy as np

from textsan.auditing.attacking import Attacker, Hits
from textsan.auditing.material import GROUPS, Material
from textsan.auditing.promises import EPSILONS, greatest_within
from textsan.channel import Posterior
from textsan.evaluation import bootstrap_mean, clustered_rate
from textsan.leakage import bayes_vulnerability
from textsan.priors import Prior
from textsan.privacy import Guarantee

_MOST_WORDS = 4_000  # whose distances a bound of metric DP looks at: 128 MB


def rates(attackers: Mapping[str, Material], hits: Mapping[Attacker, Hits]) -> list[dict[str, Any]]:
    """Measure the success of each attack on each group of words; a group without a word has no row."""
    rows = []
    for attacker, made in hits.items():
        material = attackers[attacker.owns]
        for group in GROUPS:
            inside = material.groups[group][made.positions]
            if inside.any():
                of_group = made.at(inside)
                about = {"group": group, "documents": of_group.documents(material)}
                rows.append(_named(attacker) | about | _rate(material, of_group))
    return rows


def _rate(material: Material, made: Hits) -> dict[str, Any]:
    return {"words": len(made.hits)} | clustered_rate(made.hits, material.documents[made.positions])._asdict()


def _named(attacker: Attacker) -> dict[str, Any]:
    return {"attack": attacker.name, "label": attacker.label, "told": attacker.told, "owns": attacker.owns}


def headline(material: Material, hits: Mapping[Attacker, Hits]) -> dict[str, Any]:
    """Return the strongest attack that is given the positions and, on the same words, what needs no attack.

    Some attacks are made on all documents and some on a sample. Which one is strongest is seen where all of them
    were made; what came through unchanged, and what a blind guess names, is counted where that one was made.
    """
    told = {attacker: made for attacker, made in hits.items() if attacker.told}
    unchanged = next(made for attacker, made in told.items() if attacker.name == "unchanged")
    common = reduce(np.intersect1d, [made.positions for made in told.values()])
    best = max(told, key=lambda attacker: told[attacker].on(common).hits.mean())
    positions = told[best].positions
    most_frequent = Counter(material.truths[at] for at in positions).most_common(1)[0][1]
    return {
        "attack": best.name,
        "label": best.label,
        "owns": best.owns,
        "documents": told[best].documents(material),
        **_rate(material, told[best]),
        "unchanged": float(unchanged.on(positions).hits.mean()),
        "blind": most_frequent / len(positions),
    }


def rule(material: Material) -> Posterior:
    """Return the best guess for each released word by the attacker's counts: "unseen mass", told, as a table."""
    return material.mechanism.channel.posterior(material.population, k=1)


def exact(material: Material, table: Posterior) -> dict[str, Any]:
    """Compute what needs no attack: V(X | Y), the rule by the attacker's counts, the promise, and blind guesses.

    Of all words that are scored, in expectation over what the mechanism draws.
    """
    channel, own = material.mechanism.channel, material.own
    present = [word for word, p in zip(own.words, own.probabilities, strict=True) if p > 0]
    favourite = int(material.population.probabilities.argmax())
    prior = Prior(present, own.probabilities[own.probabilities > 0])
    return {
        "own": bayes_vulnerability(prior, channel.restrict(present)),
        "population": table.coverage(),
        "rule": table.expected_success(own),
        "promised": promised(material.mechanism.guarantee, own),
        "blind": float(own.probabilities.max()),
        "blind_rule": float(own.probabilities[favourite]),
    }


def promised(guarantee: Guarantee, prior: Prior) -> float:
    """Compute `Guarantee.success` for any number of words: of very many, the rarest count as known.

    That leaves the bound true, for an attacker who is told the rare ones knows no less.
    """
    p = prior.probabilities
    if guarantee.per != "distance" or (p > 0).sum() <= _MOST_WORDS:
        return guarantee.success(prior)
    likely = np.argsort(-p, kind="stable")[:_MOST_WORDS]
    mass = float(p[likely].sum())
    part = Prior([prior.words[i] for i in likely], p[likely] / mass)
    return min(1.0, 1 - mass + mass * guarantee.success(part))


def chances(material: Material, table: Posterior) -> np.ndarray:
    """Compute for each scored position the chance that the rule names its word: a row sum of the channel."""
    number: dict[str, int] = {}
    at = [number.setdefault(word, len(number)) for word in material.truths]
    return table.hit_probabilities(list(number))[at]


def from_alike(material: Material, alike: Material | None, chance: np.ndarray) -> dict[str, float | None]:
    """Compute what the frequencies of other rows of this text name of it, and how far the attacker's fall behind.

    `alike` are documents under attack by the owner of the other rows; None where the rows were too few.
    """
    if alike is None:
        return {"held_out": None, "behind": None}
    table = rule(alike)
    if material.rows == alike.rows:
        return {"held_out": table.coverage(), "behind": 0.0}
    inside = np.isin(material.documents, np.array(alike.rows))
    gap = chances(alike, table) - chance[inside]
    return {"held_out": table.coverage(), "behind": bootstrap_mean(gap, alike.documents, seed=material.seed).low}


def smaller_epsilon(material: Material, limit: float | None) -> dict[str, Any] | None:
    """Compute what a smaller epsilon would give: the exact success of the rule by the attacker's frequencies.

    That epsilon is the largest of the grid below at which the success is within the limit, else the least of it;
    without a limit, a quarter of the mechanism's or less. None where the grid has none below.
    """
    epsilon = getattr(material.mechanism, "epsilon", None)
    if epsilon is None or not EPSILONS[0] < epsilon < math.inf:
        return None
    grid = [level for level in EPSILONS if level < epsilon]

    def success(level: float) -> float:
        other = replace(material, mechanism=material.mechanism.with_(epsilon=level))
        return rule(other).expected_success(other.own)

    try:
        now = success(epsilon)
        if limit is None:
            best = max([level for level in grid if level <= epsilon / 4], default=grid[0])
        elif (least := success(grid[0])) > limit:
            return {"now": now, "epsilon": grid[0], "value": least, "within": False}
        else:
            best = greatest_within(success, limit, grid)
        return {"now": now, "epsilon": best, "value": success(best), "within": True}
    except ValueError:  # a mechanism that cannot be made at such an epsilon
        return None


def scored(
    attackers: Mapping[str, Material], answers: Mapping[int, str], given: int, hits: Mapping[Attacker, Hits]
) -> dict[str, Any]:
    """Score somebody's guesses, a large language model's say, and each attack on the same positions.

    The guesses are of the first attacker's positions; `given` is how many there were, at any position.
    """
    material = next(iter(attackers.values()))
    places = sorted(answers)
    right = np.array([answers[at] == material.truths[at] for at in places])
    guessed = Hits(np.array(places, dtype=np.intp), right)
    same = {attacker: made.on(guessed.positions) for attacker, made in hits.items()}
    rows = [_named(attacker) | _rate(material, made) for attacker, made in same.items() if len(made.hits)]
    about = {"given": given, "elsewhere": given - len(answers)}
    return about | _rate(material, guessed) | {"attacks": rows}


def strongest(
    rows: Sequence[Mapping[str, Any]], group: str = "all", *, told: bool = True
) -> Mapping[str, Any] | None:
    """Return the row, of `rates`, of the attack that guesses most of a group; None if the text has no word of it.

    Attackers who are told the scored positions count, or those who are not.
    """
    candidates = [
        row for row in rows if row["group"] == group and (row["told"] == told or row["attack"] == "unchanged")
    ]
    return max(candidates, key=lambda row: row["value"], default=None)
