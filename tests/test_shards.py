"""Large files: the same text whoever does it, a few shards at a time, and on from where a killed run was."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
import tracemalloc
from concurrent.futures import Future
from concurrent.futures.process import BrokenProcessPool
from types import SimpleNamespace
from unittest.mock import MagicMock

import pytest
from helpers import CUSTEXT, TOY, WORDS, sanitize as run, toy_world

from textsan.mechanisms import Random
from textsan.release import shards
from textsan.release.files import sanitize_files
from textsan.release.formats import TEXT, Form
from textsan.release.plan import plan
from textsan.release.shards import Job, completed, cut


@pytest.fixture(autouse=True)
def small(tmp_path, monkeypatch):
    """A small vocabulary in place of GloVe, a text of 60 lines, and shards of a few of them."""
    toy_world(tmp_path, monkeypatch)
    monkeypatch.setattr(shards, "_SIZE", 100)
    lines = [" ".join(WORDS[n % 5 : n % 5 + n % 8]) for n in range(60)]
    (tmp_path / "in.txt").write_text("\n".join(lines) + "\n")


@pytest.fixture
def reference(tmp_path):
    assert run(*CUSTEXT, "--seed", "3", "in.txt", "reference.txt").exit_code == 0
    assert len(list(cut(plan(["in.txt"], "out.txt"), TEXT, ""))) > 5
    return (tmp_path / "reference.txt").read_text()


def test_one_worker_and_eight_write_the_same_text(reference, tmp_path):
    result = run(*CUSTEXT, "--seed", "3", "--workers", "8", "in.txt", "out.txt")
    assert result.exit_code == 0, result.output
    assert (tmp_path / "out.txt").read_text() == reference
    records = [json.loads((tmp_path / f"{name}.txt.json").read_text()) for name in ("reference", "out")]
    assert [one["longest_document"] for one in records] == [7, 7]
    assert [one | {"command": ""} for one in records][0] == records[1] | {"command": ""}


def test_the_workers_of_a_dask_scheduler_write_the_same_text(reference, tmp_path):
    from distributed import LocalCluster

    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster:
        result = run(*CUSTEXT, "--seed", "3", "--scheduler", cluster.scheduler_address, "in.txt", "out.txt")
    assert result.exit_code == 0, result.output
    assert (tmp_path / "out.txt").read_text() == reference


def test_a_scheduler_that_is_not_there_or_killed_gets_one_line(tmp_path, monkeypatch):
    import distributed
    from distributed.comm import CommClosedError

    def absent(*arguments, **options):
        raise OSError("timed out")

    gone = MagicMock()  # a client whose scheduler is killed after it connected
    gone.return_value.scatter.side_effect = CommClosedError("ConnectionPool closing.")
    gone.return_value.__exit__.return_value = False
    for client, line in (
        (absent, "'tcp://nowhere:1' does not answer (timed out)"),
        (gone, "it is gone; the same command goes on where this one was"),
    ):
        monkeypatch.setattr(distributed, "Client", client)
        result = run(*CUSTEXT, "--scheduler", "tcp://nowhere:1", "in.txt", "out.txt")
        assert result.exit_code == 1 and not (tmp_path / "out.txt").exists()
        assert result.stderr == f"textsan: scheduler: {line}\n"


class Fatal(Random):
    def sanitize(self, docs, seed=None, *, first=0):
        docs = list(docs)
        if any("plot" in doc for doc in docs):
            os.kill(os.getpid(), signal.SIGKILL)
        return super().sanitize(docs, seed, first=first)


def test_a_worker_that_is_killed_costs_one_line_and_nothing_that_is_done(tmp_path, monkeypatch, plugged):
    from textsan.mechanisms import MECHANISMS

    lines = ["good film"] * 60 + ["plot"] + ["bad film"] * 60
    (tmp_path / "in.txt").write_text("\n".join(lines) + "\n")
    MECHANISMS.register("fatal", Fatal)
    fatal = ("--mechanism", "fatal", "--seed", "3", "in.txt", "out.txt")
    result = run("--workers", "2", *fatal)
    said = [line for line in result.stderr.splitlines() if "textsan: " in line and "warning" not in line]
    assert result.exit_code == 1 and len(said) == 1 and "was killed" in said[0]
    assert not (tmp_path / "out.txt").exists() and list((tmp_path / "out.txt.parts").glob("*.shard"))
    monkeypatch.setattr(Fatal, "sanitize", Random.sanitize)
    assert run(*fatal).exit_code == 0
    assert run("--mechanism", "random", "--seed", "3", "in.txt", "random.txt").exit_code == 0
    assert (tmp_path / "out.txt").read_text() == (tmp_path / "random.txt").read_text()


def test_a_pool_that_takes_no_more_gives_what_was_done_and_says_why(monkeypatch):
    done = [Future(), Future()]
    for future, name in zip(done, "ab", strict=True):
        future.set_result(f"{name} sanitized")
    pool = MagicMock()
    pool.return_value.submit.side_effect = [*done, *[BrokenProcessPool("a worker is dead")] * 6]
    monkeypatch.setattr("joblib.externals.loky.ProcessPoolExecutor", pool)
    given = completed(SimpleNamespace(warm=lambda: None), iter("abcdefgh"), workers=2)
    assert [next(given), next(given)] == [("a", "a sanitized"), ("b", "b sanitized")]
    with pytest.raises(ConnectionError, match="workers: one was killed"):
        next(given)


SLOW = """
import json, sys, time
import textsan
from textsan import Embeddings
from textsan.release import files, shards
from textsan.cli.main import main

