"""Stored tables of learners on sanitized text, as they are shown: means and differences by another way to them."""

import csv
import json
import statistics
from pathlib import Path

import pytest

from textsan.evaluation import Estimate
from textsan_book.judging import learning

RESULTS = Path(__file__).parents[1] / "data" / "results"
LARGE = {"papers": "papers-settings-sst2-oov", "10,000 words": "papers-settings-sst2"}
NAMES = {name: name.lower() for name in ("CusText+", "CusText", "SanText+", "SanText", "FBDD")}


def read(*names, **where):
    """Rows of files whose cells, or parameters of task and defence, have these values, as text."""
    found = []
    for name in names:
        with (RESULTS / f"{name}.csv").open(encoding="utf-8", newline="") as file:
            for row in csv.DictReader(line for line in file if not line.startswith("#")):
                for kind in ("defence", "task"):
                    given = json.loads(row.get(f"{kind}_parameters") or "{}")
                    row |= {f"{kind}.{key}": str(value) for key, value in given.items()}
                if row.get("task.words", "text") == "text":
                    found.append(row)
    chosen = [row for row in found if all(row.get(key) == value for key, value in where.items())]
    assert chosen
    return chosen


def mean(rows, column="utility"):
    return statistics.fmean(float(row[column]) for row in rows if row.get(column))


def right(rows):
    """Share of right answers by seed, counted from the signs."""
    return {row["seed"]: row["right"].count("+") / len(row["right"]) for row in rows}


def lead(rows, others):
    """Mean difference over the seeds of both."""
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


def test_printed_losses_are_those_of_the_papers():
    printed = [line["printed loss"] for line in learning.papers_size()]
    assert printed[:2] == [None, None]
    assert printed[2:] == pytest.approx([0.9050 - 0.7683, 0.9251 - 0.8516, 0.9251 - 0.8374])
    assert [line["printed"] for line in learning.published_losses()] == pytest.approx([0.1549, 0.1367])


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


def test_seeds_of_a_setting_are_as_far_apart_as_the_farthest_two():
    by_setting = {}
    for row in read(*LARGE.values(), **{"task.protocol": "fine-tuned"}):
        key = row["vocabulary"], row["defence"], row["epsilon"]
        by_setting.setdefault(key, []).append(float(row["utility"]))
    assert len(by_setting) == 9
    assert learning.spread() == pytest.approx(max(max(values) - min(values) for values in by_setting.values()))


def test_rules_are_compared_on_the_seeds_of_both_and_a_loss_is_left_without_noise():
    *lines, clear = learning.rules_at_papers_size()
    tuned = {"task.protocol": "fine-tuned"}
    for line in lines:
        listed, frequent = (read(table, **tuned, **cell(line["text"])) for table in LARGE.values())
        assert line["change"].value == pytest.approx(lead(listed, frequent), abs=1e-9)
        assert line["unlisted"] == pytest.approx(1 - mean(listed, "coverage"))
        assert line["of 10,000"] == pytest.approx(1 - mean(frequent, "coverage"))
    rows = read(LARGE["10,000 words"], **tuned, **cell(clear["text"]))
    whole = read("papers-settings-sst2-original", **tuned)
    assert clear["loss"].value == pytest.approx(lead(whole, rows), abs=1e-9) and clear["V(X | Y)"] > 0.99


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


def test_a_divided_epsilon_leaves_the_blind_guess():
    lines = {line["text"]: line for line in learning.divided()}
    santext, custext = lines["SanText at ε / d_max"], lines["CusText at ε"]
    assert santext["accuracy"].value == pytest.approx(mean(read("rescaled-sst2", defence="santext")))
    assert santext["V(X | Y)"] == pytest.approx(santext["blind"], abs=1e-4)
    where = {"defence": "custext", "epsilon": "3.0", "task.text": "released"}
    assert custext["V(X | Y)"] == pytest.approx(mean(read("utility-sst2", **where), "vulnerability"))
    assert custext["printed"] == pytest.approx((0.6985 + 0.7172 + 0.7029) / 3)


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


def test_a_longer_list_is_compared_with_keeping_at_the_same_epsilon():
    found, at = learning.task_list(), {"defence": "custext+", "epsilon": "3.0"}
    listed, kept = read("utility-oov-words", **at), read("utility-oov", **at)
    assert found["accuracy"].value == pytest.approx(lead(listed, kept), abs=1e-9)
    of_list = read("utility-oov-exposure", vocabulary="data", **at)
    assert (
        found["task's list"] == pytest.approx(mean(of_list, "exposure")) and found["task's list"] < found["kept"]
    )


