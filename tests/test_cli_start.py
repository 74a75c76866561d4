"""`textsan start`: how hard files are read, what it proposes, and that no word of a file is printed."""

import csv
import gzip
import io
import json
import shlex
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from arro3 import core, io as io_parquet
from click.testing import CliRunner
from hypothesis import HealthCheck, given, settings, strategies as st

import textsan
from textsan import Embeddings
from textsan.auditing import any_release, looking, material as materials, use
from textsan.cli.main import main
from textsan.mechanisms import custext, make
from textsan.text import names

WORDS = """the a of and to in is was it her bread soup train late warm fine house met at on again for we they he
she came before an hour patient slept well all day nobody saw rain by door small good bad . , !""".split()
VECTORS = Embeddings(WORDS, np.random.default_rng(0).normal(size=(len(WORDS), 4)))


@pytest.fixture(autouse=True)
def small_world(monkeypatch, tmp_path, default_data):
    """A small public vocabulary in place of GloVe, and no Presidio."""
    for module, name in ((textsan, "load_embeddings"), (make, "load_embeddings"), (custext, "_whole_file")):
        monkeypatch.setattr(module, name, lambda name="": VECTORS)
    monkeypatch.setattr(materials, "_public", lambda documents: sentences(100, 7))
    monkeypatch.setattr(use, "find_spec", lambda name: None)
    monkeypatch.setattr(looking, "is_presidio_here", lambda: False)
    monkeypatch.setattr(names, "is_presidio_here", lambda: False)
    monkeypatch.chdir(tmp_path)


def sentences(n, seed):
    generator = np.random.default_rng(seed)
    return [list(generator.choice(WORDS[:-3], 8)) for _ in range(n)]


def start(path, content=None, encoding="utf-8"):
    """Write a file and look at it: the output of the command."""
    if content is not None:
        with open(path, "w", encoding=encoding, newline="") as file:
            file.write(content)
    done = CliRunner().invoke(main, ["start", "--", path])
    assert done.exit_code == 0 and done.stderr == "", done.output
    return done.stdout


def looked(path, content, encoding="utf-8"):
    start(path, content, encoding)
    return looking.look(path, VECTORS.index)


def commands(output):
    """The words of each proposed command."""
    lines = output.replace("\\\n", " ").splitlines()
    return [shlex.split(line)[1:] for line in lines if line.startswith("   textsan ")]


def run(command):
    done = CliRunner().invoke(main, command)
    return SimpleNamespace(status=done.exit_code, output=done.output)


def table(rows, delimiter=","):
    file = io.StringIO()
    csv.writer(file, delimiter=delimiter, lineterminator="\n").writerows(rows)
    return file.getvalue()


# The commands run as printed


def test_all_three_commands_run_as_printed_on_a_table_of_a_german_spreadsheet(tmp_path):
    """Semicolons, cp1252, decimal commas, line breaks in cells, and a column of persons."""
    rows = [
        [f"p{n % 24}x{n % 24}", f"{n},5", f"Käse; \n{' '.join(doc)} – warm", "yes" if n % 3 else "no"]
        for n, doc in enumerate(sentences(72, 0))
    ]
    output = start("in data.csv", table([["who", "price", "text", "mood"], *rows], ";"), "cp1252")
    assert output.startswith("in data.csv: csv, delimiter ;, cp1252 (a guess); all 72 records\n")
    audit, choose, sanitize = commands(output)
    given_ = ["--field", "text", "--group", "who", "--delimiter", ";", "--encoding", "cp1252"]
    assert audit[-9:] == [*given_, "in data.csv"] and choose[-11:-3] == given_
    assert "For --label in 1 and 2, which then say what a task keeps: mood (2 values).\n" in output
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in data.csv"]  # nothing is written
    assert run(audit).status in (3, 4)
    chosen = run([*choose, "--seed", "0"])
    assert chosen.status == 0 and "in data-to-release.csv" in chosen.output, chosen.output
    released = run(sanitize)
    assert released.status == 0 and "left out: who, price, mood" in released.output, released.output
    with open("in data-safe.csv", encoding="utf-8", newline="") as file:
        written = list(csv.reader(file, delimiter=";"))
    assert written[0] == ["text"] and 20 < len(written) < 60 and all(len(row) == 1 for row in written)
    again = commands(start("in data.csv"))[2]
    assert again[-2:] == ["in data-1-to-release.csv", "in data-1-safe.csv"]  # nothing that is there is replaced


