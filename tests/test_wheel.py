"""The wheel outside of the checkout: a fresh environment that holds it and what it requires, nothing else."""

import json
import os
import shutil
import subprocess
import sys
import venv
import zipfile
from importlib.metadata import PathDistribution, distribution
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement

ROOT = Path(__file__).parents[1]
REVIEWS = "id,text\n1,The film is good.\n2,A bad story!\n"
SPEC = {
    "dataset": "rt",
    "n_private": 20,
    "n_shadow": 20,
    "seed": 0,
    "defence": {"name": "custext+", "epsilon": 1},
    "attack": ["unchanged", "context-free", {"name": "markov", "k": 5}],
}
ATTACK = """
import textsan
words = textsan.load_embeddings()
words = words.restrict(words.words[:2000])
docs = [record.tokens for record in textsan.load_dataset("nyt")[:60]]
mechanism = textsan.CusText(words, epsilon=1.0, k=10)
released = mechanism.sanitize(docs[:20], seed=0)
knowledge = textsan.Knowledge.of(mechanism, shadow=docs[20:])
positions = textsan.evaluation.sensitive_positions(docs[:20], mechanism.protected)
guesses = textsan.attacks.ContextFreeBayes.against(knowledge).reconstruct(released, positions)
truths = textsan.evaluation.words_at(docs[:20], positions)
print(textsan.evaluation.attack_success_rate(guesses, truths).value > 0.1)
"""
ADAPTER = """
from textsan.models.encoders import ADAPTERS
print(sorted(path.suffix for path in ADAPTERS.glob("without-rt.*")))
"""


# Nothing of the checkout, nor of the caller's own data.
CLEAN = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "TEXTSAN_DATA"))}


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """Built by `python -m build`, by way of the source distribution, of what the package needs of the checkout."""
    folder = tmp_path_factory.mktemp("source")
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, folder)
    shutil.copytree(ROOT / "textsan", folder / "textsan", ignore=shutil.ignore_patterns("__pycache__"))
    return built(folder)


@pytest.fixture(scope="module")
def book_wheel(tmp_path_factory):
    folder = tmp_path_factory.mktemp("source") / "textsan_book"
    shutil.copytree(ROOT / "textsan_book", folder, ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))
    return built(folder)


def built(folder):
    build = [sys.executable, "-m", "build", "--no-isolation", "--outdir", "dist"]
    subprocess.run(build, cwd=folder, env=CLEAN, check=True, capture_output=True)
    (path,) = (folder / "dist").glob("*.whl")
    return path


@pytest.fixture(scope="module")
def fresh(wheel, tmp_path_factory):
    """Runs a command in a new environment, in an empty folder.

    What the wheel requires is linked into it from the environment of the tests: nothing is downloaded, and
    nothing that it does not require can be imported.
    """
    return environment(tmp_path_factory.mktemp("fresh"), [wheel])


@pytest.fixture(scope="module")
def fresh_with_book(wheel, book_wheel, tmp_path_factory):
    """Install both packages with the extras book and course, as README's line does."""
    return environment(tmp_path_factory.mktemp("fresh"), [wheel, book_wheel], ("book", "course"))


def environment(folder, wheels, extras=()):
    """A new environment of wheels and what the first one requires; gives what runs a command in it."""
    venv.create(folder / "env", with_pip=False)
    python = folder / "env" / "bin" / "python"
    pip = [sys.executable, "-m", "pip", "--python", str(python), "install", "--no-deps", "--no-index"]
    subprocess.run([*pip, *map(str, wheels)], env=CLEAN, check=True, capture_output=True)
    (libraries,) = (folder / "env" / "lib").glob("python*/site-packages")
    (metadata,) = libraries.glob("textsan-*.dist-info")
    for one in closure(PathDistribution(metadata), extras):
        for top in {file.parts[0] for file in one.files} - {"..", "__pycache__"}:
            if not (libraries / top).exists():
                (libraries / top).symlink_to(one.locate_file(top))
    (folder / "empty").mkdir()
    path = f"{python.parent}{os.pathsep}{os.environ['PATH']}"

    def run(*command, input=None, cwd=folder / "empty", **changes):
        return subprocess.run(
            [python.parent / command[0], *command[1:]],
            cwd=cwd,
            env=CLEAN | {"PATH": path} | changes,
            input=input,
            capture_output=True,
            text=True,
        )

    run.folder = folder / "empty"
    return run


