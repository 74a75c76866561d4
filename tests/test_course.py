"""The course: masters are read strictly, zips hold what their reader may see, proofs notice what is planted."""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import zipfile
from dataclasses import replace
from pathlib import Path

import nbformat
import pytest
from click.testing import CliRunner
from helpers import refused

from textsan.cli.main import main
from textsan_book.chapters import build, chapters
from textsan_book.course import master, texts, verify, versions
from textsan_book.course.checks import again

ROOT = Path(__file__).parents[1]
MASTERS = ROOT / "book" / "course" / "masters"
PAGE = (ROOT / "book" / "pages" / "course-instructors.md").read_text(encoding="utf-8")
NAMES = [path.stem for path in sorted(MASTERS.glob("*.md"))]
FULL = bool(os.environ.get("TEXTSAN_FULL"))


def fenced(language):
    """The blocks of the page for instructors, in a language."""
    return re.findall(rf"^(`{{3,}}){language}\n(.*?)^\1$", PAGE, re.MULTILINE | re.DOTALL)


@pytest.fixture
def coin(tmp_path):
    """The assignment that the page for instructors adds, as it stands there."""
    ((_, written),) = fenced("markdown")
    path = tmp_path / "90-a-coin.md"
    path.write_text(written, encoding="utf-8")
    return path


# Masters


def test_there_is_an_assignment_for_every_part_with_all_that_is_wanted():
    read = [master.read(path) for path in master.masters(MASTERS)]
    assert len(read) >= 10
    for one in read:
        kinds = [master.role(cell) for cell in one.cells]
        assert {"check", "hidden", "text", "answer"} <= set(kinds) and kinds.count("wrong") >= 3
        assert all("**Rubric.**" in cell.source for cell in one.cells if master.role(cell) == "text")
        assert all(chapters.find(ROOT, number) for number in one.about["chapters"])
        assert f"| {one.name[:2]} {one.about['title']} |" in PAGE


@pytest.mark.parametrize(
    "before, after, said",
    [
        ("    # END SOLUTION\n", "", "an answer needs the lines"),
        (":hidden: q1", ":hidden: q7", "'q7' is no question"),
        (":points: 1", ":points: 0", "points must be"),
        ("grader: 89090", "grader: 90", "must differ"),
        ("is_a_share(estimate, seed=seed)", "is_a_share(estimate, seed=7)", "by the words seed=seed"),
        ("checks.coins.is_a_share(estimate, seed=seed)", "assert estimate", "a check is one call"),
        (":caught: is_a_share", "", "the check that it is caught by"),
        ("  minutes: 20\n", "", "minutes is missing"),
        ("course:\n", "other:\n", "no `course:`"),
    ],
)
def test_a_master_with_a_mistake_is_named_with_its_file(coin, before, after, said):
    text = coin.read_text()
    assert before in text
    coin.write_text(text.replace(before, after))
    with pytest.raises(master.MasterError, match=re.escape(said)) as error:
        master.read(coin)
    assert str(error.value).startswith("90-a-coin.md: ")


def test_a_name_or_number_finds_one_master():
    assert master.find("08", MASTERS).name == master.find("08-hashed-names", MASTERS).name
    refused("'99' is none; choose from 01-", lambda: master.find("99", MASTERS), KeyError)
    refused("holds no master", lambda: master.masters(ROOT / "tests"), FileNotFoundError)


def test_a_cohort_has_seeds_of_its_own_in_all_checks():
    one = master.find("01", MASTERS)
    theirs, others = one.for_cohort(2027), one.for_cohort(2028)
    assert len({*one.seeds, *theirs.seeds, *others.seeds}) == 6
    assert one.for_cohort(2027).seeds == theirs.seeds
    for check in theirs.checks:
        assert check.code.endswith(f"seed={theirs.seeds[check.hidden]})")
    assert not any(str(one.seeds[1]) in cell.source for cell in versions.otter_source(theirs).cells)