def test_parquet_is_read_by_its_columns_and_released_as_proposed(tmp_path):
    docs = [" ".join(doc) for doc in sentences(30, 0)]
    columns = {
        "id": core.Array(range(30), core.DataType.int64()),
        "text": core.Array(docs, core.DataType.string()),
    }
    io_parquet.write_parquet(core.Table(columns), tmp_path / "in.parquet")
    output = start("in.parquet")
    assert output.startswith("in.parquet: parquet, utf-8; all 30 records\n")
    *_, sanitize = commands(output)
    Path("in.parquet").rename(sanitize[-2])
    assert run(sanitize).status == 0
    assert io_parquet.read_parquet(tmp_path / sanitize[-1]).read_all().column_names == ["text"]


FILES = {
    "in.tsv": 'text\tid\n"the house\t1\nfine bread"\t2\nsoup "warm" again\t3\n',
    "quoted.tsv": '"text"\t"id"\n"the\thouse"\t"1"\n"fine ""warm"" bread"\t"2"\n',
    "tabs.csv": "id\ttext\n1\tthe house, late\n2\tfine bread, warm\n",
    "lines.txt": "The house was late.\n\nFine bread; warm soup.\n",
    "table.txt": "id\ttext\n1\tthe house was late\n2\tfine bread and soup\n",
    "semicolons.log": "id;text\n1;the house, late\n2;fine bread, warm\n",
    "nothing": "the house, late\nfine bread, warm\n",
    "objects.data": '{"text": "the house was late"}\n{"text": null}\n',
    "one.csv": "text\nthe house was late\nfine bread\n",
    "commas.csv": "text\nthe house, late\nfine bread, warm, good\n",
    "index.csv": ",text\n0,the house was late\n1,fine bread\n",
    "--odd.csv": "text,-,\nthe house was late,1,\nfine bread and soup,2,\n".replace("-", "id"),
    "Titles.CSV": "Case number,Free text\n7,the house was late\n8,fine bread\n",
    "cut.csv": 'text,id\n"the house\n\nwas late, ""again""",1\n"fine\r\nbread",2\n',
}


@pytest.mark.parametrize("name", FILES)
def test_the_proposed_release_runs_as_printed(name):
    *_, sanitize = commands(start(name, FILES[name]))
    Path(sanitize[-2]).write_bytes(Path(name).read_bytes())  # in place of what `choose` writes
    done = run(sanitize)
    assert done.status == 0, done.output
    left = Path(sanitize[-1]).read_bytes().decode()
    assert len(left.splitlines()) >= 2 and not set(left) & set("0123456789;\t")


def test_nested_objects_with_lists_that_are_empty_here_and_there():
    turns = [
        [{"role": "user", "content": "The soup was late."}, {"role": "agent", "content": None}],
        [],
        None,
        [{"role": "user", "content": "Warm bread, again and again."}],
    ]
    rows = [{"id": n, "meta": {"tags": [], "lang": "en"}, "turns": some} for n, some in enumerate(turns)]
    content = "".join(json.dumps(row) + "\n" for row in rows)
    seen = looked("in.jsonl", content)
    assert [column.name for column in seen.columns] == [
        *("id", "meta.tags", "meta.lang", "turns[].role", "turns[].content", "turns")
    ]
    assert seen.text.name == "turns[].content" and seen.dropped == ["id", "meta.tags", "meta.lang", "turns[].role"]
    *_, sanitize = commands(start("in.jsonl"))
    Path("in-to-release.jsonl").write_text(content)
    assert run(sanitize).status == 0
    released = [json.loads(line) for line in Path("in-safe.jsonl").read_text().splitlines()]
    assert [row["turns"] for row in released][1:3] == [[], None]
    assert list(released[0]["turns"][0]) == ["content"] and released[0]["turns"][1] == {"content": None}
    assert {key for row in released for key in row} == {"turns", "meta"} and released[0]["meta"] == {}
    Path("in-to-release.jsonl").write_text('{"turns": "what nobody named"}\n')
    assert run(sanitize).status == 2  # only what is empty needs no option


def test_a_text_that_records_lack_or_that_two_columns_are_is_not_proposed():
    output = start("in.jsonl", '{"text": "the house was late"}\n{"id": 2}\n')
    assert commands(output) == [] and "nothing is proposed" in output
    output = start("in.csv", "text,text,title\nthe house was late,fine bread,the soup\na,b,it was\n")
    assert commands(output)[2][-6:-2] == ["--field", "title", "--drop", "text"]


# How files are read


