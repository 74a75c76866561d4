"""Cells of a sweep of sanitizers: the success of an attack on a sanitized text, or the score of a task.

Cells that differ in the attack or the task alone are a family: they share sentences, positions and sanitized text.
"""

import json
import time
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path

import numpy as np

from textsan.evaluation import clustered_rate, means_the_same, words_at
from textsan.models import encoders
from textsan.sweeps import problems
from textsan.sweeps.specification import Cell, released_by
from textsan.sweeps.studies import Outcome
from textsan.text.embeddings import Embeddings

SHARED = "dataset shadow_dataset split_by drawn_from vocabulary embeddings targets".split()
SHARED += "n_private n_shadow seed".split()
"""Columns of which cells and rows of tables have the same names."""


def labels(cell: Mapping) -> dict:
    """Return the columns of the table that tell cells apart."""
    defence, kind = dict(cell["defence"]), "task" if "task" in cell else "attack"
    evaluation = dict(cell[kind])
    return {
        **{key: cell[key] for key in SHARED},
        "defence": defence.pop("name"),
        "epsilon": defence.pop("epsilon", None),
        "defence_parameters": json.dumps(defence),
        kind: evaluation.pop("name"),
        f"{kind}_parameters": json.dumps(evaluation),
    }


def outcomes(cells: list[Cell], folder: Path) -> Iterator[Callable[[], Outcome]]:
    """Yield a function for each cell of a family, of one released text, that computes it.

    The folder keeps the state of a training that takes long, as the cell's name and .safetensors.
    """
    shared = released_by(cells[0])
    defence, meaning = dict(shared.pop("defence")), shared.pop("meaning")
    attacked = any("attack" in cell for cell in cells)
    problem = problems.prepare(**shared, attacked=attacked, mechanism=defence.pop("name"), **defence)
    judge = encoders.input_embeddings(problem.split.embeddings.words, meaning) if meaning else None
    for cell in cells:
        if "task" in cell:
            yield partial(_task, cell, problem)
        else:
            yield partial(_attack, cell, problem, judge, folder / f"{cell.name}.safetensors")


def _task(cell: Cell, problem: problems.Problem) -> Outcome:
    parameters = dict(cell["task"])
    start = time.perf_counter()
    found = problem.utility(parameters.pop("name"), **parameters)
    seconds = time.perf_counter() - start
    estimate = found.estimate(seed=cell["seed"])
    row = {
        **labels(cell),
        "metric": found.metric,
        "n_test": len(found.truths),
        **dict(zip(("utility", "utility_low", "utility_high"), estimate, strict=True)),
        "validation": found.validation,
        "best_on_test": found.best_on_test,
        "chance": found.chance,
        "vulnerability": problem.vulnerability,
        "coverage": problem.coverage,
        "right": found.right,
        "seconds": round(seconds, 3),
    }
    arrays = {"truth": found.truths, "answer": found.answers, "source": found.sources}
    return Outcome([row], arrays, (cell["task"]["encoder"],) if "encoder" in cell["task"] else ())


def _attack(cell: Cell, problem: problems.Problem, judge: Embeddings | None, checkpoint: Path) -> Outcome:
    parameters = dict(cell["attack"])
    start = time.perf_counter()
    ran = problem.run(parameters.pop("name"), checkpoint=checkpoint, **parameters)
    seconds = time.perf_counter() - start
    truths, arrays = problem.truth.words, _places(problem)
    pairs = list(zip(ran.guesses, truths, strict=True))
    arrays["hit"] = np.array([guess == truth for guess, truth in pairs])
    arrays["substring"] = np.array([truth in guess for guess, truth in pairs])
    if ran.probabilities is not None:
        arrays["probability"] = np.rint(255 * ran.probabilities).astype(np.uint8)
    meant = {}
    if judge:
        arrays["meaning"] = means_the_same(ran.guesses, truths, judge)
        mean = clustered_rate(arrays["meaning"], arrays["source"])
        meant = dict(zip(("asr_meaning", "asr_meaning_low", "asr_meaning_high"), mean, strict=True))
    estimate, coverage = clustered_rate(arrays["hit"], arrays["source"]), problem.coverage
    row = {
        **labels(cell),
        "n_positions": len(truths),
        **dict(zip(("asr", "low", "high"), estimate, strict=True)),
        "coverage": coverage,
        "asr_all": coverage * estimate.value,
        "overlap": problem.overlap,
        "asr_substring": float(arrays["substring"].mean()),
        **meant,
        "unchanged": float(arrays["unchanged"].mean()),
        "seconds": round(seconds, 3),
        **ran.details,
    }
    return Outcome([row], arrays, ran.models)


def _places(problem: problems.Problem) -> dict[str, np.ndarray]:
    """Return where the attacked positions are, and what tells kinds of words apart, but no word."""
    document, index = np.array(problem.positions, dtype=np.int32).T
    truths, released = problem.truth.words, words_at(problem.released, problem.positions)
    rank = np.array([problem.split.embeddings.index[word] for word in truths])
    protected = problem.mechanism.protected  # a set of the size of the vocabulary, made at every call
    return {
        "document": document,
        "index": index,
        "source": np.array(problem.sentences, dtype=np.int32),
        "letter": np.array([any(map(str.isalnum, word)) for word in truths]),
        "frequency": np.log2(rank + 1).astype(np.uint8),
        "unchanged": np.array([word == truth for word, truth in zip(released, truths, strict=True)]),
        "as kept": np.array([word not in protected for word in released]),
    }
