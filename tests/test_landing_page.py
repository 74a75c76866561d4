"""The front page: each sentence with numbers says what the tables say, by another way to it; findings are printed.

The witness here reads the tables with the csv module and the hits with NumPy, and knows nothing of `front`.
"""

import json
import os
import re
from functools import cache
from pathlib import Path

import nbformat
import numpy as np
import pytest
from bs4 import BeautifulSoup
from stored import lines

from textsan.text.vocabulary import STOP_WORDS
from textsan_book.chapters import chapters
from textsan_book.judging import front, front_pictures, tradeoffs
from textsan_book.studies import card as study

ROOT = Path(__file__).parents[1]
FULL = bool(os.environ.get("TEXTSAN_FULL"))
TABLE = front.TABLE.removesuffix(".csv")


def findings():
    page = (ROOT / "book" / "pages" / "preface.md").read_text(encoding="utf-8")
    section = page.partition("## Findings")[2].partition("\n## ")[0]
    return [" ".join(one.split()) for one in section.split("\n- ")[1:]]


def printed(name):
    cells = nbformat.read(ROOT / f"{name}.ipynb", as_version=4).cells
    outputs = [output for cell in cells for output in cell.get("outputs", [])]
    return "\n".join(str(output.get("text") or output.get("data", {}).get("text/plain", "")) for output in outputs)


def missing(finding, text):
    """The decimals of a finding that a text does not have, and its counts ("3 of the 34", "27 differ")."""
    decimals = re.findall(r"\d+\.\d+", finding)
    counts = [f"compared: {a} of {n}" for a, n in re.findall(r"(\d+) of all (\d+) published numbers", finding)]
    for said, words in (("agrees", "agree"), ("differs", "differ"), ("undecided", "are undecided")):
        counts += [f"{said}: {n} of" for n in re.findall(rf"(\d+) {words}", finding)]
    for said in ("refuted", "reproduced"):
        claims = re.findall(rf"(\d+) of (\d+) claims are {said}", finding)
        counts += [f"{said}: {a} of {n} claims" for a, n in claims]
    counts += [f"{n} of {n} are above 0" for n in re.findall(r"all of (\d+) gains", finding)]
    return [one for one in decimals + counts if one not in text]


@pytest.mark.parametrize("finding", findings())
def test_a_finding_says_what_its_chapter_prints(finding):
    names = re.findall(r"\{doc\}`/(notebooks/[^`]+)`", finding)
    assert names and not missing(finding, "\n".join(map(printed, names)))


def test_another_number_is_noticed():
    first = next(one for one in findings() if "0.324" in one)
    (name,) = re.findall(r"\{doc\}`/(notebooks/[^`]+)`", first)
    assert missing(first.replace("0.324", "0.329"), printed(name)) == ["0.329"]


@cache
def shares(name):
    """Rows of a table with the shares of words, with a letter or a digit, that were hit or left unchanged."""
    found = []
    with np.load(ROOT / "data" / "results" / f"{name}.npz") as file:
        families = dict(zip(file["rows"].tolist(), file["families"].tolist(), strict=True))
        for number, row in enumerate(lines(name)):
            if number not in families:
                continue
            family, n = f"family {families[number]}", int(file[f"family {families[number]}/n"])
            words = np.unpackbits(file[f"{family}/letter"], count=n).astype(bool)
            places = {"hit": f"{number}/hit", "unchanged": f"{family}/unchanged"}
            given = json.loads(row["attack_parameters"])
            row |= {what: np.unpackbits(file[at], count=n)[words].mean() for what, at in places.items()}
            found.append(row | {"told": given.get("told"), "model": given.get("model", row["attack"])})
    return found


def share(what, epsilon, attack):
    """Of the attackers who are not told the words, each seed alike."""
    asked = (epsilon, attack, False)
    return np.mean(
        [one[what] for one in shares(TABLE) if (float(one["epsilon"]), one["attack"], one["told"]) == asked]
    )


