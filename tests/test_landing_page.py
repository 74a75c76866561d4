"""The front page: each sentence with numbers says what the tables say, by another way to it; findings are printed.

The witness here reads the tables with the csv module and the hits with NumPy, and knows nothing of `front`.
"""

import csv
import json
import re
from pathlib import Path

import nbformat
import numpy as np
import pandas as pd
import pytest
import yaml

from textsan_book.chapters import front, front_pictures, reading_paths

ROOT = Path(__file__).parents[1]


def findings():
    page = (ROOT / "book" / "pages" / "findings.md").read_text(encoding="utf-8")
    section = page.partition("## Findings")[2].partition("\n\nWhat")[0]
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
        counts += [f"{said}: {a} of {n} claims" for a, n in re.findall(rf"(\d+) of (\d+) claims {said}", finding)]
    counts += [f"{n} of {n} are above 0" for n in re.findall(r"all of (\d+) gains", finding)]
    return [one for one in decimals + counts if one not in text]


@pytest.mark.parametrize("finding", findings())
def test_a_finding_says_what_its_chapter_prints(finding):
    (name,) = re.findall(r"\{doc\}`/(notebooks/[^`]+)`", finding)
    assert not missing(finding, printed(name))


def test_another_number_is_noticed():
    first = next(one for one in findings() if "0.333" in one)
    (name,) = re.findall(r"\{doc\}`/(notebooks/[^`]+)`", first)
    assert missing(first.replace("0.333", "0.339"), printed(name)) == ["0.339"]


def test_there_is_a_row_for_each_published_number():
    (number,) = re.findall(r"of all (\d+) published numbers", " ".join(findings()))
    published = pd.read_csv(ROOT / "data" / "paper_numbers.csv")
    board = pd.read_csv(ROOT / "data" / "results" / "scoreboard.csv")
    assert int(number) == len(published) == len(board)


def rows(name):
    with (ROOT / "data" / "results" / f"{name}.csv").open(encoding="utf-8") as file:
        return [row | {"number": i} for i, row in enumerate(csv.DictReader(file))]


def share(what, epsilon, attack):
    """Of the words with a letter or a digit, not told, each seed alike: what was hit, or came out unchanged."""
    rates = []
    with np.load(ROOT / "data" / "results" / "mixture.npz") as file:
        families = dict(zip(file["rows"].tolist(), file["families"].tolist(), strict=True))
        for row in rows("mixture"):
            told = json.loads(row["attack_parameters"])["told"]
            if (float(row["epsilon"]), row["attack"], told) != (epsilon, attack, False):
                continue
            family = f"family {families[row['number']]}"
            n = int(file[f"{family}/n"])
            words = np.unpackbits(file[f"{family}/letter"], count=n).astype(bool)
            place = f"{row['number']}/hit" if what == "hit" else f"{family}/{what}"
            rates.append(np.unpackbits(file[place], count=n)[words].mean())
    return np.mean(rates) if rates else None


@pytest.fixture(scope="module")
def said():
    return front.sentences(ROOT)


def numbers(text):
    return [int(one) for one in re.findall(r"(?<![\w.])\d+(?![\w.]*\d)", text)]


def test_three_sentences_open_the_page_and_no_number_is_typed_in():
    text = (ROOT / "book" / "pages" / "index.md").read_text(encoding="utf-8")
    ways, first = text.split("\n\n")[1:3]
    doors = ["Decide", "notebooks/from-a-csv-to-a-report", "Understand", "book/pages/short-path"]
    doors += ["Teach", "book/pages/course-instructors"]
    assert re.findall(r"\{doc\}`(\w+) </([^>]+)>`", ways) == [*zip(doors[::2], doors[1::2], strict=True)]
    assert all(text.count(page) > 1 for page in doors[1::2])  # each has its door below
    assert (
        first.startswith(":::{container} lead\n")
        and first.count("\n") == 4
        and re.findall(r"\{\{ (\w+) \}\}", first) == ["read_back", "spoils"]
    )
    typed = re.sub(r"\{\{.*?\}\}|^:.*$|^::.*$|\(.*?\)|`.*?`|\{cite.*", "", text, flags=re.MULTILINE)
    assert set(numbers(typed)) <= {4, 21, 100, 135}  # of the sentence's setting, a chapter, per cent, a model


def test_what_is_read_back(said):
    low, high = front.SAID
    found = [100, high, *(share(*one) for one in (("hit", high, "mixture"), ("unchanged", high, "context-free")))]
    found += [low]
    language = share("hit", low, "mixture")
    found += (
        [share("hit", low, "context-free"), share("hit", high, "context-free"), high]
        if language is None
        else [language]
    )
    found += [share("unchanged", low, "context-free")]
    expected = [round(100 * one) if isinstance(one, np.floating) else round(one) for one in found]
    assert numbers(said["read_back"]) == expected


