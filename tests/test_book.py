"""The tools that run, check and build chapters, on small books that must pass and small books that must not."""

import os
import platform
import re
import shutil
import subprocess
import sys
from importlib import metadata
from pathlib import Path
from types import SimpleNamespace

import nbformat
import numpy as np
import pytest
import yaml
from click.testing import CliRunner

from textsan.base import kernels
from textsan.cli import main
from textsan_book.chapters import (
    build,
    chapters,
    checked,
    compare,
    dependencies,
    execution,
    paper,
    reading_paths,
    validation,
    varying,
)
from textsan_book.chapters.kernel import figure_data

ROOT = Path(__file__).parents[1]
HEADER = """---
jupytext:
  text_representation:
    extension: .md
    format_name: myst
kernelspec:
  display_name: Python 3 (ipykernel)
  language: python
  name: python3
---

"""
FIRST = (
    HEADER
    + """# First

```{prf:theorem} One
:label: thm-one

$1 + 1 = 2$.
```

```{code-cell} ipython3
:tags: [parameters]

epsilon = 2.0  # privacy
title = "rt, all"  # corpus
sizes = [
    10,
    20,
]
count = 3
strict = True
```

```{code-cell} ipython3
:tags: [nbval-check-output]

epsilon, title, sizes, count, strict
```

```{code-cell} ipython3
---
mystnb:
  figure:
    name: fig-one
    caption: A line
---
from matplotlib import pyplot as plt

_ = plt.plot([0, 1])
```

{numref}`fig-one` and {prf:ref}`thm-one`.

```{code-cell} ipython3
from mill.grind import flour

flour()
```
"""
)
SECOND = (
    HEADER
    + """# Second

```{code-cell} ipython3
for i in range(3):
    print(i, flush=True)
```

```{code-cell} ipython3
from mill.other import estimate

print("accuracy", estimate(), "of 200 pairs")
```

```{code-cell} ipython3
:tags: [varies]

# varies: because it is a clock
import time

time.time_ns()
```
"""
)
# A small project's package: what the first chapter uses of it, what the second, and what nobody does.
MILL = {
    "__init__.py": "",
    "grind.py": """import os
import subprocess
import sys
from pathlib import Path

import yaml

from mill import stones


def flour():
    from mill import inside

    subprocess.run([sys.executable, "-c", "import mill.worker"], check=True)
    data = Path("../data")
    share = yaml.safe_load((data / "scoreboard.yml").read_text())["share"]
    sweeps = [path.read_text() for path in sorted((data / "sweeps").glob("*.yml"))]
    return round(share * stones.WEIGHT + inside.MORE, 4), len(sweeps)
""",
    "stones.py": '"""Stones."""\nfrom mill.quarry import ROCK\n\nWEIGHT = ROCK / 3  # a third\n',
    "quarry.py": "ROCK = 2\n",
    "inside.py": "MORE = 1\n",
    "worker.py": "DONE = True\n",
    "other.py": """import os


def estimate():
    other = os.environ.get("OPENBLAS_CORETYPE") == "Sandybridge"
    return "0.530 [0.480, 0.580]" if other else "0.500 [0.450, 0.550]"
""",
    "unused.py": "import numpy\n",
}


@pytest.fixture(scope="session")
def executed(tmp_path_factory):
    """A two-chapter project with a package of its own, the notebooks executed once; tests work on copies."""
    root = tmp_path_factory.mktemp("executed") / "project"
    root.mkdir()
    for name in ("_config.yml", "jupytext.toml"):
        shutil.copy(ROOT / name, root)
    for name in ("book/_ext", "book/_static"):
        shutil.copytree(ROOT / name, root / name, ignore=shutil.ignore_patterns("__pycache__"))
    (root / "book" / "01-first.md").write_text(FIRST)
    (root / "book" / "02-second.md").write_text(SECOND)
    (root / "_toc.yml").write_text(
        "format: jb-book\nroot: book/pages/index\nchapters:\n"
        "- file: notebooks/01-first\n- file: notebooks/02-second\n"
    )
    (root / "book" / "pages").mkdir()
    (root / "book" / "pages" / "index.md").write_text("# Index\n\n```{tableofcontents}\n```\n")
    (root / "book" / "references.bib").write_text("")
    (root / "data" / "profiles").mkdir(parents=True)
    (root / "data" / "profiles" / "full.yml").write_text("01-first: {epsilon: 8, sizes: [1, 2]}\n")
    (root / "data" / "sweeps").mkdir()
    (root / "data" / "sweeps" / "one.yml").write_text("epsilon: 1\n")
    (root / "data" / "scoreboard.yml").write_text("share: 0.5\n")
    (root / "constraints.txt").write_text(f"# pinned\nPyYAML=={metadata.version('PyYAML')}\nnumpy==0.1\n")
    (root / "mill").mkdir()
    for name, source in MILL.items():
        (root / "mill" / name).write_text(source)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(root), prepend=os.pathsep)
        for chapter in chapters.chapters(root):
            execution.refresh(chapter)
    return root.parent


@pytest.fixture
def project(executed, tmp_path, monkeypatch):
    shutil.copytree(executed, tmp_path, dirs_exist_ok=True)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "project"), prepend=os.pathsep)
    monkeypatch.chdir(tmp_path / "project")
    return tmp_path / "project"


def textsan(*arguments):
    return CliRunner().invoke(main.main, arguments)


def edit(path, old, new):
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def edit_notebook(path, change):
    notebook = nbformat.read(path, as_version=4)
    change(notebook)
    nbformat.write(notebook, path)


def code_cells(notebook):
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


# Which chapter is meant


def test_find_by_number_name_and_prefix(project):
    for wanted in ("1", "01", "01-first", "01-f", "01-first.md", "01-first.ipynb"):
        assert chapters.find(project, wanted).name == "01-first"


@pytest.mark.parametrize("wanted", ["3", "03-third", "", "first"])
def test_unknown_chapter_is_named_with_the_known_ones(project, wanted):
    result = textsan("run", wanted)
    assert result.exit_code == 2
    assert result.output.startswith(f"textsan: chapter: {wanted!r} is no chapter")
    assert "01-first, 02-second" in result.output and result.output.count("\n") == 1


def test_ambiguous_chapter_is_refused(project):
    shutil.copy(project / "book" / "01-first.md", project / "book" / "01-first-more.md")
    assert chapters.find(project, "01-first").name == "01-first"
    with pytest.raises(KeyError, match="more than one chapter; choose from 01-first, 01-first-more"):
        chapters.find(project, "01")