OPENINGS = {
    "words": "of the protected words of film reviews",
    "documents": "of documents are identified",
    "task": "of what a classifier learns",
    "claims": "claims that were measured on a scale",
    "published": "The five papers print",
    "seeds": "*Share of the protected words",
    "larger": "A model of twice the size",
    "linked": "SanText has no groups",
    "best": "**The task.**",
    "limits": "**Limits.**",
}


@pytest.fixture(scope="module")
def page():
    text = (ROOT / "book" / "pages" / "index.md").read_text(encoding="utf-8")
    return front.fill(text, ROOT)


@pytest.fixture(scope="module")
def said(page):
    """The passages of the page with their numbers, those before the opening words among them."""
    passages = {}
    for name, opening in OPENINGS.items():
        before, text = page.split(opening)
        *_, above, here = before.split("\n")
        big = here or (above if above.startswith("**") else "")
        passages[name] = " ".join(f"{big} {opening} {text.partition(chr(10) * 2)[0]}".split())
    passages["limits"] = " ".join(page.partition("**Limits.**")[2].partition("\n## ")[0].split())
    return passages


def numbers(text):
    return [int(one) for one in re.findall(r"(?<![\w.,])-?\d+(?![\w.,]*\d)", text)]


def test_no_number_is_typed_in():
    text = (ROOT / "book" / "pages" / "index.md").read_text(encoding="utf-8")
    typed = re.sub(r"\{\{.*?\}\}|^:.*$|^::.*$|`.*?`|\{cite.*|1,000 candidates", "", text, flags=re.MULTILINE)
    assert set(numbers(typed)) <= {0, 1, 2, 3, 4, 5, 20, 95, 100, 135}  # epsilons, settings, a chapter, a model
    assert int(re.search(r"language model of (\d+)\s+million", text)[1]) == 135


def test_the_table_of_words_has_what_each_attacker_recovers(page, said):
    for epsilon in (1, 2, 4, 8):
        (row,) = re.findall(rf"^\| {epsilon} \|(.*)\|$", page, re.MULTILINE)
        shown = [int(one) for one in re.findall(r"(\d+) %", row)]
        attacks = (("unchanged", "context-free"), ("hit", "context-free"), ("hit", "mixture"))
        assert shown == [round(100 * share(what, epsilon, attack)) for what, attack in attacks]
    halves = [round(100 * share("hit", epsilon, "mixture")) for epsilon in (4, 1)]
    assert 45 < halves[0] < 55 and numbers(said["words"])[:4] == [halves[0], 4, 1, halves[1]]  # "we read half"
    covered = [float(r["coverage"]) for r in lines(TABLE) if (r["dataset"], r["defence"]) == ("rt", "custext+")]
    assert f"{round(100 * np.mean(covered))} % of all tokens that CusText+ protects" in said["seeds"]


def test_a_larger_model_reads_more(said):
    """By the csv and the hits, without the package's own differences."""
    rates = {}
    for row in shares("alone-gemma"):
        rates.setdefault((row["dataset"], row["epsilon"]), {}).setdefault(row["model"], []).append(row["hit"])
    assert len(rates) == 4 and all(len(one["gemma3-270m"]) == 3 for one in rates.values())
    more = [np.mean(one["gemma3-270m"]) - np.mean(one["mixture without language"]) for one in rates.values()]
    shown = [round(100 * min(more)), round(100 * max(more))]
    ends = [(one.low, one.high) for one in front.larger()]
    shown += [round(100 * min(low for low, _ in ends)), round(100 * max(high for _, high in ends))]
    assert numbers(re.sub(r"`.*?`", "", said["larger"])) == shown
    assert all(one.low > 0 for one in front.larger())


DRAWN = ("utility-sst2", "utility-sst2-between", "utility-sst2-custext")
KEPT = ("utility-oov", "utility-oov-between")