# Zips


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """Zips of the first assignment, whose checks may take four seconds each; with FULL of all."""
    out = tmp_path_factory.mktemp("built")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(versions, "ANSWER_SECONDS", 4)
        versions.build(master.find(NAMES[0], MASTERS), out)
    for name in NAMES[1:] if FULL else ():
        versions.build(master.find(name, MASTERS), out)
    return out


def student_notebook(built, name):
    with zipfile.ZipFile(built / "student" / f"{name}.zip") as archive:
        assert archive.testzip() is None and archive.namelist() == [f"{name}.ipynb"]
        return nbformat.reads(archive.read(f"{name}.ipynb").decode(), as_version=4)


@pytest.mark.parametrize("name", NAMES if FULL else NAMES[:1])
def test_zips_hold_what_their_reader_may_see(built, name):
    one = master.find(name, MASTERS)
    shown, solution = student_notebook(built, name), (built / "solution" / f"{name}.ipynb").read_text()
    text = nbformat.writes(shown)
    for check in one.checks:
        call = check.code.replace('"', '\\"')
        assert (call in text) == (not check.hidden) and call in solution
    assert str(one.seeds[1]) not in text and "BEGIN SOLUTION" not in text and "Rubric" not in text
    assert "**Rubric.**" in solution
    wanted = {cell.metadata["text"] for cell in one.cells if master.role(cell) == "text"}
    assert {*texts.answers(shown)} == wanted
    for cell in shown.cells:
        to_be_written = cell.metadata.get("textsan") or {}
        assert not to_be_written or cell.metadata.get("editable", True)
    with zipfile.ZipFile(built / "autograder" / f"{name}.zip") as archive:
        assert archive.testzip() is None
        names = {*archive.namelist()}
        assert {"run_autograder", "run_otter.py", "setup.sh", "environment.yml", "otter_config.json"} <= names
        assert {each for each in names if each.startswith("tests/")} == {f"tests/{q}.py" for q in one.answers}
        config = json.loads(archive.read("otter_config.json"))
        tests = "".join(archive.read(f"tests/{question}.py").decode() for question in one.answers)
    assert config == {"assignment_name": name, "lang": "python"}  # no seed: otter would write it into cells
    assert tests.count("hidden=True") == sum(check.hidden for check in one.checks)
    assert all(check.code in tests for check in one.checks)