def test_outside_a_project_one_line(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for command in (["run", "1"], ["check"], ["book"]):
        result = textsan(*command)
        assert result.exit_code == 2 and "_toc.yml" in result.output and result.output.count("\n") == 1


# Parameters


def test_parameters_are_the_literals_of_the_cell(project):
    assert chapters.parameters(chapters.find(project, "1")) == {
        "epsilon": 2.0,
        "title": "rt, all",
        "sizes": [10, 20],
        "count": 3,
        "strict": True,
    }
    assert chapters.parameters(chapters.find(project, "2")) == {}


def test_computed_default_is_refused(project):
    edit(project / "book" / "01-first.md", "count = 3", "count = 1 + 2 + len('a')")
    with pytest.raises(ValueError, match="not of the form name = literal"):
        chapters.parameters(chapters.find(project, "1"))


@pytest.mark.parametrize("default", ['"rt # all"', "len('a')", "[1, 2"])
def test_default_that_cannot_be_read_is_refused(project, default):
    edit(project / "book" / "01-first.md", '"rt, all"', default)
    result = textsan("run", "1", "-p", "title", "x")
    assert result.exit_code == 2 and result.output.count("\n") == 1
    assert "01-first: parameters cell: " in result.output and "not of the form name = literal" in result.output


def test_values_take_the_type_of_the_default(project):
    given = {"epsilon": "4", "title": "7", "sizes": "[1, 2,3]", "count": "-5", "strict": "false"}
    values = chapters.checked_parameters(chapters.find(project, "1"), given)
    assert values == {"epsilon": 4.0, "title": "7", "sizes": [1, 2, 3], "count": -5, "strict": False}
    assert isinstance(values["epsilon"], float)


@pytest.mark.parametrize(
    ("name", "value", "wanted"),
    [
        ("epsilon", "high", "a number"),
        ("epsilon", "nan", "a number"),
        ("count", "2.5", "a whole number"),
        ("strict", "1", "true or false"),
        ("sizes", "1,b", "a whole number"),
    ],
)
def test_wrong_type_is_one_line_and_runs_nothing(project, name, value, wanted):
    result = textsan("run", "1", "-p", name, value)
    assert result.exit_code == 2
    assert f"parameter {name}: {value!r}" in result.output and f"pass {wanted}" in result.output
    assert result.output.count("\n") == 1
    assert not (project / "runs").exists() or not list((project / "runs").iterdir())


@pytest.mark.parametrize("value", [True, 2.5, "x", None, [1]])
def test_wrong_type_in_a_profile_is_refused(project, value):
    with pytest.raises(ValueError, match="parameter count"):
        chapters.checked_parameters(chapters.find(project, "1"), {"count": value})


def test_unknown_parameter_names_the_known_ones(project):
    result = textsan("run", "1", "-p", "epsilom", "4")
    assert result.exit_code == 2 and result.output.count("\n") == 1
    assert "01-first has no 'epsilom'" in result.output and "epsilon (2.0)" in result.output
    assert "its parameters are none" in textsan("run", "2", "-p", "epsilon", "4").output


@pytest.mark.parametrize(
    "name, value, line",
    [
        ("epsilon", "-1", "epsilon: -1.0 is out of range; pass a number from 0 to 1e+06"),
        ("epsilon", "1e9", "epsilon: 1000000000.0 is out of range; pass a number from 0 to 1e+06"),
        ("epsilon", "inf", "epsilon: inf is not a number"),
    ],
)
def test_values_without_a_meaning_are_refused_before_anything_runs(project, name, value, line):
    result = textsan("run", "1", "-p", name, value)
    assert result.exit_code == 2 and result.output.count("\n") == 1
    assert line in result.output
    assert not (project / "runs").exists() or not list((project / "runs").iterdir())


def test_an_unknown_data_set_is_refused_before_anything_runs():
    with pytest.raises(KeyError, match="dataset: 'novels' is unknown; known: rt, amazon"):
        chapters.checked_parameters(chapters.find(ROOT, "1"), {"dataset": "novels"})


def test_unknown_profile(project):
    result = textsan("run", "1", "--profile", "big")
    assert result.exit_code == 2 and "choose from quick, full" in result.output


# Running


def test_run_writes_to_runs_only(project):
    before = {
        path: path.read_bytes() for folder in ("book", "notebooks") for path in (project / folder).glob("*.*")
    }
    result = textsan("run", "1", "-p", "title", "a/b c", "--profile", "full")
    assert result.exit_code == 0, result.output
    output = project / result.stdout.splitlines()[-1]
    assert output.parent == project / "runs" and output.suffix == ".ipynb"
    notebook = nbformat.read(output, as_version=4)
    assert notebook.cells[3].outputs[0].data["text/plain"] == "(8.0, 'a/b c', [1, 2], 3, True)"
    assert before == {
        path: path.read_bytes() for folder in ("book", "notebooks") for path in (project / folder).glob("*.*")
    }


def test_failing_cell_is_shown_and_the_partial_notebook_kept(project):
    edit(project / "book" / "02-second.md", "print(i, flush=True)", "print(i / (2 - i))")
    stored = project / "notebooks" / "02-second.ipynb"
    before = stored.read_bytes()
    for command in (["run", "2"], ["book"]):
        result = textsan(*command)
        assert result.exit_code == 1
        assert "print(i / (2 - i))" in result.output and "ZeroDivisionError" in result.output
        partial = nbformat.read(project / "runs" / "02-second.ipynb", as_version=4)
        streams = [o.text for cell in code_cells(partial) for o in cell.outputs if o.output_type == "stream"]
        assert "".join(streams) == "0.0\n1.0\n"
        (project / "runs" / "02-second.ipynb").unlink()
    assert stored.read_bytes() == before
    assert not list((project / "notebooks").glob("*.part"))


def test_a_chapter_that_lacks_a_library_names_the_extra_that_brings_it(project, monkeypatch):
    monkeypatch.setattr(execution.extras, "install_line", lambda library: f"pip install 'textsan[of {library}]'")
    edit(project / "book" / "02-second.md", "print(i, flush=True)", "import nowhere.at_all")
    result = textsan("run", "2")
    assert result.exit_code == 1
    assert "nowhere is not installed; pip install 'textsan[of nowhere]'" in result.output


# What is stored


def test_executed_notebooks_are_sound_and_plain(project):
    assert build.stored_faults(project) == []
    for path in (project / "notebooks").iterdir():
        notebook = nbformat.read(path, as_version=4)
        nbformat.validate(notebook)
        assert set(notebook.metadata) == {"kernelspec", "language_info", "textsan"}
        assert all(set(cell.metadata) <= {"tags", "mystnb"} for cell in notebook.cells)
        assert str(project.parent) not in path.read_text()
    assert code_cells(notebook)[0].outputs[0].text == "0\n1\n2\n"  # three messages, one output


def test_equal_execution_rewrites_nothing(project):
    """What compares equal stays: a last digit, a cell that varies."""
    edit_notebook(project / "notebooks" / "01-first.ipynb", last_digit)
    before = {path: path.read_bytes() for path in (project / "notebooks").iterdir()}
    assert not any(execution.refresh(chapter) for chapter in chapters.chapters(project))
    assert {path: path.read_bytes() for path in (project / "notebooks").iterdir()} == before


def test_new_key_around_equal_outputs(project):
    """A change that shows nothing new changes the record of what was used, and no output."""
    path = project / "notebooks" / "01-first.ipynb"
    edit_notebook(path, last_digit)
    before = nbformat.read(path, as_version=4)
    edit(project / "mill" / "stones.py", "ROCK / 3", "2 * ROCK / 6")
    assert not execution.refresh(chapters.find(project, "1"))
    after = nbformat.read(path, as_version=4)
    assert after.cells == before.cells
    changed = {
        name
        for name, digest in after.metadata.textsan.files.items()
        if digest != before.metadata.textsan.files[name]
    }
    assert changed == {"mill/stones.py"}


def test_other_outputs_are_stored_anew(project):
    path = project / "notebooks" / "01-first.ipynb"
    before = path.read_bytes()
    edit_notebook(path, middle_digit)
    assert execution.refresh(chapters.find(project, "1"))
    assert path.read_bytes() == before


def last_digit(notebook):
    output = code_cells(notebook)[3].outputs[0]
    assert output.data["text/plain"] == "(1.3333, 1)"
    output.data["text/plain"] = "(1.3334, 1)"


def middle_digit(notebook):
    code_cells(notebook)[3].outputs[0].data["text/plain"] = "(1.3433, 1)"


def other_count(notebook):
    code_cells(notebook)[3].outputs[0].data["text/plain"] = "(1.3333, 2)"


def other_word(notebook):
    code_cells(notebook)[1].outputs[0].data["text/plain"] = "(2.0, 'rt, none', [10, 20], 3, True)"


def other_line(notebook):
    lines = code_cells(notebook)[2].outputs[0].metadata[compare.FIGURE_DATA]
    assert lines[-1].endswith("1.000e+00 1.000e+00")
    lines[-1] = f"{lines[-1][:-9]}1.100e+00"


def one_interval_off(notebook):
    code_cells(notebook)[1].outputs[0].text = "accuracy 0.600 [0.550, 0.650] of 200 pairs\n"


def gap(notebook):
    code_cells(notebook)[1].execution_count = 5


def never_run(notebook):
    code_cells(notebook)[1].execution_count = None


def error(notebook):
    code_cells(notebook)[1].outputs = [
        nbformat.v4.new_output("error", ename="KeyError", evalue="'x'", traceback=[])
    ]


def other_source(notebook):
    code_cells(notebook)[1].source += "  # edited"


def other_tags(notebook):
    del code_cells(notebook)[1].metadata["tags"]


def no_caption(notebook):
    del code_cells(notebook)[2].metadata["mystnb"]


def idle_tag(notebook):
    code_cells(notebook)[1].metadata["tags"] = ["NBVAL_CHECK_OUTPUT"]


def one_cell_more(notebook):
    notebook.cells.append(nbformat.v4.new_markdown_cell("more"))


@pytest.mark.parametrize(
    ("spoil", "fault"),
    [
        (gap, "execution counts are [1, 5, 3, 4], not 1 to 4"),
        (never_run, "execution counts are [1, None, 3, 4], not 1 to 4"),
        (error, "cell 2 stores an error: KeyError"),
        (other_source, "text and notebook differ from cell 3"),
        (other_tags, "text and notebook differ from cell 3"),
        (idle_tag, "cell 2 has the tag NBVAL_CHECK_OUTPUT; nbval knows nbval-check-output"),
        (no_caption, "text and notebook differ from cell 4"),
        (one_cell_more, "text and notebook differ from cell 7"),
    ],
)
def test_spoiled_notebook_fails_the_check(project, spoil, fault):
    edit_notebook(project / "notebooks" / "01-first.ipynb", spoil)
    result = textsan("check")
    assert result.exit_code == 1
    assert f"01-first: {fault}" in result.output


@pytest.mark.parametrize("half", ["book/01-first.md", "notebooks/01-first.ipynb"])
def test_missing_half_fails_the_check(project, half):
    (project / half).unlink()
    result = textsan("check")
    assert result.exit_code == 1 and f"01-first: {half} is missing" in result.output


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("saved to /home/ada/textsan/x.csv", "a local path"),
        ("File '/usr/lib/python3/site.py'", "a local path"),
        ("~/data", "a local path"),
        (r"C:\Users", "a local path"),
        ("<Foo object at 0x7f3a2c1d>", "a memory address"),
        ("findfont: Font family ['STIXGeneral'] not found.", "a font that this machine lacks"),
        ("took 3.21 s", "a timing"),
        ("12.5ms per document", "a timing"),
        (" 50%|##   | 1/2 [00:01<00:01,  1.2it/s]", "a timing"),
        ("Wall time: 3 s", "a timing"),
    ],
)
def test_unstable_text_is_found(text, what):
    for output in (
        nbformat.v4.new_output("stream", text=text),
        nbformat.v4.new_output("execute_result", {"text/plain": text}, execution_count=1),
        nbformat.v4.new_output("display_data", {"text/html": f"<b>{text}</b>", "image/png": "AAAA"}),
    ):
        cell = nbformat.v4.new_code_cell("x", outputs=[output], execution_count=1)
        faults = build.notebook_faults(nbformat.v4.new_notebook(cells=[cell]))
        assert [fault for fault in faults if fault.startswith(f"cell 1 stores {what}: ")], faults


