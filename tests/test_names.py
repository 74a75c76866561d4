import importlib.util

import pytest

from textsan import assets, names
from textsan.datasets import Record
from textsan.names import find_names, surface
from textsan.vocabulary import tokenize

pytestmark = pytest.mark.usefixtures("default_data")


def found(text, finder="census"):
    return [tokenize(text)[i] for _, i in find_names([text], finder)]


@pytest.mark.parametrize(
    "text, expected",
    [
        ("We saw Mary Smith and John in the park.", ["mary", "smith", "john"]),
        ("A film by Robert De Niro, not by him.", ["robert", "de", "niro"]),
        ("So said Mr. Yazov, and Ms. O'Hara left.", ["yazov"]),
        ("It was John F. Kennedy who paid.", ["john", "kennedy"]),
        ("Here Arnold Schwarzenegger's jokes fail.", ["arnold", "schwarzenegger"]),
        ("nobody acts like jackie chan in this movie", ["jackie", "chan"]),
    ],
)
def test_names_are_found(text, expected):
    assert set(expected) <= set(found(text))


@pytest.mark.parametrize(
    "text",
    [
        "Will it rain in May? He may hope so, for the bill will be long.",
        "Such grace and joy, and a rose: the art of love is young.",
        "From Paris to Washington, in April or June, near St. Louis and New York.",
        "The John Street bridge and Mary College are closed.",
        "will and grace may be a long bill",
        "",
        "?!",
    ],
)
def test_words_and_places_are_no_names(text):
    assert found(text) == []


def test_capitals_decide_inside_a_sentence():
    assert found("Then Bill Clinton read the bill.") == ["bill", "clinton"]
    assert found("We paid the bill to grace.") == []


def test_a_surname_introduced_in_one_document_is_found_in_the_others():
    docs = ["Here Henry Kissinger spoke.", "Nobody asked Kissinger why.", "kissinger was not there"]
    assert [d for d, _ in find_names(docs, "census")] == [0, 0, 1, 2]
    assert find_names(docs[1:], "census") == []


def test_positions_count_the_tokens_of_records_strings_and_lists_alike():
    text = "Don't ask Ann; ask John Smith."
    positions = find_names([text], "census")
    assert positions == find_names([Record(text)], "census") == find_names([surface(text)], "census")
    assert {Record(text).tokens[i] for _, i in positions} == {"ann", "john", "smith"}


def test_documents_without_case_keep_the_given_names():
    assert set(find_names([tokenize("We met Ann and John Smith there.")], "census")) == {(0, 2), (0, 4), (0, 5)}


@pytest.mark.parametrize(
    "text", ["He's O\u2019Neill\u2019s \u0130pek, aren't WE?", "U.S. M\u00fcller's 3.5 \u201cX\u201d --"]
)
def test_surface_is_the_tokens_with_their_case(text):
    assert [word.lower() for word in surface(text)] == tokenize(text) or "\u0130" in text
    assert len(surface(text)) == len(tokenize(text))


def test_census_lists_have_their_published_sizes():
    lists = names._census()
    assert len(lists.family) == 88_799 and len(lists.given) == 5163
    assert assets.registry()["assets"]["census-names"]["default"]


def test_bad_arguments_are_named():
    with pytest.raises(ValueError, match="finder: 'regex'"):
        find_names(["Ann"], "regex")
    with pytest.raises(ValueError, match="docs: a string"):
        find_names("Ann", "census")


def test_presidio_that_is_not_installed_is_named(monkeypatch):
    monkeypatch.setattr(names, "_english_model", lambda: None)
    with pytest.raises(ValueError, match=r"textsan\[pii\]"):
        find_names(["Ann"], "presidio")
    assert find_names(["Then Ann came."]) == [(0, 1)]


@pytest.mark.skipif(importlib.util.find_spec("presidio_analyzer") is None, reason="extra pii is not installed")
def test_presidio_finds_people_and_no_titles():
    assert found("Yesterday Mr. Barack Obama met Angela Merkel in Berlin.", "presidio") == [
        "barack",
        "obama",
        "angela",
        "merkel",
    ]
