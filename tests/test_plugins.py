"""Mechanisms and attacks in files of one's own: swept, sanitized with, and made anew when they change."""

import csv
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import yaml
from click.testing import CliRunner

import textsan
from textsan.attacks import ATTACKS
from textsan.base import plugins
from textsan.cli.main import main
from textsan.mechanisms import MECHANISMS, Mechanism
from textsan.plotting import looks

MECHANISM = '''"""Every word stays, or becomes the next one of the vocabulary."""
import numpy as np
from textsan import Channel
from textsan.mechanisms import MECHANISMS, Mechanism

class Swap(Mechanism):
    def __init__(self, embeddings, share: float = 0.25):
        super().__init__(embeddings.words[:50])
        self.share = share
    @property
    def channel(self):
        swapped = np.roll(np.eye(50), 1, axis=1)
        return Channel.from_matrix((1 - self.share) * np.eye(50) + self.share * swapped, self.inputs, self.inputs)

MECHANISMS.register("swap", Swap, label="Swap", colour="#AA3377", marker="h")
'''
ATTACK = '''"""The word before the released one in the vocabulary."""
from textsan.attacks import ATTACKS, Attack

class Previous(Attack):
    def __init__(self, words):
        self.before = dict(zip(words[1:] + words[:1], words))
    @classmethod
    def against(cls, knowledge):
        return cls(knowledge.channel.inputs)
    def _guess(self, docs, positions):
        return [self.before.get(docs[d][i], docs[d][i]) for d, i in positions]

ATTACKS.register("previous word", Previous.against)
'''
SPEC = {
    "dataset": "rt",
    "n_private": 60,
    "n_shadow": 20,
    "seed": [0, 1],
    "defence": [{"name": "swap", "share": [0.25, 0.75]}, {"name": "custext", "epsilon": 1}],
    "attack": ["unchanged", "previous word"],
}


@pytest.fixture
def own(tmp_path):
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "swap_mechanism.py").write_text(MECHANISM)
    (tmp_path / "own" / "previous_attack.py").write_text(ATTACK)
    return tmp_path / "own"


@pytest.fixture
def folder(tmp_path, own):
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "spec.yml").write_text(yaml.safe_dump(SPEC))
    return tmp_path / "work"


def command(folder, *arguments, **environment):
    program = [sys.executable, "-m", "textsan.cli", *map(str, arguments)]
    root = os.pathsep.join([str(Path(textsan.__file__).parents[1]), environment.pop("PYTHONPATH", "")])
    environment = {**os.environ, "PYTHONPATH": root.rstrip(os.pathsep), **environment}
    return subprocess.run(program, cwd=folder, env=environment, capture_output=True, text=True)


@pytest.fixture
def forgotten(monkeypatch, plugged):
    monkeypatch.setattr(plugins, "_loaded", {})
    yield
    for name in ("swap_mechanism", "previous_attack"):
        sys.modules.pop(name, None)


def rates(folder):
    with (folder / "out" / "results.csv").open() as file:
        rows = list(csv.DictReader(file))
    return {(row["defence_parameters"], row["attack"], row["seed"]): float(row["asr"]) for row in rows}


PLUGINS = ("--plugin", "../own/swap_mechanism.py", "--plugin", "../own/previous_attack.py")
SWEEP = ("sweep", "spec.yml", "-o", "out", "-j", "2")


def test_fifteen_lines_each_are_swept_with_two_workers_and_anew_when_their_file_changes(folder, own, default_data):
    assert len(MECHANISM.splitlines()) <= 16 and len(ATTACK.splitlines()) <= 15
    done = command(folder, *SWEEP, *PLUGINS)
    assert done.returncode == 0, done.stderr
    found = rates(folder)
    assert len(found) == 12
    for seed in "01":
        for share in (0.25, 0.75):
            row = json.dumps({"share": share})
            assert found[row, "unchanged", seed] == pytest.approx(1 - share, abs=0.1)
            assert found[row, "previous word", seed] == pytest.approx(share, abs=0.1)
    (own / "swap_mechanism.py").write_text(MECHANISM.replace("eye(50), 1,", "eye(50), -1,"))
    assert command(folder, *SWEEP[:-1], "1", *PLUGINS).returncode == 0
    assert rates(folder)[json.dumps({"share": 0.75}), "previous word", "0"] < 0.1


