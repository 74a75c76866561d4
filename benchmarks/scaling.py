"""Measure seconds and memory over the vocabulary and the text, each point in a process of its own.

    python benchmarks/scaling.py [--out data/results] [--limit 600] [TASK ...]

The text is made: documents of 20 words drawn independently, the r-th most frequent word of the vectors with
probability proportional to 1 / r. Seconds are the processor's, of all threads, and wall-clock; both leave out the
loading of vectors and the making of text, and so does the growth of memory. A point that is expected to take
longer than the limit is skipped and named, and so is one that does. A run that was stopped goes on where it was.

`scaling.csv` has the points. `scaling-exponents.csv` has the b of each series, seconds = a x^b by least squares of
logarithms, and from the two largest points what one more million of tokens, or ten thousand of words, costs.
"""

import argparse
import hashlib
import json
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pandas as pd
from recorded import store

WORDS = (5_000, 10_000, 20_000, 50_000, 100_000)  # at the smallest number of tokens
TOKENS = (100_000, 1_000_000, 10_000_000)  # at USUAL words
USUAL = 20_000
SHADOW = 20_000  # tokens of the attacker's own text
LENGTH = 20  # words of a document
CHUNK = 5_000  # documents that are attacked at a time
COLUMNS = ("task", "mechanism", "axis", "words", "tokens", "seconds", "wall", "grown_mb", "peak_mb", "note")


def documents(words: list[str], tokens: int, seed: int) -> Iterator[list[list[str]]]:
    """Documents with `tokens` words in all, some thousands at a time."""
    cumulative = np.cumsum(1 / np.arange(1, len(words) + 1))
    generator = np.random.default_rng(seed)
    for start in range(0, tokens, CHUNK * LENGTH):
        uniforms = generator.random(min(CHUNK * LENGTH, tokens - start)) * cumulative[-1]
        drawn = [words[i] for i in np.searchsorted(cumulative, uniforms)]
        yield [drawn[at : at + LENGTH] for at in range(0, len(drawn), LENGTH)]


def write(path: Path, words: list[str], tokens: int) -> None:
    with open(path, "w", encoding="utf-8") as file:
        for part in documents(words, tokens, seed=0):
            file.writelines(" ".join(document) + "\n" for document in part)


def plain(words: int):
    """The vectors of the most frequent words that the tokenizer leaves in one piece, so that tokens count."""
    import textsan

    vectors = textsan.load_embeddings()
    whole = (word for word in vectors.words if textsan.tokenize(word) == [word])
    return vectors.restrict(word for _, word in zip(range(words), whole, strict=False))


def sanitize(mechanism, words, tokens):
    """A file sanitized, shard by shard, in one process."""
    from textsan.release.files import sanitize_files
    from textsan.release.plan import plan
    from textsan.release.shards import Job

    with TemporaryDirectory() as folder:
        source, target = Path(folder, "text.txt"), Path(folder, "safe.txt")
        write(source, words, tokens)
        begin = clocks()
        counts = sanitize_files(Job(mechanism, seed=0), plan([str(source)], str(target)), f"{target}.parts")
        assert counts.tokens == tokens and counts.unknown == 0
        return begin


def vulnerability(mechanism, words, tokens):
    """V(X | Y) under the text's own frequencies."""
    from textsan import leakage

    weights = 1 / np.arange(1, len(words) + 1)
    begin = clocks()
    assert 0 < leakage.bayes_vulnerability(weights / weights.sum(), mechanism.channel) <= 1
    return begin


def attack(name, **settings):
    def task(mechanism, words, tokens):
        from textsan import Knowledge
        from textsan.attacks import ATTACKS
        from textsan.evaluation import sensitive_positions

        [shadow] = documents(words, SHADOW, seed=1)
        mechanism.sanitize(shadow[:1], seed=0)  # its own tables are the sanitizer's cost
        spent, begin = np.zeros(2), clocks()
        known = Knowledge.of(mechanism, shadow=shadow, attacked=mechanism.protected)
        one = ATTACKS[name].load()(known, **settings)
        spent += clocks() - begin
        for number, private in enumerate(documents(words, tokens, seed=0)):
            released = mechanism.sanitize(private, seed=0, first=number * CHUNK)
            positions = sensitive_positions(private, mechanism.protected)
            begin = clocks()
            one.reconstruct(released, positions)
            spent += clocks() - begin
        return clocks() - spent

    return task


