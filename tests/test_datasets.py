"""Data sets: what the corpora hold, splits without a common sentence, the three sources, bad input."""

import hashlib
import json
import lzma
import os
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from arro3 import core, io
from helpers import refused
from hypothesis import given, strategies as st

from textsan.base import assets
from textsan.text import corpora
from textsan.text.corpora import Record, load_dataset, normalised, private_and_shadow, source_numbers
from textsan.text.sources import phrase_sources, sharing, sharing_runs
from textsan.text.vocabulary import tokenize, tokenize_v1

CORPORA = {"rt": 10605, "amazon": 3708, "nyt": 5190, "tweets": 4200, "drugs": 979}
SHARED = os.environ.get("TEXTSAN_DATA")  # what the caller has; the tests themselves run without it
needs_shared = pytest.mark.skipif(
    not SHARED or not Path(SHARED, "sst2").is_dir(),
    reason="TEXTSAN_DATA names no folder with the papers' data sets",
)


@pytest.fixture(autouse=True)
def no_own_folder(monkeypatch):
    monkeypatch.delenv("TEXTSAN_DATA", raising=False)


def _keys(records):
    return {normalised(record.text) for record in records}


# --- the corpora ---------------------------------------------------------------------------------------------


def test_text_is_decoded(default_data):
    """The files are UTF-8 (read as latin-1 they show "\u00e2\u20ac\u2122" for apostrophes) with HTML entities."""
    last = load_dataset("rt", "all")[-2].text
    assert last.startswith("We\u2019ve seen the hippie turned yuppie plot before")
    assert tokenize(last)[:3] == ["we", "'ve", "seen"]
    for name in CORPORA:
        texts = " ".join(record.text for record in load_dataset(name, "all"))
        assert not any(wrong in texts for wrong in ("&amp;", "&#039;", "\u00e2\u20ac", "\ufffd"))


@pytest.mark.parametrize("name", CORPORA)
def test_splits_share_no_sentence_and_miss_none(default_data, name):
    splits = {split: load_dataset(name, split) for split in ("train", "dev", "test")}
    everything = load_dataset(name, "all")
    assert len(everything) == CORPORA[name]
    assert all(record.tokens == tokenize_v1(record.text) and record.tokens for record in everything)
    assert Counter(r.text for records in splits.values() for r in records) == Counter(r.text for r in everything)
    keys = [_keys(records) for records in splits.values()]
    assert len(set().union(*keys)) == sum(map(len, keys))
    # A binomial share: 5 standard deviations, with amazon's reviews and nyt's articles as the units.
    units = len({record.fields["id"].split("_")[0] for record in everything})
    for split, share in {"train": 0.8, "dev": 0.1, "test": 0.1}.items():
        spread = 5 * (share * (1 - share) / units) ** 0.5
        assert abs(len(splits[split]) / len(everything) - share) < spread


def test_the_books_own_sentences_are_of_its_paragraphs():
    """A data set that needs no download; private and shadow text share no paragraph."""
    records = load_dataset("prose", "all")
    assert len(records) == 1324 and corpora.origin("prose") == "of this project"
    assert {record.fields["part_of"].split(":")[0] for record in records} >= {
        "01-text-sanitization-and-its-adversary"
    }
    private, shadow = private_and_shadow(records, 100, 1000, seed=0)
    own, others = ({record.fields["part_of"] for record in part} for part in (private, shadow))
    assert not own & others
    assert not any(mark in record.text for record in records for mark in "${}`\\")


def test_splits_never_change(default_data):
    """Results are tied to the splits; a change here is a change of every number in the book."""
    for name, expected in {
        "rt": "8e7faaca31c4",
        "amazon": "73cdbce57003",
        "nyt": "9ee0a8dd1fa3",
        "tweets": "6d1729015ca0",
        "drugs": "d9dafbc6454f",
    }.items():
        ids = " ".join(record.fields["id"] for record in load_dataset(name, "test"))
        assert hashlib.sha256(ids.encode()).hexdigest().startswith(expected)


def test_equal_sentences_go_the_same_way():
    texts = [f"sentence {number}" for number in range(300)] * 2 + [f"Sentence {number}!" for number in range(300)]
    records = [Record(text) for text in texts]
    splits = corpora._drawn_splits("toy", records, [str(number) for number in range(900)])
    keys = [_keys(splits[split]) for split in ("train", "dev", "test")]
    assert all(keys) and sum(map(len, keys)) == 300
    cut = corpora._drawn_splits("toy", records, ["one"] * 900)  # all from one document
    assert sorted(len(cut[split]) for split in ("train", "dev", "test")) == [0, 0, 900]


