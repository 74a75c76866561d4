import importlib.util
import re
from pathlib import Path

import pytest

from textsan.text import census_names, names
from textsan.text.casing import capitals, surface
from textsan.text.corpora import Record
from textsan.text.names import find_names
from textsan.text.vocabulary import tokenize
from textsan_book.studies import name_finders

RESULTS = Path(__file__).parents[1] / "data" / "results"

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
        ("Then Bill Clinton read the bill.", ["bill", "clinton"]),
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
        "We paid the bill to grace.",
        "",
        "?!",
    ],
)
def test_words_and_places_are_no_names(text):
    assert found(text) == []


@pytest.mark.parametrize(
    "text, expected",
    [
        ("He met a mary in Paris.", []),  # small in a text with capitals: a word
        ("They met Mary hamilton there.", ["mary"]),
        ("nobody acts like jackie cook in it", ["jackie"]),  # where nothing has case "cook" may be the word
        ("Grace Wilson came to us.", ["wilson"]),  # every first word has a capital: it may be the word
        ("They met Grace WILSON there.", ["wilson"]),
        ("They met Grace Wilson there.", ["grace", "wilson"]),
        ("They met John k. Kennedy there.", ["john"]),
        ("They met Henry Kissinger there. Xu Kissinger came to us.", ["henry", "kissinger", "kissinger"]),
        ("They met Henry Kissinger there. So then came Xu Kissinger.", ["henry", "kissinger", "xu", "kissinger"]),
    ],
)
def test_capitals_tell_a_name_from_a_word(text, expected):
    assert found(text) == expected


def test_a_surname_that_is_a_common_word_elsewhere_counts_where_it_has_a_capital():
    docs = ["Here Henry Kissinger spoke.", *["It is a kissinger here."] * 30, "Nobody asked Kissinger why."]
    assert [d for d, _ in find_names(docs, "census")] == [0, 0, 31]


def test_a_surname_introduced_in_one_document_is_found_in_the_others():
    docs = ["Here Henry Kissinger spoke.", "Nobody asked Kissinger why.", "kissinger was not there"]
    assert [d for d, _ in find_names(docs, "census")] == [0, 0, 1, 2]
    assert find_names(docs[1:], "census") == []


def test_positions_count_the_tokens_of_records_strings_and_lists_alike():
    text = "Don't ask Ann; ask John Smith."
    positions = find_names([text], "census")
    assert positions == find_names([Record(text)], "census") == find_names([surface(text)], "census")
    assert {Record(text).tokens[i] for _, i in positions} == {"ann", "john", "smith"}


@pytest.mark.parametrize(
    "text", ["He's O\u2019Neill\u2019s \u0130pek, aren't WE?", "U.S. M\u00fcller's 3.5 \u201cX\u201d --"]
)
def test_surface_is_the_tokens_with_their_case(text):
    assert [word.lower() for word in surface(text)] == tokenize(text) or "\u0130" in text
    assert len(surface(text)) == len(tokenize(text))


def test_bad_arguments_are_named():
    with pytest.raises(ValueError, match="finder: 'regex'"):
        find_names(["Ann"], "regex")
    with pytest.raises(ValueError, match="docs: a string"):
        find_names("Ann", "census")


def test_presidio_that_is_not_installed_is_named(monkeypatch):
    monkeypatch.setattr(names, "_english_model", lambda: None)
    with pytest.raises(ValueError, match=r"pip install .*pii.* in a clone"):
        find_names(["Ann"], "presidio")
    assert find_names(["Then Ann came."]) == [(0, 1)]


@pytest.mark.skipif(importlib.util.find_spec("presidio_analyzer") is None, reason="extra pii is not installed")
def test_presidio_finds_people_and_no_titles():
    text = "Yesterday Mr. Barack Obama met Angela Merkel in Berlin."
    assert found(text, "presidio") == ["barack", "obama", "angela", "merkel"]


def test_capitals_say_nothing_at_starts_in_shouts_and_in_text_without_case():
    assert capitals(["Then", "Ann", "left", ".", "Bob", "did", "NOT", "."]) == (
        [None, True, False, None, None, False, None, None]
    )
    assert capitals(["ann", "left"]) == [None, None] == capitals(["Ann", "Left"])
    assert capitals(["so", "Mr", ".", "Ann", "left"])[3] is True  # no sentence ends after a title


@pytest.mark.parametrize("dataset, texts, recall", [("rt", 250, 0.7), ("nyt", 209, 0.85)])
def test_the_finder_holds_on_sentences_read_by_hand(dataset, texts, recall, monkeypatch):
    found = name_finders.measure(dataset, "census")
    assert found["texts"] == texts
    assert found["precision"].low > 0.85 and found["recall"].low > recall

    def every_listed_word(docs, finder):
        listed = census_names.name_lists().given | census_names.name_lists().family
        return [(d, i) for d, r in enumerate(docs) for i, word in enumerate(r.tokens) if word in listed]

    monkeypatch.setattr(name_finders, "find_names", every_listed_word)
    assert name_finders.measure(dataset, "census")["precision"].high < 0.2


def test_the_table_of_checked_sentences_holds_no_text():
    lines = (RESULTS.parent / name_finders.CHECKED).read_text().splitlines()
    assert lines[0] == "dataset,split,sentence,names"
    assert all(re.fullmatch(r"\w+,(test|train),[0-9a-f]{16},(\d+( \d+)*)?", line) for line in lines[1:])
