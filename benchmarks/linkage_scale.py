"""Time linking at size: the exact rate over 20,000 words, and a thousand releases among a million documents.

    .venv/bin/python benchmarks/linkage_scale.py [rate] [link] [santext] [custext]

Documents of the second part are synthetic, words drawn from the unigram of `rt`: no corpus at hand has a million.
Each line has seconds on the clock, seconds of processor and the most memory that the process has held so far.
"""

import resource
import sys
import time

from textsan.base import kernels

kernels.pin()

import numpy as np

import textsan
from textsan import leakage
from textsan.attacks import Linkage
from textsan.mechanisms import CusText, SanText
from textsan.text.vocabulary import count_words

WORDS, LENGTH, RELEASES, CANDIDATES = 20_000, 20, 1_000, 1_000_000


def timed(what, function):
    wall, cpu = time.perf_counter(), time.process_time()
    result = function()
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    spent = (
        f"{time.perf_counter() - wall:6.1f} s, {time.process_time() - cpu:6.1f} s of processor, {memory:.2f} GiB"
    )
    print(f"{what}: {spent}", flush=True)
    return result


def main(parts):
    embeddings = textsan.load_embeddings().frequent(WORDS)
    split = textsan.load_split("rt", n_private=1, n_shadow=3_000, seed=0)
    prior = textsan.Prior.from_counts(count_words(split.shadow), embeddings.words)
    known = {"custext": CusText, "santext": SanText}
    asked = [name for name in known if name in parts] or known
    mechanisms = {f"{name}, epsilon 1": known[name](embeddings, 1.0) for name in asked}
    parts = [part for part in parts if part not in known] or ["rate", "link"]
    if "rate" in parts:
        for name, mechanism in mechanisms.items():
            channel = mechanism.channel
            told = timed(
                f"{name}: information", lambda channel=channel: leakage.mutual_information(prior, channel)
            )
            print(f"  {told:.4f} nats a word")
            for length, n in ((20, 1_000), (1_000, 10**9)):
                asked = prior, channel, length, n
                rate = timed(f"  {length} words among {n:,}", lambda asked=asked: leakage.linkage_success(*asked))
                print(f"  {rate}")
    if "link" in parts:
        rng = np.random.default_rng(0)
        draws = rng.choice(WORDS, (CANDIDATES, LENGTH), p=prior.probabilities)
        docs = [[embeddings.words[i] for i in row] for row in draws]
        for name, mechanism in mechanisms.items():
            released = mechanism.sanitize(docs[:RELEASES], seed=0)
            attack = Linkage(mechanism)
            links = timed(f"{name}: linked", lambda attack=attack, some=released: attack.link(some, docs, k=1))
            print(f"  right: {(links.best == np.arange(RELEASES)).mean():.3f}")


if __name__ == "__main__":
    main(sys.argv[1:])
