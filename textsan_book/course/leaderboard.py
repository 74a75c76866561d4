"""Rank attacks by how much more they guess than the published one, on words that only the grader has."""

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from textsan.evaluation import Estimate, bootstrap_mean
from textsan_book.course import grading, master as masters
from textsan_book.course.sandbox import AnswerError, Pen

ASSIGNMENT = "06-beat-the-published-attack"


@dataclass(frozen=True)
class Row:
    """One attack's place.

    Args:
        who: the submission's name.
        success: share of words guessed, with its interval over sentences.
        gain: paired difference to the published attack, with its interval.
        said: why it has no place; empty if it has one.
    """

    who: str
    success: Estimate | None = None
    gain: Estimate | None = None
    said: str = ""

    def __str__(self) -> str:
        return (
            f"{self.who}: {self.said}" if self.said else f"{self.who}: gains {self.gain}, right in {self.success}"
        )


def rank(
    paths: Sequence[Path], *, corpus: str, size: int, seed: int, seconds: float = 120, folder=None
) -> list[Row]:
    """The attacks of all submissions, the best first; those that do not run come last, with a reason.

    Args:
        paths: notebooks, or folders of them.
        corpus: `world`, or a data set's name.
        size: sentences attacked.
        seed: which sentences and which noise; whoever knows it can look the words up.
        seconds: time for each submission.
        folder: the masters.
    """
    from textsan_book.course.checks import attacks

    given = attacks.problem(corpus, size=size, seed=seed)
    master = masters.find(ASSIGNMENT, folder)
    with Pen() as pen:
        rows = [_row(path, master, given, pen, seconds, seed) for path in grading.notebooks(paths)]
    rows.append(_published(given, seed))
    placed = sorted((row for row in rows if not row.said), key=lambda row: -row.gain.value)
    return placed + [row for row in rows if row.said]


def _row(path: Path, master, given, pen: Pen, seconds: float, seed: int) -> Row:
    from textsan_book.course.checks import attacks

    try:
        notebook = grading.read_submission(path)
        if notebook.metadata.get("textsan", {}).get("assignment") != master.name:
            raise grading.NoSubmission(f"no submission of {master.name}")
        cells, _ = grading.submitted_cells(notebook, master)
        with pen.run(cells, seconds=seconds) as submission:
            attack = submission.get("attack")
            if attack is None:
                raise AnswerError(submission.errors.get("q1", "it has no function `attack`"))
            own, published, sentence = attacks.hits(attack, given)
    except (grading.NoSubmission, AnswerError, AssertionError) as error:
        return Row(path.stem, said=str(error).removeprefix(f"{path}: "))
    except Exception as error:  # guesses of a kind that nobody thought of cost this one its place, and no other
        return Row(path.stem, said=f"its guesses cannot be read: {type(error).__name__}")
    return Row(path.stem, *_estimates(own, published, sentence, seed))


def _published(given, seed: int) -> Row:
    from textsan_book.course.checks import attacks

    nearest = given.matrix.argmax(axis=0)
    hits = attacks.hits(lambda released, *_: [[int(nearest[y]) for y in doc] for doc in released], given)
    return Row("embedding inversion (published)", *_estimates(*hits, seed))


def _estimates(own, published, sentence, seed: int) -> tuple[Estimate, Estimate]:
    return (
        bootstrap_mean(own.astype(float), sentence, seed=seed),
        bootstrap_mean(own.astype(float) - published, sentence, seed=seed),
    )


def write(rows: Sequence[Row], path: Path) -> None:
    """The table as csv: place, who, gain and success with their intervals, what was said."""
    with Path(path).open("w", newline="", encoding="utf-8") as file:
        table = csv.writer(file)
        numbers = [f"{name}{part}" for name in ("gain", "success") for part in ("", "_low", "_high")]
        table.writerow(["place", "who", *numbers, "said"])
        for place, row in enumerate(rows, start=1):
            numbers = [f"{value:.4f}" for value in (*row.gain, *row.success)] if not row.said else [""] * 6
            table.writerow(["" if row.said else place, row.who, *numbers, row.said])
