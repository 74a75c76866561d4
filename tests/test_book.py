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
from helpers import refused

from textsan.base.assets import file_sha256
from textsan.cli import main
from textsan_book.chapters import build, chapters, compare, run, validation
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
# A small project's package: what the first chapter uses of it, and what the second.
MILL = {
    "__init__.py": "",
    "grind.py": """from pathlib import Path

import yaml


def flour():
    data = Path("../data")
    share = yaml.safe_load((data / "scoreboard.yml").read_text())["share"]
    sweeps = [path.read_text() for path in sorted((data / "sweeps").glob("*.yml"))]
    return round(share * 2 / 3 + 1, 4), len(sweeps)
""",
    "other.py": """import os


def estimate():
    other = os.environ.get("OPENBLAS_CORETYPE") == "Sandybridge"
    return "0.530 [0.480, 0.580]" if other else "0.500 [0.450, 0.550]"
""",
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
            run.refresh(chapter)
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
    found = {"epsilon": 2.0, "title": "rt, all", "sizes": [10, 20], "count": 3, "strict": True}
    assert chapters.parameters(chapters.find(project, "1")) == found
    assert chapters.parameters(chapters.find(project, "2")) == {}


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
    ("name", "value", "said"),
    [
        ("epsilon", "high", "parameter epsilon: 'high' .*pass a number"),
        ("epsilon", "nan", "parameter epsilon: 'nan' .*pass a number"),
        ("count", "2.5", "parameter count: '2.5' .*pass a whole number"),
        ("strict", "1", "parameter strict: '1' .*pass true or false"),
        ("sizes", "1,b", "parameter sizes: '1,b' .*pass .*a whole number"),
        ("epsilon", "-1", r"epsilon: -1.0 is out of range; pass a number from 0 to 1e\+06"),
        ("epsilon", "1e9", r"epsilon: 1000000000.0 is out of range; pass a number from 0 to 1e\+06"),
        ("epsilon", "inf", "epsilon: inf is not a number"),
    ],
)
def test_wrong_values_are_one_line_and_run_nothing(project, name, value, said):
    result = textsan("run", "1", "-p", name, value)
    assert result.exit_code == 2 and re.search(said, result.output), result.output
    assert result.output.count("\n") == 1
    assert not (project / "runs").exists() or not list((project / "runs").iterdir())


@pytest.mark.parametrize("value", [True, 2.5, "x", None, [1]])
def test_wrong_type_in_a_profile_is_refused(project, value):
    refused("parameter count", lambda: chapters.checked_parameters(chapters.find(project, "1"), {"count": value}))


def test_unknown_parameter_names_the_known_ones(project):
    result = textsan("run", "1", "-p", "epsilom", "4")
    assert result.exit_code == 2 and result.output.count("\n") == 1
    assert "01-first has no 'epsilom'" in result.output and "epsilon (2.0)" in result.output
    assert "its parameters are none" in textsan("run", "2", "-p", "epsilon", "4").output


def test_an_unknown_data_set_is_refused_before_anything_runs():
    with pytest.raises(KeyError, match="dataset: 'novels' is unknown; known: rt, amazon"):
        chapters.checked_parameters(chapters.find(ROOT, "1"), {"dataset": "novels"})


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
    assert notebook.cells[0].source.startswith("> **This run has other parameters")
    assert notebook.cells[4].outputs[0].data["text/plain"] == "(8.0, 'a/b c', [1, 2], 3, True)"
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
    monkeypatch.setattr(run.extras, "install_line", lambda library: f"pip install 'textsan[of {library}]'")
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


def last_digit(notebook):
    output = code_cells(notebook)[3].outputs[0]
    assert output.data["text/plain"] == "(1.3333, 1)"
    output.data["text/plain"] = "(1.3334, 1)"


def other_line(notebook):
    lines = code_cells(notebook)[2].outputs[0].metadata[compare.FIGURE_DATA]
    assert lines[-1].endswith("1.000e+00 1.000e+00")
    lines[-1] = f"{lines[-1][:-9]}1.100e+00"


ERROR = nbformat.v4.new_output("error", ename="KeyError", evalue="'x'", traceback=[])
TAG = ["NBVAL_CHECK_OUTPUT"]