def test_a_specification_names_its_plugins_from_its_own_folder(folder, own, default_data):
    spec = SPEC | {"plugins": ["swap_mechanism.py", "previous_attack.py"], "seed": 0}
    (folder / "inside").mkdir()
    (folder / "inside" / "spec.yml").write_text(yaml.safe_dump(spec))
    for name in spec["plugins"]:
        (own / name).rename(folder / "inside" / name)
    done = command(folder, "sweep", "inside/spec.yml", "-o", "out", "-j", "1")
    assert done.returncode == 0 and len(rates(folder)) == 6, done.stderr


def test_a_module_on_the_path_is_a_plugin_and_workers_of_a_dask_cluster_import_it(
    folder, own, default_data, monkeypatch
):
    from distributed import LocalCluster

    (own / "mine").mkdir()
    (own / "swap_mechanism.py").rename(own / "mine" / "swap.py")
    monkeypatch.syspath_prepend(own)  # workers get it from the process that starts them
    with LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=":0") as cluster:
        scheduler = ("--scheduler", cluster.scheduler_address)
        named = ("--plugin", "mine.swap", "--plugin", "../own/previous_attack.py")
        done = command(folder, *SWEEP, *scheduler, *named, PYTHONPATH=str(own))
        assert done.returncode == 0 and len(rates(folder)) == 12, done.stderr
        (own / "previous_attack.py").write_text(ATTACK.replace("words[1:] + words[:1], words", "words, words"))
        done = command(folder, *SWEEP, *scheduler, *named, PYTHONPATH=str(own))
        row = json.dumps({"share": 0.75})
        found = rates(folder)
        assert found[row, "previous word", "0"] == found[row, "unchanged", "0"]  # the worker has the new file
        (own / "mine" / "swap.py").write_text(MECHANISM.replace("eye(50), 1,", "eye(50), -1,"))
        done = command(folder, *SWEEP, *scheduler, *named, PYTHONPATH=str(own))
        assert done.returncode == 1 and "mine.swap is not what it was" in done.stderr


def test_text_is_sanitized_with_a_plugin_and_help_and_errors_know_it(folder, own, default_data):
    (folder / "in.txt").write_text("the of and the\n" * 50)
    given = ("sanitize", "in.txt", "out.txt", "--mechanism", "swap")
    asked = (*given, "--share", "1", "--plugin", "../own/swap_mechanism.py", "--seed", "0")
    done = command(folder, *asked)
    assert done.returncode == 0, done.stderr
    assert set((folder / "out.txt").read_text().split()) == {",", "to", "in"}
    record = json.loads((folder / "out.txt.json").read_text())
    assert record["guarantee"]["definition"] == "none"
    assert record["guarantee"]["per_token"] == "no protection is claimed for any pair of words"
    (folder / "out.txt").rename(folder / "alone.txt")
    done = command(folder, *asked, "--workers", "2")
    assert done.returncode == 0, done.stderr
    assert (folder / "out.txt").read_text() == (folder / "alone.txt").read_text()
    assert "swap" in command(folder, "sanitize", "--plugin=../own/swap_mechanism.py", "--help").stdout
    done = command(folder, *given)
    assert done.returncode == 2 and "'swap' is not one of" in done.stderr and "santext+" in done.stderr


NAMED = '''from textsan.mechanisms import MECHANISMS, Random

def make(vectors, {parameter}: float = 0.5, name: str = "x"):
    """A sanitizer.

    Args:
        {parameter}: weight of nothing, from 0 to 1.
    """
    made = Random(vectors)
    made.told = {parameter}, name
    return made

MECHANISMS.register("named", make)
'''