@given(st.text())
def test_normalised_forgets_case_and_blanks(text):
    assert normalised(f" {text.upper()} ") == normalised(text.upper())
    assert normalised(normalised(text)) == normalised(text)
    assert bool(normalised(text)) == bool(text.strip())


# --- private and shadow --------------------------------------------------------------------------------------


def test_private_and_shadow_share_no_sentence(default_data):
    records = load_dataset("tweets", "all")  # 154 of its 4,200 are repeated
    private, shadow = private_and_shadow(records, 2000, 1900, seed=0)
    assert (len(private), len(shadow)) == (2000, 1900)
    assert not _keys(private) & _keys(shadow)
    assert private_and_shadow(records, 2000, 1900, seed=0) == (private, shadow)
    assert private_and_shadow(records, 2000, 1900, seed=1)[0] != private


@pytest.mark.parametrize(
    ("n_private", "n_shadow", "what"), [(2, 2, "too many"), (0, 1, "private: 0"), (1.5, 1, "private: 1.5")]
)
def test_private_and_shadow_bad_numbers(n_private, n_shadow, what):
    refused(what, lambda: private_and_shadow([Record("a"), Record("b"), Record("c")], n_private, n_shadow, seed=0))


def test_parts_of_one_sentence_are_private_or_shadow_but_not_both():
    sentences = [[f"s{i}w{j}" for j in range(6)] for i in range(30)]
    docs = [doc[a:b] for doc in sentences for a, b in ((0, 6), (0, 3), (3, 6), (1, 2))]
    docs = [docs[i] for i in np.random.default_rng(0).permutation(len(docs))]
    parts = zip(docs, phrase_sources(docs), strict=True)
    records = [Record(" ".join(doc), None, {"part_of": source}) for doc, source in parts]
    private, shadow = private_and_shadow(records, 50, 60, seed=0)
    first, second = ({record.text[:3] for record in part} for part in (private, shadow))  # "s1w", "s12"
    assert len(private) == 50 and len(shadow) == 60 and len(first) == len(second) == 15
    few = private_and_shadow(records, 5, 12, seed=0)  # every record of another sentence
    assert [len({record.fields["part_of"] for record in part}) for part in few] == [5, 12]
    assert not {record.fields["part_of"] for record in private} & {record.fields["part_of"] for record in shadow}
    by_line = private_and_shadow(records, 50, 60, seed=0, split_by="line")  # as the released code draws
    first, second = ({record.fields["part_of"] for record in part} for part in by_line)
    assert len(first & second) > 15
    loose = [Record(record.text) for record in records]
    assert [[r.text for r in part] for part in private_and_shadow(loose, 50, 60, seed=0)] == [
        [r.text for r in part] for part in by_line
    ]
    refused("split_by: 'paragraph' is", lambda: private_and_shadow(records, 50, 60, seed=0, split_by="paragraph"))


def test_by_line_equal_texts_are_kept_apart_all_the_same():
    records = [Record(f"w{i % 40}", None, {"part_of": 0}) for i in range(120)]
    private, shadow = private_and_shadow(records, 30, 15, seed=0, split_by="line")
    assert not _keys(private) & _keys(shadow)
    refused("too many", lambda: private_and_shadow(records, 30, 15, seed=0))


def _components(linked):
    """Connected components by repeated search, from a symmetric matrix."""
    found, number = {}, 0
    for start in range(len(linked)):
        if start not in found:
            waiting, number = [start], number + 1
            while waiting:
                at = waiting.pop()
                if at not in found:
                    found[at] = number - 1
                    waiting += np.flatnonzero(linked[at]).tolist()
    return [found[at] for at in range(len(linked))]


def test_records_that_share_a_key_against_brute_force():
    generator = np.random.default_rng(0)
    keys = [set(generator.integers(0, 60, size=generator.integers(0, 4)).tolist()) for _ in range(50)]
    linked = np.array([[bool(one & other) for other in keys] for one in keys])
    groups = sharing(keys)
    assert groups == _components(linked) and 5 < len(set(groups)) < 50
    assert sharing([]) == [] and sharing([set(), set()]) == [0, 1]


def test_documents_that_share_tokens_in_a_row_against_brute_force():
    generator = np.random.default_rng(1)
    docs = [generator.choice(list("abcdefgh"), size=generator.integers(0, 9)).tolist() for _ in range(60)]
    runs = [{tuple(doc[i : i + 3]) for i in range(len(doc) - 2)} for doc in docs]
    linked = np.array([[bool(one & other) for other in runs] for one in runs])
    groups = sharing_runs(docs, n=3)
    assert groups == _components(linked) and 5 < len(set(groups)) < 60
    assert sharing_runs(docs, n=9) == list(range(60)) and sharing_runs([], n=3) == []


