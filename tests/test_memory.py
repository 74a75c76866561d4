"""The memory attack: by enumeration, the rule of a source that copies places of shadow text; a planted copy."""

import itertools

import numpy as np
import pytest

from textsan import Channel, CusText, Embeddings, Knowledge, Prior
from textsan.attacks import ATTACKS, ContextFreeBayes, Memory

INPUTS = ["a", "b", "c"]
SHADOW = [["a", "b", "the"], ["c"], ["b", "b", "c", "the"], ["the", "zyzzyva", "b"]]


def a_channel(seed=0):
    """Three words that are replaced, and one that is kept."""
    matrix = np.zeros((4, 4))
    matrix[:3, :3] = np.random.default_rng(seed).dirichlet(np.ones(3), size=3)
    matrix[3, 3] = 1.0
    return Channel.from_matrix(matrix, inputs=[*INPUTS, "the"], outputs=[*INPUTS, "the"])


def by_enumeration(channel, shadow, prior, copied, place):
    """Pr(x | l', y, r') of the source in the docstring, every (l, x, r) written out; None is an edge."""
    matrix, inputs = channel.matrix(), channel.inputs
    release = {(x, y): matrix[i, j] for i, x in enumerate(inputs) for j, y in enumerate(channel.outputs)}
    places = [place for doc in shadow for place in zip([None, *doc], doc, [*doc[1:], None], strict=False)]
    total = len(places)

    def sees(original, released):
        if released in channel.outputs:
            return release.get((original, released), 0.0)
        return float(original == released)

    def alone(released, side):
        if released in channel.outputs:
            return sum(prior[x] * release[x, released] for x in inputs)
        return (1 + sum(one[side] == released for one in places)) / total

    left, y, right = place
    joint = dict.fromkeys(inputs, 0.0)
    for before, word, after in places:  # the place is a copy, or its neighbours are
        frame = sees(before, left) * sees(after, right) / total
        if word in joint:
            joint[word] += copied * frame
        for x in inputs:
            joint[x] += (1 - copied) * prior[x] * copied * frame
    for x in inputs:  # nothing is
        joint[x] += (1 - copied) ** 2 * prior[x] * alone(left, 0) * alone(right, 2)
    joint = {x: value * release[x, y] for x, value in joint.items()}
    return {x: value / sum(joint.values()) for x, value in joint.items() if value}


@pytest.mark.parametrize("copied", [0.0, 0.1, 0.9])
def test_the_posterior_is_that_of_the_source_that_copies(copied):
    channel, prior = a_channel(), Prior([*INPUTS, "the"], [0.4, 0.3, 0.2, 0.1])
    attack = Memory(channel, SHADOW, prior, copied=copied)
    tokens = [*INPUTS, "the", "zyzzyva", "unheard"]
    for before, y, after in itertools.product(tokens, INPUTS, tokens):
        doc = [before, y, after]
        expected = by_enumeration(channel, SHADOW, prior, copied, (before, y, after))
        assert attack.posterior(doc)[1] == pytest.approx(expected)
    for doc, at in ((["b"], 0), (["b", "the"], 0), (["the", "c"], 1)):
        place = [None, *doc, None][at : at + 3]
        assert attack.posterior(doc)[at] == pytest.approx(by_enumeration(channel, SHADOW, prior, copied, place))


def test_a_planted_copy_is_found_and_nothing_else_is():
    """Half of the private documents are copies of shadow ones; the other half has words of its own order."""
    generator = np.random.default_rng(2)
    words = ["the", "of", *(f"w{i}" for i in range(400))]
    mechanism = CusText(Embeddings(words, generator.normal(size=(402, 3))), 1.0, k=20, keep=words[:2])
    shadow, others = (generator.choice(words, size=(100, 8)).tolist() for _ in range(2))
    private = shadow[:50] + others[:50]
    released = mechanism.sanitize(private, seed=0)
    knowledge = Knowledge.of(mechanism, shadow=shadow, attacked=words[2:])
    positions = [(d, i) for d, doc in enumerate(private) for i in range(8) if doc[i] not in words[:2]]
    copies = np.array([d < 50 for d, _ in positions])
    truth = np.array([private[d][i] for d, i in positions])

    def rates(attack):
        hits = np.array(attack.reconstruct(released, positions)) == truth
        return hits[copies].mean(), hits[~copies].mean()

    blind, remembered = rates(ContextFreeBayes.against(knowledge)), rates(ATTACKS["memory"].load()(knowledge))
    assert remembered[0] > 0.8 > 0.4 > blind[0]
    assert abs(remembered[1] - blind[1]) < 0.05
    turned = Memory(mechanism.channel, [doc[::-1] for doc in shadow], knowledge.unigram(), attacked=words[2:])
    assert rates(turned)[0] < 0.5  # the sides of a word are told apart


def test_a_word_that_cannot_be_released_is_its_own_original():
    attack = Memory(a_channel(), SHADOW, Prior(["a", "b", "c", "the"], [0.25] * 4))
    assert attack.reconstruct([["zyzzyva", "the"]], [(0, 0), (0, 1)]) == ["zyzzyva", "the"]
    assert attack.reconstruct([["a"]], []) == []


@pytest.mark.parametrize(
    "shadow, copied, message",
    [([], 0.5, "shadow: no token"), ([[]], 0.5, "shadow: no token"), (SHADOW, 1.5, "copied: 1.5")],
)
def test_bad_input(shadow, copied, message):
    with pytest.raises(ValueError, match=message):
        Memory(a_channel(), shadow, Prior(["a"], [1.0]), copied=copied)
