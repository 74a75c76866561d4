"""`textsan sanitize` on a small public vocabulary in place of GloVe."""

import csv
import json

import numpy as np
import pytest
from click.testing import CliRunner

import textsan
from textsan import Embeddings
from textsan.auditing import files
from textsan.cli.main import main
from textsan.mechanisms import MECHANISMS, custext

WORDS = ["the", ",", ".", "a", "film", "movie", "good", "bad", "great", "story", "actor", "plot"]


@pytest.fixture(autouse=True)
def small_vocabulary(monkeypatch):
    vectors = np.random.default_rng(0).normal(size=(len(WORDS), 4))
    for module in (textsan, custext):
        monkeypatch.setattr(module, "load_embeddings", lambda name="": Embeddings(WORDS, vectors))


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def call(*arguments, **options):
        return CliRunner().invoke(main, ["sanitize", *map(str, arguments)], **options)

    return call


TEXT = "A good film.\n\nThe PLOT, the story: bad!\n"
CUSTEXT = ("--mechanism", "custext", "--epsilon", "1", "--k", "4")


def test_text_keeps_lines_and_tokens_and_gets_a_record(run, tmp_path):
    (tmp_path / "in.txt").write_text(TEXT)
    assert run(*CUSTEXT, "in.txt", "out.txt").exit_code == 0
    lines = (tmp_path / "out.txt").read_text().split("\n")
    assert [len(line.split()) for line in lines] == [4, 0, 8, 0]
    assert set(" ".join(lines).split()) <= set(WORDS)
    record = json.loads((tmp_path / "out.txt.json").read_text())
    assert record["mechanism"] == "CusText" and record["parameters"]["k"] == 4
    assert record["parameters"]["mapping"] == "disjoint"
    assert record["guarantee"]["definition"] == "DP within groups" and record["guarantee"]["epsilon"] == 1
    assert "8 for the longest" in record["guarantee"]["per_document"]
    assert record["embedding"]["words"] == 12 and len(record["embedding"]["sha256"]) == 64
    assert (record["documents"], record["tokens"], record["longest_document"]) == (3, 12, 8)
    assert record["textsan"] and "seed" not in record and "warning" not in record
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in.txt", "out.txt", "out.txt.json"]


def test_no_seed_is_entropy_and_a_seed_repeats_with_a_warning(run, tmp_path):
    (tmp_path / "in.txt").write_text("good film bad story " * 50)
    outputs = []
    for i, seed in enumerate([(), (), ("--seed", "7"), ("--seed", "7")]):
        result = run(*CUSTEXT, *seed, "in.txt", f"{i}.txt")
        assert result.exit_code == 0 and ("undo the noise" in result.stderr) == bool(seed)
        outputs.append((tmp_path / f"{i}.txt").read_text())
    assert outputs[0] != outputs[1] and outputs[2] == outputs[3]
    record = json.loads((tmp_path / "2.txt.json").read_text())
    assert record["seed"] == 7 and "no guarantee" in record["warning"]


def test_chunks_do_not_change_the_draws(run, tmp_path, monkeypatch):
    (tmp_path / "in.txt").write_text(TEXT * 20)
    assert run(*CUSTEXT, "--seed", "1", "in.txt", "whole.txt").exit_code == 0
    monkeypatch.setattr(files, "_CHUNK", 5)
    assert run(*CUSTEXT, "--seed", "1", "in.txt", "parts.txt").exit_code == 0
    assert (tmp_path / "parts.txt").read_text() == (tmp_path / "whole.txt").read_text()


def test_jsonl_replaces_one_field(run, tmp_path):
    records = [{"id": i, "review": "Good film", "ü": None} for i in range(3)]
    (tmp_path / "in.jsonl").write_text("\n".join(json.dumps(record) for record in records))
    assert run(*CUSTEXT, "--field", "review", "in.jsonl", "out.jsonl").exit_code == 0
    released = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    assert [record["id"] for record in released] == [0, 1, 2] and list(released[0]) == ["id", "review", "ü"]
    assert all(set(record["review"].split()) <= set(WORDS) for record in released)


def test_csv_replaces_one_column_and_survives_quotes(run, tmp_path):
    with open(tmp_path / "in.csv", "w", newline="") as file:
        csv.writer(file).writerows([["id", "text"], ["1", 'good, "bad"\nfilm'], ["a,b", ""]])
    assert run(*CUSTEXT, "in.csv", "out.csv").exit_code == 0
    with open(tmp_path / "out.csv", newline="") as file:
        header, one, two = csv.reader(file)
    assert header == ["id", "text"] and one[0] == "1" and two == ["a,b", ""]
    assert len(one[1].split()) == 6 and set(one[1].split()) <= set(WORDS)


def test_pipes(run):
    result = run(*CUSTEXT, "-", "-", input=TEXT)
    assert result.exit_code == 0
    assert [len(line.split()) for line in result.stdout.split("\n")] == [4, 0, 8, 0]
    assert json.loads(result.stderr.strip().splitlines()[-1])["documents"] == 3


@pytest.mark.parametrize("name", MECHANISMS)
def test_every_mechanism(run, tmp_path, name):
    (tmp_path / "in.txt").write_text(TEXT)
    epsilon = () if name == "random" else ("--epsilon", "3")
    result = run("--mechanism", name, *epsilon, "in.txt", "out.txt")
    assert result.exit_code == 0, result.output
    assert len((tmp_path / "out.txt").read_text().split()) == 12
    json.loads((tmp_path / "out.txt.json").read_text(), parse_constant=pytest.fail)  # no NaN, no Infinity


