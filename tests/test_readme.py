"""Every program and cheap command of README, manual, use-it.md and CONTRIBUTING.md is run as it stands there.

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
from arro3 import core, io

from textsan import load_dataset, load_embeddings
from textsan.base import assets
from textsan.release.record import SCHEMA
from textsan.sweeps.specification import read_spec
from textsan.text import corpora
from textsan_book.chapters import chapters

ROOT = Path(__file__).parents[1]
MANUAL = "book/manual/package.md"
PAGES = ("README.md", MANUAL, "book/pages/use-it.md", "CONTRIBUTING.md")
LONGEST = {"README.md": 700, "CONTRIBUTING.md": 900}  # words, code included
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


def run(arguments, folder, statuses=(0,), **environment):
    """Run a program, which must end well and warn of nothing, and return its output."""
    environment = {**os.environ, "MPLBACKEND": "Agg", "TQDM_DISABLE": "1", **environment}
    done = subprocess.run(arguments, cwd=folder, env=environment, capture_output=True, text=True)
    assert done.returncode in statuses, done.stderr
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
        ("README.md", "Sanitize and attack"),
        (MANUAL, "Sanitize a text"),
        (MANUAL, "Sanitize in Python, with the record"),
        (MANUAL, "pandas"),
        (MANUAL, "dask"),
        (MANUAL, "Spark"),
        (MANUAL, "Attack a released file"),
        (MANUAL, "Audit your own text"),
        (MANUAL, "Recompute a difference"),
        (MANUAL, "Plug in a mechanism"),
        (MANUAL, "Plug in an attack"),
        (MANUAL, "A data set of your own"),
        ("book/pages/use-it.md", "Run it, use it, add to it"),
    }


@pytest.mark.parametrize("page", LONGEST)
def test_first_pages_are_short(page):
    text = (ROOT / page).read_text(encoding="utf-8")
    assert len(text.split()) <= LONGEST[page]
    picture = next(content for _, language, content in blocks(page) if language == "text")
    assert re.fullmatch("prior.*channel.*release.*attack.*score", picture.splitlines()[0])


def test_the_program_of_the_readme_is_short():
    assert programs()["README.md", "Sanitize and attack"].count("\n") <= 15


def test_manual_recomputes_a_difference(tmp_path):
    """From the hits, on some of the positions: near the difference on all of them, which the table has."""
    said = run_program(MANUAL, "Recompute a difference", tmp_path)
    table = pd.read_csv(ROOT / "data" / "results" / "overlap-sst2.csv")
    whole = table[table.attack == "markov"].set_index(["split_by", "epsilon", "seed"])
    lines = [line.split() for line in said.splitlines()[1:]]
    assert len(lines) == len(whole)
    for _, split_by, _, epsilon, _, seed, n, difference, low, high in lines:
        all_of_it = whole.loc[(split_by, float(epsilon), int(seed))]
        assert 0 < int(n) < all_of_it.n_positions and float(low) < float(difference) < float(high)
        assert abs(float(difference) - all_of_it["over context-free"]) < 0.03


def test_manual_sanitizes_and_makes_the_variants_with_a_plus(default_data, tmp_path):
    names = "custext_plus, same, santext_plus"
    ends = f"\nprint([(type(one).__name__, len(one.keep), len(one.protected)) for one in ({names})])\n"
    (tmp_path / "program.py").write_text(programs()[MANUAL, "Sanitize a text"] + ends)
    released, promise, printed = run([sys.executable, "program.py"], tmp_path).splitlines()
    custext, same, santext = ast.literal_eval(printed)
    assert custext == same and custext[1] > 100 and santext == ("SanTextPlus", 0, 18_000)
    words = released.split(" ")
    assert len(words) == 12 and words != "the staff were kind , but i waited for three hours .".split(" ")
    assert set(words) <= set(load_embeddings().words[:20_000])
    assert promise.startswith("DP within groups with epsilon = 1;")


def test_manual_releases_with_a_record(default_data, tmp_path):
    (tmp_path / "reviews.csv").write_text("author,message\n" + "Ann,I waited for three hours in the ward\n" * 2)
    said = run_program(MANUAL, "Sanitize in Python, with the record", tmp_path).splitlines()
    assert json.loads((tmp_path / "safe.csv.json").read_text())["dropped"] == ["author"]
    assert "hours in the ward" in (tmp_path / "safe.csv").read_text()
    assert said[-1].startswith("i ") and " for " in said[-1] and said[-1].endswith("DP within groups")
    assert sum("kept words, released verbatim" in line for line in said) == 2


@pytest.mark.parametrize("section", ["pandas", "dask", "Spark"])
def test_manual_sanitizes_a_column(default_data, tmp_path, section):
    """Each row has as many words as before, a missing text none, and the other column is not there."""
    for needed in {"pandas": (), "dask": ("dask", "pyarrow"), "Spark": ("pyspark", "pyarrow")}[section]:
        pytest.importorskip(needed)
    texts = ["The staff were kind", None, "I waited for three hours", "It rained"] * 5
    pd.DataFrame({"author": "Ann", "message": texts}).to_csv(tmp_path / "reviews.csv", index=False)
    run_program(MANUAL, section, tmp_path, PYTHONWARNINGS="ignore")  # Spark warns of newer versions of pandas
    if section == "Spark":
        safe = pd.read_parquet(tmp_path / "safe.parquet")
    else:
        parts = sorted(tmp_path.glob("safe*.csv"))
        safe = pd.concat([pd.read_csv(part, skip_blank_lines=False) for part in parts])
    assert list(safe) == ["message"] and safe.message.nunique() > 3  # noise is drawn anew for each row
    lengths = [
        [len(str(text).split()) for text in some] for some in (pd.Series(texts).dropna(), safe.message.dropna())
    ]
    assert lengths[0] == lengths[1] and (safe.message.isna().array == pd.isna(texts)).all()


def test_manual_audits(default_data, tmp_path):
    said = run_program(MANUAL, "Audit your own text", tmp_path).splitlines()
    assert said[0] == "Do not release" and "an attacker who holds other rows of this text recovers" in said[1]
    assert json.loads((tmp_path / "audit.json").read_text())["about"]["rows"] == 100
    assert "<svg" in (tmp_path / "audit.html").read_text(encoding="utf-8")


RATE = r"(\S+) \[(\S+), (\S+)\]\n"


def test_readme_and_manual_attack(default_data, tmp_path):
    """The manual's on the first sentences of the corpus, in a file that the command named there has released."""
    promise, printed = run_program("README.md", "Sanitize and attack", tmp_path).splitlines(keepends=True)
    assert promise.startswith("metric DP with epsilon = 3 per unit of distance;")
    (tmp_path / "reviews.txt").write_text("\n".join(one.text for one in load_dataset("rt")[:300]) + "\n")
    (command,) = re.findall(r"`textsan (sanitize .* reviews\.txt safe\.txt)`", (ROOT / MANUAL).read_text())
    run([*COMMAND, *shlex.split(command)], tmp_path)
    printed += run_program(MANUAL, "Attack a released file", tmp_path)
    *split, value, low, high = map(float, re.fullmatch(RATE * 2, printed).groups())
    assert 0.1 < split[1] < split[0] < split[2] < 0.9
    # The same attack on another text, whose draws no seed fixes: four standard errors, so that chance has no say.
    error = np.hypot(split[2] - split[1], high - low) / 3.92
    assert 0.1 < low < value < high < 0.9 and abs(value - split[0]) < 4 * error