@pytest.mark.parametrize(
    "text",
    [
        "and/or 1/2 2026/11/21 he / she",
        "http://example.org/a/b //t.co/ab",
        "<td>1</td><br/></b></i>",
        "in 30 seconds, 5 min, 2 s; mean 1.5 shots, 0.25 msgs, Pr = 0.5",
        "epsilon 0x10 colour 0xff00",
        "km/h/s and w/o",
    ],
)
def test_harmless_text_passes(text):
    cell = nbformat.v4.new_code_cell("x", outputs=[nbformat.v4.new_output("stream", text=text)], execution_count=1)
    assert build.notebook_faults(nbformat.v4.new_notebook(cells=[cell])) == []


def test_exceptions_are_counted_and_say_why(project):
    assert build.exceptions(project) == ["02-second: cell 3 varies, because it is a clock"]
    for spoilt in ("a clock", "varies: clock", "varies: because"):
        cell = nbformat.v4.new_code_cell(f"# {spoilt}\n1", metadata={"tags": ["varies"]}, execution_count=1)
        faults = build.notebook_faults(nbformat.v4.new_notebook(cells=[cell]))
        assert faults == ["cell 1 has the tag varies; its first line must be '# varies: because ...'"]


@pytest.mark.parametrize(
    ("second", "outputs", "expected"),
    [
        ("print(mean(found))", True, True),
        ("def show():\n    return found\n\n\nprint(show())", True, True),
        ("%time print([f for f in found])\n!ls", True, False),  # what a magic reads is a string to Python
        ("%matplotlib inline\nprint([f for f in found])", True, True),
        ("found = sorted(found)\nprint(found)", True, True),  # read before it is bound anew
        ("print(rows)", True, True),  # filled there, and bound before
        ("for row in rows:\n    print(row)", True, True),
        ("plt.show()", True, False),  # a module is no result
        ("best = found[0]", False, False),  # shows nothing
        ("found = 1\nprint(found)", True, False),  # made anew
        ("print([found for found in (1, 2)])", True, False),  # a loop's own
        ("def f(found):\n    return found\n\n\nprint(f(1))", True, False),  # an argument
    ],
)
def test_what_a_varying_cell_made_is_not_compared_when_another_cell_shows_it(second, outputs, expected):
    """Whether a chapter agrees must not hang on the processor; a cell that was tagged has readers."""
    printed = [nbformat.v4.new_output("stream", text="0.591")]
    first = nbformat.v4.new_code_cell(
        "# varies: because of rounding\nfound = search()\nrows.append(1)\nplt.close()",
        metadata={"tags": ["varies"]},
        execution_count=2,
    )
    start = nbformat.v4.new_code_cell("import matplotlib.pyplot as plt\n\nrows = []", execution_count=1)
    cells = [
        start,
        first,
        nbformat.v4.new_code_cell(second, outputs=printed if outputs else [], execution_count=3),
    ]
    cells.append(nbformat.v4.new_code_cell("other = 1\nprint(other)", outputs=printed, execution_count=4))
    faults = build.notebook_faults(nbformat.v4.new_notebook(cells=cells))
    name = "rows" if "rows" in second else "found"
    assert faults == ([f"cell 3 shows {name} of a cell that varies; it varies, too"] if expected else [])
    first.metadata["tags"] = []
    assert not list(varying.shown_in_vain(cells))


@pytest.mark.parametrize("tag", ["nbval-skip", "nbval-ignore-output"])
def test_no_cell_is_left_out_without_a_reason(tag):
    cell = nbformat.v4.new_code_cell("1", metadata={"tags": [tag]}, execution_count=1)
    (fault,) = build.notebook_faults(nbformat.v4.new_notebook(cells=[cell]))
    assert fault.startswith(f"cell 1 has the tag {tag}; an exception has the tag varies")


