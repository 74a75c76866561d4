"""What each departure of released code from its paper changes, as far as channels and counts decide it.

    TEXTSAN_DATA=FOLDER python benchmarks/departures.py [--out data/results/departures.csv]

Success is computed, not sampled: for each attacked word x the sum of Pr(y | x) over the outputs y for which the
attack answers x. So nothing depends on the draws of a sanitizer, and the 95 % intervals are those of the
sentences, resampled, both sides together. SST-2 is read from TEXTSAN_DATA or the hub.
"""

import argparse
import os
import platform
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
import yaml
from scipy import sparse

from textsan import Channel, CusText, count_words, load_embeddings, tokenize
from textsan.attacks import ContextFreeBayes
from textsan.evaluation import bootstrap_difference
from textsan.experiments import problems
from textsan.text.corpora import load_dataset
from textsan.text.vocabulary import STOP_WORDS

VOCABULARY = 10_000  # most frequent words of the embeddings; SanText's cost grows with its square
CORPUS, N_PRIVATE, N_SHADOW, SEED = "rt", 1000, 1000, 0
CUSTEXT = (1.0, 2.0, 4.0, 8.0)
SANTEXT = (2.0, 2.4, 2.8, 3.2)
ATTACKED = {"custext+": 3000, "santext+": 1000}  # positions of Tong et al. 2024
TYPES, REPEATS = 1000, 20  # its sanitized types under attack; draws of shadow lines from SST-2
K = 20


class Score(NamedTuple):
    """Expected hits and attacked words of each sentence."""

    hits: np.ndarray
    words: np.ndarray

    @property
    def rate(self) -> float:
        return float(self.hits.sum() / self.words.sum())


# --- expected success -----------------------------------------------------------------------------------------


def answers(attack: ContextFreeBayes) -> np.ndarray:
    """Row number of the input that the attack answers to each output."""
    channel = attack.channel
    best = attack.tabulated().numbers[:, 0]
    own = np.array([channel.input_index.get(word, -1) for word in channel.outputs])
    return np.where(best >= 0, best, own)


def equal(channel: Channel, guesses: np.ndarray) -> sparse.csr_array:
    """1 where the answer to an output is the input, (n_in, n_out)."""
    known = np.flatnonzero(guesses >= 0)
    return sparse.csr_array((np.ones(len(known)), (guesses[known], known)), shape=channel.shape)


def contained(channel: Channel, guesses: np.ndarray) -> sparse.csr_array:
    """1 where the answer to an output contains the input."""
    rows, columns = [], []
    for column, guess in enumerate(guesses):
        word = channel.inputs[guess]
        parts = {word[i:j] for i in range(len(word)) for j in range(i + 1, len(word) + 1)}
        found = [channel.input_index[part] for part in parts if part in channel.input_index]
        rows += found
        columns += [column] * len(found)
    return sparse.csr_array((np.ones(len(rows)), (rows, columns)), shape=channel.shape)


def expected(channel: Channel, hit: sparse.csr_array | None, outputs=None) -> np.ndarray:
    """Sum of Pr(y | x) over the outputs that are a hit for x (None: all are), over some of them if given."""
    found = np.zeros(channel.shape[0])
    for at in range(0, len(found), 256):
        rows = np.arange(at, min(at + 256, len(found)))
        weights = np.ones((len(rows), channel.shape[1])) if hit is None else hit[rows].toarray()
        if outputs is not None:
            weights *= outputs
        found[rows] = (channel.rows(rows) * weights).sum(axis=1)
    return found


def score(problem, by_word: np.ndarray, weight: np.ndarray | None = None) -> Score:
    """Hits and words by sentence, from what each input of the channel contributes."""
    documents = np.array([document for document, _ in problem.positions])
    rows = np.array([problem.mechanism.channel.input_index[word] for word in problem.truth.words])
    size = len(problem.split.private)
    counted = np.bincount(documents, None if weight is None else weight[rows], size)
    return Score(np.bincount(documents, by_word[rows], size), counted.astype(float))


def context_free(problem, channel=None, counts=None, constant=None, hit=equal) -> np.ndarray:
    """Expected hits of the context-free attack, or with the counts of the truth and no constant of its bound."""
    channel = problem.mechanism.channel if channel is None else channel
    counts = count_words(problem.split.shadow) if counts is None else counts
    return expected(
        channel,
        hit(channel, answers(ContextFreeBayes(channel, counts, constant, attacked=problem.knowledge.attacked))),
    )


def prepare(defence, epsilon, **given):
    drawn = CORPUS, N_PRIVATE, N_SHADOW, None, SEED
    return problems.prepare(*drawn, defence, epsilon=epsilon, vocabulary=VOCABULARY, **given)


def custext(epsilon, mapping="overlapping", normalise="group"):
    return prepare("custext+", epsilon, mapping=mapping, normalise=normalise)


def santext(epsilon, w=0.999, p=0.0):
    return prepare("santext+", epsilon, w=w, p=p)


