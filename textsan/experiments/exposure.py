"""What released text gives away on the same words whatever protects them, and of a document in all.

V(X | Y) of the words that a mechanism protects is not comparable between mechanisms that protect others: SanText+
protects rare words, CusText+ all but stop words. Comparable are V(X | Y) of the words that *all* of them protect,
and the exposure of a document, in which every word counts, the kept ones too.

    python -m textsan.experiments.exposure SPEC OUTPUT    # a row for each released text of a sweep
"""

import sys
from collections.abc import Collection
from pathlib import Path

import pandas as pd
from tqdm import tqdm

from textsan.experiments import problems, specification
from textsan.experiments.problems import Problem
from textsan.leakage import bayes_vulnerability
from textsan.priors import Prior
from textsan.text.vocabulary import count_words


def vulnerability_of(problem: Problem, words: Collection[str]) -> float:
    """V(X | Y) under the true frequencies of some of the private words, exact.

    The attacker is told that the word is one of them, so that problems with different protected words compare.

    Args:
        problem: of a mechanism whose channel has a formula.
        words: among the channel's inputs.
    """
    channel, counts = problem.mechanism.channel, count_words(problem.split.private)
    asked = {word: counts[word] for word in words if counts[word]}
    return bayes_vulnerability(Prior.from_counts(asked, channel.inputs, alpha_inverse=0), channel)


def exposure(problem: Problem) -> float:
    """The expected share of the private words, of whatever kind, that the best context-free guess gets right.

    The prior is the true one of all words that have a row or are kept. A word without a row becomes a uniform draw
    and counts as never guessed.

    Args:
        problem: of a mechanism whose channel has a formula.
    """
    words, counts = problem.mechanism.channel.inputs, count_words(problem.split.private)
    return vulnerability_of(problem, words) * sum(counts[word] for word in words) / counts.total()


def table(cells: list[specification.Cell]) -> pd.DataFrame:
    """A row for each released text that cells share: what made it, and three numbers.

    They are V(X | Y) of the words it protects (vulnerability), of those that all mechanisms of the cells protect
    (common), and the exposure.

    Args:
        cells: of `textsan.experiments.specification.read_spec`.
    """
    released = {str(one): one for one in map(specification.released_by, cells)}.values()
    known: dict[int, frozenset[str]] = {}
    for shared in released:
        protected = _prepared(shared).mechanism.protected
        known[shared["seed"]] = known.get(shared["seed"], protected) & protected
    rows = []
    for shared in tqdm(released, desc="exposure", unit="text", disable=None):
        problem, defence = _prepared(shared), shared["defence"]
        said = {key: shared[key] for key in ("dataset", "vocabulary", "n_private", "seed")}
        said |= {"defence": defence["name"], "epsilon": defence.get("epsilon")}
        common = vulnerability_of(problem, known[shared["seed"]])
        said |= {"vulnerability": problem.vulnerability, "common": common, "exposure": exposure(problem)}
        rows.append(said)
    return pd.DataFrame(rows)


def _prepared(shared: specification.Cell) -> Problem:
    given, defence = dict(shared), dict(shared["defence"])
    del given["meaning"], given["defence"]
    return problems.prepare(**given, attacked=False, mechanism=defence.pop("name"), **defence)


def main(specs: list[str], output: str) -> None:
    """Writes the table of some specifications, together, with the command that made it above.

    Args:
        specs: paths of specifications.
        output: path of the table.
    """
    cells = [cell for spec in specs for cell in specification.read_spec(Path(spec))]
    command = f"# python -m textsan.experiments.exposure {' '.join(specs)} {output}\n"
    Path(output).write_text(command + table(cells).to_csv(index=False), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:-1], sys.argv[-1])
