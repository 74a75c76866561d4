"""The tools that run, check and build chapters, on small books that must pass and small books that must not."""

import shutil
from pathlib import Path

import nbformat
import pytest
import yaml
from click.testing import CliRunner

from textsan.book import build, chapters
from textsan.cli import main

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
title = "rt # all"  # corpus
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
"""
)
SECOND = (
    HEADER
    + """# Second

```{code-cell} ipython3
for i in range(3):
    print(i, flush=True)
```
"""
)


@pytest.fixture(scope="session")
def executed(tmp_path_factory):
    """A two-chapter project and its package, with the notebooks executed once; tests work on copies."""
    root = tmp_path_factory.mktemp("executed") / "project"
    package = root.parent / "package"
    for room in ("attacks", "cli"):
        (package / room).mkdir(parents=True)
    for name in ("cli/check.py", "vocabulary.py", "attacks/__init__.py"):
        (package / name).write_text("import sys\n")
    root.mkdir()
    for name in ("_config.yml", "jupytext.toml"):
        shutil.copy(ROOT / name, root)
    for name in ("_ext", "_static"):
        shutil.copytree(ROOT / name, root / name, ignore=shutil.ignore_patterns("__pycache__"))
    (root / "book").mkdir()
    (root / "book" / "01-first.md").write_text(FIRST)
    (root / "book" / "02-second.md").write_text(SECOND)
    (root / "_toc.yml").write_text(
        "format: jb-book\nroot: index\nchapters:\n- file: notebooks/01-first\n- file: notebooks/02-second\n"
    )
    (root / "index.md").write_text("# Index\n\n```{tableofcontents}\n```\n")
    (root / "references.bib").write_text("")
    (root / "data" / "profiles").mkdir(parents=True)
    (root / "data" / "profiles" / "full.yml").write_text("01-first: {epsilon: 8, sizes: [1, 2]}\n")
    (root / "data" / "registry.toml").write_text("")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(chapters, "_PACKAGE", package)
        for chapter in chapters.chapters(root):
            chapters.refresh(chapter)
    return root.parent


@pytest.fixture
def project(executed, tmp_path, monkeypatch):
    shutil.copytree(executed, tmp_path, dirs_exist_ok=True)
    monkeypatch.setattr(chapters, "_PACKAGE", tmp_path / "package")
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
        "title": "rt # all",
        "sizes": [10, 20],
        "count": 3,
        "strict": True,
    }
    assert chapters.parameters(chapters.find(project, "2")) == {}


def test_computed_default_is_refused(project):
    edit(project / "book" / "01-first.md", "count = 3", "count = 1 + 2 + len('a')")
    with pytest.raises(ValueError, match="not of the form name = literal"):
        chapters.parameters(chapters.find(project, "1"))


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
        ("epsilon", "-1", "epsilon: -1.0 is out of range; pass a number of at least 0"),
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
    before = {path: path.read_bytes() for folder in ("book", "notebooks") for path in (project / folder).iterdir()}
    result = textsan("run", "1", "-p", "title", "a/b c", "--profile", "full")
    assert result.exit_code == 0, result.output
    output = project / result.stdout.splitlines()[-1]
    assert output.parent == project / "runs" and output.suffix == ".ipynb"
    notebook = nbformat.read(output, as_version=4)
    assert notebook.cells[3].outputs[0].data["text/plain"] == "(8.0, 'a/b c', [1, 2], 3, True)"
    assert before == {
        path: path.read_bytes() for folder in ("book", "notebooks") for path in (project / folder).iterdir()
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


def test_execution_is_reproducible(project):
    before = (project / "notebooks" / "01-first.ipynb").read_bytes()
    chapters.refresh(chapters.find(project, "1"))
    assert (project / "notebooks" / "01-first.ipynb").read_bytes() == before


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
        (gap, "execution counts are [1, 5, 3], not 1 to 3"),
        (never_run, "execution counts are [1, None, 3], not 1 to 3"),
        (error, "cell 2 stores an error: KeyError"),
        (other_source, "text and notebook differ from cell 3"),
        (other_tags, "text and notebook differ from cell 3"),
        (idle_tag, "cell 2 has the tag NBVAL_CHECK_OUTPUT; nbval knows nbval-check-output"),
        (no_caption, "text and notebook differ from cell 4"),
        (one_cell_more, "text and notebook differ from cell 6"),
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


def test_nbval_compares_marked_cells_only(project):
    def unmarked(notebook):
        code_cells(notebook)[0].outputs[0].text = "something else\n"

    def marked(notebook):
        code_cells(notebook)[1].outputs[0].data["text/plain"] = "(2.5, 'rt # all', [10, 20], 3, True)"

    edit_notebook(project / "notebooks" / "02-second.ipynb", unmarked)
    build.check(project)
    edit_notebook(project / "notebooks" / "01-first.ipynb", marked)
    with pytest.raises(build.BuildError, match="nbval"):
        build.check(project)


# What is executed again, and when


def test_copy_with_other_file_times_is_fresh(project, tmp_path):
    clone = tmp_path / "clone"
    shutil.copytree(project, clone, copy_function=shutil.copyfile)
    assert all(chapters.is_fresh(chapter) for chapter in chapters.chapters(clone))


def change_text(project, package):
    edit(project / "book" / "01-first.md", "# First", "# The first")


def change_module(project, package):
    edit(package / "vocabulary.py", "import sys", "import re")


def add_module(project, package):
    (package / "attacks" / "another.py").write_text("")


def change_registry(project, package):
    (project / "data" / "registry.toml").write_text("[data]\n")


def add_table(project, package):
    (project / "data" / "results").mkdir()
    (project / "data" / "results" / "table.csv").write_text("a,b\n")


def change_parameters(project, package):
    edit(project / "book" / "01-first.md", "epsilon = 2.0", "epsilon = 3.0")


@pytest.mark.parametrize(
    "change", [change_text, change_module, add_module, change_registry, add_table, change_parameters]
)
def test_change_makes_stale(project, change):
    first = chapters.find(project, "1")
    assert chapters.is_fresh(first)
    change(project, chapters._PACKAGE)
    assert not chapters.is_fresh(first)
    with pytest.raises(build.BuildError, match="01-first: (stale|text and notebook differ)"):
        build.check(project)


def change_tooling(project, package):
    edit(package / "cli" / "check.py", "import sys", "import re")


def change_readme(project, package):
    (project / "README.md").write_text("changed")


def change_other_chapter(project, package):
    edit(project / "book" / "02-second.md", "# Second", "# The second")


@pytest.mark.parametrize("change", [change_tooling, change_readme, change_other_chapter])
def test_other_change_keeps_fresh(project, change):
    change(project, chapters._PACKAGE)
    assert chapters.is_fresh(chapters.find(project, "1"))


def test_make_executes_what_is_stale_and_only_that(project, monkeypatch):
    executed = []
    refresh = chapters.refresh
    monkeypatch.setattr(chapters, "refresh", lambda chapter: (executed.append(chapter.name), refresh(chapter)))
    monkeypatch.setattr(build, "build", lambda root: root)

    def made(**options):
        executed.clear()
        build.make(project, say=lambda line: None, **options)
        return list(executed)

    assert made() == []
    assert made(fresh=True) == ["01-first", "02-second"]
    change_other_chapter(project, None)
    assert made() == ["02-second"]
    assert made() == []
    change_module(project, chapters._PACKAGE)
    assert made() == ["01-first", "02-second"]
    assert made() == []


def test_text_wins_over_an_edited_notebook(project):
    path = project / "notebooks" / "02-second.ipynb"
    edit_notebook(path, lambda notebook: code_cells(notebook)[0].update(source="1 + 1"))
    second = chapters.find(project, "2")
    assert not chapters.is_fresh(second)
    chapters.refresh(second)
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


def test_contents_list_every_chapter():
    lines = (ROOT / "_toc.yml").read_text().splitlines()
    listed = [line.split("notebooks/")[1] for line in lines if "notebooks/" in line]
    assert listed == [chapter.name for chapter in chapters.chapters(ROOT)]


def test_every_command_has_help_with_an_example():
    for name, command in main.main.commands.items():
        if not hasattr(command, "commands"):
            assert f"textsan {name}" in textsan(name, "--help").output.replace("\n", " ")


@pytest.mark.parametrize(
    "arguments", [["nonsense"], ["run"], ["sanitize", "a", "b"], ["run", "1", "--profil", "x"]]
)
def test_misused_commands_get_one_line_and_status_2(arguments):
    result = textsan(*arguments)
    assert result.exit_code == 2 and result.output.count("\n") == 1
    assert result.output.startswith("textsan: ") and result.output.endswith("--help\n")
