"""Batches a second that the networks of Pan et al. 2020 learn from, ten repetitions each.

    python benchmarks/bench_heads.py [--out data/results/heads-rates.csv] [--repeat 10] [--steps 1000]

Their section V-D has over a hundred batches a second, in both cases. Here are the networks of citizen numbers
and the one of genomes, with their batches of 128, on vectors of MiniLM's width. The vectors are normal and the
labels uniform: seconds do not hang on them. What it takes to encode texts is no part of it.
"""

import argparse
import time
from functools import partial
from pathlib import Path

from recorded import store

WIDTH, ROWS = 384, 20_000


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, help="write the table as csv")
    parser.add_argument("--repeat", type=int, default=10, help="repetitions, each of another network")
    parser.add_argument("--steps", type=int, default=1000, help="batches of a repetition")
    given = parser.parse_args()
    import torch

    from textsan.embedding_leakage import heads
    from textsan.embedding_leakage.pattern import BIRTH

    cases = [(part.name, partial(heads.stack, WIDTH, [part.hidden], len(part.values))) for part in BIRTH]
    cases.append(("base of a genome", partial(heads.stack, 2 * WIDTH, [400, 100], 4, normalise=True)))
    rows, stream = [], torch.Generator().manual_seed(0)
    for name, make in cases:
        net = make()
        width, classes = net[0].in_features, net[-1].out_features
        inputs = torch.randn(ROWS, width, generator=stream)
        truth = torch.randint(classes, (ROWS,), generator=stream)

        def loss(net, some, _, inputs=inputs, truth=truth):
            return torch.nn.functional.cross_entropy(net(inputs[some]), truth[some])

        heads.train(make, loss, ROWS, steps=10, seed=0)  # what is made once is made
        for repetition in range(given.repeat):
            begin = time.perf_counter()
            heads.train(make, loss, ROWS, steps=given.steps, seed=repetition)
            rate = round(given.steps / (time.perf_counter() - begin), 1)
            rows.append({"network": name, "repetition": repetition, "batches": given.steps, "rate": rate})
            print(rows[-1], flush=True)
    if given.out:
        store(given.out, rows, ["torch"])


if __name__ == "__main__":
    main()
