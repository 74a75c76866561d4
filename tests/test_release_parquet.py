"""Parquet in and out: columns of any type come back bit by bit, texts are sanitized, and nothing else gets out."""

import errno
import json
import os
from itertools import product
from pathlib import Path

import helpers
import pytest
from arro3 import core, io
from arro3.core import Array, DataType
from helpers import CUSTEXT, TOY, VERBATIM, WORDS, sanitize as run, toy_world

from textsan.auditing.files import check_parts, kind_of, read_texts, write_parts
from textsan.base.assets import file_sha256
from textsan.mechanisms import make
from textsan.release import parquet, shards
from textsan.release.formats import Form

TEXTS = ["A good film", None, "", "bad PLOT, bad actor", "a story"]

NUMBERS = Array([19_000, None, 0, -1, 7], DataType.int64())
STRINGS = Array(["Zyx", "wort", None, "", "Zyx"], DataType.string())
STARTS = Array([0, 1, 1, 3, 4, 5], DataType.int32())
ODD = {
    "date": NUMBERS.cast(DataType.int32()).cast(DataType.date32()),
    "moment": NUMBERS.cast(DataType.timestamp("us", tz="Europe/Berlin")),
    "clock": Array([1, 2, 3, None, 5], DataType.int64()).cast(DataType.time64("us")),
    "span": NUMBERS.cast(DataType.duration("ms")),
    "price": NUMBERS.cast(DataType.decimal128(9, 2)),
    "half": Array([1.5, None, 0.1, -0.0, 2.0], DataType.float64()).cast(DataType.float16()),
    "double": Array([float("nan"), -0.0, 1e-320, None, float("inf")], DataType.float64()),
    "most": Array([2**64 - 1, 0, None, 1, 2], DataType.uint64()),
    "flag": Array([True, False, None, True, True], DataType.bool()),
    "bytes": Array([b"\xff\0", b"", None, b"a", b"b"], DataType.binary()),
    "large": STRINGS.cast(DataType.large_string()),
    "view": STRINGS.cast(DataType.string_view()),
    "category": STRINGS.cast(DataType.dictionary(DataType.int32(), DataType.string())),
    "list": core.list_array(STARTS, STRINGS),
    "object": core.struct_array([NUMBERS, STRINGS], fields=[NUMBERS.field.with_name("a"), STRINGS.field]),
}


@pytest.fixture(autouse=True)
def small_world(tmp_path, monkeypatch):
    toy_world(tmp_path, monkeypatch)


def refusal(*arguments):
    line = helpers.refusal(*arguments)
    assert not any(word in line for word in ("Zyx", "wort", "actor"))
    return line


def texts(values=TEXTS, kind=None):
    return Array(values, kind or DataType.string())


def write(path, columns, metadata=None, **more):
    """Write columns; metadata is of all of them alike and of the file."""
    fields = [core.Field(name, column.type, nullable=True, metadata=metadata) for name, column in columns.items()]
    table = core.Table.from_arrays([*columns.values()], schema=core.Schema(fields, metadata=metadata))
    io.write_parquet(table, Path(path), **more)


def read(path):
    return io.read_parquet(Path(path)).read_all()


def given(names, option="--pass"):
    return [part for name in names for part in (option, name)]


def test_columns_of_any_type_come_back_and_the_text_is_sanitized():
    write("in.parquet", {"text": texts(), **ODD}, max_row_group_size=2, compression="gzip(5)")
    before = read("in.parquet")
    result = run(*VERBATIM, *given(ODD), "in.parquet", "out.parquet")
    assert result.exit_code == 0, result.output
    after = read("out.parquet")
    assert after.column_names == before.column_names
    for name in ODD:
        assert after.field(name).equals(before.field(name))
        assert after.column(name).combine_chunks() == before.column(name).combine_chunks(), name
    assert after.column("text").to_pylist() == ["a good film", None, "", "bad plot , bad actor", "a story"]
    about = json.loads(Path("out.parquet.json").read_text())
    assert (about["format"], about["sha256"]) == ("parquet", file_sha256(Path("out.parquet")))
    assert (about["fields"], about["untouched"], about["documents"]) == (["text"], [*ODD], 5)
    assert sorted(os.listdir()) == ["in.parquet", "out.parquet", "out.parquet.json"]


