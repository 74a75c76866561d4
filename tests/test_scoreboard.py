"""The scoreboard on planted tables, where the verdict is known, and the committed one against its tables."""

import json
import math
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from textsan import Channel
from textsan.attacks import ContextFreeBayes
from textsan.evaluation import Estimate
from textsan.sweeps.tables import difference, estimate, load_tables, ratio, select
from textsan_book.judging import scoreboard, verdicts
from textsan_book.judging.paper_numbers import NUMBERS, Entry, printed
from textsan_book.studies import departures

ROOT = Path(__file__).parents[1]
PUBLISHED = pd.read_csv(ROOT / "data" / "paper_numbers.csv", dtype=str, keep_default_na=False).to_dict("records")
BOARD = scoreboard.build(ROOT)
TESTED = ("agrees", "differs", "undecided")
COMPARED = BOARD[BOARD.verdict.isin(TESTED)]


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

    def board(
        value="0.5", metric="ASR", settings=("defense=CUSTEXT+; epsilon=4.0",), copies=1, entries=None, **rule
    ):
        rows = [["P", "T", "SST-2", "Attack", setting, metric, value] for setting in settings]
        columns = ["paper", "table_or_figure", "dataset", "mechanism_or_method", "setting", "metric", "value"]
        pd.DataFrame(rows * copies, columns=columns).to_csv(tmp_path / "data" / "paper_numbers.csv", index=False)
        where = {"dataset": printed("dataset"), "epsilon": printed("epsilon"), "attack": "x"}
        if entries is None:
            entries = [Entry({"paper": "P"}, **{"tables": "full*.csv", "where": where} | rule)]
        return scoreboard.build(tmp_path, entries).iloc[0]

    board.write = write
    return board


# The committed tables


def test_committed_scoreboard_is_what_the_committed_tables_give():
    for name, frame in (("scoreboard", BOARD), ("claims", scoreboard.build_claims(ROOT))):
        committed = (ROOT / "data" / "results" / f"{name}.csv").read_text(encoding="utf-8")
        assert frame.to_csv(index=False, lineterminator="\n") == committed, f"textsan sweep data/sweeps/{name}.yml"


def test_every_published_number_is_there_once_as_printed():
    assert len(PUBLISHED) == 631 and len({one["paper"] for one in PUBLISHED}) == 5
    assert BOARD[list(PUBLISHED[0])].to_dict("records") == PUBLISHED
    assert len({tuple(one.values()) for one in PUBLISHED}) == len(PUBLISHED)
    assert set(BOARD.verdict) <= set(verdicts.VERDICTS)
    assert (BOARD.reason != "").all()
    assert (COMPARED.substitution != "").all() and COMPARED.ours.notna().all() and (COMPARED.seeds > 0).all()


def test_no_verdict_rests_on_a_detector_that_has_not_passed():
    for row in COMPARED.to_dict("records"):
        rows = load_tables(ROOT / "data" / "results", row["tables"].split())
        asked = (
            rows[[str(name).casefold() in verdicts.DETECTORS for name in rows.attack]] if "attack" in rows else ()
        )
        if "ontextual" in row["mechanism_or_method"] and "K=1;" not in row["setting"] + ";" and len(asked):
            assert (asked.gate == "passed").any()


def test_without_tables_nothing_is_claimed(tmp_path):
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "paper_numbers.csv").write_bytes((ROOT / "data" / "paper_numbers.csv").read_bytes())
    board = scoreboard.build(tmp_path)
    assert set(board.verdict) == {"not run", "not comparable", "no result"}
    assert board.ours.isna().all()
    assert set(scoreboard.build_claims(tmp_path).verdict) == {"not run", "not comparable"}


def test_every_entry_finds_a_published_row_and_all_that_it_asks_of_it():
    known = [one | scoreboard.settings(one["setting"]) for one in PUBLISHED]
    for entry in NUMBERS:
        fitting = [one for one in known if scoreboard._fits(entry.rows, one)]
        assert fitting, entry.rows
        for one in fitting:
            for where in (entry.where, entry.against):
                scoreboard._filled(where, one)
        assert entry.tables or entry.not_comparable or entry.no_result or entry.not_run
        assert not entry.tables or entry.substitution or entry.no_result
        assert not entry.not_comparable or entry.not_comparable in verdicts.NOT_COMPARABLE
        assert not entry.no_result or entry.no_result in verdicts.NO_RESULT