@pytest.mark.skipif(platform.machine().lower() not in ("x86_64", "amd64"), reason="has one set of kernels")
def test_check_with_other_kernels_lists_what_moved(project, capfd):
    edit_notebook(project / "notebooks" / "01-first.ipynb", last_digit)
    result = textsan("check", "--as", "sandybridge")
    printed = capfd.readouterr().out
    assert result.exit_code == 0, printed
    assert "estimates are compared by interval: kernels of sandybridge" in result.output
    assert "1 estimates moved within their intervals" in printed
    assert (
        "02-second: cell 2, stdout: stored 'accuracy 0.500 [0.450, 0.550] of 200 pairs', "
        "now 'accuracy 0.530 [0.480, 0.580] of 200 pairs'\n"
    ) in printed


@pytest.mark.parametrize(
    ("change", "exactly", "by_interval"),
    [(None, True, True), ("within", False, True), ("outside", False, False), ("count", False, False)],
)
@pytest.mark.parametrize("why", ["", "--as", "no record", "not pinned there"])
def test_which_comparison_holds(monkeypatch, change, exactly, by_interval, why):
    """Exactly with the kernels of the record; by interval with others, here or where the notebook was made."""
    new = {None: (0.5, 200), "within": (0.53, 200), "outside": (0.6, 200), "count": (0.5, 201)}[change]
    stored, now = (f"{v:.2f} [{v - 0.05:.2f}, {v + 0.05:.2f}] of {n} pairs" for v, n in ((0.5, 200), new))
    record = dependencies.of_run(ROOT, [], [], 0, "kernels of aarch64" if why == "not pinned there" else "")
    notebook = printed(stored)
    notebook.metadata = {} if why == "no record" else {"textsan": record}
    file = SimpleNamespace(nb=notebook, path=Path("1.ipynb"))
    item = SimpleNamespace(cell=notebook.cells[0], cell_num=0, parent=file, user_properties=[])
    monkeypatch.delenv(compare.BY_INTERVAL, raising=False)
    if why == "--as":
        monkeypatch.setenv(compare.BY_INTERVAL, "kernels of sandybridge")
    equal = validation._compares_equal(item, printed(now).cells[0].outputs, notebook.cells[0].outputs)
    assert equal == (by_interval if why else exactly)
    assert bool(item.comparison_traceback) != equal
    if why and change == "within":
        assert item.user_properties == [("moved", f"1: cell 1, stdout: stored {stored!r}, now {now!r}")]
    else:
        assert item.user_properties == []


def test_check_compares_every_output_and_executes_what_differs_from_its_record(project, capfd, monkeypatch):
    """A whole check writes the record; one that draws executes the chapter that has changed since, and says so."""
    monkeypatch.setattr(execution, "not_pinned", lambda: "")
    first, second = (project / "notebooks" / name for name in ("01-first.ipynb", "02-second.ipynb"))
    edit_notebook(first, last_digit)
    (project / "data" / "settings.yml").write_text("01-first: [{count: 4}]\n")
    result = textsan("check", "--full")
    assert result.exit_code == 0, result.output
    assert "02-second: cell 3 varies, because it is a clock" in result.output
    assert "every output is as stored; 1 cells are exceptions" in result.output
    assert re.search(r"01-first with count = 4: \d+\.\d s", result.output)
    assert "4" in (project / "runs" / "01-first-count=4.ipynb").read_text()
    record = checked.read(project)
    assert {name: one["key"] for name, one in record.items()} == {
        chapter.name: checked.key(chapter) for chapter in chapters.chapters(project)
    }
    assert all(one["seconds"] > 0 for one in record.values()) and record["01-first"]["settings"][0] > 0

    for change in (middle_digit, other_word, other_line):
        edit_notebook(first, change)
    edit_notebook(second, one_interval_off)
    capfd.readouterr()
    result = textsan("check", "--drawn")
    assert result.exit_code == 1
    assert "01-first does not run, or shows something else than it stores\n02-second does not run" in result.output
    assert "2 of 2 chapters are executed:\n  01-first: differs from data/checked.yml\n" in result.output
    assert re.search(r"\d s  01-first  \(recorded: \d+\.\d\)", result.output)
    printed = capfd.readouterr().out
    assert "cell 2, output 1, text/plain: stored" in printed and "rt, none" in printed
    assert "cell 3, output 1, figure-data: stored" in printed
    assert "cell 4, output 1, text/plain: stored '(1.3433, 1)', now '(1.3333, 1)'" in printed
    assert "cell 2, stdout: stored 'accuracy 0.600 [0.550, 0.650] of 200 pairs', now 'accuracy 0.500" in printed
    assert checked.read(project) == record


def test_a_whole_check_names_every_setting_that_fails_and_keeps_no_record(project, monkeypatch):
    (project / "data" / "settings.yml").write_text("01-first: [{count: 4}, {title: other}]\n02-second: []\n")
    edit(project / "book" / "01-first.md", "flour()\n```", 'flour()\nassert count < 4 and title == "rt, all"\n```')
    monkeypatch.setattr(build, "stored_faults", lambda root, only: [])  # of this text no notebook is stored
    monkeypatch.setattr(execution, "stale_because", lambda chapter: [])
    monkeypatch.setattr(build, "_execute_and_compare", lambda root, names, other, say: ({}, set()))
    result = textsan("check", "--full")
    assert result.exit_code == 1 and not (project / checked.RECORD).exists()
    assert re.findall(r"01-first with (.*): 01-first: cell 5 failed", result.output) == [
        "count = 4",
        "title = other",
    ]


# Comparison


def notebook_of(*outputs, tags=()):
    cell = nbformat.v4.new_code_cell("x", outputs=list(outputs), metadata={"tags": list(tags)})
    return nbformat.v4.new_notebook(cells=[cell])


def printed(text, **options):
    return notebook_of(nbformat.v4.new_output("stream", text=text), **options)


def shown(data, drawn=None, **options):
    metadata = {} if drawn is None else {compare.FIGURE_DATA: drawn}
    return notebook_of(nbformat.v4.new_output("display_data", data, metadata=metadata), **options)


@pytest.mark.parametrize("change", [middle_digit, other_count, other_word, other_line, one_interval_off])
def test_planted_change_is_found(project, change):
    name = "02-second" if change is one_interval_off else "01-first"
    stored = nbformat.read(project / "notebooks" / f"{name}.ipynb", as_version=4)
    changed = nbformat.read(project / "notebooks" / f"{name}.ipynb", as_version=4)
    change(changed)
    assert compare.differences(stored, stored) == []
    assert len(compare.differences(stored, changed)) == len(compare.differences(changed, stored)) == 1


@pytest.mark.parametrize(
    ("stored", "new", "equal"),
    [
        ("0.345 of 116", "0.346 of 116", True),
        ("0.345 of 116", "0.347 of 116", False),
        ("0.345 of 116", "0.345 of 117", False),
        ("santext 0.345", "custext 0.345", False),
        ("-0.000", "+0.000", True),
        ("6e-17", "3e-17", False),
        ("1.0 and 9.99", "1.0 and 10.00", True),
        ("0.30000000000000004", "0.3", True),
        ("0.3", "0.39", False),
        ("[0.5009, 1]", "[0.501, 1]", True),
        ("numpy 2.4.6", "numpy 2.4.7", False),
        ("a  0.50\nbc  1.25", "a  0.50\nbc 1.25", True),
        ("a\n--------\n0.50", "a\n---------\n0.50", True),  # a rule is as long as its column is wide
        ("a -- b", "a - b", False),
        ("two words", "twowords", False),
        ("1.5", "1.5 more", False),
        ("1.5 2.5", "1.5", False),
    ],
)
def test_words_exactly_numbers_to_the_last_digit(stored, new, equal):
    for a, b in ((stored, new), (new, stored)):
        assert (compare.differences(printed(a), printed(b)) == []) == equal


