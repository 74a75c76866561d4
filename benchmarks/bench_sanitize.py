"""Speed and memory of sanitizing, beside the published SanText routine, each task in a process of its own.

    python benchmarks/bench_sanitize.py [--repeat 3] [--out speed.csv] [TASK ...]

The peer is the published routine in its cost, written from a description: the whole |V| x |V_S| matrix in float32
(scikit-learn distances, scipy softmax), then one `RandomState.choice` a token. Seconds are wall-clock and include
the channel's construction, not the loading of vectors and text; the processor seconds beside them tell a busy
machine from a slow program. Peak memory is the whole process's, vectors and text included.
"""

import argparse
import json
import resource
import subprocess
import sys
import time
from pathlib import Path

EPSILON = 2.0


# A task returns the clocks at its start, and what its seconds are multiplied by.


def clocks():
    return time.perf_counter(), time.process_time()


def rt():
    """All `rt` sentences, the vocabulary in order of its frequency, its 90 % least frequent words."""
    from textsan import count_words, least_frequent, load_dataset, load_embeddings

    docs = [list(record.tokens) for record in load_dataset("rt", split="all")]
    counts = count_words(docs)
    embeddings = load_embeddings().restrict(word for word, _ in counts.most_common())
    return docs, embeddings, least_frequent(counts, embeddings.words, 0.9)


def frequent(size):
    from textsan import load_embeddings

    embeddings = load_embeddings()
    return embeddings.frequent(size)


def peer_rt():
    import random

    import numpy as np
    from scipy.special import softmax
    from sklearn.metrics.pairwise import euclidean_distances

    docs, embeddings, sensitive = rt()
    words = embeddings.words
    start = clocks()
    choices = [word for word in words if word in sensitive]
    vectors = np.asarray(embeddings.vectors, dtype=np.float32)
    chosen = vectors[[embeddings.index[word] for word in choices]]
    matrix = softmax(-0.5 * EPSILON * euclidean_distances(vectors, chosen), axis=1)
    legacy = np.random.RandomState(0)  # the published code's generator
    for document in docs:
        released = []
        for word in document:
            if word not in embeddings.index:
                released.append(words[legacy.randint(len(words))])
            elif word in sensitive or random.random() <= 0.3:
                row = matrix[embeddings.index[word]]
                released.append(choices[legacy.choice(len(choices), 1, p=row)[0]])
            else:
                released.append(word)
    return start, 1


def ours_rt():
    from textsan import SanTextPlus

    docs, embeddings, sensitive = rt()
    start = clocks()
    mechanism = SanTextPlus(embeddings, EPSILON, sensitive=sensitive, p=0.3)
    mechanism.sanitize(docs, seed=0)
    return start, 1


def large():
    import numpy as np

    from textsan import SanText

    embeddings = frequent(88_000)
    ranks = np.random.default_rng(0).zipf(1.3, size=400_000)
    tail = [embeddings.words[rank - 1] for rank in ranks if rank <= 88_000][:112_000]
    tokens = embeddings.words + tail  # every word at least once: no row is spared
    docs = [tokens[at : at + 20] for at in range(0, len(tokens), 20)]
    start = clocks()
    SanText(embeddings, EPSILON).sanitize(docs, seed=0)
    return start, 1


def mapping():
    from textsan import CusText

    embeddings = frequent(65_713)
    start = clocks()
    assert CusText(embeddings, 1.0, k=20).groups
    return start, 1


def fbdd():
    from textsan import FBDD

    docs, embeddings, _ = rt()
    start = clocks()
    FBDD(embeddings, 10.0).sanitize(docs, seed=0)
    return start, 1


