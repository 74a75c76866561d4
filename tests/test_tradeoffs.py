"""Utility at equal disclosure: interpolation, the rule, its errors, and stored tables read by the csv module."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from stored import lines

from textsan_book.judging import tradeoffs

ROOT = Path(__file__).parents[1]
DRAW = "utility-sst2", "utility-sst2-between", "utility-sst2-custext"
KEEP = "utility-oov", "utility-oov-between"


def signs(rate, n, generator):
    return "".join("+" if hit else "." for hit in generator.random(n) < rate)


def curve(rates, vulnerabilities, seeds=(0, 1, 2), n=400, start=0, metric="accuracy"):
    """Rows of a mechanism whose utility at each epsilon is planted."""
    made = []
    for seed in seeds:
        generator = np.random.default_rng([start, seed])
        for number, (rate, v) in enumerate(zip(rates, vulnerabilities, strict=True)):
            right = signs(rate, n, generator)
            utility = right.count("+") / n
            ends = {"utility": utility, "utility_low": utility - 0.05, "utility_high": utility + 0.05}
            row = {"seed": seed, "epsilon": float(number), "vulnerability": v, "right": right, "metric": metric}
            made.append(row | ends)
    return pd.DataFrame(made)


def test_a_planted_lead_is_found_and_is_not_where_there_is_none():
    good, bad = curve([0.6, 0.8], [0.1, 0.5]), curve([0.5, 0.6], [0.0, 0.6], start=1)
    found, verdict = tradeoffs.matched(good, bad, 0.3)
    assert verdict == "first" and found.low < 0.7 - 0.55 < found.high
    assert tradeoffs.matched(bad, good, 0.3)[1] == "second"
    same = curve([0.6, 0.8], [0.1, 0.5], start=2)
    assert tradeoffs.matched(good, same, 0.3)[1] == "undecided"


def test_rule_is_rarely_wrong_where_there_is_no_lead():
    wrong = 0
    for start in range(200):
        one, other = (curve([0.6, 0.6], [0.1, 0.5], n=200, start=10 * start + i) for i in (0, 1))
        wrong += tradeoffs.matched(one, other, 0.3)[1] != "undecided"
    assert wrong <= 0.05 * 200


def test_interpolation_is_that_of_each_example():
    rows = curve([0.2, 0.9], [0.1, 0.5], seeds=(0,), n=50)
    first, last = (tradeoffs.hits(row) for row in rows.to_dict("records"))
    assert np.allclose(tradeoffs.at(rows, 0.2)[0], 0.75 * first + 0.25 * last)
    assert np.array_equal(tradeoffs.at(rows, 0.1)[0], first) and np.array_equal(tradeoffs.at(rows, 0.5)[0], last)


def test_nothing_is_said_beyond_what_was_run():
    rows = curve([0.5, 0.6], [0.1, 0.5])
    assert tradeoffs.at(rows, 0.05) is None and tradeoffs.at(rows, 0.51) is None
    assert tradeoffs.matched(rows, rows, 0.6)[1] == "out of reach"
    assert np.allclose(tradeoffs.common_range([rows, curve([0.5, 0.6], [0.2, 0.9])], 2), [0.2, 0.5])
    assert not len(tradeoffs.common_range([rows, curve([0.5, 0.6], [0.6, 0.9])]))


def test_a_v_that_falls_is_refused():
    with pytest.raises(ValueError, match="does not rise"):
        tradeoffs.at(curve([0.5, 0.6], [0.5, 0.1]), 0.3)


def test_paired_uses_the_same_examples_and_falls_back_on_intervals():
    rows = curve([0.7], [0.1])
    flipped = rows.assign(right=[("+" if s[0] == "." else ".") + s[1:] for s in rows.right])
    found = tradeoffs.paired(rows, flipped)
    assert found.high - found.low < 0.02 and abs(found.value) < 0.01
    numbers = rows.assign(metric="Pearson r", right=None)
    assert tradeoffs.paired(numbers, numbers).value == 0 and tradeoffs.paired(numbers, numbers).high > 0.03
    with pytest.raises(ValueError, match="no seed in common"):
        tradeoffs.paired(rows, rows.assign(seed=9))
    with pytest.raises(ValueError, match="no signs"):
        tradeoffs.hits({"right": None})


def accuracies(names, defence):
    rows = lines(*names, defence=defence)
    return {(float(row["epsilon"]), row["seed"]): float(row["utility"]) for row in rows if row["utility"]}


@pytest.fixture(scope="module")
def stored():
    return tradeoffs.grid()


def test_a_row_of_the_grid_has_what_its_release_discloses(stored):
    for rows, names, other in (
        (stored, DRAW, "utility-sst2-exposure"),
        (tradeoffs.grid("keep"), KEEP, "utility-oov-all-exposure"),
    ):
        assert len(rows) == sum(len(accuracies(names, name)) for name in tradeoffs.SANITIZERS) == 90
        disclosed = {(row["defence"], row["epsilon"], row["seed"]): row for row in lines(other)}
        for row in rows.itertuples():
            found = disclosed[row.defence, str(row.epsilon), str(row.seed)]
            assert (row.common, row.exposure) == (float(found["common"]), float(found["exposure"]))


def test_what_the_original_teaches_is_the_mean_over_seeds():
    texts = [row for row in lines("utility-sst2-original") if '"words": "text"' in row["task_parameters"]]
    whole = [float(row["utility"]) for row in texts]
    assert tradeoffs.original() == pytest.approx(np.mean(whole))


def test_what_is_counted_turns_a_planted_pair_round():
    """The first is three points better at each epsilon; it discloses less of the common words and more of all."""
    first, other = curve([0.60, 0.80], [0.1, 0.5], n=2000), curve([0.55, 0.75], [0.1, 0.5], n=2000, start=1)
    first = first.assign(defence="santext+", common=first.vulnerability, exposure=first.vulnerability + 0.3)
    other = other.assign(defence="santext", common=other.vulnerability, exposure=other.vulnerability)
    rows = pd.concat([first, other])
    counted = {
        column: tradeoffs.matches(rows, column, [("santext+", "santext")], 3) for column in tradeoffs.COUNTS
    }
    assert [one["better"] for one in counted["common"]] == ["santext+"] * 3
    assert [one["better"] for one in counted["exposure"]] == ["santext"] * 3
    assert [one["at"] for one in counted["exposure"]] == pytest.approx([0.4, 0.45, 0.5])


def test_a_difference_is_that_of_accuracies_on_a_straight_line(stored):
    for column in tradeoffs.COUNTS:
        for one in tradeoffs.matches(stored, column, [("custext+", "custext")], 4):
            sides = []
            for name in one["pair"]:
                mine = stored[stored.defence == name].sort_values("epsilon")
                seeds = [np.interp(one["at"], rows[column], rows.utility) for _, rows in mine.groupby("seed")]
                sides.append(np.mean(seeds))
            assert one["difference"].value == pytest.approx(sides[0] - sides[1], abs=1e-9)
            assert one["difference"].low < one["difference"].value < one["difference"].high


def test_wins_are_counted_from_the_pairs(stored):
    found = tradeoffs.wins()
    assert len(found) == 7 and found[-1]["pair"] == "undecided, of 30"
    columns = [name for name in found[0] if name != "pair"]
    for name in columns:
        counts = [int(number) for line in found[:-1] for number in line[name].split(" : ")]
        assert sum(counts) + int(found[-1][name]) == 30
    (line,) = (line for line in found if line["pair"] == "CusText+ : CusText")
    better = [one["better"] for one in tradeoffs.matches(stored, "exposure", [("custext+", "custext")])]
    assert line["all words, draw"] == f"{better.count('custext+')} : {better.count('custext')}"


def test_releasing_unlisted_words_gains_at_each_epsilon_what_the_tables_have():
    for line, name in zip(tradeoffs.keeping(2), tradeoffs.SANITIZERS, strict=True):
        kept, drawn = accuracies(KEEP, name), accuracies(DRAW, name)
        gains = [np.mean([kept[at, s] - drawn[at, s] for s in "012"]) for at in sorted({e for e, _ in kept})]
        assert (line["least gain"].value, line["largest"].value) == pytest.approx((min(gains), max(gains)))
        assert line["better at equal ε"] == f"{len(gains)} of {len(gains)}"
        assert line["at equal exposure"].endswith(" of 2")
    unlisted = [float(row["unlisted"]) for row in lines("utility-sst2-exposure")]
    assert tradeoffs.added() == pytest.approx((min(unlisted), max(unlisted)), abs=1e-3)


def test_few_words_are_protected_by_all_four():
    unlisted = {row["seed"]: float(row["unlisted"]) for row in lines("utility-sst2-exposure")}
    shares = []
    for row in lines("utility-sst2", defence="santext+", epsilon="1.0"):
        if row["utility"]:  # listed : unlisted words among those that it is asked to protect
            odds = float(row["coverage"]) / (1 - float(row["coverage"]))
            shares.append(odds * unlisted[row["seed"]])
    assert len(shares) == 3 and tradeoffs.shared() == pytest.approx(np.mean(shares))
    assert tradeoffs.shared() < 0.15


def test_the_fine_tuned_encoder_is_that_of_the_papers_size():
    names = "papers-settings-sst2", "papers-settings-sst2-original"

    def rights(name, protocol, **wanted):
        rows = [row for row in lines(name, **wanted) if f'"protocol": "{protocol}"' in row["task_parameters"]]
        return {row["seed"]: np.array([sign == "+" for sign in row["right"]]) for row in rows}

    found = tradeoffs.tuned()
    assert found[0]["setting"] == "original text" and len(found) == 6
    shares = [line["exposure"] for line in found[1:]]
    assert shares == sorted(shares)
    (line,) = (line for line in found if line["setting"] == "SanText+, ε = 3")
    chance = float(lines(names[0])[0]["chance"])
    for protocol in ("frozen", "fine-tuned"):
        whole = np.mean([one.mean() for one in rights(names[1], protocol).values()])
        mine = rights(names[0], protocol, defence="santext+", epsilon="3.0")
        rate = np.mean([one.mean() for one in mine.values()])
        assert line[f"{protocol} keeps"].value == pytest.approx((rate - chance) / (whole - chance), abs=1e-4)
    assert found[0]["accuracy"].value == pytest.approx(whole, abs=1e-5)
    assert line["accuracy"].value == pytest.approx(rate, abs=1e-5)
    theirs = rights(names[0], "fine-tuned", defence="custext+", epsilon="3.0")
    gap = tradeoffs.tuned_difference(("santext+", 3), ("custext+", 3))["fine-tuned"]
    assert gap.value == pytest.approx(np.mean([mine[s].mean() - theirs[s].mean() for s in mine]))
    assert gap.low > 0


def test_the_yardstick_discloses_more_of_the_words_that_all_protect_and_every_document():
    found, rows = tradeoffs.yardstick(), lines("utility-sst2-frontier")
    least = min(float(row["success"]) for row in rows)
    low = [row for row in rows if float(row["success"]) == least]
    for column in tradeoffs.COUNTS:
        assert found[column] == pytest.approx(np.mean([float(row[column]) for row in low]))
    assert found["named"] == min(float(row["linked"]) for row in rows) > 0.9
    below, above = (lines("utility-sst2-exposure", defence="santext", epsilon=at) for at in ("3.0", "3.5"))
    ends = [np.mean([float(row["common"]) for row in rows]) for rows in (below, above)]
    assert ends[0] < found["santext"] < ends[1] and found["common"] > found["santext"] + 0.1
