"""Every program and every cheap command of README.md, use-it.md and CONTRIBUTING.md is run as it stands there.

The Python blocks of one section are one program.
"""

import ast
import json
import os
import re
import shlex
import subprocess
import sys
from functools import cache
from pathlib import Path

import nbformat
import numpy as np
import pandas as pd
import pytest
import yaml
from arro3 import core, io

from textsan import load_dataset, load_embeddings
from textsan.base import assets
from textsan.sweeps.specification import read_spec
from textsan.text import corpora
from textsan_book.chapters import chapters

ROOT = Path(__file__).parents[1]
PAGES = ("README.md", "book/pages/use-it.md", "CONTRIBUTING.md")
WIDTH = 88  # characters of code that a page shows without a scroll bar
COMMAND = (sys.executable, "-m", "textsan.cli")

# Lines of `make test` itself: they are run by it, after these tests or before them.
OF_MAKE = {
    "make book": "$(BIN)/textsan book",
    "make test": "$(BIN)/textsan check",
    ".venv/bin/textsan check": "$(BIN)/textsan check",
    ".venv/bin/textsan book": "$(BIN)/textsan book",
    ".venv/bin/ruff check . && .venv/bin/ruff format --check . && .venv/bin/lint-imports": "$(BIN)/lint-imports",
    ".venv/bin/mypy": "$(BIN)/mypy",
    ".venv/bin/python -m pytest -q tests/test_registry.py": "$(BIN)/python -m pytest",
}
FULL = bool(os.environ.get("TEXTSAN_FULL"))


def blocks(page):
    """(section, language, content) of every fenced block; a longer fence may hold shorter ones."""
    text = (ROOT / page).read_text(encoding="utf-8")
    fence = re.compile(r"^(`{3,})(\w*)\n(.*?)^\1$", re.MULTILINE | re.DOTALL)
    heading = re.compile(r"^#+ (.*)$", re.MULTILINE)
    found = list(fence.finditer(text))
    outside = fence.sub(lambda match: " " * len(match[0]), text)  # a comment in a block is no heading
    titles = [(match.start(), match[1]) for match in heading.finditer(outside)]
    return [([title for at, title in titles if at < one.start()][-1], one[2], one[3]) for one in found]


@cache
def programs():
    found = {}
    for page in PAGES:
        for section, language, content in blocks(page):
            if language == "python":
                found[page, section] = found.get((page, section), "") + content
    return found


def commands():
    """Shell lines, fenced or indented, without their comments."""
    lines = []
    for page in PAGES:
        lines += re.findall(r"^    ((?:make|\.venv/bin/).*)$", (ROOT / page).read_text(encoding="utf-8"), re.M)
        lines += [line for _, language, text in blocks(page) if language == "bash" for line in text.splitlines()]
    return dict.fromkeys(re.sub(r"\s+#.*", "", line) for line in lines)