# A world where ours is the truth of every published number


@pytest.fixture
def many(tmp_path):
    """A repository with rates of many cells, and our table with what `ours` makes of each of them."""
    generator = np.random.default_rng(0)
    rates = generator.uniform(0.1, 0.9, size=24).round(3)
    columns = ["paper", "table_or_figure", "dataset", "mechanism_or_method", "setting", "metric", "value"]

    def board(ours, published=rates, half=0.002):
        rows = [
            ["P", f"T{i // 8}", "SST-2", "A", f"defense=CUSTEXT+; epsilon={i}", "ASR", str(rate)]
            for i, rate in enumerate(published)
        ]
        (tmp_path / "data" / "results").mkdir(parents=True, exist_ok=True)
        pd.DataFrame(rows, columns=columns).to_csv(tmp_path / "data" / "paper_numbers.csv", index=False)
        made = [row("x", one, half=half, epsilon=float(i)) for i, one in enumerate(ours(rates, generator))]
        pd.DataFrame(made).to_csv(tmp_path / "data" / "results" / "full.csv", index=False)
        entry = Entry({"paper": "P"}, "full.csv", {"epsilon": printed("epsilon"), "attack": "x"})
        return scoreboard.build(tmp_path, [entry]).verdict.tolist()

    board.rates = rates
    return board


def noisy(rates, generator):
    """Ours, measured with a half width of 0.002 where the published numbers are the truth."""
    return rates + generator.normal(scale=0.001, size=len(rates))


def test_shuffling_the_published_numbers_between_cells_destroys_agreement(many):
    rates = many.rates
    assert many(noisy) == ["agrees"] * len(rates)
    # Chance: how often the number of another cell happens to be within the margin.
    margin = 1.96 * np.sqrt(rates * (1 - rates) / 3000)
    chance = (np.abs(rates[:, None] - rates) < margin[:, None]).sum() - len(rates)
    chance /= len(rates) - 1
    agree = [many(noisy, np.random.default_rng(s).permutation(rates)).count("agrees") for s in range(20)]
    assert np.mean(agree) <= chance + 3 * np.std(agree) / math.sqrt(20) + 1 and chance < len(rates) / 8


def test_numbers_that_are_a_little_off_never_agree_by_lack_of_power(many):
    # Half widths of 0.2 contain everything; a rule of overlap would call all of it agreement.
    assert "agrees" not in many(lambda rates, _: rates + 0.05, half=0.2)
    assert many(lambda rates, _: rates, half=0.2) == ["undecided"] * len(many.rates)
    assert many(lambda rates, _: rates + 0.09, half=0.002) == ["differs"] * len(many.rates)


def test_committed_agreement_does_not_survive_an_exchange_within_columns():
    """Published numbers are exchanged within columns of the tables of which some agree; trivial rows stay out."""
    some = COMPARED[(COMPARED.trivial == "") & ~COMPARED.metric.str.contains("limit")]
    some = some[some.duplicated(["paper", "table_or_figure"], keep=False)]
    agree = (some.verdict == "agrees").sum()
    tables = [table for _, table in some.groupby(["paper", "table_or_figure"])]
    found = []
    for seed in range(20):
        generator = np.random.default_rng(seed)
        found.append(sum(scoreboard.exchanged(table, generator).count("agrees") for table in tables))
    assert 0 < agree and np.mean(found) <= agree / 2


# One number


def test_planted_numbers_are_told_apart(root):
    # The published half width is 1.96 sqrt(0.25 / 3000) = 0.0179, and so is the margin; ours is 0.002.
    for asr in (0.5, 0.516, 0.53, 0.471, 0.9):
        expected = "agrees" if asr in (0.5, 0.516) else "differs"
        root.write([row("x", asr, half=0.002)])
        found = root()
        assert (found.verdict, found.ours) == (expected, asr)
        assert found.margin == pytest.approx(1.96 * 0.5 / math.sqrt(3000), abs=1e-4)
        assert ("higher" in found.reason) == (expected == "differs" and asr > 0.5)
    root.write([row("x", 0.5, half=0.03)])
    assert root().verdict == "undecided" and "times our positions" in root().reason


