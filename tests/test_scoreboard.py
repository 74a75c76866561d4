"""The scoreboard on planted tables, where the verdict is known, and the committed one against its tables."""

import importlib.util
import json
import math
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml

from textsan import Channel
from textsan.attacks import ContextFreeBayes
from textsan.evaluation import Estimate, bootstrap_difference
from textsan.report import claims, scoreboard
from textsan.report.tables import crossed, difference, estimate, load_tables, over, ratio, select

ROOT = Path(__file__).parents[1]
SPEC = yaml.safe_load((ROOT / "data" / "scoreboard.yml").read_text(encoding="utf-8"))
PUBLISHED = pd.read_csv(ROOT / "data" / "paper_numbers.csv", dtype=str, keep_default_na=False).to_dict("records")


def row(attack, asr, *, half=0.01, **more):
    """One row of a sweep's table, as far as the scoreboard reads it."""
    given = {"dataset": "sst2", "shadow_dataset": None, "n_private": 20000, "n_shadow": 1000, "seed": 0}
    given |= {"defence": "custext+", "epsilon": 4.0, "n_positions": 3000, "seconds": 6.0}
    given |= {"defence_parameters": {"k": 20, "mapping": "overlapping"}, "attack": attack, "attack_parameters": {}}
    given |= {"asr": asr, "low": asr - half, "high": asr + half} | more
    parameters = ("defence_parameters", "attack_parameters")
    return given | {name: json.dumps(given[name]) for name in parameters}


@pytest.fixture
def root(tmp_path):
    """A repository with one published number, 0.5 under CusText+ at epsilon 4, and no result table."""
    results = tmp_path / "data" / "results"
    results.mkdir(parents=True)

    def write(rows, name="full.csv"):
        pd.DataFrame(rows).to_csv(results / name, index=False)

    def board(value="0.5", metric="ASR", **rule):
        entry = ["P", "T", "SST-2", "Attack", "defense=CUSTEXT+; epsilon=4.0", metric, value]
        columns = ["paper", "table_or_figure", "dataset", "mechanism_or_method", "setting", "metric", "value"]
        pd.DataFrame([entry], columns=columns).to_csv(tmp_path / "data" / "paper_numbers.csv", index=False)
        where = {"dataset": "=dataset", "epsilon": "=epsilon", "attack": "x"}
        rules = rule.pop("rules", [{"rows": {"paper": "P"}, "tables": "full*.csv", "where": where} | rule])
        spec = {"ours": {"SST-2": "sst2"}, "published": rules, "claims": []}
        (tmp_path / "data" / "scoreboard.yml").write_text(yaml.safe_dump(spec))
        return scoreboard.build(tmp_path).iloc[0]

    board.write = write
    return board


# The committed tables


def test_committed_scoreboard_is_what_the_committed_tables_give():
    for name, frame in (("scoreboard", scoreboard.build(ROOT)), ("claims", scoreboard.build_claims(ROOT))):
        committed = (ROOT / "data" / "results" / f"{name}.csv").read_text(encoding="utf-8")
        assert frame.to_csv(index=False, lineterminator="\n") == committed, "run textsan.report.scoreboard"


def test_every_published_number_is_there_once_as_printed():
    frame = scoreboard.build(ROOT)
    assert frame[list(PUBLISHED[0])].to_dict("records") == PUBLISHED
    assert len({tuple(one.values()) for one in PUBLISHED}) == len(PUBLISHED)
    assert set(frame.verdict) <= {"agrees", "differs", "not comparable", "not run"}
    assert (frame.reason != "").all()
    compared = frame[frame.verdict.isin(["agrees", "differs"])]
    assert (compared.substitution != "").all() and compared.ours.notna().all()


def test_without_tables_nothing_is_claimed(tmp_path):
    for name in ("paper_numbers.csv", "scoreboard.yml"):
        (tmp_path / "data").mkdir(exist_ok=True)
        (tmp_path / "data" / name).write_bytes((ROOT / "data" / name).read_bytes())
    assert set(scoreboard.build(tmp_path).verdict) == {"not run", "not comparable"}
    assert scoreboard.build(tmp_path).ours.isna().all()
    assert set(scoreboard.build_claims(tmp_path).verdict) == {"not run"}


