"""Are the vectors that are fitted anew like the published counter-fitted ones? Neighbours, and rated similarity.

    TEXTSAN_DATA=FOLDER python benchmarks/counter_fitted.py [--out data/results/counter-fitted.csv]

The published vectors themselves are no pinned artefact, their nearest neighbours are: up to eight a word
(`neighbors`, in the folder `counterfit`). Counted is which share of these is among the K nearest of our vectors,
by cosine, over the vocabulary of the utility grids; and of those alone that are no pair that the vectors were
fitted to, which is the harder question. Rated similarity is that of SimLex-999.
"""

import argparse
import json
import lzma
import os
import platform
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pandas as pd
import scipy.stats
import yaml

from textsan import load_embeddings
from textsan.evaluation import bootstrap_mean

WORDS, K, RESAMPLES = 10_000, 20, 1000


def listed(name):
    folder = Path(os.environ["TEXTSAN_DATA"]) / "counterfit"
    with lzma.open(folder / f"{name}.jsonl.xz", "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def nearest(vectors):
    """The K words nearest to each by cosine, itself left out."""
    unit = vectors.vectors / np.linalg.norm(vectors.vectors, axis=1, keepdims=True)
    cosines = unit @ unit.T
    np.fill_diagonal(cosines, -np.inf)
    found = np.argpartition(-cosines, K, axis=1)[:, :K]
    return {word: {vectors.words[i] for i in row} for word, row in zip(vectors.words, found, strict=True)}


def spearman(vectors, rated):
    """Rank correlation of cosine and rating, with a 95 % interval, pairs resampled."""
    pairs = [row for row in rated if row["w1"] in vectors and row["w2"] in vectors]
    unit = vectors.vectors / np.linalg.norm(vectors.vectors, axis=1, keepdims=True)
    cosines = [unit[vectors.index[row["w1"]]] @ unit[vectors.index[row["w2"]]] for row in pairs]
    both, rng = np.array([cosines, [row["score"] for row in pairs]]), np.random.default_rng(0)
    draws = (both[:, rng.integers(0, len(pairs), len(pairs))] for _ in range(RESAMPLES))
    values = [scipy.stats.spearmanr(*draw).statistic for draw in draws]
    return scipy.stats.spearmanr(*both).statistic, *np.percentile(values, [2.5, 97.5]), len(pairs)


def rows():
    fitted, glove = load_embeddings("counter-fitted"), load_embeddings()
    words = fitted.words[:WORDS]
    published, rated = {row["word"]: row["neighbors"] for row in listed("neighbors")}, listed("simlex999")
    pairs = {frozenset((row["w1"], row["w2"])) for row in listed("ppdb_synonyms")}
    for name, vectors in (("GloVe", glove), ("counter-fitted", fitted)):
        yield dict(vectors=name, what="SimLex-999, rank correlation", **estimate(*spearman(vectors, rated)))
        near = nearest(vectors.restrict(words))
        for what, free in (("published neighbours", False), ("those that are no pair of the fitting", True)):
            shares = []
            for word in words:
                known = [other for other in published.get(word, ()) if other in near]
                known = [other for other in known if not free or frozenset((word, other)) not in pairs]
                if known:
                    shares.append(np.mean([other in near[word] for other in known]))
            found = bootstrap_mean(np.array(shares), np.arange(len(shares)), seed=0)
            yield dict(vectors=name, what=what, **estimate(*found, len(shares)))


def estimate(value, low, high, n):
    return {"value": value, "low": low, "high": high, "n": n}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path("data/results/counter-fitted.csv"))
    out = parser.parse_args().out
    pd.DataFrame(rows()).to_csv(out, index=False, lineterminator="\n", float_format="%.6g")
    versions = {name: version(name) for name in ("textsan", "numpy", "scipy")}
    made = {
        "command": "TEXTSAN_DATA=FOLDER python benchmarks/counter_fitted.py",
        "neighbours": f"share of the published ones among the {K} nearest by cosine, of {WORDS:,} frequent words",
        "intervals": "95 %, words or rated pairs resampled",
        "seed": 0,
        "embeddings": "glove-6b-50d (in place of GloVe, 300 dimensions), as it is and fitted anew",
        "hardware": f"{os.cpu_count()} cores, {platform.machine()}",
        "versions": versions | {"python": platform.python_version()},
    }
    out.with_suffix(".yml").write_text(yaml.safe_dump(made, sort_keys=False), encoding="utf-8")


if __name__ == "__main__":
    main()