def test_the_graders_container_needs_no_package_of_this_project(built, tmp_path):
    """Modules that checks import lie in the zip, and the index has the rest: its names are in environment.yml."""
    with zipfile.ZipFile(built / "autograder" / f"{NAMES[0]}.zip") as archive:
        archive.extractall(tmp_path)
    environment = (tmp_path / "environment.yml").read_text()
    assert "numpy>=2" in environment and "textsan" not in environment
    program = f"""
import importlib.metadata, sys
sys.path[:0] = [{str(tmp_path / "files")!r}, {os.path.dirname(os.path.dirname(nbformat.__file__))!r}]
found = importlib.metadata.distribution
def missing(name):
    if name.startswith("textsan"):
        raise importlib.metadata.PackageNotFoundError(name)
    return found(name)
importlib.metadata.distribution = missing
from textsan_book.course import checks
assert checks.__file__.startswith({str(tmp_path)!r})
import numpy as np
{master.find("06", MASTERS).answers["q1"]}
checks.attacks.beats_counting(attack, size=60, seed=1)
checks.attacks.comes_near_the_ideal(attack, size=60, seed=1)
"""
    bare = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    # -S: no .pth file is read, so that an editable installation is not found.
    command = [sys.executable, "-S", "-c", program]
    done = subprocess.run(command, cwd=tmp_path, env=bare, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def handed_in(built, tmp_path, answers, extra=""):
    """A student's notebook of the first assignment with these answers."""
    notebook = student_notebook(built, NAMES[0])
    for cell in notebook.cells:
        question = cell.metadata.get("textsan", {}).get("answer")
        if question:
            cell.source = answers[question]
    notebook.cells.insert(2, nbformat.v4.new_code_cell(extra))
    path = tmp_path / f"{NAMES[0]}.ipynb"
    nbformat.write(notebook, path)
    return verify.otter_points(built / "autograder" / f"{NAMES[0]}.zip", path)


@pytest.mark.parametrize("name", NAMES if FULL else NAMES[:1])
def test_otter_gives_the_solution_all_points_and_a_wrong_answer_fewer(built, name, tmp_path):
    one = master.find(name, MASTERS)
    archive, solution = built / "autograder" / f"{name}.zip", built / "solution" / f"{name}.ipynb"
    assert verify.otter_points(archive, solution) == (one.possible, one.possible)
    notebook = nbformat.read(solution, as_version=4)
    for cell in notebook.cells:
        if cell.metadata.get("textsan", {}).get("answer") == one.wrong[0].question:
            cell.source = one.wrong[0].source
    nbformat.write(notebook, tmp_path / f"{name}.ipynb")
    earned, possible = verify.otter_points(archive, tmp_path / f"{name}.ipynb")
    assert 0 <= earned < possible == one.possible


def test_a_loop_costs_its_question_and_no_variable_tells_the_graders_seed(built, tmp_path):
    one = master.find(NAMES[0], MASTERS)
    answers = one.answers
    question = min(answers, key=[check.question for check in one.checks].count)
    lost = sum(check.points for check in one.checks if check.question == question)
    loop = re.sub(r":\n(?s:.*)", ":\n    while True: pass", answers[question], count=1)
    peeks = f"found = [n for n, v in globals().items() if v == {one.seeds[1]}]\nassert found == [], found"
    first = next(iter(answers))
    changed = {**answers, question: loop, first: f"{peeks}\n{answers[first]}"}
    assert handed_in(built, tmp_path, changed) == (one.possible - lost, one.possible)


TRICK = """
from pathlib import Path
assert "80101" in "".join(path.read_text() for path in Path("tests").glob("*.py"))
from otter.test_files.exception_test import test_case
test_case.call_func = lambda *a: None
"""


def test_what_the_page_admits_of_otter_is_so(built, tmp_path):
    """A submission reads hidden tests and gives itself all points; should otter close this, the page says so."""
    one = master.find(NAMES[0], MASTERS)
    stubs = {question: master.stripped(source) for question, source in one.answers.items()}
    assert handed_in(built, tmp_path, stubs, TRICK) == (one.possible, one.possible)


# Texts


def test_texts_of_all_students_are_written_and_a_broken_file_costs_nobody_else(built, tmp_path):
    notebook = student_notebook(built, NAMES[0])
    (place,) = [n for n, cell in enumerate(notebook.cells) if cell.metadata.get("textsan") == {"text": "q4"}]
    notebook.cells[place].source = "Column maxima."
    notebook.cells.insert(place + 1, nbformat.v4.new_markdown_cell("And a second thought."))
    notebook.cells.insert(place + 2, nbformat.v4.new_code_cell("1 + 1"))
    for who in ("ann", "group/ann"):
        (tmp_path / "in" / who).parent.mkdir(exist_ok=True, parents=True)
        nbformat.write(notebook, tmp_path / "in" / f"{who}.ipynb")
    (tmp_path / "in" / "kim.ipynb").write_text("no notebook")
    nbformat.write(nbformat.v4.new_notebook(), tmp_path / "in" / "lea.ipynb")
    result = CliRunner().invoke(main, ["course", "texts", str(tmp_path / "in"), "-o", str(tmp_path / "out")])
    assert result.exit_code == 1 and "2 could not be read" in result.output
    assert "kim.ipynb: no notebook" in result.output and "lea.ipynb: it holds no cell" in result.output
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["ann.md", "group-ann.md"]
    assert (tmp_path / "out" / "ann.md").read_text() == (
        "# ann\n\n## q4\n\nColumn maxima.\n\nAnd a second thought.\n\n```python\n1 + 1\n```\n\n"
        "## open\n\n*Your answer here.*\n"
    )


# Mutants


# Proofs


CALL = master.Check("q1", 1, False, "checks.channels.rows_sum_to_one(response, seed=seed)", 1)
OTHER = replace(CALL, source="checks.channels.tight_of_response(tight, seed=seed)")


@pytest.mark.parametrize(
    "answer, said",
    [
        ("import numpy as np\ndef response(n, e): return np.full((n, n), 1 / n)", ""),
        ("def response(n, e): return 'half'", "AssertionError: "),
        ("response = (", "there is no `response` yet"),
        ("import os\ndef response(n, e): os._exit(0)", "its process ended"),
    ],
)
def test_an_answer_is_run_in_a_process_and_costs_its_own_checks(answer, said):
    first, second = verify.run([("q1", answer)], [CALL, OTHER], seconds=60)
    assert said in first and bool(said) == bool(first)
    assert "there is no `tight` yet" in second or said == "its process ended"


def test_a_loop_in_an_answer_costs_one_check():
    loops = {}
    exec("def response(n, e):\n    while True: pass", loops)
    said = [again.failure(loops, check.code, 0.2) for check in (CALL, OTHER)]
    assert said[0] == "TimeoutError: it ran for more than 0.2 seconds: is there an endless loop?"
    assert "there is no `tight` yet" in said[1]


def test_a_process_that_never_comes_back_is_killed():
    said = verify.run([(None, "while True: pass")], [CALL], seconds=1)
    assert said == ["it ran for more than 1 seconds: is there an endless loop?"]


PLANTED = {
    "as it stands": ("", "", None),
    "solution": (
        "    return min(max(meant, 0.0), 1.0)\n",
        "    return meant\n",
        "the solution fails is_a_share with the student's seed",
    ),
    "caught by another": (
        ":caught: is_a_share",
        ":caught: is_right_on_average",
        "is_right_on_average does not catch 'leaves the range'",
    ),
    "none hard-coded": (":name: hard-coded one half", ":name: guesses", "none of its wrong answers is hard-coded"),
    "weak check": (
        "checks.coins.is_a_share(estimate",
        "checks.coins.is_defined(estimate",
        "is_a_share does not catch 'leaves the range'",
    ),
    "weak checks": (
        "checks.coins.is_",
        "checks.coins.is_defined(estimate, seed=seed) #",
        "mutants are caught, but 8",
    ),
    "seeds": ("grader: 89090", "grader: 90", "MasterError: seeds.md: course: seed"),
    "nothing hidden": (":hidden: q1", ":check: q1", "q1 needs a visible check and a hidden one"),
}


@pytest.fixture(scope="module")
def planted(tmp_path_factory):
    """Proofs of the page's example and of changed copies, by a copy of the package that has its checks."""
    folder = tmp_path_factory.mktemp("planted")
    ((_, written),), ((_, program),) = fenced("markdown"), fenced("python")
    shutil.copytree(ROOT / "textsan_book", folder / "textsan_book", ignore=shutil.ignore_patterns("__pycache__"))
    package = folder / "textsan_book" / "course" / "checks"
    (package / "coins.py").write_text(
        f"{program}\n\ndef is_defined(estimate, *, seed):\n    estimate(0.5, 0.1)\n", encoding="utf-8"
    )
    door = (package / "__init__.py").read_text(encoding="utf-8")
    (package / "__init__.py").write_text(door.replace("    channels,\n", "    channels,\n    coins,\n", 1))
    for name, (before, after, _) in PLANTED.items():
        assert before in written
        changed = written.replace(before, after) if before else written
        (folder / f"{name}.md").write_text(changed, encoding="utf-8")
    script = folder / "prove.py"
    script.write_text(
        "import dataclasses, json, pathlib\n"
        "from textsan_book.course import verify\n"
        "if __name__ == '__main__':\n"
        "    paths = sorted(pathlib.Path(__file__).parent.glob('*.md'))\n"
        "    found = verify.verify(paths, otter=False)\n"
        "    print(json.dumps({proof.assignment: dataclasses.asdict(proof) for proof in found}))\n"
    )
    paths = os.pathsep.join([str(folder), str(ROOT)])
    environment = {**os.environ, "PYTHONPATH": paths}
    done = subprocess.run(
        [sys.executable, str(script)], env=environment, cwd=folder, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize("name", PLANTED)
def test_the_pages_example_is_proved_and_what_is_planted_is_noticed(planted, name):
    found, said = planted[name], PLANTED[name][2]
    if said is None:
        assert found["faults"] == [] and found["wrong"] == 3 and found["caught"] >= 8
    else:
        assert any(said in fault for fault in found["faults"]), found["faults"]


def test_a_leak_is_found_in_sources_outputs_and_metadata(coin, tmp_path):
    one = master.read(coin)
    secret = "meant = (said - turned) / (1 - 2 * turned)"
    for number, (cell, metadata) in enumerate(
        [
            (nbformat.v4.new_code_cell(f"x = 1\n{secret}"), {}),
            (nbformat.v4.new_code_cell("1", outputs=[nbformat.v4.new_output("stream", text=f"{secret}\n")]), {}),
            (nbformat.v4.new_code_cell("1"), {"note": f"use {secret}"}),
        ]
    ):
        path = tmp_path / f"{number}.ipynb"
        nbformat.write(nbformat.v4.new_notebook(cells=[cell], metadata=metadata), path)
        assert verify.leaks(one, path) == [secret]
    (tmp_path / "seed.py").write_text("seed = 89090")
    assert verify.leaks(one, tmp_path / "seed.py") == ["seed 89090"]
    clean = tmp_path / "clean.ipynb"
    nbformat.write(nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("turned")]), clean)
    assert verify.leaks(one, clean) == []