@pytest.fixture
def sanitize(tmp_path, monkeypatch, forgotten):
    """`textsan sanitize` with a plugin of some source, on three words."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(textsan, "load_embeddings", lambda name="": textsan.Embeddings("abc", np.eye(3)))

    def run(source, *arguments, text="a b c\n"):
        Path("in.csv").write_text(f"text\n{text}")
        Path("swap_mechanism.py").write_text(source)
        given = ["sanitize", "--plugin", "swap_mechanism.py", *arguments, "in.csv", "out.csv"]
        return CliRunner().invoke(main, given)

    return run


@pytest.mark.parametrize("parameter", ["seed", "size", "field", "embedding"])
def test_a_parameter_with_the_name_of_an_option_is_one_line(sanitize, parameter):
    result = sanitize(NAMED.format(parameter=parameter), "--mechanism", "named")
    assert result.exit_code == 2 and len(result.stderr.splitlines()) == 1 and not Path("out.csv").exists()
    what = f"parameter {parameter!r} of mechanism 'named' has the name of an option of textsan sanitize; rename it"
    assert result.stderr == f"textsan: {what}\n"


@pytest.mark.parametrize("parameter", ["words", "sources", "context", "mechanism_name"])
def test_names_inside_of_the_command_are_nobodys(sanitize, parameter):
    flag = f"--{parameter.replace('_', '-')}"
    result = sanitize(NAMED.format(parameter=parameter), "--mechanism", "named", flag, "0.25", "--name", "y")
    assert result.exit_code == 0, result.output
    given = json.loads(Path("out.csv.json").read_text())["parameters"]
    assert given.items() >= {parameter: 0.25, "name": "y"}.items()


BROKEN = """from textsan.mechanisms import MECHANISMS, Mechanism, Random


class Broken({base}):
    {body}


