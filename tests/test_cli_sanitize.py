"""`textsan sanitize` on a small public vocabulary in place of GloVe."""

import csv
import gzip
import hashlib
import json
import lzma
import shlex
from typing import get_args

import jsonschema
import numpy as np
import pytest
from helpers import command

import textsan
from textsan import Embeddings
from textsan.mechanisms import MECHANISMS, custext, make, make_mechanism, recorded_mechanism
from textsan.release import record, shards
from textsan.release.formats import compression_of

WORDS = ["the", ",", ".", "a", "film", "movie", "good", "bad", "great", "story", "actor", "plot"]


@pytest.fixture(autouse=True)
def small_vocabulary(monkeypatch):
    vectors = np.random.default_rng(0).normal(size=(len(WORDS), 4))
    for module, name in ((textsan, "load_embeddings"), (make, "load_embeddings"), (custext, "_whole_file")):
        monkeypatch.setattr(module, name, lambda name="": Embeddings(WORDS, vectors))


run = command("sanitize")


TEXT = "A good film.\n\nThe PLOT, the story: bad!\n"
CUSTEXT = ("--mechanism", "custext", "--epsilon", "1", "--k", "4")


CUSTEXT_ID = (*CUSTEXT, "--pass", "id")


def passed(*names):
    return [part for name in names for part in ("--pass", name)]


def test_text_keeps_lines_and_tokens_and_gets_a_record(run, tmp_path):
    (tmp_path / "in.txt").write_text(TEXT)
    assert run(*CUSTEXT, "in.txt", "out.txt").exit_code == 0
    lines = (tmp_path / "out.txt").read_text().split("\n")
    assert [len(line.split()) for line in lines] == [4, 0, 8, 0]
    assert set(" ".join(lines).split()) <= set(WORDS)
    made = json.loads((tmp_path / "out.txt.json").read_text())
    assert made["mechanism"] == "custext" and made["parameters"]["k"] == 4
    assert made["parameters"]["mapping"] == "disjoint"
    assert made["guarantee"]["definition"] == "DP within groups" and made["guarantee"]["epsilon"] == 1
    assert "8 for the longest" in made["guarantee"]["per_document"]
    assert made["embedding"]["words"] == 12 and len(made["embedding"]["sha256"]) == 64
    assert (made["documents"], made["tokens"], made["longest_document"]) == (3, 12, 8)
    assert made["textsan"] and "seed" not in made and made["warnings"] == []
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in.txt", "out.txt", "out.txt.json"]


def test_no_seed_is_entropy_and_a_seed_repeats_with_a_warning(run, tmp_path):
    (tmp_path / "in.txt").write_text("good film bad story " * 50)
    outputs = []
    for i, seed in enumerate([(), (), ("--seed", "7"), ("--seed", "7")]):
        result = run(*CUSTEXT, *seed, "in.txt", f"{i}.txt")
        assert result.exit_code == 0 and ("undo the noise" in result.stderr) == bool(seed)
        outputs.append((tmp_path / f"{i}.txt").read_text())
    assert outputs[0] != outputs[1] and outputs[2] == outputs[3]


def test_shards_do_not_change_the_draws(run, tmp_path, monkeypatch):
    (tmp_path / "in.txt").write_text(TEXT * 20)
    assert run(*CUSTEXT, "--seed", "1", "in.txt", "whole.txt").exit_code == 0
    monkeypatch.setattr(shards, "_SIZE", 5)
    assert run(*CUSTEXT, "--seed", "1", "in.txt", "parts.txt").exit_code == 0
    assert (tmp_path / "parts.txt").read_text() == (tmp_path / "whole.txt").read_text()


def test_null_in_place_of_an_object_with_text_stays_null(run, tmp_path):
    (tmp_path / "in.jsonl").write_text('{"a": "good", "b": {"c": "film"}}\n{"a": "good", "b": null}\n')
    assert run(*CUSTEXT, "--field", "a", "--field", "b.c", "in.jsonl", "out.jsonl").exit_code == 0
    first, second = map(json.loads, (tmp_path / "out.jsonl").read_text().splitlines())
    assert isinstance(first["b"]["c"], str) and second["b"] is None