def learnt_from_the_original():
    found = [r["utility"] for r in lines("utility-sst2-original") if '"words": "text"' in r["task_parameters"]]
    return np.mean([float(one) for one in found])


def given_and_kept(exposures="utility-sst2-exposure", tables=DRAWN):
    """Read by the csv module: mechanism and epsilon, mean exposure, mean share of the gain over chance."""
    original = learnt_from_the_original()
    exposure, utility = {}, {}
    for row in lines(exposures):
        exposure.setdefault((row["defence"], row["epsilon"]), []).append(float(row["exposure"]))
    for table in tables:
        for row in lines(table):
            if row["utility"] and row["defence"] in tradeoffs.SANITIZERS:
                one = (float(row["utility"]), float(row["chance"]))
                utility.setdefault((row["defence"], row["epsilon"]), []).append(one)
    found = {}
    for key, some in utility.items():
        rate, chance = np.mean(some, axis=0)
        found[key] = (np.mean(exposure[key]), (rate - chance) / (original - chance))
    return found


def test_what_hiding_costs_is_said_under_both_rules_for_unlisted_words(page, said):
    shown = []
    for found in (given_and_kept(), given_and_kept("utility-oov-all-exposure", KEPT)):
        assert len({name for name, _ in found}) == 4
        private = [kept for given, kept in found.values() if given < 0.5]
        assert max(private) < 0.5  # the corner of the picture is empty
        shown.append((len(private), round(100 * max(private))))
    (many, best), (many_kept, best_kept) = shown
    assert numbers(said["task"]) == [best] and f"classifier, {many} settings" in page
    assert f"{best} % [" in said["best"] and f"of {many_kept} settings" in said["limits"]
    assert f"{best_kept} % [" in said["limits"]
    for rule, passage in (("draw", "best"), ("keep", "limits")):
        best = max(one.kept for one in front.settings(rule) if one.disclosed < 0.5)
        assert front.with_ends(best) in said[passage]


def test_a_claim_is_drawn_at_its_distance_from_what_it_needs(said):
    """By a second reading of the rules: right of the line a claim is met, of a gain as of a limit."""
    drawn = front.claims()
    by_claim = {one.claim: one for one in drawn}
    measured = [row for row in lines("claims") if row["rule"] and row["low"] != row["high"]]
    assert len(measured) == len(by_claim) == len(drawn) == numbers(said["claims"])[0]
    for row in measured:
        asked = float(re.search(r"\d[\d.]*(?:e-\d+)?", row["rule"])[0])
        low, high = float(row["low"]), float(row["high"])
        margin = by_claim[row["claim"]].margin
        if row["rule"].startswith("above"):
            assert np.allclose((margin.low, margin.high), (low - asked, high - asked))
        elif row["rule"].startswith("at most"):
            assert np.allclose((margin.low, margin.high), (asked - high, asked - low))
        else:
            inside = np.abs(np.linspace(low, high, 1001))
            assert np.allclose((margin.low, margin.high), (asked - inside.max(), asked - inside.min()), atol=1e-3)
        assert margin.low <= margin.value <= margin.high
    refuted = [one.margin.high for one in drawn if one.verdict == "does not hold"]
    assert max(refuted) < 0.01  # "where the interval ends below one point"
    svg, label = front_pictures.forest(drawn)
    assert svg.count("<g>") == len(drawn) and f"{len(refuted)} refuted" in label