def test_planted_overlaps_are_not_split(folder):
    """A chain of shared questions and contexts in qnli, a formula of eight tokens in ag_news."""
    generator, words = np.random.default_rng(2), [f"w{i}" for i in range(5000)]
    texts = [" ".join(generator.choice(words, size=20)) for _ in range(60)]
    formula = "new york reuters stocks rose on monday as"
    texts = [f"{texts[i]} {formula} {texts[-i]}" if i % 2 else texts[i] for i in range(40)]
    folder("ag_news", "train", [{"text": text} for text in texts])
    rows = [{"sentence1": f"Q{i // 2} ?", "sentence2": f"C{(i + 1) // 2 % 8} .", "label": 0} for i in range(16)]
    apart = [{"sentence1": f"Why {i} ?", "sentence2": f"Because {i} .", "label": 0} for i in range(40)]
    folder("qnli", "train", rows + apart)
    for name, planted in (("ag_news", "reuters"), ("qnli", "C")):
        records = load_dataset(name)
        linked = [planted in record.text for record in records]
        assert len(set(source_numbers([r for r, one in zip(records, linked, strict=True) if one]))) == 1
        assert len(set(source_numbers(records))) == 1 + len(records) - sum(linked)
        for split_by, both in (("source", 0), ("line", 3)):
            sides = [
                [any(planted in record.text for record in part) for part in parts]
                for parts in (private_and_shadow(records, 8, 8, seed, split_by=split_by) for seed in range(3))
            ]
            assert sum(all(side) for side in sides) == both


def test_all_is_every_row_and_its_sources_are_of_all_files(folder):
    folder("sst2", "train", [{"text": "a good film"}, {"text": "fine"}, {"text": "good film"}])
    folder("sst2", "dev", [{"text": "fine ."}, {"text": "it is a good film"}])
    assert [record.text for record in load_dataset("sst2")] == ["a good film", "good film"]
    everything = load_dataset("sst2", "all")
    assert [record.text for record in everything][:3] == ["a good film", "fine", "good film"]
    assert source_numbers(everything) == [0, 1, 0, 1, 0]


def test_sources_against_brute_force():
    generator = np.random.default_rng(1)
    docs = [generator.choice(list("abc"), size=generator.integers(1, 6)).tolist() for _ in range(60)]
    for doc, source in zip(docs, phrase_sources(docs), strict=True):
        text = f" {' '.join(doc)} "
        longer = [other for other in docs if text in f" {' '.join(other)} "]
        assert docs[source] in longer and len(docs[source]) == max(map(len, longer))


def test_private_and_shadow_too_few_after_repeats():
    refused("of which 0 are", lambda: private_and_shadow([Record("a"), Record("A."), Record("a!")], 1, 1, seed=0))


# --- the folder TEXTSAN_DATA ---------------------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path, monkeypatch):
    def write(name, split, rows):
        (tmp_path / name).mkdir(exist_ok=True)
        with lzma.open(tmp_path / name / f"{split}.jsonl.xz", "wt", encoding="utf8") as file:
            file.writelines(json.dumps(row) + "\n" for row in rows)
        return tmp_path / name / f"{split}.jsonl.xz"

    monkeypatch.setenv("TEXTSAN_DATA", str(tmp_path))
    return write


def test_folder_is_read_first(folder):
    rows = [{"text": "good", "label": 1}, {"text": "Fine .", "label": 1}, {"text": "bad", "label": 0}]
    folder("sst2", "train", rows)
    folder("sst2", "dev", [{"text": "fine", "label": 1}])
    assert [(r.text, r.label) for r in load_dataset("sst2")] == [("good", 1), ("bad", 0)]  # "Fine ." is in dev
    assert [r.text for r in load_dataset("sst2", "dev")] == ["fine"]
    assert [r.text for r in load_dataset("sst2", "all")] == ["good", "Fine .", "bad", "fine"]


def test_pairs(folder):
    row = {"sentence1": "Who?", "sentence2": "It was he .", "label": 0}
    folder("qnli", "train", [row, row | {"sentence2": "Nobody."}])
    folder("qnli", "dev", [{"sentence1": "Why?", "sentence2": "nobody", "label": 1}])
    (record,) = load_dataset("qnli")
    row_fields = {"sentence1": "Who?", "sentence2": "It was he .", "part_of": 0}  # the first of the sources
    assert (record.text, record.fields) == ("It was he .", row_fields)
    folder("stsb", "train", [row])
    assert load_dataset("stsb")[0].text == "Who?"