def test_jsonl_replaces_one_field_and_keeps_a_null_as_an_empty_cell(run, tmp_path):
    records = [{"id": i, "review": text, "ü": None} for i, text in enumerate(["Good film", None, ""])]
    (tmp_path / "in.jsonl").write_text("\n".join(map(json.dumps, records)))
    assert run(*CUSTEXT, "--field", "review", *passed("id", "ü"), "in.jsonl", "out.jsonl").exit_code == 0
    first, *others = map(json.loads, (tmp_path / "out.jsonl").read_text().splitlines())
    assert (
        list(first) == ["id", "review", "ü"] and (first["id"], first["ü"]) == (0, None) and others == records[1:]
    )
    assert len(first["review"].split()) == 2 and set(first["review"].split()) <= set(WORDS)
    made = json.loads((tmp_path / "out.jsonl.json").read_text())
    assert (made["documents"], made["tokens"], made["untouched"]) == (3, 2, ["id", "ü"])


def test_pipes(run):
    result = run(*CUSTEXT, "-", "-", input=TEXT)
    assert result.exit_code == 0
    assert [len(line.split()) for line in result.stdout.split("\n")] == [4, 0, 8, 0]
    assert json.loads(result.stderr.strip().splitlines()[-1])["documents"] == 3
    result = run(*CUSTEXT, *passed("id"), "-", "-", "--format", "csv", input="id,text\n1,bad\n")
    assert result.stdout.startswith("id,text\n1,") and len(result.stdout.splitlines()) == 2


def options_of(name):
    """Command lines that make a registered mechanism: with its defaults, and with each other choice it has."""
    epsilon = {"epsilon": 3.0} if "epsilon" in MECHANISMS[name].parameters() else {}
    yield epsilon
    for parameter, one in MECHANISMS[name].parameters().items():
        others = dict(k=[3], w=[0.5], p=[0.7], t=[0.2], strength=[0.6], q=[0.2], beta=[0.1], gamma=[2])
        choices = [choice for choice in get_args(one.annotation) if isinstance(choice, str)]
        choices = [choice for choice in choices if choice != "writer"]  # whom the command does not know
        for value in others.get(parameter, [choice for choice in choices if choice != one.default]):
            if parameter != "device":
                yield epsilon | {parameter: value}


@pytest.mark.parametrize("name, given", [(name, given) for name in MECHANISMS for given in options_of(name)])
def test_a_record_gives_back_the_mechanism_that_made_the_release(run, tmp_path, name, given):
    (tmp_path / "in.txt").write_text("good film bad\n")
    flags = [part for key, value in given.items() for part in (f"--{key}", str(value))]
    assert run("--mechanism", name, *flags, "--size", "9", "in.txt", "out.txt").exit_code == 0
    found = recorded_mechanism(tmp_path / "out.txt.json")
    made = make_mechanism(name, textsan.load_embeddings().frequent(9), **given)
    docs = [["good", "film", "bad", "zebra"]] * 20 if made.oov != "error" else [["good", "film", "bad"]] * 20
    assert type(found) is type(made) and found.sanitize(docs, seed=0) == made.sanitize(docs, seed=0)
    assert found.guarantee.epsilon == made.guarantee.epsilon


def test_a_record_of_other_words_or_parameters_is_refused_in_a_line(run, tmp_path):
    (tmp_path / "in.txt").write_text("good film bad\n")
    (tmp_path / "list.txt").write_text("good\nbad\nfilm\nplot\n")
    assert run(*CUSTEXT, "--vocabulary", "list.txt", "in.txt", "out.txt").exit_code == 0
    record = json.loads((tmp_path / "out.txt.json").read_text())
    with pytest.raises(ValueError, match="frequent words of .*; pass --vocabulary FILE, or words=, the one"):
        recorded_mechanism(record)
    words = textsan.load_embeddings().restrict(["good", "bad", "film", "plot"])
    assert recorded_mechanism(record, words).k == recorded_mechanism(record, words.words).k == 4
    with pytest.raises(ValueError, match="its vocabulary is not this one; pass --vocabulary FILE"):
        recorded_mechanism(record, ["good", "bad"])
    with pytest.raises(ValueError, match="keep is not what custext has now; pass --keep FILE, or keep=, the list"):
        recorded_mechanism(record | {"parameters": record["parameters"] | {"keep": {"words": 3}}}, words)
    with pytest.raises(KeyError, match="'nobody' is not registered; load the plugin that has it"):
        recorded_mechanism(record | {"mechanism": "nobody"}, words)
    with pytest.raises(ValueError, match="list.txt is no json; pass the one beside a released file"):
        recorded_mechanism(tmp_path / "list.txt")


