"""What a release gives away of words: attacks with intervals, beside what is exact and what is promised."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from textsan.attacks import ATTACKS
from textsan.auditing.attacking import Asked, Hits
from textsan.auditing.material import GROUPS, Material
from textsan.channel import Posterior
from textsan.evaluation import Estimate, clustered_rate
from textsan.leakage import bayes_vulnerability
from textsan.priors import Prior
from textsan.privacy import Guarantee

_MOST_WORDS = 4_000  # whose distances a bound of metric DP looks at: 128 MB


def rates(material: Material, hits: Mapping[Asked, Hits]) -> list[dict[str, Any]]:
    """The success of each attack on each group of words, told and not told.

    Args:
        material: what was attacked.
        hits: of `attacking.hits`.

    Returns:
        rows for json: attack, label, told, group, documents, words, value, low, high; a group without a word has
        none.
    """
    rows = []
    for asked, found in hits.items():
        for group in GROUPS:
            inside = material.groups[group][found.positions]
            if not inside.any():
                continue
            documents = material.documents[found.positions[inside]]
            rate = clustered_rate(found.hits[inside], documents)
            rows.append(
                {
                    "attack": asked.name,
                    "label": ATTACKS[asked.name].label,
                    "told": asked.told,
                    "group": group,
                    "documents": len(np.unique(documents)),
                    "words": int(inside.sum()),
                    **as_row(rate),
                }
            )
    return rows


def as_row(rate: Estimate) -> dict[str, float]:
    """An estimate for json."""
    return {"value": rate.value, "low": rate.low, "high": rate.high}


def rule(material: Material) -> Posterior:
    """The best guess for each released word by the attacker's counts: "unseen mass", told, as a table.

    Args:
        material: what is audited.
    """
    return material.mechanism.channel.posterior(material.population, k=1)


def exact(material: Material, table: Posterior) -> dict[str, Any]:
    """What needs no attack: V(X | Y), the rule of who has the attacker's counts, the promise, blind guesses.

    All of words that are told to be scored, in expectation over what the mechanism draws.

    Args:
        material: what is audited.
        table: of `rule`.

    Returns:
        for json: `own` is V(X | Y) with the text's own counts, a ceiling of guesses from single words;
        `population` the same with the attacker's counts, on new text of that kind; `rule` the success of that rule
        on this text; `promised` the most that the guarantee alone allows, with the text's own counts; `blind` the
        success of the best single guess, and `blind_rule` that of the guess that is best by the attacker's counts.
    """
    channel, own = material.mechanism.channel, material.own
    there = [word for word, p in zip(own.words, own.probabilities, strict=True) if p > 0]
    favourite = int(material.population.probabilities.argmax())
    mine = Prior(there, own.probabilities[own.probabilities > 0])
    return {
        "own": bayes_vulnerability(mine, channel.restrict(there)),
        "population": table.coverage(),
        "rule": table.expected_success(own),
        "promised": promised(material.mechanism.guarantee, own),
        "blind": float(own.probabilities.max()),
        "blind_rule": float(own.probabilities[favourite]),
    }


def promised(guarantee: Guarantee, prior: Prior, most: int = _MOST_WORDS) -> float:
    """`Guarantee.success`, for any number of words: of very many, the rarest count as known.

    That leaves the bound true, for an attacker who is told the rare ones knows no less.

    Args:
        guarantee: what is promised.
        prior: of the words under attack.
        most: words that are looked at where distances count.
    """
    p = prior.probabilities
    if guarantee.per != "distance" or (p > 0).sum() <= most:
        return guarantee.success(prior)
    likely = np.argsort(-p, kind="stable")[:most]
    mass = float(p[likely].sum())
    part = Prior([prior.words[i] for i in likely], p[likely] / mass)
    return min(1.0, 1 - mass + mass * guarantee.success(part))


def chances(material: Material, table: Posterior) -> np.ndarray:
    """For each scored position the chance that the rule names its word, exactly: a row sum of the channel.

    Args:
        material: what is audited.
        table: of `rule`.

    Returns:
        (n positions,) over what the mechanism may draw.
    """
    number: dict[str, int] = {}
    at = [number.setdefault(word, len(number)) for word in material.truths]
    return table.hit_probabilities(list(number))[at]


def strongest(
    rows: Sequence[Mapping[str, Any]], group: str = "all", *, told: bool = True
) -> Mapping[str, Any] | None:
    """The row of the attack that guesses most of a group; None if the text has no word of it.

    Args:
        rows: of `rates`.
        group: one of `GROUPS`.
        told: whether attackers who are told count.
    """
    there = [
        row for row in rows if row["group"] == group and (row["told"] == told or row["attack"] == "unchanged")
    ]
    return max(there, key=lambda row: row["value"], default=None)