SETTINGS = [("custext+", e, custext) for e in CUSTEXT] + [("santext+", e, santext) for e in SANTEXT]


# --- the departures: each yields (defence, epsilon, described, released) ------------------------------------


def substring():
    for defence, epsilon, build in SETTINGS:
        problem = build(epsilon)
        yield (
            defence,
            epsilon,
            score(problem, context_free(problem)),
            score(problem, context_free(problem, hit=contained)),
        )


def counters():
    """What a baseline as good as the context-free attack prints, as the mean over all smaller epsilons."""
    seen = []
    for epsilon in range(1, 9):
        problem = custext(float(epsilon))
        seen.append(score(problem, context_free(problem)))
        if epsilon in CUSTEXT:
            mean = Score(np.mean([one.hits for one in seen], axis=0), seen[-1].words)
            yield "custext+", float(epsilon), seen[-1], mean


def mapping():
    for epsilon in CUSTEXT:
        cases = [custext(epsilon, mapping=name) for name in ("disjoint", "overlapping")]
        yield "custext+", epsilon, *(score(problem, context_free(problem)) for problem in cases)


def output_space():
    """Each word's neighbours among all 400,000 words of GloVe 6B, not among those of the data."""
    options = {"k": K, "mapping": "overlapping", "normalise": "row", "outputs": load_embeddings()}
    wide = CusText(custext(1.0).split.embeddings, 1.0, keep=STOP_WORDS, **options)
    for epsilon in CUSTEXT:
        problem, channel = custext(epsilon), wide.with_(epsilon=epsilon).channel
        yield (
            "custext+",
            epsilon,
            score(problem, context_free(problem)),
            score(problem, context_free(problem, channel)),
        )


def normalise():
    for epsilon in CUSTEXT:
        cases = [custext(epsilon, "disjoint", name) for name in ("group", "row")]
        yield "custext+", epsilon, *(score(problem, context_free(problem)) for problem in cases)


def nearly_all_sensitive():
    for epsilon in SANTEXT:
        cases = [santext(epsilon, w, p) for w, p in ((0.9, 0.3), (0.999, 0.0))]
        yield "santext+", epsilon, *(score(problem, context_free(problem)) for problem in cases)


def kept_unknown():
    """Words without a vector: uniform draws, or released as they are; they count as attacked words here."""
    for epsilon in SANTEXT:
        problem = santext(epsilon)
        known = score(problem, context_free(problem))
        unknown = np.array(
            [sum(word not in problem.split.embeddings for word in doc) for doc in problem.split.private]
        )
        words = known.words + unknown
        yield "santext+", epsilon, Score(known.hits, words), Score(known.hits + unknown, words)


def bound_of_sentences():
    """The bound's prior: the attacked words, or all protected words of the sentences that they stand in."""
    for defence, epsilon, build in SETTINGS:
        problem = build(epsilon)
        chosen = np.random.default_rng(SEED).choice(len(problem.positions), ATTACKED[defence], replace=False)
        some = [problem.positions[i] for i in sorted(chosen)]
        few = replace(problem, truth=replace(problem.truth, positions=some))
        sentences = count_words(problem.split.private[d] for d in sorted({d for d, _ in few.positions}))
        sides = [
            context_free(few, counts=counts, constant=0) for counts in (count_words([few.truth.words]), sentences)
        ]
        yield defence, epsilon, *(score(few, side) for side in sides)


def frequent_types():
    """Attacked are the places whose released word is one of 1,000 that a sanitization at epsilon 8 contained."""
    high = custext(8.0)
    released = sorted({high.released[d][i] for d, i in high.positions})
    types = set(np.random.default_rng(SEED).permutation(released)[:TYPES])
    for epsilon in CUSTEXT:
        problem = custext(epsilon)
        channel = problem.mechanism.channel
        among = np.array([word in types for word in channel.outputs], dtype=float)
        hits = equal(
            channel,
            answers(
                ContextFreeBayes(channel, count_words(problem.split.shadow), attacked=problem.knowledge.attacked)
            ),
        )
        reached = expected(channel, None, among)
        yield (
            "custext+",
            epsilon,
            score(problem, context_free(problem)),
            score(problem, expected(channel, hits, among), reached),
        )


DEPARTURES = {
    "hits are counted by substring": substring,
    "counters are never reset between epsilons": counters,
    "each word has neighbours of its own": mapping,
    "neighbours come from all of GloVe": output_space,
    "scores are normalised for each word": normalise,
    "w = 0.999 and p = 0 in place of 0.9 and 0.3": nearly_all_sensitive,
    "words without a vector are kept": kept_unknown,
    "the bound's prior counts whole sentences": bound_of_sentences,
    "attacked are 1,000 words that are released at epsilon 8": frequent_types,
}


# --- two that are about draws -----------------------------------------------------------------------------------


