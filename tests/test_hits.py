"""Hits that are kept with a table: any difference is recomputed from them alone."""

import numpy as np
import pandas as pd
import pytest
import yaml
from click.testing import CliRunner
from helpers import refused

from textsan import Embeddings, Split
from textsan.base.project import project_data
from textsan.cli.main import main
from textsan.evaluation import clustered_difference, clustered_rate
from textsan.sweeps import problems, sweep
from textsan.sweeps.hits import load_hits
from textsan.sweeps.paired import paired_differences

SPEC = {
    "dataset": "rt",
    "n_private": 60,
    "n_shadow": 40,
    "defence": [{"name": "custext+", "epsilon": [1, 4], "k": 5}],
    "attack": ["unchanged", "context-free", {"name": "markov", "k": [3, 5]}],
    "seed": [0, 1],
}


@pytest.fixture
def world(monkeypatch):
    generator = np.random.default_rng(9)
    words = ["the", ".", "!", *(f"w{i}" for i in range(60))]
    docs = generator.choice(words, size=(100, 8), p=generator.dirichlet(np.full(63, 0.5))).tolist()
    setting = Split(docs[:60], docs[60:], Embeddings(words, generator.normal(size=(63, 4))))
    monkeypatch.setattr(problems, "_split", lambda *given, **more: setting)
    monkeypatch.setattr(sweep.corpora, "load_dataset", lambda name: [])
    return setting


@pytest.fixture
def stored(world, tmp_path):
    """A table, stored as those of data/results, by the command."""
    (tmp_path / "spec.yml").write_text(yaml.safe_dump(SPEC))
    table = tmp_path / "kept" / "table.csv"
    table.parent.mkdir()
    said = CliRunner().invoke(
        main,
        ["sweep", str(tmp_path / "spec.yml"), "-o", str(tmp_path / "out"), "-j", "1"]
        + ["--over", "context-free", "--table", str(table)],
    )
    assert said.exit_code == 0, said.output
    return table


def test_a_table_is_stored_with_its_record_and_its_hits(stored):
    assert sorted(path.name for path in stored.parent.iterdir()) == ["table.csv", "table.npz", "table.yml"]
    record = yaml.safe_load(stored.with_suffix(".yml").read_text())
    assert record["command"].startswith("textsan sweep") and "--over context-free" in record["command"]
    assert not {"sweeps", "out"} & set(record)


def test_differences_from_the_hits_alone_are_those_of_the_sweep(stored):
    rows = pd.read_csv(stored)
    for k in (3, 5):
        found = paired_differences(stored, {"attack": "markov", "attack.k": k}, "context-free")
        asked = rows[(rows.attack == "markov") & (rows.attack_parameters == f'{{"k": {k}, "public": true}}')]
        assert len(found) == len(asked) == 4
        for ours, theirs in zip(found.itertuples(), asked.to_dict("records"), strict=True):
            wanted = [theirs[f"over context-free{end}"] for end in ("", " low", " high")]
            assert [ours.difference, ours.low, ours.high] == pytest.approx(wanted, abs=1e-5)


def test_any_subset_of_positions_can_be_compared(stored, world):
    both = {"attack": "markov", "attack.k": 5}
    hits = load_hits(stored)
    whole = paired_differences(stored, both, "unchanged")
    words = paired_differences(stored, both, "unchanged", where=lambda at: at["letter"])
    kept = paired_differences(stored, both, "unchanged", where=lambda at: at["unchanged"])
    assert (words.n < whole.n).all() and (kept.n < whole.n).all() and (kept.difference <= 0).all()
    first = hits[0]
    inside = first["letter"]
    truths = [world.private[d][i] for d, i in zip(first["document"], first["index"], strict=True)]
    assert inside.tolist() == [word[0] == "w" or word == "the" for word in truths]
    ranks = [world.embeddings.words.index(word) for word in truths]
    assert first["frequency"].tolist() == [int(np.log2(rank + 1)) for rank in ranks]
    rows = pd.read_csv(stored)
    [ours] = [
        row
        for row in hits
        if rows.attack_parameters[row] == '{"k": 5, "public": true}' and hits[row]["family"] == 0
    ]
    [theirs] = [row for row in hits if rows.attack[row] == "unchanged" and hits[row]["family"] == 0]
    gain = (hits[ours]["hit"].astype(float) - hits[theirs]["hit"])[inside]
    again = clustered_difference(gain, first["source"][inside])
    assert words.loc[0, ["difference", "low", "high"]].tolist() == list(again)


