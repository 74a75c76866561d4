"""The course: masters are read strictly, submissions are held, no grade is lost, proofs notice what is planted."""

import ast
import json
import os
import re
import shlex
import subprocess
import sys
import types
from pathlib import Path

import nbformat
import numpy as np
import pytest
import yaml
from click.testing import CliRunner
from hypothesis import given, settings, strategies as st

from textsan.cli.main import main
from textsan_book.course import checks, child, grading, master, mutants, sandbox, verify, versions

ROOT = Path(__file__).parents[1]
MASTERS = ROOT / "book" / "course" / "masters"
PAGE = (ROOT / "book" / "pages" / "course-instructors.md").read_text(encoding="utf-8")


def fenced(language):
    """The blocks of the page for instructors, in a language."""
    return re.findall(rf"^(`{{3,}}){language}\n(.*?)^\1$", PAGE, re.MULTILINE | re.DOTALL)


@pytest.fixture(scope="module")
def pen():
    with sandbox.Pen() as pen:
        yield pen


@pytest.fixture
def coin(tmp_path, monkeypatch):
    """The assignment that the page for instructors adds, as it stands there."""
    (written,) = [text for _, text in fenced("markdown")]
    (program,) = [text for _, text in fenced("python")]
    module = types.ModuleType("coins")
    exec(program, module.__dict__)
    monkeypatch.setattr(checks, "coins", module, raising=False)
    path = tmp_path / "90-a-coin.md"
    path.write_text(written, encoding="utf-8")
    return path


def proof(path):
    (found,) = verify.verify([path], graders=False)
    return found


# Masters


def test_there_is_an_assignment_for_every_part_with_all_that_is_wanted():
    read = [master.read(path) for path in master.masters(MASTERS)]
    assert len(read) >= 10
    parts = (
        "channels and guarantees, optimal attacks, the evaluation, language models, utility, vectors, gradients"
    )
    assert {one.about["part"].lower() for one in read} == set(parts.split(", "))
    for one in read:
        kinds = [master.role(cell) for cell in one.cells]
        assert {"check", "hidden", "text", "answer"} <= set(kinds) and kinds.count("wrong") >= 3
        texts = [cell for cell in one.cells if master.role(cell) == "text"]
        assert all("**Rubric.**" in cell.source for cell in texts)
        assert texts[-1].metadata["text"] == "open" and len(texts) >= 2
        assert (ROOT / "book").is_dir() and all(
            list((ROOT / "book").glob(f"{n:02d}-*")) for n in one.about["chapters"]
        )
        assert f"| {one.name[:2]} {one.about['title']} |" in PAGE
        chapters = ", ".join(map(str, one.about["chapters"]))
        assert f"{chapters} | {one.about['minutes']} |" in re.sub(r"\[(\d+)\]\(/notebooks/[^)]+\)", r"\1", PAGE)


