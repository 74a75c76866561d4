"""The language model read in float32 and in bfloat16: the same words, their success, and the seconds it takes.

    TEXTSAN_DATA=FOLDER python benchmarks/precision.py [--private 100] [--out data/results/precision.csv]

Meant for a processor with tiles for bfloat16 (AMX); without them products in bfloat16 are slower than in float32.
Each mixture is made anew, weights included; its seconds leave out what the language model alone had read before.
"""

import argparse
import os
import time
from dataclasses import replace
from pathlib import Path

from textsan.base import kernels

kernels.pin()  # a table is made of what comes out: before anything loads NumPy

import numpy as np
import torch
from recorded import store

from textsan.evaluation import clustered_rate, paired_difference
from textsan.priors import LanguageModel
from textsan.sweeps.problems import prepare

CELL = {"dataset": "rt", "n_shadow": 1000, "seed": 0, "mechanism": "custext+", "epsilon": 4.0, "k": 20}


def rows(n_private):
    problem = prepare(n_private=n_private, n_positions=None, **CELL)
    knows, truths, groups = problem.knowledge, problem.truth.words, problem.sentences
    first = {}
    for precision in ("float32", "bfloat16"):
        resources = knows.resources | {"language model": LanguageModel.named(precision=precision)}
        informed = replace(problem, knowledge=replace(knows, resources=resources))
        for name in ("language model", "mixture"):
            start = time.perf_counter()
            guess = informed.guesses(name)
            seconds = time.perf_counter() - start
            row = {"attack": name, "precision": precision, "n": len(truths), "seconds": round(seconds, 1)}
            rate = clustered_rate(np.equal(guess, truths), groups)
            over = paired_difference(guess, first.setdefault(name, guess), truths, groups)
            row |= dict(zip(("asr", "low", "high"), rate, strict=True))
            yield row | dict(zip(("over_asr", "over_low", "over_high"), over, strict=True))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--private", type=int, default=100, help="sentences that are attacked")
    parser.add_argument("--out", type=Path, default=Path("data/results/precision.csv"))
    arguments = parser.parse_args()
    hardware = f"{kernels.hardware()}; {torch.get_num_threads()} threads of {os.cpu_count()}"
    made = {"problem": CELL, "hardware": [hardware]}
    store(arguments.out, rows(arguments.private), ["textsan", "torch", "transformers"], made)


if __name__ == "__main__":
    main()
