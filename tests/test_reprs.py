"""The repr of an object: one line, no address, and never a text."""

import re

import pytest

import textsan
from textsan import attacks
from textsan.priors import MarkovModel

WORDS = textsan.Embeddings(["secret", "the", "of", "a"], [[0.0], [1.0], [2.0], [3.0]])
DOCS = [["secret", "the"], ["of", "a"]] * 5


def objects():
    cut = textsan.CusText(WORDS, epsilon=1.0, k=2, keep=["the"])
    known = textsan.Knowledge.of(cut, shadow=DOCS)
    attack = attacks.ContextFreeBayes.against(known)
    released = cut.sanitize(DOCS, seed=0)
    yield from (
        WORDS,
        cut,
        cut.channel,
        cut.guarantee,
        textsan.SanText(WORDS, 1.0).guarantee,
        known,
        known.unigram(),
    )
    yield from (attack, attacks.Unchanged(), MarkovModel.fit(DOCS), attack.posteriors(released, [(0, 0)], k=2))
    yield from (attacks.Truth(DOCS, released, [(0, 0)], [(0, 0)]), textsan.Split(DOCS, DOCS, WORDS))
    yield from (attacks.ATTACKS, attacks.ATTACKS["markov"], textsan.evaluation.hit_rate([True]))


@pytest.mark.parametrize("one", [*objects()], ids=lambda one: type(one).__name__)
def test_one_line_says_what_it_is_without_its_text(one):
    said = repr(one)
    assert "\n" not in said and "secret" not in said and not re.search("0x[0-9a-f]{6}", said)
    assert said.startswith(f"{type(one).__name__}(") and len(said) < 500