def test_the_vocabulary_is_public_and_not_of_the_input(run, tmp_path):
    (tmp_path / "in.txt").write_text("film " * 200)
    (tmp_path / "list.txt").write_text("good\nbad\nnowhere\n")
    assert run("--mechanism", "random", "--vocabulary", "list.txt", "in.txt", "out.txt").exit_code == 0
    assert set((tmp_path / "out.txt").read_text().split()) == {"good", "bad"}
    assert run("--mechanism", "random", "--words", "3", "in.txt", "out.txt").exit_code == 0
    assert set((tmp_path / "out.txt").read_text().split()) == {"the", ",", "."}


@pytest.mark.parametrize(
    "name, content, arguments, message",
    [
        ("none.txt", None, CUSTEXT, "none.txt does not exist"),
        ("in.txt", "a\n", ("--mechanism", "santext"), "epsilon: santext needs one"),
        ("in.txt", "a\n", ("--mechanism", "santext", "--epsilon", "-1"), "epsilon: -1.0 is out of range"),
        (
            "in.txt",
            "a\n",
            ("--mechanism", "santext", "--epsilon", "1", "--k", "3"),
            "k: santext has no such parameter",
        ),
        *(
            ("in.txt", "a\n", ("--mechanism", name, "--epsilon", "1e308"), "epsilon: 1e+308 is out of range")
            for name in MECHANISMS
            if name != "random"
        ),
        ("in.txt", "a\nzebra\n", (*CUSTEXT, "--oov", "error"), "'zebra' is not in the vocabulary"),
        ("in.jsonl", '{"text": "a"}\n{"text"\n', CUSTEXT, "line 2 is no json"),
        ("in.jsonl", '{"title": "a"}\n', CUSTEXT, "line 1 has no text in field 'text'; pass"),
        ("in.jsonl", '["a"]\n', CUSTEXT, "line 1 has no text in field 'text'; pass"),
        ("in.csv", "id\n1\n", CUSTEXT, "no column 'text' among the 1 of the first line"),
        ("in.csv", "id,text\n1,a,b\n", CUSTEXT, "line 2 has 3 columns, the header 2"),
        ("in.csv", 'id,text\n1,"a\n', CUSTEXT, "is no csv"),
        ("in.txt", b"caf\xe9\n", CUSTEXT, "is not utf-8"),
    ],
)
def test_bad_input_is_one_line_and_leaves_nothing(run, tmp_path, name, content, arguments, message):
    if content is not None:
        (tmp_path / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    (tmp_path / "out").write_text("earlier\n")
    result = run(*arguments, name, "out")
    assert result.exit_code == 2 and message in result.stderr
    assert len(result.stderr.strip().splitlines()) == 1
    assert (tmp_path / "out").read_text() == "earlier\n"
    assert {path.name for path in tmp_path.iterdir()} <= {"out", name}


@pytest.mark.parametrize(
    "name, content",
    [
        ("in.csv", 'Anna Müller,"owes\nmoney",17 May\nBob,no,18 May\n'),  # no header, and a line break in quotes
        ("in.csv", 'id,text\n1,"owes\nmoney",Anna Müller\n'),
        ("in.csv", 'id,text\n1,"owes" money Anna Müller\n'),
        ("in.csv", 'id,text\n1,"owes money Anna Müller\n'),
        ("in.jsonl", '{"Anna Müller": "owes\\nmoney"}\n'),
        ("in.jsonl", '{"text": "owes money"} Anna Müller\n'),
    ],
)
def test_no_error_quotes_the_private_text(run, tmp_path, name, content):
    (tmp_path / name).write_text(content)
    result = run(*CUSTEXT, name, "out")
    assert result.exit_code == 2 and len(result.stderr.splitlines()) == 1 and "source: " in result.stderr
    assert not {"Anna", "Müller", "owes", "money"} & set(result.output.replace("'", " ").split())


@pytest.mark.parametrize("name", [name for name in MECHANISMS if name != "released custext+"])  # it has two
def test_the_record_describes_the_vocabulary_once(run, tmp_path, name):
    (tmp_path / "in.txt").write_text(TEXT)
    epsilon = () if name == "random" else ("--epsilon", "3")
    assert run("--mechanism", name, *epsilon, "in.txt", "out.txt").exit_code == 0
    text = (tmp_path / "out.txt.json").read_text()
    assert text.count(json.loads(text)["embedding"]["sha256"]) == 1


def test_words_of_another_list_are_described_too():
    vectors = np.random.default_rng(0).normal(size=(len(WORDS), 4))
    few, many = (Embeddings(WORDS[:n], vectors[:n]) for n in (6, 12))
    mechanism = textsan.CusText(few, 1.0, k=4, mapping="overlapping", outputs=many)
    described = files.description(mechanism, "toy", None, files.Counts(1, 1, 1))["parameters"]
    assert described["outputs"] == {"words": 12, "sha256": many.sha256}


def test_the_source_is_not_overwritten(run, tmp_path):
    (tmp_path / "in.txt").write_text(TEXT)
    result = run(*CUSTEXT, "in.txt", "./in.txt")
    assert result.exit_code == 2 and "overwrite the source" in result.stderr
    assert (tmp_path / "in.txt").read_text() == TEXT