@pytest.mark.parametrize("dataset", ["stsb", "qnli"])
def test_keeping_is_compared_with_drawing_for_each_mechanism_and_epsilon(dataset):
    lines = learning.keeping(dataset)
    assert len(lines) == 8
    for line in lines:
        at = {"defence": NAMES[line["mechanism"]], "epsilon": f"{line['ε']:.1f}"}
        drawn = mean(read(f"utility-{dataset}", **at, **{"task.text": "released"}))
        kept = mean(read(f"utility-oov-{dataset}", vocabulary="10000", **at, **{"defence.oov": "keep"}))
        assert line["drawn"].value == pytest.approx(drawn) and line["kept"].value == pytest.approx(kept)
        assert line["gain"].value == pytest.approx(kept - drawn, abs=1e-9)
        rule = {"defence.oov": "keep" if "CusText" in line["mechanism"] else "uniform"}
        listed = mean(read(f"utility-oov-{dataset}", vocabulary="data", **at, **rule))
        assert line["task's list"].value == pytest.approx(listed)


def test_other_tasks_have_two_protocols_and_two_texts():
    lines = learning.other_tasks()
    assert len(lines) == 6
    for line, data in zip(lines, ["stsb"] * 2 + ["qnli"] * 2 + ["cola"] * 2, strict=True):
        how = {"task.protocol": line["protocol"]}
        assert line["original"].value == pytest.approx(mean(read(f"papers-settings-{data}-original", **how)))
        assert line["released"].value == pytest.approx(mean(read(f"papers-settings-{data}", **how)))


def test_fitted_vectors_are_compared_with_glove_where_both_keep():
    for line in learning.fitted_vectors():
        at = {"defence": "custext", "epsilon": f"{line['ε']:.1f}"}
        fitted, glove = read("utility-oov-vectors", **at), read("utility-oov-between", **at)
        assert line["gain"].value == pytest.approx(lead(fitted, glove), abs=1e-9)
        kept = read("utility-oov-vectors-exposure", oov="keep", **at)
        assert line["fitted"] == pytest.approx(mean(kept, "exposure"))
        assert line["GloVe"] == pytest.approx(mean(read("utility-oov-all-exposure", oov="keep", **at), "exposure"))
        drawn = read("utility-sst2-vectors", **at), read("utility-sst2", **at, **{"task.text": "released"})
        assert line["drawn"].value == pytest.approx(lead(*drawn), abs=1e-9)
    printed = [line["printed"] for line in learning.fitted_vectors()]
    assert printed == pytest.approx([0.0132, 0.0198, 0.0269, -0.0198])


@pytest.mark.parametrize("dataset", ["sst2", "stsb", "qnli", "cola"])
def test_the_grid_has_a_mean_over_seeds_in_each_cell(dataset):
    whole, *lines, random = learning.grid(dataset)
    original = read(f"utility-{dataset}-original", **{"task.text": "original"})
    assert whole["ε = 1"].value == whole["ε = 3"].value == pytest.approx(mean(original))
    tables, released = (f"utility-{dataset}", f"utility-{dataset}-noise"), {"task.text": "released"}
    for line in lines:
        for epsilon in (1, 2, 3):
            rows = read(*tables, defence=NAMES[line["text"]], epsilon=f"{epsilon}.0", **released)
            assert len(rows) == 3 and line[f"ε = {epsilon}"].value == pytest.approx(mean(rows))
    assert random["ε = 2"].value == pytest.approx(mean(read(*tables, defence="random", **released)))


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


def test_over_the_words_of_the_task_only_santext_draws():
    lines = learning.steps("task's list")
    assert {line["step"] for line in lines} == {"SanText+ ≥ SanText"} and len(lines) == 7


def test_a_choice_on_the_test_set_never_loses():
    tables = [
        f"utility-{d}{kind}" for d in ("sst2", "stsb", "qnli", "cola") for kind in ("", "-original", "-noise")
    ]
    rows = [row for table in tables if (RESULTS / f"{table}.csv").is_file() for row in read(table)]
    gains = [float(row["best_on_test"]) - float(row["utility"]) for row in rows if row["best_on_test"]]
    assert min(gains) >= -1e-9
    assert learning.chosen_on_test() == pytest.approx((statistics.fmean(gains), max(gains)))