def test_every_entry_of_the_mapping_finds_a_published_row_and_all_that_it_asks_of_it():
    known = [one | scoreboard.settings(one["setting"]) for one in PUBLISHED]
    allowed = "rows ours tables where against quantity column scale band relative_band not_comparable substitution"
    for rule in SPEC["published"]:
        assert set(rule) <= set(allowed.split())
        fitting = [one for one in known if scoreboard._fits(rule["rows"], one)]
        assert fitting, rule["rows"]
        for one in fitting:
            for side in ("where", "against"):
                scoreboard._filled(rule.get(side, {}), one, rule.get("ours", SPEC["ours"]))
        assert "tables" in rule or "not_comparable" in rule
        assert "tables" not in rule or "substitution" in rule or rule["rows"]["table_or_figure"] in SETTINGS


SETTINGS = ("Sec 5.1", "Fig 4", "App B", "App D; App F.2", "App F.1", "App F")


def test_every_claim_names_a_rule_that_takes_what_it_gives():
    cells = [("a", Estimate(0.0, -0.1, 0.1))]
    for one in SPEC["claims"]:
        given = {"tolerance": one["tolerance"]} if "tolerance" in one else {}
        assert claims.RULES[one["test"]](cells, **given).verdict in ("holds", "does not hold")
    assert len({one["claim"] for one in SPEC["claims"]}) == len(SPEC["claims"])


# The verdict


@pytest.mark.parametrize(
    ("asr", "expected"),
    [
        (0.5, "agrees"),
        (0.525, "agrees"),
        (0.529, "differs"),
        (0.475, "agrees"),
        (0.471, "differs"),
        (0.9, "differs"),
    ],
)
def test_planted_numbers_are_told_apart(root, asr, expected):
    # Half-widths: ours 0.01, the paper's 1.96 * 0.5 / sqrt(3000) = 0.0179.
    root.write([row("x", asr)])
    found = root()
    assert found.verdict == expected and found.ours == asr
    assert found.band == pytest.approx(1.96 * 0.5 / math.sqrt(3000), abs=1e-4)
    assert ("higher" in found.reason) == (expected == "differs" and asr > 0.5)


def test_the_band_is_that_of_the_papers_positions(root):
    root.write([row("x", 0.5)])
    assert root(band=0.0).band == 0.0 and root(relative_band=0.1).band == pytest.approx(0.05)
    assert root(column="n_private").verdict == "differs" and root("20000", column="n_private").verdict == "agrees"


@pytest.mark.parametrize(("limit", "asr", "expected"), [("upper", 0.2, "agrees"), ("upper", 0.9, "differs")])
def test_limits_agree_on_one_side(root, limit, asr, expected):
    root.write([row("x", asr)])
    assert root(metric=f"ASR ({limit} limit)").verdict == expected
    other = {"agrees": "differs", "differs": "agrees"}[expected]
    assert root(metric="ASR (lower limit)").verdict == other


def test_missing_tables_and_rows_are_not_run(root):
    assert root().verdict == "not run" and "full*.csv" in root().reason
    root.write([row("another", 0.5), row("x", 0.5, epsilon=2.0), row("x", 0.5, dataset="rt")])
    assert root().verdict == "not run" and math.isnan(root().ours)
    assert root(rules=[]).reason == "no experiment here asks this"


def test_a_number_that_is_not_printed_is_not_comparable(root):
    assert root("").verdict == "not comparable"


