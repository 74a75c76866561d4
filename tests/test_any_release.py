"""`textsan audit --released` without a record: small exact worlds, planted leaks, and input that does not fit."""

import csv
import importlib.util
import json
from types import SimpleNamespace

import jsonschema
import numpy as np
import pytest
from helpers import command, refused

from textsan.auditing import any_release, audit_release, compare_releases
from textsan.auditing.deciding import DO_NOT, KEPT, OPEN
from textsan.auditing.report import SCHEMA
from textsan.text import tokenize
from textsan.text.corpora import Record
from textsan_book.studies import any_release as study

PLANTED = "zyxwort"
WORDS = [
    f"{first}{last}" for first in ("bar", "kel", "mon", "tir", "vos", "zan") for last in ("ak", "em", "il", "op")
]


@pytest.fixture(autouse=True)
def without_encoder(monkeypatch):
    """No torch: the attack by sentence vectors is skipped."""

    def missing(texts, **given):
        raise ModuleNotFoundError("torch")

    monkeypatch.setattr(any_release, "sentence_vectors", missing)
    monkeypatch.setattr(any_release.use, "find_spec", lambda name: None)


def text(n=60, seed=0):
    """Documents of four to twelve words, no two alike, each with a word of its own."""
    generator = np.random.default_rng(seed)
    return [
        " ".join([f"own{'abcdefghij'[d // 10]}{'abcdefghij'[d % 10]}", *generator.choice(WORDS, 3 + d % 9)])
        for d in range(n)
    ]


def masked(texts, mark="<MASK>"):
    return [" ".join(mark for _ in tokenize(line)) for line in texts]


def share(content, group="all"):
    return next(row for row in content["words"]["verbatim"] if row["group"] == group)


def test_persons_are_identified_by_words_that_are_left_and_not_by_masks():
    generator = np.random.default_rng(1)
    own = [[f"{word}{'abcdefghij'[i]}" for word in WORDS[:6]] for i in range(10)]
    texts = [" ".join([*generator.choice(own[d % 10], 4), *generator.choice(WORDS, 4)]) for d in range(60)]
    groups = [f"{PLANTED}{d % 10}" for d in range(60)]
    left, gone = (audit_release(texts, after, groups=groups, sample=20) for after in (texts, masked(texts)))
    assert left.content["persons"]["linkage"]["main"]["value"] == 1.0
    assert left.content["persons"]["linkage"]["control"]["value"] < 0.5
    assert gone.content["persons"]["linkage"]["excess"]["low"] <= 0 and gone.content["persons"]["most"] == 6
    for report in (left, gone):
        jsonschema.validate(json.loads(json.dumps(report.content)), json.loads(SCHEMA.read_text()))
        assert PLANTED not in report.html() + json.dumps(report.content) + "".join(report.summary)
        assert "Of 100 persons with two texts" in "".join(report.summary) and "persons with two" in report.html()


run = command("audit")


# What is measured, in worlds where it is known


def test_a_release_that_is_the_text_leaves_everything():
    content = audit_release(text(), text(), among=20).content
    assert content["decision"]["verdict"] == DO_NOT
    assert share(content)["value"] == share(content, "content")["value"] == 1
    assert content["words"]["whole"]["number"] == sum(len(line.split()) >= 5 for line in text())
    assert (
        content["words"]["replaced"] == content["words"]["unplaced"] == 0 and content["words"]["guesses"] is None
    )
    [attack] = content["linkage"]["attacks"]
    assert attack["main"]["value"] == 1 > content["linkage"]["length"]["value"] > attack["control"]["value"]
    assert content["belonging"]["shown"] and content["belonging"]["own"]["value"] == 1


def test_a_release_of_masks_leaves_nothing_but_lengths():
    content = audit_release(text(), masked(text()), among=20).content
    assert share(content)["value"] == 0 and content["words"]["unplaced"] == 0
    [attack] = content["linkage"]["attacks"]
    assert attack["main"] == content["linkage"]["length"] and attack["excess"]["value"] == 0
    lengths = np.array([len(line.split()) for line in text()])
    alike = np.array([(lengths == length).sum() - 1 for length in lengths])
    # Of 19 others out of 59, one of those that are as long is named as often as the original.
    simulated = np.random.default_rng(0).hypergeometric(alike, 59 - alike, 19, size=(4000, 60))
    assert content["linkage"]["length"]["value"] == pytest.approx((1 / (1 + simulated)).mean(), abs=0.01)
    dictionary = content["words"]["guesses"]["attacks"][1]
    assert (
        dictionary["attack"] == "dictionary"
        and dictionary["value"] <= content["words"]["guesses"]["constant"]["value"]
    )
    assert not content["belonging"]["shown"] and content["decision"]["verdict"] == OPEN
    assert "That rows belong together is not shown" in content["decision"]["reasons"][0]