def test_divided_epsilons_of_pairs_are_means_over_seeds_and_epsilons():
    lines = learning.divided_pairs()
    assert len(lines) == 6
    for line in lines:
        data = {"STS-B": "stsb", "QNLI": "qnli"}[line["task"].split(",")[0]]
        rows = read(f"rescaled-{data}", defence=NAMES[line["text"]])
        assert len(rows) == 9 and line["learnt"].value == pytest.approx(mean(rows))


def test_neighbours_are_the_rows_of_both_vectors():
    lines, rows = learning.neighbours(), read("counter-fitted")
    assert len(lines) == 3 and len(rows) == 6
    for row in rows:
        (line,) = (line for line in lines if line["what"] == row["what"])
        assert line[row["vectors"]] == Estimate(*(float(row[end]) for end in ("value", "low", "high")))


def test_fitted_vectors_are_compared_over_the_exposures_that_both_reach():
    lines = learning.fitted_at_equal_exposure(points=3)
    kept = {"defence": "custext", "oov": "keep"}
    reached = []
    for table in ("utility-oov-vectors-exposure", "utility-oov-all-exposure"):
        by_seed = {}
        for row in read(table, **kept):
            by_seed.setdefault(row["seed"], []).append(float(row["exposure"]))
        reached += [(min(some), max(some)) for some in by_seed.values()]
    ends = lines[0]["exposure"], lines[-1]["exposure"]
    assert ends == pytest.approx((max(low for low, _ in reached), min(high for _, high in reached)))
    for line in lines:
        assert line["better"] in {"fitted", "undecided"} and line["gap"].low < 0.02 < line["gap"].high


def test_preparing_is_measured_for_the_learner_and_for_mask_inference():
    lines = learning.prepared()
    assert [line["ε"] for line in lines] == [4, 5]
    for line in lines:
        ready, bare = (read("utility-preparation", epsilon=f"{line['ε']}", model=m) for m in ("prepared", "bare"))
        assert line["learner"].value == pytest.approx(mean(ready) - mean(bare), abs=1e-4)
        assert line["mask inference"].value == pytest.approx(mean(ready, "mask") - mean(bare, "mask"), abs=1e-4)
        assert line["bare"].value == pytest.approx(mean(bare, "mask"))


def test_printed_gains_have_the_sign_of_an_attackers_success():
    printed = learning.printed_gains()
    truth = [0.6208 - 0.6084, 0.7731 - 0.7548, 0.8830 - 0.8698, 0.6037 - 0.5822, 0.7309 - 0.7143, 0.8369 - 0.8265]
    assert printed["learner"] == pytest.approx(truth)
    assert printed["mask inference"] == pytest.approx([-0.0089, -0.0101, 0.0046, -0.0076, 0.0047, 0.0039])


def test_readers_gain_over_bigrams_of_the_same_text():
    lines = learning.readers()
    assert len(lines) == 16
    assert [line["ε"] for line in lines[:4]] == [1, 2, 4, 8]
    assert {(line["corpus"], line["mechanism"]) for line in lines[:4]} == {("film reviews", "CusText+")}
    for line in lines:
        table = "contextual" if line["corpus"] == "film reviews" else "contextual-amazon"
        at = {"defence": NAMES[line["mechanism"]], "epsilon": f"{line['ε']:.1f}"}
        rows = [
            row for row in read(table, attack="noisy channel", **at) if '"epochs": 0.0' in row["attack_parameters"]
        ]
        assert line["gain"].value == pytest.approx(mean(rows, "over markov"), abs=1e-9)


@pytest.mark.parametrize(("dataset", "table"), [("sst2", "utility-pieces"), ("qnli", "utility-pieces-qnli")])
def test_attacks_in_the_encoders_space_are_means_of_their_rows(dataset, table):
    for line in learning.encoder_space(dataset):
        rows = read(table, epsilon=f"{line['ε']:.1f}")
        masked = read(table.replace("utility", "mask-public"), epsilon=f"{line['ε']:.1f}")
        assert line["mask inference"].value == pytest.approx(mean(masked, "asr"))
        noisy = [row for row in rows if row["attack"] == "noisy channel"]
        assert line["noisy channel"].value == pytest.approx(mean(noisy, "asr"))
        assert line["accuracy"].value == pytest.approx(mean([r for r in rows if r["task"]]))
        assert line["V(X | Y)"] == pytest.approx(mean(rows, "vulnerability"))


def test_a_folder_without_tables_is_refused(tmp_path):
    for read_tables in (learning.papers_size, learning.leads, learning.prepared, learning.encoder_space):
        with pytest.raises(ValueError, match="stored tables"):
            read_tables(results=tmp_path)