def test_a_column_has_the_kind_of_what_is_in_it():
    """Two cells of five with a name, one of four with an address: shares of filled cells are exact."""
    rows = """1|Ask Mary Smith for bread, it was late.|ann@x.org|2024-03-01||a|3,5|+1 212 555 0100
2|The soup of James Miller was fine.|bo@x.org|2024-03-02 10:00||b|1.000|212 555 0101
3|Nobody saw the train http://x.org/a again.|cy@x.org|1 March 2024||a|-2|212-555-0102
4|We slept well all day.|di@x.org|03/04/2024||b|7%|(212) 555 0103
5|It was a warm house by the rain.|NaN|2024-03-05T10:00:01Z||a|1e9|NULL"""
    rows = [row.split("|") for row in rows.splitlines()]
    head = ["number", "text", "mail", "day", "none", "class", "price", "phone"]
    seen = looked("in.csv", table([head, *rows]))
    kinds = {column.name: column.kind for column in seen.columns}
    assert kinds == dict(zip(head, "number text id date empty category number id".split(), strict=True))
    shares = {column.name: (column.filled, column.found) for column in seen.columns}
    assert shares["text"] == (1.0, {"name": 0.4, "url": 0.2}) and shares["mail"] == (0.8, {"email": 1.0})
    assert shares["none"] == (0.0, {}) and shares["day"] == (1.0, {"date": 1.0})
    assert shares["phone"] == (0.8, {"phone": 1.0}) and shares["class"] == (1.0, {})
    tokens = [token for row in rows for token in textsan.tokenize(row[1])]
    assert seen.columns[1].listed == sum(token in WORDS for token in tokens) / len(tokens)
    assert seen.columns[1].tokens == len(tokens) / 5
    output = start("in.csv")
    assert "name 40%, url 20%" in output and "--pass" not in output
    assert {*commands(output)[2]} >= {*head, "--drop"} and commands(output)[2].count("--drop") == 7


def test_text_of_another_language_is_said_to_be_hardly_english():
    french = (
        "Le train est encore arrivé en retard hier soir.\nNous avons attendu une heure sans savoir pourquoi.\n"
    )
    assert "\nHardly English: 8" in start("fr.txt", french)
    assert "Hardly English" not in start("en.txt", "The train was late again.\nWe met at the house.\n")


@pytest.mark.parametrize(
    "encoding, said, option",
    [
        ("utf-8", "utf-8", []),
        ("utf-8-sig", "utf-8", []),
        ("utf-16", "utf-16", []),
        ("utf-16-le", "utf-16-le (a guess)", ["--encoding", "utf-16-le"]),
        ("utf-16-be", "utf-16-be (a guess)", ["--encoding", "utf-16-be"]),
        ("cp1252", "cp1252 (a guess)", ["--encoding", "cp1252"]),
    ],
)
def test_encodings_are_told_by_their_mark_or_guessed(encoding, said, option):
    content = "id,text\n1,the café was late – again\n2,fine bread\n"
    output = start("in.csv", content, encoding)
    assert output.startswith(f"in.csv: csv, {said}; all 2 records\n")
    audit, choose, sanitize = commands(output)
    if option:
        assert audit[-3:-1] == choose[-5:-3] == option
    assert ("--encoding" in audit) == ("--encoding" in choose) == bool(option)
    assert "--encoding" not in sanitize  # what `choose` writes is utf-8


def test_packed_and_long_files_are_read_at_their_beginning(monkeypatch):
    with gzip.open("in.csv.gz", "wt") as file:
        file.write("id,text\n" + "".join(f"{n},the train was late by {n % 70} hours\n" for n in range(1_200)))
    output = start("in.csv.gz")
    assert "the first 1,000 records" in output
    assert commands(output)[1][-2:] == ["in", "in.csv.gz"] and commands(output)[2][-1] == "in-safe.csv"
    monkeypatch.setattr(looking, "SIZE", 30)  # cut inside of a cell with a line break and of a letter
    assert looked("cut.csv", 'id,text\n1,"the café\nand é é é é é é é"\n2,fine bread\n').encoding == "utf-8"


@pytest.mark.parametrize(
    "content",
    [
        "the house was late,3\nfine bread zyxwort,4\n",
        "3,zyxwort\n4,zyxwort\n",
        "zyxwort,7\nwarm,8\nzyxwort,9\n",
        "n/a,zyxwort is ill\n4,bread\n",
        "the house of zyxwort\nfine bread and zyxwort\n",
    ],
)
def test_a_first_line_that_is_text_is_not_shown(content):
    output = start("in.csv", content)
    assert "zyxwort" not in output and commands(output) == []
    width = content.splitlines()[0].count(",") + 1
    assert output.endswith(",".join(f"column{n + 1}" for n in range(width)) + "\n")
    headed = ",".join(f"column{n + 1}" for n in range(width)) + "\n" + content
    assert "column1" in start("in.csv", headed) and len(commands(start("in.csv"))) in (0, 3)