def closure(package, extras=()) -> list:
    found, waiting = {}, [(package, {"", *extras})]
    while waiting:
        one, asked = waiting.pop()
        for requirement in map(Requirement, one.requires or []):
            marker = requirement.marker
            wanted = marker is None or any(marker.evaluate({"extra": extra}) for extra in asked)
            if wanted and (requirement.name, *requirement.extras) not in found:
                found[requirement.name, *requirement.extras] = distribution(requirement.name)
                waiting.append((distribution(requirement.name), {"", *requirement.extras}))
    return list(found.values())


def test_the_wheel_holds_the_package_and_its_data_and_nothing_else(wheel):
    inside = {Path(name) for name in zipfile.ZipFile(wheel).namelist()}
    mine = {path.relative_to(ROOT) for path in (ROOT / "textsan").rglob("*") if path.is_file()}
    mine = {path for path in mine if "__pycache__" not in path.parts}
    assert {path for path in inside if not path.parts[0].endswith(".dist-info")} == mine


def test_commands_work(fresh, default_data):
    (fresh.folder / "reviews.csv").write_text(REVIEWS)
    (fresh.folder / "spec.yml").write_text(yaml.safe_dump(SPEC))
    custext = ("--mechanism", "custext+", "--epsilon", "1")
    for command, said in {
        ("textsan", "--version"): "version",
        ("textsan", "data", "pull"): str(default_data / "glove-6b-50d"),
        ("textsan", "data", "verify", "vader-corpora"): "1 assets are as the registry says",
        ("textsan", "sanitize", *custext, "--pass", "id", "reviews.csv", "safe.csv"): "",
        ("textsan", "audit", "reviews.csv", "--released", "safe.csv"): "2 documents with a word that counts show",
        ("textsan", "sweep", "spec.yml", "-o", "swept", "-j", "2", "--over", "unchanged"): "swept/results.csv",
        ("python", "-c", "import textsan; print(textsan.__version__, textsan.__file__)"): "site-packages",
        ("python", "-c", ATTACK): "True",
        ("python", "-c", ADAPTER): "['.json', '.safetensors']",
    }.items():
        done = fresh(*command)
        expected = 4 if "audit" in command else 0  # of so few rows nothing can be shown
        assert done.returncode == expected and said in done.stdout, (command, done.stdout, done.stderr)
    alone = fresh("textsan", "run", "02")
    assert alone.returncode == 2 and "It comes with the book: pip install ./textsan_book" in alone.stderr
    header, first, second = (fresh.folder / "safe.csv").read_text().splitlines()
    assert header == "id,text" and first.startswith("1,the ") and second.startswith("2,a ")


def test_what_an_extra_brings_is_missed_in_one_line_that_names_it(fresh, default_data, tmp_path):
    (fresh.folder / "spec.yml").write_text(yaml.safe_dump(SPEC))
    (fresh.folder / "models.yml").write_text(
        yaml.safe_dump(SPEC | {"attack": [{"name": "mask inference", "public": False}, "unchanged"]})
    )
    swept = fresh("textsan", "sweep", "models.yml", "-o", "models", "-j", "1")
    assert swept.returncode == 1 and "torch is not installed; pip install '.[models]' in a clone" in swept.stderr
    assert (fresh.folder / "models" / "results.csv").read_text().count("unchanged,{}") == 1
    for command, extra, changes in (
        (("data", "pull", "sst2"), "[hub]", {"TEXTSAN_CACHE": str(tmp_path)}),
        (("sweep", "spec.yml", "-o", "dask", "--scheduler", "tcp://nowhere:1"), "[cluster]", {}),
    ):
        done = fresh("textsan", *command, **changes)
        (line,) = done.stderr.splitlines()
        assert done.returncode in (1, 2) and f"pip install '.{extra}' in a clone" in line, line


