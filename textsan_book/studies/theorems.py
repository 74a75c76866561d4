"""The papers' theorems in worlds where both sides are exact: what is claimed, and what is.

Guarantees are computed on the most frequent words of the public vocabulary; optimality, in worlds of random
probabilities that are small enough to try every rule.
"""

from collections.abc import Iterator
from itertools import product

import numpy as np

import textsan
from textsan.channel import Channel
from textsan.privacy import tight_epsilon, tight_metric_epsilon, tight_umldp_epsilon
from textsan.privacy.deniability import expected_deniability
from textsan.privacy.tight_epsilons import tight_group_epsilon
from textsan_book.studies.enumeration import JointDistribution, markov_source

EPSILONS = 1.0, 2.0, 3.0
"""The values of the papers' tables."""


def theorems(*, words: int, p: float, seed: int) -> list[dict]:
    """Compute both sides of each theorem: a row a statement, mechanism and epsilon (or world).

    `value` is what is; `claimed`, what the theorem allows. Mechanisms have so many of the most frequent words,
    SanText+ this p; the seed is of the small worlds.
    """
    return [*_guarantees(words, p), *_deniability(words), *_optimality(seed)]


def _guarantees(number: int, p: float) -> Iterator[dict]:
    words = textsan.load_embeddings().frequent(number)
    rare = set(words.words[number // 10 :])
    for epsilon in EPSILONS:
        santext = textsan.SanText(words, epsilon)
        at = {"defence": "santext", "epsilon": epsilon, "claimed": epsilon}
        yield {"statement": "metric DP", **at, "value": float(tight_metric_epsilon(santext.channel, words))}
        plus = textsan.SanTextPlus(words, epsilon, sensitive=rare, p=p)
        tight = tight_umldp_epsilon(plus.channel, words, rare, rare, epsilon_0=float(np.log(1 / p)))
        yield {"statement": "utility-optimised metric DP", **at, "defence": "santext+", "value": float(tight)}
        for mapping in ("disjoint", "overlapping"):
            custext = textsan.CusText(words, epsilon, mapping=mapping)
            groups = custext.group_words if mapping == "disjoint" else [custext.channel.inputs]
            at = {"defence": "custext", "mapping": mapping, "epsilon": epsilon}
            if mapping == "disjoint":
                tight = tight_group_epsilon(custext.channel, groups)
                yield {"statement": "DP within groups", **at, "value": float(tight), "claimed": epsilon}
                yield {"statement": "two words", **at, "value": _of_two(custext, groups), "claimed": 2 * epsilon}
            yield {"statement": "pairs told apart", **at, "value": _told_apart(custext, groups), "claimed": 0}


def _of_two(custext, groups) -> float:
    """The tight epsilon of two words of the two largest groups, released one after the other."""
    parts = [custext.channel.rows(list(group)) for group in sorted(groups, key=len)[-2:]]
    first, second = (part[:, part.any(axis=0)] for part in parts)
    both = np.kron(first, second)
    inputs, outputs = ([str(number) for number in range(size)] for size in both.shape)
    return float(tight_epsilon(Channel.from_matrix(both, inputs=inputs, outputs=outputs)))


def _told_apart(custext, groups) -> int:
    """Pairs of a word and a word among its outputs of which some output has only one."""
    channel, apart = custext.channel, 0
    for group in groups:
        can = channel.rows(list(group)) > 0
        index = {word: row for row, word in enumerate(group)}
        for row in range(len(group)):
            near = [index[channel.outputs[y]] for y in np.flatnonzero(can[row]) if channel.outputs[y] in index]
            apart += sum((can[row] != can[other]).any() for other in near)
    return int(apart)


def _deniability(number: int) -> Iterator[dict]:
    words = textsan.load_embeddings().frequent(number)
    for epsilon in EPSILONS:
        expected, _ = expected_deniability(textsan.SanText(words, epsilon).channel)
        for name, values in expected._asdict().items():
            value = float(np.mean(values))
            yield {"statement": name, "defence": "santext", "epsilon": epsilon, "value": value}


def _optimality(seed: int) -> Iterator[dict]:
    """In each world the best of all rules against the theorem's rule; the last statement is that of K = 1, 2."""
    generator = np.random.default_rng(seed)
    for world in range(20):
        prior, matrix = generator.dirichlet(np.ones(3)), generator.dirichlet(np.ones(5), size=3)
        joint = prior[:, None] * matrix
        best = max(sum(joint[x, y] for y, x in enumerate(rule)) for rule in product(range(3), repeat=5))
        at = {"defence": "any", "world": world}
        yield {"statement": "context-free rule", **at, "value": best, "claimed": float(joint.max(axis=0).sum())}
        source = markov_source(generator.dirichlet(np.ones(2)), generator.dirichlet(np.ones(2), size=2), 3)
        small = JointDistribution.tokenwise(source, generator.dirichlet(np.ones(2), size=2))
        rules = (np.reshape(rule, (2, 2, 2)) for rule in product(range(2), repeat=8))
        best, optimum = max(small.value(rule, 1) for rule in rules), small.value(small.best_rule(1), 1)
        yield {"statement": "contextual rule", **at, "value": best, "claimed": optimum}
        entropies = [_entropy(small.marginal([1], seen)) for seen in (range(3), [1])]
        yield {"statement": "entropy", **at, "value": entropies[0], "claimed": entropies[1]}
        source = markov_source(generator.dirichlet(np.ones(4)), generator.dirichlet(np.full(4, 0.3), size=4), 3)
        large = JointDistribution.tokenwise(source, generator.dirichlet(np.ones(4), size=4))
        shortlist, optimum = large.value(large.shortlist_rule(1, 2), 1), large.value(large.best_rule(1), 1)
        yield {"statement": "K = 2 as a bound", **at, "value": optimum, "claimed": shortlist}


def _entropy(joint: np.ndarray) -> float:
    """H(X | Y) in nats, of X on the first axis."""
    joint = joint.reshape(len(joint), -1)
    given = joint / np.maximum(joint.sum(axis=0), 1e-300)
    return float(-(joint * np.log(np.maximum(given, 1e-300))).sum())