def test_other_folders_load_by_their_name(folder):
    folder("notes", "test", [{"text": "pain", "label": "leg", "note_id": 7}])
    assert load_dataset("notes", "test")[0].fields == {"note_id": 7}
    folder("rt_polarity", "train", [{"text": "fun", "label": 1}])
    assert load_dataset("rotten_tomatoes")[0].text == "fun"
    refused("dataset: 'nothing' is unknown; known: rt,", lambda: load_dataset("nothing"), KeyError)


def test_folder_bad_input(folder, monkeypatch):
    file = folder("sst2", "train", [{"text": "good"}] * 1000)
    refused("split: 'test' is unknown for 'sst2'; known: train,", lambda: load_dataset("sst2", "test"), KeyError)
    file.write_bytes(file.read_bytes()[:-30])
    refused(r"TEXTSAN_DATA: .*train.jsonl.xz is damaged", lambda: load_dataset("sst2"))
    folder("sst2", "train", [])
    refused("split: 'train' of 'sst2' has no record", lambda: load_dataset("sst2"))
    folder("words", "train", [{"w1": "a"}])
    refused("dataset: row 1 of 'words' has no 'text'", lambda: load_dataset("words"))
    monkeypatch.setenv("TEXTSAN_DATA", "not there")
    refused("TEXTSAN_DATA: 'not there' is not a folder", lambda: load_dataset("sst2"))


@needs_shared
@pytest.mark.parametrize(
    ("name", "rows"),
    [
        ("sst2", {"train": 61115, "dev": 872}),
        ("qnli", {"train": 2000, "dev": 4463}),
        ("cola", {"train": 8551, "dev": 1043}),
        ("ag_news", {"train": 15284, "test": 7600}),
        ("yelp", {"train": 8997}),
        ("stsb", {"train": 5749, "dev": 1500, "test": 1379}),
    ],
)
def test_papers_sets(monkeypatch, name, rows):
    monkeypatch.setenv("TEXTSAN_DATA", SHARED)
    splits = {split: load_dataset(name, split) for split in rows}
    last = list(rows)[-1]
    assert len(splits[last]) == rows[last]  # whole; others lose only what is also in a later split
    assert all(0.85 * rows[split] < len(splits[split]) <= rows[split] for split in rows)
    keys = [set().union(*map(corpora._sentences, records)) for records in splits.values()]
    assert sum(map(len, keys)) == len(set().union(*keys))
    assert all(record.label is not None and record.tokens for records in splits.values() for record in records)


@needs_shared
def test_lines_of_sst2_come_from_as_many_sentences_as_there_are(monkeypatch):
    monkeypatch.setenv("TEXTSAN_DATA", SHARED)
    private, shadow = private_and_shadow(load_dataset("sst2"), 20_000, 1000, seed=0)
    first, second = ({record.fields["part_of"] for record in part} for part in (private, shadow))
    assert len(second) == 1000 and len(first) > 3000 and not first & second


# --- the hub's files -----------------------------------------------------------------------------------------


def text(value):
    return [value], core.DataType.string()


def whole(value):
    return [value], core.DataType.int64()


def real(value):
    return [value], core.DataType.float64()


@pytest.mark.parametrize(
    ("name", "columns", "expected"),
    [
        ("sst2", {"sentence": text("good film "), "label": whole(1), "idx": whole(0)}, ("good film ", 1)),
        ("qnli", {"question": text("Who?"), "sentence": text("He."), "label": whole(0)}, ("He.", 0)),
        ("stsb", {"sentence1": text("One."), "sentence2": text("Two."), "label": real(3.5)}, ("One.", 3.5)),
        ("yelp", {"label": whole(4), "text": text("Great place")}, ("Great place", 5)),
    ],
)
def test_parquet_of_the_hub(tmp_path, monkeypatch, name, columns, expected):
    for file in assets.registry()["datasets"][name]["splits"].values():
        io.write_parquet(core.Table({key: core.Array(*of) for key, of in columns.items()}), tmp_path / file)
    monkeypatch.setattr(assets, "fetch", lambda asset: tmp_path)
    record = load_dataset(name, list(assets.registry()["datasets"][name]["splits"])[-1])[0]
    assert (record.text, record.label) == expected
    if name == "qnli":
        assert record.fields["sentence1"] == "Who?"
    refused("split: 'train' of .* has no record", lambda: load_dataset(name))


# --- bad input -----------------------------------------------------------------------------------------------


def test_unknown_names(default_data):
    refused("'imdb' is unknown; known: rt, amazon, nyt, tweets, drugs,", lambda: load_dataset("imdb"), KeyError)
    refused("split: 'validation' is unknown for 'rt'; known:", lambda: load_dataset("rt", "validation"), KeyError)
