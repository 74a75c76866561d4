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


def test_losses_and_exposures_of_both_rules_are_of_one_mechanism():
    whole = read("utility-sst2-original", **{"task.text": "original"})
    for line in learning.published_losses():
        at = {"defence": "custext+", "epsilon": f"{line['ε']:.1f}"}
        drawn = read("utility-sst2", **at, **{"task.text": "released"})
        kept = read("utility-oov", **at)
        assert line["drawn"].value == pytest.approx(lead(whole, drawn), abs=1e-9)
        assert line["kept"].value == pytest.approx(lead(whole, kept), abs=1e-9)
        exposures = mean(read("utility-sst2-exposure", **at), "exposure")
        others = read("utility-oov-exposure", vocabulary="10000", **at)
        assert line["exposure drawn"] == pytest.approx(exposures)
        assert line["exposure kept"] == pytest.approx(mean(others, "exposure"))
        assert line["exposure kept"] - exposures == pytest.approx(line["unlisted"], abs=1e-4)


@pytest.mark.parametrize(
    ("rule", "tables", "where"),
    [
        ("draw", ("utility-sst2",), {"task.text": "released"}),
        ("keep", ("utility-oov", "utility-oov-between"), {"defence.oov": "keep"}),
    ],
)
def test_steps_of_an_accuracy_are_counted_from_the_signs(rule, tables, where):
    found = [line for line in learning.steps(rule) if line["data"] == "sst2"]
    between = [line for line in found if line["step"] == "CusText+ ≥ SanText"]
    assert [line["ε"] for line in between] == [1, 2, 3]
    for line in between:
        epsilon = f"{line['ε']:.1f}"
        pair = [read(*tables, defence=name, epsilon=epsilon, **where) for name in ("custext+", "santext")]
        assert line["gap"].value == pytest.approx(lead(*pair), abs=1e-9)
        assert (line["verdict"] == "as expected") == (line["gap"].low > 0)


def test_printed_gains_have_the_sign_of_an_attackers_success():
    printed = learning.printed_gains()
    truth = [0.6208 - 0.6084, 0.7731 - 0.7548, 0.8830 - 0.8698, 0.6037 - 0.5822, 0.7309 - 0.7143, 0.8369 - 0.8265]
    assert printed["learner"] == pytest.approx(truth)
    assert printed["mask inference"] == pytest.approx([-0.0089, -0.0101, 0.0046, -0.0076, 0.0047, 0.0039])
