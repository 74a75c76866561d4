"""The sentence of the front page: as written, released at four epsilons, and read back by the combined attack.

`python -m textsan_book.studies.card book/card.json` makes it: the sentence that the chapter on language models
attacks, by an attacker with 500 other sentences.
"""

import json
import sys
from dataclasses import replace
from pathlib import Path

from textsan.priors import LanguageModel
from textsan.sweeps import problems

EPSILONS = (1.0, 2.0, 4.0, 8.0)
DATASET, PRIVATE, SHADOW, FITTED, BEAM, SEED = "rt", 4, 500, 3, 3, 0


def read_back(epsilon: float, model: LanguageModel) -> dict[str, list[str]]:
    """Release the sentence under CusText+ and read it back, given the attacked positions.

    Returned are the words as `written`, `released` and `read back`.
    """
    problem = problems.prepare(DATASET, PRIVATE, SHADOW, None, SEED, "custext+", epsilon=epsilon, k=20)
    resources = problem.knowledge.resources | {"language model": model}
    problem = replace(problem, knowledge=replace(problem.knowledge, resources=resources))
    attack = problem.attack("mixture", beam=BEAM, sentences=FITTED, public=False)
    guesses = attack.posteriors(problem.released, problem.positions, k=20).mode()
    sentence = problem.positions[0][0]
    guessed = {i: guess for (d, i), guess in zip(problem.positions, guesses, strict=True) if d == sentence}
    released = problem.released[sentence]
    return {
        "written": problem.truth.docs[sentence],
        "released": released,
        "read back": [guessed.get(i, word) for i, word in enumerate(released)],
    }


def write(path: Path) -> None:
    """Store the sentence at each of `EPSILONS` as json, an object an epsilon."""
    model = LanguageModel.named(precision="float32")
    rows = [{"epsilon": epsilon} | read_back(epsilon, model) for epsilon in EPSILONS]
    lines = ",\n".join(json.dumps(row, ensure_ascii=False) for row in rows)
    path.write_text(f"[\n{lines}\n]\n", encoding="utf-8")


if __name__ == "__main__":
    write(Path(sys.argv[1]))
