"""Files in and out: fields, formats, encodings, and a text that never has the record of another."""

import errno
import hashlib
import json
import os
import shlex
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest
from click.testing import CliRunner
from helpers import CUSTEXT, TOY, VERBATIM, WORDS, refusal, sanitize as run, toy_world

from textsan.auditing.files import check_parts, read_texts
from textsan.cli.main import main
from textsan.release import files
from textsan.release.formats import Form
from textsan.release.plan import plan
from textsan.text.vocabulary import tokenize


@pytest.fixture(autouse=True)
def small_world(tmp_path, monkeypatch):
    toy_world(tmp_path, monkeypatch)


def released(*arguments, name="out"):
    result = run(*arguments)
    assert result.exit_code == 0, result.output
    return Path(name).read_bytes()


# --- fields -------------------------------------------------------------------------------------------------


def test_every_field_that_is_named_is_sanitized_and_a_record_is_one_document():
    Path("in.csv").write_text("id,title,body,score\n1,Zaphod,zaphod good,2\n2,the film,a story,5\n")
    given = ("--field", "title", "--field", "body", "--pass", "id", "--drop", "score", "in.csv", "out.csv")
    rows = released(*CUSTEXT, *given, name="out.csv").decode().splitlines()
    assert rows[0] == "id,title,body" and [row.split(",")[0] for row in rows[1:]] == ["1", "2"]
    assert "zaphod" not in " ".join(rows).lower()
    about = json.loads(Path("out.csv.json").read_text())
    assert (about["fields"], about["untouched"], about["dropped"]) == (["title", "body"], ["id"], ["score"])
    assert (about["documents"], about["tokens"], about["longest_document"]) == (2, 7, 4)
    # One document a record: the words of a title and its body share no draw.
    Path("in.txt").write_text("zaphod zaphod good\nthe film a story\n")
    whole = released(*CUSTEXT, "--seed", "1", "in.txt", "whole.txt", name="whole.txt").decode().split()
    apart = released(*CUSTEXT, "--seed", "1", *given, name="out.csv").decode().splitlines()[1:]
    assert " ".join(" ".join(row.split(",")[1:]) for row in apart).split() == whole


@pytest.mark.parametrize(
    ("kind", "content", "left_out", "kept"),
    [
        ("csv", "name,text,ward,text 2\nAda,good film,3,bad\n", "--drop 'text 2'", "text\n"),
        (
            "jsonl",
            '{"text": "good", "a": {"b": 1}, "d": [{"e": null}]}\n',
            "--drop a.b --drop 'd[].e'",
            '{"text": ',
        ),
    ],
)
def test_a_field_that_nobody_named_is_an_error_with_the_command_to_type(kind, content, left_out, kept):
    Path(f"my visits.{kind}").write_text(content)
    line = refusal(*CUSTEXT, f"my visits.{kind}", f"out.{kind}")
    assert left_out in line and not Path(f"out.{kind}").exists()
    arguments = shlex.split(line.strip().partition("Without them: ")[2])
    assert run(*arguments[arguments.index("sanitize") + 1 :]).exit_code == 0
    assert Path(f"out.{kind}").read_text().startswith(kept)


def test_names_of_fields_that_may_be_private_are_not_said():
    Path("in.jsonl").write_text('{"text": "good", "Anna Müller": 3}\n')
    line = refusal(*CUSTEXT, "in.jsonl", "out.jsonl")
    assert "Anna" not in line and "--pass" in line


CHAT = [
    {
        "id": 1,
        "turns": [{"role": "user", "text": "zaphod, good film"}, {"role": "bot", "text": None}, {"role": "tool"}],
        "customer": {"name": "Jane Doe", "city": "Leeds"},
    },
    {"id": 2, "turns": [], "customer": {"name": "zaphod", "city": ""}},
]


def test_texts_inside_of_objects_and_lists():
    Path("in.jsonl").write_text("".join(json.dumps(one) + "\n" for one in CHAT))
    given = ("--field", "turns[].text", "--field", "customer.name", "--pass", "turns", "--drop", "customer.city")
    text = released(*CUSTEXT, *given, "--pass", "id", "in.jsonl", "out.jsonl", name="out.jsonl").decode()
    one, two = map(json.loads, text.splitlines())
    assert "zaphod" not in text.lower() and "Jane" not in text and "Leeds" not in text
    outside = json.loads(Path("out.jsonl.json").read_text())["guarantee"]["outside"]
    assert "the fields turns, id, released as they are but for the text in them" in outside
    assert [turn["role"] for turn in one["turns"]] == ["user", "bot", "tool"]
    assert len(one["turns"][0]["text"].split()) == 4 and one["turns"][1]["text"] is None
    assert one["turns"][2] == {"role": "tool"} and two["turns"] == [] and two["id"] == 2
    assert list(one["customer"]) == list(two["customer"]) == ["name"]


