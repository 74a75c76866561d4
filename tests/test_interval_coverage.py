"""The coverage of the intervals of rates and of paired differences, in worlds drawn by fixed seeds.

`make test FULL=1` draws often enough to see the coverage of each world alone; else worlds are pooled.
"""

import itertools
import os

import numpy as np
import pytest

from textsan.evaluation import bootstrap_mean, clustered_difference, clustered_rate

FULL = bool(os.environ.get("TEXTSAN_FULL"))
DRAWS = 3000 if FULL else 60
DOCUMENTS, RATES = (10, 20, 50, 100, 300), (0.01, 0.05, 0.2, 0.5, 0.95, 0.99)
CORRELATIONS, SIZES = (0, 0.1, 1), ("equal", "geometric")
LEAST = 0.93  # coverage of 95 % intervals


def sizes(generator, documents, kind):
    """Positions a document: ten, or ten in the mean and up to eighty."""
    return np.full(documents, 10) if kind == "equal" else np.minimum(generator.geometric(0.1, documents), 80)


def kinds(generator, probabilities, correlation, at):
    """The kind of each position, 0, 1 or 2; shares of documents are Dirichlet, at correlation 1 all alike."""
    documents = len(at)
    if correlation == 0:
        shares = np.tile(probabilities, (documents, 1))
    elif correlation == 1:
        shares = np.eye(3)[generator.choice(3, documents, p=probabilities)]
    else:
        shares = generator.dirichlet(np.maximum(probabilities, 1e-9) * (1 / correlation - 1), documents)
    group = np.repeat(np.arange(documents), at)
    return (generator.random(len(group))[:, None] > np.cumsum(shares, axis=1)[group, :2]).sum(axis=1), group


def coverage(interval, documents, probabilities, correlation, kind, draws=DRAWS):
    """Share of draws whose interval holds the truth: P(kind 0), less P(kind 1) if that is there."""
    generator = np.random.default_rng(
        [documents, *(int(1000 * p) for p in probabilities), int(10 * correlation), len(kind)]
    )
    values, truth, held = np.array([1.0, -1.0, 0.0]), probabilities[0] - probabilities[1], 0
    for _ in range(draws):
        drawn, group = kinds(generator, probabilities, correlation, sizes(generator, documents, kind))
        found = interval(values[drawn], group)
        held += found.low - 1e-12 <= truth <= found.high + 1e-12
    return held / draws


def check(found):
    """Each world alone where there are draws enough; all rates of one kind of documents together always."""
    if FULL:
        assert {world: share for world, share in found.items() if share < LEAST} == {}
    pooled = {}
    for (documents, _, correlation, kind), share in found.items():
        pooled.setdefault((documents, correlation, kind), []).append(share)
    assert {kind: np.mean(shares) for kind, shares in pooled.items() if np.mean(shares) < LEAST} == {}


def test_the_interval_of_a_rate_covers_in_every_world():
    worlds = itertools.product(DOCUMENTS, RATES, CORRELATIONS, SIZES)
    found = {(n, p, *rest): coverage(clustered_rate, n, (p, 0.0, 1 - p), *rest) for n, p, *rest in worlds}
    check(found)


def test_the_interval_of_a_paired_difference_covers_in_every_world():
    worlds = itertools.product((10, 50, 300), (0.01, 0.05, 0.5, 0.95), (0.5, 0.8, 1), CORRELATIONS, SIZES)
    found = {
        (n, (differ, won), *rest): coverage(
            clustered_difference, n, (differ * won, differ * (1 - won), 1 - differ), *rest
        )
        for n, differ, won, *rest in worlds
    }
    check(found)


@pytest.mark.parametrize("documents", [10, 50])
def test_percentiles_of_resamples_are_caught(documents):
    def resampled(values, group):
        return bootstrap_mean(values, group, seed=0, resamples=200)

    assert coverage(resampled, documents, (0.01, 0.0, 0.99), 1, "geometric", draws=60) < 0.6
    assert coverage(resampled, documents, (0.04, 0.01, 0.95), 1, "geometric", draws=60) < 0.85


def test_pairs_of_right_answers_near_one_are_covered():
    """Hits of two attacks at the same places, both near 1 or near 0, as in the tables; ten documents."""
    for rate in (0.02, 0.98):
        generator, held = np.random.default_rng(3), 0
        for _ in range(300):
            easy = generator.beta(rate * 5, (1 - rate) * 5, size=10)
            group = np.repeat(np.arange(10), 12)
            ours, theirs = (generator.random(120) < easy[group] for _ in range(2))
            found = clustered_difference(ours.astype(float) - theirs, group)
            held += found.low <= 0 <= found.high
        assert held >= 285
