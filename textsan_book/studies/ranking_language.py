"""What the book's strongest attack, which asks a language model, reads where `ranks` has put a mechanism.

Epsilon is searched without a language model, since a search asks dozens of times. Here the mixture of all readers
is asked once at what the stored table has found, on the first sentences of the same release.
"""

import pandas as pd

from textsan.base.project import project_data
from textsan.evaluation import bootstrap_rate, paired_difference
from textsan.sweeps import problems
from textsan_book.studies import ranking

ATTACK = "mixture"


def ranks_with_language(
    *,
    dataset: str,
    defence: str,
    level: float,
    seed: int,
    vocabulary: int = 1000,
    n_private: int = 150,
    n_shadow: int = 300,
    n_attacked: int = 50,
    n_fitted: int = 30,
) -> list[dict]:
    """Success of the mixture at the setting at which the strongest attack of `ranks` has the level.

    Args:
        dataset, defence, level, seed: which row of the table `rank`, whose target is "success".
        vocabulary, n_private, n_shadow: what that table was made with.
        n_attacked: the first so many of the documents are read.
        n_fitted: documents of the attacker's own that the mixture's weights are fitted on.

    Returns:
        one row: the parameter's value and whether it reached the level; if so, positions, success of the attack
        that was the strongest there and of the mixture, their difference on the same positions, with 95 %
        intervals, and the weight of the language model.

    Raises:
        ValueError: a setting that the table has not.
    """
    table = pd.read_csv(project_data() / "results" / "rank.csv").fillna({"parameter": ""})
    asked = {"dataset": dataset, "defence": defence, "target": "success", "level": level, "seed": seed}
    there = table[(table[list(asked)] == pd.Series(asked)).all(axis=1)]
    if there.empty:
        raise ValueError(f"{', '.join(map(str, asked.values()))}: the table rank has no such row")
    found = there.iloc[0]
    row = {"parameter": found.parameter, "value": float(found.value), "reached": bool(found.reached)}
    if not row["reached"]:
        return [row]
    given = {found.parameter: row["value"]} if found.parameter else {}
    sizes = {"vocabulary": vocabulary, "n_private": n_private, "n_shadow": n_shadow, "n_positions": None}
    problem = problems.prepare(dataset=dataset, mechanism=defence, seed=seed, **sizes, **given)
    positions = [place for place in problem.positions if place[0] < n_attacked]
    truths, sentences = problem.truth.words[: len(positions)], problem.sentences[: len(positions)]
    attack = problem.attack(ATTACK, sentences=n_fitted)
    other, mixture = (
        one.reconstruct(problem.released[:n_attacked], positions)
        for one in (problem.attack(found.attack, **ranking.ATTACKS[found.attack]), attack)
    )
    estimates = {
        "success": bootstrap_rate(other, truths, sentences, seed=seed),
        "with_language": bootstrap_rate(mixture, truths, sentences, seed=seed),
        "difference": paired_difference(mixture, other, truths, sentences, seed=seed),
    }
    row |= {"attack": found.attack, "positions": len(positions), "language_weight": attack.weights["language"]}
    for name, one in estimates.items():
        row |= {name: one.value, f"{name}_low": one.low, f"{name}_high": one.high}
    return [row]