def test_what_is_passed_whole_does_not_take_a_text_along():
    Path("in.jsonl").write_text('{"a": {"b": "zaphod", "c": "leeds"}, "d": ["zaphod", "zaphod"]}\n')
    text = released(
        *CUSTEXT, "--field", "a.b", "--field", "d[]", "--pass", "a", "in.jsonl", "o.jsonl", name="o.jsonl"
    )
    assert b"zaphod" not in text and json.loads(text)["a"]["c"] == "leeds" and len(json.loads(text)["d"]) == 2


def test_a_name_with_dots_in_it_is_a_name_too():
    Path("in.jsonl").write_text('{"a.b": "zaphod", "a": {"b": "zaphod"}}\n')
    text = released(*CUSTEXT, "--field", "a.b", "in.jsonl", "out.jsonl", name="out.jsonl")
    assert b"zaphod" not in text
    Path("in.jsonl").write_text('{"text": "good", "a.b": "zaphod", "a": 1}\n')
    assert "'a.b'" in refusal(*CUSTEXT, "--pass", "a", "in.jsonl", "out.jsonl")  # which is not inside of a


@pytest.mark.parametrize(
    "given, message",
    [
        (("--field", "turns"), "no text in field 'turns', which is a list; pass --field turns[].NAME"),
        (("--field", "id"), "no text in field 'id'; pass --field NAME"),
        (("--field", "turns[].text", "--drop", "turns"), "drop: 'turns' holds the text 'turns[].text'"),
        (("--field", "id", "--pass", "id"), "pass: 'id' has another option too"),
        (("--delimiter", ";"), "delimiter: jsonl has none of its own"),
        (("--encoding", "rot13"), "encoding: 'rot13' is unknown"),
    ],
)
def test_fields_that_do_not_fit_are_one_line(given, message):
    Path("in.jsonl").write_text("".join(json.dumps(one) + "\n" for one in CHAT))
    assert message in refusal(*CUSTEXT, *given, "in.jsonl", "out.jsonl")
    assert sorted(os.listdir()) == ["in.jsonl"]


def test_an_audit_reads_what_was_sanitized_together():
    """The tokens of a record are those of its texts one after another, and no others."""
    Path("in.csv").write_text("id,title,body\n1,It do,n't good\n2,well,-made 3\n3,,\n")
    texts = read_texts("in.csv", "csv", Form(("title", "body"))).texts
    assert [tokenize(text) for text in texts] == [
        tokenize(title) + tokenize(body) for title, body in [("It do", "n't good"), ("well", "-made 3"), ("", "")]
    ]


# --- formats ------------------------------------------------------------------------------------------------


def test_a_tsv_has_no_quotes():
    """In files like GLUE's a sentence that begins with a quotation mark does not swallow the lines after it."""
    rows = ['"good film\t1', 'bad film"\t0', 'the "story"\t1', "\t0"]
    Path("in.tsv").write_text("\n".join(["text\tlabel", *rows]) + "\n")
    out = released(*VERBATIM, "--pass", "label", "in.tsv", "out.tsv", name="out.tsv").decode().splitlines()
    assert len(out) == 5 and [row.split("\t")[1] for row in out[1:]] == ["1", "0", "1", "0"]
    Path("quoted.tsv").write_text('"id"\t"text"\n1\t"good\tfilm"\n')
    assert "pass --format csv --delimiter tab" in refusal(*CUSTEXT, "--pass", "id", "quoted.tsv", "out.tsv")
    given = ("--format", "csv", "--delimiter", "tab", "--pass", "id", "quoted.tsv", "out.tsv")
    assert released(*VERBATIM, *given, name="out.tsv") == b"id\ttext\n1\tgood film\n"