def test_turning_epsilon_down_hardly_helps():
    """The first heading: what is read falls by less than a quarter, what is unchanged by more than half."""
    low, high = front.SAID
    attacks = ["context-free"] + (["mixture"] if share("hit", low, "mixture") is not None else [])
    assert all(share("hit", low, one) > 0.75 * share("hit", high, one) for one in attacks)
    assert share("unchanged", low, "context-free") < 0.5 * share("unchanged", high, "context-free")


def test_a_larger_model_reads_more(said):
    """By the csv and the hits, without the package's own differences."""
    rates = {}
    with np.load(ROOT / "data" / "results" / "alone-gemma.npz") as file:
        families = dict(zip(file["rows"].tolist(), file["families"].tolist(), strict=True))
        for row in rows("alone-gemma"):
            family = f"family {families[row['number']]}"
            model = json.loads(row["attack_parameters"]).get("model", row["attack"])
            n = int(file[f"{family}/n"])
            words = np.unpackbits(file[f"{family}/letter"], count=n).astype(bool)
            rate = np.unpackbits(file[f"{row['number']}/hit"], count=n)[words].mean()
            rates.setdefault((row["dataset"], row["epsilon"]), {}).setdefault(model, []).append(rate)
    assert len(rates) == 4 and all(len(one["gemma3-270m"]) == 3 for one in rates.values())
    more = [np.mean(one["gemma3-270m"]) - np.mean(one["mixture without language"]) for one in rates.values()]
    shown = [round(100 * min(more)), round(100 * max(more)), 100]
    ends = [(one.low, one.high) for one in front.larger(ROOT)]
    shown += [round(100 * min(low for low, _ in ends)), round(100 * max(high for _, high in ends))]
    assert numbers(said["larger"]) == shown
    assert all(one.low > 0 for one in front.larger(ROOT))


def learnt_from_the_original():
    found = [r["utility"] for r in rows("utility-sst2-original") if '"words": "text"' in r["task_parameters"]]
    return np.mean([float(one) for one in found])


def given_and_kept():
    """The same by the csv module: mechanism and epsilon, mean exposure, mean share of the gain over chance."""
    original = learnt_from_the_original()
    exposure, utility = {}, {}
    for row in rows("utility-sst2-exposure"):
        exposure.setdefault((row["defence"], row["epsilon"]), []).append(float(row["exposure"]))
    for table in ("utility-sst2", "utility-sst2-between", "utility-sst2-custext"):
        for row in rows(table):
            if row["utility"] and row["defence"] in front.SANITIZERS:
                one = (float(row["utility"]), float(row["chance"]))
                utility.setdefault((row["defence"], row["epsilon"]), []).append(one)
    found = {}
    for key, some in utility.items():
        rate, chance = np.mean(some, axis=0)
        found[key] = (np.mean(exposure[key]), (rate - chance) / (original - chance))
    return found


def test_what_hides_the_text_spoils_it(said):
    found = given_and_kept()
    private = [kept for given, kept in found.values() if given < 0.5]
    assert max(private) < 0.5  # the corner of the picture is empty
    assert numbers(said["spoils"]) == [len(found), len(private), round(100 * max(private)), 100]
    assert "four sanitizers" in said["spoils"] and len({name for name, _ in found}) == 4


def test_the_right_picture_says_its_draws(said):
    tables = ("utility-sst2", "utility-sst2-between", "utility-sst2-custext", "utility-sst2-exposure")
    assert (
        all(len({row["seed"] for row in rows(table)}) == 3 for table in tables) and "three draws" in said["dots"]
    )
    tuned = [r for r in rows("papers-settings-sst2") if (r["defence"], r["epsilon"]) == ("santext+", "3.0")]
    found = []
    for protocol in ("fine-tuned", "frozen"):
        some = [float(r["utility"]) for r in tuned if f'"protocol": "{protocol}"' in r["task_parameters"]]
        found.append(round(100 * np.mean(some)))
    assert f"has {found[0]} right of 100, where a frozen one has {found[1]} and chance" in said["dots"]
    assert f"({len(some)} draws)" in said["dots"]
    for table, many in (("utility-sst2", "1,000"), ("papers-settings-sst2", "60,000")):
        assert {int(row["n_private"]) for row in rows(table)} == {int(many.replace(",", ""))}
        assert f"from {many} phrases" in said["dots"]


def test_crosses_are_the_channels_of_least_distance(said):
    drawn = {}
    for row in rows("utility-sst2-frontier"):
        one = [float(row[name]) for name in ("exposure", "utility", "chance")]
        drawn.setdefault(row["success"], []).append(one)
    assert {len(some) for some in drawn.values()} == {3} and len(drawn) > 2
    for some in drawn.values():
        given, rate, chance = np.mean(some, axis=0)
        kept = (rate - chance) / (learnt_from_the_original() - chance)
        assert f"{round(100 * given)} given away, {round(100 * kept)} [" in said["dots"]


