"""Success of the book's strongest attack, which asks a language model, where `ranks` has put a mechanism.

Epsilon is searched without a language model, since a search asks dozens of times. Here the mixture of all readers
is asked once at what the stored table has found, on the first sentences of the same release.
"""

import numpy as np
import pandas as pd

from textsan.base.project import project_data
from textsan.evaluation import clustered_rate, paired_difference
from textsan_book.studies import ranking
from textsan_book.studies.experiments import columns, takes_settings

ATTACK = "mixture"


@takes_settings
def ranks_with_language(
    documents: ranking.Documents, *, defence: str, level: float, n_attacked: int = 50, n_fitted: int = 30
) -> list[dict]:
    """Success of the mixture at the setting at which the strongest attack of `ranks` has the level.

    Args:
        documents, defence, level: of a row of the table `rank`, whose target is "success".
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
    key = {"dataset": documents.dataset, "defence": defence, "target": "success", "level": level}
    key["seed"] = documents.seed
    ranked = table[(table[list(key)] == pd.Series(key)).all(axis=1)]
    if ranked.empty:
        raise ValueError(f"{', '.join(map(str, key.values()))}: the table rank has no such row")
    rank = ranked.iloc[0]
    row = {"parameter": rank.parameter, "value": float(rank.value), "reached": bool(rank.reached)}
    if not row["reached"]:
        return [row]
    problem = documents.problem(defence, **({rank.parameter: row["value"]} if rank.parameter else {}))
    positions = [place for place in problem.positions if place[0] < n_attacked]
    truths, sentences = problem.truth.words[: len(positions)], problem.sentences[: len(positions)]
    attack = problem.attack(ATTACK, sentences=n_fitted, public=False)
    other, mixture = (
        reader.reconstruct(problem.released[:n_attacked], positions)
        for reader in (problem.attack(rank.attack, **ranking.ATTACKS[rank.attack]), attack)
    )
    estimates = {
        "success": clustered_rate(np.equal(other, truths), sentences),
        "with_language": clustered_rate(np.equal(mixture, truths), sentences),
        "difference": paired_difference(mixture, other, truths, sentences),
    }
    row |= {"attack": rank.attack, "positions": len(positions), "language_weight": attack.weights["language"]}
    for name, estimate in estimates.items():
        row |= columns(estimate, f"{name}_")
    return [row]
