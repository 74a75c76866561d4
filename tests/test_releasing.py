"""A release in Python: the same text and record as of the command, and a column that stays in its place."""

import json
from pathlib import Path

import jsonschema
import numpy as np
import pandas as pd
import pytest
from helpers import CUSTEXT, TOY, WORDS, sanitize, toy_world

from textsan import CusText, Embeddings, SanTextPlus
from textsan.mechanisms import Memoized, WeightedSanText, make_mechanism, recorded_mechanism
from textsan.release import record, release_file, release_files, release_series

MECHANISM = make_mechanism("custext", TOY, epsilon=1.0, k=4)
TEXTS = ["The film, zaphod", "", "a good\u2028story\n", 'say "bad"', "\ud800 plot"]


@pytest.fixture(autouse=True)
def small_world(tmp_path, monkeypatch):
    toy_world(tmp_path, monkeypatch)


def sanitized(*arguments):
    result = sanitize(*CUSTEXT, "--seed", "3", *arguments)
    assert result.exit_code == 0, result.output
    return [line.removeprefix("textsan: ") for line in result.stderr.splitlines()]


def without(about, *names):
    return {name: value for name, value in about.items() if name not in names}


def test_a_file_and_its_record_are_those_of_the_command():
    Path("in.csv").write_text("id,title,body\n1,Good film,zaphod slept\n2,bad,the plot\n" * 20)
    given = {"fields": ["title", "body"], "dropped": ["id"], "seed": 3, "keep_case": True, "chosen_on": "other"}
    lines = []
    about = release_file("in.csv", Path("own.csv"), MECHANISM, tell=lines.append, **given)
    flags = ("--field", "title", "--field", "body", "--drop", "id", "--keep-case", "--chosen-on", "other")
    assert lines == sanitized(*flags, "in.csv", "out.csv") and len(lines) > 5
    assert Path("own.csv").read_bytes() == Path("out.csv").read_bytes()
    of_command = json.loads(Path("out.csv.json").read_text())
    assert about == json.loads(Path("own.csv.json").read_text()) and about.keys() == of_command.keys()
    assert without(about, "command") == without(of_command, "command")
    assert about["command"] == "textsan.release.release_file"
    assert recorded_mechanism("own.csv.json").parameters == MECHANISM.parameters


def test_several_files_have_a_record_each():
    for name in ("a.txt", "b.txt"):
        Path(name).write_text("good film\n" * 30)
    abouts = release_files(["a.txt", "b.txt"], "safe", MECHANISM, tell=print, workers=2)
    assert [about["input"] for about in abouts] == ["a.txt", "b.txt"]
    assert [json.loads(Path(f"safe/{name}.txt.json").read_text()) for name in "ab"] == abouts


def test_a_column_is_that_of_the_command_with_its_index_name_and_what_is_missing():
    texts = [TEXTS[0], None, *TEXTS[1:], np.nan]
    lines = [json.dumps({"text": text if isinstance(text, str) else None}) for text in texts]
    Path("in.jsonl").write_text("\n".join(lines) + "\n")
    told = sanitized("in.jsonl", "out.jsonl")
    series, own = pd.Series(texts, index=[7, 7, *"abcde"], name=("note", 1), dtype=object), []
    column, about = release_series(series, MECHANISM, seed=3, tell=own.append)
    rows = [json.loads(line)["text"] for line in Path("out.jsonl").read_text().split("\n")[:-1]]
    assert [row for row in column if isinstance(row, str)] == [row for row in rows if row is not None]
    assert list(column.index) == list(series.index) and column.name == series.name and column.dtype == object
    assert column.iloc[1] is None and column.isna().tolist() == series.isna().tolist()
    of_command = json.loads(Path("out.jsonl.json").read_text())
    assert without(about, "command", "input") == without(of_command, "command", "input") and own == told
    jsonschema.validate(about, json.loads(record.SCHEMA.read_text()))


