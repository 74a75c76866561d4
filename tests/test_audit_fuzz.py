"""Files that are no texts: whatever is wrong with them is told in one line, and quotes nothing.

`tried(number, folder)` makes one damaged input by its number and reads it as `textsan audit` does, up to where
attacks begin. Ten thousand of them were run once by hand; here are some.
"""

import json
import random
from pathlib import Path

import numpy as np
import pytest
from test_release_fuzz import packed

from textsan import CusText, Embeddings
from textsan.auditing import files, material as materials
from textsan.auditing.quotes import unquoted
from textsan.mechanisms import make

WORDS = ["the", ",", ".", "a", "film", "movie", "good", "bad", "great", "story", "actor", "plot", "7", "smith"]
VECTORS = Embeddings(WORDS, np.random.default_rng(0).normal(size=(len(WORDS), 4)))
PLANTED = "zyxwort"
ODD = ["", " ", "\ufeff", "\u2028", "\x85", '"', '""', "'", ",", ";", "\t", "\r", "\n", "\\", "NaN"]
ODD += ["null", "\ud7ff", "é", "e\u0301", "İ", "ß", "🙂", "don't", "well-known", "3.14", "{", "[1]"]
ODD += ["http://a.b/c?d", "\x1b[2J"]
"""Text among the words: marks of formats, letters that change their number in lower case, escapes."""


def texts(draw: random.Random) -> list[str]:
    number = draw.choice([0, 1, 2, 2, 5, 12])
    listed = [*WORDS, PLANTED, PLANTED.title()]
    return [
        " ".join(draw.choice(ODD if draw.random() < 0.1 else listed) for _ in range(draw.choice([0, 1, 3, 9])))
        for _ in range(number)
    ]


def written(draw: random.Random, lines: list[str], kind: str) -> str:
    if kind == "txt":
        return "\n".join(lines)
    if kind == "jsonl":
        odd = [None, 7, [], {}, True]
        rows = [json.dumps({"text": line if draw.random() < 0.97 else draw.choice(odd)}) for line in lines]
        return draw.choice(["\n", "\n", "\r\n", "\n\n"]).join(rows)
    comma = "," if kind == "csv" else "\t"
    if kind == "tsv":
        quoted = [" ".join(line.split()) if draw.random() < 0.9 else line for line in lines]
    else:
        quoted = ['"' + line.replace('"', '""') + '"' if draw.random() < 0.9 else line for line in lines]
    rows = [comma.join([str(number), line]) for number, line in enumerate(quoted)]
    head = draw.choices(["id,text", "id,texts", "text,text", PLANTED, ""], [12, 1, 1, 1, 1])[0].replace(",", comma)
    return draw.choice(["\n", "\r\n"]).join([head, *rows])


def damaged(draw: random.Random, text: str) -> bytes:
    names = ["utf-8", "utf-8-sig", "latin-1", "utf-16", "cp1252", "utf-32"]
    encoding = draw.choices(names, [30, 3, 1, 1, 1, 1])[0]
    data = bytearray(text.encode(encoding, "replace" if encoding != "utf-8" else "surrogatepass"))
    for _ in range(draw.choice([0, 0, 0, 0, 0, 1, 3])):
        at = draw.randrange(len(data) + 1)
        what = draw.randrange(4)
        if what == 0:
            data[at:] = b""
        elif what == 1:
            data[at:at] = bytes(draw.randrange(256) for _ in range(draw.choice([1, 4, 40])))
        elif what == 2:
            del data[at : at + draw.choice([1, 5])]
        else:
            data[at:at] = draw.choice([b'"', b"\n", b"\x00", b"\xff\xfe", b",,,", b"{}", b"\n[]\n", b"\x1a"])
    return bytes(data)


def record(draw: random.Random, made: CusText) -> bytes:
    embedding = {"name": "glove-6b-50d", "sha256": VECTORS.sha256, "words": len(WORDS)}
    parameters = make.recorded_parameters(made, "custext", {"epsilon": 1.0, "k": 4})
    about = {"textsan": "0.2.0", "mechanism": "custext", "parameters": parameters, "embedding": embedding}
    about |= {"field": "text", "writing": "lower case"}
    for _ in range(draw.choice([0, 0, 1, 2])):
        key = draw.choice([*about, "schema"])
        value = draw.choice([None, 0, -1, 1e400, "", "99.0", [], {}, {"epsilon": "x"}, {"k": -3}, "nobody", ["a"]])
        inside = about.get(key)
        if isinstance(inside, dict) and draw.random() < 0.6:  # one field of it, as of another version
            value = inside | {draw.choice([*inside, "hue"]): value}
        about = about | {key: value} if draw.random() < 0.7 else {k: v for k, v in about.items() if k != key}
    return damaged(draw, json.dumps(about))


