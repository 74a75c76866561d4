import json
import os
import random
import signal
import subprocess
import sys
import time
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import yaml
from click.testing import CliRunner
from helpers import made_up_split

from textsan import Split
from textsan.attacks import ATTACKS, Unchanged
from textsan.base import cluster
from textsan.cli import main
from textsan.evaluation import attack_success_rate, clustered_difference, clustered_rate
from textsan.sweeps import problems, specification, sweep
from textsan.sweeps.splits import load_split
from textsan.text.names import find_names

SPEC = {
    "dataset": "rt",
    "n_private": 40,
    "n_shadow": 30,
    "vocabulary": 3000,
    "defence": [{"name": "custext+", "epsilon": [1, 4], "k": 5}, {"name": "santext+", "epsilon": 2}],
    "attack": ["unchanged", "context-free", "context-free bound", {"name": "markov", "k": 5}],
    "seed": [0, 1],
}
SPEC["attack"].append("embedding inversion")
SIZE = 3 * 5 * 2


def write(folder, **changes):
    path = folder / "spec.yml"
    path.write_text(yaml.safe_dump({k: v for k, v in (SPEC | changes).items() if v is not ...}))
    return path


@pytest.fixture
def world(monkeypatch):
    made_up_split(monkeypatch)


def contents(folder):
    rows = {path.name: json.loads(path.read_text()) for path in (folder / "cells").glob("*.json")}
    for result in rows.values():
        result.pop("seconds")
        [row] = result["rows"]
        row.pop("seconds")
    return rows | {path.name: path.read_bytes() for path in (folder / "cells").glob("*.npz")}


def test_the_grid_is_the_product_and_the_table_has_a_row_a_cell(world, tmp_path):
    cells = specification.read_spec(write(tmp_path))
    assert len(cells) == SIZE == len({cell.name for cell in cells})
    assert sweep.run(cells, tmp_path, workers=1) == []
    table = pd.read_csv(tmp_path / "results.csv")
    keys = ["dataset", "defence", "defence_parameters", "epsilon", "attack", "seed"]
    assert len(table) == SIZE and not table.duplicated(keys).any()
    assert ((table.low <= table.asr) & (table.asr <= table.high) & (table.asr <= table.asr_substring)).all()
    inverted = table[table.attack == "embedding inversion"]
    assert (inverted.asr == inverted.unchanged).all()
    sharper = table[table.defence == "custext+"].groupby("epsilon").asr.mean()
    assert sharper[4.0] > sharper[1.0]


def test_attacks_of_a_family_see_the_same_positions_and_the_hits_are_kept(world, tmp_path):
    cells = specification.read_spec(write(tmp_path, n_positions=100))
    sweep.run(cells, tmp_path, workers=1)
    table = sweep.table(cells, tmp_path)
    assert set(table.n_positions) == {100}
    positions = {}
    for cell, row in zip(cells, table.itertuples(), strict=True):
        hits = sweep.load_hits(cell, tmp_path)
        family = cell["defence"]["name"], cell["seed"]  # over all attacks, and all epsilons too
        places = list(zip(hits["document"], hits["index"], strict=True))
        assert positions.setdefault(family, places) == places
        guesses = np.where(hits["hit"], "a", "b").tolist()
        again = clustered_rate(hits["hit"], hits["document"])
        assert (row.asr, row.low, row.high) == again
        assert row.asr == attack_success_rate(guesses, ["a"] * 100).value
        assert row.unchanged == hits["unchanged"].mean() and not (hits["hit"] & ~hits["substring"]).any()
    assert positions["custext+", 0] != positions["custext+", 1]


def test_protected_words_alone_are_attacked(world):
    problem = problems.prepare("rt", 40, 30, None, 0, "custext+", epsilon=1.0)
    assert {"the", "of"} & {word for doc in problem.split.private for word in doc}
    assert not {"the", "of"} & set(problem.truth.words)
    problem = problems.prepare("rt", 40, 30, None, 0, "santext+", epsilon=1.0)
    assert set(problem.truth.words) <= problem.mechanism.sensitive == problem.knowledge.attacked
    assert set(problem.guesses("context-free")) <= problem.knowledge.attacked
    assert problem.knowledge.sanitized()[1][:2] != problem.mechanism.sanitize(problem.split.shadow, seed=0)[:2]


