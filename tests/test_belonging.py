"""Releases of other rows are refused, those of the right ones in fewer than one case of a thousand."""

import math
from itertools import product

import numpy as np
import pytest

from textsan import CusText, Embeddings, SanText
from textsan.auditing import belonging
from textsan.auditing.belonging import SURE, check_belonging
from textsan.auditing.material import material
from textsan.mechanisms import MECHANISMS, make_mechanism
from textsan.mechanisms.noise import NoiseMechanism

WORDS = ["the", "a", "film", "movie", "good", "bad", "great", "story", "actor", "plot", "7", "smith"]
TOY = Embeddings(WORDS, np.random.default_rng(0).normal(size=(len(WORDS), 4)))


def documents(n, seed=0, length=8):
    draw = np.random.default_rng(seed)
    return [[*draw.choice([*WORDS, "zyx", "42"], size=length)] for _ in range(n)]


def test_the_evidence_of_right_rows_has_expectation_one():
    """Every release of a small text, multiplied out: so Markov's inequality bounds false refusals."""
    mechanism = SanText(TOY.frequent(3), epsilon=1.0)
    docs = [["the", "film"], ["a", "the"]]
    channel, words = mechanism.channel, mechanism.channel.outputs
    rows = dict(zip("the a film".split(), channel.rows(["the", "a", "film"]), strict=True))
    mean = (2 * rows["the"] + rows["a"] + rows["film"]) / 4
    total = expected = 0.0
    for numbers in product(range(3), repeat=4):
        came = [[words[i] for i in numbers[:2]], [words[i] for i in numbers[2:]]]
        p = math.prod(rows[x][i] for x, i in zip(docs[0] + docs[1], numbers, strict=True))
        known = {"the": 2, "a": 1, "film": 1}
        pairs = {x: set(words) for x in known}
        log_p, log_q = belonging._likelihoods(mechanism, belonging.Counter(known), pairs)
        ratios = np.array(
            [
                sum(log_q[y] - log_p[x, y] for x, y in zip(doc, out, strict=True))
                for doc, out in zip(docs, came, strict=True)
            ]
        )
        assert np.allclose(list(log_q.values()), np.log([mean[channel.output_index[y]] for y in log_q]))
        total, expected = total + p, expected + p * math.exp(belonging._log_evidence(ratios))
    assert total == pytest.approx(1) and expected == pytest.approx(1)


AUDITED = [name for name in MECHANISMS if name != "released custext+"]


@pytest.mark.parametrize("name", AUDITED)
def test_the_release_of_a_text_is_taken_for_it_whatever_made_it(name):
    given = {"epsilon": 2.0} if "epsilon" in MECHANISMS[name].parameters() else {}
    mechanism = make_mechanism(name, TOY, **given)
    if isinstance(mechanism, NoiseMechanism) or mechanism.channel.draws:
        pytest.skip("no audit takes it")
    for oov in ("uniform", "keep") if "oov" in mechanism.parameters else ("uniform",):
        made = mechanism.with_(oov=oov) if "oov" in mechanism.parameters else mechanism
        for seed in range(20):
            docs = documents(6, seed)
            check_belonging(docs, made.sanitize(docs, seed), made)


@pytest.mark.parametrize("numbers", ["keep", "jitter"])
def test_numbers_that_are_released_are_no_strange_rows(numbers):
    made, docs = CusText(TOY, 1.0, k=4, numbers=numbers), documents(50)
    check_belonging(docs, made.sanitize(docs, 1), made)


def shuffled(rows, n):
    return [*rows[1:n], rows[0], *rows[n:]]


@pytest.mark.parametrize(
    "made, rows, moved",
    [
        (CusText(TOY, 1.0, k=4), 6, 6),  # groups: impossible words
        (CusText(TOY, 1.0, k=12, keep=["the", "a"]), 6, 2),  # kept words differ
        (SanText(TOY, 3.0), 100, 100),  # all rows shuffled, each of them no proof
        (SanText(TOY, 9.0), 300, 2),  # two rows swapped
        (SanText(TOY, 1.0), 2000, 2000),
    ],
)
def test_rows_that_were_shuffled_are_refused_with_a_number(made, rows, moved):
    docs = documents(rows, length=8 if rows < 1000 else 20)
    came = made.sanitize(docs, 3)
    check_belonging(docs, came, made)
    with pytest.raises(ValueError, match=r"released: document (\d+) is not what became of its original") as error:
        check_belonging(docs, shuffled(came, moved), made)
    assert 1 <= int(str(error.value).split()[2]) <= moved
    with pytest.raises(ValueError, match="document"):
        material([" ".join(doc) for doc in docs], made, released=shuffled(came, moved), shadow=docs)


def test_the_right_rows_are_refused_as_seldom_as_is_said():
    made, docs = SanText(TOY, 4.0), documents(5, length=4)
    evidence = []
    for seed in range(2000):
        came = made.sanitize(docs, seed)
        try:
            check_belonging(docs, came, made)
        except ValueError:
            evidence.append(seed)
    assert len(evidence) <= 2 + 2 * 2000 / SURE


def test_an_unknown_word_that_cannot_have_been_drawn_is_refused():
    for oov, came in [("keep", "film"), ("uniform", "zyx"), ("error", "film")]:
        with pytest.raises(ValueError, match="document 2 is not"):
            check_belonging([["film"], ["zyx"]], [["film"], [came]], SanText(TOY, 3.0, oov=oov))