MECHANISMS.register("broken", Broken)
"""
INIT = "def __init__(self, embeddings): "


@pytest.mark.parametrize(
    "base, body, line, message",
    [
        ("Mechanism", INIT + "super().__init__(embeddings.words)", 4, "channel: Broken gives none; define it"),
        ("Mechanism", INIT + "pass", 4, "TypeError: Broken.__init__ does not call super().__init__(words)"),
        ("Random", "def __init__(self, embeddings, share): pass", 4, "share: broken needs one, and its"),
        ("Random", "channel = property(lambda self: {}['nothing'])", 5, "KeyError: 'nothing'"),
        ("Random", "exposed = property(lambda self: int('many'))", 5, "invalid literal for int() with base 10"),
        ("Random", "def _draw(self, rows, variates): import torch.not_there", 5, "pip install '.[models]'"),
    ],
)
@pytest.mark.parametrize("workers", ["1", "2"])
def test_a_mistake_in_a_plugin_is_one_line_with_its_place(sanitize, base, body, line, message, workers):
    source = BROKEN.format(base=base, body=body)
    result = sanitize(source, "--mechanism", "broken", "--workers", workers)
    assert result.exit_code == 2 and len(result.stderr.splitlines()) == 1, result.output
    assert message in result.stderr and result.stderr.endswith(f" (swap_mechanism.py:{line})\n")
    assert sorted(path.name for path in Path().iterdir()) == ["in.csv", "swap_mechanism.py"]


def test_what_is_wrong_with_the_text_is_not_blamed_on_the_plugin_nor_quoted(sanitize):
    """Its own `sanitize` passes the word on."""
    sound = BROKEN.format(base="Random", body="def sanitize(self, *a, **k): return super().sanitize(*a, **k)")
    sound = sound.replace('"broken", Broken', '"broken", lambda words: Broken(words, oov="error")')
    result = sanitize(sound, "--mechanism", "broken", text="a\nAnna\n")
    assert result.exit_code == 2 and "line 3 has a word outside of the vocabulary" in result.stderr
    assert "Anna" not in result.stderr and ".py:" not in result.stderr
    result = sanitize(sound, "--mechanism", "broken", text="a,b\n")
    assert result.exit_code == 2 and "line 2 has 2 columns" in result.stderr and ".py:" not in result.stderr


def test_what_a_plugin_says_of_a_text_is_left_out(sanitize):
    """A message may quote what must not be seen; the kind of the error, file and line are enough to find it."""
    own = "def sanitize(self, docs, *a, **k):\n        return {}[docs[0][0]] if 'first' in k else docs"
    result = sanitize(BROKEN.format(base="Random", body=own), "--mechanism", "broken", text="a\nAnna\n")
    assert result.exit_code == 2 and "nna" not in result.stderr
    assert "KeyError in code of the plugin" in result.stderr and result.stderr.endswith(" (swap_mechanism.py:6)\n")


def test_a_bug_of_the_package_keeps_its_traceback_and_leaves_no_folder(sanitize, monkeypatch):
    monkeypatch.setattr(Mechanism, "knows", lambda self, token: 1 / 0)
    result = sanitize("", "--mechanism", "random")
    assert isinstance(result.exception, ZeroDivisionError)
    assert sorted(path.name for path in Path().iterdir()) == ["in.csv", "swap_mechanism.py"]


def test_what_the_docstring_says_of_a_parameter_is_in_help_and_record(sanitize):
    assert sanitize(NAMED.format(parameter="share"), "--mechanism", "named").exit_code == 0
    meanings = json.loads(Path("out.csv.json").read_text())["meanings"]
    assert meanings.pop("share") == "weight of nothing, from 0 to 1." and {*meanings.values()} == {
        "not documented"
    }
    told = " ".join(sanitize(NAMED.format(parameter="share"), "--help").stdout.split())
    assert "--share FLOAT named: weight of nothing, from 0 to 1 (0.5)." in told


def test_an_installed_package_names_its_plugins_as_entry_points(folder, own, default_data):
    metadata = own / "swapper-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: swapper\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text(
        "[textsan.plugins]\nswap = swap_mechanism\nprevious = previous_attack\n"
    )
    done = command(folder, *SWEEP[:-1], "1", PYTHONPATH=str(own))
    assert done.returncode == 0 and len(rates(folder)) == 12, done.stderr


def test_what_is_loaded_in_a_notebook_is_drawn_and_is_not_sent_to_workers_by_value(own, forgotten):
    before = MECHANISMS.plugged_in, ATTACKS.plugged_in  # another test's specification may have named plugins
    textsan.load_plugin(own / "swap_mechanism.py")
    textsan.load_plugin(str(own / "previous_attack.py"))
    assert looks.look("swap", "previous word").label == "previous word on Swap"
    assert (MECHANISMS.plugged_in, ATTACKS.plugged_in) == before
    assert sorted(Path(name).name for name in plugins.loaded()) == ["previous_attack.py", "swap_mechanism.py"]
    (own / "swap_mechanism.py").write_text(MECHANISM + "x = 1\n")
    with pytest.raises(ValueError, match="swap_mechanism.py has changed since this process imported it"):
        textsan.load_plugin(own / "swap_mechanism.py")


@pytest.mark.parametrize(
    "name, content, message",
    [
        ("absent.py", None, "does not exist; pass a file or a module"),
        ("nowhere.to.be.found", None, "plugin: there is no module 'nowhere.to.be.found'"),
        ("json.py", "", "json.py has the name of another module, json; rename it"),
        ("..", None, "'..' is no name of a module"),
        ("sys", None, "'sys' is built into Python"),
        ("breaks.py", "x = 1\nraise RuntimeError('no luck')\n", "breaks.py, line 2: RuntimeError: no luck"),
        ("half_done.py", "x = (1\n", "half_done.py, line 1: '\\(' was never closed"),
    ],
)
def test_what_is_no_plugin_gets_one_line(tmp_path, monkeypatch, name, content, message):
    monkeypatch.chdir(tmp_path)
    if content is not None:
        Path(name).write_text(content)
    Path("spec.yml").write_text(yaml.safe_dump(SPEC))
    with pytest.raises((ValueError, FileNotFoundError), match=message):
        textsan.load_plugin(name)
    done = CliRunner().invoke(main, ["sweep", "spec.yml", "--plugin", name])
    assert done.exit_code == 2 and len(done.stderr.splitlines()) == 1
    assert done.stderr.startswith("textsan: plugin: ")