def test_names_alone_are_attacked_where_names_are_asked_for(default_data):
    every, names = (
        problems.prepare("nyt", 60, 40, None, 0, "custext+", epsilon=1.0, targets=targets)
        for targets in ("protected", "census")
    )
    assert names.released == every.released and 0 < len(names.positions) < len(every.positions) / 5
    assert set(names.positions) == set(every.positions) & set(find_names(every.split.records, "census"))


def test_a_failed_cell_is_reported_and_the_others_go_on(world, tmp_path, monkeypatch):
    class Breaks(Unchanged):
        details = {"encoded": 3}

        @classmethod
        def against(cls, knowledge):
            if knowledge.seed == 1:
                raise RuntimeError("out of luck")
            return cls()

    monkeypatch.setitem(ATTACKS._entries, "unchanged", replace(ATTACKS["unchanged"], constructor=Breaks.against))
    arguments = ["sweep", str(write(tmp_path)), "-o", str(tmp_path / "out"), "-j", "1"]
    result = CliRunner().invoke(main.main, arguments)
    assert result.exit_code == 1
    failed = [line for line in result.stderr.splitlines() if "RuntimeError: out of luck" in line]
    assert len(failed) == 3 and all("unchanged-1" in line for line in failed)
    assert len(pd.read_csv(tmp_path / "out" / "results.csv")) == SIZE - 3
    monkeypatch.setitem(
        ATTACKS._entries, "unchanged", replace(ATTACKS["unchanged"], constructor=Unchanged.against)
    )
    assert CliRunner().invoke(main.main, arguments).exit_code == 0
    table = pd.read_csv(tmp_path / "out" / "results.csv")
    assert len(table) == SIZE


@pytest.mark.parametrize(
    "changes, words",
    [
        ({"color": 1}, ["color", "n_private"]),
        ({"n_private": ...}, ["n_private", "missing"]),
        ({"n_private": 0}, ["n_private", "0", "at least 1"]),
        ({"n_shadow": []}, ["n_shadow", "empty"]),
        ({"dataset": "rtt"}, ["dataset", "rtt", "amazon"]),
        ({"targets": "places"}, ["targets", "places", "census"]),
        ({"vocabulary": "whole"}, ["vocabulary", "'whole'", "'data'"]),
        ({"meaning": "bert-of-nobody"}, ["bert-of-nobody", "all-minilm-l6-v2"]),
        ({"embeddings": "nowhere.txt"}, ["'nowhere.txt' is unknown, and no file"]),
        ({"plugins": [3]}, ["plugins: 3 is no name"]),
        ({"attack": ["Context Free"]}, ["did you mean 'context-free'?"]),
        ({"attack": {"name": "markov", "kk": 3}}, ["markov", "kk", "known: k"]),
        ({"attack": {"name": "markov", "k": 0.5}}, ["markov", "k", "0.5"]),
        ({"defence": "santext"}, ["santext", "epsilon", "missing"]),
        ({"defence": {"name": "custext+", "epsilon": [1, -2]}}, ["epsilon", "-2"]),
        ({"defence": {"name": "custext+", "epsilon": 1, "mapping": "none"}}, ["mapping", "'none'", "disjoint"]),
    ],
)
def test_a_bad_specification_gets_one_line_and_nothing_is_written(default_data, tmp_path, changes, words):
    arguments = ["sweep", str(write(tmp_path, **changes)), "-o", str(tmp_path / "out")]
    result = CliRunner().invoke(main.main, arguments)
    assert result.exit_code == 2
    assert len(result.stderr.splitlines()) == 1 and all(word in result.stderr for word in words)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("text", ["- rt", "dataset: [rt", "3"])
def test_a_specification_that_is_no_mapping_gets_one_line(tmp_path, text):
    (tmp_path / "spec.yml").write_text(text)
    result = CliRunner().invoke(main.main, ["sweep", str(tmp_path / "spec.yml"), "-o", str(tmp_path / "out")])
    assert result.exit_code == 2 and len(result.stderr.splitlines()) == 1 and "spec" in result.stderr


def test_two_sweeps_do_not_share_a_folder(world, tmp_path):
    cells = specification.read_spec(write(tmp_path))
    with sweep.only_writer(tmp_path), pytest.raises(ValueError, match="another sweep"):
        sweep.run(cells, tmp_path, workers=1)


@pytest.fixture(scope="module")
def reference(default_data, tmp_path_factory):
    folder = tmp_path_factory.mktemp("reference")
    assert sweep.run(specification.read_spec(write(folder, seed=0)), folder, workers=1) == []
    return folder


