"""One registry each of mechanisms and of attacks: command line, sweeps, plots and tables know what they know."""

import inspect

import numpy as np
import pytest
import yaml
from click.testing import CliRunner
from helpers import made_up_split

import textsan
from textsan import Embeddings, plotting
from textsan.attacks import ATTACKS
from textsan.base.registry import Registry
from textsan.cli.main import main
from textsan.mechanisms import MECHANISMS, make_mechanism
from textsan.sweeps import specification, sweep
from textsan.sweeps.tables import load_tables
from textsan.text.corpora import Record

NEEDS_AN_ENCODER = {"contextual", "contextual bound", "density ratio", "inversion BERT", "language model"}
NEEDS_AN_ENCODER |= {"mask inference", "mixture", "mixture without language", "noisy channel", "prompted"}
NEEDS_AN_ENCODER |= {"released contextual"}


@pytest.fixture
def world(monkeypatch):
    made_up_split(monkeypatch, 42)
    known = [Record(" ".join(["the", "w1", "of", "w2"] * 3))] * 5  # what a mechanism reads of public text
    monkeypatch.setattr(sweep.corpora, "load_dataset", lambda name, split="all": known)


def spec(folder, **changes):
    base = {"dataset": "rt", "n_private": 30, "n_shadow": 20, "seed": 0, "attack": "unchanged"}
    (folder / "spec.yml").write_text(yaml.safe_dump(base | changes))
    return folder / "spec.yml"


@pytest.mark.parametrize("name", MECHANISMS)
def test_a_mechanism_is_known_to_all_four(world, tmp_path, name, monkeypatch):
    from textsan.mechanisms import custext

    vectors = np.random.default_rng(9).normal(size=(42, 4))
    words = ["the", "of", *(f"w{i}" for i in range(40))]
    monkeypatch.setattr(custext, "_whole_file", lambda: Embeddings(words, vectors))
    entry = MECHANISMS[name]
    assert f"{name}|" in CliRunner().invoke(main, ["sanitize", "--help"]).output.replace("]", "|").replace(
        "\n", ""
    )
    defence = {"name": name} | ({"epsilon": 2} if "epsilon" in entry.parameters() else {})
    cells = specification.read_spec(spec(tmp_path, defence=defence))
    assert sweep.run(cells, tmp_path, workers=1) == []
    rows = load_tables(tmp_path, "results.csv")
    assert rows.defence.tolist() == [name] and entry.label
    assert plotting.look(mechanism=name).colour


@pytest.mark.parametrize("name", ATTACKS)
def test_an_attack_is_known_to_all_four(world, tmp_path, name):
    entry = ATTACKS[name]
    assert plotting.look(attack=name).marker and entry.label
    cells = specification.read_spec(
        spec(tmp_path, attack=name, defence={"name": "custext+", "epsilon": 1, "k": 5})
    )
    assert cells[0]["attack"]["name"] == name
    signature = inspect.signature(entry.load()).parameters
    assert next(iter(signature)) == "knowledge" and ("truth" in signature) == entry.is_bound
    if name not in NEEDS_AN_ENCODER:
        assert sweep.run(cells, tmp_path, workers=1) == []
        assert load_tables(tmp_path, "results.csv").attack.tolist() == [name]


@pytest.mark.parametrize(
    "name, meant",
    [
        (" SANTEXT ", "santext"),
        ("Released-CusText+", "released custext+"),
        ("custex+", "custext+"),
    ],
)
def test_a_name_in_another_case_or_spelling_is_asked_after_everywhere(world, tmp_path, name, meant):
    question = f"; did you mean {meant!r}?"
    for call in (
        lambda: MECHANISMS[name],
        lambda: make_mechanism(name, Embeddings(["a"], [[0.0]])),
        lambda: plotting.look(mechanism=name),
        lambda: specification.read_spec(spec(tmp_path, defence=[name], attack=["unchanged"])),
    ):
        with pytest.raises(KeyError) as told:
            call()
        assert told.value.args[0].endswith(question) and "\n" not in told.value.args[0]
    result = CliRunner().invoke(main, ["sanitize", "--mechanism", name, "-", "-"], input="a")
    assert result.exit_code == 2 and question in result.stderr and len(result.stderr.splitlines()) == 1


def test_attacks_are_asked_after_too_and_only_where_it_is_near(world, tmp_path):
    cells = specification.read_spec(spec(tmp_path, attack=["unchanged"], defence=["random"]))
    with pytest.raises(ValueError, match=r"over: 'Unchanged' is 0 attacks .*; did you mean 'unchanged'\?"):
        sweep.run(cells, tmp_path, baselines=["Unchanged"])
    for known, name in ((ATTACKS, "mask"), (MECHANISMS, "noise"), (MECHANISMS, 3)):
        with pytest.raises(KeyError) as told:
            known[name]
        assert "did you mean" not in str(told.value)


def test_a_parameter_without_annotation_is_what_its_default_is():
    def made(words, stay=0.75, k=3, name="a", sure=False, other=None, more=()):
        return words

    entry = Registry("thing").register("own", made)
    known = {name: one.annotation for name, one in entry.parameters().items()}
    assert known == {"stay": float, "k": int, "name": str, "sure": bool}
    with pytest.raises(ValueError, match="own: stay"):
        entry.check("stay", "much")


def test_the_name_of_a_built_in_is_not_taken_over(tmp_path, plugged):
    before = MECHANISMS["custext"]
    with pytest.raises(ValueError, match="^name: 'custext' is a built-in mechanism; register yours under another"):
        MECHANISMS.register("custext", dict)
    assert MECHANISMS["custext"] == before
    (tmp_path / "taker.py").write_text("from textsan.attacks import ATTACKS\n\nATTACKS.register('markov', dict)\n")
    arguments = ["sanitize", "--plugin", str(tmp_path / "taker.py"), "--mechanism", "random", "-", "-"]
    result = CliRunner().invoke(main, arguments, input="a")
    assert result.exit_code == 2 and len(result.stderr.splitlines()) == 1
    assert "taker.py, line 3: ValueError: name: 'markov' is a built-in attack" in result.stderr
    with pytest.raises(ValueError, match="name: '' is no name"):
        MECHANISMS.register("", dict)
    own = MECHANISMS.register("mine", dict)
    assert MECHANISMS.register("mine", list) != own and MECHANISMS["mine"].load() is list


def test_annotations_may_be_postponed(plugged, tmp_path):
    (tmp_path / "later.py").write_text(
        "from __future__ import annotations\n"
        "from textsan.mechanisms import MECHANISMS, SanText\n"
        "def softer(embeddings, epsilon: float, by: float | None = None):\n"
        "    return SanText(embeddings, epsilon / (by or 2))\n"
        "MECHANISMS.register('softer', softer)\n"
    )
    textsan.load_plugin(tmp_path / "later.py")
    two = Embeddings(["a", "b"], [[0.0], [1.0]])
    assert make_mechanism("softer", two, epsilon=4.0).epsilon == 2.0
    with pytest.raises(ValueError, match="nonsense: softer has no such parameter, .*; it has by, epsilon"):
        make_mechanism("softer", two, epsilon=4.0, nonsense=1)
