"""What a released document gives away in all: the share of its words that the best guess from each release knows.

V(X | Y) of protected words alone flatters a mechanism that protects few: what it keeps is known to everybody. Here
all words of a document count, the kept ones too, so that mechanisms can be compared at an equal budget a document.

    python -m textsan.experiments.exposure SPEC OUTPUT    # a row for each released text of a sweep of tasks
"""

import sys
from pathlib import Path

import pandas as pd
from tqdm import tqdm

from textsan.experiments import problems, specification
from textsan.experiments.problems import Problem
from textsan.leakage import bayes_vulnerability
from textsan.priors import Prior
from textsan.text.vocabulary import count_words


def exposure(problem: Problem) -> float:
    """The expected share of the private words, of whatever kind, that the best context-free guess gets right.

    The prior is the true one of all words that have a row or are kept. A word without a row becomes a uniform draw
    and counts as never guessed.

    Args:
        problem: of a mechanism whose channel has a formula.
    """
    channel, counts = problem.mechanism.channel, count_words(problem.split.private)
    inside = sum(counts[word] for word in channel.inputs) / counts.total()
    prior = Prior.from_counts(counts, channel.inputs, alpha_inverse=0)
    return inside * bayes_vulnerability(prior, channel)


def table(cells: list[specification.Cell]) -> pd.DataFrame:
    """A row for each released text that cells share: what made it, V(X | Y) of its protected words, its exposure.

    Args:
        cells: of `textsan.experiments.specification.read_spec`.
    """
    released, rows = {}, []
    for cell in cells:
        shared = specification.released_by(cell)
        released[str(shared)] = shared
    for shared in tqdm(released.values(), desc="exposure", unit="text", disable=None):
        defence = dict(shared.pop("defence"))
        shared.pop("meaning")
        name = defence.pop("name")
        problem = problems.prepare(**shared, attacked=False, mechanism=name, **defence)
        said = {key: shared[key] for key in ("dataset", "vocabulary", "n_private", "seed")}
        said |= {"defence": name, "epsilon": defence.get("epsilon")}
        rows.append(said | {"vulnerability": problem.vulnerability, "exposure": exposure(problem)})
    return pd.DataFrame(rows)


def main(spec: str, output: str) -> None:
    """Writes the table of a specification, with the command that made it above."""
    lines = table(specification.read_spec(Path(spec))).to_csv(index=False)
    command = f"# python -m textsan.experiments.exposure {spec} {output}\n"
    Path(output).write_text(command + lines, encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
