"""Stored tables of learners on sanitized text, as they are shown: means and differences by another way to them."""

import statistics

import pytest
from stored import lines, mean

from textsan.evaluation import Estimate
from textsan_book.judging import learning

LARGE = {"papers": "papers-settings-sst2-oov", "10,000 words": "papers-settings-sst2"}
NAMES = {name: name.lower() for name in ("CusText+", "CusText", "SanText+", "SanText", "FBDD")}


def read(*names, **where):
    chosen = [row for row in lines(*names, **where) if row.get("task.words", "text") == "text"]
    assert chosen
    return chosen


def right(rows):
    return {row["seed"]: row["right"].count("+") / len(row["right"]) for row in rows}


def lead(rows, others):
    ours, theirs = right(rows), right(others)
    return statistics.fmean(ours[seed] - theirs[seed] for seed in ours.keys() & theirs.keys())


def cell(text):
    name, epsilon = text.split(", ε = ")
    return {"defence": NAMES[name], "epsilon": f"{float(epsilon):.1f}"}


def test_losses_at_the_papers_size_are_means_of_differences_on_the_same_phrases():
    original, *lines = learning.papers_size()
    tuned = {"task.protocol": "fine-tuned"}
    whole = read("papers-settings-sst2-original", **tuned)
    assert original["fine-tuned"].value == pytest.approx(mean(whole), abs=1e-5)
    for line in lines:
        rows = read(LARGE["papers"], **tuned, **cell(line["text"]))
        assert len(rows) == 3 and line["fine-tuned"].value == pytest.approx(mean(rows), abs=1e-5)
        assert line["loss"].value == pytest.approx(lead(whole, rows), abs=1e-9)
        assert line["V(X | Y)"] == pytest.approx(mean(rows, "vulnerability"))
        fixed = read(LARGE["papers"], **{"task.protocol": "frozen"}, **cell(line["text"]))
        assert line["frozen"].value == pytest.approx(mean(fixed), abs=1e-5)


def test_every_pair_of_settings_under_one_rule_is_compared_once():
    lines = learning.pairs()
    assert [sum(line["rule"] == rule for line in lines) for rule in LARGE] == [6, 10]
    for line in lines:
        cells = [cell(text) for text in line["pair"].split(" − ")]
        for how in ("frozen", "fine-tuned"):
            rows = (read(LARGE[line["rule"]], **one, **{"task.protocol": how}) for one in cells)
            assert line[how].value == pytest.approx(lead(*rows), abs=1e-9)


def test_protocols_agree_where_both_decide():
    plus, minus, open_ = Estimate(0.2, 0.1, 0.3), Estimate(-0.2, -0.3, -0.1), Estimate(0.0, -0.1, 0.1)
    both = [(plus, plus), (minus, minus), (plus, minus), (open_, plus), (minus, open_), (open_, open_)]
    found = learning.agreement([{"frozen": one, "fine-tuned": other} for one, other in both])
    assert found == {"pairs": 6, "alike": 2, "against": 1, "one alone": 2}


def test_leads_are_means_over_seeds_and_three_epsilons_of_either_side():
    ours = {"draw": ("utility-sst2", "utility-sst2-noise"), "keep": ("utility-oov", "utility-oov-between")}
    theirs = {"draw": ("rescaled-sst2",), "keep": ("rescaled-sst2-oov",)}
    columns = {
        "both draw": ("draw", "draw"),
        "only CusText keeps": ("keep", "draw"),
        "both keep": ("keep", "keep"),
    }
    released = {"task.text": "released"}
    lines = learning.leads()
    assert [line["difference"] for line in lines][1] == "CusText − FBDD"
    for line in lines:
        name, other = (NAMES[label] for label in line["difference"].split(" − "))
        means = {"ours": {}, "theirs": {}}
        for rule in ("draw", "keep"):
            rows = [row for row in read(*ours[rule], defence=name, **released) if float(row["epsilon"]) <= 3]
            means["ours"][rule] = mean(rows)
            assert len(rows) == 9
            means["theirs"][rule] = mean(read(*theirs[rule], defence=other))
        for column, (left, right_rule) in columns.items():
            gap = means["ours"][left] - means["theirs"][right_rule]
            assert line[column].value == pytest.approx(gap, abs=1e-9)
        assert line["rule"].value == pytest.approx(means["theirs"]["keep"] - means["theirs"]["draw"], abs=1e-9)
        assert line["rule"].value == pytest.approx(line["only CusText keeps"].value - line["both keep"].value)