def test_what_is_linked(said):
    def mean(column, **where):
        some = [r for r in lines("linkage") if r["threat"] == "original" and r["candidates"] == "1000"]
        return np.mean([float(r[column]) for r in some if all(r[k] == v for k, v in where.items())])

    cases = [{"defence": "custext+", "epsilon": "1.0"}] + [
        {"defence": "santext", "epsilon": e} for e in ("1.0", "2.0")
    ]
    drawn = [{(r["dataset"], r["seed"]) for r in lines("linkage") if one.items() <= r.items()} for one in cases]
    assert all(len({corpus for corpus, _ in one}) == 2 and len(one) == 6 for one in drawn)
    assert "means over two corpora and three seeds" in said["linked"]
    first, second, third = (round(100 * mean("main", **one)) for one in cases)
    first = 99 if 0.995 <= mean("main", **cases[0]) < 1 else first  # "> 99"
    length = round(100 * np.mean([mean("baseline", **one) for one in cases]))
    assert numbers(said["documents"].replace("1,000", "")) == [first, 1]
    assert f"length alone identifies {length} %." in (ROOT / "book" / "pages" / "index.md").read_text(
        encoding="utf-8"
    ).replace("{{ linked_length }}", f"{length}")
    assert numbers(re.sub(r"`.*?`", "", said["linked"])) == [second, 1, third, 2]


def test_what_became_of_the_published_numbers(said):
    board = [(r["verdict"], r["trivial"]) for r in lines("scoreboard")]
    counts = [sum(one == (name, "") for one in board) for name in ("agrees", "differs", "undecided")]
    claims = [r["verdict"] for r in lines("claims")]
    agreed = [r for r in lines("scoreboard") if (r["verdict"], r["trivial"]) == ("agrees", "")]
    blind = [r for r in agreed if r["mechanism_or_method"] == "Baseline (random guess)"]
    expected = [len(board), sum(counts), counts[0], len(blind), *counts[1:], len(claims)]
    expected += [claims.count("does not hold"), claims.count("holds")]
    sentence = said["published"].partition("A claim of a gain")[0]
    assert numbers(sentence) == expected
    shown = front_pictures.PARTS["published numbers"](ROOT)
    assert shown.partition('class="legend"')[0].count("<i ") == len(board)
    assert f"{counts[0]} agree ({len(blind)} are blind guesses)" in shown


def test_the_card_marks_what_is_as_written_and_counts_it():
    shown = BeautifulSoup(front_pictures.PARTS["three lines"](ROOT), "html.parser")
    views, labels = shown.select(".view"), [label.text for label in shown.select("label")]
    assert labels == ["ε = 1", "ε = 2", "ε = 4", "ε = 8"] and len(views) == 4
    assert [one["id"] for one in shown.select("input[checked]")] == [shown.select("label")[2]["for"]]
    for view, label in zip(views, labels, strict=True):
        written, released, read = (line.text.split() for line in view.select("dd"))
        hidden = [i for i, word in enumerate(written) if word.isalnum() and word not in STOP_WORDS]
        hits = [read[i] for i in hidden if read[i] == written[i]]
        assert [mark.text for mark in view.select("mark")] == hits
        unchanged = [released[i] for i in hidden if released[i] == written[i]]
        assert [one.text for one in view.select("dd b")] == unchanged
        assert view.p.text == f"{len(hits)} of {len(hidden)} hidden words recovered at {label}"


def test_the_sentence_of_the_card_is_the_one_that_the_chapter_releases():
    """Written and released at ε = 4; how it is read back is checked below."""
    cells = nbformat.read(chapters.find(ROOT, "7").notebook, as_version=4).cells
    outputs = [out for cell in cells for out in cell.get("outputs", []) if "data" in out]
    pages = [BeautifulSoup(out["data"].get("text/html", ""), "html.parser") for out in outputs]
    tables = [{row.th.text: row.td.text.split() for row in one.select("table.reading tr")} for one in pages]
    (printed,) = (table for table in tables if {"written", "released"} <= {*table})
    marked = front.readings(ROOT)[4.0]
    for name in ("written", "released"):
        assert [word for word, _ in marked[name]] == printed[name]


@pytest.mark.skipif(not FULL, reason="a language model reads for three minutes: make test FULL=1")
def test_the_card_is_made_again(default_data, tmp_path):
    study.write(tmp_path / "card.json")
    assert (tmp_path / "card.json").read_bytes() == (ROOT / front.CARD).read_bytes()