def test_rows_that_were_left_whole_are_found():
    whole = [d for d, line in enumerate(text()) if len(line.split()) >= 6][:10]
    release = [
        line if d in whole else mask for d, (line, mask) in enumerate(zip(text(), masked(text()), strict=True))
    ]
    report = audit_release(text(), release, among=20)
    assert report.verdict == DO_NOT
    assert report.content["words"]["whole"] == {"number": 10, "listed": whole}
    assert f"10 documents of 5 words or more left whole: {', '.join(map(str, whole))}" in report.summary[2]
    words = [len(line.split()) for line in text()]
    assert share(report.content)["value"] == pytest.approx(sum(words[d] for d in whole) / sum(words))


def test_words_that_always_become_the_same_are_looked_up_in_other_rows():
    texts = [" ".join(line.split()[1:]) for line in text(100)]
    release = [" ".join(word[::-1] for word in line.split()) for line in texts]
    report = audit_release(texts, release, among=20, tolerate={"words": 0.5})
    context, dictionary = report.content["words"]["guesses"]["attacks"]
    assert dictionary["value"] > 0.95 > 0.5 > context["value"]
    assert report.verdict == DO_NOT and report.content["decision"]["limits"][1]["state"] == "exceeded"


def test_the_context_gives_a_word_away():
    texts = [f"I live in new york city and number {n} is mine" for n in range(40)]
    content = audit_release(texts, [line.replace("york", "<PLACE>") for line in texts], among=5).content
    context, _ = content["words"]["guesses"]["attacks"]
    assert content["words"]["guesses"]["places"] == 40 and context["value"] == 1
    assert content["words"]["guesses"]["constant"]["value"] == 1  # all are one word: nothing above the baseline
    assert context["excess"]["value"] == 0


def test_limits_are_kept_only_where_all_is_shown():
    release = [" ".join([line.split()[0], *["<MASK>"] * (len(line.split()) - 1)]) for line in text()]
    limits = {"words": 0.6, "documents": 1.0}
    report = audit_release(text(), release, among=20, tolerate=limits)
    assert report.verdict == KEPT and report.status == 0
    assert "Nothing is promised" in report.summary[3]
    assert audit_release(text(), release, among=20).verdict == DO_NOT  # its own word finds each document again
    assert audit_release(text(20), release[:20], among=20, tolerate=limits).verdict == OPEN
    short = [f"{line.split()[0]} <MASK>" for line in text()]  # words without a place may be anything
    assert audit_release(text(), short, among=20, tolerate=limits).verdict == OPEN


def test_entities_are_left_in_part_or_gone():
    texts = [
        f"case {'abcdefghij'[n % 10]} of ann.smith@example.org on 2021-03-{n + 10}, call 030 555 {1000 + n}"
        for n in range(15)
    ]
    release = [
        f"case of <EMAIL> at example on 2021-03-{n + 10}, call {f'030 555 {1000 + n}' if n < 5 else '<PHONE>'}"
        for n in range(15)
    ]
    found = {row["kind"]: row for row in audit_release(texts, release, among=5).content["entities"]}
    fates = ("left", "partly", "gone")
    assert {kind: [row[fate]["number"] for fate in fates] for kind, row in found.items()} == {
        "email": [0, 15, 0],
        "date": [15, 0, 0],
        "phone": [5, 0, 10],
    }
    assert found["date"]["left"]["value"] == 1 and found["date"]["control"]["value"] == 0


def test_a_phone_number_is_left_whole_however_it_is_spaced_and_a_name_is_guessed():
    texts = [
        f"Then Ann Smith met Mr. {'Jones' if n % 2 else 'Brown'} here, call 030 555-{1000 + n}" for n in range(40)
    ]
    release = [f"Then <NAME> Smith met Mr. <NAME> here, call <{'TEL' if n else '0305551000'}>" for n in range(40)]
    rows = {row["kind"]: row for row in audit_release(texts, release, among=5).content["entities"]}
    assert rows["phone"]["left"]["number"] == 1 and rows["phone"]["gone"]["number"] == 39
    assert rows["name"]["found"] == 80 and rows["name"]["partly"]["number"] == 40  # Smith
    assert 40 <= rows["name"]["guessed"]["number"] <= rows["name"]["guessed"]["of"] == 80  # Ann, always
    assert rows["phone"]["guessed"]["number"] == 0 == rows["name"]["left"]["number"]