def fbdd_one_by_one():
    import numpy as np

    docs, embeddings, _ = rt()
    tokens = [word for document in docs for word in document if word in embeddings][:1000]
    generator = np.random.default_rng(0)
    vectors = np.asarray(embeddings.vectors)
    start = clocks()
    for word in tokens:
        direction = generator.normal(size=vectors.shape[1])
        noise = direction / np.linalg.norm(direction) * generator.gamma(vectors.shape[1], 1 / 10.0)
        np.argmin(np.linalg.norm(vectors - (vectors[embeddings.index[word]] + noise), axis=1))
    return start, sum(map(len, docs)) / len(tokens)


def vulnerability():
    import numpy as np

    from textsan import SanText, leakage

    embeddings = frequent(17_000)
    prior = np.full(len(embeddings), 1 / len(embeddings))
    start = clocks()
    leakage.bayes_vulnerability(prior, SanText(embeddings, EPSILON).channel)
    return start, 1


# task: (what, limit in seconds, limit in MB, the task it is compared with, at least how many times as fast)
TASKS = {
    peer_rt: ("published routine, rt, matrix and tokens", None, None, None, None),
    ours_rt: ("SanText+ on rt (w = 0.9, p = 0.3)", None, 1000, "peer_rt", 20),
    large: ("SanText, 88,000 words, 200,000 tokens", 120, 2000, None, None),
    mapping: ("CusText mapping, 65,713 words, K = 20", 60, None, None, None),
    fbdd_one_by_one: ("FBDD on rt, one word at a time (1,000 tokens, scaled up)", None, None, None, None),
    fbdd: ("FBDD on rt, batched", None, None, "fbdd_one_by_one", 20),
    vulnerability: ("Bayes vulnerability, SanText, 17,000 words", 3, 1000, None, None),
}


def measure(task):
    """Runs one task here; prints its seconds and the peak memory of this process as json."""
    start, scale = task()
    seconds, processor = ((now - then) * scale for now, then in zip(clocks(), start, strict=True))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps({"seconds": seconds, "cpu_seconds": processor, "peak_mb": peak}))


def verdict(result, seconds, megabytes, times, ratio):
    limits = (
        (f"< {seconds} s", seconds and result["seconds"] < seconds),
        (f"< {megabytes} MB", megabytes and result["peak_mb"] < megabytes),
        (f">= {times} x", ratio and ratio >= times),
    )
    return "; ".join(f"{text}: {'yes' if met else 'NO'}" for text, met in limits if met is not None)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    names = {task.__name__: task for task in TASKS}
    parser.add_argument("tasks", nargs="*", metavar="TASK", help=f"default: all of {', '.join(names)}")
    parser.add_argument("--out", type=Path, help="write the table as csv")
    parser.add_argument("--repeat", type=int, default=1, help="runs of each task, the fastest of which counts")
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if unknown := set(arguments.tasks) - set(names):
        parser.error(f"unknown task {', '.join(sorted(unknown))}")
    if arguments.inside:
        return measure(names[arguments.tasks[0]])
    results, table = {}, []
    for name in [name for name in names if not arguments.tasks or name in arguments.tasks]:
        command = [sys.executable, __file__, "--inside", name]
        runs = [
            json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout)
            for _ in range(arguments.repeat)
        ]
        result = results[name] = min(runs, key=lambda run: run["seconds"])
        what, seconds, megabytes, rival, times = TASKS[names[name]]
        ratio = results[rival]["seconds"] / result["seconds"] if rival in results else None
        met = verdict(result, seconds, megabytes, times, ratio)
        row = {"task": name, "what": what, "seconds": round(result["seconds"], 2)}
        row |= {"cpu_seconds": round(result["cpu_seconds"], 2), "peak_mb": round(result["peak_mb"])}
        row |= {"times_as_fast": round(ratio, 1) if ratio else "", "target_met": met}
        table.append(row)
        clock = f"{row['seconds']:8.2f} s {row['cpu_seconds']:8.2f} cpu s"
        print(f"{what:58} {clock} {row['peak_mb']:6} MB {row['times_as_fast']:>6}  {met}", flush=True)
    if arguments.out:
        from recorded import store

        store(arguments.out, table)


if __name__ == "__main__":
    main()
