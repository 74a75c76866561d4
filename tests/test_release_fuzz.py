"""Files that are damaged, and options that do not fit: a line, and no word of the text in it.

`tried(number)` makes one input by its number and sanitizes it in the folder it is called in.
"""

import csv
import gzip
import io
import json
import lzma
import os
import random
from pathlib import Path

import pytest
from helpers import CUSTEXT, WORDS, sanitize, toy_world

from textsan.release import shards

SECRET = "zyxwort"
"""Stands in fields of text and in cells that nobody passed; it is outside of the vocabulary."""

ODD = ["", " ", "\ufeff", "\u2028", "\x85", '"', '""', "'", ",", ";", "\t", "\r", "\n", "\r\n", "\\"]
ODD += ["NaN", "null", "\ud83d", "é", "e\u0301", "İ", "ß", "🙂", "don't", "3.14", "1e400", "{", "[1]"]
ODD += ["\x1b[2J", "\x1c", "\xad"]


def text(draw: random.Random) -> str:
    return " ".join(
        draw.choice(ODD if draw.random() < 0.15 else [*WORDS, SECRET]) for _ in range(draw.choice([0, 1, 4]))
    )


def value(draw: random.Random, depth: int = 0):
    kinds = [text(draw), None, 7, -0.5, True, [], {}]
    if depth < 3:
        kinds += [[value(draw, depth + 1) for _ in range(draw.choice([1, 3]))], thing(draw, depth + 1)]
    return draw.choice(kinds)


def thing(draw: random.Random, depth: int = 0) -> dict:
    keys = ["text", "a", "b", "a.b", "turns", "id", "", "ü", "name of"]
    return {draw.choice(keys): value(draw, depth) for _ in range(draw.choice([0, 1, 3]))}


def chat(draw: random.Random) -> dict:
    turns = [{"text": text(draw), "role": "user"} for _ in range(draw.choice([0, 1, 2]))]
    return {"text": text(draw), "turns": turns, "a": {"b": text(draw)}, "id": draw.choice([1, "x", None])}


def written(draw: random.Random, kind: str, delimiter: str) -> str:
    number, end = draw.choice([0, 1, 2, 5, 30]), draw.choice(["\n", "\n", "\r\n"])
    if kind == "txt":
        return end.join(text(draw) for _ in range(number))
    if kind == "jsonl":
        rows = [chat(draw) if draw.random() < 0.97 else value(draw) for _ in range(number)]
        if draw.random() < 0.1:
            rows.append(thing(draw))
        return end.join(json.dumps(row, ensure_ascii=draw.random() < 0.5) for row in rows)
    head = draw.choices(
        [["id", "text", "note"], ["text"], ["id", "texts"], ["text", "text"], ["", "text"], []],
        [24, 1, 1, 1, 1, 1],
    )[0]
    rows = [[text(draw) for _ in head] for _ in range(number)]
    if kind == "tsv" and draw.random() < 0.95:
        return end.join(delimiter.join(" ".join(cell.split()) for cell in row) for row in [head, *rows])
    file = io.StringIO()
    csv.writer(file, delimiter=delimiter, lineterminator=end).writerows([head, *rows])
    return file.getvalue()


def damaged(draw: random.Random, content: str) -> bytes:
    names = ["utf-8", "utf-8-sig", "utf-16", "utf-32", "cp1252", "utf-16-le"]
    encoding = draw.choices(names, [60, 2, 2, 1, 2, 1])[0]
    data = bytearray(content.encode(encoding, "surrogatepass" if encoding.startswith("utf") else "replace"))
    for _ in range(draw.choice([0, 0, 0, 0, 1, 3])):
        at, what = draw.randrange(len(data) + 1), draw.randrange(4)
        if what == 0:
            data[at:] = b""
        elif what == 1:
            data[at:at] = bytes(draw.randrange(256) for _ in range(draw.choice([1, 4, 40])))
        elif what == 2:
            del data[at : at + draw.choice([1, 5])]
        else:
            data[at:at] = draw.choice(
                [b'"', b"\n", b"\x00", b"\xff\xfe", b",,,", b"{}", b"\n[]\n", b"\x1a", b"[" * 3000]
            )
    return bytes(data)


def packed(draw: random.Random, data: bytes, ending: str) -> bytes:
    pack = {".gz": gzip.compress, ".xz": lzma.compress, "": bytes}[ending]
    whole = pack(data)
    if ending and draw.random() < 0.3:
        return draw.choice([whole[: draw.randrange(len(whole))], data, whole + b"\x00rest", b""])
    return whole