def test_one_digit_in_the_middle_of_a_table_is_found():
    rows = [[f"word{i}", f"{i / 70:.3f}", i] for i in range(60)]

    def table(rows):
        return shown(
            {
                "text/html": "<style>td {margin: 1}</style><table>"
                + "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in rows)
                + "</table>"
            }
        )

    changed = [list(row) for row in rows]
    changed[30][1] = "0.449"  # of 0.429
    (difference,) = compare.differences(table(rows), table(changed))
    assert "0.429" in difference.stored and "word30" in difference.stored and "0.449" in difference.new
    restyled = table(rows)
    data = restyled.cells[0].outputs[0].data
    data["text/html"] = data["text/html"].replace("margin: 1", "margin: 2").replace("<td>", "<td id=1>")
    assert compare.differences(table(rows), restyled) == []


@pytest.mark.parametrize(
    ("new", "equal"),
    [
        ("0.530 [0.480, 0.580] of 200", True),
        ("0.551 [0.501, 0.601] of 200", True),  # a unit of the last digit outside
        ("0.560 [0.510, 0.610] of 200", False),
        ("0.600 [0.550, 0.650] of 200", False),
        ("0.500 [0.300, 0.700] of 200", False),
        ("0.500 [0.510, 0.550] of 200", False),
        ("0.530 [0.480, 0.580] of 201", False),
        ("0.530 of 200", False),
    ],
)
def test_estimates_stay_in_their_interval(new, equal):
    stored = "0.500 [0.450, 0.550] of 200"
    assert (compare.differences(printed(stored), printed(new), by_interval=True) == []) == equal
    if equal:
        assert list(compare.moved_estimates(stored, new)) == [(stored, new)]
    assert compare.differences(printed(stored), printed(new))  # to the digit


def test_missing_and_further_outputs_are_found():
    one, other = nbformat.v4.new_output("stream", text="1\n"), nbformat.v4.new_output("display_data", {"a/b": "c"})
    (difference,) = compare.differences(notebook_of(one, other), notebook_of(one))
    assert str(difference) == "cell 1, output 1, a/b: stored 'c', now nothing"
    assert compare.differences(notebook_of(one), notebook_of(other, one))
    pieces = [nbformat.v4.new_output("stream", text=text) for text in ("1", "\n")]
    assert compare.differences(notebook_of(one), notebook_of(*pieces)) == []
    assert compare.differences(notebook_of(one), nbformat.v4.new_notebook())


def drawing(values, **settings):
    from matplotlib import pyplot as plt

    with plt.rc_context(settings):
        figure, (left, right) = plt.subplots(1, 2)
        left.plot([1, 2, 3], values, label="bound")
        bars = [[0.1, 0.2], [0.1, 0.2]]
        left.errorbar([1, 2], values[:2], yerr=bars, fmt="o", label="measured", color="#0072b2")
        left.fill_between([1, 2], values[:2], alpha=0.2)
        left.legend()
        right.imshow([values, values])
        right.bar([0, 1, 2], values)
        right.scatter([0, 1, 2], values)
        right.set_title("words")
        right.set_xticks([0, 1, 2], ["a", "b", "c"])
        figure.colorbar(right.images[0], ax=right)
        lines = figure_data.figure_data(figure)
        plt.close(figure)
    return lines


def test_figures_are_compared_by_what_they_draw():
    values = [0.2, 0.5, 0.6]
    assert figure_data.FIGURE_DATA == compare.FIGURE_DATA

    def figure(lines, picture):
        return shown({"image/png": picture, "image/svg+xml": f"<svg id='{picture}'/>"}, lines)

    stored = figure(drawing(values), "one")
    other_font = drawing(values, **{"font.family": "serif", "font.size": 14, "figure.dpi": 50})
    assert compare.differences(stored, figure(other_font, "another")) == []
    for changed in ([0.21, 0.5, 0.6], [0.2, 0.5, 0.61]):
        assert compare.differences(stored, figure(drawing(changed), "one"))
    for old, new in (("'bound'", "'Bound'"), ("#0072b2", "#0072b3"), ("['a', 'b', 'c']", "['a', 'c', 'b']")):
        lines = [line.replace(old, new) for line in drawing(values)]
        assert lines != drawing(values) and compare.differences(stored, figure(lines, "one"))


def drawn_by(draw, size=(4, 3)):
    from matplotlib.figure import Figure

    figure = Figure(figsize=size)
    draw(figure.subplots())
    return figure_data.figure_data(figure)


@pytest.mark.parametrize(
    "one, two",
    [
        (lambda ax: ax.plot([0, 1], lw=1), lambda ax: ax.plot([0, 1], lw=3)),
        (lambda ax: ax.plot([0, 1], alpha=1), lambda ax: ax.plot([0, 1], alpha=0.5)),
        (lambda ax: ax.scatter([1], [1], s=9), lambda ax: ax.scatter([1], [1], s=90)),
        (lambda ax: ax.scatter([1], [1], marker="o"), lambda ax: ax.scatter([1], [1], marker="s")),
        (lambda ax: ax.imshow([[0, 1]], cmap="cividis"), lambda ax: ax.imshow([[0, 1]], cmap="vlag")),
        (
            lambda ax: ax.pcolormesh([0, 1, 3], [0, 1], [[0, 1]]),
            lambda ax: ax.pcolormesh([0, 2, 3], [0, 1], [[0, 1]]),
        ),
        (lambda ax: ax.set_xticks([0.25, 0.75]), lambda ax: ax.set_xticks([0.25, 0.5])),
        (lambda ax: ax.annotate("x", (0, 0), (1, 1)), lambda ax: ax.annotate("x", (0.5, 0), (1, 1))),
        (lambda ax: ax.table([["a", "b"]]), lambda ax: ax.table([["a", "c"]])),
    ],
)
def test_how_a_figure_is_drawn_is_part_of_its_data(one, two):
    import seaborn  # noqa: F401  registers the map of colours "vlag"

    assert drawn_by(one) == drawn_by(one) != drawn_by(two)
    assert drawn_by(one) != drawn_by(one, size=(5, 3))


def test_a_figure_may_hold_artists_that_draw_nothing():
    for draw in (
        lambda ax: ax.plot([], [], label="a"),
        lambda ax: ax.boxplot([1, 2, 3]),
        lambda ax: ax.scatter([], []),
    ):
        assert any("line" in line or "points" in line or "Path" in line for line in drawn_by(draw))


def test_a_value_that_moves_to_an_empty_column_is_a_difference():
    pages = [f"<tr><td>a</td>{cells}</tr>" for cells in ("<td></td><td>0.5</td>", "<td>0.5</td><td></td>")]
    stored, moved = (shown({"text/html": page, "text/plain": "a 0.5"}) for page in pages)
    assert compare.differences(stored, moved) and not compare.differences(stored, stored)


def test_a_picture_that_is_lost_is_a_difference():
    lines = drawing([0.2, 0.5, 0.6])
    assert compare.differences(shown({"image/svg+xml": "<svg/>"}, lines), shown({"text/plain": "<Figure>"}, lines))


