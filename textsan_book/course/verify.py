"""Prove that an assignment is right: solutions pass, nothing else does, and no secret gets out."""

import copy
import json
import os
import re
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from multiprocessing import get_context
from pathlib import Path

from joblib import Parallel, delayed

from textsan_book.chapters.chapters import read_notebook
from textsan_book.course import versions
from textsan_book.course.checks import again
from textsan_book.course.master import Check, Master, Wrong, read, role, solution_lines, stripped
from textsan_book.course.mutants import mutants

MUTANTS, ENOUGH = 10, 8  # made, and how many must be caught
WRONG = 3  # planted wrong answers that each assignment needs at least
SECONDS = 60.0  # that an answer may take here


@dataclass
class Proof:
    """The result of proving one assignment: no faults prove it.

    Of mutants so many were caught by some check; the changes of the others are `missed`. `wrong` are planted
    answers that their check caught; the solution takes so many seconds with all its checks.
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


def verify(paths: Sequence[Path], *, jobs: int = 1, full: bool = False, otter: bool = True) -> Iterator[Proof]:
    """Prove every assignment, in so many processes; proofs come as they are done.

    With `full` corpora have the size that students have, else the verifier's. With `otter` the zips are built,
    too, and otter-grader grades the solution and the student version.
    """
    pool = Parallel(n_jobs=jobs, return_as="generator_unordered")
    yield from pool(delayed(_prove)(path, full, otter) for path in paths)


def _prove(path: Path, full: bool, otter: bool) -> Proof:
    try:
        master = read(path, full=full)
        proof = Proof(master.name)
        if master.graded:
            _chapter_is_right(master, proof, full)
        else:
            _solution_passes(master, proof)
            _wrong_answers_fail(master, proof)
            _mutants_fail(master, proof)
        whole = full or not master.graded
        if whole and proof.caught < ENOUGH:
            proof.faults.append(f"{proof.caught} mutants are caught, but {ENOUGH} are wanted; not: {proof.missed}")
        if otter and whole:
            with tempfile.TemporaryDirectory() as folder:
                _zips_are_right(master, Path(folder), proof)
        return proof
    except Exception as error:  # one assignment that cannot even be built leaves the others their proofs
        return Proof(path.stem, [f"{type(error).__name__}: {' '.join(str(error).split())}"])


# Answers


def run(
    cells: Sequence[tuple[str | None, str]], checks: Sequence[Check], *, seconds: float = SECONDS
) -> list[str]:
    """Run cells and then checks in a process of their own, and kill it when its time, for all of it, is over.

    Cells are (question or None, source), in order; one that fails leaves the others. For each check why it failed,
    or nothing.
    """
    context = get_context("forkserver" if os.name == "posix" else "spawn")
    if os.name == "posix":
        context.set_forkserver_preload([__name__])
    ours, theirs = context.Pipe(duplex=False)
    process = context.Process(target=_run, args=(theirs, list(cells), list(checks)))
    process.start()
    theirs.close()
    try:
        if not ours.poll(seconds):
            return [f"it ran for more than {seconds:g} seconds: is there an endless loop?"] * len(checks)
        return ours.recv()
    except EOFError:
        return ["its process ended"] * len(checks)
    finally:
        process.kill()
        process.join()
        ours.close()


def _run(connection, cells, checks) -> None:
    sys.stdout = sys.stderr = open(os.devnull, "w", encoding="utf-8")
    names: dict = {"__name__": "__main__"}
    for _, source in cells:
        try:
            exec(source, names)
        except Exception:  # as in a notebook that is graded: the checks say what is missing
            continue
    connection.send([again.failure(names, check.code, versions.ANSWER_SECONDS) for check in checks])


def _failed(master: Master, answers: dict[str, str], checks: Sequence[Check] | None = None) -> list[str]:
    """Names of the checks that fail with these answers in place of the solution's."""
    wanted = master.checks if checks is None else checks
    reasons = run(master.code(answers), wanted)
    return [check.name for check, why in zip(wanted, reasons, strict=True) if why]


# Proofs


def _solution_passes(master: Master, proof: Proof) -> None:
    for which, seed in zip(("student's", "grader's"), master.seeds, strict=True):
        checks = [replace(check, seed=seed) for check in master.checks]
        start = time.monotonic()
        reasons = run(master.code(), checks)
        proof.seconds = max(proof.seconds, time.monotonic() - start)
        proof.faults += [
            f"the solution fails {check.name} with the {which} seed: {why}"
            for check, why in zip(checks, reasons, strict=True)
            if why
        ]
    for question in master.answers:
        kinds = {check.hidden for check in master.checks if check.question == question}
        if kinds != {True, False}:
            proof.faults.append(f"{question} needs a visible check and a hidden one")


