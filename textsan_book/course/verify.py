"""Prove that an assignment is right: solutions pass everywhere, nothing else does, and no secret gets out."""

import json
import re
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from textsan_book.course import graders as other_graders, grading, versions
from textsan_book.course.master import Check, Master, read, solution_lines
from textsan_book.course.mutants import mutants
from textsan_book.course.sandbox import Pen

MUTANTS, ENOUGH = 10, 8  # made, and how many must be caught
WRONG = 3  # planted wrong answers that each assignment needs at least
SECONDS = 60.0  # that an answer may take here


@dataclass
class Proof:
    """What was proved of one assignment.

    Args:
        assignment: its name.
        faults: what is not as it must be, a line each; none proves it.
        caught: mutants that some check caught.
        missed: the changes of those that none did.
        wrong: planted wrong answers that their check caught.
        seconds: how long the solution takes with all its checks.
    """

    assignment: str
    faults: list[str] = field(default_factory=list)
    caught: int = 0
    missed: list[str] = field(default_factory=list)
    wrong: int = 0
    seconds: float = 0.0

    def __str__(self) -> str:
        verdict = "; ".join(self.faults) or "proved"
        return (
            f"{self.assignment}: {verdict} ({self.wrong} wrong answers and {self.caught} of "
            f"{self.caught + len(self.missed)} mutants caught, solution {self.seconds:.1f} s)"
        )


def verify(paths: Sequence[Path], *, jobs: int = 1, full: bool = False, graders: bool = True) -> Iterator[Proof]:
    """Prove every assignment; proofs come as they are done.

    Args:
        paths: the masters.
        jobs: processes.
        full: corpora of the size that students have, in place of the verifier's.
        graders: build all versions, too, and run otter-grader and nbgrader, in Jupyter kernels.
    """
    from concurrent.futures import ProcessPoolExecutor, as_completed
    from multiprocessing import get_context

    if jobs == 1:
        yield from (_prove(path, full, graders) for path in paths)
        return
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
        for done in as_completed([pool.submit(_prove, path, full, graders) for path in paths]):
            yield done.result()


def _prove(path: Path, full: bool, graders: bool) -> Proof:
    try:
        master = read(path, full=full)
        proof = Proof(master.name)
        with Pen() as pen:
            _solution_passes(master, pen, proof)
            _wrong_answers_fail(master, pen, proof)
            _mutants_fail(master, pen, proof)
            if graders:
                with tempfile.TemporaryDirectory() as folder:
                    _versions_are_right(master, Path(folder), pen, proof)
        return proof
    except Exception as error:  # one assignment that cannot even be built leaves the others their proofs
        return Proof(path.stem, [f"{type(error).__name__}: {' '.join(str(error).split())}"])


def _failed(master: Master, pen: Pen, answers: dict[str, str], checks: Sequence[Check] | None = None) -> list[str]:
    """Names of the checks that fail with these answers in place of the solution's."""
    with pen.run(master.code(answers), seconds=SECONDS) as submission:
        marks = grading.marks(master, submission, seed=master.seeds[1], only=checks)
    return [mark.check.name for mark in marks if not mark.earned]


def _solution_passes(master: Master, pen: Pen, proof: Proof) -> None:
    for which, seed in zip(("student's", "grader's"), master.seeds, strict=True):
        start = time.monotonic()
        with pen.run(master.code(), seconds=SECONDS) as submission:
            marks = grading.marks(master, submission, seed=seed)
        proof.seconds = max(proof.seconds, time.monotonic() - start)
        proof.faults += [
            f"the solution fails {mark.check.name} with the {which} seed: {mark.message}"
            for mark in marks
            if not mark.earned
        ]
    for question in master.answers:
        kinds = {check.hidden for check in master.checks if check.question == question}
        if kinds != {True, False}:
            proof.faults.append(f"{question} needs a visible check and a hidden one")


def _wrong_answers_fail(master: Master, pen: Pen, proof: Proof) -> None:
    if len(master.wrong) < WRONG:
        proof.faults.append(f"it has {len(master.wrong)} wrong answers, but {WRONG} are wanted")
    if not any("hard-coded" in wrong.name for wrong in master.wrong):
        proof.faults.append("none of its wrong answers is hard-coded")
    for wrong in master.wrong:
        failed = _failed(master, pen, {wrong.question: wrong.source})
        if wrong.caught in failed:
            proof.wrong += 1
        else:
            proof.faults.append(f"{wrong.caught} does not catch {wrong.name!r} (caught by: {failed})")


def _mutants_fail(master: Master, pen: Pen, proof: Proof) -> None:
    for mutant in mutants(master, MUTANTS):
        own = [check for check in master.checks if check.question == mutant.question]
        if _failed(master, pen, {mutant.question: mutant.source}, own):
            proof.caught += 1
        else:
            proof.missed.append(f"{mutant.question} {mutant.change}")
    if proof.caught < ENOUGH:
        proof.faults.append(f"{proof.caught} mutants are caught, but {ENOUGH} are wanted; not: {proof.missed}")


def _versions_are_right(master: Master, out: Path, pen: Pen, proof: Proof) -> None:
    _secrets_stay(master, versions.build(master, out), proof)
    _student_gets_nothing(master, out, pen, proof)
    _graders_agree(master, out, proof)


def _student_gets_nothing(master: Master, out: Path, pen: Pen, proof: Proof) -> None:
    notebook = grading.read_submission(out / "student" / f"{master.name}.ipynb")
    cells, missing = grading.submitted_cells(notebook, master)
    with pen.run(cells, seconds=SECONDS) as submission:
        marks = grading.marks(master, submission, seed=master.seeds[1])
    earned = [mark.check.name for mark in marks if mark.earned]
    if earned or missing:
        proof.faults.append(f"the student version as handed out passes {earned}, lacks {missing}")


def _graders_agree(master: Master, out: Path, proof: Proof) -> None:
    files = {kind: out / kind / f"{master.name}.ipynb" for kind in ("solution", "student")}
    archive = out / "autograder" / f"{master.name}.zip"
    by_nbgrader = other_graders.nbgrader_points(master.name, out / "nbgrader", files)
    for kind, path in files.items():
        wanted = (master.possible if kind == "solution" else 0, master.possible)
        for grader, points in (
            ("otter-grader", other_graders.otter_points(archive, path)),
            ("nbgrader", by_nbgrader[kind]),
        ):
            if points != wanted:
                proof.faults.append(f"{grader} gives the {kind} version {points}, not {wanted}")


# Secrets


def _secrets_stay(master: Master, shown: Sequence[Path], proof: Proof) -> None:
    for path in shown:
        proof.faults += [f"{path.parent.parent.name}/{path.name} holds {line!r}" for line in leaks(master, path)]
        if path.suffix == ".ipynb" and any(
            cell.get("outputs") for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]
        ):
            proof.faults.append(f"{path.name} holds outputs")


def leaks(master: Master, path: Path, least: int = 16) -> list[str]:
    """Secret lines of a master, and its grader's seed, that a file holds, be it in a cell, its output or metadata.

    Args:
        master: the assignment.
        path: a file that others get to see.
        least: shorter lines are no secret.
    """
    text = path.read_text(encoding="utf-8")
    plain = text + "\n" + text.replace("\\n", "\n").replace('\\"', '"').replace("\\\\", "\\")
    found = [line for line in solution_lines(master) if len(line) >= least and line in plain]
    seed = str(master.seeds[1])
    return found + ([f"seed {seed}"] if re.search(rf"\b{seed}\b", text) else [])
