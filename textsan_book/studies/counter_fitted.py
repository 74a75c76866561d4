"""Are the vectors that are fitted anew like the published counter-fitted ones? Neighbours, and rated similarity.

The published vectors themselves are no pinned artefact, their nearest neighbours are: up to eight a word. Lists of
neighbours, of pairs and of rated pairs are those of the folder `counterfit` in `TEXTSAN_DATA`.
"""

import json
import lzma
import os
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import scipy.stats

from textsan.evaluation import Estimate, clustered_rate
from textsan.text.embeddings import Embeddings
from textsan.text.loading import COUNTER_FITTED, load_embeddings

_RESAMPLES = 1000


def counter_fitted(*, words: int, nearest: int, seed: int) -> list[dict]:
    """Compare GloVe and the vectors fitted anew with the published ones and with the judgements of people.

    Counted is which share of a word's published neighbours is among its nearest ones by cosine, among the most
    frequent fitted words; and of those alone that are no pair that the vectors were fitted to, which is the harder
    question. Rated similarity is that of SimLex-999. The seed resamples words or rated pairs, for 95 % intervals.
    """
    fitted, glove = load_embeddings(COUNTER_FITTED), load_embeddings()
    frequent = fitted.words[:words]
    published, rated = {row["word"]: row["neighbors"] for row in _listed("neighbors")}, _listed("simlex999")
    pairs = {frozenset((row["w1"], row["w2"])) for row in _listed("ppdb_synonyms")}
    rows = []
    for name, vectors in (("GloVe", glove), ("counter-fitted", fitted)):
        correlation, n = _rank_correlation(vectors, rated, seed)
        rows.append(_row(name, "SimLex-999, rank correlation", correlation, n))
        near = _nearest(vectors.restrict(frequent), nearest)
        for what, left_out in (("published neighbours", set()), ("those that are no pair of the fitting", pairs)):
            shares = []
            for word in frequent:
                known = [other for other in published.get(word, ()) if other in near]
                known = [other for other in known if frozenset((word, other)) not in left_out]
                if known:
                    shares.append(np.mean([other in near[word] for other in known]))
            correlation = clustered_rate(shares, range(len(shares)))
            rows.append(_row(name, what, correlation, len(shares)))
    return rows


def _listed(name: str) -> list[dict]:
    path = Path(os.environ["TEXTSAN_DATA"], "counterfit", f"{name}.jsonl.xz")
    with lzma.open(path, "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def _unit(vectors: Embeddings) -> np.ndarray:
    return vectors.vectors / np.linalg.norm(vectors.vectors, axis=1, keepdims=True)


def _nearest(vectors: Embeddings, k: int) -> dict[str, set[str]]:
    """The words nearest to each by cosine, itself left out."""
    cosines = _unit(vectors) @ _unit(vectors).T
    np.fill_diagonal(cosines, -np.inf)
    neighbours = np.argpartition(-cosines, k, axis=1)[:, :k]
    return {word: {vectors.words[i] for i in row} for word, row in zip(vectors.words, neighbours, strict=True)}


def _rank_correlation(vectors: Embeddings, rated: Sequence[Mapping], seed: int) -> tuple[Estimate, int]:
    """Of cosine and rating, pairs resampled; and of how many pairs."""
    pairs, unit = [row for row in rated if row["w1"] in vectors and row["w2"] in vectors], _unit(vectors)
    cosines = [unit[vectors.index[row["w1"]]] @ unit[vectors.index[row["w2"]]] for row in pairs]
    both, generator = np.array([cosines, [row["score"] for row in pairs]]), np.random.default_rng(seed)
    draws = (both[:, generator.integers(0, len(pairs), len(pairs))] for _ in range(_RESAMPLES))
    values = [scipy.stats.spearmanr(*draw).statistic for draw in draws]
    correlation = scipy.stats.spearmanr(*both).statistic, *np.percentile(values, [2.5, 97.5])
    return Estimate(*map(float, correlation)), len(pairs)


def _row(vectors: str, what: str, found: Estimate, n: int) -> dict:
    return {"vectors": vectors, "what": what, **dict(zip(("value", "low", "high"), found, strict=True)), "n": n}