def test_another_delimiter():
    Path("in.csv").write_text('id;text\n1;the film, good\n2;"bad;bad"\n')
    assert "--delimiter ';'" in refusal(*CUSTEXT, "in.csv", "out.csv")
    out = released(*VERBATIM, "--delimiter", ";", "--pass", "id", "in.csv", "out.csv", name="out.csv")
    assert out.startswith(b"id;text\n1;the film , good\n2;")
    assert json.loads(Path("out.csv.json").read_text())["delimiter"] == ";"
    for wrong in (";;", "", '"'):
        assert "is no delimiter" in refusal(*CUSTEXT, "--delimiter", wrong, "in.csv", "other.csv")


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-32", "utf-16-be", "cp1252", "shift-jis"])
def test_a_mark_decides_and_else_what_was_asked_for(encoding):
    mark = b"\xfe\xff" if encoding == "utf-16-be" else b""
    text = "id,text\n1,good café\n" if encoding == "cp1252" else "id,text\n1,good ß\n"
    text = text.replace("ß", "映画") if encoding == "shift-jis" else text
    Path("in.csv").write_bytes(mark + text.encode(encoding))
    given = ("--oov", "keep", "--pass", "id", "in.csv", "out.csv")
    if encoding in ("cp1252", "shift-jis"):
        line = refusal(*CUSTEXT, *given[2:])
        assert "is not utf-8 in line 2" in line and "pass --encoding" in line
        given = ("--encoding", encoding, *given)
    out = released(*VERBATIM, *given, name="out.csv").decode()
    assert out.replace(" ", "") == text.replace(" ", "")
    # What else is asked for does not matter where there is a mark.
    if encoding not in ("cp1252", "shift-jis"):
        assert released(*VERBATIM, "--encoding", "cp1252", *given, name="out.csv").decode() == out


@pytest.mark.parametrize("kind", ["txt", "jsonl", "csv", "tsv"])
def test_a_nul_is_refused_with_its_line_in_every_format(kind):
    content = {"txt": "good\nb\0d\n", "jsonl": '{"text": "good"}\n{"text": "b\0d"}\n'}
    Path(f"in.{kind}").write_text(content.get(kind, "text\nb\0d\n"))
    line = refusal(*CUSTEXT, f"in.{kind}", "out")
    assert "line 2 has a character of number 0 (NUL)" in line and "--encoding utf-16" in line


@pytest.mark.parametrize("value", ["1e400", "NaN", "-Infinity", "9" * 5000])
def test_numbers_that_json_cannot_give_back_are_refused_with_their_line(value):
    Path("in.jsonl").write_text(f'{{"text": "good", "n": 1}}\n{{"text": "bad", "n": {value}}}\n')
    line = refusal(*CUSTEXT, "--pass", "n", "in.jsonl", "out.jsonl")
    assert "line 2 is no json" in line and not Path("out.jsonl").exists() and len(line) < 200


def test_other_values_of_json_come_back():
    values = {"n": 12345678901234567890, "x": -0.0, "y": 0.1, "z": [True, None, {"ü": "\ud83d"}]}
    Path("in.jsonl").write_text(json.dumps({"text": "half \ud83d good"} | values) + "\n")
    given = [part for name in values for part in ("--pass", name)]
    out = json.loads(
        released(*CUSTEXT, *given, "in.jsonl", "out.jsonl", name="out.jsonl"), parse_constant=pytest.fail
    )
    assert {name: out[name] for name in values} == values and str(out["x"]) == "-0.0"


@pytest.mark.parametrize("depth", [102, 5000, 200_000])
def test_json_without_bottom_is_one_line(depth):
    Path("in.jsonl").write_text('{"text": "good", "n": ' + "[" * depth + "]" * depth + "}\n")
    assert "nested too deeply" in refusal(*CUSTEXT, "--pass", "n", "in.jsonl", "out.jsonl")


@pytest.mark.parametrize("kind", ["txt", "jsonl", "csv", "tsv"])
@pytest.mark.parametrize("last", ["", "\r\n"])
def test_line_breaks_are_kept(kind, last):
    rows = {"txt": ["good", "", "bad"], "csv": ["text", "good", '"a"']}
    rows["jsonl"] = ['{"text": "good"}', '{"text": "bad"}']
    content = "\r\n".join(rows.get(kind, ["text", "good", "bad"])) + last
    Path(f"in.{kind}").write_bytes(content.encode())
    out = released(*VERBATIM, f"in.{kind}", "out").decode()
    assert out.replace('"', "") == content.replace('"', "")


def test_a_pipe_with_a_name_is_read():
    os.mkfifo("pipe")
    with subprocess.Popen(["bash", "-c", "printf 'good film\\n' > pipe"]):
        assert released(*VERBATIM, "--format", "txt", "pipe", "out") == b"good film\n"