def run(arguments, folder, **environment):
    """What a program prints; it must end well and warn of nothing."""
    environment = {**os.environ, "MPLBACKEND": "Agg", "TQDM_DISABLE": "1", **environment}
    done = subprocess.run(arguments, cwd=folder, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "Warning" not in done.stderr
    return done.stdout


def run_program(page, section, folder, **environment):
    (folder / "program.py").write_text(programs()[page, section], encoding="utf-8")
    return run([sys.executable, "program.py"], folder, **environment)


def results(folder, name, cells):
    """The table of a sweep, each of whose cells has a result, and the figure that was made of it."""
    table = pd.read_csv(folder / "runs" / name / "results.csv")
    assert len(table) == cells
    assert ((table.low <= table.asr) & (table.asr <= table.high) & (table.asr > 0)).all()
    return table, (folder / f"{name}.svg").read_text()


# Programs


def test_every_section_with_a_program_is_tested():
    assert set(programs()) == {
        ("README.md", "Sanitize a text"),
        ("README.md", "Attack it"),
        ("README.md", "Audit your own text"),
        ("README.md", "Recompute a difference"),
        ("README.md", "Plug in a mechanism"),
        ("README.md", "Plug in an attack"),
        ("book/pages/use-it.md", "Run it, use it, add to it"),
        ("CONTRIBUTING.md", "A mechanism"),
        ("CONTRIBUTING.md", "An attack"),
        ("CONTRIBUTING.md", "A data set"),
    }


@pytest.mark.parametrize("section", ["Sanitize a text", "Attack it", "Plug in a mechanism", "Plug in an attack"])
def test_programs_of_the_readme_are_short(section):
    texts = [text for title, _, text in blocks("README.md") if title == section]
    assert all(sum(bool(line.strip()) for line in text.splitlines()) <= 15 for text in texts)


def test_readme_recomputes_a_difference(tmp_path):
    """From the hits, on some of the positions: near the difference on all of them, which the table has."""
    said = run_program("README.md", "Recompute a difference", tmp_path)
    table = pd.read_csv(ROOT / "data" / "results" / "overlap-sst2.csv")
    whole = table[table.attack == "markov"].set_index(["split_by", "epsilon", "seed"])
    lines = [line.split() for line in said.splitlines()[1:]]
    assert len(lines) == len(whole)
    for _, split_by, _, epsilon, _, seed, n, difference, low, high in lines:
        all_of_it = whole.loc[(split_by, float(epsilon), int(seed))]
        assert 0 < int(n) < all_of_it.n_positions and float(low) < float(difference) < float(high)
        assert abs(float(difference) - all_of_it["over context-free"]) < 0.03


def test_readme_sanitizes(default_data, tmp_path):
    released, promise = run_program("README.md", "Sanitize a text", tmp_path).splitlines()
    words = released.split(" ")
    assert len(words) == 12 and words != "the staff were kind , but i waited for three hours .".split(" ")
    assert set(words) <= set(load_embeddings().words[:20_000])
    assert promise.startswith("DP within groups with epsilon = 1;")


def test_readme_audits(default_data, tmp_path):
    said = run_program("README.md", "Audit your own text", tmp_path).splitlines()
    assert said[0].startswith("Of 100 words that should be protected, a reader with public text names")
    assert json.loads((tmp_path / "audit.json").read_text())["about"]["documents"] == 100
    assert "<svg" in (tmp_path / "audit.html").read_text(encoding="utf-8")


def test_readme_attacks(default_data, tmp_path):
    """The first sentences of the corpus, and a file that the command named there has released."""
    (tmp_path / "reviews.txt").write_text("\n".join(one.text for one in load_dataset("rt")[:300]) + "\n")
    (said,) = re.findall(r"`textsan (sanitize .* reviews\.txt safe\.txt)`", (ROOT / "README.md").read_text())
    run([*COMMAND, *shlex.split(said)], tmp_path)
    printed = run_program("README.md", "Attack it", tmp_path)
    rate = r"(\S+) \[(\S+), (\S+)\]\n"
    *one, value, low, high = map(float, re.fullmatch(rate * 2, printed).groups())
    assert 0.1 < one[1] < one[0] < one[2] < 0.9
    # The same attack on another text, whose draws no seed fixes: four standard errors, so that chance has no say.
    error = np.hypot(one[2] - one[1], high - low) / 3.92
    assert 0.1 < low < value < high < 0.9 and abs(value - one[0]) < 4 * error


def test_readme_makes_the_variants_with_a_plus(default_data, tmp_path):
    names = "custext_plus, same, santext_plus"
    ends = f"\nprint([(type(one).__name__, len(one.keep), len(one.protected)) for one in ({names})])\n"
    (tmp_path / "program.py").write_text(programs()["README.md", "Sanitize a text"] + ends)
    *_, printed = run([sys.executable, "program.py"], tmp_path).splitlines()
    custext, same, santext = ast.literal_eval(printed)
    assert custext == same and custext[1] > 100 and santext == ("SanTextPlus", 0, 18_000)


def test_readme_plugs_in_a_mechanism(default_data, tmp_path):
    assert run_program("README.md", "Plug in a mechanism", tmp_path) == "failed: []\n"
    table, figure = results(tmp_path, "response", 6)
    mine = table[table.defence == "response"]
    stays = np.exp(mine.epsilon) / (np.exp(mine.epsilon) + 19)
    noise = 4 * np.sqrt(stays * (1 - stays) / mine.n_positions)
    assert (abs(mine.unchanged - stays) < noise).all()
    assert set(table.defence) == {"response", "santext"}
    assert "#0f7878" in figure and "response" in figure and "SanText" in figure


def test_readme_plugs_in_an_attack(default_data, tmp_path):
    assert run_program("README.md", "Plug in an attack", tmp_path) == "failed: []\n"
    table, figure = results(tmp_path, "commonest", 9)
    asr = table.set_index(["attack", "epsilon"]).asr.unstack()
    assert (asr.loc["commonest"] < asr.loc["context-free"]).all()  # Bayes' rule is the best that looks at one word
    assert asr.loc["context-free"].is_monotonic_increasing
    assert json.loads(table[table.attack == "commonest"].attack_parameters.iloc[0]) == {"k": 3}
    assert "#0f7878" in figure and "commonest" in figure and "context-free" in figure


def test_first_page(default_data, tmp_path):
    (page,) = (key for key in programs() if key[0] == "book/pages/use-it.md")
    run_program(*page, tmp_path)


def test_contributors_mechanism(default_data, tmp_path):
    printed = run_program("CONTRIBUTING.md", "A mechanism", tmp_path)
    tight, claimed = map(float, re.fullmatch(r"(\S+) at .* of (\S+)\nfailed: \[\]\n", printed).groups())
    assert claimed / 2 < tight <= claimed == 4
    table, figure = results(tmp_path, "unit", 6)
    mine = table[table.defence == "unit santext"]
    assert list(mine.epsilon) == [5, 10, 20] and mine.unchanged.is_monotonic_increasing
    assert table.defence.nunique() == 2
    assert "#0f7878" in figure and "SanText, unit vectors" in figure


def test_contributors_attack(default_data, tmp_path):
    *printed, failed = run_program("CONTRIBUTING.md", "An attack", tmp_path).splitlines()
    rates = {float(line.split()[0]): float(line.split()[1]) for line in printed}
    assert failed == "failed: []"
    table, figure = results(tmp_path, "flat", 9)
    asr = table.set_index(["attack", "epsilon"]).asr
    assert rates[1.0] == pytest.approx(asr["context-free", 2.0], abs=5e-4)  # at power 1 it is that attack
    assert rates[0.5] == pytest.approx(asr["flat", 2.0], abs=5e-4)
    assert rates[0.0] != rates[1.0]
    assert "#0f7878" in figure and "flat prior" in figure


def test_contributors_data_set(default_data, tmp_path):
    cache = {"TEXTSAN_CACHE": str(default_data)}
    first, shadow = run_program("CONTRIBUTING.md", "A data set", tmp_path, **cache).splitlines()
    assert first == "Record(text='She slept well.', label=0)"
    assert len(re.findall(r"\['", shadow)) == 2


def test_contributors_entry_of_the_registry(tmp_path, monkeypatch):
    (entry,) = [text for section, kind, text in blocks("CONTRIBUTING.md") if kind == "toml"]
    registry = tmp_path / "registry.toml"
    registry.write_text((ROOT / "textsan" / "data" / "registry.toml").read_text() + entry)
    monkeypatch.setattr(assets, "_REGISTRY", registry)
    monkeypatch.setenv("TEXTSAN_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("TEXTSAN_DATA", raising=False)
    assets.registry.cache_clear()
    try:
        assert "ward" in corpora.known()
        asset = assets.registry()["assets"]["ward"]
        folder = tmp_path / "cache" / "ward"  # as if the hub had been asked
        folder.mkdir(parents=True)
        (file,) = asset["files"]
        notes = core.Array(["Slept well.", "Went home early."], core.DataType.string())
        table = core.Table({"note": notes, "long": core.Array([0, 1], core.DataType.int64())})
        io.write_parquet(table, folder / file["path"])
        recorded = {file["path"]: assets.file_sha256(folder / file["path"])}
        (folder / f".sha256-{asset['revision']}.json").write_text(json.dumps(recorded))
        assert [(r.text, r.label) for r in load_dataset("ward")] == [("Slept well.", 0), ("Went home early.", 1)]
    finally:
        monkeypatch.undo()
        assets.registry.cache_clear()


def test_contributors_chapter(tmp_path):
    of_chapter = {kind: text for section, kind, text in blocks("CONTRIBUTING.md") if section == "A chapter"}
    (line,) = yaml.safe_load(of_chapter["yaml"])
    (tmp_path / "book").mkdir()
    (tmp_path / "_toc.yml").write_text(f"format: jb-book\nroot: index\nchapters:\n{of_chapter['yaml']}")
    name = line["file"].removeprefix("notebooks/")
    assert f"`book/{name}.md`" in (ROOT / "CONTRIBUTING.md").read_text()
    (tmp_path / "book" / f"{name}.md").write_text(of_chapter["markdown"])
    chapter = chapters.find(tmp_path, "90")
    assert chapters.parameters(chapter) == {"yes": 0.5, "turned": 0.25}
    (command,) = [one for one in commands() if one.startswith(".venv/bin/textsan run 90 ")]
    run([*COMMAND, *shlex.split(command)[1:]], tmp_path)
    (executed,) = (tmp_path / "runs").glob("*.ipynb")
    outputs = [cell.outputs for cell in nbformat.read(executed, as_version=4).cells if cell.cell_type == "code"]
    assert outputs[-1][0].text == "0.900\n"


def test_code_on_the_page_fits_its_width():
    lines = [line for _, _, content in blocks("CONTRIBUTING.md") for line in content.splitlines()]
    assert [line for line in lines if len(line) > WIDTH] == []


def test_contributors_is_a_page_of_the_book():
    parts = yaml.safe_load((ROOT / "_toc.yml").read_text())["parts"]
    back = [chapter["file"] for part in parts if part["caption"] == "Back matter" for chapter in part["chapters"]]
    assert "book/pages/contributors" in back


# Commands


def sanitizes(folder, said):
    assert (folder / "safe.txt").read_text().count("\n") == 2
    assert json.loads((folder / "safe.txt.json").read_text())


def parameters_are_passed(folder, said):
    notebook = nbformat.read(folder / "out.ipynb", as_version=4)
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert any(cell.source == "# Parameters\nepsilon = 2.0\n" for cell in cells)
    assert all(cell.execution_count for cell in cells)


def runs_the_chapter(folder, said):
    (path,) = said.split()
    assert path.startswith("runs/03-") and path.endswith("-epsilon=1.0-dataset=amazon.ipynb")
    cells = [cell for cell in nbformat.read(folder / path, as_version=4).cells if cell.cell_type == "code"]
    assert any(cell.source == '# Parameters\nepsilon = 1.0\ndataset = "amazon"\n' for cell in cells)
    assert all(cell.execution_count for cell in cells)


def audits(folder, said):
    assert (
        said.startswith("2 documents with a word that counts decide nothing")
        and "<svg" in (folder / "audit.html").read_text()
    )
    assert json.loads((folder / "audit.json").read_text())["about"]["documents"] == 2


def chooses(folder, said):
    assert "custext+" in said and "invented later" in said


def compares(folder, said):
    cells = read_spec(folder / "data" / "sweeps" / "quick.yml")
    table = pd.read_csv(folder / "runs" / "sweeps" / "quick" / "results.csv")
    assert len(table) == len(cells) and table["over context-free"].notna().any()
    assert "runs/sweeps/quick/results.csv" in said and "over context-free" in said


def builds_the_course(folder, said):
    assert said == "13 assignments; for students: ../spring/student\n"
    assert len(list((folder.parent / "spring" / "student").glob("*.ipynb"))) == 13


def says_what_is_stale(folder, said):
    lines = said.splitlines()
    assert len(lines) == len(chapters.chapters(ROOT))
    assert all(re.fullmatch(r"[a-z0-9-]+: (fresh|stale: .*)", line) for line in lines)


def says_what_is_missing(folder, said):
    assert re.fullmatch(r"runs/sweeps/quick: 0 fresh, 0 stale, \d+ missing\n", said)


def says_what_made_the_tables(folder, said):
    *lines, counts = said.splitlines()
    assert len(lines) == len(list((ROOT / "data" / "results").glob("*.csv"))) and counts.endswith(", 0 unrecorded")


def says_something(folder, said):
    assert said.strip()


# In any folder, as the page says.
ANYWHERE = ".venv/bin/papermill notebooks/02-a-sanitizer-is-a-channel.ipynb out.ipynb -p epsilon 2.0"
RUN = {
    ANYWHERE: parameters_are_passed,
    ".venv/bin/textsan run 03 -p epsilon 1.0 -p dataset amazon": runs_the_chapter,
    ".venv/bin/textsan sanitize --mechanism custext+ --epsilon 1 reviews.txt safe.txt": sanitizes,
    ".venv/bin/textsan audit --mechanism custext+ --epsilon 1 reviews.txt": audits,
    ".venv/bin/textsan choose reviews.txt --mechanism custext+ --words 0.2": chooses,
    ".venv/bin/textsan sweep data/sweeps/quick.yml --over context-free": compares,
    ".venv/bin/textsan sweep data/sweeps/quick.yml --status": says_what_is_missing,
    ".venv/bin/textsan sweep --status --all": says_what_made_the_tables,
    ".venv/bin/textsan data list": says_something,
    ".venv/bin/textsan course build ../spring": builds_the_course,
    ".venv/bin/textsan book --dry-run": says_what_is_stale,
    ".venv/bin/textsan --help": says_something,
}
MINUTES = {".venv/bin/textsan sweep data/sweeps/quick.yml --over context-free"}  # more than 30 s on one core
OF_THE_CHAPTER = ".venv/bin/textsan run 90 -p turned 0.1"


def test_every_command_is_run():
    """Here, or by `make test` itself, whose lines these are."""
    assert set(commands()) == {*RUN, *OF_MAKE, OF_THE_CHAPTER}
    lines = (ROOT / "Makefile").read_text().split("\n\n")
    made = "".join(part for part in lines if re.search(r"^(test|pages|proofs):", part, re.MULTILINE))
    assert all(line in made for line in OF_MAKE.values())


@pytest.fixture
def clone(tmp_path):
    """A folder that holds what the checkout holds, by links, and no results of its own."""
    folder = tmp_path / "clone"
    folder.mkdir()
    for path in ROOT.iterdir():
        if not path.name.startswith((".", "_build", "runs")):
            (folder / path.name).symlink_to(path)
    return folder


@pytest.mark.parametrize(
    "command",
    [
        pytest.param(
            one,
            marks=pytest.mark.skipif(not FULL and one in MINUTES, reason="minutes; make test FULL=1 runs it"),
        )
        for one in RUN
    ],
)
def test_commands(default_data, clone, command):
    if command == ANYWHERE:
        for path in clone.iterdir():
            if path.name != "notebooks":
                path.unlink()
    (clone / ".venv").symlink_to(sys.prefix)
    (clone / "reviews.txt").write_text("A fine film.\nI slept.\n")
    RUN[command](clone, run(["bash", "-c", command], clone))