def test_a_killed_sweep_goes_on_where_it_stopped(reference, tmp_path):
    """kill -9 to all of its processes at a random moment after the first result; then again, to the end."""
    spec = str(write(tmp_path, seed=0))
    command = [sys.executable, "-m", "textsan.cli", "sweep", spec, "-o", str(tmp_path), "-j", "2"]
    running = subprocess.Popen(command, start_new_session=True, stderr=subprocess.DEVNULL)
    cells = tmp_path / "cells"
    wanted = random.randrange(1, SIZE // 2 - 4)
    while len(list(cells.glob("*.json"))) < wanted and running.poll() is None:
        time.sleep(0.002)
    assert running.poll() is None, "it ended before it could be killed"
    os.killpg(running.pid, signal.SIGKILL)
    running.wait()
    before = {path: path.stat().st_mtime_ns for path in cells.glob("*.json")}
    assert wanted <= len(before) < SIZE // 2 and not (tmp_path / "results.csv").exists()
    (cells / "torn.json.x.part").write_text("{")  # what a kill in the middle of a write leaves behind
    assert sweep.run(specification.read_spec(spec), tmp_path, workers=1) == []
    assert before.items() <= {path: path.stat().st_mtime_ns for path in cells.glob("*.json")}.items()
    assert contents(tmp_path) == contents(reference)
    assert not list(cells.glob("*.part"))
    ours, theirs = (
        pd.read_csv(folder / "results.csv").drop(columns="seconds") for folder in (tmp_path, reference)
    )
    pd.testing.assert_frame_equal(ours, theirs)


def test_a_dask_cluster_of_two_workers_gives_the_same_results(reference, tmp_path):
    from distributed import LocalCluster

    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster:
        cells = specification.read_spec(write(tmp_path, seed=0))
        assert sweep.run(cells, tmp_path, scheduler=cluster.scheduler_address) == []
    assert contents(tmp_path) == contents(reference)


def test_a_dask_worker_that_is_killed_costs_its_family_and_one_line(default_data, tmp_path):
    import dask
    from distributed import Client, LocalCluster

    def arm():  # in the worker: this attack kills it, once; the worker that takes its place is as usual
        import os
        import signal

        from textsan.attacks import ATTACKS
        from textsan.base.registry import Entry

        def die(case, **parameters):
            os.kill(os.getpid(), signal.SIGKILL)

        ATTACKS._entries["markov"] = Entry("markov", die, "dies")  # a built-in name is nobody else's

    attacks = ["unchanged", {"name": "markov", "k": 5}, "context-free"]
    defences = [{"name": "custext+", "epsilon": 1, "k": 5}]
    spec = write(tmp_path, attack=attacks, defence=defences, seed=0)
    cells = specification.read_spec(spec)
    with (
        dask.config.set({"distributed.scheduler.allowed-failures": 0}),
        LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=":0") as cluster,
    ):
        with Client(cluster.scheduler_address) as client:
            client.run(arm)
        arguments = ["sweep", str(spec), "-o", str(tmp_path), "--scheduler", cluster.scheduler_address]
        result = CliRunner().invoke(main.main, arguments)
        said = [line for line in result.stderr.splitlines() if "textsan: " in line]
        assert result.exit_code == 1 and "Traceback" not in result.stderr
        assert len(said) == 1 and "1 failed" in said[0] and "worker that had it was killed" in said[0]
        assert list(pd.read_csv(tmp_path / "results.csv").attack) == ["unchanged"]
        assert sweep.run(cells, tmp_path, scheduler=cluster.scheduler_address) == []
    assert len(sweep.table(cells, tmp_path)) == 3


def test_a_cluster_without_workers_ends_as_one_line(world, tmp_path, monkeypatch):
    from distributed import LocalCluster

    monkeypatch.setattr(cluster, "PATIENCE", 0.5)
    with LocalCluster(n_workers=0, dashboard_address=":0") as empty:
        arguments = ["sweep", str(write(tmp_path)), "-o", str(tmp_path), "--scheduler", empty.scheduler_address]
        result = CliRunner().invoke(main.main, arguments)
    assert result.exit_code == 1 and "it has no workers left, with 6" in result.stderr
    assert "Traceback" not in result.stderr