TASKS = {
    "sanitize": sanitize,
    "V(X|Y)": vulnerability,
    "context-free": attack("context-free"),
    "Markov, k = 10": attack("markov", k=10),
}
EPSILONS = {"custext+": 2.0, "santext": 3.0}


def clocks() -> np.ndarray:
    return np.array([time.process_time(), time.perf_counter()])


def memory(name: str) -> float:
    """Megabytes of this process, now (VmRSS) or at its peak (VmHWM), as Linux counts them."""
    (line,) = [line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith(name)]
    return int(line.split()[1]) / 1024


def measure(task: str, mechanism: str, words: int, tokens: int) -> None:
    """Runs one point here; prints what it took as json."""
    from textsan.mechanisms import make_mechanism

    embeddings = plain(words)
    made = make_mechanism(mechanism, embeddings, epsilon=EPSILONS[mechanism])
    before = memory("VmRSS")
    Path("/proc/self/clear_refs").write_text("5")  # forget the peak of loading the vectors
    begin = TASKS[task](made, embeddings.words, tokens)
    seconds, wall = clocks() - begin
    peak = memory("VmHWM")
    took = {"seconds": seconds, "wall": wall, "grown_mb": peak - before, "peak_mb": peak}
    print(json.dumps({name: round(value, 2) for name, value in took.items()}))


def series() -> Iterator[tuple[dict, str, list[int]]]:
    """Return the fixed size, the axis, and the points on it."""
    for axis in ("words", "tokens"):
        for task in TASKS:
            for mechanism in EPSILONS:
                fixed = {"task": task, "mechanism": mechanism}
                if axis == "words":
                    yield fixed | {"tokens": 0 if task == "V(X|Y)" else TOKENS[0]}, axis, list(WORDS)
                elif task != "V(X|Y)":
                    yield fixed | {"words": USUAL}, axis, list(TOKENS)


def expected(rows: list[dict], axis: str, point: int) -> float:
    """Seconds of the next point, from the two before it."""
    done = [row for row in rows if row["seconds"] != ""][-2:]
    if not done:
        return 0.0
    seconds, at = (np.array([max(float(row[name]), 0.01) for row in done]) for name in ("seconds", axis))
    power = np.log(seconds[1] / seconds[0]) / np.log(at[1] / at[0]) if len(done) == 2 else 1.0
    return float(seconds[-1] * (point / at[-1]) ** power)


def run(row: dict, rows: list[dict], limit: float) -> dict:
    if (seconds := expected(rows, row["axis"], row[row["axis"]])) > limit:
        return row | {"note": f"skipped: {seconds / 60:.0f} minutes expected"}
    command = [sys.executable, __file__, "--inside", *(str(row[name]) for name in COLUMNS[:2] + COLUMNS[3:5])]
    done = subprocess.run([*command, "--limit", str(limit)], stdout=subprocess.PIPE, text=True)
    if done.returncode == -signal.SIGXCPU:
        return row | {"note": f"skipped: more than {limit / 60:.0f} minutes"}
    done.check_returncode()
    return row | json.loads(done.stdout)