def test_pictures_that_other_code_drew_are_taken_and_no_others(project, monkeypatch):
    """The data of a figure is not all of how it is drawn: a style that changed must reach the page."""
    chapter = chapters.find(project, "1")

    def repaint(colour):
        notebook = nbformat.read(chapter.notebook, as_version=4)
        for cell in notebook.cells:
            for output in cell.get("outputs", []):
                for kind in [kind for kind in output.get("data", {}) if kind.startswith("image/")]:
                    output.data[kind] = colour
        nbformat.write(notebook, chapter.notebook)

    repaint("an older picture")
    assert not execution.refresh(chapter)
    assert "an older picture" in chapter.notebook.read_text()  # nothing that made it has changed
    notebook = nbformat.read(chapter.notebook, as_version=4)
    notebook.metadata["textsan"]["files"]["textsan/plotting/figures.py"] = "0123456789abcdef"
    nbformat.write(notebook, chapter.notebook)
    assert not execution.refresh(chapter)
    assert "an older picture" not in chapter.notebook.read_text()


def test_one_point_of_very_many_is_seen_in_few_lines():
    from matplotlib.figure import Figure

    def points(moved):
        values = np.linspace(0, 1, 20_000)
        values[7] += moved
        axes = (figure := Figure()).subplots()
        axes.set(xlim=(0, 1), ylim=(0, 1))
        axes.scatter(values[::-1], values, color="#0072b2")
        return figure_data.figure_data(figure)

    assert len("".join(points(0))) < 20_000
    assert compare.differences(shown({}, points(0)), shown({}, points(1e-9))) == []
    assert compare.differences(shown({}, points(0)), shown({}, points(0.2)))


@pytest.mark.parametrize("ways", [("yerr",), ("xerr",), ("xerr", "yerr")])
def test_estimates_of_a_figure_are_compared_by_interval(ways):
    """Those that moved within their intervals, and the limits that moved with them."""

    def figure(x=0.6, y=0.2):
        bars = {way: [[0.1, 0.2], [0.1, 0.2]] for way in ways}
        return drawn_by(lambda ax: ax.errorbar([x, 0.9], [y, 0.5], fmt="o", label="measured", **bars))

    def same(lines):
        return not compare.differences(shown({}, figure()), shown({}, lines), by_interval=True)

    assert same(figure()) and compare.differences(shown({}, figure()), shown({}, figure(x=0.55, y=0.25)))
    for name, near, far in (("x", 0.55, 0.4), ("y", 0.25, 0.5)):
        assert same(figure(**{name: near})) == (f"{name}err" in ways)
        assert not same(figure(**{name: far}))


def test_limits_of_an_axis_are_data_only_where_they_were_chosen():
    for choose in (lambda ax: ax.set_xlim(0, 2), lambda ax: ax.set_ylim(0, 2), lambda ax: ax.invert_yaxis()):
        assert drawn_by(choose) != drawn_by(lambda ax: None)
    assert drawn_by(lambda ax: ax.set_xlim(0, 2)) != drawn_by(lambda ax: ax.set_xlim(0, 3))
    axes = [line for line in drawn_by(lambda ax: ax.plot([0, 1])) if line.startswith("axes")]
    assert axes == ["axes '' x '' linear automatic y '' linear automatic"]


def test_pictures_without_data_are_compared_by_pixels():
    import base64
    import io

    from matplotlib import image

    def picture(*spots):
        pixels = np.ones((20, 30, 3))
        for row, column, value in spots:
            pixels[row, column] = value
        file = io.BytesIO()
        image.imsave(file, pixels, format="png")
        return shown({"image/png": base64.b64encode(file.getvalue()).decode()})

    assert compare.differences(picture(), picture((3, 4, 0.95))) == []
    (difference,) = compare.differences(picture(), picture((3, 4, 0), (5, 6, 0)))
    assert "2 other pixels" in difference.new


def test_notebooks_are_compared_cell_by_cell(project, tmp_path):
    shutil.copytree(project / "notebooks", tmp_path / "new")
    sides = [folder / "01-first.ipynb" for folder in (project / "notebooks", tmp_path / "new")]
    assert compare.differences(*(nbformat.read(side, as_version=4) for side in sides)) == []
    edit_notebook(sides[1], middle_digit)
    [found] = compare.differences(*(nbformat.read(side, as_version=4) for side in sides))
    assert str(found) == "cell 4, output 1, text/plain: stored '(1.3333, 1)', now '(1.3433, 1)'"


# What is executed again, and when


def stale(project):
    return {chapter.name: execution.stale_because(chapter) for chapter in chapters.chapters(project)}


def test_copy_with_other_file_times_is_fresh(project, tmp_path):
    clone = tmp_path / "clone"
    shutil.copytree(project, clone, copy_function=shutil.copyfile)
    assert all(execution.is_fresh(chapter) for chapter in chapters.chapters(clone))


def test_the_record_is_what_the_run_used(project):
    recorded = [
        nbformat.read(chapter.notebook, as_version=4).metadata.textsan for chapter in chapters.chapters(project)
    ]
    modules = [f"mill/{name}.py" for name in ("__init__", "grind", "inside", "quarry", "stones", "worker")]
    data = ["data/scoreboard.yml", "data/sweeps/", "data/sweeps/one.yml"]
    assert list(recorded[0].files) == [
        *data,
        *modules,
        "textsan_book/chapters/kernel/figure_data.py",
    ]  # it shows a figure
    assert set(recorded[0].packages) == {"matplotlib", "PyYAML"}
    assert list(recorded[1].files) == ["mill/__init__.py", "mill/other.py"] and not recorded[1].packages


@pytest.mark.parametrize(
    ("file", "old", "new", "chapter"),
    [
        ("data/scoreboard.yml", "0.5", "0.6", "01-first"),
        ("data/sweeps/one.yml", "1", "2", "01-first"),
        ("mill/grind.py", "4)", "5)", "01-first"),
        ("mill/quarry.py", "2", "3", "01-first"),  # three imports away
        ("mill/inside.py", "1", "2", "01-first"),  # imported inside a function
        ("mill/worker.py", "True", "False", "01-first"),  # imported by another process
        ("mill/other.py", "0.5", "0.6", "02-second"),
        ("book/01-first.md", "epsilon = 2.0", "epsilon = 3.0", "01-first"),
        ("book/02-second.md", "range(3)", "range(4)", "02-second"),
    ],
)
def test_change_makes_stale_what_uses_it_and_nothing_else(project, file, old, new, chapter):
    assert stale(project) == {"01-first": [], "02-second": []}
    edit(project / file, old, new)
    assert stale(project) == {"01-first": [], "02-second": [], chapter: [file]}
    result = textsan("check")
    assert result.exit_code == 1
    expected = "text and notebook differ" if file.startswith("book") else f"stale: {file}; run textsan book"
    assert f"{chapter}: {expected}" in result.output


def test_another_table_is_noticed_where_tables_are_listed(project):
    (project / "data" / "sweeps" / "two.yml").write_text("")
    (project / "data" / "more.yml").write_text("")
    assert stale(project) == {"01-first": ["data/sweeps/"], "02-second": []}


def test_lost_file_is_noticed(project):
    (project / "mill" / "other.py").unlink()
    assert stale(project) == {"01-first": [], "02-second": ["mill/other.py is gone"]}