def test_the_first_entry_whose_rows_are_there_is_used(root):
    where = {"dataset": "=dataset", "attack": "x"}
    first = {"rows": {"paper": "P"}, "tables": "full.csv", "where": where, "substitution": "none"}
    second = first | {"ours": {"SST-2": "rt"}, "substitution": "rt", "not_comparable": "other text"}
    root.write([row("x", 0.7, dataset="rt")])
    found = root(rules=[first, second])
    assert (found.verdict, found.reason, found.substitution, found.ours) == (
        "not comparable",
        "other text",
        "rt",
        0.7,
    )
    root.write([row("x", 0.5), row("x", 0.7, dataset="rt")])
    assert root(rules=[first, second]).substitution == "none"


def test_several_rows_are_refused(root):
    root.write([row("x", 0.5), row("x", 0.6, seed=1)])
    with pytest.raises(ValueError, match="several rows in full"):
        root()


@pytest.mark.parametrize(("quantity", "value"), [("difference", 0.16), ("ratio", 1.47), ("relative gain", 47.06)])
def test_comparisons_of_two_attacks(root, quantity, value):
    root.write([row("x", 0.5), row("y", 0.34)])
    found = root(quantity=quantity, against={"attack": "y"}, value=str(value * 1.05))
    assert found.ours == pytest.approx(value, rel=1e-3) and found.ours_low < found.ours < found.ours_high
    assert found.verdict == "agrees"
    assert root(quantity=quantity, against={"attack": "y"}, value=str(value * 1.9)).verdict == "differs"


# Reading tables


def test_parameters_become_columns_and_comments_are_skipped(tmp_path):
    rows = [row("x", 0.5, attack_parameters={"k": 5, "departure": None}), row("x", 0.5, shadow_dataset="qnli")]
    text = pd.DataFrame(rows).to_csv(index=False)
    (tmp_path / "a.csv").write_text("# made by hand\n# twice\n" + text)
    (tmp_path / "b.csv").write_text("task,seconds\nx,1\n")
    frame = load_tables(tmp_path, ["*.csv", "a.csv"])
    assert len(frame) == 3 and list(frame.table) == ["a.csv", "a.csv", "b.csv"]
    assert frame["defence.mapping"].tolist()[:2] == ["overlapping"] * 2
    assert frame["attack.k"][0] == 5 and pd.isna(frame["attack.k"][1]) and frame["attack.departure"].isna().all()
    assert frame.own_shadow.tolist()[:2] == [True, False] and len(select(frame, {"own_shadow": False})) == 1
    assert frame.shadow_ratio[0] == 5.0 and frame.minutes_per_1000[0] == pytest.approx(1 / 30)
    assert load_tables(tmp_path, "none*.csv").empty


def test_select_compares_numbers_words_and_empty_cells():
    rows = pd.DataFrame(
        {"k": [5, None, 10], "mapping": ["Disjoint", "overlapping", None], "yes": [True, False, None]}
    )
    assert select(rows, {"k": 5.0}).index.tolist() == [0]
    assert select(rows, {"k": [10, None]}).index.tolist() == [1, 2]
    assert select(rows, {"mapping": "disjoint", "absent": None}).index.tolist() == [0]
    assert select(rows, {"yes": False}).index.tolist() == [1]
    assert select(rows, {"absent": 1}).empty


def test_differences_are_paired_where_the_table_is():
    ours = row("x", 0.5) | {"over y": 0.1, "over y low": 0.09, "over y high": 0.12}
    theirs = row("y", 0.4)
    assert difference(ours, theirs) == Estimate(0.1, 0.09, 0.12)
    assert difference(theirs, ours) == Estimate(-0.1, -0.12, -0.09)
    other_positions = theirs | {"n_positions": 10}
    unpaired = difference(ours, other_positions)
    assert unpaired.high - unpaired.low == pytest.approx(0.02 * math.sqrt(2))
    assert ratio(ours, theirs).value == pytest.approx(1.25)
    assert estimate({"a": 1.0, "a_low": 0.5, "a_high": float("nan")}, "a") == Estimate(1.0, 0.5, 1.0)