def test_keys_that_are_no_names_are_not_shown():
    output = start("in.jsonl", '{"text": "the house was late", "Ann of the house": 3}\n')
    assert "Ann" not in output and "not shown" in output and commands(output) == []


@pytest.mark.parametrize(
    "name, content, message",
    [
        ("in.txt", b" \n\n", "is empty"),
        ("in.csv", b"id,text\n", "holds no document"),
        ("in.xlsx", b"PK\x03\x04" + bytes(range(256)) * 9, "save as csv first"),
        ("in.parquet", b"PAR1zyxwort", "is no whole parquet file"),
        ("in.txt", b"one\0two", "is no text"),
        ("in.txt", b"\x81\x8d zyxwort", "neither utf-8 nor cp1252"),
        ("in.json", b'[{"text": "zyxwort"},\n{"text": "zyxwort"}]', "an object a line"),
        ("in.jsonl", b'{"text": "zyxwort"\n', "line 1 is no json"),
        ("in.csv.gz", b"zyxwort", "no whole gz file"),
        ("-", None, "pass a file"),
        ("nowhere.csv", None, "does not exist"),
        (".", None, "no file"),
    ],
)
def test_what_cannot_be_read_is_one_line(tmp_path, name, content, message):
    if content is not None:
        (tmp_path / name).write_bytes(content)
    done = CliRunner().invoke(main, ["start", name])
    assert done.exit_code == 2 and done.stdout == "" and done.stderr.count("\n") == 1, done.output
    assert message in done.stderr and "zyxwort" not in done.stderr


def test_presidio_is_asked_where_it_is_installed_and_named_where_it_is_not(monkeypatch):
    content = "id,text\n1,the house of Zoe\n2,it was late\n"
    assert "Presidio was not asked: it needs the extra pii.\n" in start("in.csv", content)
    spans = [SimpleNamespace(entity_type="PHONE_NUMBER", start=0, end=3)]
    stand_in = SimpleNamespace(analyze=lambda text, **of: spans if text[0] == "t" and "entities" not in of else [])
    monkeypatch.setattr(any_release, "analyzer", lambda: stand_in)
    monkeypatch.setattr(names, "analyzer", lambda: stand_in)
    for module in (looking, names):
        monkeypatch.setattr(module, "is_presidio_here", lambda: True)
    output = start("in.csv")
    assert "by Presidio, in the first 50" in output and "phone 50%" in output and "not asked" not in output


# No word of the file is printed

SECRET = st.text("qxzj", min_size=5, max_size=9)  # four letters of which no word of the output is made
CELL = st.lists(SECRET | st.sampled_from(["the", "12345", ",", ";", '"', "\n", "\t", "é", "q@x.zz"]), max_size=6)
ROWS = st.lists(st.lists(CELL.map(" ".join), min_size=3, max_size=3), min_size=1, max_size=6)


def quoted(output, rows):
    """The private words of some rows that an output has."""
    parts = {part for row in rows for cell in row for part in cell.split()}
    return {part for part in parts if len(part) >= 5 and not part.isdigit() and part in output}


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    ROWS,
    st.booleans(),
    st.sampled_from(
        [("csv", ","), ("csv", ";"), ("csv", "\t"), ("tsv", "\t"), ("jsonl", ""), ("txt", ""), ("", ",")]
    ),
    st.sampled_from(["utf-8", "utf-16", "cp1252"]),
)
def test_no_word_of_the_file_is_printed(rows, header, form, encoding):
    kind, delimiter = form
    names_ = ["number", "note", "third"]
    rows = [[f"1 {row[0]}", *row[1:]] for row in rows]  # so that the first row is no row of names
    if kind == "jsonl":
        content = "".join(json.dumps(dict(zip(names_, row, strict=True))) + "\n" for row in rows)
    elif kind == "txt":
        content = "\n".join(" ".join(row) for row in rows)
    else:
        content = table([names_, *rows] if header else rows, delimiter)
    with open(f"in.{kind or 'data'}", "w", encoding=encoding, newline="") as file:
        file.write(content)
    done = CliRunner().invoke(main, ["start", f"in.{kind or 'data'}"])
    assert done.exit_code in (0, 2) and done.stderr.count("\n") == (done.exit_code == 2), done.output
    assert quoted(done.output, rows) == set()
    assert quoted(done.output + rows[0][0], [["qxzjqq", *rows[0]]]) >= {
        p for p in rows[0][0].split() if len(p) > 5
    }