def other_positions():
    """An attack minus itself on two draws of as many words as the paper attacks: what comparisons may be off."""
    for defence, epsilon, build in SETTINGS:
        problem, generator = build(epsilon), np.random.default_rng(SEED)
        rate = score(problem, context_free(problem)).rate
        n, total = ATTACKED[defence], len(problem.positions)
        hits = generator.random(total) < rate  # the order of the words does not matter here
        draws = [hits[generator.choice(total, 2 * n, replace=False)] for _ in range(1000)]
        differences = [draw[:n].mean() - draw[n:].mean() for draw in draws]
        yield defence, epsilon, rate, rate, 0.0, *np.quantile(differences, [0.025, 0.975]), total


def by_line(epsilon=4.0):
    """SST-2: shadow lines of sentences that private lines are of, or of other sentences; 20,000 private lines."""
    records = load_dataset("sst2")
    generator = np.random.default_rng(SEED)
    source = np.array([record.fields["part_of"] for record in records])
    sentences = generator.permutation(np.unique(source))
    inside = np.isin(source, sentences[: 2 * len(sentences) // 3])
    lines = generator.permutation(np.flatnonzero(inside))
    private, left = lines[:20_000], lines[20_000:]
    pools = {"line": left, "sentence": np.flatnonzero(~inside)}
    tokens = [tokenize(record.text) for record in records]
    words = {word for line in tokens for word in line}
    glove = load_embeddings()
    mechanism = CusText(
        glove.restrict(word for word in glove.words if word in words),
        epsilon,
        mapping="overlapping",
        keep=STOP_WORDS,
    )
    channel, spared = mechanism.channel, STOP_WORDS & set(mechanism.inputs)
    attacked = count_words(tokens[i] for i in private)
    true = np.array([0 if word in spared else attacked[word] for word in channel.inputs], dtype=float)
    true /= true.sum()
    rates = {name: [] for name in pools}
    for _ in range(REPEATS):
        for name, pool in pools.items():
            counts = count_words(tokens[i] for i in generator.choice(pool, 1000, replace=False))
            guesses = answers(ContextFreeBayes(channel, counts, attacked=set(channel.inputs) - spared))
            rates[name].append(true @ expected(channel, equal(channel, guesses)))
    shared = {name: float(np.isin(source[pool], source[private]).mean()) for name, pool in pools.items()}
    difference = np.array(rates["line"]) - rates["sentence"]
    half = 1.96 * difference.std(ddof=1) / np.sqrt(REPEATS)
    mean = difference.mean()
    note = (
        f"{shared['line']:.3f} of the shadow lines are of private sentences; {shared['sentence']:.3f} by sentence"
    )
    sides = (np.mean(rates["sentence"]), np.mean(rates["line"]))
    yield "custext+", epsilon, *sides, mean, mean - half, mean + half, int(attacked.total()), note


# --- the table --------------------------------------------------------------------------------------------

COLUMNS = "departure defence epsilon described released effect low high n_positions note".split()


def rows(only):
    for name, departure in DEPARTURES.items():
        if only in (None, name):
            for defence, epsilon, described, released in departure():
                n = round(described.words.sum())
                gain = bootstrap_difference(released, described, seed=SEED)
                values = described.rate, released.rate, *gain, n, CORPUS
                yield name, defence, epsilon, *values
                print(name, defence, epsilon, *np.round(values[:5], 4), flush=True)
    if only in (None, "positions"):
        for row in other_positions():
            yield "attacks are compared on different words", *row, CORPUS
    if only in (None, "sst2"):
        for row in by_line():
            yield "shadow and private text are disjoint by line only", *row
            print(*row, flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", help="one departure, 'positions' or 'sst2'")
    parser.add_argument("--out", type=Path, default=Path("data/results/departures.csv"))
    arguments = parser.parse_args()
    frame = pd.DataFrame(rows(arguments.only), columns=COLUMNS)
    frame.round(5).to_csv(arguments.out, index=False, lineterminator="\n")
    made = {
        "command": "TEXTSAN_DATA=FOLDER python benchmarks/departures.py",
        "success": "expected, from channels and shadow counts",
        "intervals": "95 %, sentences resampled; of sst2, over draws of shadow lines",
        "data": f"{CORPUS} (in place of SST-2), {N_PRIVATE} private and {N_SHADOW} shadow sentences; sst2",
        "seed": SEED,
        "vocabulary": f"{VOCABULARY:,} most frequent words of the embeddings; of sst2, the words of the data",
        "embeddings": "glove-6b-50d (in place of GloVe 840B, 300 dimensions)",
        "hardware": f"{os.cpu_count()} cores, {platform.machine()}",
        "versions": {name: version(name) for name in ("textsan", "numpy", "scipy")}
        | {"python": platform.python_version()},
    }
    arguments.out.with_suffix(".yml").write_text(
        yaml.safe_dump(made, sort_keys=False, width=110), encoding="utf-8"
    )


if __name__ == "__main__":
    main()
