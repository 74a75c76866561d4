"""Seconds of the three Bayes rules, by NumPy, by torch on the processor, and by torch on a GPU where one is found.

    python benchmarks/bench_rules.py [--repeat 3] [--out data/results/rules-speed.csv] [--words 20000]

The rules are V(X | Y), the ten likeliest originals of every released word, and forward-backward over sentences.
The channel is SanText's over the most frequent words of GloVe, computed from their vectors each time, the prior is
one over the rank, and the sentences are drawn from a bigram model of `rt`. Seconds are wall-clock, the least of
the runs after one that is not counted (a GPU loads its kernels then). Beside each stands how far the numbers are
from those of NumPy; beside the table its record is written.
"""

import argparse
import time
from pathlib import Path

from recorded import store

EPSILON = 4.0
SENTENCES, LENGTH = 64, 20


def rules(words: int):
    """Each rule as what it is and a function of the device that gives an array."""
    import numpy as np

    from textsan import SanText, leakage, load_dataset, load_embeddings
    from textsan.attacks import MarkovBayes
    from textsan.priors import MarkovModel, Prior

    embeddings = load_embeddings().frequent(words)
    ranks = 1 / np.arange(1, words + 1)
    prior = Prior(embeddings.words, ranks / ranks.sum())

    def channel(some=embeddings):
        return SanText(some, EPSILON, device="cpu").channel  # anew, or what it keeps would count once

    few = embeddings.frequent(words // 4)
    corpus = [[x for x in record.tokens if x in few] for record in load_dataset("rt")]
    model = MarkovModel.fit(filter(None, corpus), words=few.words)
    docs = SanText(few, EPSILON, device="cpu").sanitize(model.sample(SENTENCES, seed=0, length=LENGTH), seed=0)
    positions = [(d, i) for d in range(SENTENCES) for i in range(LENGTH)]

    def vulnerability(device):
        return np.array([leakage.bayes_vulnerability(prior, channel(), device=device)])

    def posterior(device):
        return np.exp(channel().posterior(prior, k=10, device=device).log_probabilities)

    def forward_backward(device):
        found = MarkovBayes(channel(few), model, device=device).posteriors(docs, positions, k=10)
        return np.exp(found.log_probabilities)

    sentences = f"{SENTENCES} sentences of {LENGTH} words, {words // 4:,} states"
    return {
        "V(X | Y)": (f"SanText, {words:,} words", vulnerability),
        "posterior, k = 10": (f"SanText, {words:,} words", posterior),
        "forward-backward": (f"SanText, {sentences}", forward_backward),
    }


def places() -> dict[str, str | None]:
    """Name where to compute; the GPU only where torch finds one."""
    import torch

    found: dict[str, str | None] = {"processor, NumPy": None, "processor, torch": "cpu"}
    return found | ({"GPU, torch": "cuda"} if torch.cuda.is_available() else {})


def seconds(rule, device, repeat: int):
    """The least of `repeat` runs after a first, and what the rule gives."""
    rule(device)
    taken = []
    for _ in range(repeat):
        begin = time.perf_counter()
        found = rule(device)  # an array of NumPy: nothing is left to wait for on a GPU
        taken.append(time.perf_counter() - begin)
    return min(taken), found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, help="write the table as csv")
    parser.add_argument("--repeat", type=int, default=1, help="runs of each rule that count")
    parser.add_argument("--words", type=int, default=20_000, help="of the vocabulary; a quarter are states")
    arguments = parser.parse_args()
    import numpy as np

    table = []
    where = places()
    for name, (what, rule) in rules(arguments.words).items():
        expected = None
        for place, device in where.items():
            took, found = seconds(rule, device, arguments.repeat)
            expected = found if expected is None else expected
            off = float(np.abs(found - expected).max())
            row = {"rule": name, "what": what, "on": place, "seconds": round(took, 2), "off": f"{off:.0e}"}
            table.append(row | {"note": ""})
            print(f"{name:20} {place:18} {took:8.2f} s   off by {off:.0e}", flush=True)
        if "GPU, torch" not in where:
            row = {"rule": name, "what": what, "on": "GPU, torch", "seconds": "", "off": ""}
            table.append(row | {"note": "no GPU was there"})
    if arguments.out:
        store(arguments.out, table, ["torch"])


if __name__ == "__main__":
    main()
