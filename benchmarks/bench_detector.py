"""Seconds of ranking K candidates with a detector, ten repetitions of some words, as Tong et al. 2024 time theirs.

    python benchmarks/bench_detector.py [--out data/results/detector-seconds.csv] [--repeat 10] [--words 50]

Their Table 3 has the minutes of the contextual K-ASR bound for 1,000 words of SST-2 under CusText+. Here are whole
sentences of `rt` under CusText+ at epsilon 4, other words in every repetition. The detector has read
nothing: seconds do not hang on what its weights are, and training is no part of them.
"""

import argparse
import time
from pathlib import Path

from recorded import store

KS = (1, 5, 10, 15, 20)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, help="write the table as csv")
    parser.add_argument("--repeat", type=int, default=10, help="repetitions, each on other words")
    parser.add_argument("--words", type=int, default=50, help="attacked in a repetition")
    given = parser.parse_args()
    from textsan.attacks import ContextualBayes
    from textsan.sweeps import problems

    n = given.words * given.repeat
    problem = problems.prepare("rt", 200, 1000, n, 0, "custext+", epsilon=4, k=20)
    knowledge, rows = problem.knowledge, []
    for k in KS:
        attack = ContextualBayes(knowledge.channel, knowledge.counts, k=k, attacked=knowledge.attacked)
        attack.reconstruct(problem.released, problem.positions[:2])  # what is made once is made
        for repetition in range(given.repeat):
            some = problem.positions[repetition * given.words : (repetition + 1) * given.words]
            before, begin = attack.detector.encoded, time.perf_counter()
            attack.reconstruct(problem.released, some)
            taken, read = time.perf_counter() - begin, attack.detector.encoded - before
            row = {"k": k, "repetition": repetition, "words": len(some), "pairs": read, "seconds": round(taken, 3)}
            rows.append(row)
            print(row, flush=True)
    if given.out:
        store(given.out, rows, ["torch"])


if __name__ == "__main__":
    main()