@pytest.mark.parametrize("kind", [DataType.string(), DataType.large_string(), DataType.string_view()])
def test_several_texts_are_one_document_and_keep_their_types_and_places(kind):
    columns = {"b": texts(kind=kind), "id": NUMBERS, "gone": STRINGS, "a": texts(TEXTS[::-1], kind)}
    write("in.parquet", columns)
    options = [*given("ab", "--field"), "--pass", "id", "--drop", "gone"]
    assert run(*VERBATIM, *options, "in.parquet", "out.parquet").exit_code == 0
    after = read("out.parquet")
    assert after.column_names == ["b", "id", "a"] and after.column("a").type == after.column("b").type == kind
    assert after.column("a").to_pylist() == after.column("b").to_pylist()[::-1]
    assert b"Zyx" not in Path("out.parquet").read_bytes() and b"gone" not in Path("out.parquet").read_bytes()
    assert json.loads(Path("out.parquet.json").read_text())["documents"] == 5


def test_what_a_file_says_of_itself_is_left_out_and_a_passed_column_keeps_its_own():
    about = {"ARROW:extension:name": "arrow.json", "zyx": "wort"}
    write("in.parquet", {"text": texts(), "id": STRINGS}, about)
    assert run(*CUSTEXT, "--pass", "id", "in.parquet", "out.parquet").exit_code == 0
    schema = io.read_parquet(Path("out.parquet")).schema
    assert schema.metadata == schema.field("text").metadata == {} and schema.field("id").metadata_str == about


def test_no_rows_are_a_file_without_rows():
    write("in.parquet", {"text": texts([]), "id": Array([], DataType.int8())})
    assert run(*CUSTEXT, "--pass", "id", "in.parquet", "out.parquet").exit_code == 0
    after = read("out.parquet")
    assert after.num_rows == 0 and after.schema.types == [DataType.string(), DataType.int8()]


def test_the_bytes_do_not_depend_on_workers_and_shards(monkeypatch):
    rows = [f"{a} {b} {c}" for a, b, c in product(WORDS, repeat=3)]  # more than arrow reads at once
    write("in.parquet", {"id": Array(range(len(rows)), DataType.int64()), "text": texts(rows)})
    call = (*CUSTEXT, "--seed", "1", "--pass", "id", "in.parquet")
    Path("in.csv").write_text("id,text\n" + "".join(f'{n},"{row}"\n' for n, row in enumerate(rows)))
    assert run(*call[:-1], "in.csv", "out.csv").exit_code == run(*call, "whole.parquet").exit_code == 0
    monkeypatch.setattr(shards, "_SIZE", 3000)
    assert run(*call, "-j", "2", "parts.parquet").exit_code == 0
    assert Path("parts.parquet").read_bytes() == Path("whole.parquet").read_bytes()
    released = read_texts("whole.parquet", "parquet", key="id")
    assert released == read_texts("out.csv", "csv", key="id") and len(released.texts) == 1728


def test_a_run_that_was_stopped_goes_on_to_the_same_bytes(monkeypatch):
    write("in.parquet", {"text": texts(TEXTS * 50)})
    call = (*CUSTEXT, "--seed", "1", "in.parquet")
    assert run(*call, "whole.parquet").exit_code == 0
    monkeypatch.setattr(shards, "_SIZE", 300)

    sanitize, done = shards.Job.sanitize, []

    def some(job, shard):
        done.append(shard)
        return sanitize(job, shard) if len(done) < 6 else stop()

    def stop(*given, **more):
        raise KeyboardInterrupt

    stops = [(shards.Job, "sanitize", some), (parquet, "islice", stop)]
    for owner, name, stopped in stops:  # while shards are made, and while they are put together
        with monkeypatch.context() as patched:
            patched.setattr(owner, name, stopped)
            assert "Aborted!" in run(*call, "out.parquet").stderr
        left = {*Path("out.parquet.parts").glob("*.shard")}
        assert not Path("out.parquet").exists() and len(left) >= 5
    with monkeypatch.context() as patched:
        patched.setattr(shards.Job, "sanitize", stop)  # all of it is done
        assert run(*call, "out.parquet").exit_code == 0
    assert Path("out.parquet").read_bytes() == Path("whole.parquet").read_bytes()
    assert not Path("out.parquet.parts").exists()