def resumed(tokens: int) -> str:
    """Kills a run in the middle, lets it go on, and compares the text with that of one that was left alone."""
    with TemporaryDirectory() as folder:
        write(Path(folder, "text.txt"), plain(USUAL).words, tokens)
        command = [sys.executable, "-m", "textsan.cli", "sanitize", "--mechanism", "custext+", "--epsilon", "2"]
        command += ["--seed", "0", "text.txt"]
        quiet = {"cwd": folder, "stderr": subprocess.DEVNULL}
        subprocess.run([*command, "whole.txt"], check=True, **quiet)
        shards = sum(1 for _ in Path(folder).glob("whole.txt.parts/*"))
        assert shards == 0  # nothing is left of a run that ended
        stopped = subprocess.Popen([*command, "halves.txt"], **quiet)
        while len(done := list(Path(folder).glob("halves.txt.parts/*.shard"))) < tokens // 300_000:
            assert stopped.poll() is None
            time.sleep(0.1)
        stopped.send_signal(signal.SIGKILL)
        stopped.wait()
        kept = len(done)
        subprocess.run([*command, "halves.txt"], check=True, **quiet)
        texts = [
            hashlib.sha256(Path(folder, f"{name}.txt").read_bytes()).hexdigest() for name in ("whole", "halves")
        ]
        assert texts[0] == texts[1]
        return f"{tokens:,} tokens: killed after {kept} shards, gone on with, the same text"


def exponents(rows: list[dict]) -> list[dict]:
    found = []
    done = pd.DataFrame([row for row in rows if row["seconds"] != ""], columns=COLUMNS)
    for (axis, task, mechanism), mine in done.groupby(["axis", "task", "mechanism"], sort=False):
        if len(mine) < 2:
            continue
        numbers = mine[[axis, "seconds", "grown_mb"]].astype(float).sort_values(axis)
        x, y, growth = numbers.to_numpy().T
        unit = 1e6 if axis == "tokens" else 1e4
        row = {"task": task, "mechanism": mechanism, "axis": axis, "points": len(mine)}
        row["exponent"] = round(np.polyfit(np.log(x), np.log(np.maximum(y, 0.01)), 1)[0], 2)
        row["memory_exponent"] = round(np.polyfit(np.log(x), np.log(np.maximum(growth, 1)), 1)[0], 2)
        row["seconds_for_more"] = round(unit * (y[-1] - y[-2]) / (x[-1] - x[-2]), 2)
        found.append(row | {"more": f"{unit:.0f} {axis}"})
    return found


def _key(row: dict) -> tuple[str, ...]:
    return tuple(str(row[name]) for name in COLUMNS[:5])


def stored(path: Path) -> list[dict]:
    if not path.exists():
        return []
    return pd.read_csv(path, comment="#", dtype=str, keep_default_na=False).to_dict("records")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", default="data/results", help="folder of the two tables")
    parser.add_argument("--limit", type=int, default=600, help="seconds of the processor that a point may take")
    parser.add_argument(
        "--inside", nargs=4, metavar=("TASK", "MECHANISM", "WORDS", "TOKENS"), help=argparse.SUPPRESS
    )
    arguments = parser.parse_args()
    if arguments.inside:
        resource.setrlimit(resource.RLIMIT_CPU, (arguments.limit, arguments.limit + 5))
        task, mechanism, words, tokens = arguments.inside
        return measure(task, mechanism, int(words), int(tokens))
    folder = Path(arguments.out)

    known = {_key(row): row for row in stored(folder / "scaling.csv")}
    found: list[list[dict]] = [[] for _ in series()]
    for number in range(len(WORDS)):  # the small points of all series first
        for mine, (fixed, axis, points) in zip(found, series(), strict=True):
            if number >= len(points):
                continue
            row = dict.fromkeys(COLUMNS, "") | fixed | {"axis": axis, axis: points[number]}
            key = _key(row)
            mine.append(known[key] if key in known else run(row, mine, arguments.limit))
            print(*(f"{mine[-1][name]:>14}" for name in COLUMNS), flush=True)
            rows = [row for some in found for row in some]
            later = [row for key, row in known.items() if key not in map(_key, rows)]
            store(folder / "scaling.csv", rows + later, ["scipy"])
            store(folder / "scaling-exponents.csv", exponents(rows + later), ["scipy"])
    store(folder / "scaling.csv", rows, ["scipy"], {"resumed": resumed(TOKENS[-1])})


if __name__ == "__main__":
    main()