def test_settings_are_read_as_printed():
    text = "defense=SANTEXT+; epsilon=4.0 [as printed; probably 2.4]; constant=0.1 x alpha^-1; K=1"
    expected = {"defense": "SANTEXT+", "epsilon": "4.0 [as printed", "constant": "0.1 x alpha^-1", "K": 1.0}
    assert scoreboard.settings(text) == expected


# Claims


def judged(tmp_path, rows, **claim):
    pd.DataFrame(rows).to_csv(tmp_path / "t.csv", index=False)
    claim = {
        "claim": "c",
        "place": "p",
        "tables": "t.csv",
        "left": {"attack": "x"},
        "right": {"attack": "y"},
    } | claim
    return claims.judge([claim], tmp_path).iloc[0]


def test_planted_claims_are_told_apart(tmp_path):
    rows = [row("x", 0.6), row("y", 0.5), row("x", 0.5, epsilon=8.0), row("y", 0.5, epsilon=8.0)]
    assert judged(tmp_path, rows, test="above").verdict == "holds"
    assert judged(tmp_path, rows, test="above").value == pytest.approx(0.05)
    assert judged(tmp_path, rows, test="at most").verdict == "does not hold"
    assert judged(tmp_path, rows, test="at most").value == pytest.approx(0.1)
    assert judged(tmp_path, rows, test="at most", tolerance=0.2).verdict == "holds"
    assert judged(tmp_path, rows, test="within", where={"epsilon": 8}).verdict == "holds"
    swapped = {"left": {"attack": "y"}, "right": {"attack": "x"}}
    assert judged(tmp_path, rows, test="at most", **swapped).verdict == "holds"
    assert judged(tmp_path, rows, test="within", **swapped).verdict == "does not hold"
    assert judged(tmp_path, rows, test="above", **swapped).verdict == "does not hold"
    assert "1 of 2 cells" in judged(tmp_path, rows, test="at most").reason


def test_cells_are_matched_and_a_claim_may_vary_along_one_column(tmp_path):
    rows = [row("x", 0.6, n_shadow=1600), row("x", 0.5, n_shadow=200), row("x", 0.9, n_shadow=200, dataset="rt")]
    sides = {"left": {"attack": "x", "shadow_ratio": 8}, "right": {"attack": "x", "shadow_ratio": 1}}
    assert judged(tmp_path, rows, test="above", **sides).verdict == "not run"
    found = judged(tmp_path, rows, test="above", free=["n_shadow"], **sides)
    assert found.verdict == "holds" and found.value == pytest.approx(0.1) and found.tables == "t.csv"


def test_rows_that_differ_in_a_free_column_are_all_compared(tmp_path):
    rows = [row("x", 0.6), row("x", 0.5, shadow_dataset="qnli"), row("x", 0.1, shadow_dataset="rt")]
    sides = {"left": {"own_shadow": True}, "right": {"own_shadow": False}}
    found = judged(tmp_path, rows, test="at most", tolerance=0.2, free=["shadow_dataset"], **sides)
    assert found.verdict == "does not hold"
    assert found.value == pytest.approx(0.5) and "1 of 2 cells" in found.reason


def test_columns_of_one_row_can_be_compared(tmp_path):
    accuracy = {"after": 0.7, "after_low": 0.65, "after_high": 0.75, "before": 0.5}
    sides = {"left": {"attack": "x", "column": "after"}, "right": {"attack": "x", "column": "before"}}
    assert judged(tmp_path, [row("x", 0.5) | accuracy], test="above", **sides).low == pytest.approx(0.15)


def test_several_rows_in_a_cell_are_refused(tmp_path):
    with pytest.raises(ValueError, match="several rows"):
        judged(tmp_path, [row("x", 0.6), row("x", 0.5), row("y", 0.5)], test="above")
    assert judged(tmp_path, [row("x", 0.6), row("x", 0.6), row("y", 0.5)], test="above").verdict == "holds"


# Departures