@pytest.mark.parametrize("rows", [3, 5, 7])
def test_a_source_that_changes_meanwhile_is_not_mixed_with_itself(monkeypatch, rows):
    write("in.parquet", {"text": texts(), "id": NUMBERS})
    sanitize = shards.Job.sanitize

    def changed(job, shard):
        write("in.parquet", {"text": texts(["other"] * rows), "id": Array([*range(rows)], DataType.int64())})
        os.utime("in.parquet", (0, 0))
        return sanitize(job, shard)

    monkeypatch.setattr(shards.Job, "sanitize", changed)
    assert "in.parquet was changed while it was read" in refusal(
        *CUSTEXT, "--pass", "id", "in.parquet", "o.parquet"
    )
    assert os.listdir() == ["in.parquet"]


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no full disk here")
def test_a_full_disk_is_an_error_of_the_system():
    write("in.parquet", {"text": texts()})
    schema, batches = parquet.opened("in.parquet", "source")
    with pytest.raises(OSError) as error, open("/dev/full", "wb") as full:
        parquet._write(schema, batches, full)
    assert error.value.errno == errno.ENOSPC


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--encoding", "cp1252", "in.parquet", "o.parquet"], "encoding: parquet has none of its own"),
        (["in.parquet", "-"], "OUTPUT: parquet is not read or written in one go; pass a file, and no pipe"),
        (["pipe.parquet", "o.parquet"], "INPUT: parquet is not read or written in one go"),
        (["in.parquet", "o.parquet.gz"], "OUTPUT: parquet is compressed in itself; pass o.parquet.gz without .gz"),
        (["in.parquet", "o.csv"], "o.csv says csv, and INPUT is parquet; formats are not converted"),
        (["in.parquet", "o.parquet"], "nobody said what becomes of the columns 'id', 'list'; pass --field"),
        (["--field", "Text", "in.parquet", "o.parquet"], "no column 'Text' among the 3; did you mean 'text'?"),
        (["--field", "list", "in.parquet", "o.parquet"], "column 'list' holds no strings; pass another --field"),
        (["--oov", "error", "--drop", "id", "--drop", "list", "in.parquet", "o"], "row 5 has a word outside"),
        (["twice.parquet", "o.parquet"], "2 columns are named 'text'; rename all but one"),
        (["half.parquet", "o.parquet"], "half.parquet is no whole parquet file, or an encrypted one"),
        (["mark.parquet", "o.parquet"], "mark.parquet is no whole parquet file, or an encrypted one"),
        (["gap.parquet", "o.parquet"], "gap.parquet is no whole parquet file, or an encrypted one"),
        (["none.parquet", "o.parquet"], "none.parquet is no whole parquet file, or an encrypted one"),
        (["--drop", "id", "--drop", "list", "damaged.parquet", "o"], "damaged.parquet is no whole parquet file"),
        (["text.parquet", "--format", "parquet", "o"], "text.parquet is no whole parquet file"),
    ],
)
def test_what_does_not_fit_is_one_line_that_quotes_nothing(arguments, message, capfd):
    write(
        "in.parquet",
        {"text": texts([*TEXTS[:4], "zyx"]), "id": STRINGS, "list": ODD["list"]},
        compression="snappy",
    )
    content = Path("in.parquet").read_bytes()
    Path("half.parquet").write_bytes(content[: len(content) // 2])
    Path("damaged.parquet").write_bytes(content[:4] + b"\xff" * 60 + content[64:])
    Path("text.parquet").write_text("Zyx actor\n")
    Path("none.parquet").touch()
    Path("mark.parquet").write_bytes(b"PAR1")
    Path("gap.parquet").write_bytes(content[:8] + content[-8:])  # its end says that more stands before it
    os.mkfifo("pipe.parquet")
    pair = core.Schema([core.Field("text", DataType.string())] * 2)
    io.write_parquet(core.Table.from_arrays([texts(["a"])] * 2, schema=pair), Path("twice.parquet"))
    before = sorted(os.listdir())
    assert message in refusal(*CUSTEXT, *arguments)
    assert sorted(os.listdir()) == before
    assert capfd.readouterr().err == ""  # not a line of the reader's own either


def test_an_audit_reads_the_same_of_parquet_and_csv():
    labels = Array([True, False, None, True, True], DataType.bool())
    columns = {"id": NUMBERS, "who": ODD["category"], "text": texts(), "more": ODD["bytes"], "mood": labels}
    write("in.parquet", columns)
    rows = ["id,who,text,more,mood", "19000,Zyx,A good film,,True", ",wort,,,False", "0,,,,"]
    rows += ['-1,,"bad PLOT, bad actor",,True', "7,Zyx,a story,,True"]
    Path("in.csv").write_text("\n".join(rows))
    asked = {"label": "mood", "group": "who", "key": "id"}
    found = [read_texts(path, kind_of(path, None, "INPUT"), **asked) for path in ("in.parquet", "in.csv")]
    assert found[0] == found[1] and found[0].groups == ["Zyx", "wort", None, None, "Zyx"]
    assert found[0].beside == ("id", "who", "more", "mood")
    write("in.parquet", {"text": texts(), "mood": ODD["double"]})
    assert read_texts("in.parquet", "parquet", label="mood").labels == [None, "-0.0", "1e-320", None, "inf"]
    with pytest.raises(ValueError, match="no column 'note' among the 2; pass one of text, mood as --field"):
        read_texts("in.parquet", "parquet", Form(("note",)), quotes=False)  # names of columns are no text


def test_rows_that_chose_and_rows_to_release_are_two_files():
    write("in.parquet", {"text": texts(), **ODD}, max_row_group_size=2)
    targets = check_parts("in.parquet", "parquet", "p")
    write_parts("in.parquet", "parquet", Form(), [0, 3], targets)
    before = read("in.parquet").combine_chunks().to_batches()[0]
    for part, rows in (("held-back", [0, 3]), ("to-release", [1, 2, 4])):
        assert targets[part].stat().st_mode & 0o777 == 0o600
        after = read(f"p-{part}.parquet").combine_chunks().to_batches()[0]
        assert after.columns == before.take(Array(rows, DataType.uint32())).columns
    assert b"wort" not in targets["held-back"].read_bytes()  # of another row, in no dictionary either
    assert b"wort" in targets["to-release"].read_bytes()


@pytest.mark.parametrize("column", [texts(), core.ChunkedArray([texts()])], ids=["array", "chunks"])
def test_a_column_of_arrow_is_sanitized_as_a_list_is(column):
    mechanism = make.make_mechanism("custext", TOY, epsilon=1.0, k=4)
    released = mechanism.sanitize_text(column, seed=0)
    assert released == mechanism.sanitize_text(TEXTS, seed=0) and released[1] is None
    assert texts(released).null_count == 1
    with pytest.raises(ValueError, match="int is no string"):
        mechanism.sanitize_text(NUMBERS)
    with pytest.raises(ValueError, match="has columns, which are sanitized one at a time"):
        mechanism.sanitize_text(core.Table.from_arrays([texts()], names=["text"]))


def test_a_column_of_pyarrow_comes_back():
    arrow = pytest.importorskip("pyarrow")
    mechanism = make.make_mechanism("custext", TOY, epsilon=1.0, k=4)
    for column in (arrow.array(TEXTS), arrow.chunked_array([TEXTS])):
        assert arrow.array(mechanism.sanitize_text(column)).null_count == 1