@pytest.mark.parametrize(
    ("spoil", "fault"),
    [
        (lambda cells: cells[2].update(execution_count=5), "execution counts are [1, 5, 3, 4], not 1 to 4"),
        (lambda cells: cells[2].update(outputs=[ERROR]), "cell 2 stores an error: KeyError"),
        (lambda cells: cells[2].update(source="2"), "text and notebook differ from cell 3"),
        (
            lambda cells: cells[2].metadata.update(tags=TAG),
            "cell 2 has the tag NBVAL_CHECK_OUTPUT; nbval knows nbval-check-output",
        ),
        (lambda cells: cells[3].metadata.pop("mystnb"), "text and notebook differ from cell 4"),
        (
            lambda cells: cells.append(nbformat.v4.new_markdown_cell("more")),
            "text and notebook differ from cell 7",
        ),
    ],
)
def test_spoiled_notebook_fails_the_check(project, spoil, fault):
    edit_notebook(project / "notebooks" / "01-first.ipynb", lambda notebook: spoil(notebook.cells))
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
    record = {"cells": "", "tables": {}} | ({"not_pinned": "by others"} if why == "not pinned there" else {})
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


# Comparison


def notebook_of(*outputs, tags=()):
    cell = nbformat.v4.new_code_cell("x", outputs=list(outputs), metadata={"tags": list(tags)})
    return nbformat.v4.new_notebook(cells=[cell])


def printed(text, **options):
    return notebook_of(nbformat.v4.new_output("stream", text=text), **options)


def shown(data, drawn=None, **options):
    metadata = {} if drawn is None else {compare.FIGURE_DATA: drawn}
    return notebook_of(nbformat.v4.new_output("display_data", data, metadata=metadata), **options)


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


def drawn_line(values, scale="linear", more=()):
    """Figure data of a line on one pair of axes, and of another artist beside it."""
    rows = "; ".join(f"{x:.3e} {y:.3e}" for x, y in enumerate(values))
    return "\n".join([f"axes '' x '' linear automatic y 'rate' {scale} automatic", f"line: {rows}", *more])


@pytest.mark.parametrize(
    ("stored", "new", "scale", "equal"),
    [
        ([0.0, 1.0, -1.598e-5], [0.0, 1.0, -1.600e-5], "linear", True),  # another processor's
        ([0.0, 1.0, 0.5], [0.0, 1.0, 0.5009], "linear", True),
        ([0.0, 1.0, 0.5], [0.0, 1.0, 0.502], "linear", False),
        ([2e-5, 1e-5, -1.598e-5], [2e-5, 1e-5, -1.605e-5], "linear", False),  # all is as small
        ([1e-9, 1.0, 1e-5], [1e-9, 1.0, 1.01e-5], "log", True),
        ([1e-9, 1.0, 1e-5], [1e-9, 1.0, 1.1e-5], "log", False),
        ([1e-9, 1.0, 1e-5], [1e-9, 1.0, 9e-4], "linear", True),
        ([0.0, 1.0, 0.5], [0.0, 1.0, float("nan")], "linear", False),
        ([0.0, 1.0], [0.0, 1.0, 0.5], "linear", False),
    ],
)
def test_what_a_figure_draws_agrees_to_a_thousandth_of_what_the_axis_spans(stored, new, scale, equal):
    found = compare.figure_difference(drawn_line(stored, scale), drawn_line(new, scale))
    assert (found is None) == equal


def test_a_span_is_of_all_artists_of_its_axes_and_of_no_others():
    """Of x and of y apart, and not of the axes beside them; words, and means of very many rows, must agree."""
    small, moved = [2e-5, 1e-5], [2e-5, 1.5e-5]
    beside = ["line: 0.000e+00 0.000e+00; 9.000e+00 1.000e+00"]
    assert compare.figure_difference(drawn_line(small, more=beside), drawn_line(moved, more=beside)) is None
    other = [drawn_line([0.0, 1.0])]
    assert compare.figure_difference(drawn_line(small, more=other), drawn_line(moved, more=other))
    bars = "error bars: 1.000e+00: 5.000e-01 [4.000e-01, 6.000e-01]"
    changes = ("line:", "line 'a':"), ("4.000e-01", "3.900e-01"), ("mean 1.000000e-01", "mean 1.000100e-01")
    for old, new in changes:
        more = [bars, "line: 0.000e+00 0.000e+00; 400 rows, mean 1.000000e-01 2.000000e-01"]
        line = drawn_line([0.0, 1.0], more=more)
        assert compare.figure_difference(line, line.replace(old, new))


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
    line, points = lambda ax: ax.plot([], [], label="a"), lambda ax: ax.scatter([], [])
    for draw in (line, points, lambda ax: ax.boxplot([1, 2, 3])):
        assert any("line" in line or "points" in line or "Path" in line for line in drawn_by(draw))


