"""One registry each of mechanisms and of attacks: command line, sweeps, plots and tables know what they know."""

import inspect

import numpy as np
import pytest
import yaml
from click.testing import CliRunner

import textsan
from textsan import Channel, Embeddings, Split, plotting
from textsan.attacks import ATTACKS, Attack
from textsan.base.registry import Registry
from textsan.cli.main import main
from textsan.mechanisms import MECHANISMS, Mechanism, make_mechanism
from textsan.sweeps import problems, specification, sweep
from textsan.sweeps.tables import load_tables
from textsan.text.corpora import Record

NEEDS_AN_ENCODER = {"contextual", "contextual bound", "density ratio", "inversion BERT", "language model"}
NEEDS_AN_ENCODER |= {"mask inference", "mixture", "mixture without language", "noisy channel", "prompted"}
NEEDS_AN_ENCODER |= {"released contextual"}


@pytest.fixture
def world(monkeypatch):
    def split(dataset, n_private, n_shadow, *, seed, shadow_dataset, vocabulary, split_by, drawn_from, embeddings):
        generator = np.random.default_rng(seed)
        words = ["the", "of", *(f"w{i}" for i in range(40))]
        embeddings = Embeddings(words, np.random.default_rng(9).normal(size=(42, 4)))
        draws = generator.choice(words, size=(n_private + n_shadow, 8)).tolist()
        return Split(draws[:n_private], draws[n_private:], embeddings)

    monkeypatch.setattr(problems, "_split", split)
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


def test_unknown_names_list_the_known_ones_everywhere(world, tmp_path):
    with pytest.raises(KeyError, match="mechanism: name 'rot13' is unknown; known: random, santext"):
        make_mechanism("rot13", Embeddings(["a"], [[0.0]]))
    with pytest.raises(KeyError, match="attack: name 'psychic' is unknown; known: unchanged"):
        problems.prepare("rt", 5, 5, None, 0, "random").attack("psychic")
    with pytest.raises(KeyError, match="known: .*markov"):
        plotting.look(attack="Markov ")
    result = CliRunner().invoke(main, ["sanitize", "--mechanism", "rot13", "-", "-"], input="a")
    assert result.exit_code == 2 and "santext+" in result.stderr


@pytest.mark.parametrize(
    "name, meant",
    [
        ("CusText+", "custext+"),
        ("custext +", "custext+"),
        (" SANTEXT ", "santext"),
        ("Released-CusText+", "released custext+"),
        ("custex+", "custext+"),
        ("santxt", "santext"),
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


def test_the_name_of_a_built_in_is_not_taken_over(tmp_path, monkeypatch):
    for registry in (MECHANISMS, ATTACKS):
        monkeypatch.setattr(registry, "_entries", dict(registry._entries))
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


def test_parameters_and_their_checks_come_from_signatures():
    assert list(MECHANISMS["santext+"].parameters()) == ["epsilon", "w", "p", "oov"]
    assert list(ATTACKS["markov"].parameters()) == ["k", "public"]
    for name, parameter, value, message in (
        ("custext", "k", 0, "custext: k: 0 is out of range"),
        ("custext", "mapping", "none", "custext: mapping: 'none' is unknown; pass one of 'disjoint'"),
        ("santext", "epsilon", "two", "santext: epsilon: 'two' is not a number"),
        ("santext", "epsilon", None, "santext: epsilon: None is no value"),
    ):
        with pytest.raises(ValueError, match=message):
            MECHANISMS[name].check(parameter, value)
    assert (
        MECHANISMS["tem"].check("gamma", None) is None
        and ATTACKS["noisy channel"].check("bigrams", False) is False
    )


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


@pytest.fixture
def plugged(monkeypatch):
    monkeypatch.setattr(MECHANISMS, "_entries", dict(MECHANISMS._entries))
    monkeypatch.setattr(ATTACKS, "_entries", dict(ATTACKS._entries))

    class Swap(Mechanism):
        def __init__(self, embeddings):
            super().__init__(embeddings.words)
            self.embeddings = embeddings

        @property
        def channel(self):
            n = len(self.inputs)
            matrix = 0.75 * np.eye(n) + 0.25 * np.roll(np.eye(n), 1, axis=1)
            return Channel.from_matrix(matrix, self.inputs, self.inputs)

    class Previous(Attack):
        def __init__(self, words, share):
            self.before = dict(zip(words[1:], words, strict=False))
            self.share = share

        @classmethod
        def against(cls, knowledge, *, share: float = 0.0):
            return cls(knowledge.channel.inputs, share)

        def _guess(self, docs, positions):
            return [self.before.get(docs[d][i], docs[d][i]) for d, i in positions]

    MECHANISMS.register("swap", Swap, label="Swap", colour="#AA3377", marker="h")
    ATTACKS.register("previous", Previous.against, label="previous word", colour="#AA3377", marker="h")


@pytest.mark.parametrize("workers", [1, 2])
def test_what_is_plugged_in_is_swept_and_drawn(world, plugged, tmp_path, workers, default_data):
    attacks = ["unchanged", {"name": "previous", "share": 0.5}, "context-free"]
    asked = {"defence": ["swap"], "attack": attacks, "seed": [0, 1], "vocabulary": 2000}
    cells = specification.read_spec(spec(tmp_path, **asked))
    assert sweep.run(cells, tmp_path, workers=workers) == []
    rows = load_tables(tmp_path, "results.csv").set_index(["attack", "seed"]).asr
    for seed in (0, 1):
        assert rows["unchanged", seed] == pytest.approx(0.75, abs=0.1)
        assert rows["previous", seed] == pytest.approx(0.25, abs=0.1)
    assert plotting.look(mechanism="swap").colour == "#AA3377"
    assert plotting.look(attack="previous").marker == "h"
    assert make_mechanism("swap", Embeddings(["a", "b"], [[0.0], [1.0]])).guarantee.definition == "none"
