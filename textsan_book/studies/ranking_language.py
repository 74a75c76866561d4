"""Success of stronger attacks than those of `ranks`, where `ranks` has put a mechanism.

Epsilon is searched by attacks that are asked dozens of times. Here a stronger one is asked once at what the stored
table has found: with a public n-gram table on all documents, with a language model on the first of them.
"""

import numpy as np
import pandas as pd

from textsan.base.project import project_data
from textsan.evaluation import clustered_rate, paired_difference
from textsan.sweeps.problems import Problem
from textsan_book.studies import ranking
from textsan_book.studies.experiments import columns, takes_settings

ATTACK = "mixture"


@takes_settings
def ranks_with_language(
    documents: ranking.Documents, *, defence: str, level: float, n_attacked: int = 50, n_fitted: int = 30
) -> list[dict]:
    """Measure the success of the mixture at the setting at which the strongest attack of `ranks` has the level.

    Documents, defence and level are of a row of the table `rank`, whose target is "success". The first
    `n_attacked` of the documents are read, and the mixture's weights are fitted on `n_fitted` of the attacker's
    own. One row: the parameter's value and whether it reached the level; if so, positions, success of the attack
    that was the strongest there and of the mixture, their difference on the same positions, with 95 % intervals,
    and the weight of the language model.
    """
    row, attack, problem = _placed(documents, defence, level)
    if problem is None:
        return [row]
    positions = [place for place in problem.positions if place[0] < n_attacked]
    mixture = problem.attack(ATTACK, sentences=n_fitted, public=False)
    other, guesses = (
        reader.reconstruct(problem.released[:n_attacked], positions)
        for reader in (problem.attack(attack, **ranking.ATTACKS[attack], public=False), mixture)
    )
    row |= {"attack": attack, "positions": len(positions), "language_weight": mixture.weights["language"]}
    return [row | _beside(problem, other, guesses, "language")]


@takes_settings
def ranks_with_public(documents: ranking.Documents, *, defence: str, level: float) -> list[dict]:
    """Measure the success of Markov with a public n-gram table at the same setting, if `ranks` has none.

    One row, as of `ranks_with_language`, with the Markov attack in place of the mixture.
    """
    row, attack, problem = _placed(documents, defence, level)
    if problem is None:
        return [row]
    other = problem.guesses(attack, **ranking.ATTACKS[attack], public=False)
    guesses = problem.guesses("markov", **ranking.ATTACKS["markov"], public=True)
    row |= {"attack": attack, "positions": len(guesses)}
    return [row | _beside(problem, other, guesses, "public")]


def _placed(documents: ranking.Documents, defence: str, level: float) -> tuple[dict, str, Problem | None]:
    """Look up where `rank` put a mechanism, and its release if that reached the level."""
    table = pd.read_csv(project_data() / "results" / "rank.csv").fillna({"parameter": ""})
    key = {"dataset": documents.dataset, "defence": defence, "target": "success", "level": level}
    key["seed"] = documents.seed
    ranked = table[(table[list(key)] == pd.Series(key)).all(axis=1)]
    if ranked.empty:
        raise ValueError(f"{', '.join(map(str, key.values()))}: the table rank has no such row")
    rank = ranked.iloc[0]
    row = {"parameter": rank.parameter, "value": float(rank.value), "reached": bool(rank.reached)}
    given = {rank.parameter: row["value"]} if rank.parameter else {}
    return row, rank.attack, documents.problem(defence, **given) if row["reached"] else None


def _beside(problem: Problem, other: list[str], guesses: list[str], what: str) -> dict:
    """Success on the first positions of an attack and of a stronger one, and the difference, as columns."""
    truths, sentences = problem.truth.words[: len(guesses)], problem.sentences[: len(guesses)]
    estimates = {
        "success": clustered_rate(np.equal(other, truths), sentences),
        f"with_{what}": clustered_rate(np.equal(guesses, truths), sentences),
        "difference": paired_difference(guesses, other, truths, sentences),
    }
    row: dict = {}
    for name, estimate in estimates.items():
        row |= columns(estimate, f"{name}_")
    return row
