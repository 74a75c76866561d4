"""Releases of a word that the query attack needs (Chen et al. 2023, Table 2), on vocabularies of its size."""

import math
from bisect import bisect_left
from typing import NamedTuple

import numpy as np
import scipy

from textsan.base import checks
from textsan.leakage.repeated_releases import queries_bounds, queries_needed
from textsan.mechanisms import CusText
from textsan.text.corpora import load_dataset
from textsan.text.embeddings import Embeddings
from textsan.text.loading import COUNTER_FITTED, load_embeddings
from textsan.text.vocabulary import count_words

WORDS, EPSILONS = ("she", "car", "alice", "happy"), (1.0, 2.0, 3.0, 8.0)
"""The words of the paper's table."""

_SIZE = 65_713  # words of the published vectors


def query_words(*, dataset: str, embeddings: str, normalise: str, k: int) -> list[dict]:
    """Compute the fewest draws whose mode is the word with 95 % confidence, exactly, for `WORDS` and `EPSILONS`.

    Words of the data come first, the most frequent one at the head, as in the released code's mapping. The
    vocabulary of "glove-6b-50d" is the first 65,713 words and those of the data; that of "counter-fitted" the
    published one, compared by cosine, as published. Scores are normalised over a "group" of k words as in the
    paper or over a "row" as in the released code.
    """
    similarity = "cosine" if embeddings == COUNTER_FITTED else "euclidean"
    vocabulary = _vocabulary(dataset, embeddings)
    mechanism = CusText(vocabulary, EPSILONS[0], k=k, similarity=similarity, normalise=normalise)
    rows = []
    for epsilon in EPSILONS:
        channel = mechanism.with_(epsilon=epsilon).channel
        row = {"defence": "custext", "epsilon": epsilon, "vocabulary": len(vocabulary)}
        for word in WORDS:
            needed = queries_needed(channel.rows([word])[0], channel.output_index[word])
            rows.append(row | {"word": word, "queries": needed})
    return rows


def _vocabulary(dataset: str, embeddings: str) -> Embeddings:
    counts = count_words(record.tokens for split in ("train", "dev") for record in load_dataset(dataset, split))
    vectors = load_embeddings(embeddings)
    words = vectors.words
    if embeddings != COUNTER_FITTED:
        words = [*words[:_SIZE], *(word for word in counts if word in vectors)]
    return vectors.restrict(sorted(dict.fromkeys(words), key=lambda word: -counts[word]))


class QueryCount(NamedTuple):
    """A number of draws, and the range it lies in."""

    value: float
    low: float
    high: float


def simulate_queries(row, x: int, confidence: float = 0.95, *, trials: int = 1000, seed: int) -> QueryCount:
    """Estimate N, as in the paper: the share of `trials` runs of n draws whose mode is x, n by bisection.

    Low and high are the two n at which the ends of the share's 95 % Wilson interval cross the confidence.
    """
    trials = checks.whole("trials", trials, low=1)
    if queries_bounds(row, x, confidence)[0] == math.inf:
        return QueryCount(math.inf, math.inf, math.inf)
    row = np.asarray(row, dtype=np.float64)
    rivals = np.delete(row, x)
    p = np.array([min(row[x], 1.0), *rivals[rivals > 0]])
    p /= p.sum()

    def share(n):
        generator = np.random.default_rng([seed, n])
        counts = generator.multinomial(n, p, size=trials)
        winners = counts == counts.max(axis=1, keepdims=True)
        hits = int((winners[:, 0] & (generator.random(trials) * winners.sum(axis=1) < 1)).sum())
        interval = scipy.stats.binomtest(hits, trials).proportion_ci(method="wilson")
        return hits / trials, interval.high, interval.low

    def crossing(kind):
        n = 1
        while share(n)[kind] < confidence:
            n *= 2
        return 1 + bisect_left(range(1, n), True, key=lambda n: share(n)[kind] >= confidence)

    return QueryCount(*(crossing(kind) for kind in range(3)))
