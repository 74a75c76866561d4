"""The ideal detectors' formulas against labels counted over every sentence of a small world."""

from itertools import product

import numpy as np
import pytest

from textsan import CusText, Embeddings
from textsan.priors import MarkovModel
from textsan_book.studies.hierarchy import word_prior
from textsan_book.studies.ideal_detectors import detector_of_ratio, detector_of_steps, gains
from textsan_book.studies.known_source import KnownSource

WORDS, LENGTH = ["a", "b", "c"], 3
SENTENCES = list(product(range(3), repeat=LENGTH))


class World:
    """A source of three words and a mechanism; everything by adding up Pr(x) Pr(y | x) over sentences x."""

    def __init__(self, seed):
        generator = np.random.default_rng(seed)
        initial, steps = generator.dirichlet(np.full(3, 0.6)), generator.dirichlet(np.full(3, 0.3), size=3)
        docs = []
        for _ in range(60):
            doc = [generator.choice(3, p=initial)]
            while len(doc) < LENGTH:
                doc.append(generator.choice(3, p=steps[doc[-1]]))
            docs.append([WORDS[x] for x in doc])
        self.source = MarkovModel.fit(docs, words=WORDS)
        self.mechanism = CusText(Embeddings(WORDS, generator.normal(size=(3, 1))), 2.0, k=3)
        self.matrix = self.mechanism.channel.rows(WORDS)
        index = [self.source.index[word] for word in WORDS]
        first, transition = (
            next(iter(self.source.marginals(1)))[index],
            self.source.transition()[np.ix_(index, index)],
        )
        self.weight = np.array([first[a] * transition[a, b] * transition[b, c] for a, b, c in SENTENCES])
        self.prior = word_prior(self.source, WORDS).probabilities
        self.order = np.argsort(-(self.prior[:, None] * self.matrix), axis=0, kind="stable")  # by y

    def likelihood(self, y):
        return self.weight * np.prod([self.matrix[np.array(SENTENCES)[:, t], y[t]] for t in range(LENGTH)], axis=0)

    def counted(self, y, i):
        """Share of ones, by rank, when every sentence x with this release is labelled by Steps 1 and 2."""
        ones, shown = np.zeros(3), np.zeros(3)
        first, second = self.order[:2, y[i]]
        for x, p in zip(SENTENCES, self.likelihood(y), strict=True):
            right, wrong = (first, second) if x[i] == first else (x[i], first)
            ones[right] += p
            shown[[right, wrong]] += p
        return (ones / shown)[self.order[:, y[i]]]


@pytest.mark.parametrize("seed", range(4))
def test_formulas_are_the_shares_that_labels_have(seed):
    world = World(seed)
    here = KnownSource(world.source, world.mechanism, n_private=20, n_shadow=1, seed=seed, length=LENGTH)
    alone, given = here.chances(context=False), here.chances()
    assert np.allclose(alone.sum(axis=1), 1)
    h, ratio = detector_of_steps(given), detector_of_ratio(alone, given)
    for at, (d, i) in enumerate(here.positions):
        y = [world.mechanism.channel.output_index[word] for word in here.released[d]]
        assert np.allclose(h[at], world.counted(y, i))
        joint, order = world.likelihood(y), world.order[:, y[i]]
        positive = np.array([sum(p for x, p in zip(SENTENCES, joint, strict=True) if x[i] == w) for w in order])
        negative = (
            joint.sum() * (world.prior * world.matrix[:, y[i]] / (world.prior @ world.matrix[:, y[i]]))[order]
        )
        assert np.allclose(ratio[at], positive / (positive + negative))


def test_gains_are_those_of_every_release_weighed():
    world, exact, sampled = World(1), {}, []
    for y in SENTENCES:
        joint = world.likelihood(y)
        for i in range(LENGTH):
            order = world.order[:, y[i]]
            value = np.array([sum(p for x, p in zip(SENTENCES, joint, strict=True) if x[i] == w) for w in order])
            a = (world.prior * world.matrix[:, y[i]])[order]
            p = value / value.sum()
            factors = {"steps, h": world.counted(y, i), "ratio, odds": p / a, "ratio, h": p / (p + a / a.sum())}
            for name, one in factors.items():
                exact[name] = exact.get(name, 0) + (value[(a * one).argmax()] - value[0]) / LENGTH
    for seed in range(6):
        here = KnownSource(world.source, world.mechanism, n_private=150, n_shadow=1, seed=seed, length=LENGTH)
        sampled.append(gains(here, k=3))
    assert exact["ratio, odds"] >= max(exact.values()) - 1e-12 and exact["ratio, odds"] > 0.01
    for name, value in exact.items():
        values = [one[name].value for one in sampled]
        error = np.std(values, ddof=1) / np.sqrt(len(values))
        assert abs(np.mean(values) - value) < 4 * error + 1e-9
    assert sampled[0]["ratio, odds"].low >= -1e-12  # position by position the best rule never loses


def test_one_candidate_leaves_nothing_to_gain():
    world = World(2)
    here = KnownSource(world.source, world.mechanism, n_private=30, n_shadow=1, seed=0, length=LENGTH)
    assert all(one.value == 0 for one in gains(here, k=1).values())
    assert detector_of_steps(np.array([[0.0, 0.0, 1.0]])).tolist() == [[0.0, 0.5, 1.0]]