def test_a_value_that_moves_to_an_empty_column_is_a_difference():
    pages = [f"<tr><td>a</td>{cells}</tr>" for cells in ("<td></td><td>0.5</td>", "<td>0.5</td><td></td>")]
    stored, moved = (shown({"text/html": page, "text/plain": "a 0.5"}) for page in pages)
    assert compare.differences(stored, moved) and not compare.differences(stored, stored)


def test_a_picture_that_is_lost_is_a_difference():
    lines = drawing([0.2, 0.5, 0.6])
    assert compare.differences(shown({"image/svg+xml": "<svg/>"}, lines), shown({"text/plain": "<Figure>"}, lines))


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
    """Estimates that moved within their intervals, and the limits that moved with them."""

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


# What is executed again, and when


def stale(project):
    return {chapter.name: run.stale_because(chapter) for chapter in chapters.chapters(project)}


def is_fresh(chapter):
    return run.stale_because(chapter) == [] and not run.text_changed(chapter)


def test_the_metadata_hold_the_cells_and_the_files_of_data_that_were_read(project):
    """Neither modules nor profiles."""
    first, second = (
        nbformat.read(chapter.notebook, as_version=4).metadata.textsan for chapter in chapters.chapters(project)
    )
    names = ["data/scoreboard.yml", "data/sweeps/one.yml"]
    assert first.tables == {name: file_sha256(project / name) for name in names} and second.tables == {}
    assert first.cells != second.cells and {*first, *second} <= {"cells", "tables", "not_pinned"}


@pytest.mark.parametrize(
    ("file", "old", "new", "chapter"),
    [
        ("data/scoreboard.yml", "0.5", "0.6", "01-first"),
        ("data/sweeps/one.yml", "1", "2", "01-first"),
        ("book/01-first.md", "epsilon = 2.0", "epsilon = 3.0", "01-first"),
        ("book/02-second.md", "range(3)", "range(4)", "02-second"),
    ],
)
def test_a_chapter_is_executed_where_its_cells_or_its_tables_differ(project, file, old, new, chapter):
    assert stale(project) == {"01-first": [], "02-second": []}
    edit(project / file, old, new)
    assert stale(project) == {"01-first": [], "02-second": [], chapter: [file]}


def test_a_lost_table_and_a_notebook_without_metadata_are_noticed(project):
    (project / "data" / "sweeps" / "one.yml").unlink()
    edit_notebook(project / "notebooks" / "02-second.ipynb", lambda notebook: notebook.metadata.pop("textsan"))
    assert stale(project) == {"01-first": ["data/sweeps/one.yml"], "02-second": ["book/02-second.md"]}


def test_pictures_are_taken_anew_where_they_are_asked_for_or_tables_differ(project):
    """The data of a figure is not all of how it is drawn: a style that changed must reach the page."""
    chapter = chapters.find(project, "1")

    def repaint():
        notebook = nbformat.read(chapter.notebook, as_version=4)
        for cell in notebook.cells:
            for output in cell.get("outputs", []):
                for kind in [kind for kind in output.get("data", {}) if kind.startswith("image/")]:
                    output.data[kind] = "an older picture"
        nbformat.write(notebook, chapter.notebook)

    def is_older():
        return "an older picture" in chapter.notebook.read_text()

    repaint()
    assert not run.refresh(chapter) and is_older()
    assert not run.refresh(chapter, pictures=True) and not is_older()
    repaint()
    edit(project / "data" / "sweeps" / "one.yml", "1", "2")
    assert not run.refresh(chapter) and not is_older()


def test_the_recorder_sees_reads_of_every_process(tmp_path):
    """And lets the module that it hides run."""
    inside = Path(figure_data.__file__).parent
    (tmp_path / "sitecustomize.py").write_text("print('hidden')")
    (tmp_path / "a b.csv").write_text("1")
    program = "open('a b.csv'); open('a b.csv'); open('out.txt', 'w')"
    child = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {program!r}], check=True)"
    environment = {**os.environ, "PYTHONPATH": f"{inside}{os.pathsep}{tmp_path}", "TEXTSAN_RECORD": "record"}
    result = subprocess.run(
        [sys.executable, "-c", child], cwd=tmp_path, env=environment, capture_output=True, text=True, check=True
    )
    assert result.stdout == "hidden\nhidden\n" and not result.stderr
    record = (tmp_path / "record").read_text().splitlines()
    assert record.count(f"{tmp_path}/a b.csv") == 1 and f"{tmp_path}/out.txt" not in record