def test_manual_plugs_in_a_mechanism(default_data, tmp_path):
    assert run_program(MANUAL, "Plug in a mechanism", tmp_path) == "failed: []\n"
    table, figure = results(tmp_path, "response", 6)
    mine = table[table.defence == "response"]
    stays = np.exp(mine.epsilon) / (np.exp(mine.epsilon) + 19)
    noise = 4 * np.sqrt(stays * (1 - stays) / mine.n_positions)
    assert (abs(mine.unchanged - stays) < noise).all()
    assert set(table.defence) == {"response", "santext"}
    assert "#0f7878" in figure and "response" in figure and "SanText" in figure


def test_manual_plugs_in_an_attack(default_data, tmp_path):
    failed, *printed = run_program(MANUAL, "Plug in an attack", tmp_path).splitlines()
    assert failed == "failed: []" and len(printed) == 10
    table = pd.read_csv(tmp_path / "runs" / "commonest" / "results.csv")
    asr = table.set_index(["attack", "epsilon"]).asr.unstack()
    assert (asr.loc["commonest"] < asr.loc["context-free"]).all()  # Bayes' rule is the best that looks at one word
    assert asr.loc["context-free"].is_monotonic_increasing
    assert json.loads(table[table.attack == "commonest"].attack_parameters.iloc[0]) == {"k": 3}


def test_first_page(default_data, tmp_path):
    (page,) = (key for key in programs() if key[0] == "book/pages/use-it.md")
    run_program(*page, tmp_path)


def test_manual_data_set(default_data, tmp_path):
    cache = {"TEXTSAN_CACHE": str(default_data)}
    first, shadow = run_program(MANUAL, "A data set of your own", tmp_path, **cache).splitlines()
    assert first == "Record(text='She slept well.', label=0)"
    assert len(re.findall(r"\['", shadow)) == 2


def test_manual_entry_of_the_registry(tmp_path, monkeypatch):
    (entry,) = [text for section, kind, text in blocks(MANUAL) if kind == "toml"]
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


