"""A gate for masked readers: do they fill blanks in text that nobody has sanitized?

Mask inference on sanitized text is evidence about a sanitizer only if its reader names words in the clear.
"""

from collections import Counter

import numpy as np

from textsan.attacks import MaskInference
from textsan.evaluation import clustered_difference, clustered_rate
from textsan.sweeps.problems import prepare
from textsan_book.studies.experiments import columns


def masked_readers(
    *, dataset: str, n_private: int, n_shadow: int, n_positions: int, seed: int, reader: str
) -> list[dict]:
    """Measure how often mask inference names a content word of text in the clear, compared with one word for all.

    Content words are words with a letter or a digit that CusText+ protects. The reader, "public" (the trigram
    table) or "adapter" (the small encoder), chooses from all that it protects, as when it attacks. The constant is
    the word that is most frequent at these very blanks, drawn at random, which no attacker knows. One row: the
    share named, the share that the constant names, and the paired difference over it.
    """
    problem = prepare(dataset, n_private, n_shadow, None, seed, "custext+", epsilon=4.0, k=20)
    docs, sources = problem.truth.docs, problem.split.sources or range(n_private)
    content = [(d, i) for d, i in problem.positions if any(map(str.isalnum, docs[d][i]))]
    drawn = np.sort(np.random.default_rng(seed).choice(len(content), n_positions, replace=False))
    positions = [content[at] for at in drawn]
    truths, clusters = np.array([docs[d][i] for d, i in positions]), [sources[d] for d, _ in positions]
    attack = MaskInference.against(problem.knowledge, public=reader == "public")
    named = np.array(attack.reconstruct(docs, positions)) == truths
    constant = truths == Counter(truths.tolist()).most_common(1)[0][0]
    estimates = {
        "": clustered_rate(named, clusters),
        "constant_": clustered_rate(constant, clusters),
        "over_": clustered_difference(named.astype(float) - constant, clusters),
    }
    row: dict = {"n": len(truths), "words": len(attack.model.words)}
    for prefix, estimate in estimates.items():
        row |= columns(estimate, prefix)
    return [row]