def test_python_in_the_folder_above_a_clone_imports_the_package(tmp_path):
    """There `textsan/` is a folder of that name without a package in it: the clone."""
    clone = tmp_path / "above" / "textsan"
    clone.mkdir(parents=True)
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, clone)
    shutil.copytree(ROOT / "textsan", clone / "textsan", ignore=shutil.ignore_patterns("__pycache__"))
    editable = "from setuptools import build_meta; build_meta.build_editable('..')"  # what `pip install -e` calls
    subprocess.run([sys.executable, "-c", editable], cwd=clone, env=CLEAN, check=True, capture_output=True)
    run = environment(tmp_path, [*clone.parent.glob("*.whl")])
    found = run("python", "-c", "import textsan; print(textsan.SanText.__module__)", cwd=clone.parent)
    assert found.stdout == "textsan.mechanisms.santext\n", found.stderr


def test_the_book_beside_it_gives_its_commands_and_only_there(fresh, fresh_with_book, tmp_path):
    """README's lines: `run`, `check`, `book` in a clone, and an assignment that finds its checks anywhere."""
    assert fresh("textsan", "run", "2").returncode == 2
    clone = tmp_path / "clone"
    for name in ("book", "notebooks", "data"):
        shutil.copytree(ROOT / name, clone / name)
    for name in ("_toc.yml", "constraints.txt"):
        shutil.copy(ROOT / name, clone)
    states = fresh_with_book("textsan", "book", "--dry-run", cwd=clone)
    assert states.returncode == 0 and states.stdout.count(": ") >= 33, states.stderr
    unknown = fresh_with_book("textsan", "check", "nonsense", cwd=clone)
    assert unknown.returncode == 2 and "is no chapter" in unknown.stderr
    untrained = fresh_with_book("textsan", "train-mlm", "rt", "--output", ".", cwd=clone)
    assert untrained.returncode == 1 and "pip install '.[models]' in a clone" in untrained.stderr
    built = fresh_with_book("textsan", "course", "build", str(tmp_path / "spring"), "01", cwd=clone)
    assert built.returncode == 0, built.stderr
    (student,) = (tmp_path / "spring" / "student").glob("*.zip")
    with zipfile.ZipFile(student) as archive:
        cells = json.loads(archive.read("01-randomized-response.ipynb"))["cells"]
    checked = [line for cell in cells for line in cell["source"] if "textsan_book.course" in line]
    assert checked and fresh_with_book("python", "-c", checked[0]).returncode == 0


def test_plain_papermill_runs_a_chapter_from_another_folder(fresh_with_book, default_data, tmp_path):
    kernel = tmp_path / "kernels" / "python3"  # of that environment, whatever others there are
    kernel.mkdir(parents=True)
    command = [str(fresh_with_book.folder.parent / "env" / "bin" / "python"), "-m", "ipykernel_launcher", "-f"]
    spec = {"argv": [*command, "{connection_file}"], "display_name": "python3", "language": "python"}
    (kernel / "kernel.json").write_text(json.dumps(spec))
    chapter = str(ROOT / "notebooks" / "02-a-sanitizer-is-a-channel.ipynb")
    given = ("-p", "epsilon", "2.0", "-p", "vocabulary", "500", "-p", "draws", "500")
    run = fresh_with_book("python", "-m", "papermill", chapter, "out.ipynb", *given, JUPYTER_PATH=str(tmp_path))
    assert run.returncode == 0, run.stderr[-2000:]