def test_a_check_compares_every_output(project, capfd):
    first, second = (project / "notebooks" / name for name in ("01-first.ipynb", "02-second.ipynb"))
    edit_notebook(first, last_digit)
    kept = [*(project / "data").rglob("*.yml"), *(project / "book").glob("*.md"), first, second]
    before = {path: path.read_bytes() for path in kept}
    (project / "data" / "settings.yml").write_text("01-first: [{count: 4}]\n")
    result = textsan("check", "--full")
    assert result.exit_code == 0, result.output
    assert "02-second: cell 3 varies, because it is a clock" in result.output
    assert "every output is as stored; 1 cells are exceptions" in result.output
    assert "01-first with count = 4: ran" in result.output
    assert "4" in (project / "runs" / "01-first-count=4.ipynb").read_text()
    assert {path: path.read_bytes() for path in kept} == before  # a clean clone stays clean

    edit_notebook(first, other_line)
    edit(first, "(1.3334, 1)", "(1.3433, 1)")
    edit(first, "'rt, all', [10", "'rt, none', [10")
    edit(second, "accuracy 0.500 [0.450, 0.550]", "accuracy 0.600 [0.550, 0.650]")
    capfd.readouterr()
    result = textsan("check")
    assert result.exit_code == 1 and "a chapter does not run, or shows something else" in result.output
    printed = capfd.readouterr().out
    assert "cell 2, output 1, text/plain: stored" in printed and "rt, none" in printed
    assert "cell 3, output 1, figure-data: stored" in printed
    assert "cell 4, output 1, text/plain: stored '(1.3433, 1)', now '(1.3333, 1)'" in printed
    assert "cell 2, stdout: stored 'accuracy 0.600 [0.550, 0.650] of 200 pairs', now 'accuracy 0.500" in printed


def test_a_smaller_check_executes_what_differs_and_what_the_commit_draws(project, monkeypatch):
    executed = []
    monkeypatch.setattr(build, "_agree", lambda root, names, other, say: executed.append(names) or True)
    monkeypatch.setattr(build, "commit", lambda root: "0b12dbc")
    monkeypatch.setattr(build, "DRAWN", 0)
    edit(project / "data" / "sweeps" / "one.yml", "1", "2")
    assert textsan("check", "--drawn").exit_code == 0 and executed == [["01-first"]]
    monkeypatch.setattr(build, "DRAWN", 3)
    assert textsan("check", "--drawn").exit_code == 0 and executed[1] == ["01-first", "02-second"]
    draws = [build.drawn([str(n) for n in range(40)], str(commit), 3) for commit in range(200)]
    assert all(len(set(draw)) == 3 for draw in draws) and len({one for draw in draws for one in draw}) == 40


def test_a_full_check_names_every_setting_that_fails(project, monkeypatch):
    (project / "data" / "settings.yml").write_text("01-first: [{count: 4}, {title: other}]\n02-second: []\n")
    edit(project / "book" / "01-first.md", "flour()\n```", 'flour()\nassert count < 4 and title == "rt, all"\n```')
    monkeypatch.setattr(build, "stored_faults", lambda root, only: [])  # of this text no notebook is stored
    monkeypatch.setattr(build, "_agree", lambda root, names, other, say: True)
    result = textsan("check", "--full")
    assert result.exit_code == 1
    failed = re.findall(r"01-first with (.*): 01-first: cell 5 failed", result.output)
    assert failed == ["count = 4", "title = other"]


@pytest.mark.parametrize(
    ("given", "error", "line"),
    [
        ("03-nowhere: [{count: 4}]", KeyError, "'03-nowhere' is no chapter"),
        ("01-first: [{counts: 4}]", KeyError, "has no 'counts'"),
        ("01-first: [{count: x}]", ValueError, "a whole number"),
        ("01-first: [{}, {}, {}, {}]", ValueError, "has 4 settings; keep 3"),
    ],
)
def test_wrong_settings_are_one_line_before_anything_runs(project, given, error, line):
    (project / "data" / "settings.yml").write_text(given)
    refused(line, lambda: build.check(project, full=True), error)