# Several releases


def compared(text, tolerate, labels=None, **releases):
    given = {"tolerate": tolerate, "labels": labels, "among": 20, "sample": 60}
    report = compare_releases(text, releases, **given)
    jsonschema.validate(json.loads(json.dumps(report.content)), json.loads(SCHEMA.read_text(encoding="utf-8")))
    return report, {row["release"]: row["audit"] for row in report.content["releases"]}


def test_the_release_that_keeps_the_limits_and_most_of_the_label_is_named():
    texts = [f"{'zupper' if d % 2 else 'wimbel'} {line} call 030 555 {1000 + d}" for d, line in enumerate(text())]
    public = [line.split()[0] + " <MASK>" * (len(tokenize(line)) - 1) for line in texts]
    leak = [texts[0], *public[1:]]
    limits = {"words": 0.4, "documents": 0.8}
    report, audits = compared(
        texts, limits, list("ab" * 30), same=texts, masked=masked(texts), public=public, leak=leak
    )
    assert list(audits) == ["doing nothing", "redaction", "same", "masked", "public", "leak"]
    assert report.verdict == KEPT and report.status == 0 and report.content["tried"] == []
    assert [audits[name]["decision"]["verdict"] for name in ("doing nothing", "same")] == [DO_NOT, DO_NOT]
    phones = {
        name: next(row for row in audit["entities"] if row["kind"] == "phone") for name, audit in audits.items()
    }
    assert [phones[name]["left"]["number"] for name in audits] == [60, 0, 60, 0, 0, 1]
    assert audits["masked"]["decision"]["verdict"] == OPEN  # no word by which rows are seen to belong together
    assert report.content["decision"]["named"] == "public" and audits["public"]["use"]["released"]["value"] == 1
    assert "Recommended: public. It keeps the limits" in report.summary[1]
    page = report.html()
    assert all(
        word not in page + json.dumps(report.content) + "".join(report.summary) for word in (*WORDS, "zupper")
    )


def test_where_nothing_keeps_the_limits_it_is_said_what_would():
    report, _ = compared(text(), {"words": 0.2, "documents": 0.2}, same=text(), half=[f"{x} zz" for x in text()])
    assert report.verdict == DO_NOT and report.content["decision"]["named"] is None
    lines = "\n".join(report.content["decision"]["next"])
    assert all(way in lines for way in ("length alone identifies 4", "Redaction as well", "first 5 words"))
    assert [row["way"] for row in report.content["tried"]] == ["hidden", "cut", "hidden and cut"]
    by_way = {row["way"]: row["audit"]["linkage"] for row in report.content["tried"]}
    assert by_way["hidden"]["attacks"][0]["main"]["value"] < 0.6 < by_way["cut"]["attacks"][0]["main"]["value"]
    few = compared(text(20), {"words": 0.9}, masked=masked(text(20)), hidden=masked(text(20), "<A>"))[0]
    assert few.verdict == OPEN and "no permission" in few.summary[1]  # never kept by few


def test_several_files_are_compared_by_key_and_a_shuffled_one_is_named(run, tmp_path):
    rows = [(d, line, "ab"[d % 2]) for d, line in enumerate(text())]
    hidden = [(d, line, kind) for (d, _, kind), line in zip(rows, masked(text()), strict=True)]
    shuffled = [(row[0], other[1]) for row, other in zip(rows, rows[7:] + rows[:7], strict=True)]
    for name, listed in (("in.csv", rows), ("a.csv", rows[::-1]), ("b.csv", hidden), ("bad.csv", shuffled)):
        with open(tmp_path / name, "w", newline="") as file:
            csv.writer(file).writerows([["id", "text", "kind"][: len(listed[0])], *listed])
    asked = ("in.csv", "--key", "id", "--label", "kind", "--tolerate", "words=0.2")
    result = run(*asked, "--released", "a.csv", "--released", "b.csv")
    assert result.exit_code == 4 and "   a.csv: Do not release. Of 100: words verbatim 100" in result.stdout
    page, content = ((tmp_path / f"audit.{kind}").read_text() for kind in ("html", "json"))
    assert json.loads(content)["about"]["releases"] == 2 and "Of 2 releases" in page and "class told" in page
    result = run(*asked, "--released", "a.csv", "--released", "bad.csv")
    assert result.exit_code == 2 and "released: bad.csv: 38 of 60 rows share more words" in result.stderr
    assert "is passed once" in run(*asked, "--released", "a.csv", "--released", "a.csv").stderr