def _wrong_answers_fail(master: Master, proof: Proof) -> None:
    if len(master.wrong) < WRONG:
        proof.faults.append(f"it has {len(master.wrong)} wrong answers, but {WRONG} are wanted")
    if not any("hard-coded" in wrong.name for wrong in master.wrong):
        proof.faults.append("none of its wrong answers is hard-coded")
    for wrong in master.wrong:
        failed = _failed(master, {wrong.question: wrong.source})
        if wrong.caught in failed:
            proof.wrong += 1
        else:
            proof.faults.append(f"{wrong.caught} does not catch {wrong.name!r} (caught by: {failed})")


def _mutants_fail(master: Master, proof: Proof) -> None:
    for mutant in mutants(master, MUTANTS):
        own = [check for check in master.checks if check.question == mutant.question]
        if _failed(master, {mutant.question: mutant.source}, own):
            proof.caught += 1
        else:
            proof.missed.append(f"{mutant.question} {mutant.change}")


def _chapter_is_right(master: Master, proof: Proof, full: bool) -> None:
    """Run the chapter as it is and emptied; wrong answers, and in full mutants, beside its own cells."""
    calls = {check.question: check.code for check in master.checks if check.hidden}
    others = [*master.wrong, *(mutants(master, MUTANTS) if full else [])]
    tried = {name: [(one.source, call) for one in others if one.question == name] for name, call in calls.items()}
    start = time.monotonic()
    found, caught = again.run(chapter_cells(master, solved=True), master.graded, [*calls.values()], tried)
    proof.seconds = time.monotonic() - start
    emptied, _ = again.run(chapter_cells(master, solved=False), master.graded, [*calls.values()])
    for name, why, nothing in zip(calls, found, emptied, strict=True):
        proof.faults += [f"the chapter fails {calls[name]}: {why}"] if why else []
        proof.faults += [] if nothing else [f"the emptied chapter passes {calls[name]}"]
        for one, said in zip((one for one in others if one.question == name), caught[name], strict=True):
            if isinstance(one, Wrong):
                proof.wrong += bool(said)
                proof.faults += [] if said else [f"{one.caught} does not catch {one.name!r}"]
            else:
                proof.caught += bool(said)
                proof.missed += [] if said else [f"{name} {one.change}"]


def chapter_cells(master: Master, *, solved: bool) -> list:
    """Read the cells of a chapter's notebook, as it should be handed in or as students get it."""
    cells = []
    for cell in (copy.deepcopy(cell) for cell in master.cells if role(cell) in (None, "answer")):
        if name := cell.metadata.get("answer"):
            cell.metadata["textsan"] = {"answer": name}
            cell.source = cell.source if solved else stripped(cell.source)
        cells.append(cell)
    return cells


def _zips_are_right(master: Master, out: Path, proof: Proof) -> None:
    versions.build(master, out)
    with zipfile.ZipFile(out / "student" / f"{master.name}.zip") as archive:
        archive.extractall(out / "shown")
    for path in sorted(path for path in (out / "shown").rglob("*") if path.is_file()):
        proof.faults += [f"{path.name} for students holds {line!r}" for line in leaks(master, path)]
        cells = read_notebook(path).cells if path.suffix == ".ipynb" else []
        if any(cell.get("outputs") for cell in cells):
            proof.faults.append(f"{path.name} holds outputs")
    for kind, earned in (("solution", master.possible), ("shown", 0)):
        points = otter_points(out / "autograder" / f"{master.name}.zip", out / kind / f"{master.name}.ipynb")
        if points != (earned, master.possible):
            proof.faults.append(f"otter-grader gives the {kind} version {points}, not {(earned, master.possible)}")


def otter_points(archive: Path, submission: Path) -> tuple[float, float]:
    """Compute (earned, possible) points of checks, by `otter run` without a container: for one's own notebooks."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "otter", "run", str(submission), "-a", str(archive), "-o", folder]
        done = subprocess.run(command, capture_output=True, text=True, timeout=10 * SECONDS)
        results = Path(folder, "results.json")
        if done.returncode or not results.is_file():
            raise RuntimeError(f"otter run: {done.stderr.strip()[-300:]}")
        tests = json.loads(results.read_text(encoding="utf-8"))["tests"]
    marked = [test for test in tests if "score" in test and "max_score" in test]
    return sum(test["score"] for test in marked), sum(test["max_score"] for test in marked)


# Secrets


def leaks(master: Master, path: Path, least: int = 16) -> list[str]:
    """List secret lines of a master, and its grader's seed, that a file holds anywhere.

    Lines shorter than `least` are no secret.
    """
    text = path.read_text(encoding="utf-8")
    plain = text + "\n" + text.replace("\\n", "\n").replace('\\"', '"').replace("\\\\", "\\")
    leaked = [line for line in solution_lines(master) if len(line) >= least and line in plain]
    seed = str(master.seeds[1])
    return leaked + ([f"seed {seed}"] if re.search(rf"\b{seed}\b", text) else [])