def answers(draw: random.Random, kind: str) -> str:
    numbers = [0, 1, 2, -1, 99, 10**30, "1", "x", None, 1.5, True, [], float("inf")]
    rows = [
        dict(document=draw.choice(numbers[:4]), index=draw.choice(numbers), word=draw.choice([*WORDS, 7, None]))
        for _ in range(draw.choice([0, 1, 4]))
    ]
    if kind == "jsonl":
        return "\n".join(json.dumps(row) for row in rows)
    return "\n".join(["document,index,word", *(",".join(map(str, row.values())) for row in rows)])


def read(draw: random.Random, folder: Path, *, quotes: bool) -> None:
    """The way of `textsan audit` to where attacks begin."""
    kind, ending = draw.choice(["txt", "jsonl", "csv", "tsv"]), draw.choices(["", ".gz", ".xz"], [4, 1, 1])[0]
    lines, made = texts(draw), CusText(VECTORS, 1.0, k=4)
    source = folder / f"in.{kind}{ending}"
    source.write_bytes(packed(draw, damaged(draw, written(draw, lines, kind)), ending))
    found = files.read_texts(str(source), files.kind_of(str(source), None, "INPUT"), quotes=quotes)
    came = None
    if draw.random() < 0.5:
        docs = [materials.tokens_of(text) for text in found.texts]
        safe = [" ".join(doc) for doc in made.sanitize(docs, 0)]
        for _ in range(draw.choice([0, 0, 1])):  # rows that do not align, words of another tokenizer
            safe.insert(draw.randrange(len(safe) + 1), "film") if draw.random() < 0.5 else safe.pop()
        safe = [line.replace(" ", "") if draw.random() < 0.05 else line for line in safe]
        released = folder / f"safe.{kind}{ending}"
        released.write_bytes(packed(draw, damaged(draw, written(draw, safe, kind)), ending))
        beside = folder / "safe.json"
        beside.write_bytes(record(draw, made))
        came = files.read_release(str(released), kind, str(beside), None, quotes=quotes)
        made = came.mechanism
    given = None
    if draw.random() < 0.4:
        kind = draw.choice(["jsonl", "csv"])
        (folder / f"g.{kind}").write_bytes(damaged(draw, answers(draw, kind)))
        given = files.read_guesses(str(folder / f"g.{kind}"))

    def work():
        released = None if came is None else came.documents
        ready = materials.material(found.texts, made, released=released, shadow=[["film", "bad"]] * 4)
        return None if given is None else materials.answers(ready, given, ready.docs)

    unquoted(quotes, found.texts, WORDS[:5], work)


def tried(number: int, folder: Path) -> str:
    """Reads one damaged input; "" where it was read.

    Raises:
        AssertionError: an error of more than one line, or one that quotes.
        Exception: whatever is a traceback for a user.
    """
    draw, quotes = random.Random(number), number % 2 == 0
    try:
        read(draw, folder, quotes=quotes)
    except (ValueError, KeyError, OSError) as error:
        line = str(error.args[0] if isinstance(error, KeyError) and error.args else error)
        assert line and len(line.splitlines()) == 1 and line.replace("\t", " ").isprintable(), (number, line)
        assert quotes or PLANTED not in line.lower(), (number, line)
        assert type(error) is not UnicodeDecodeError, (number, line)
        return line
    return ""


@pytest.fixture(autouse=True)
def small_world(monkeypatch):
    monkeypatch.setattr(make, "load_embeddings", lambda name: VECTORS)


def test_no_damaged_file_is_more_than_a_line(tmp_path):
    lines = [tried(number, tmp_path) for number in range(600)]
    assert 60 < sum(map(bool, lines)) < 540  # some are read, some are refused
    assert len({line.split(":")[0] for line in lines}) >= 4