@pytest.mark.parametrize(
    "before, after, said",
    [
        ("    # END SOLUTION\n", "", "an answer needs the lines"),
        (":hidden: q1", ":hidden: q7", "'q7' is no question"),
        (":points: 1", ":points: 0", "points must be"),
        ("grader: 89090", "grader: 90", "must differ"),
        ("seed = 90\n", "seed = 91\n", "needs the line seed = 90"),
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
    with pytest.raises(KeyError, match="'99' is none; choose from 01-"):
        master.find("99", MASTERS)
    with pytest.raises(FileNotFoundError, match="holds no master"):
        master.masters(ROOT / "tests")


def test_a_cohort_has_seeds_of_its_own_in_all_versions():
    one = master.find("01", MASTERS)
    theirs, others = one.for_cohort(2027), one.for_cohort(2028)
    seeds = [*one.seeds, *theirs.seeds, *others.seeds]
    assert len(set(seeds)) == 6
    sources = "\n".join(cell.source for cell in versions.nbgrader_source(theirs).cells)
    assert f"\nseed = {theirs.seeds[0]}" in sources and f"\nseed = {theirs.seeds[1]}\n" in sources
    assert str(one.seeds[1]) not in sources
    assert one.for_cohort(2027).seeds == theirs.seeds


def test_corpora_are_small_for_the_verifier_and_large_for_students():
    (path,) = MASTERS.glob("06-*.md")
    assert "size=400" in str(master.read(path).checks) and "size=60" in str(master.read(path, full=False).checks)


# Versions


def test_versions_hold_what_their_reader_may_see(coin, tmp_path):
    shown = versions.build(master.read(coin), tmp_path / "out")
    assert len(shown) == 3
    student = nbformat.read(tmp_path / "out" / "student" / "90-a-coin.ipynb", as_version=4)
    text = nbformat.writes(student)
    assert "meant = " not in text and "is_a_share" not in text and "Rubric" not in text and "89090" not in text
    assert "is_right_on_average" in text and "raise NotImplementedError()" in text and "YOUR ANSWER HERE" in text
    solution = (tmp_path / "out" / "solution" / "90-a-coin.ipynb").read_text()
    assert all(one in solution for one in ("meant = ", "is_a_share", "Rubric", "89090"))
    assert "believes what is said" not in solution and "return said\\n" not in solution
    assert (tmp_path / "out" / "autograder" / "90-a-coin.zip").is_file()


# What submissions cannot do


FORBIDDEN = {
    "import socket; socket.create_connection(('10.0.0.1', 80), 1)": "it opens a network connection",
    "import urllib.request; urllib.request.urlopen('http://example.org', timeout=1)": "network",
    "open('/tmp/mine', 'w')": "it writes to /tmp/mine, outside of its folder",
    "import os; os.mkdir('/tmp/mine')": "it changes /tmp/mine",
    "import os; os.rename('/tmp', '/tmp2')": "it changes /tmp",
    f"open({str(MASTERS / '08-hashed-names.md')!r}).read()": "it reads",
    "import subprocess; subprocess.run(['ls'])": "it starts another program",
    "import os; os.fork()": "it starts another program",
    "import os; os.kill(os.getppid(), 9)": "it sends signals",
    "import ctypes; ctypes.CDLL(None)": "it loads machine code",
    "while True: pass": "it ran for more than 1 seconds",
    "import os; os._exit(0)": "its process ended",
    "raise SystemExit": "SystemExit",
    "return object()": "it returns object, but checks take",
    "return lambda: 1": "it returns function, but checks take",
    "def f(): return f()\n    return f()": "RecursionError",
    "import numpy; numpy.ones((1 << 40,))": "MemoryError",
}


@pytest.mark.parametrize("attempt", FORBIDDEN)
def test_what_a_submission_may_not_is_said_in_one_line(pen, attempt):
    with pen.run([("q1", f"def answer():\n    {attempt}")], seconds=1 if "while" in attempt else 30) as submission:
        with pytest.raises(sandbox.AnswerError) as error:
            submission.get("answer")()
    assert FORBIDDEN[attempt] in str(error.value) and "\n" not in str(error.value)


def test_what_a_submission_may_it_can(pen):
    program = """
def answer():
    with open("mine.txt", "w") as file:
        file.write("kept")
    import numpy, textsan, statistics
    return open("mine.txt").read(), numpy.eye(2), {"a": {1, 2}}, float("inf"), None
"""
    with pen.run([("q1", program)], seconds=60) as submission:
        word, matrix, words, large, nothing = submission.get("answer")()
        assert submission.get("other") is None and submission.errors == {}
    assert (word, words, large, nothing) == ("kept", {"a": {1, 2}}, float("inf"), None)
    assert (matrix == np.eye(2)).all()


def test_one_submission_leaves_nothing_for_the_next(pen):
    with pen.run(
        [("q1", "import numpy\nnumpy.pi = 3\nopen('left', 'w').write('x')\ndef a(): return 1")], seconds=9
    ) as one:
        assert one.get("a")() == 1
    with pen.run([("q1", "import numpy, os\ndef a(): return [numpy.pi, os.listdir()]")], seconds=9) as other:
        assert other.get("a")() == [np.pi, []]


def test_nothing_is_imported_from_the_folder_that_the_grader_stands_in(tmp_path, monkeypatch):
    """Where it is the clone, another copy of the checks lies there; where it is the submissions', anything."""
    (tmp_path / "textsan_book").mkdir()
    (tmp_path / "textsan_book" / "__init__.py").write_text("raise SystemExit('a student wrote this')")
    monkeypatch.chdir(tmp_path)
    with (
        sandbox.Pen() as pen,
        pen.run([("q1", "import textsan_book\ndef a(): return 1")], seconds=30) as submission,
    ):
        assert submission.get("a")() == 1 and submission.errors == {}


@pytest.mark.skipif(sys.platform != "linux" or not child.can_confine(), reason="no Landlock here")
def test_the_kernel_holds_without_python(tmp_path):
    (tmp_path / "own").mkdir()
    program = f"""
import os
from textsan_book.course import child
assert child.without_network() in (True, False)
assert child.only_these_files(["/usr"], {str(tmp_path / "own")!r})
open({str(tmp_path / "own" / "a")!r}, "w").close()
for what in (
    lambda: open({str(tmp_path / "b")!r}, "w"),
    lambda: open({str(ROOT / "README.md")!r}),
    lambda: os.listdir({str(ROOT)!r}),
):
    try:
        what()
    except PermissionError:
        continue
    raise SystemExit(1)
"""
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["a", "own"]


def test_the_network_of_submissions_leads_nowhere(pen):
    if not pen.own_network:
        pytest.skip("no network namespaces here")
    net = f"/proc/{pen._process.pid}/ns/net"
    assert os.readlink(net) != os.readlink("/proc/self/ns/net")


def test_a_submission_cannot_ask_for_another_one(pen):
    program = "import socket, sys\ndef a(): socket.socket(fileno=int(sys.argv[1])).send(b'x')"
    with pen.run([("q1", program)], seconds=9) as one:
        with pytest.raises(sandbox.AnswerError, match="OSError"):
            one.get("a")()


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.tuples(inner, inner) | st.dictionaries(st.text() | st.integers(), inner),
)


@settings(deadline=None)
@given(VALUES)
def test_values_come_back_as_they_were(value):
    assert child.decode(json.loads(json.dumps(child.encode(value)))) == value


def test_arrays_come_back_as_they_were_and_objects_do_not():
    for array in (np.arange(6).reshape(2, 3), np.array(["a", "bc"]), np.zeros((0, 2)), np.array(True)):
        back = child.decode(json.loads(json.dumps(child.encode(array))))
        assert back.dtype == array.dtype and (back == array).all()
    assert child.decode(child.encode(np.array([None, "a"], dtype=object))) == [None, "a"]
    with pytest.raises(TypeError, match="checks take numbers"):
        child.encode([print])


# Grades


def submission(folder, who, answers, name="90-a-coin", drop=()):
    """A student's notebook: the version as handed out with other answers."""
    notebook = versions.nbgrader_source(master.find(name, folder))
    kept = []
    for cell in notebook.cells:
        question = cell.metadata.get("textsan", {}).get("answer")
        if question in drop:
            continue
        if question:
            cell.source = answers.get(question, master.stripped(cell.source, "raise NotImplementedError()"))
        kept.append(cell)
    notebook.cells = kept
    path = folder / "in" / f"{who}.ipynb"
    path.parent.mkdir(exist_ok=True)
    nbformat.write(notebook, path)
    return path


RIGHT = "def estimate(said, turned):\n    return min(max((said - turned) / (1 - 2 * turned), 0.0), 1.0)"
HANDED_IN = {
    "ann": (RIGHT, 2, ""),
    "bob": ("def estimate(said, turned):\n    return said", 1, "this many yes come from another share"),
    "cem": ("def estimate(said, turned):\n    raise NotImplementedError()", 0, "there is no answer yet"),
    "dan": ("def estimate(said, turned):\n    while True: pass", 0, "is there an endless loop?"),
    "eva": ("def estimate(said, turned):\n    return 'half'", 0, "but a number is wanted"),
    "fay": ("def estimate(said, turned):\n    import socket; socket.create_connection(('x', 1))", 0, "network"),
    "gil": ("def estimate(said, turned:\n    return 1", 0, "SyntaxError"),
    "hal": (f"import os\n{RIGHT}\nos._exit(0)", 0, "its process ended"),
    "ida": (f"%matplotlib inline\n!ls\n{RIGHT}", 2, ""),
}


def test_each_gets_what_is_due_and_a_line(coin):
    folder = coin.parent
    for who, (answer, _, _) in HANDED_IN.items():
        submission(folder, who, {"q1": answer})
    submission(folder, "joe", {}, drop=("q1",))
    (folder / "in" / "kim.ipynb").write_text("no notebook")
    (folder / "in" / "lea.ipynb").write_text(nbformat.writes(nbformat.v4.new_notebook()))
    said = []
    grades, broken = grading.grade_all([folder / "in"], folder=folder, seconds=5, say=said.append)
    earned = {grade.who: grade.earned for grade in grades}
    assert earned == {**{who: points for who, (_, points, _) in HANDED_IN.items()}, "joe": 0}
    for grade in grades:
        if grade.who in HANDED_IN:
            assert HANDED_IN[grade.who][2] in " ".join(grade.lines())
    assert "q1: its cell is missing" in " ".join(next(one for one in grades if one.who == "joe").lines())
    assert len(broken) == 2 and all("no submission" in line for line in broken)
    assert not any("\n" in line for line in said) and len(said) >= len(HANDED_IN) + 3
    table = folder / "grades.csv"
    grading.write_table(grades, broken, table)
    assert table.read_text().count("\n") == 1 + len(HANDED_IN) + 3


def test_a_submission_cannot_give_itself_points(coin, pen):
    cheat = """
import sys
from textsan_book.course import checks, grading
for module in (checks, grading):
    for name in dir(module):
        setattr(module, name, lambda *a, **k: True)
class Right(float):
    def __eq__(self, other): return True
def estimate(said, turned):
    return Right(0.123)
"""
    path = submission(coin.parent, "cheat", {"q1": cheat})
    assert grading.grade(path, pen=pen, folder=coin.parent).earned == 0


def test_the_graders_seed_is_what_checks_see(coin, pen):
    peeks = "remembered = seed\n" + RIGHT + "\ndef seen(): return remembered"
    notebook = grading.read_submission(submission(coin.parent, "peek", {"q1": peeks}))
    cells, _ = grading.submitted_cells(notebook, master.read(coin))
    with pen.run(cells, seconds=20) as running:
        assert running.get("seen")() == 89090


def test_the_command_grades_all_and_says_by_its_status_that_one_was_none(coin):
    folder = coin.parent
    one = submission(folder, "ann", {"q1": RIGHT})
    arguments = ["course", "grade", str(one), "--masters", str(folder), "--csv", str(folder / "g.csv")]
    result = CliRunner().invoke(main, arguments)
    assert result.exit_code == 0 and "ann: 2 of 2 points of 90-a-coin" in result.output
    result = CliRunner().invoke(main, [*arguments, str(folder / "gone.ipynb")])
    assert result.exit_code == 1 and "1 could not be graded, 1 were" in result.output
    assert "ann" in (folder / "g.csv").read_text() and "gone" in (folder / "g.csv").read_text()


# Mutants


def test_mutants_differ_from_the_solution_and_from_each_other():
    for path in master.masters(MASTERS):
        one = master.read(path)
        made = mutants.mutants(one)
        assert len(made) == 10 and made == mutants.mutants(one)
        assert len({(mutant.question, ast.unparse(ast.parse(mutant.source))) for mutant in made}) == 10
        for mutant in made:
            assert ast.unparse(ast.parse(mutant.source)) != ast.unparse(ast.parse(one.answers[mutant.question]))


# Proofs


def test_the_pages_example_is_proved(coin):
    found = proof(coin)
    assert found.faults == [] and found.wrong == 3 and found.caught >= 8


@pytest.mark.parametrize(
    "before, after, said",
    [
        ("    return min(max(meant, 0.0), 1.0)\n", "    return meant\n", "the solution fails is_a_share"),
        (":caught: is_a_share", ":caught: is_right_on_average", "does not catch 'leaves the range'"),
        (":name: hard-coded one half", ":name: guesses", "none of its wrong answers is hard-coded"),
        ("checks.coins.is_a_share(estimate", "checks.coins.is_defined(estimate", "mutants are caught, but 8"),
        ("grader: 89090", "grader: 90", "MasterError: 90-a-coin.md: course: seed"),
        (":hidden: q1", ":check: q1", "q1 needs a visible check and a hidden one"),
    ],
)
def test_what_is_planted_is_noticed(coin, before, after, said, monkeypatch):
    monkeypatch.setattr(checks.coins, "is_defined", lambda estimate, seed: estimate(0.5, 0.1), raising=False)
    if "mutants" in said:
        monkeypatch.setattr(checks.coins, "is_right_on_average", lambda estimate, seed: estimate(0.5, 0.1))
    text = coin.read_text()
    assert before in text
    coin.write_text(text.replace(before, after))
    assert any(said in fault for fault in proof(coin).faults)


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
    pages = [*ROOT.glob("*.md"), *(ROOT / "book").glob("*.md"), *(ROOT / "book" / "pages").glob("*.md")]
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


# The leaderboard


def test_attacks_are_ranked_and_one_that_fails_costs_no_place(tmp_path):
    one = master.find("06", MASTERS)
    folder = tmp_path / "in"
    folder.mkdir()
    answers = {
        "markov": one.answers["q1"],
        "counts": next(wrong.source for wrong in one.wrong if wrong.name.startswith("counts")),
        "published": next(wrong.source for wrong in one.wrong if wrong.name.startswith("the published")),
        "wrong-form": "def attack(released, matrix, shadow):\n    return [[99] * len(doc) for doc in released]",
        "peeks": "def attack(released, matrix, shadow):\n    open('/tmp/truth')",
        "none": "x = 1",
    }
    for who, answer in answers.items():
        notebook = versions.nbgrader_source(one)
        for cell in notebook.cells:
            if cell.metadata.get("textsan", {}).get("answer"):
                cell.source = answer
        nbformat.write(notebook, folder / f"{who}.ipynb")
    result = CliRunner().invoke(
        main, ["course", "leaderboard", str(folder), "--seed", "5", "--size", "60", "-o", str(tmp_path / "l.csv")]
    )
    assert result.exit_code == 0, result.output
    rows = [line.split(",") for line in (tmp_path / "l.csv").read_text().splitlines()]
    assert rows[0][:4] == ["place", "who", "gain", "gain_low"]
    assert [row[1] for row in rows[1:3]] == ["markov", "counts"]
    by_who = {row[1]: row for row in rows[1:]}
    assert float(by_who["markov"][3]) > 0
    assert float(by_who["published"][2]) == float(by_who["embedding inversion (published)"][2]) == 0
    for who, said in (
        ("wrong-form", "not among the choices"),
        ("peeks", "it reads /tmp/truth"),
        ("none", "no function"),
    ):
        assert by_who[who][0] == "" and said in ",".join(by_who[who])


# The pages and the workflow


def test_commands_of_the_page_and_the_workflow_exist():
    lines = [line for _, text in fenced("bash") for line in text.splitlines()]
    workflow = yaml.safe_load((ROOT / "book" / "course" / "classroom" / "grade.yml").read_text())
    (job,) = workflow["jobs"].values()
    lines += [line.split("|")[0] for step in job["steps"] for line in step.get("run", "").splitlines()]
    found = [
        shlex.split(line.partition("textsan ")[2])
        for line in lines
        if re.match(r"\s*(\.venv/bin/)?textsan ", line)
    ]
    assert len(found) == 5
    for group, name, *rest in found:
        command = main.get_command(None, group).commands[name]
        with command.make_context(name, [one for one in rest if one != "\\"], resilient_parsing=True) as context:
            assert {one for one in rest if one.startswith("-")} <= {
                opt for option in command.params for opt in option.opts
            }
            assert context.params


def test_the_workflow_never_takes_the_students_word():
    text = (ROOT / "book" / "course" / "classroom" / "grade.yml").read_text()
    workflow = yaml.safe_load(text)
    assert set(workflow[True]) == {"pull_request_target"} and workflow["permissions"] == {"contents": "read"}
    assert "secrets." not in text and text.count("persist-credentials: false") == 2
    installs = [line for line in text.splitlines() if "pip install" in line]
    assert installs and not any("submission" in line for line in installs)


def test_what_the_workflow_takes_from_the_clone_is_there():
    """Both packages are installed, and files lie where it says: the checkout is its folder course/."""
    text = (ROOT / "book" / "course" / "classroom" / "grade.yml").read_text()
    named = re.findall(r"(?<=[ /])course/([\w./-]+)", text)
    assert {"constraints.txt", "textsan_book", "book/course/masters"} <= {*named}
    assert [
        name for name in named if not (ROOT / name).exists() and not (ROOT / "book" / "course" / name).exists()
    ] == []
    assert re.search(r'pip install .*"\./course\[.*course.*\]" \./course/textsan_book$', text, re.MULTILINE)
    page = (ROOT / "book" / "pages" / "course-instructors.md").read_text()
    assert all((ROOT / path).exists() for path in re.findall(r"`(book/course/[\w./-]+\.yml)`", page))


def prerequisites(page):
    """By assignment the chapters that the page's table says to read first."""
    rows = re.findall(r"^\| (\d\d) .*?\|.*?\| (.*?) \| \d+ \|$", page, re.MULTILINE)
    return {int(number): {int(one) for one in re.findall(r"\[(\d+)\]", cell)} for number, cell in rows}


def plans(page):
    """By title of a plan its weeks in their order, each with the chapters read to their end and what is done."""
    found = {}
    for title, body in re.findall(r"^\*\*(\w+ weeks)\.\*\*\n\n((?:\|.*\n)+)", page, re.MULTILINE):
        for week in re.findall(r"^\| \d+ \| (.*) \|$", body, re.MULTILINE):
            week = re.sub(r"\[(\d+)\]\([^)]*\)", r"[\1]", week)
            whole = re.sub(r"\[\d+\] up to", "", week)  # a part of it
            read = {int(one) for one in re.findall(r"\[(\d+)\]", whole)}
            for low, high in re.findall(r"\[(\d+)\] to \[(\d+)\]", whole):
                read |= {*range(int(low), int(high) + 1)}
            done = {int(one) for one in re.findall(r"\b\d\d\b", re.sub(r"\[\d+\]", "", week))}
            found.setdefault(title, []).append((read, done))
    return found


def too_soon(page):
    """Each assignment that a plan asks for before its chapters are read, and which these are."""
    first, soon = prerequisites(page), []
    for title, weeks in plans(page).items():
        known = set()
        for number, (read, done) in enumerate(weeks, 1):
            known |= read
            soon += [(title, number, one, first[one] - known) for one in sorted(done) if first[one] - known]
    return soon


def test_plans_keep_the_table_of_prerequisites():
    first = {int(path.name[:2]): {*master.read(path).about["chapters"]} for path in sorted(MASTERS.glob("*.md"))}
    assert prerequisites(PAGE) == first
    assert [(title, len(weeks)) for title, weeks in plans(PAGE).items()] == [
        ("Three weeks", 3),
        ("Six weeks", 6),
        ("Twelve weeks", 12),
    ]
    twelve = plans(PAGE)["Twelve weeks"]
    assert set.union(*(done for _, done in twelve)) == {*first}
    assert too_soon(PAGE) == []


def test_an_assignment_before_its_chapters_is_noticed():
    swapped = PAGE.replace("and [7](/notebooks/07-what-epsilon-means), assignment 01 |", "assignment 01 |", 1)
    assert too_soon(swapped)[0] == ("Three weeks", 1, 1, {7})
    early = PAGE.replace(
        "up to the ladder of attackers, and", "up to the ladder of attackers, assignment 05, and", 1
    )
    assert too_soon(early) == [("Twelve weeks", 5, 5, {10})]


def test_the_students_page_says_what_the_grader_says():
    page = (ROOT / "book" / "pages" / "course-students.md").read_text()
    for said in (
        "there is no answer yet",
        "its cell is missing",
        "is there an endless loop?",
        "it opens a network connection, which a submission may not",
        "outside of its folder",
        "its process ended: out of memory, or it left on its own",
        "a row does not sum to 1: it must say where each word goes, always",
    ):
        assert said in page
        sources = " ".join(path.read_text() for path in (ROOT / "textsan_book" / "course").rglob("*.py"))
        assert said.split(",")[0] in sources, said
