"""otter-grader and nbgrader at work on one submission: the points that each gives.

Both run a notebook in a Jupyter kernel of this machine, without the walls of `sandbox`: what they grade here is
the course's own solutions and student versions.
"""

import json
import shutil
import tempfile
from pathlib import Path

from textsan_book.course.versions import nbgrader_api, quiet


def otter_points(archive: Path, submission: Path) -> tuple[float, float]:
    """(earned, possible) points of checks, by otter-grader with this autograder zip."""
    with tempfile.TemporaryDirectory() as folder, quiet():
        from otter.run import main as run  # what it imports warns

        run(str(submission), autograder=str(archive), output_dir=folder, no_logo=True)
        tests = json.loads(Path(folder, "results.json").read_text())["tests"]
    marked = [test for test in tests if "score" in test and "max_score" in test]
    return sum(test["score"] for test in marked), sum(test["max_score"] for test in marked)


def nbgrader_points(name: str, tree: Path, submissions: dict[str, Path]) -> dict[str, tuple[float, float]]:
    """(earned, possible) points of checks of each student, by nbgrader in this tree; texts are left to a person.

    Args:
        name: the assignment, generated in `tree` before.
        tree: an nbgrader course folder.
        submissions: the notebook that each student hands in.

    Raises:
        RuntimeError: nbgrader refused; the message is its log.
    """
    with quiet():
        api = nbgrader_api(tree)
    for student, path in submissions.items():
        place = tree / "submitted" / student / name
        place.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, place / f"{name}.ipynb")
        with quiet():
            result = api.autograde(name, student)
        if not result["success"]:
            raise RuntimeError(f"nbgrader: {name}: {student}: {result.get('error', '')}{result.get('log', '')}")
    return {student: _of_checks(api, name, student) for student in submissions}


def _of_checks(api, name: str, student: str) -> tuple[float, float]:
    with api.gradebook as book:
        cells = [
            cell
            for notebook in book.find_submission(name, student).notebooks
            for cell in notebook.grades
            if cell.cell_type == "code"
        ]
        return sum(cell.auto_score or 0 for cell in cells), sum(cell.max_score for cell in cells)