# Rows that do not belong together


def test_shuffled_rows_are_refused_and_a_few_are_said():
    with pytest.raises(
        ValueError, match=r"released: \d+ of 60 rows share more words with the release of another row"
    ):
        audit_release(text(), np.random.default_rng(1).permutation(text()).tolist())
    swapped = text()
    swapped[50], swapped[51] = swapped[51], swapped[50]
    content = audit_release(text(), swapped, among=20, tolerate={"words": 1, "documents": 1}).content
    assert content["belonging"]["listed"] == [50, 51] and content["decision"]["verdict"] == OPEN
    assert content["decision"]["reasons"][0].startswith("2 rows (50, 51; from 0) share more words")


def test_other_numbers_of_rows_are_refused(run, tmp_path):
    (tmp_path / "in.txt").write_text("\n".join(text()))
    (tmp_path / "out.txt").write_text("\n".join(text()[1:]))
    result = run("in.txt", "--released", "out.txt")
    assert result.exit_code == 2 and "59 documents for 60 originals" in result.stderr, result.output
    assert not list(tmp_path.glob("audit*"))


@pytest.mark.parametrize("given", [{"sample": 0}, {"among": 1}, {"sample": 2.5}])
def test_sizes_that_are_none_are_refused_with_their_numbers(given):
    [(name, value)] = given.items()
    refused(
        f"^{name}: {value} is .* of at least {1 + (name == 'among')}$",
        lambda: audit_release(text(), text(), **given),
    )


def test_rows_are_put_together_by_a_key(run, tmp_path):
    rows = list(enumerate(text()))
    for name, listed in (("in.csv", rows), ("out.csv", rows[::-1]), ("bad.csv", [*rows[1:], (PLANTED, "x")])):
        with open(tmp_path / name, "w", newline="") as file:
            csv.writer(file).writerows([["id", "text"], *listed])
    assert "rows share more words" in run("in.csv", "--released", "out.csv").stderr
    assert run("in.csv", "--released", "out.csv", "--key", "id").exit_code == 3
    content = json.loads((tmp_path / "audit.json").read_text())
    assert share(content)["value"] == 1 and content["about"]["beside"] == 1
    result = run("in.csv", "--released", "bad.csv", "--key", "id")
    assert result.exit_code == 2 and "key: a key is missing" in result.stderr and PLANTED not in result.output


# The report, and what it never says


def test_no_word_of_the_text_is_in_the_report(run, tmp_path):
    texts = [f"{line} {PLANTED}" for line in text()]
    for release in (texts, masked(texts), [line.replace("own", f"{PLANTED}b") for line in texts]):
        (tmp_path / "in.txt").write_text("\n".join(texts))
        (tmp_path / "out.txt").write_text("\n".join(release))
        result = run("in.txt", "--released", "out.txt", "--tolerate", "words=0.3")
        assert result.exit_code in (3, 4), result.output
        page, content = ((tmp_path / f"audit.{kind}").read_text() for kind in ("html", "json"))
        jsonschema.validate(json.loads(content), json.loads(SCHEMA.read_text(encoding="utf-8")))
        for word in (PLANTED, *WORDS, "ownaa"):
            assert word not in page + content + result.output


def test_a_bug_quotes_nothing(monkeypatch):
    def breaks(*given):
        raise RuntimeError(f"at {PLANTED}")

    monkeypatch.setattr(any_release, "_fates", breaks)
    with pytest.raises(RuntimeError, match="RuntimeError at line") as error:
        audit_release([*text(), PLANTED], [*text(), PLANTED])
    assert PLANTED not in str(error.value) and error.value.__context__ is None


# The study: releases by other tools


@pytest.fixture
def planted(monkeypatch):
    """Texts of two classes, of which every one begins with its class."""
    records = [Record(f"{'good' if d % 2 else 'bad'} {line}", str(d % 2)) for d, line in enumerate(text(80))]
    monkeypatch.setattr(study, "labelled", lambda dataset: records)
    for kept in (study._drawn, study._of_originals, study._original, study._entities):
        kept.cache_clear()

    def release(by, **given):
        monkeypatch.setitem(study.TOOLS, "planted", by)
        rows = study.any_releases(dataset="planted", tool="planted", seed=0, n=80, audited=60, **given)
        return {(row["figure"], row["of"]): row for row in rows}

    yield release
    study._drawn.cache_clear()
    study._of_originals.cache_clear()
    study._original.cache_clear()


