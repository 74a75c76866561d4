"""Make tests/tables/ngrams.npz: what pocketsphinx itself answers on 10,000 n-grams drawn from its table.

    python -m venv pocketsphinx && pocketsphinx/bin/pip install pocketsphinx==5.1.1
    python benchmarks/ngrams_of_the_library.py pocketsphinx/bin/python

Three fifths are listed triples, one fifth listed pairs after a random word, the rest random words. The file holds
numbers of words (in the table's order, -1 where there is none) and the library's whole logarithms to base 1.0001.
"""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np

from textsan.base import assets
from textsan.priors import NGrams

LIBRARY = """
import json, sys
from pocketsphinx import NGramModel
table = NGramModel.readfile(sys.argv[1])
print(json.dumps([table.prob([word for word in gram if word][::-1]) for gram in json.load(sys.stdin)]))
"""


def main(python: str) -> None:
    table, generator = NGrams.load(), np.random.default_rng(0)
    n = len(table.words)
    listed, earlier = np.divmod(generator.choice(table._triples, 6_000), n)
    last, before = np.divmod(table._pairs[listed], n)
    pairs = np.divmod(generator.choice(table._pairs, 2_000), n)
    rows = [np.stack([earlier, before, last], axis=1)]
    rows += [np.stack([generator.integers(n, size=2_000), pairs[1], pairs[0]], axis=1)]
    rows += [generator.integers(n, size=(2_000, 3))]
    numbers = np.concatenate(rows)
    numbers[::10, 0] = -1  # pairs alone
    numbers[::50, :2] = -1  # single words
    grams = [[table.words[i] if i >= 0 else None for i in row] for row in numbers.tolist()]
    command = [python, "-c", LIBRARY, str(assets.fetch("cmu-en-us") / "en-us.lm.bin")]
    done = subprocess.run(command, input=json.dumps(grams), capture_output=True, text=True, check=True)
    path = Path(__file__).parents[1] / "tests" / "tables" / "ngrams.npz"
    answers = np.array(json.loads(done.stdout), dtype=np.int32)
    np.savez_compressed(path, numbers=numbers.astype(np.int32), logarithms=answers)


if __name__ == "__main__":
    main(*sys.argv[1:])