def options(draw: random.Random, kind: str, delimiter: str) -> list[str]:
    given = []
    fitting = {"jsonl": ["text", "turns[].text", "a.b"], "txt": []}.get(kind, ["text", "note"])
    others = {"jsonl": ["turns", "id"], "txt": []}.get(kind, ["id", "", "note"])
    named = draw.sample(fitting, draw.randrange(min(1, len(fitting)), len(fitting) + 1))
    for name in named:
        given += ["--field", name]
    for name in dict.fromkeys([*others, *fitting]):
        if name not in named and draw.random() < 0.9:
            inside = name == "turns" and "turns[].text" in named
            way = "--pass" if inside or (name in others and draw.random() < 0.3) else "--drop"
            given += [way, name] if not (name == "turns[].text" and "--drop" in given) else []
    if draw.random() < 0.08:
        given.append(draw.choice(["--field", "--pass", "--drop"]))
        given.append(draw.choice(["text", "turns", "a", "[]", ".", "x y", "ü", ""]))
    if delimiter not in ",\t" or draw.random() < 0.03:
        given += ["--delimiter", draw.choice([delimiter, delimiter, delimiter, "tab", "", "ab"])]
    if draw.random() < 0.1:
        names = ["cp1252", "utf-16", "latin-1", "klingon", "utf-16-le", "rot13", "punycode"]
        given += ["--encoding", draw.choice(names)]
    for option in ("--keep-case", "--detokenize"):
        if draw.random() < 0.15:
            given.append(option)
    if draw.random() < 0.05:
        given += ["--oov", "error"]
    if draw.random() < 0.05:
        given += ["--format", draw.choice(["txt", "jsonl", "csv", "tsv"])]
    return given


def tried(number: int) -> str:
    """Sanitizes one damaged input; what was said of it where it was refused, else "".

    Raises:
        AssertionError: a traceback, more than a line, a word of the text in it, in the record, or in a release of
            which nothing was passed; or something is left of a run that failed.
    """
    draw = random.Random(number)
    kind, ending = draw.choice(["txt", "jsonl", "csv", "tsv"]), draw.choices(["", ".gz", ".xz"], [5, 1, 1])[0]
    delimiter = draw.choice([",", ",", ";", "|"]) if kind == "csv" else "\t"
    source, target = f"in.{kind}{ending}", draw.choice(["out", "out.gz", "-"])
    Path(source).write_bytes(packed(draw, damaged(draw, written(draw, kind, delimiter)), ending))
    given = options(draw, kind, delimiter)
    before = {*os.listdir()}
    piped = not ending and draw.random() < 0.1
    with open(source, "rb") as file:
        first = ["--format", kind, *CUSTEXT, *given, "-"] if piped else [*CUSTEXT, *given, source]
        result = sanitize(*first, target, input=file.read() if piped else None)
    case = (number, given, result.output[-400:])
    assert result.exception is None or isinstance(result.exception, SystemExit), (*case, result.exception)
    assert result.exit_code in (0, 2), case
    said = [line for line in result.stderr.split("\n") if line and "textsan: warning" not in line]
    left = {*os.listdir()} - before
    if result.exit_code:
        assert len(said) == 1 and said[0].startswith("textsan: ") and said[0].isprintable(), (case, said)
        assert SECRET not in said[0].lower(), case
        assert not left, (case, left)
        return said[0]
    released = result.stdout_bytes if target == "-" else Path(target).read_bytes()
    released = gzip.decompress(released) if target == "out.gz" else released
    about = said[-1] if target == "-" else Path(f"{target}.json").read_text(encoding="utf-8")
    assert SECRET not in about and SECRET not in "".join(said), case
    passes = {name for option, name in zip(given, given[1:], strict=False) if option == "--pass"}
    if passes <= {"turns"} - ({"turns"} if "turns[].text" not in given else set()):
        assert SECRET.encode() not in released.lower(), case
    for name in left:
        os.unlink(name)
    return ""


@pytest.fixture(autouse=True)
def small_world(tmp_path, monkeypatch):
    toy_world(tmp_path, monkeypatch)
    monkeypatch.setattr(shards, "_SIZE", 200)


def test_no_damaged_file_is_more_than_a_line_and_no_word_is_said():
    lines = [tried(number) for number in range(300)]
    assert 60 < sum(map(bool, lines)) < 270  # some are sanitized, some are refused