def test_a_tool_that_masks_everything_leaves_lengths_and_keeps_nothing_of_the_task(planted):
    rows = planted(lambda texts, seed: masked(texts))
    assert rows["verbatim", "all"]["share"] == rows["found", "words"]["excess"] == 0
    assert rows["found", "words"]["share"] == rows["found", "words"]["baseline"]
    assert rows["kept", "released"]["share_high"] < rows["kept", "original"]["share_low"]


def spans(**of):
    """An analyzer that finds the given words."""

    def analyze(line, language):
        from presidio_analyzer import RecognizerResult

        found = [(kind, line.find(word), word) for kind, words in of.items() for word in words if word in line]
        return [RecognizerResult(kind, start, start + len(word), 1.0) for kind, start, word in found]

    return lambda: SimpleNamespace(analyze=analyze)


@pytest.mark.skipif(
    importlib.util.find_spec("presidio_anonymizer") is None,
    reason="presidio-anonymizer is not installed (extra pii)",
)
def test_presidio_masks_entities_or_puts_those_of_other_texts_in_their_place(monkeypatch):
    texts = ["Ann met Bob", "Eve slept in Rome", "ann called Ann"]
    monkeypatch.setattr(study, "analyzer", spans(PERSON=["Ann", "Bob", "Eve"], CITY=["Rome"]))
    study._entities.cache_clear()
    assert study.TOOLS["presidio masks"](texts, 0)[:2] == ["<PERSON> met <PERSON>", "<PERSON> slept in <CITY>"]
    for seed in range(5):
        first, second, third = study.TOOLS["presidio surrogates"](texts, seed)
        assert {first.split()[0], first.split()[2]} <= {"Eve", "Ann"} and first.split()[0] == "Eve"
        assert second.split()[0] in ("Ann", "Bob") and second.endswith("in <CITY>")  # no other text has one
        assert third == study.TOOLS["presidio surrogates"](texts, seed)[2]
    study._entities.cache_clear()


def test_a_rewrite_is_the_likeliest_line_of_the_model_whatever_texts_are_with_it(monkeypatch):
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM

    class Letters:
        eos_token_id = 0

        def __call__(self, line, add_special_tokens):
            return SimpleNamespace(input_ids=[ord(letter) % 16 for letter in line])

        def apply_chat_template(self, chat, **given):
            return "".join(turn["content"] for turn in chat) + "|"

        def batch_decode(self, rows, **given):
            return ["".join(chr(96 + number) for number in row) for row in rows]

    sizes = {"hidden_size": 16, "intermediate_size": 24, "num_hidden_layers": 2, "num_attention_heads": 2}
    with torch.random.fork_rng():
        torch.manual_seed(13)
        model = LlamaForCausalLM(LlamaConfig(vocab_size=16, initializer_range=1.0, **sizes)).eval()
    source = SimpleNamespace(model=model, tokenizer=(letters := Letters()))
    monkeypatch.setattr(study.LanguageModel, "named", lambda precision: source)
    monkeypatch.setattr(study, "_AT_ONCE", 3)
    texts = ["a soup", "the film was long", "no", "a dog"]
    answers = study.TOOLS["rewrite"](texts, 0)
    for line, answer, longest in zip(texts, answers, (6, 17, 6, 6), strict=True):
        chat = [{"content": said.replace("{text}", line)} for said in study.REWRITING]
        for turn in chat[::2]:
            turn["content"] = study._ASKED + turn["content"]
        ids = torch.tensor([letters(letters.apply_chat_template(chat), add_special_tokens=False).input_ids])
        most = {"do_sample": False, "max_new_tokens": longest + 10, "eos_token_id": [0, 10], "pad_token_id": 0}
        (written,) = model.generate(ids, attention_mask=torch.ones_like(ids), **most)[:, ids.shape[1] :].tolist()
        assert answer == letters.batch_decode([[n for n in written if n not in (0, 10)]])[0]
    assert len(set(map(len, answers))) > 2  # some end before the limit


def test_answers_that_are_no_rewrites_are_counted():
    texts = ["The soup was cold"] * 5
    written = ["the soup was cold", "", "so sorry I am so sorry I am so sorry I am", "We left", "A cold broth"]
    rows = study._answers(texts, written)
    assert {row["of"]: row["share"] for row in rows} == {
        "copies": 0.2,
        "empty": 0.2,
        "loops": 0.2,
        "strangers": 0.6,
    }
