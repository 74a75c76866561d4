"""What the book's strongest attack, which asks a language model, reads where `ranks` has put a mechanism.

Epsilon is searched without a language model, since a search asks dozens of times. Here the mixture of all readers
is asked once at what was found, on the first sentences of the same release.
"""

from textsan.evaluation import bootstrap_rate, paired_difference
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
        dataset, defence, level, seed, vocabulary, n_private, n_shadow: as of `ranks`, whose target is "success".
        n_attacked: the first so many of the documents are read.
        n_fitted: documents of the attacker's own that the mixture's weights are fitted on.

    Returns:
        one row: the value found and whether it reached the level; if so, positions, success of the attack that was
        the strongest there and of the mixture, their difference on the same positions, with 95 % intervals, and
        the weight of the language model.
    """
    given = ranking._Given(dataset, defence, seed, vocabulary, n_private, n_shadow)
    value, reached = given.found("success", level)
    row = {"parameter": given.dial, "value": value, "reached": reached}
    if not reached:
        return [row]
    problem, strongest = given.problem(value), given.attacked(value)["attack"]
    positions = [place for place in problem.positions if place[0] < n_attacked]
    truths, sentences = problem.truth.words[: len(positions)], problem.sentences[: len(positions)]
    others = problem.guesses(strongest, **ranking.ATTACKS[strongest])[: len(positions)]
    attack = problem.attack(ATTACK, sentences=n_fitted)
    guesses = attack.reconstruct(problem.released[:n_attacked], positions)
    estimates = {
        "success": bootstrap_rate(others, truths, sentences, seed=seed),
        "with_language": bootstrap_rate(guesses, truths, sentences, seed=seed),
        "difference": paired_difference(guesses, others, truths, sentences, seed=seed),
    }
    row |= {"attack": strongest, "positions": len(positions), "language_weight": attack.weights["language"]}
    for name, one in estimates.items():
        row |= {name: one.value, f"{name}_low": one.low, f"{name}_high": one.high}
    return [row]
