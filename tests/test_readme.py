"""Every program and cheap command of README, manual, use-it.md and CONTRIBUTING.md is run as it stands there.

The Python blocks of one section are one program.
"""

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

from textsan import load_dataset
from textsan.base import assets
from textsan.release.record import SCHEMA
from textsan.text import corpora

ROOT = Path(__file__).parents[1]
MANUAL = "book/manual/package.md"
PAGES = ("README.md", MANUAL, "book/pages/use-it.md", "CONTRIBUTING.md")
LONGEST = {"README.md": 700, "CONTRIBUTING.md": 900}  # words, code included
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


PRINTS = {  # what the program of a section prints, and a file that it writes
    (MANUAL, "Sanitize a text"): (r"^(\S+ ){11}\S+\nDP within groups with epsilon = 1;", ""),
    (MANUAL, "Sanitize in Python, with the record"): (
        r"kept words, released verbatim.*\ni .* for .*DP within groups\n$",
        "safe.csv.json",
    ),
    (MANUAL, "Audit your own text"): (
        r"^Do not release\n.* who holds other rows of this text recovers",
        "audit.html",
    ),
    (MANUAL, "Plug in an attack"): (r"^failed: \[\]\n([^\n]*\n){10}$", "runs/commonest/results.csv"),
    (MANUAL, "A data set of your own"): (r"^Record\(text='She slept well.', label=0\)\n[^\n]*\['.*\['", ""),
    ("book/pages/use-it.md", "Run it, use it, add to it"): ("", ""),
}


@pytest.mark.parametrize(("page", "section"), PRINTS)
def test_a_program_runs_and_prints_what_it_should(default_data, tmp_path, page, section):
    (tmp_path / "reviews.csv").write_text("author,message\n" + "Ann,I waited for three hours in the ward\n" * 2)
    printed, written = PRINTS[page, section]
    assert re.search(printed, run_program(page, section, tmp_path, TEXTSAN_CACHE=str(default_data)), re.DOTALL)
    assert (tmp_path / written).exists()
    if written == "safe.csv.json":
        assert json.loads((tmp_path / written).read_text())["dropped"] == ["author"]
        assert "hours in the ward" in (tmp_path / "safe.csv").read_text()


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
    table = pd.read_csv(tmp_path / "runs" / "response" / "results.csv")
    mine = table[table.defence == "response"]
    stays = np.exp(mine.epsilon) / (np.exp(mine.epsilon) + 19)
    noise = 4 * np.sqrt(stays * (1 - stays) / mine.n_positions)
    assert (abs(mine.unchanged - stays) < noise).all()
    assert set(table.defence) == {"response", "santext"} and len(table) == 6
    assert "#0f7878" in (tmp_path / "response.svg").read_text()


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


# In any folder, as the page says.
ANYWHERE = ".venv/bin/papermill notebooks/02-a-sanitizer-is-a-channel.ipynb out.ipynb -p epsilon 2.0"
RUN = {  # what a command says, and what it writes
    ANYWHERE: ("", "out.ipynb"),
    ".venv/bin/textsan run 05 -p epsilon 1.0 -p dataset amazon": (
        r"^runs/05-.*-epsilon=1.0-dataset=amazon.ipynb\n$",
        "runs/05-*-epsilon=1.0-dataset=amazon.ipynb",
    ),
    ".venv/bin/textsan start reviews.txt": (r"^reviews.txt: txt, utf-8; all 24 records\n(.*\n   textsan ){3}", ""),
    ".venv/bin/textsan sanitize --mechanism custext+ --epsilon 1 reviews.txt safe.txt": ("", "safe.txt.json"),
    ".venv/bin/textsan audit --mechanism custext+ --epsilon 1 reviews.txt": (
        r"^(Do not release|Not shown)\n",
        "audit.html",
    ),
    ".venv/bin/textsan choose reviews.txt --mechanism custext+ --words 0.2": (
        r"(?=.*custext\+).*invented later",
        "",
    ),
    ".venv/bin/textsan sweep data/sweeps/quick.yml --over context-free": (
        r"(?=.*over context-free).*runs/sweeps/quick/results.csv",
        "runs/sweeps/quick/results.csv",
    ),
    ".venv/bin/textsan data list": (r"\S", ""),
    ".venv/bin/textsan course build ../spring": (
        r"^18 assignments; for students: ../spring/student\n$",
        "../spring/student/*.zip",
    ),
    ".venv/bin/textsan book --dry-run": (r"^([a-z0-9/-]+: (fresh|stale: [^\n]*)\n){30,}$", ""),
    ".venv/bin/textsan --help": (r"\S", ""),
}
MINUTES = {".venv/bin/textsan sweep data/sweeps/quick.yml --over context-free"}  # more than 30 s on one core


def test_every_command_is_run():
    """Here, or by `make test` itself, whose lines these are."""
    new = {line for line in commands() if line.startswith(".venv/bin/textsan new ")}  # run by test_new.py
    assert set(commands()) == {*RUN, *OF_MAKE, *new}
    lines = (ROOT / "Makefile").read_text().split("\n\n")
    targets = re.compile(r"^(test|built|checks|types|pages|proofs):", re.MULTILINE)
    made = "".join(part for part in lines if targets.search(part))
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
    said, written = RUN[command]
    assert re.search(said, run(["bash", "-c", command], clone, statuses), re.DOTALL)
    files = [*clone.glob(written)] if written else []
    assert all(path.stat().st_size for path in files) and bool(files) == bool(written)
    for path in (one for one in files if one.suffix == ".ipynb"):
        cells = [cell for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "code"]
        assert any(cell.source.startswith("# Parameters\nepsilon = ") for cell in cells)
        assert all(cell.execution_count for cell in cells)


def test_the_manual_has_every_field_of_a_record():
    fields = json.loads(SCHEMA.read_text(encoding="utf-8"))["properties"]
    text = (ROOT / MANUAL).read_text(encoding="utf-8")
    listed = dict(re.findall(r"^\| `(\w+)` \| (.*) \|$", text, re.MULTILINE))
    assert listed == {name: field["description"] for name, field in fields.items()}