@pytest.mark.parametrize("dtype, out", [("str", "str"), ("string", "string"), ("category", "object")])
def test_a_column_of_strings_stays_one(dtype, out):
    series = pd.Series(["good film", None, "bad"], dtype="object").astype("str" if dtype == "str" else dtype)
    if dtype == "str":  # of pandas 2 `str` makes a word of None
        series = series.where(pd.Series([True, False, True]))
    column, about = release_series(series, MECHANISM)
    assert column.dtype == (series.dtype if out != "object" else object) and column.isna().tolist() == [0, 1, 0]
    assert about["documents"] == 3 and (about["tokens"], about["warnings"]) == (3, [])
    assert release_series(series[:0], MECHANISM, tell=print)[0].empty


@pytest.mark.parametrize(
    "series, message",
    [
        (["good"], "series: list is no column"),
        (pd.Series(["good", 4711]), "series: text 2 is int, no string"),
        (pd.DataFrame({"text": ["good"]}), "series: DataFrame is no column"),
    ],
)
def test_what_is_no_column_of_texts_is_refused_and_not_quoted(series, message):
    with pytest.raises(ValueError, match=message) as told:
        release_series(series, MECHANISM)
    assert "4711" not in str(told.value)
    with pytest.raises(ValueError, match="^series: line 2 has a word outside") as told:
        release_series(pd.Series(["good", "zaphod"]), MECHANISM.with_(oov="error"))
    assert "zaphod" not in str(told.value)


@pytest.mark.parametrize(
    "name, given, message",
    [
        ("in.csv", {"fields": ["text"]}, "nobody said what becomes of the column 'id'"),
        ("in.txt", {"dropped": ["id"]}, "^drop: txt has no field 'id'"),
        ("in.txt", {"chosen_on": "luck"}, "^chosen_on: 'luck' is unknown"),
    ],
)
def test_a_call_that_does_not_fit_releases_nothing(name, given, message):
    Path(name).write_text("id,text\n1,good\n")
    with pytest.raises(ValueError, match=message):
        release_file(name, "out", MECHANISM, **given)
    assert [path.name for path in Path().iterdir()] == [name]


def test_a_mechanism_is_recorded_by_the_name_and_the_parameters_that_make_it():
    Path("in.txt").write_text("the good film\n")
    about = release_file("in.txt", "a.txt", CusText(TOY, 1.0, k=4, keep=["film"]), tell=print)
    assert (about["mechanism"], about["parameters"]["k"], about["parameters"]["keep"]["words"]) == (
        "custext",
        4,
        1,
    )
    assert recorded_mechanism("a.txt.json", keep=["film"]).sanitize([["film"]]) == [["film"]]
    inside = CusText(TOY, 1.0, k=2)  # whose k no parameter of "memoized" would say
    counted = {"counts": {"film": 9}}  # which no record could say
    for unknown in (
        SanTextPlus(TOY, 1.0, sensitive=["film"]),
        Memoized(inside),
        make_mechanism("santext+", TOY, epsilon=1.0, **counted),
        WeightedSanText(TOY, 1.0, **counted),
        CusText(TOY, 1.0, mapping="overlapping", outputs=Embeddings(WORDS, TOY.vectors)),
    ):
        with pytest.raises(ValueError, match=f"are known that make this {type(unknown).__name__} again; make it"):
            release_file("in.txt", "b.txt", unknown)
    assert not Path("b.txt").exists()
    about = release_file("in.txt", "b.txt", make_mechanism("memoized", TOY, epsilon=1.0, k=2), tell=print)
    assert about["parameters"]["k"] == 2


def test_warnings_are_pythons_unless_lines_are_asked_for(capsys):
    Path("in.txt").write_text("the good film\n")
    with pytest.warns(UserWarning) as warned:
        release_file("in.txt", "a.txt", make_mechanism("custext+", TOY, epsilon=1.0), seed=1)
    assert [str(one.message).partition(":")[0] for one in warned] == ["the seed is known", "not protected"]
    with pytest.warns(UserWarning, match="a.txt was there and is replaced"):
        release_file("in.txt", "a.txt", MECHANISM)
    assert capsys.readouterr() == ("", "")