def test_several_numbers_of_a_table_are_corrected_together(root):
    # Two and a half standard errors: significant alone, not as one of eight.
    root.write([row("x", 0.5 + 2.5 * math.sqrt(0.25 / 3000), half=0.0)])
    assert root().verdict == "differs" and root(copies=8).verdict == "undecided"


def test_two_protocols_are_never_mixed_beside_one_row_of_a_table(root):
    root.write([row("x", 0.5, split_by="line"), row("z", 0.5, split_by="source", epsilon=2.0)])
    entries = [
        Entry({"epsilon": epsilon}, "full.csv", {"attack": attack}) for epsilon, attack in ((4.0, "x"), (2.0, "z"))
    ]
    settings = ("defense=CUSTEXT+; epsilon=4.0", "defense=CUSTEXT+; epsilon=2.0")
    with pytest.raises(ValueError, match="P, T, SST-2, Attack, ASR: ours is of line, .*; source, "):
        root(settings=settings, entries=entries)
    root.write([row("x", 0.5, split_by="line"), row("z", 0.5, split_by="line", epsilon=2.0)])
    assert root(settings=settings, entries=entries).ours == 0.5


def test_a_detector_counts_only_once_it_has_passed(root):
    where = {"attack": "contextual"}
    root.write([row("contextual", 0.5, half=0.002)])
    found = root(where=where)
    assert found.verdict == "detector untrained" and math.isnan(found.ours)
    root.write([row("contextual", 0.5, half=0.002, gate="failed")])
    assert root(where=where).verdict == "detector untrained"
    root.write([row("contextual", 0.5, half=0.002, gate="passed")])
    assert root(where=where).verdict == "agrees"
    root.write([row("contextual", 0.5), row("y", 0.4)])
    assert root(where={"attack": "y"}, against=where, quantity="ratio").verdict == "detector untrained"


def test_missing_tables_and_rows_are_not_run(root):
    assert root().verdict == "not run" and "full*.csv" in root().reason
    root.write([row("another", 0.5), row("x", 0.5, epsilon=2.0), row("x", 0.5, dataset="rt")])
    assert root().verdict == "not run" and math.isnan(root().ours)
    assert root(entries=[]).reason == "no experiment here asks this"
    assert root("").verdict == "not comparable"  # a number that is not printed
    with pytest.raises(ValueError, match="'mood' is no reason; the reasons are"):
        root(entries=[Entry({"paper": "P"}, not_comparable="mood")])


def test_several_rows_are_refused(root):
    root.write([row("x", 0.5), row("x", 0.6)])
    with pytest.raises(ValueError, match="several rows in full"):
        root()
    root.write([row("x", 0.5), row("x", 0.6, n_private=300, seed=1)])
    with pytest.raises(ValueError, match="several rows in full"):
        root()


@pytest.mark.parametrize(("quantity", "value"), [("difference", 0.16), ("ratio", 1.47), ("relative gain", 47.06)])
def test_comparisons_of_two_attacks(root, quantity, value):
    root.write([row("x", 0.5, half=0.002), row("y", 0.34, half=0.002)])
    found = root(quantity=quantity, against={"attack": "y"}, value=str(value * 1.02))
    assert found.ours == pytest.approx(value, rel=1e-3) and found.ours_low < found.ours < found.ours_high
    assert found.verdict == "agrees"
    assert found.margin <= {"difference": 0.03, "ratio": 0.03 / 0.34, "relative gain": 3 / 0.34}[quantity] + 1e-4
    assert root(quantity=quantity, against={"attack": "y"}, value=str(value * 1.9)).verdict == "differs"


def test_two_rates_from_different_positions_are_not_set_against_each_other(root):
    for change in ({"n_positions": 1000}, {"seed": 1}, {"vocabulary": "data"}, {"targets": "census"}):
        root.write([row("x", 0.5), row("y", 0.34) | change])
        found = root(quantity="ratio", against={"attack": "y"}, value="1.5")
        assert (found.verdict, found.reason) == ("not comparable", verdicts.NOT_COMPARABLE["positions"])