def test_solutions_are_in_no_page_of_the_book():
    contents = (ROOT / "_toc.yml").read_text()
    assert "masters" not in contents and "solution" not in contents
    pages = [*ROOT.glob("*.md"), *(ROOT / "book").glob("*.md"), *(ROOT / "book").glob("[ps]*/*.md")]
    for path in master.masters(MASTERS):
        one = master.read(path)
        for page in pages:
            assert [line for line in verify.leaks(one, page, least=48) if "seed" not in line] == [], (
                one.name,
                page,
            )


def test_the_command_fails_where_an_assignment_is_not_proved(coin):
    coin.write_text(coin.read_text().replace("grader: 89090", "grader: 90"))
    result = CliRunner().invoke(main, ["course", "verify", "--masters", str(coin.parent)])
    assert result.exit_code == 1 and "1 of 1 assignments are not proved" in result.output
    assert "90-a-coin: MasterError" in result.output


def test_a_smaller_run_proves_a_third_that_the_commit_draws(monkeypatch):
    proved = []
    monkeypatch.setattr(verify, "verify", lambda paths, **_: proved.append(paths) or [])
    for commit in ("0b12dbc", "1b12dbc", None):
        monkeypatch.setattr(build, "commit", lambda folder, commit=commit: commit)
        assert CliRunner().invoke(main, ["course", "verify", "--drawn"]).exit_code == 0
    *draws, everything = proved
    assert everything == master.assignments() and draws[0] != draws[1]
    assert [len(draw) for draw in draws] == [-(-len(everything) // 3)] * 2


# The pages


def test_commands_of_the_page_exist():
    lines = [line for _, text in fenced("bash") for line in text.splitlines()]
    found = [shlex.split(line.partition("textsan ")[2]) for line in lines if "bin/textsan " in line]
    assert {name for _, name, *_ in found} == {"build", "texts", "verify"}
    for group, name, *rest in found:
        command = main.get_command(None, group).commands[name]
        with command.make_context(name, rest, resilient_parsing=True) as context:
            assert {one for one in rest if one.startswith("-")} <= {
                opt for option in command.params for opt in option.opts
            }
            assert context.params