@pytest.fixture(scope="module")
def departures():
    path = ROOT / "benchmarks" / "departures.py"
    spec = importlib.util.spec_from_file_location("departures", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_expected_success_is_the_sum_over_outputs(departures):
    generator = np.random.default_rng(0)
    inputs, outputs = ["art", "artful", "tea", "part"], ["u", "v", "w", "x", "y"]
    matrix = generator.dirichlet(np.ones(5), size=4)
    channel = Channel.from_matrix(matrix, inputs, outputs)
    attack = ContextFreeBayes(channel, {"art": 3, "artful": 5, "part": 4, "tea": 2})
    guesses = attack.reconstruct([outputs], [(0, i) for i in range(5)])
    answers = departures.answers(attack)
    assert [inputs[i] for i in answers] == guesses and len(set(guesses)) > 1
    among = np.array([1.0, 0.0, 1.0, 1.0, 0.0])
    for hit, right in ((departures.equal, str.__eq__), (departures.contained, str.__contains__)):
        table = np.array([[right(guess, word) for guess in guesses] for word in inputs])
        marks = hit(channel, answers)
        np.testing.assert_allclose(departures.expected(channel, marks), (matrix * table).sum(axis=1))
        np.testing.assert_allclose(departures.expected(channel, marks, among), (matrix * table) @ among)


def test_effects_resample_both_sides_together(departures):
    words = np.full(400, 10.0)
    hits = np.random.default_rng(0).binomial(10, 0.3, size=400).astype(float)
    same = bootstrap_difference(departures.Score(hits + 1, words), departures.Score(hits, words), seed=0)
    assert same == pytest.approx((0.1, 0.1, 0.1))
    other = np.random.default_rng(1).binomial(10, 0.3, size=400).astype(float)
    pair = departures.Score(other, words), departures.Score(hits, words)
    value, low, high = bootstrap_difference(*pair, seed=0)
    assert low < value < high
    assert high - low == pytest.approx(2 * 1.96 * math.sqrt(2 * 0.21 / 4000), rel=0.15)


def test_committed_departures_say_what_must_be_so():
    table = pd.read_csv(ROOT / "data" / "results" / "departures.csv").set_index("departure")
    assert np.allclose(table.released - table.described, table.effect, atol=2e-5)
    assert (table.low <= table.effect + 1e-9).all() and (table.effect <= table.high + 1e-9).all()
    assert (table.effect["hits are counted by substring"] >= 0).all()
    assert (table.effect["all shadow tokens are counted"] == 0).all()
    assert (table.effect["the bound's prior counts whole sentences"] < 0).all()
    counters = table.loc["counters are never reset between epsilons"].set_index("epsilon").effect
    assert counters[1.0] == 0 and (counters.diff().dropna() < 0).all()


def test_published_rates_of_the_papers_first_table():
    paper = pd.DataFrame(PUBLISHED)
    paper = paper[paper.paper == "Tong 2024"]
    rates = scoreboard.published_rates(paper, "Table 1", "contextual bayesian attack", "K", 1000)
    assert list(rates) == [1, 5, 10, 15, 20] and rates[1].value == 0.47
    assert rates[1].high - 0.47 == pytest.approx(0.031, abs=1e-3) == 0.47 - rates[1].low
    ratios = scoreboard.published_rates(
        paper, "Table 2", "Contextual Bayesian Attack", "shadow/private size ratio", 1000
    )
    assert list(ratios) == [1, 3, 5, 8]


def test_crossed_cells_keep_their_order_and_leave_gaps():
    rows = pd.DataFrame([row("x", 0.3), row("y", 0.2), row("x", 0.1, n_shadow=50)])
    found = crossed(rows, "n_shadow", "attack")
    assert list(found.index) == [1000, 50] and list(found.columns) == ["x", "y"]
    assert found.x[50] == pytest.approx((0.1, 0.09, 0.11)) and found.y[50] is None


def test_a_gain_over_an_attack_is_read_or_missing():
    assert over(row("x", 0.3, **{"over y": 0.1, "over y low": 0.0, "over y high": 0.2}), "y") == Estimate(
        0.1, 0, 0.2
    )
    assert over(row("x", 0.3), "y") is None
