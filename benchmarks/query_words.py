"""N of the query attack for the words of Chen et al. 2023, Table 2, exactly, on a vocabulary of the paper's size.

    TEXTSAN_DATA=FOLDER python benchmarks/query_words.py [--dataset sst2] [--out data/results/query.csv]
    TEXTSAN_DATA=FOLDER python benchmarks/query_words.py --counter-fitted --out query.csv

The vocabulary is that of GloVe 6B, its 65,713 first words and those of the data; words of the data come first, the
most frequent one at the head, as in the released code's mapping. Both ways of normalising the scores are computed.
The counter-fitted vectors are GloVe's of the words that the published ones were made of (`vocabulary`, in the
folder `counterfit`), fitted with the published pairs of synonyms and antonyms. As published they are compared by
cosine.
"""

import argparse
import os
import platform
from importlib.metadata import version
from pathlib import Path

import pandas as pd
import yaml

from textsan import CusText, count_words, load_embeddings
from textsan.leakage.repeated_releases import queries_needed
from textsan.text import counter_fitting
from textsan.text.corpora import load_dataset

WORDS, EPSILONS, K, SIZE = ("she", "car", "alice", "happy"), (1.0, 2.0, 3.0, 8.0), 20, 65_713


def rows(dataset, fitted):
    counts = count_words(record.tokens for split in ("train", "dev") for record in load_dataset(dataset, split))
    glove = load_embeddings()
    if fitted:
        vectors = load_embeddings("counter-fitted")
        words = vectors.words
    else:
        vectors, words = glove, [*glove.words[:SIZE], *(word for word in counts if word in glove)]
    vocabulary = vectors.restrict(sorted(dict.fromkeys(words), key=lambda word: -counts[word]))
    embeddings = "counter-fitted" if fitted else "glove-6b-50d"
    for normalise in ("group", "row"):
        similarity = "cosine" if fitted else "euclidean"
        mechanism = CusText(vocabulary, EPSILONS[0], k=K, similarity=similarity, normalise=normalise)
        for epsilon in EPSILONS:
            channel = mechanism.with_(epsilon=epsilon).channel
            for word in WORDS:
                needed = queries_needed(channel.rows([word])[0], channel.output_index[word])
                row = {"dataset": dataset, "defence": "custext", "embeddings": embeddings}
                row |= {"normalise": normalise, "epsilon": epsilon}
                yield row | {"k": K, "vocabulary": len(vocabulary), "word": word, "queries": needed}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dataset", default="sst2")
    parser.add_argument("--out", type=Path, default=Path("data/results/query.csv"))
    parser.add_argument("--counter-fitted", action="store_true")
    arguments = parser.parse_args()
    table = pd.DataFrame(rows(arguments.dataset, arguments.counter_fitted))
    table.to_csv(arguments.out, index=False, lineterminator="\n")
    versions = {name: version(name) for name in ("textsan", "numpy", "scipy")}
    made = {
        "command": f"python benchmarks/query_words.py --dataset {arguments.dataset}"
        + " --counter-fitted" * arguments.counter_fitted,
        "queries": "fewest draws whose mode is the word with 95 % confidence, exact",
        "embeddings": "glove-6b-50d (in place of GloVe, 300 dimensions)"
        + f", counter-fitted with a radius of {counter_fitting.RADIUS}" * arguments.counter_fitted,
        "hardware": f"{os.cpu_count()} cores, {platform.machine()}",
        "versions": versions | {"python": platform.python_version()},
    }
    arguments.out.with_suffix(".yml").write_text(yaml.safe_dump(made, sort_keys=False), encoding="utf-8")


if __name__ == "__main__":
    main()