def test_another_version_is_noticed_where_it_is_imported(project, monkeypatch):
    now = metadata.version("PyYAML")
    edit(project / "constraints.txt", f"PyYAML=={now}", "pyyaml==99.1")
    assert stale(project) == {"01-first": [f"PyYAML {now} → 99.1"], "02-second": []}
    edit(project / "constraints.txt", "pyyaml==99.1", "")
    assert stale(project) == {"01-first": [], "02-second": []}
    monkeypatch.setattr(dependencies.metadata, "version", lambda package: "9.9+cpu")
    reasons = [f"PyYAML {now} → 9.9", f"matplotlib {metadata_version_before(project, 'matplotlib')} → 9.9"]
    assert sorted(stale(project)["01-first"]) == sorted(reasons) and not stale(project)["02-second"]


def metadata_version_before(project, package):
    notebook = nbformat.read(project / "notebooks" / "01-first.ipynb", as_version=4)
    return notebook.metadata.textsan.packages[package]


def test_pinned_variables_are_part_of_the_key_and_what_a_machine_made_of_them_is_not(project, monkeypatch):
    second = chapters.find(project, "2")
    monkeypatch.setenv("OPENBLAS_CORETYPE", "Zen")
    assert stale(project) == {"01-first": [], "02-second": []}
    execution.refresh(second)  # on such a machine: it says so, and is fresh everywhere
    record = nbformat.read(second.notebook, as_version=4).metadata.textsan
    assert record.kernels == kernels.KERNELS[kernels.PINNED] and record.not_pinned
    assert stale(project) == {"01-first": [], "02-second": []}
    monkeypatch.setitem(kernels.KERNELS[kernels.PINNED], "MKL_CBWR", "AVX2")
    monkeypatch.delitem(kernels.KERNELS[kernels.PINNED], "OMP_NUM_THREADS")
    reasons = ["MKL_CBWR COMPATIBLE → AVX2", "OMP_NUM_THREADS 1 → not pinned"]
    assert stale(project) == {"01-first": reasons, "02-second": reasons}


@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        ("mill/stones.py", "Stones.", "Mill stones."),
        ("mill/stones.py", "# a third", "# one third"),
        ("mill/stones.py", "ROCK / 3", "(ROCK\n    / 3)"),
        ("mill/unused.py", "numpy", "scipy"),
        ("data/profiles/full.yml", "8", "9"),
        ("constraints.txt", "numpy==0.1", "numpy==0.2"),
        ("_toc.yml", "root: book/pages/index", "root: start"),
    ],
)
def test_other_change_keeps_fresh(project, file, old, new):
    edit(project / file, old, new)
    assert all(execution.is_fresh(chapter) for chapter in chapters.chapters(project))


def test_file_saved_while_a_chapter_runs_leaves_it_stale(project):
    edit(project / "mill" / "other.py", "return", "__import__('os').utime(__file__); return")
    second = chapters.find(project, "2")
    execution.refresh(second)
    assert execution.stale_because(second) == ["mill/other.py"]


def test_recorder_sees_reads_writes_and_lists_of_every_process(tmp_path):
    """And lets the module that it hides run."""
    inside = Path(figure_data.__file__).parent
    (tmp_path / "sitecustomize.py").write_text("print('hidden')")
    (tmp_path / "a b.csv").write_text("1")
    (tmp_path / "tables").mkdir()
    program = "import os, sys; open('a b.csv'); os.listdir('tables'); open('out.txt', 'w'); open('out.txt')"
    child = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {program!r}], check=True)"
    environment = {**os.environ, "PYTHONPATH": f"{inside}{os.pathsep}{tmp_path}", "TEXTSAN_RECORD": "record"}
    result = subprocess.run(
        [sys.executable, "-c", child], cwd=tmp_path, env=environment, capture_output=True, text=True, check=True
    )
    assert result.stdout == "hidden\nhidden\n" and not result.stderr
    record = (tmp_path / "record").read_text().splitlines()
    for line in (f"read {tmp_path}/a b.csv", f"list {tmp_path}/tables", f"write {tmp_path}/out.txt"):
        assert record.count(line) == 1
    kept = dependencies.of_run(tmp_path, [line for line in record if "cache" not in line], [], started=2**63)
    assert set(kept["files"]) == {"tables/", "a b.csv", "sitecustomize.py"} and kept["packages"] == {}


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("f( 1 )  # one", "f(1)", True),
        ("x = 'a'", 'x = "a"', True),
        ("x = 1", "x = 1.0", False),
        ("f(a)", "f(*a)", False),
        ("'shown'", "'Shown'", False),
        ("f(1)", "f(1);", False),
        ("%matplotlib inline", "%matplotlib agg", False),
        ("%matplotlib inline", "%matplotlib inline", True),
    ],
)
def test_cells_count_by_what_they_do_and_show(one, other, same):
    assert (dependencies.cell_digest(one) == dependencies.cell_digest(other)) == same


def test_module_that_is_no_python_is_a_change(project):
    edit(project / "mill" / "other.py", "def", "def def")
    assert stale(project) == {"01-first": [], "02-second": ["mill/other.py"]}


def test_new_words_are_stored_without_execution(project, monkeypatch):
    first = chapters.find(project, "1")
    before = nbformat.read(first.notebook, as_version=4)
    edit(first.text, "# First", "# The first")
    edit(first.text, ":tags: [nbval-check-output]", ":tags: [nbval-check-output, hide-input]")
    edit(first.text, "epsilon, title, sizes, count, strict", "epsilon, title, sizes, count, strict  # all")
    assert execution.stale_because(first) == [] and not execution.is_fresh(first)
    monkeypatch.setattr(execution, "refresh", None)
    monkeypatch.setattr(build, "build", lambda root: root)
    said = []
    build.make(project, say=said.append)
    assert said == [
        "01-first: new text, or verdicts on its tables, around the stored outputs",
        "02-second: up to date",
    ]
    after = nbformat.read(first.notebook, as_version=4)
    assert [cell.outputs for cell in code_cells(after)] == [cell.outputs for cell in code_cells(before)]
    assert after.metadata == before.metadata and after.cells[0].source.startswith("# The first")
    assert execution.is_fresh(first) and build.stored_faults(project) == []


def test_dry_run_says_what_is_stale_and_why(project):
    before = {path: path.read_bytes() for path in project.rglob("*") if path.is_file()}

    def lines():
        result = textsan("book", "--dry-run")
        assert result.exit_code == 0
        return result.output.splitlines()

    assert lines() == ["01-first: fresh", "02-second: fresh"]
    edit(project / "book" / "02-second.md", "# Second", "# The second")
    assert lines() == ["01-first: fresh", "02-second: stale: text only, its outputs are kept"]
    edit(project / "mill" / "quarry.py", "2", "3")
    edit(project / "data" / "scoreboard.yml", "0.5", "0.6")
    (project / "notebooks" / "02-second.ipynb").unlink()
    assert lines() == [
        "01-first: stale: data/scoreboard.yml, mill/quarry.py",
        "02-second: stale: never executed",
    ]
    changed = {path for path in before if not path.exists() or path.read_bytes() != before[path]}
    names = ["book/02-second.md", "mill/quarry.py", "data/scoreboard.yml", "notebooks/02-second.ipynb"]
    assert changed == {project / name for name in names} and not (project / "_build").exists()


def test_notebook_without_a_record_is_stale(project):
    edit_notebook(
        project / "notebooks" / "02-second.ipynb", lambda notebook: notebook.metadata.update(textsan={"key": "1"})
    )
    assert stale(project)["02-second"] == ["no record of what it used"]