@pytest.mark.parametrize(
    "content, said",
    [
        ("text\ngood\nNaN\ngood\nnull\n", "50.0% of the documents say only that there is no text"),
        ("text\nzebra gnu good\n", "66.7% of the tokens are outside of the vocabulary"),
        ("text\ngood film none\n", ""),
    ],
)
def test_what_is_odd_about_a_text_is_said(run, tmp_path, content, said):
    (tmp_path / "in.csv").write_text(content)
    result = run(*CUSTEXT, "in.csv", "out.csv")
    assert result.exit_code == 0 and said in result.stderr
    assert ("warning" in result.stderr) == bool(said)
    assert json.loads((tmp_path / "out.csv.json").read_text())["warnings"] == []  # it is of the private text


def test_the_vocabulary_is_public_and_not_of_the_input(run, tmp_path):
    (tmp_path / "in.txt").write_text("film " * 200)
    (tmp_path / "list.txt").write_text("good\nbad\n\nnowhere\nFilm\n")
    done = run("--mechanism", "random", "--vocabulary", "list.txt", "in.txt", "out.txt")
    assert done.exit_code == 0 and "2 of 4 words of --vocabulary have no vector and are left out" in done.stderr
    assert set((tmp_path / "out.txt").read_text().split()) == {"good", "bad"}
    assert run("--mechanism", "random", "--size", "3", "in.txt", "out.txt").exit_code == 0
    assert set((tmp_path / "out.txt").read_text().split()) == {"the", ",", "."}


