"""Gains of attackers on words of a table: in a world whose hits are made up, and of the stored tables."""

import numpy as np
import pandas as pd
import pytest

from textsan.evaluation import Estimate, clustered_difference, clustered_rate
from textsan.sweeps.hits import packed
from textsan.sweeps.tables import pooled
from textsan_book.judging import added, stored

STEPS = {name: {"attack": name} for name in ("context-free", "markov", "mixture")}
RATES = {"context-free": 0.3, "markov": 0.4, "mixture": 0.6}


def places(rng, n=120):
    """Words of 30 sentences, a fifth of them marks, which every attacker below hits."""
    return {"document": np.arange(n) // 4, "index": np.arange(n) % 4, "source": np.arange(n) // 4} | {
        "letter": rng.random(n) < 0.8,
        "frequency": np.zeros(n, int),
        "unchanged": np.zeros(n, bool),
        "as kept": rng.random(n) < 0.1,
    }


@pytest.fixture
def world(tmp_path):
    """A table of three attackers on two corpora, two seeds and two epsilons; what each hits, by row."""
    rng, rows, hits = np.random.default_rng(0), [], {}
    for corpus in ("rt", "prose"):
        for epsilon in (1.0, 4.0):
            for seed in (0, 1):
                at = places(rng)
                for attack, rate in RATES.items():
                    hit = (rng.random(120) < rate) | ~at["letter"]
                    sure = {"hit": hit, "substring": hit, "probability": np.where(hit, 250, 100).astype(np.uint8)}
                    hits[len(rows)] = f"{corpus} {epsilon} {seed}", at | sure
                    row = {"dataset": corpus, "split_by": "source", "defence": "custext+", "epsilon": epsilon}
                    row |= {"n_shadow": 40, "seed": seed, "attack": attack, "attack_parameters": "{}"}
                    rows.append(row | {"n_positions": 120, "asr": round(hit.mean(), 5), "unchanged": 0.0})
    table = tmp_path / "table.csv"
    pd.DataFrame(rows).to_csv(table, index=False)
    table.with_suffix(".npz").write_bytes(packed(hits))
    return table, rows, {number: arrays for number, (_, arrays) in hits.items()}


def by_hand(rows, hits, where, ours, theirs=None):
    """A rate, or a difference, of two seeds, from the arrays that the world was made of."""
    seeds = []
    for seed in (0, 1):
        at = {
            row["attack"]: hits[n]
            for n, row in enumerate(rows)
            if row["seed"] == seed and where.items() <= row.items()
        }
        words, source = at[ours]["letter"], at[ours]["source"]
        found = at[ours]["hit"][words].astype(float)
        if theirs is None:
            seeds.append(clustered_rate(found, source[words]))
        else:
            seeds.append(clustered_difference(found - at[theirs]["hit"][words], source[words]))
    return pooled(seeds)


def test_a_ladder_is_a_success_and_differences_one_after_another(world):
    table, rows, hits = world
    found = added.ladder(table, STEPS, [{"epsilon": 4.0}, {"epsilon": 1.0}])
    assert [row["corpus"] for row in found] == ["film reviews", "this book"] * 2
    for row, epsilon in zip(found, (4.0, 4.0, 1.0, 1.0), strict=True):
        at = {"dataset": "rt" if row["corpus"] == "film reviews" else "prose", "epsilon": epsilon}
        assert [*row] == ["corpus", "context-free", "+ markov", "+ mixture", "in all"]
        assert row["context-free"] == pytest.approx(by_hand(rows, hits, at, "context-free"))
        assert row["+ markov"] == pytest.approx(by_hand(rows, hits, at, "markov", "context-free"))
        assert row["+ mixture"] == pytest.approx(by_hand(rows, hits, at, "mixture", "markov"))
        assert row["in all"] == pytest.approx(by_hand(rows, hits, at, "mixture"))
        total = row["context-free"].value + row["+ markov"].value + row["+ mixture"].value
        assert total == pytest.approx(row["in all"].value)


def test_an_attacker_without_a_row_is_refused(world):
    with pytest.raises(ValueError, match="'another' has 0 rows"):
        added.ladder(world[0], {"another": {"attack": "another"}}, [{"epsilon": 4.0}])


def test_a_verdict_needs_every_cell():
    above, below, wide = Estimate(0.2, 0.1, 0.3), Estimate(-0.2, -0.3, -0.1), Estimate(0.1, -0.1, 0.3)
    assert added.verdict([above, above]) == "above" and added.verdict([below]) == "below"
    assert {added.verdict(pair) for pair in ([above, wide], [below, wide], [above, below])} == {"undecided"}


def test_the_best_cell_and_the_surest_answers(world):
    table, rows, hits = world
    corpus, success = added.best_of([table], {"attack": "markov"})
    cells = [({"dataset": c, "epsilon": e}, c) for c in ("rt", "prose") for e in (1.0, 4.0)]
    rates = {at["dataset"]: [] for at, _ in cells}
    for at, name in cells:
        rates[name].append(by_hand(rows, hits, at, "markov").value)
    best = max(rates, key=lambda name: max(rates[name]))
    assert corpus == stored.corpus(best) and success.value == pytest.approx(max(rates[best]))
    (sure,) = added.surest(table, {"m": {"attack": "mixture"}}, {"dataset": "rt", "epsilon": 4.0})
    asked = {"dataset": "rt", "epsilon": 4.0, "attack": "mixture"}
    mine = [hits[n] for n, row in enumerate(rows) if asked.items() <= row.items()]
    assert sure["words"] == sum(int((at["hit"] & at["letter"] & ~at["as kept"]).sum()) for at in mine)
    assert sure["right"].value == 1.0  # in this world the sure answers are the hits
    (none,) = added.surest(table, {"m": {"attack": "mixture"}}, {"dataset": "rt"}, least=1.0)
    assert none == {"attacker": "m", "words": 0, "right": None}