def test_a_posterior_leaves_the_probability_that_it_gave_its_answer(stored):
    rows, hits = pd.read_csv(stored), load_hits(stored)
    for row, arrays in hits.items():
        assert ("probability" in arrays) == (rows.attack[row] != "unchanged")
        if "probability" in arrays:
            given = arrays["probability"] / 255
            assert given.dtype == float and 0 < given.min() and given.max() <= 1 and len(set(given)) > 5


def test_an_attack_with_several_settings_must_name_one(stored):
    refused("markov|k", lambda: paired_differences(stored, "markov", "unchanged"))


def test_hits_of_another_table_are_refused(stored):
    rows = pd.read_csv(stored)
    rows.iloc[::-1].to_csv(stored, index=False)
    refused("of another table", lambda: load_hits(stored))


def ends_by_hits(table):
    """The ends of each interval of a table: row, columns, as they are stored and as its hits give them."""
    rows, hits = pd.read_csv(table), load_hits(table)
    for row, arrays in hits.items():
        source, told = arrays["source"], rows.loc[row]
        intervals = {("low", "high"): clustered_rate(arrays["hit"], source)}
        if "asr_meaning_low" in rows and not np.isnan(told.asr_meaning_low):
            intervals["asr_meaning_low", "asr_meaning_high"] = clustered_rate(arrays["meaning"], source)
        for name in (
            name.removesuffix(" low") for name in rows if name.startswith("over ") and name.endswith(" low")
        ):
            if not np.isnan(told[f"{name} low"]):
                family = (at for at in hits if hits[at]["family"] == arrays["family"])
                [other] = (at for at in family if f"over {rows.attack[at]}" == name)
                gain = arrays["hit"].astype(float) - hits[other]["hit"]
                intervals[f"{name} low", f"{name} high"] = clustered_difference(gain, source)
                assert abs(gain.mean() - told[name]) <= 1e-5
        for columns, estimate in intervals.items():
            yield row, columns, told[list(columns)].tolist(), np.round(estimate[1:], 5).tolist()


def test_intervals_are_those_of_the_hits_and_a_spoilt_one_is_caught(stored):
    assert all(kept == anew for *_, kept, anew in ends_by_hits(stored))
    rows = pd.read_csv(stored)
    ends = [name for name in rows if name.endswith(("low", "high"))]
    assert ends == ["low", "high", "over context-free low", "over context-free high"]
    rows.where(~rows.columns.isin(ends) | rows.isna(), 0.5).to_csv(stored, index=False)
    assert sum(kept != anew for *_, kept, anew in ends_by_hits(stored)) > 15


@pytest.mark.parametrize("hits", sorted(project_data().glob("results/*.npz")), ids=lambda path: path.stem)
def test_committed_intervals_are_those_of_the_committed_hits(hits):
    assert [place for *place, kept, anew in ends_by_hits(hits.with_suffix(".csv")) if kept != anew] == []


def test_answers_are_what_an_attack_reconstructs(world):
    problem = problems.prepare("rt", 60, 40, None, 0, "custext+", epsilon=2.0, k=5)
    compared = 0
    for name in ("unchanged", "context-free", "unseen mass", "memory", "markov", "embedding inversion"):
        attack = problem.attack(name)
        guesses, probabilities = problem.answers(attack)
        assert guesses == attack.reconstruct(problem.released, problem.positions), name
        compared += probabilities is not None
        if probabilities is not None:
            table = attack.posteriors(problem.released, problem.positions, 1)
            given = [table.mapping(at) for at in range(len(table))]
            assert [one[guess] for one, guess in zip(given, guesses, strict=True)] == pytest.approx(probabilities)
    assert compared >= 3
    assert problem.attack("markov").models == ()
