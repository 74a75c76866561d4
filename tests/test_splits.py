import json
import lzma

import pytest

import textsan
from textsan.sweeps.splits import _of_neither
from textsan.text.corpora import Record

GLOVE = textsan.load_embeddings()


def test_the_vocabulary_is_of_frequent_words_and_of_no_text():
    splits = [textsan.load_split("rt", 30, 20, seed=seed, vocabulary=500) for seed in (0, 1)]
    for split in splits:
        assert split.embeddings.words == GLOVE.words[:500]
    assert splits[0].private != splits[1].private
    assert textsan.load_split("rt", 3, 2, seed=0).embeddings.words == GLOVE.words[:20_000]


def test_the_papers_vocabulary_is_of_the_whole_data_set_and_of_no_draw():
    one, other = (textsan.load_split("rt", 30, 20, seed=seed, vocabulary="data").embeddings for seed in (0, 1))
    assert one.words == other.words
    words = {word for record in textsan.load_dataset("rt") for word in record.tokens}
    assert set(one.words) == words & set(GLOVE.words)
    ranks = [GLOVE.index[word] for word in one.words]
    assert ranks == sorted(ranks)


@pytest.mark.parametrize("vocabulary", ["whole", 0, 2.5, None])
def test_no_such_vocabulary(vocabulary):
    with pytest.raises(ValueError, match="vocabulary"):
        textsan.load_split("rt", 3, 2, seed=0, vocabulary=vocabulary)


def test_coverage_is_of_what_is_not_kept():
    private = [["the", "cat", "zyzzyva", "1990"], ["cat", "the"]]
    split = textsan.Split(private, [], textsan.Embeddings(["the", "cat"], [[0.0], [1.0]]))
    kept = textsan.CusText(split.embeddings, 1.0, k=2, keep=["the", "1990"])
    assert split.coverage(kept) == 2 / 3  # two cats of cat, cat and zyzzyva
    assert split.coverage(kept.with_(keep=["the"])) == 2 / 4
    with pytest.raises(ValueError, match="keep fewer words"):
        split.coverage(kept.with_(keep=["the", "cat", "zyzzyva", "1990"]))


def test_how_it_is_split_and_what_from(tmp_path, monkeypatch):
    monkeypatch.setenv("TEXTSAN_DATA", str(tmp_path))
    for split, rows in (("train", range(30)), ("dev", range(30, 60))):
        (tmp_path / "sst2").mkdir(exist_ok=True)
        with lzma.open(tmp_path / "sst2" / f"{split}.jsonl.xz", "wt") as file:
            for i in rows:
                file.writelines(json.dumps({"text": text}) + "\n" for text in (f"the s{i} film", f"s{i} film"))
    splits = {
        (by, part): textsan.load_split("sst2", 20, 20, seed=0, vocabulary=10, split_by=by, drawn_from=part)
        for by in ("source", "line")
        for part in ("train", "all")
    }
    for (by, part), split in splits.items():
        names = [
            {word for doc in docs for word in doc if word[0] == "s"} for docs in (split.private, split.shadow)
        ]
        assert bool(names[0] & names[1]) == (by == "line")
        assert any(int(name[1:]) >= 30 for name in names[0]) == (part == "all")
        of = {}  # a source a sentence, whatever the split
        assert all(
            of.setdefault(doc[-2], one) == one for doc, one in zip(split.private, split.sources, strict=True)
        )
        assert len(set(of.values())) == len(of)
    with pytest.raises(ValueError, match="drawn_from: 'dev'"):
        textsan.load_split("sst2", 20, 20, seed=0, drawn_from="dev")


def test_held_out_text_is_nobodys():
    split = textsan.load_split("rt", 200, 300, seed=3)
    parts = split.private, split.shadow, split.held_out, split.population
    private, shadow, held_out, population = ({" ".join(doc) for doc in part} for part in parts)
    assert len(split.held_out) == len(held_out) == 300
    assert held_out < population and len(population) > 7000
    assert not population & (private | shadow)
    parts = [Record(f"{word} {end}", None, {"part_of": word}) for word in "abcdefgh" for end in "xyz"]
    private, shadow = [parts[0]], [parts[4], parts[7]]  # of a, b and c
    free, taken = _of_neither(parts, private, shadow, seed=0)
    assert sorted(record.fields["part_of"] for record in free) == ["d", "e", "f", "g", "h"]
    assert [record.fields["part_of"] for record in taken] == ["a"] and taken[0].text != "a x"


def test_population_is_of_the_corpus_under_attack_whatever_the_attacker_has():
    own, other = (textsan.load_split("rt", 50, 60, seed=3, shadow_dataset=name) for name in (None, "nyt"))
    texts = {" ".join(record.tokens) for record in textsan.load_dataset("rt")}
    assert {" ".join(doc) for doc in other.population} <= texts
    assert len(other.population) >= len(own.population) and not {*map(tuple, other.held_out)} & texts