def test_what_is_linked(said):
    def mean(column, **where):
        some = [r for r in rows("linkage") if r["threat"] == "original" and r["candidates"] == "1000"]
        return np.mean([float(r[column]) for r in some if all(r[k] == v for k, v in where.items())])

    cases = [{"defence": "custext+", "epsilon": "1.0"}] + [
        {"defence": "santext", "epsilon": e} for e in ("1.0", "2.0")
    ]
    drawn = [{(r["dataset"], r["seed"]) for r in rows("linkage") if one.items() <= r.items()} for one in cases]
    assert all(len({corpus for corpus, _ in one}) == 2 and len(one) == 6 for one in drawn)
    index = (ROOT / "book" / "pages" / "index.md").read_text(encoding="utf-8")
    assert "{{ linked }} Means over two corpora and three draws" in index
    first, second, third = (round(100 * mean("main", **one)) for one in cases)
    first = 99 if 0.995 <= mean("main", **cases[0]) < 1 else first  # "more than 99"
    length = round(100 * np.mean([mean("baseline", **one) for one in cases]))
    assert numbers(said["linked"].replace("1,000", "")) == [1, first, 100, second, 1, third, 2, length]


def test_what_became_of_the_published_numbers(said):
    board = [(r["verdict"], r["trivial"]) for r in rows("scoreboard")]
    counts = [sum(one == (name, "") for one in board) for name in ("agrees", "differs", "undecided")]
    claims = [r["verdict"] for r in rows("claims")]
    agreed = [r for r in rows("scoreboard") if (r["verdict"], r["trivial"]) == ("agrees", "")]
    blind = [r for r in agreed if r["mechanism_or_method"] == "Baseline (random guess)"]
    expected = [
        len(board),
        sum(counts),
        counts[0],
        len(blind),
        *counts[1:],
        len(claims),
        claims.count("does not hold"),
        claims.count("holds"),
    ]
    assert numbers(said["published"]) == expected
    shown = front_pictures.PARTS["published numbers"](ROOT)
    assert shown.partition('class="legend"')[0].count("<i ") == len(board)
    assert f"{counts[0]} agree ({len(blind)} are blind guesses)" in shown


def test_the_sentence_is_the_one_that_the_chapter_printed():
    marked = front.reading(ROOT)
    assert [*marked] == ["written", "released", "read back"] and len({len(one) for one in marked.values()}) == 1
    for (written, _), (word, kind) in zip(marked["written"], marked["read back"], strict=True):
        assert (word == written) == (kind in ("hit", "kept"))


def test_pictures_say_how_many_draws_they_rest_on(said):
    drawn = front.budgets(ROOT)
    assert [one.epsilon for one in drawn] == [1, 2, 4, 8]
    for one in drawn:
        assert len({*one.seeds}) == len(one.seeds) == 3  # a headline
    assert f"{front.draws(drawn[0].seeds)} at each ε" in said["bars"]


def test_a_segment_too_narrow_for_its_number_has_none():
    drawn = front.budgets(ROOT)
    narrow = [one for one in drawn if one.counted.value - one.unchanged.value <= 0.06]
    assert narrow  # else nothing is tested
    for one in drawn:
        svg, _ = front_pictures.bars([one])
        numbers = re.findall(r">(\d+)</text>", svg)
        assert len(numbers) == 3 - (one in narrow)


def test_the_card_is_a_picture_of_the_size_that_previews_ask_for(tmp_path):
    from PIL import Image

    front_pictures.card(front.budgets(ROOT), "A title", tmp_path / "card.png")
    with Image.open(tmp_path / "card.png") as picture:
        assert picture.size == (1200, 630)


def test_the_short_path_takes_about_ninety_minutes():
    stops = reading_paths.short_path(ROOT)
    assert 80 <= sum(one.minutes for one in stops) <= 100
    assert stops[0].page == "book/pages/index" and len({one.page for one in stops}) == len(stops)


def test_a_section_that_is_not_there_is_named():
    with pytest.raises(KeyError, match="has no section 'Nowhere'"):
        reading_paths.minutes(ROOT, "notebooks/03-the-context-free-optimum", ["Nowhere"])


def test_each_chapter_is_in_one_part_whose_page_lists_it_with_its_time():
    parts = yaml.safe_load((ROOT / "book" / "parts.yml").read_text(encoding="utf-8"))
    numbers = sorted(number for part in parts for number in part["chapters"])
    assert numbers == [int(path.name[:2]) for path in sorted((ROOT / "book").glob("[0-9]*.md"))]
    said, toc = reading_paths.parts(ROOT), (ROOT / "_toc.yml").read_text(encoding="utf-8")
    for part in parts:
        name = part["page"].replace("part-", "chapters_").replace("-", "_")
        text = (ROOT / "book" / "pages" / f"{part['page']}.md").read_text(encoding="utf-8")
        assert f"{{{{ {name} }}}}" in text and part["question"] in text and "{stored-figure}" in text
        assert f"book/pages/{part['page']}\n" in toc
        assert said[name].count("\N{NO-BREAK SPACE}min") == len(part["chapters"])
    assert "Chapter 8, {doc}`/notebooks/08-" in said["chapters_foundations"].partition("In the appendix:")[2]