def test_differences_are_those_of_the_same_positions(world, tmp_path):
    cells = specification.read_spec(write(tmp_path, attack=["unchanged", "context-free"], seed=0))
    assert sweep.run(cells, tmp_path, workers=1, baselines=["context-free"]) == []
    table = sweep.table(cells, tmp_path, ["context-free"])
    assert (tmp_path / "results.csv").read_text() == table.round(5).to_csv(index=False)
    rows, baseline = (table[table.attack == name] for name in ("unchanged", "context-free"))
    assert len(rows) == 3 and baseline["over context-free"].isna().all()
    gain = rows["over context-free"].to_numpy()
    np.testing.assert_allclose(gain, rows.asr.to_numpy() - baseline.asr.to_numpy(), atol=1e-12)
    assert (rows["over context-free low"] <= gain).all() and (gain <= rows["over context-free high"]).all()
    assert (rows["over context-free high"] < 0).any()


def test_a_baseline_that_is_not_there_once_is_refused_before_anything_runs(tmp_path, default_data):
    spec = write(tmp_path, attack=["unchanged", {"name": "markov", "k": [2, 5]}])
    for name, number in (("context-free", "0"), ("markov", "2")):
        arguments = ["sweep", str(spec), "-o", str(tmp_path / "out"), "--over", name]
        result = CliRunner().invoke(main.main, arguments)
        assert result.exit_code == 2 and f"{name!r} is {number} attacks" in result.stderr
        assert not (tmp_path / "out").exists()


def test_a_mechanism_on_word_vectors_of_ones_own(tmp_path, monkeypatch):
    words = ["film", "movie", "good", "bad", "plot", "dull"]
    vectors = np.random.default_rng(0).normal(size=(6, 3)).round(3)
    own = tmp_path / "own.txt"
    pd.DataFrame(vectors, index=words).to_csv(own, sep=" ", header=False)
    asked = {"dataset": "rt", "n_private": 40, "n_shadow": 40, "vocabulary": 6, "attack": "context-free"}
    asked |= {"defence": {"name": "santext", "epsilon": 2}, "embeddings": "own.txt"}
    path = tmp_path / "spec.yml"
    path.write_text(yaml.safe_dump(asked))
    [cell] = specification.read_spec(path)
    assert sweep.run([cell], tmp_path, workers=1) == []
    [row] = pd.read_csv(tmp_path / "results.csv").to_dict("records")
    split = load_split("rt", 40, 40, seed=0, vocabulary=6, embeddings=str(own))
    assert row["embeddings"] == str(own) and split.embeddings.words == words
    assert row["n_positions"] == sum(word in words for doc in split.private for word in doc)
    assert sweep.record([cell], tmp_path)["word vectors"] == str(own)
    assert sweep.is_computed(cell, tmp_path)
    own.write_text(own.read_text().replace("film", "cinema"))
    assert not sweep.is_computed(cell, tmp_path)


def test_intervals_are_by_source_sentence_and_not_by_line(monkeypatch, tmp_path):
    """Each of 40 private sentences is there twenty times, as its phrases are in SST-2."""
    made_up_split(monkeypatch)
    once = problems._split

    def phrases(dataset, n_private, n_shadow, **given):
        split = once(dataset, n_private // 20, n_shadow, **given)
        private = [sentence for sentence in split.private for _ in range(20)]
        return Split(private, split.shadow, split.embeddings, (), [i // 20 for i in range(n_private)])

    monkeypatch.setattr(problems, "_split", phrases)
    defence = {"name": "custext", "epsilon": 4, "k": 4}
    spec = write(tmp_path, n_private=800, defence=defence, attack=["unchanged", "context-free"], seed=0)
    cells = specification.read_spec(spec)
    assert sweep.run(cells, tmp_path, workers=1, baselines=["unchanged"]) == []
    table = sweep.table(cells, tmp_path, ["unchanged"])
    hits = [sweep.load_hits(cell, tmp_path) for cell in cells]
    for found, row in zip(hits, table.itertuples(), strict=True):
        assert len(set(found["source"])) == 40 and len(set(found["document"])) == 800
        assert (row.asr, row.low, row.high) == clustered_rate(found["hit"], found["source"])
    # Guesses depend on the released word, so what is hit is much the same in all phrases of a sentence.
    by_line, by_source = (clustered_rate(hits[1]["hit"], hits[1][of]) for of in ("document", "source"))
    assert by_source.high - by_source.low > 1.3 * (by_line.high - by_line.low)
    gain = clustered_difference(hits[1]["hit"].astype(float) - hits[0]["hit"], hits[1]["source"])
    over = table[["over unchanged", "over unchanged low", "over unchanged high"]].to_numpy()[1]
    assert tuple(over) == pytest.approx(gain)