def test_make_executes_what_is_stale_and_only_that(project, monkeypatch):
    monkeypatch.setattr(build, "build", lambda root: root)

    def made(**options):
        said = []
        build.make(project, say=said.append, **options)
        return [line.partition(":")[0] for line in said if re.search(": (stored anew|shows what is stored)", line)]

    def recorded():
        record = checked.read(project)
        return [one.name for one in chapters.chapters(project) if record[one.name]["key"] == checked.key(one)]

    assert made() == [] and not (project / checked.RECORD).exists()
    monkeypatch.setattr(execution, "not_pinned", lambda: "other kernels")
    assert made(fresh=True) == ["01-first", "02-second"] and not (project / checked.RECORD).exists()
    monkeypatch.setattr(execution, "not_pinned", lambda: "")
    assert made(fresh=True) == ["01-first", "02-second"]
    assert recorded() == ["01-first", "02-second"]  # an execution that shows what is stored has confirmed it
    edit(project / "mill" / "other.py", "0.500", "0.520")
    assert made() == ["02-second"]
    assert recorded() == ["01-first"]  # what is stored anew waits for a second one
    assert made() == []


def test_text_wins_over_an_edited_notebook(project):
    path = project / "notebooks" / "02-second.ipynb"
    edit_notebook(path, lambda notebook: code_cells(notebook)[0].update(source="1 + 1"))
    second = chapters.find(project, "2")
    assert not execution.is_fresh(second)
    execution.refresh(second)
    assert build.stored_faults(project) == []
    assert "range(3)" in path.read_text()


# The pages


def test_build_is_offline_and_warnings_are_errors_every_time(project, capfd):
    page = build.build(project)
    assert page == project / "_build" / "html" / "index.html"
    first = (page.parent / "notebooks" / "01-first.html").read_text()
    assert first.count("tex-chtml-full.js") == 1 and "thebe-lite" not in first and "A line" in first
    assert (page.parent / "_static" / "mathjax" / "tex-chtml-full.js").stat().st_size > 1_000_000
    assert (page.parent / "_static/mathjax/output/chtml/fonts/woff-v2/MathJax_Main-Regular.woff").is_file()

    edit_notebook(
        project / "notebooks" / "02-second.ipynb",
        lambda notebook: notebook.cells[0].update(source="# Second\n\n{prf:ref}`thm-missing`"),
    )
    for _ in range(2):
        with pytest.raises(build.BuildError, match="failed or warned"):
            build.build(project)
        assert "thm-missing" in capfd.readouterr().err


@pytest.mark.parametrize(
    "text",
    [
        '<script src="https://cdn.example.org/x.js"></script>',
        "<script async src='//cdn.example.org/x.js'></script>",
        '<link href="https://fonts.example.org/a.css" rel="stylesheet">',
        '<link rel="preconnect" href="https://fonts.example.org">',
        '<img alt="x" src="http://example.org/x.png">',
        "@font-face { src: url(https://example.org/a.woff2) }",
        '@import "https://example.org/a.css";',
    ],
)
def test_external_resource_is_found(tmp_path, text):
    (tmp_path / "a.html").write_text(text)
    assert len(build.external_resources(tmp_path)) == 1


def test_links_are_no_resources(tmp_path):
    (tmp_path / "a.html").write_text(
        '<a href="https://example.org">x</a><link rel="stylesheet" href="_static/a.css">'
        '<script src="_static/a.js"></script><link rel="canonical" href="https://example.org/a.html"><svg xmlns="http://www.w3.org/2000/svg">'
    )
    assert build.external_resources(tmp_path) == []


# This project's own book


def test_own_chapters_are_sound():
    assert build.stored_faults(ROOT) == []


def test_own_profiles_name_real_parameters():
    known = {chapter.name: chapter for chapter in chapters.chapters(ROOT)}
    for path in sorted((ROOT / "data" / "profiles").glob("*.yml")):
        for name, values in yaml.safe_load(path.read_text()).items():
            assert chapters.checked_parameters(known[name], values)


def test_more_sentences_than_there_are_get_one_line_before_a_kernel_starts(default_data, monkeypatch):
    monkeypatch.chdir(ROOT)
    monkeypatch.setattr(execution, "_execute", None)  # would fail, were it called
    result = textsan("run", "05", "-p", "dataset", "drugs")
    assert result.exit_code == 2 and result.output.count("\n") == 1
    assert "dataset: 'drugs' has 791 texts, fewer than n_private 500" in result.output
    smaller = chapters.checked_parameters(chapters.find(ROOT, "05"), {"n_private": "263", "n_shadow": "263"})
    chapters.check_size(chapters.find(ROOT, "05"), smaller | {"dataset": "drugs"})


def test_contents_list_every_chapter():
    lines = (ROOT / "_toc.yml").read_text().splitlines()
    listed = [line.split("notebooks/")[1] for line in lines if "notebooks/" in line]
    assert sorted(listed) == [chapter.name for chapter in chapters.chapters(ROOT)]
    for part in yaml.safe_load((ROOT / "_toc.yml").read_text())["parts"]:
        files = [one["file"].removeprefix("notebooks/") for one in part["chapters"]]
        numbered = [name for name in files if name[0].isdecimal()]
        assert numbered == sorted(numbered) and part.get("numbered", False) == bool(numbered)


def test_what_is_read_in_order_is_no_appendix_and_comes_before_it():
    parts = yaml.safe_load((ROOT / "_toc.yml").read_text())["parts"]
    captions = [part["caption"] for part in parts]
    appendix = [caption for caption in captions if caption.startswith("Appendix")]
    assert captions[-1 - len(appendix) : -1] == appendix and captions[-1] == "Back matter"
    files = {part["caption"]: [one["file"] for one in part["chapters"]] for part in parts}
    apart = {file for caption in appendix for file in files[caption]}
    assert {"notebooks/08-plausible-deniability", "notebooks/16-the-query-attack"} <= apart
    assert not apart & {stop.page for stop in reading_paths.short_path(ROOT)}
    printed = [one["file"] for part in paper.contents(ROOT)["parts"] for one in part["chapters"]]
    assert not apart & {*printed} and "notebooks/reproduced-refuted-undecided" in printed


def test_the_short_path_names_all_chapters_of_the_appendix():
    toc = yaml.safe_load((ROOT / "_toc.yml").read_text())["parts"]
    kept = {True: set(), False: set()}
    for part in toc:
        names = (one["file"].rpartition("/")[2] for one in part["chapters"])
        numbers = {int(name[:2]) for name in names if name[0].isdecimal()}
        kept[part["caption"].startswith("Appendix")] |= numbers
    text = (ROOT / "book" / "pages" / "short-path.md").read_text()
    some = text.partition("The appendix holds")[2].partition("Times are")[0]
    found = set()
    for low, high in re.findall(r"(\d+)(?: to (\d+))?", some):
        found |= {*range(int(low), int(high or low) + 1)}
    assert found == kept[True]


def test_every_command_has_help_with_an_example():
    names = main.main.list_commands(None)
    assert {"sanitize", "run", "course"} <= {*names}
    for name in names:
        if not hasattr(main.main.get_command(None, name), "commands"):
            assert f"textsan {name}" in textsan(name, "--help").output.replace("\n", " ")


@pytest.mark.parametrize(
    "arguments", [["nonsense"], ["run"], ["sanitize", "a", "b"], ["run", "1", "--profil", "x"]]
)
def test_misused_commands_get_one_line_and_status_2(arguments):
    result = textsan(*arguments)
    assert result.exit_code == 2 and result.output.count("\n") == 1
    assert result.output.startswith("textsan: ") and result.output.endswith("--help\n")