@pytest.mark.parametrize(
    "name, content, arguments, message",
    [
        ("none.txt", None, CUSTEXT, "none.txt does not exist"),
        ("in.txt", "a\n", ("--mechanism", "santext"), "epsilon: santext needs one"),
        ("in.txt", "a\n", ("--mechanism", "santext", "--epsilon", "-1"), "epsilon: -1.0 is out of range"),
        ("in.txt", "a\n", ("--mechanism", "santext", "--epsilon", "1", "--k", "3"), "k: santext has no such"),
        *(
            ("in.txt", "a\n", ("--mechanism", name, "--epsilon", "1e308"), "epsilon: 1e+308 is out of range")
            for name in MECHANISMS
            if "epsilon" in MECHANISMS[name].parameters()
        ),
        ("in.txt", "a\nzebra\n", (*CUSTEXT, "--oov", "error"), "line 2 has a word outside of the vocabulary"),
        ("in.csv", 'id,text\n1,a\n2,"a\nb"\n', (*CUSTEXT_ID, "--oov", "error"), "line 3 has a word outside"),
        ("in.docx", "a\n", CUSTEXT, "of in.docx says no format; pass --format txt, jsonl, csv, tsv or parquet"),
        ("in.xlsx", "a\n", CUSTEXT, "save as csv first"),
        ("in.txt", "a\n", (*CUSTEXT, "--field", "review"), "txt has no field 'review'"),
        ("in.csv.gz", b"id,text\n", CUSTEXT, "is no whole gz file"),
        ("in.txt.xz", lzma.compress(b"good film " * 99)[:-12], CUSTEXT, "is no whole xz file"),
        ("in.jsonl", '{"text": "a"}\n{"text"\n', CUSTEXT, "line 2 is no json"),
        ("in.jsonl", '{"text": "a", "text": "b"}\n', CUSTEXT, "line 1 is no json (a name occurs twice"),
        ("in.jsonl", '{"title": "a"}\n', CUSTEXT, "line 1 has no text in field 'text'; pass"),
        ("in.csv", "id,body\n1,a\n", CUSTEXT, "pass one of id, body as --field"),
        ("in.csv", "1,my secret name\n", CUSTEXT, "first line; pass --field NAME or --format, or add a header"),
        ("in.csv", "", CUSTEXT, "it is empty; pass a table with a header"),
        ("in.csv", "id,text\n1,a,b\n", CUSTEXT_ID, "line 2 has 3 columns, the header 2; quote what holds"),
        ("in.csv", "id,text\n1,a\n2\n", CUSTEXT_ID, "line 3 has 1 columns, fewer than the 2 of the header; fill"),
        ("in.csv", "id;text\n1;a\n", CUSTEXT, "it has semicolons: if they are its delimiters, pass --delimiter"),
        ("in.csv", "id, Text\n1,a\n", CUSTEXT, "no column 'text' among the 2 of the first line; did you mean"),
        ("in.csv", 'id,text\n1,"a\n', CUSTEXT_ID, "is no csv"),
        ("in.csv", "text,text\na,b\n", CUSTEXT, "2 columns are named 'text'; rename all but one"),
        ("in.txt", b"caf\xe9\n", (*CUSTEXT, "--vocabulary", "in.txt"), "vocabulary: in.txt is not utf-8"),
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
    result = run(*CUSTEXT_ID, name, "out")
    assert result.exit_code == 2 and len(result.stderr.splitlines()) == 1 and "source: " in result.stderr
    assert not {"Anna", "Müller", "owes", "money"} & set(result.output.replace("'", " ").split())


def test_the_source_is_not_overwritten(run, tmp_path):
    (tmp_path / "in.txt").write_text(TEXT)
    result = run(*CUSTEXT, "in.txt", "./in.txt")
    assert result.exit_code == 2 and "overwrite the source" in result.stderr
    assert (tmp_path / "in.txt").read_text() == TEXT
    (tmp_path / "in.txt.json").write_text("{}")
    result = run("--format", "txt", *CUSTEXT, "in.txt.json", "in.txt")
    assert result.exit_code == 2 and "overwrite the source" in result.stderr


# --- formats ------------------------------------------------------------------------------------------------

OPEN = {None: open, "gz": gzip.open, "xz": lzma.open}


def opened(path, mode):
    return OPEN[compression_of(path)](path, mode, encoding="utf-8", newline="")


@pytest.mark.parametrize("name", ["REV.CSV", "rev.tsv", "rev.csv.gz", "REV.TSV.XZ"])
@pytest.mark.parametrize("size", [1, 1 << 19])
def test_tables_by_their_ending_in_any_case(run, tmp_path, monkeypatch, name, size):
    monkeypatch.setattr(shards, "_SIZE", size)
    delimiter = "\t" if "tsv" in name.lower() else ","
    odd = ['bad, "bad"', "Bob"] if "tsv" in name.lower() else ['bad, "bad"\n', "Bob\tX"]
    rows = [["id", "review", "who"], ["1", "good film", "Anna"], ["2", *odd], ["a,b", "", ""]]
    with opened(tmp_path / name, "wt") as file:
        if "tsv" in name.lower():
            file.writelines("\t".join(row) + "\n" for row in rows)
        else:
            csv.writer(file, delimiter=delimiter).writerows(rows)
    (tmp_path / "safe").mkdir()
    assert run(*CUSTEXT, "--field", "review", *passed("id", "who"), name, "safe").exit_code == 0
    with opened(tmp_path / "safe" / name, "rt") as file:
        released = list(csv.reader(file, delimiter=delimiter))
    assert [[row[0], row[2]] for row in released] == [[row[0], row[2]] for row in rows]
    words = [row[1].split() for row in released[1:]]
    assert released[0] == rows[0] and [len(row) for row in words] == [2, 5, 0]
    assert {word for row in words for word in row} <= set(WORDS)


def test_the_target_says_whether_it_is_compressed_and_what_a_pipe_is(run, tmp_path):
    (tmp_path / "in.csv").write_text("text\ngood film\n")
    assert run(*CUSTEXT, "in.csv", "out.csv.gz").exit_code == 0
    assert gzip.decompress((tmp_path / "out.csv.gz").read_bytes()).startswith(b"text\n")
    assert run(*CUSTEXT, "-", "piped.csv", input="text\ngood film\n").exit_code == 0
    assert (tmp_path / "piped.csv").read_text().startswith("text\n")
    result = run(*CUSTEXT, "in.csv", "out.jsonl")
    assert result.exit_code == 2 and "out.jsonl says jsonl, and INPUT is csv" in result.stderr
    for source in ("in.csv", "-"):
        result = run(*CUSTEXT, source, "out.data", input="text\ngood\n")
        assert result.exit_code == 2 and "the ending .data of out.data says no format" in result.stderr
        assert len(result.stderr.splitlines()) == 1 and not (tmp_path / "out.data").exists()
    assert run(*CUSTEXT, "--format", "csv", "in.csv", "out.data").exit_code == 0
    assert run(*CUSTEXT, "in.csv", "out").exit_code == 0


def test_several_files_go_into_a_folder_each_with_its_record(run, tmp_path):
    for name in ("a.txt", "b.csv"):
        (tmp_path / name).write_text("text\n" + "good film\n" * 30)
    assert run(*CUSTEXT, "--seed", "1", "a.txt", "b.csv", "safe").exit_code == 0
    safe = tmp_path / "safe"
    assert sorted(path.name for path in safe.iterdir()) == ["a.txt", "a.txt.json", "b.csv", "b.csv.json"]
    made = {name: json.loads((safe / f"{name}.json").read_text()) for name in ("a.txt", "b.csv")}
    assert [(one["documents"], one["input"], one["format"]) for one in made.values()] == [
        (31, "a.txt", "txt"),
        (30, "b.csv", "csv"),
    ]
    # Documents are numbered through all files, so that no two share their draws.
    assert (safe / "a.txt").read_text().split()[1:] != (safe / "b.csv").read_text().split()[1:]
    assert not (tmp_path / "safe.parts").exists()


@pytest.mark.parametrize(
    "arguments, message",
    [
        (("a.txt", "sub/a.txt", "safe"), "two files would be a.txt"),
        (("a.txt", "none.txt", "safe"), "none.txt does not exist"),
        (("a.txt", "-", "safe"), "- goes with one INPUT"),
        (("a.txt", "sub/a.txt", "-"), "- goes with one INPUT"),
        (("a.txt", "sub"), "overwrite the source"),
        (("a.txt", "none/out.txt"), "the folder none does not exist"),
        (("sub", "out.txt"), "sub does not exist, or is no file"),
        (("a.txt", "bad.csv", "safe"), "no column 'text'"),
    ],
)
def test_files_that_do_not_fit_together_are_one_line_and_leave_nothing(run, tmp_path, arguments, message):
    (tmp_path / "sub").mkdir()
    for name in ("a.txt", "sub/a.txt", "bad.csv"):
        (tmp_path / name).write_text("good\n")
    if arguments == ("a.txt", "sub"):
        arguments = ("sub/a.txt", "sub")
    before = sorted(tmp_path.rglob("*"))
    result = run(*CUSTEXT, *arguments)
    assert result.exit_code == 2 and message in result.stderr and len(result.stderr.splitlines()) == 1
    assert sorted(tmp_path.rglob("*")) == before


# --- what the user is told ----------------------------------------------------------------------------------


def summary(result):
    """The last five lines, by their first word."""
    lines = [line.removeprefix("textsan: ") for line in result.stderr.splitlines()[-5:]]
    return {line[:19].strip(): line[19:] for line in lines}


def test_the_summary_counts_and_names_what_was_not_touched(run, tmp_path):
    (tmp_path / "in.csv").write_text("who,text,when\nAnna,good zebra,now\nBob,film,then\n")
    given = ("--mechanism", "custext", "--epsilon", "1400", "--k", "2", "--seed", "1", *passed("who"))
    result = run(*given, "--drop", "when", "in.csv", "out.csv")
    told = summary(result)
    with open(tmp_path / "out.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    released = " ".join(row["text"] for row in rows).split()
    assert [list(row) for row in rows] == [["who", "text"]] * 2
    changed = sum(a != b for a, b in zip(released, ["good", "zebra", "film"], strict=True))
    assert list(told) == ["documents", "changed", "out of vocabulary", "not touched", "promised"]
    assert told["documents"] == "2, of 3 tokens" and told["changed"].startswith(f"{changed} tokens (")
    assert told["out of vocabulary"] == "1 tokens (33.3%), replaced by uniform draws"
    assert told["not touched"] == "the columns who, released as they are; left out: when"
    assert told["promised"].startswith("nothing; the seed is known")


def test_the_record_says_on_what_epsilon_was_chosen_and_promises_nothing_of_one_chosen_on_the_text(run, tmp_path):
    (tmp_path / "in.txt").write_text(TEXT)
    made = {}
    for chosen in (None, "fixed", "other", "this"):
        given = () if chosen is None else ("--chosen-on", chosen)
        result = run(*CUSTEXT, *given, "in.txt", f"{chosen}.txt")
        assert result.exit_code == 0
        assert ("nothing; epsilon was chosen on this text" in result.stderr) == (chosen == "this")
        made[chosen] = json.loads((tmp_path / f"{chosen}.txt.json").read_text())
        jsonschema.validate(made[chosen], json.loads(record.SCHEMA.read_text()))
        assert made[chosen]["chosen_on"] == chosen
    guarantee = {chosen: one["guarantee"] for chosen, one in made.items()}
    assert guarantee["fixed"] == guarantee["other"] and guarantee["fixed"]["epsilon"] == 1
    assert guarantee[None]["epsilon"] == 1 and "--chosen-on was not passed" in guarantee[None]["outside"]
    assert guarantee["this"]["definition"] == "none" and guarantee["this"]["epsilon"] is None
    assert "no guarantee holds" in made["this"]["warnings"][0]
    assert run(*CUSTEXT, "--chosen-on", "this", "--seed", "1", "in.txt", "both.txt").exit_code == 0
    both = json.loads((tmp_path / "both.txt.json").read_text())
    assert both["guarantee_without_seed"]["definition"] == "none"  # the seed is not all that breaks it


@pytest.mark.parametrize(
    "mechanism", [CUSTEXT, ("--mechanism", "santext", "--epsilon", "3"), ("--mechanism", "random")]
)
def test_a_record_with_a_seed_promises_what_its_summary_does(run, tmp_path, mechanism):
    (tmp_path / "in.txt").write_text(TEXT)
    assert run(*mechanism, "in.txt", "fresh.txt").exit_code == 0
    result = run(*mechanism, "--seed", "4", "in.txt", "seeded.txt")
    fresh, seeded = (json.loads((tmp_path / f"{name}.txt.json").read_text()) for name in ("fresh", "seeded"))
    promise = seeded["guarantee"]
    assert (promise["definition"], promise["epsilon"], promise["per_document"]) == ("none", None, "none")
    assert promise["per_token"] == "no protection is claimed for any pair of words"
    assert promise["outside"].startswith("the seed is known: whoever has it can undo the noise, and no guarantee")
    assert summary(result)["promised"].startswith("nothing; the seed is known: ")
    assert seeded["guarantee_without_seed"] == fresh["guarantee"] and "guarantee_without_seed" not in fresh
    jsonschema.validate(seeded, json.loads(record.SCHEMA.read_text()))


def test_what_nobody_can_read_off_the_released_text_is_not_in_the_record(run, tmp_path):
    records = []
    for text in ("good film", "zebra zebra"):
        (tmp_path / "in.txt").write_text(text)
        assert run(*CUSTEXT, "in.txt", "out.txt").exit_code == 0
        records.append(json.loads((tmp_path / "out.txt.json").read_text()))
        assert records[-1].pop("sha256") == hashlib.sha256((tmp_path / "out.txt").read_bytes()).hexdigest()
    assert records[0] == records[1]


@pytest.mark.parametrize(
    "arguments, warned",
    [
        (CUSTEXT, None),
        ((*CUSTEXT, "--oov", "keep"), "words outside of the vocabulary, released verbatim"),
        ((*CUSTEXT, "--numbers", "keep"), "numbers outside of the vocabulary are released verbatim"),
        (("--mechanism", "custext+", "--epsilon", "1", "--k", "4"), "kept words, released verbatim"),
        (("--mechanism", "custext", "--epsilon", "1", "--k", "11"), "'plot', the one word of the last group"),
        (("--mechanism", "custext", "--epsilon", "1", "--k", "1"), "every word, the one of its output set"),
        (("--mechanism", "santext+", "--epsilon", "1"), "not sensitive, released unchanged with probability 0.7"),
        ((*CUSTEXT, "--keep-case"), "the capital letters of every word"),
    ],
)
def test_what_is_released_as_it_is_is_warned_of_and_recorded(run, tmp_path, monkeypatch, arguments, warned):
    vectors = np.arange(12.0)[:, None]
    for module, name in ((textsan, "load_embeddings"), (custext, "_whole_file")):
        monkeypatch.setattr(module, name, lambda name="": Embeddings(WORDS, vectors))
    (tmp_path / "in.txt").write_text("good good good zebra 7\n")
    result = run(*arguments, "in.txt", "out.txt")
    assert result.exit_code == 0 and len(result.stderr.splitlines()) == 5 + bool(warned)
    made = json.loads((tmp_path / "out.txt.json").read_text())
    assert len(made["warnings"]) == bool(warned)
    if warned:
        assert f"textsan: warning: {made['warnings'][0]}" == result.stderr.splitlines()[0]
        assert warned in made["warnings"][0]


@pytest.mark.parametrize("name", MECHANISMS)
def test_the_record_says_everything_in_the_terms_of_the_user(run, tmp_path, name):
    (tmp_path / "my reviews.csv").write_text("id,review\n1,good film\n")
    epsilon = ("--epsilon", "3") if "epsilon" in MECHANISMS[name].parameters() else ()
    arguments = ("--mechanism", name, *epsilon, "--field", "review", *passed("id"), "my reviews.csv", "out.csv")
    assert run(*arguments).exit_code == 0
    text = (tmp_path / "out.csv.json").read_text()
    made = json.loads(text, parse_constant=pytest.fail)  # no NaN, no Infinity
    jsonschema.validate(made, json.loads(record.SCHEMA.read_text()))
    assert name == "released custext+" or text.count(made["embedding"]["sha256"]) == 1  # which has two lists
    assert shlex.split(made["command"])[-len(arguments) :] == list(arguments)
    told = [made[key] for key in ("input", "fields", "format", "mechanism", "untouched")]
    assert told == ["my reviews.csv", ["review"], "csv", name, ["id"]]
    assert made["parameters"].keys() == made["meanings"].keys() >= MECHANISMS[name].parameters().keys()
    assert all(len(meaning.split()) > 2 for meaning in made["meanings"].values())
    assert "the columns id, released as they are" in made["guarantee"]["outside"]


def test_the_schema_is_one_and_refuses_what_is_no_record(run, tmp_path):
    schema = json.loads(record.SCHEMA.read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    assert all("description" in field for field in schema["properties"].values())
    (tmp_path / "in.txt").write_text("good\n")
    assert run(*CUSTEXT, "--seed", "1", "in.txt", "out.txt").exit_code == 0
    made = json.loads((tmp_path / "out.txt.json").read_text())
    jsonschema.validate(made, schema)
    assert made.keys() == schema["properties"].keys()
    wrong = [made | {"changed": 3}, made | {"format": "docx"}, made | {"tokens": "many"}]
    for bad in [*wrong, {key: value for key, value in made.items() if key != "command"}]:
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(bad, schema)


# --- text that reads ----------------------------------------------------------------------------------------

HARD = "The GOOD film\r\n\r\nA plot, a Story (bad)."


def test_line_breaks_capitals_and_spacing_stay_where_they_were(run, tmp_path, monkeypatch):
    """At this epsilon no word changes, and the text comes back."""
    vectors = np.arange(14.0)[:, None]
    words = Embeddings([*WORDS, "(", ")"], vectors)
    monkeypatch.setattr(textsan, "load_embeddings", lambda name: words)
    exact = ("--mechanism", "santext", "--epsilon", "1000")
    (tmp_path / "in.jsonl").write_text(json.dumps({"text": HARD}))
    for flags, expected in [
        (("--detokenize", "--keep-case"), HARD),
        (("--detokenize",), HARD.lower()),
        (("--keep-case",), "The GOOD film A plot , a Story ( bad ) ."),
    ]:
        result = run(*exact, *flags, "in.jsonl", "out.jsonl")
        assert result.exit_code == 0, result.output
        assert json.loads((tmp_path / "out.jsonl").read_text())["text"] == expected
        outside = json.loads((tmp_path / "out.jsonl.json").read_text())["guarantee"]["outside"]
        assert ("capital letters" in outside) == ("--keep-case" in flags)
        assert ("line breaks" in outside) == ("--detokenize" in flags)


def test_text_of_a_line_stays_on_its_line(run, tmp_path):
    (tmp_path / "in.txt").write_text("good\x0bfilm\u2028bad\x0c\n\nstory\n")
    assert run(*CUSTEXT, "--detokenize", "in.txt", "out.txt").exit_code == 0
    released = (tmp_path / "out.txt").read_text()
    assert len(released.splitlines()) == 3 and released.count("\n") == 3


def test_a_lone_carriage_return_in_another_cell_stays_in_its_cell(run, tmp_path):
    (tmp_path / "in.csv").write_bytes(b'id,text\n"see\rbelow",good film\n')
    assert run(*CUSTEXT_ID, "in.csv", "out.csv").exit_code == 0
    with open(tmp_path / "out.csv", newline="") as file:
        header, row = csv.reader(file)
    assert header == ["id", "text"] and row[0] == "see\rbelow"