def test_dry_run_says_what_is_stale_and_why(project):
    before = {path: path.read_bytes() for path in project.rglob("*") if path.is_file()}

    def lines():
        result = textsan("book", "--dry-run")
        assert result.exit_code == 0
        return result.output.splitlines()

    assert lines() == ["01-first: fresh", "02-second: fresh"]
    edit(project / "book" / "02-second.md", "# Second", "# The second")
    assert lines() == ["01-first: fresh", "02-second: stale: text only, its outputs are kept"]
    edit(project / "data" / "scoreboard.yml", "0.5", "0.6")
    (project / "notebooks" / "02-second.ipynb").unlink()
    assert lines() == ["01-first: stale: data/scoreboard.yml", "02-second: stale: never executed"]
    changed = {path for path in before if not path.exists() or path.read_bytes() != before[path]}
    names = ["book/02-second.md", "data/scoreboard.yml", "notebooks/02-second.ipynb"]
    assert changed == {project / name for name in names} and not (project / "_build").exists()


def test_make_executes_what_is_stale_and_only_that(project, monkeypatch):
    monkeypatch.setattr(build, "build", lambda root: root)

    def made(**options):
        said = []
        build.make(project, say=said.append, **options)
        return [line for line in said if re.search(": (stored anew|shows what is stored)", line)]

    assert made() == []
    edit_notebook(project / "notebooks" / "01-first.ipynb", last_digit)
    before = {path: path.read_bytes() for path in (project / "notebooks").iterdir()}
    assert made(fresh=True) == ["01-first: shows what is stored", "02-second: shows what is stored"]
    assert {path: path.read_bytes() for path in (project / "notebooks").iterdir()} == before  # a clock's, too
    edit(project / "data" / "scoreboard.yml", "0.5", "0.6")
    assert made() == ["01-first: stored anew"] and made() == []


def test_new_words_are_stored_without_execution(project, monkeypatch):
    first = chapters.find(project, "1")
    before = nbformat.read(first.notebook, as_version=4)
    edit(first.text, "# First", "# The first")
    edit(first.text, ":tags: [nbval-check-output]", ":tags: [nbval-check-output, hide-input]")
    assert run.stale_because(first) == [] and not is_fresh(first)
    monkeypatch.setattr(run, "refresh", None)
    monkeypatch.setattr(build, "build", lambda root: root)
    said = []
    build.make(project, say=said.append)
    assert said == ["01-first: new text around the stored outputs", "02-second: up to date"]
    after = nbformat.read(first.notebook, as_version=4)
    assert [cell.outputs for cell in code_cells(after)] == [cell.outputs for cell in code_cells(before)]
    assert after.metadata == before.metadata and after.cells[0].source.startswith("# The first")
    assert is_fresh(first) and build.stored_faults(project) == []


def test_text_wins_over_an_edited_notebook(project):
    path = project / "notebooks" / "02-second.ipynb"
    edit_notebook(path, lambda notebook: code_cells(notebook)[0].update(source="1 + 1"))
    second = chapters.find(project, "2")
    assert not is_fresh(second)
    run.refresh(second)
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
        refused("failed or warned", lambda: build.build(project), build.BuildError)
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
    monkeypatch.setattr(run, "_execute", None)  # would fail, were it called
    result = textsan("run", "05", "-p", "dataset", "drugs")
    assert result.exit_code == 2 and result.output.count("\n") == 1
    assert "dataset: 'drugs' has 791 texts, fewer than n_private 500" in result.output
    smaller = chapters.checked_parameters(chapters.find(ROOT, "05"), {"n_private": "263", "n_shadow": "263"})
    chapters.check_size(chapters.find(ROOT, "05"), smaller | {"dataset": "drugs"})


def test_contents_list_every_chapter():
    lines = (ROOT / "_toc.yml").read_text().splitlines()
    listed = [line.split("notebooks/")[1] for line in lines if "notebooks/" in line]
    assert sorted(listed) == sorted(chapter.name for chapter in chapters.chapters(ROOT))
    for part in yaml.safe_load((ROOT / "_toc.yml").read_text())["parts"]:
        files = [one["file"].removeprefix("notebooks/") for one in part["chapters"]]
        numbered = [name for name in files if chapters.number(name)]
        assert numbered == sorted(numbered) and part.get("numbered", False) == bool(numbered)


@pytest.mark.parametrize(
    "arguments", [["nonsense"], ["run"], ["sanitize", "a", "b"], ["run", "1", "--profil", "x"]]
)
def test_misused_commands_get_one_line_and_status_2(arguments):
    result = textsan(*arguments)
    assert result.exit_code == 2 and result.output.count("\n") == 1
    assert result.output.startswith("textsan: ") and result.output.endswith("--help\n")