# --- text and record ----------------------------------------------------------------------------------------


def test_the_record_is_of_its_file_alone():
    Path("in.txt").write_text("good film\nbad film\n")
    for target in ("out.txt", "out.txt.gz"):
        content = released(*CUSTEXT, "in.txt", target, name=target)
        about = json.loads(Path(f"{target}.json").read_text())
        assert about["sha256"] == hashlib.sha256(content).hexdigest()
    piped = run(*CUSTEXT, "in.txt", "-")
    assert json.loads(piped.stderr.splitlines()[-1])["sha256"] == hashlib.sha256(piped.stdout_bytes).hexdigest()
    Path("out.txt").write_text("good film\nbad story\n")
    result = CliRunner().invoke(main, ["audit", "in.txt", "--released", "out.txt"])
    assert result.exit_code == 2 and "out.txt is not the file that out.txt.json is the record of" in result.stderr


@pytest.mark.parametrize("at", range(4))
def test_no_text_is_ever_beside_the_record_of_another(monkeypatch, at):
    """A run that is stopped at any step of the exchange leaves the earlier pair, or no record."""
    Path("in.txt").write_text("good film\n" * 20)
    assert run(*CUSTEXT, "in.txt", "out.txt").exit_code == 0
    steps = iter(range(99))

    def stop(do):
        def done(*given, **more):
            if "parts" in str(given[0]) and "shard" in str(given[0]):
                return do(*given, **more)
            if next(steps) == at:
                raise OSError(errno.EIO, "stopped")
            return do(*given, **more)

        return done

    with monkeypatch.context() as patched:
        patched.setattr(files.os, "replace", stop(os.replace))
        patched.setattr(files.Path, "unlink", stop(Path.unlink))
        result = run("--mechanism", "santext", "--epsilon", "500", "in.txt", "out.txt")
    content, beside = Path("out.txt").read_bytes(), Path("out.txt.json")
    assert result.exit_code == (2 if at < 3 else 0) or result.exit_code == 2
    if beside.exists():
        assert json.loads(beside.read_text())["sha256"] == hashlib.sha256(content).hexdigest()
    assert beside.exists() or at


def test_a_name_that_is_no_utf_8_has_a_record():
    name = os.fsdecode(b"b\xff.txt")
    Path(name).write_text("zaphod film\n")
    assert run("--mechanism", "custext+", "--epsilon", "1", "--k", "4", name, "safe.txt").exit_code == 0
    about = json.loads(Path("safe.txt.json").read_text())
    assert about["input"] == "b\\xff.txt" and "b\\xff.txt" in about["command"]


def test_targets_that_are_no_files_are_not_replaced():
    Path("in.txt").write_text("good\n")
    Path("real.txt").write_text("mine\n")
    Path("link.txt").symlink_to("real.txt")
    Path("broken.txt").symlink_to("nowhere.txt")
    os.mkfifo("pipe.txt")
    Path("safe.txt.json").mkdir()
    Path("folder").mkdir()
    Path("folder", "in.txt").symlink_to("../real.txt")
    for target, kind in [
        ("link.txt", "a link"),
        ("broken.txt", "a link"),
        ("pipe.txt", "a pipe or a device"),
        ("/dev/null", "a pipe or a device"),
        ("safe.txt", "a folder"),
        ("folder", "a link"),
    ]:
        assert f"is {kind} and would be replaced" in refusal("--format", "txt", *CUSTEXT, "in.txt", target)
    assert Path("real.txt").read_text() == "mine\n" and stat.S_ISFIFO(os.stat("pipe.txt").st_mode)
    for output in ("link.txt", "/dev/null"):
        result = CliRunner().invoke(main, ["audit", *CUSTEXT, "in.txt", "-o", output])
        assert result.exit_code == 2 and "would be replaced" in result.stderr


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no full disk here")
def test_a_full_disk_names_the_file(monkeypatch):
    Path("in.txt").write_text("good\n")

    def opened(path, mode="r", *given, **more):
        return open("/dev/full" if "w" in mode and "part" in str(path) else path, mode, *given, **more)

    monkeypatch.setattr(files, "open", opened, raising=False)
    line = refusal(*CUSTEXT, "in.txt", "out.txt")
    assert "out.txt.parts" in line and "No space left on device" in line


# --- processes and locales ----------------------------------------------------------------------------------