def test_code_on_the_page_fits_its_width():
    contents = [content for page in (MANUAL, "CONTRIBUTING.md") for _, _, content in blocks(page)]
    lines = [line for content in contents for line in content.splitlines()]
    assert [line for line in lines if len(line) > WIDTH] == []


# Commands


def sanitizes(folder, said):
    assert (folder / "safe.txt").read_text().count("\n") == 24
    assert json.loads((folder / "safe.txt.json").read_text())


def parameters_are_passed(folder, said):
    notebook = nbformat.read(folder / "out.ipynb", as_version=4)
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert any(cell.source == "# Parameters\nepsilon = 2.0\n" for cell in cells)
    assert all(cell.execution_count for cell in cells)


def runs_the_chapter(folder, said):
    (path,) = said.split()
    assert path.startswith("runs/05-") and path.endswith("-epsilon=1.0-dataset=amazon.ipynb")
    cells = [cell for cell in nbformat.read(folder / path, as_version=4).cells if cell.cell_type == "code"]
    assert any(cell.source == '# Parameters\nepsilon = 1.0\ndataset = "amazon"\n' for cell in cells)
    assert all(cell.execution_count for cell in cells)


def audits(folder, said):
    assert said.split("\n")[0] in ("Do not release", "Not shown") and "<svg" in (folder / "audit.html").read_text()
    assert json.loads((folder / "audit.json").read_text())["about"]["rows"] == 24


def chooses(folder, said):
    assert "custext+" in said and "invented later" in said


def compares(folder, said):
    cells = read_spec(folder / "data" / "sweeps" / "quick.yml")
    table = pd.read_csv(folder / "runs" / "sweeps" / "quick" / "results.csv")
    assert len(table) == len(cells) and table["over context-free"].notna().any()
    assert "runs/sweeps/quick/results.csv" in said and "over context-free" in said


def builds_the_course(folder, said):
    assert said == "18 assignments; for students: ../spring/student\n"
    assert len(list((folder.parent / "spring" / "student").glob("*.zip"))) == 18


def says_what_is_stale(folder, said):
    lines = said.splitlines()
    assert len(lines) == len(chapters.chapters(ROOT))
    assert all(re.fullmatch(r"[a-z0-9/-]+: (fresh|stale: .*)", line) for line in lines)


def proposes(folder, said):
    assert said.startswith("reviews.txt: txt, utf-8; all 24 records\n") and said.count("\n   textsan ") == 3


def says_something(folder, said):
    assert said.strip()


# In any folder, as the page says.
ANYWHERE = ".venv/bin/papermill notebooks/02-a-sanitizer-is-a-channel.ipynb out.ipynb -p epsilon 2.0"
RUN = {
    ANYWHERE: parameters_are_passed,
    ".venv/bin/textsan run 05 -p epsilon 1.0 -p dataset amazon": runs_the_chapter,
    ".venv/bin/textsan start reviews.txt": proposes,
    ".venv/bin/textsan sanitize --mechanism custext+ --epsilon 1 reviews.txt safe.txt": sanitizes,
    ".venv/bin/textsan audit --mechanism custext+ --epsilon 1 reviews.txt": audits,
    ".venv/bin/textsan choose reviews.txt --mechanism custext+ --words 0.2": chooses,
    ".venv/bin/textsan sweep data/sweeps/quick.yml --over context-free": compares,
    ".venv/bin/textsan data list": says_something,
    ".venv/bin/textsan course build ../spring": builds_the_course,
    ".venv/bin/textsan book --dry-run": says_what_is_stale,
    ".venv/bin/textsan --help": says_something,
}
MINUTES = {".venv/bin/textsan sweep data/sweeps/quick.yml --over context-free"}  # more than 30 s on one core


def test_every_command_is_run():
    """Here, or by `make test` itself, whose lines these are."""
    new = {line for line in commands() if line.startswith(".venv/bin/textsan new ")}  # run by test_new.py
    assert set(commands()) == {*RUN, *OF_MAKE, *new}
    lines = (ROOT / "Makefile").read_text().split("\n\n")
    made = "".join(part for part in lines if re.search(r"^(test|checks|types|pages|proofs):", part, re.MULTILINE))
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
    (clone / "reviews.txt").write_text("".join(f"A fine film, though I slept {n} minutes.\n" for n in range(24)))
    statuses = (3, 4) if " audit " in command else (0,)  # two dozen lines without a limit for words keep none
    RUN[command](clone, run(["bash", "-c", command], clone, statuses))


def test_the_manual_has_every_field_of_a_record():
    fields = json.loads(SCHEMA.read_text(encoding="utf-8"))["properties"]
    text = (ROOT / MANUAL).read_text(encoding="utf-8")
    listed = dict(re.findall(r"^\| `(\w+)` \| (.*) \|$", text, re.MULTILINE))
    assert listed == {name: field["description"] for name, field in fields.items()}