words, vectors, arguments = json.loads(sys.argv[1])
textsan.load_embeddings = lambda name: Embeddings(words, vectors)
shards._SIZE = 100
put = files._Parts.put
files._Parts.put = lambda *done: (put(*done), time.sleep(0.1))
main(arguments)
"""


def kill_after(number, arguments, parts):
    said = json.dumps([WORDS, TOY.vectors.tolist(), ["sanitize", *arguments]])
    with subprocess.Popen([sys.executable, "-c", SLOW, said], stderr=subprocess.DEVNULL) as process:
        while len(list(parts.glob("*.shard"))) < number:
            assert process.poll() is None, "it ended before it could be killed"
            time.sleep(0.01)
        process.kill()
    assert process.returncode == -signal.SIGKILL


@pytest.fixture
def done(monkeypatch):
    """The numbers of the first documents of shards that are sanitized in this process."""
    numbers, sanitize = [], Job.sanitize

    def counted(self, shard):
        numbers.append(shard.first)
        return sanitize(self, shard)

    monkeypatch.setattr(Job, "sanitize", counted)
    return numbers


def test_a_killed_run_goes_on_by_shard(reference, tmp_path, done):
    arguments = (*CUSTEXT, "--seed", "3", "in.txt", "out.txt")
    all_shards = [shard.first for shard in cut(plan(["in.txt"], "out.txt"), TEXT, "")]
    kill_after(3, arguments, tmp_path / "out.txt.parts")
    assert not (tmp_path / "out.txt").exists()
    kept = len(list((tmp_path / "out.txt.parts").glob("*.shard")))
    done.clear()
    assert run(*arguments).exit_code == 0
    assert 3 <= kept < len(all_shards) and done == all_shards[kept:]
    assert (tmp_path / "out.txt").read_text() == reference
    made, expected = (json.loads((tmp_path / f"{name}.txt.json").read_text()) for name in ("out", "reference"))
    assert made | {"command": ""} == expected | {"command": ""}
    assert not list(tmp_path.glob("*.part*"))


def test_another_run_does_not_go_on_there(tmp_path, done):
    """A shard is taken over only if its text and all else that decides what becomes of it are the same."""
    (tmp_path / "in.csv").write_text("text,more\n" + "good film,bad film\n" * 40)
    arguments = [*CUSTEXT, "--seed", "3", "--field", "text", "--pass", "more", "in.csv", "out.csv"]
    kill_after(2, arguments, tmp_path / "out.csv.parts")
    shutil.move(tmp_path / "out.csv.parts", tmp_path / "kept")
    form = Form(("text",), passed=("more",))
    more = {"seed": ("--seed", "4"), "epsilon": ("--epsilon", "2"), "case": ("--keep-case",)}
    for change in ("seed", "epsilon", "case", "field", "text"):
        shutil.copytree(tmp_path / "kept", tmp_path / "out.csv.parts")
        arguments[-5:-2:2] = ("more", "text") if change == "field" else ("text", "more")
        if change == "text":
            (tmp_path / "in.csv").write_text("text,more\n" + "great film,bad film\n" * 40)
        done.clear()
        assert run(*arguments[:-2], *more.get(change, ()), *arguments[-2:]).exit_code == 0
        assert done == [shard.first for shard in cut(plan(["in.csv"], "out.csv"), form, "")], change
        assert not list(tmp_path.glob("out.csv.part*"))


def test_without_a_seed_a_killed_run_goes_on_too(tmp_path, done):
    arguments = (*CUSTEXT, "in.txt", "out.txt")
    kill_after(3, arguments, tmp_path / "out.txt.parts")
    kept = len(list((tmp_path / "out.txt.parts").glob("*.shard")))
    done.clear()
    assert run(*arguments).exit_code == 0
    assert len(done) == len(list(cut(plan(["in.txt"], "out.txt"), TEXT, ""))) - kept
    assert [len(line.split()) for line in (tmp_path / "out.txt").read_text().splitlines()] == [
        len(line.split()) for line in (tmp_path / "in.txt").read_text().splitlines()
    ]


def test_bad_input_removes_what_this_run_did_and_no_more(tmp_path):
    kill_after(2, (*CUSTEXT, "in.txt", "out.txt"), tmp_path / "out.txt.parts")
    (tmp_path / "out.txt.parts" / "mine.txt").write_text("the user's own\n")
    assert run(*CUSTEXT, "--oov", "error", "in.txt", "out.txt").exit_code == 0
    assert [path.name for path in (tmp_path / "out.txt.parts").iterdir()] == ["mine.txt"]
    kill_after(2, (*CUSTEXT, "in.txt", "out.txt"), tmp_path / "out.txt.parts")
    before = {path.name for path in (tmp_path / "out.txt.parts").glob("*.shard")}
    with open(tmp_path / "in.txt", "a") as file:
        file.write("zebra\n")
    assert run(*CUSTEXT, "--oov", "error", "in.txt", "out.txt").exit_code == 2
    assert {path.name for path in (tmp_path / "out.txt.parts").iterdir()} == before | {"mine.txt"}


def test_two_runs_do_not_write_the_same_file(tmp_path):
    job, work = Job(Random(TOY)), plan(["in.txt"], "out.txt")

    def meanwhile(documents, position):
        with pytest.raises(ValueError, match="another run is writing to out.txt.parts"):
            sanitize_files(job, work, "out.txt.parts")

    assert sanitize_files(job, work, "out.txt.parts", progress=meanwhile).documents == 60


def test_few_shards_are_held_at_a_time(monkeypatch):
    """Shards are read as fast as they are done: with two workers, four at most are under way."""
    read = []

    def counted():
        for shard in cut(plan(["in.txt"], "out.txt"), TEXT, ""):
            read.append(shard)
            yield shard

    number = len(list(cut(plan(["in.txt"], "out.txt"), TEXT, "")))
    for workers in (1, 2):
        read.clear()
        ahead = [len(read) - n for n, _ in enumerate(completed(Job(Random(TOY)), counted(), workers))]
        assert len(ahead) == number and max(ahead) <= 2 * workers < number


def test_memory_does_not_grow_with_the_input(tmp_path, monkeypatch):
    monkeypatch.setattr(shards, "_SIZE", 20_000)
    job, peaks = Job(Random(TOY)), []
    for times in (2000, 2000, 10_000):  # the first run alone allocates what is kept
        (tmp_path / "large.txt").write_text("the good film , a bad story .\n" * times)
        tracemalloc.start()
        assert sanitize_files(job, plan(["large.txt"], "out.txt"), "out.parts").documents == times
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[2] < 1.3 * peaks[1]
