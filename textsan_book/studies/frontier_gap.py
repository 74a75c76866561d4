"""The distance of the two ends of the frontier over a whole vocabulary.

`leakage.frontier` returns what a channel attains and what a certificate proves. Where they part, nobody knows
which of the two is the frontier.
"""

from textsan.leakage import frontier, prior_vulnerability
from textsan.priors import Prior
from textsan.sweeps.splits import load_split
from textsan.text.vocabulary import count_words

LEVELS = 0.1, 0.2, 0.3, 0.45, 0.6, 0.8
"""V(X | Y) of the points, of which those above the blind guess are computed, in one call."""
_PRIVATE, _SHADOW = 200, 1000  # sentences that the prior does not count


def frontier_gaps(*, dataset: str, vocabulary: int, seed: int) -> list[dict]:
    """Compute the least expected distance at several values of V(X | Y): certificate and attained, a row a level.

    The data set gives the prior, with half a count for each word of the vocabulary; private text and the
    attacker's are not counted. Each word may be released for each. `gap` is 1 - lower / upper of the two ends.
    """
    split = load_split(dataset, _PRIVATE, _SHADOW, seed=seed, vocabulary=vocabulary)
    words, counts = split.embeddings.words, count_words(split.population)
    prior = Prior.from_counts(counts, words, 0.5 / sum(counts.values()))
    blind = prior_vulnerability(prior)
    first, *also = [level for level in LEVELS if level > blind]
    curve = frontier(prior, split.embeddings, first, also=also)
    rows = []
    for level in (first, *also):
        lower, upper = curve.least_loss(level), curve.attained_loss(level)
        row = {"words": len(words), "blind": blind, "level": level, "lower": lower, "upper": upper}
        rows.append(row | {"gap": 1 - lower / upper})
    return rows