# Matched success


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
    both = pd.DataFrame({"vocabulary": ["10000", "data", "1e3", "nan"]})
    assert select(both, {"vocabulary": [10_000, 1000]}).index.tolist() == [0, 2]
    assert select(both, {"vocabulary": "nan"}).index.tolist() == [3]


def test_differences_are_paired_where_the_table_is():
    ours = row("x", 0.5) | {"over y": 0.1, "over y low": 0.09, "over y high": 0.12}
    theirs = row("y", 0.4)
    assert difference(ours, theirs) == Estimate(0.1, 0.09, 0.12)
    assert difference(theirs, ours) == Estimate(-0.1, -0.12, -0.09)
    other_size = theirs | {"n_shadow": 10}
    unpaired = difference(ours, other_size, free=["n_shadow"])
    assert unpaired.high - unpaired.low == pytest.approx(0.02 * math.sqrt(2))
    for wrong in (difference, ratio):
        with pytest.raises(ValueError, match="not from the same positions, they differ in n_shadow"):
            wrong(ours, other_size)
    assert estimate({"a": 1.0, "a_low": 0.5, "a_high": float("nan")}, "a") == Estimate(1.0, 0.5, 1.0)


def test_a_ratio_of_two_attacks_that_go_together_is_sharper():
    theirs = row("y", 0.4)
    paired = ratio(row("x", 0.5) | {"over y": 0.1, "over y low": 0.099, "over y high": 0.101}, theirs)
    apart = ratio(row("x", 0.5), theirs)
    assert paired.value == apart.value == pytest.approx(1.25)
    # As for hits that are drawn together: x hits whatever y hits, and a quarter more.
    assert (paired.high - paired.low) < (apart.high - apart.low) / 3
    errors = np.array([0.01, 0.01]) / 1.96
    together = errors[0] ** 2 - (0.001 / 1.96) ** 2 / 2
    covariance = [[errors[0] ** 2, together], [together, errors[1] ** 2]]
    draws = np.random.default_rng(0).multivariate_normal([0.5, 0.4], covariance, size=20_000)
    assert (paired.high - paired.low) / 3.92 == pytest.approx((draws[:, 0] / draws[:, 1]).std(), rel=0.05)


# Departures


def test_expected_success_is_the_sum_over_outputs():
    generator = np.random.default_rng(0)
    inputs, outputs = ["art", "artful", "tea", "part"], ["u", "v", "w", "x", "y"]
    matrix = generator.dirichlet(np.ones(5), size=4)
    channel = Channel.from_matrix(matrix, inputs, outputs)
    attack = ContextFreeBayes(channel, {"art": 3, "artful": 5, "part": 4, "tea": 2})
    guesses = attack.reconstruct([outputs], [(0, i) for i in range(5)])
    answers = departures._answers(attack)
    assert [inputs[i] for i in answers] == guesses and len(set(guesses)) > 1
    among = np.array([1.0, 0.0, 1.0, 1.0, 0.0])
    for hit, right in ((departures._equal, str.__eq__), (departures._contained, str.__contains__)):
        table = np.array([[right(guess, word) for guess in guesses] for word in inputs])
        marks = hit(channel, answers)
        np.testing.assert_allclose(departures._expected(channel, marks), (matrix * table).sum(axis=1))
        np.testing.assert_allclose(departures._expected(channel, marks, among), (matrix * table) @ among)


def test_committed_departures_say_what_must_be_so():
    table = pd.read_csv(ROOT / "data" / "results" / "departures.csv").set_index("departure")
    assert np.allclose(table.released - table.described, table.effect, atol=2e-5)
    assert (table.low <= table.effect + 1e-9).all() and (table.effect <= table.high + 1e-9).all()
    assert (table.effect["hits are counted by substring"] >= 0).all()
    # What a paper says and its code does alike is no departure, whatever another reading would change.
    assert not table.index.str.startswith(("embedding inversion", "all shadow tokens")).any()
    assert (table.effect["the bound's prior counts whole sentences"] < 0).all()
    counters = table.loc["counters are never reset between epsilons"].set_index("epsilon").effect
    assert counters[1.0] == 0 and (counters.diff().dropna() < 0).all()