COMMAND = """
import json, sys, time
import textsan
from textsan import Embeddings
from textsan.release import shards
from textsan.cli.main import main

words, vectors = json.loads(sys.argv[1])
textsan.load_embeddings = lambda name: Embeddings(words, vectors)
shards._SIZE = 100
main(["sanitize", *sys.argv[2:]])
"""


def command(arguments, **options):
    world = json.dumps([WORDS, TOY.vectors.tolist()])
    return subprocess.Popen([sys.executable, "-c", COMMAND, world, *arguments], **options)


POSIX = {"LC_ALL": "POSIX", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}


@pytest.mark.parametrize("locale", [POSIX, POSIX | {"PYTHONIOENCODING": "latin-1"}])
def test_standard_output_is_utf_8_and_paths_are_any_whatever_the_locale(locale):
    Path("café.jsonl").write_text('{"text": "good", "id": "映画 é"}\n', encoding="utf-8")
    arguments = [*VERBATIM, "--pass", "id", "café.jsonl"]
    with command(
        [*arguments, "-"], env=os.environ | locale, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as one:
        out, said = one.communicate()
    assert one.returncode == 0, said
    assert json.loads(out.decode()) == {"text": "good", "id": "映画 é"}
    assert json.loads(said.decode().splitlines()[-1])["input"] == "café.jsonl"
    with command([*arguments, "né.jsonl"], env=os.environ | locale, stderr=subprocess.PIPE) as two:
        assert two.wait() == 0, two.stderr.read()
    about = json.loads(Path("né.jsonl.json").read_text(encoding="utf-8"))
    assert about["input"] == "café.jsonl" and "né.jsonl" in about["command"]


def test_a_folder_that_nothing_can_be_written_into_is_said_before_anything_is_done(monkeypatch):
    Path("in.txt").write_text("good film\n")
    monkeypatch.setattr("textsan.release.plan.os.access", lambda path, mode: False)  # root may write everywhere
    with pytest.raises(ValueError, match=r"^OUTPUT: nothing can be written into the folder \."):
        plan(["in.txt"], "out.txt")
    with pytest.raises(ValueError, match="^write-split: nothing can be written"):
        check_parts("in.txt", "txt", "part")


def test_a_pipe_that_closes_early_costs_one_line():
    Path("long.txt").write_text("good film\n" * 40_000)
    with command([*VERBATIM, "long.txt", "-"], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as one:
        assert one.stdout.readline() == b"good film\n"
        one.stdout.close()
        said = one.stderr.read().decode().splitlines()
    assert one.returncode == 1
    assert [line for line in said if "warning" not in line] == [
        "textsan: standard output was closed before all of it was written"
    ]


SANITIZES = (*CUSTEXT, "-j", "2", "in.txt", "out.txt")
ATTACKS = """
import sys, time
from pathlib import Path
import numpy as np
from textsan.auditing.attacking import Workers

def work(number):
    Path("out.txt.parts").mkdir(exist_ok=True)
    Path(f"out.txt.parts/{number}.shard").touch()
    time.sleep(0.05)
    return np.zeros(200_000) + number  # more than joblib sends through a pipe

for done in Workers(2).map(work, [(number,) for number in range(100_000)]):
    pass
"""


@pytest.mark.parametrize("what", ["sanitize", "audit"])
def test_workers_end_with_their_parent_and_leave_nothing_in_shared_memory(what):
    shared, parts = Path("/dev/shm"), Path("out.txt.parts")
    before = set(shared.glob("*"))
    Path("in.txt").write_text("the good film , a bad story .\n" * 200_000)
    if what == "sanitize":
        process = command(SANITIZES, stderr=subprocess.DEVNULL)
    else:
        process = subprocess.Popen([sys.executable, "-c", ATTACKS], stderr=subprocess.DEVNULL)
    try:
        while len(list(parts.glob("*.shard"))) < 3:
            assert process.poll() is None, "it ended before it could be killed"
            time.sleep(0.02)
        workers = psutil.Process(process.pid).children(recursive=True)
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()
    assert len(workers) >= 2
    numbers = [str(one) for one in (process.pid, *(worker.pid for worker in workers))]

    def left():
        alive = [one for one in workers if one.is_running() and one.status() != psutil.STATUS_ZOMBIE]
        names = {path.name for path in set(shared.glob("*")) - before}
        return alive, [name for name in names if any(number in name for number in numbers)]

    for _ in range(600):
        if not any(left()):
            return
        time.sleep(0.1)
    raise AssertionError(left())
