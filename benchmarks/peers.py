"""Peers of the package index, `mldp-text` 0.1.2 and `dp-diffractor` 0.2.1, beside this package on the same words.

    python benchmarks/peers.py --python /path/of/an/environment/with/both/bin/python [--out data/results/peers.csv]

The peers are run as they are, in their own environment: mechanisms by their public call, one word a call.
Printed are words a second; how often the approximate index of `mldp-text` names another word than an exact search
does, for the same noisy vectors; how often a word comes back; and how long the list of `dp-diffractor` is beside
the chain of nearest neighbours. Needs the default vectors. With `--out` the table and its record are written.
"""

import argparse
import json
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

WORDS, TOKENS, EPSILON = 2000, 300, 10.0


def measured(sanitize, words) -> dict:
    """Words a second, and how many of them come back."""
    start = time.perf_counter()
    released = sanitize(words)
    seconds = time.perf_counter() - start
    unchanged = np.mean([a == b for a, b in zip(words, released, strict=True)])
    return {"words a second": len(words) / seconds, "unchanged": float(unchanged)}


def drawn(words) -> list:
    return [words[i] for i in np.random.default_rng(0).integers(len(words), size=TOKENS)]


def theirs(path: str) -> dict:
    """In the environment of the peers."""
    import mldp_text
    from diffractor.utils import EmbeddingManager
    from gensim.models import KeyedVectors

    vectors = KeyedVectors.load_word2vec_format(path, binary=False)
    words = vectors.index_to_key
    tokens = drawn(words)
    given = {"epsilon": EPSILON, "embedding_matrix": vectors, "dim": vectors.vectors.shape[1]}
    found = {}
    for name, label in (("multivariate_calibrated", "fbdd"), ("vickrey", "vickrey"), ("tem", "tem")):
        np.random.seed(0)  # noqa: NPY002  (theirs draw from it)
        replaced = mldp_text.get_mechanism(name, **given).replace_word
        found[label] = measured(lambda words, replaced=replaced: [replaced(word) for word in words], tokens)
    exact = mldp_text.get_mechanism("multivariate_calibrated", use_faiss=False, **given)
    fast = mldp_text.get_mechanism("multivariate_calibrated", **given)
    noisy = [fast.get_perturbed_vector(vectors[word], given["dim"])[0] for word in tokens]
    differ = [int(exact.get_nearest(one)) != int(fast.get_nearest(one)) for one in noisy]
    found["fbdd"]["index names another word"] = float(np.mean(differ))
    start = time.perf_counter()
    order = EmbeddingManager.create_sorted_list(vectors.vectors.astype("float32"), words)
    found["1-diffractor"] = {"seconds for the list": time.perf_counter() - start, "length": length(vectors, order)}
    return found


def ours(embeddings) -> dict:
    """Sanitize the words with this package, as documents of one word."""
    from textsan.mechanisms import OneDiffractor, make_mechanism

    words, found = embeddings.words, {}
    tokens = drawn(words)
    for name in ("fbdd", "vickrey", "tem"):
        mechanism = make_mechanism(name, embeddings, epsilon=EPSILON)
        mechanism.sanitize([tokens[:1]], seed=0)
        found[name] = measured(lambda words, own=mechanism: own.sanitize([words], seed=0)[0], tokens)
    start = time.perf_counter()
    order = [words[i] for i in np.argsort(OneDiffractor(embeddings, 1.0).places)]
    vectors = dict(zip(words, embeddings.vectors, strict=True))
    found["1-diffractor"] = {"seconds for the list": time.perf_counter() - start, "length": length(vectors, order)}
    return found


def length(vectors, order) -> float:
    points = np.array([vectors[word] for word in order], dtype=float)
    return float(np.linalg.norm(np.diff(points, axis=0), axis=1).sum())


def write(peers: dict, here: dict, out: Path) -> None:
    """Write a line for each mechanism and thing that was measured of either."""
    from recorded import store

    rows = [
        {"mechanism": name, "what": what, "peer": peers[name][what], "here": found.get(what)}
        for name, found in here.items()
        for what in peers[name]
    ]
    made = {
        "peers": "mldp-text 0.1.2, dp-diffractor 0.2.1, from the package index",
        "made elsewhere": "with mldp-text 0.1.2 and dp-diffractor 0.2.1; times of one machine",
    }
    store(out, rows, made=made, digits="%.4g")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--python", help="of an environment with mldp-text and dp-diffractor")
    parser.add_argument("--out", type=Path, help="write the table as csv")
    parser.add_argument("--theirs", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.theirs:
        print(json.dumps(theirs(asked.theirs)))
        return
    from textsan import load_embeddings

    embeddings = load_embeddings().frequent(WORDS)
    with TemporaryDirectory() as folder:
        path = Path(folder) / "words.txt"
        lines = [
            f"{word} {' '.join(map(repr, map(float, row)))}"
            for word, row in zip(embeddings.words, embeddings.vectors, strict=True)
        ]
        head = f"{len(lines)} {embeddings.vectors.shape[1]}"
        path.write_text("\n".join([head, *lines]) + "\n", encoding="utf-8")
        child = [asked.python or sys.executable, __file__, "--theirs", str(path)]
        printed = subprocess.run(child, capture_output=True, text=True, check=True).stdout
    peers, here = json.loads(printed.splitlines()[-1]), ours(embeddings)
    print(json.dumps({"peers": peers, "this package": here}, indent=1))
    if asked.out:
        write(peers, here, asked.out)


if __name__ == "__main__":
    main()
