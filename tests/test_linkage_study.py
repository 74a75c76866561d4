"""The six threat models of linking: their parts by hand, and the whole in a small world of made-up words."""

import itertools
import math

import numpy as np
import pytest

from textsan import Embeddings
from textsan.attacks import Linkage, Ranks
from textsan.evaluation import clustered_difference
from textsan.mechanisms import SanText
from textsan.sweeps.splits import Split
from textsan_book.studies import linkage as study

RNG = np.random.default_rng(0)
WORDS = [f"w{i}" for i in range(60)]
EMBEDDINGS = Embeddings(WORDS, RNG.normal(size=(60, 3)))


def texts(n, seed):
    rng = np.random.default_rng(seed)
    return [list(rng.choice(WORDS, rng.integers(6, 10))) for _ in range(n)]


@pytest.fixture
def small(monkeypatch):
    """The experiment on a split of random documents, by mechanism and epsilon."""
    split = Split(texts(60, 1), texts(40, 2), EMBEDDINGS, population=tuple(texts(200, 3)))
    monkeypatch.setattr(study, "load_split", lambda *_, **__: split)

    def rows(defence, epsilon, seed=0):
        given = {"dataset": "made up", "seed": seed, "n_released": 40, "n_private": 60, "n_shadow": 40}
        return {
            (row["threat"], row["version"], row["candidates"]): row
            for row in study.linkages(defence=defence, epsilon=epsilon, **given)
        }

    return rows


def test_without_noise_everything_is_linked_and_nobody_else_accused(small):
    rows = small("santext", 200.0)
    threats = {threat for threat, *_ in rows}
    assert threats == {"original", "version", "open set", "near copies", "two releases", "length and kept words"}
    for (threat, version, size), row in rows.items():
        # Among ten candidates it is often alone with its length.
        if threat in ("original", "open set") or (threat, version) == ("version", "summary 0.3"):
            assert row["main"] > 0.9, (threat, version)
            assert row["excess"] > 0.85 or size == 10, (threat, version)
        assert 0 <= row["control"] <= 1 and row["low"] <= row["excess"] <= row["high"]
    assert rows["open set", "bound 0.0001", 60]["control"] == 0.0


@pytest.mark.parametrize(("defence", "epsilon"), [("santext", 6.0), ("custext+", 1.0)])
def test_the_hits_alone_give_the_rates_and_the_intervals(small, defence, epsilon):
    for key, row in small(defence, epsilon).items():
        main, control = (np.array(row[name].split(), dtype=float) for name in ("named", "accused"))
        assert main.mean() == pytest.approx(row["main"], abs=1e-4), key
        assert control.mean() == pytest.approx(row["control"], abs=1e-4), key
        again = clustered_difference(main - control, np.array(row["source"].split(), dtype=int))
        assert (again.low, again.high) == pytest.approx((row["low"], row["high"]), abs=1e-4), key


def test_at_epsilon_0_nothing_is_left_but_length(small):
    """A planted leak would show here: main beyond the control, or beyond what length alone gives."""
    for (threat, version, size), row in small("santext", 0.0).items():
        if version != "another mechanism":  # which is not blind
            assert row["low"] <= 0 <= row["high"], (threat, version, size)
        if threat == "original":
            assert row["main"] == pytest.approx(row["baseline"])


def test_controls_have_the_lengths_of_what_is_released_and_none_is_used_twice():
    pool = [["a"] * n for n in (3, 3, 5, 9)]
    found = study.of_equal_lengths([["b"] * n for n in (3, 5, 3, 3)], pool)
    assert sorted(found) == [0, 1, 2, 3] and [len(pool[i]) for i in found] == [3, 5, 3, 9]


def test_ranks_of_a_matrix_are_those_of_the_attack():
    docs = texts(30, 4)
    mechanism = SanText(EMBEDDINGS, epsilon=2.0)
    released = mechanism.sanitize(docs[:10], seed=0)
    attack = Linkage(mechanism)
    expected, matrix = attack.ranks(released, docs, range(10)), attack.log_likelihoods(released, docs)
    found = Ranks.of(matrix.diagonal(), matrix)
    np.testing.assert_array_equal(found.above, expected.above)
    np.testing.assert_array_equal(found.tied, expected.tied)
    assert found.others == expected.others


@pytest.mark.parametrize("given", [{}, {"added": 0.4}])
def test_length_alone_is_the_attack_on_hidden_words(given):
    released, docs = texts(8, 5), texts(30, 6)
    lengths = study.by_length(released, docs, **given)
    for row, doc in enumerate(released):
        m, scores = len(doc), []
        for candidate in docs:
            n, a = len(candidate), given.get("added", 0.0)
            # So many words are added in n + 1 gaps.
            likely = math.comb(m, n) * a ** (m - n) * (1 - a) ** (n + 1) if m >= n else 0.0
            scores.append(likely)
        own = scores[row]
        above = sum(score > own * (1 + 1e-9) for score in scores) if own else len(docs) - 1
        assert lengths.above[row] == above


def test_copies_differ_as_they_say():
    near = study._neighbours(EMBEDDINGS, set(WORDS))
    assert all(word not in some and len(some) == 10 for word, some in near.items())
    doc, rng = WORDS[:40] * 25, np.random.default_rng(0)
    for share in (0.1, 0.5):
        copy = study._edited(doc, "synonyms", share, near, rng)
        changed = [one != other for one, other in zip(doc, copy, strict=True)]
        assert np.mean(changed) == pytest.approx(share, abs=0.05)
        assert all(other in near[one] for one, other in zip(doc, copy, strict=True) if one != other)
        assert len(study._edited(doc, "summary", share, near, rng)) == pytest.approx(1000 * (1 - share), abs=50)
    run = study._edited(WORDS, "quotation", 0.5, near, rng)
    assert len(run) == 30 and run == WORDS[WORDS.index(run[0]) :][:30]


def test_a_second_release_stands_for_the_original():
    """Pr(y | z) by Bayes' rule and a sum over words, in a loop."""
    small = EMBEDDINGS.restrict(WORDS[:4])
    first, second = SanText(small, epsilon=1.0), SanText(small, epsilon=2.0)
    shadow = [["w0", "w0", "w1", "w2", "w3"]]
    attack = study._between(first, second, shadow, [WORDS[:4]], [WORDS[:4]])
    p, P, Q = np.array([0.4, 0.2, 0.2, 0.2]), first.channel.matrix(), second.channel.matrix()
    for z, y in itertools.product(range(4), repeat=2):
        marginal = sum(p[x] * Q[x, z] for x in range(4))
        direct = sum(p[x] * Q[x, z] * P[x, y] for x in range(4)) / marginal
        assert attack.channel.rows([WORDS[z]])[0, attack.channel.output_index[WORDS[y]]] == pytest.approx(direct)


def test_the_most_alike_are_of_one_length_and_share_words():
    docs = [["a", "b", "c"], ["a", "b", "x"], ["x", "y", "z"], ["a", "b"], ["c", "a", "b"]]
    assert study._most_alike(0, docs) == [4, 1, 2]
