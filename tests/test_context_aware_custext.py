"""Context-aware CusText: classes against a count by hand, what the guess gets that knows them, and limits."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from textsan import CusText, Embeddings
from textsan.channel.optimal import private_channel
from textsan.mechanisms import ContextAwareCusText, OptimalCusText, make_mechanism
from textsan.mechanisms.context_aware_custext import context_classes

WORDS = [f"w{i}" for i in range(24)]
EMBEDDINGS = Embeddings(WORDS, np.random.default_rng(0).normal(size=(24, 3)))


def text(seed, sentences=300):
    """A source in which the next word leans on the one before it."""
    random = np.random.default_rng(seed)
    step = np.random.default_rng(9).dirichlet(np.full(24, 0.15), size=24)
    docs = []
    for _ in range(sentences):
        words = [int(random.integers(24))]
        while len(words) < 8:
            words.append(int(random.choice(24, p=step[words[-1]])))
        docs.append([WORDS[word] for word in words])
    return docs


DOCS = text(0)


def success(joints, matrix):
    return sum((joint[:, None] * matrix).max(axis=0).sum() for joint in joints)


@pytest.mark.parametrize("epsilon", [0.5, 2.0])
def test_the_promise_is_custexts_and_the_guess_that_knows_the_class_gets_no_more(epsilon):
    plain = CusText(EMBEDDINGS, epsilon, k=6)
    aware = ContextAwareCusText(EMBEDDINGS, epsilon, docs=DOCS, k=6)
    assert aware.guarantee == plain.guarantee and aware.guarantee.tight(aware.channel) <= epsilon
    allowed = success(aware.joints, plain.channel.matrix())
    assert success(aware.joints, aware.channel.matrix()) <= allowed + 1e-9
    free = OptimalCusText(EMBEDDINGS, epsilon, k=6)
    assert success(aware.joints, free.channel.matrix()) > allowed + 1e-3  # who is free gives the class more


def test_one_class_is_the_optimum_without_context():
    aware = ContextAwareCusText(EMBEDDINGS, 1.0, docs=DOCS, k=6, classes=1)
    assert aware.joints.shape == (1, 24)
    allowed = success(aware.joints, CusText(EMBEDDINGS, 1.0, k=6).channel.matrix())
    counts = {word: sum(doc.count(word) for doc in DOCS) for word in WORDS}
    plain = OptimalCusText(EMBEDDINGS, 1.0, counts=counts, k=6, success=allowed)
    assert plain.prior == pytest.approx(aware.prior, abs=5e-4)
    assert plain.channel.matrix() == pytest.approx(aware.channel.matrix(), abs=0.02)


def test_classes_are_a_partition_and_help_the_guess():
    groups = CusText(EMBEDDINGS, 1.0, k=6).groups
    tables = [np.full((len(group), len(group)), 1 / len(group)) for group in groups]
    index = {word: i for i, word in enumerate(WORDS)}
    few, many = (context_classes(DOCS, index, groups, tables, n) for n in (1, 8))
    assert many.shape == (8, 24) and many.sum() == pytest.approx(1)
    matrix = np.zeros((24, 24))
    for group, table in zip(groups, tables, strict=True):
        matrix[np.ix_(group, group)] = table
    assert success(many, matrix) > success(few, matrix) + 0.01


def test_the_first_question_is_the_best_of_all():
    """By hand: every group on either side, counted again."""
    groups = CusText(EMBEDDINGS, 1.0, k=6).groups
    index = {word: i for i, word in enumerate(WORDS)}
    of = {WORDS[word]: number for number, group in enumerate(groups) for word in group}
    tables = [np.eye(len(group)) for group in groups]
    found = context_classes(DOCS, index, groups, [np.full(t.shape, 1 / len(t)) for t in tables], 2)
    matrix = np.zeros((24, 24))
    for group in groups:
        matrix[np.ix_(group, group)] = 1 / len(group)
    tokens = [(doc, i) for doc in DOCS for i in range(len(doc))]
    prior = np.bincount([index[doc[i]] for doc, i in tokens], minlength=24) + 1.0
    prior /= prior.sum()
    best = 0.0
    for shift in (-1, 1):
        for wanted in [*range(len(groups)), None]:
            parts = np.zeros((2, 24))
            for doc, i in tokens:
                group = of[doc[i + shift]] if 0 <= i + shift < len(doc) else None
                parts[int(group == wanted), index[doc[i]]] += 1
            sizes = parts.sum(axis=1, keepdims=True)
            joints = sizes / len(tokens) * (parts + 100 * prior) / (sizes + 100)
            best = max(best, success(joints, matrix))
    assert success(found, matrix) == pytest.approx(best)


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_a_finer_context_gets_more_than_the_bound_by_total_variation_at_most(seed):
    """Attackers who know more than the class, as the docstring says of them."""
    random = np.random.default_rng(seed)
    p, loss = random.dirichlet(np.ones(5), size=6), random.uniform(size=(5, 5))
    weight = random.dirichlet(np.ones(6))
    joints = weight[:, None] * p
    coarse = np.array([joints[:3].sum(axis=0), joints[3:].sum(axis=0)])
    matrix = private_channel(joints.sum(axis=0), loss, 1.5, price=0.7, joints=coarse)
    bound, finer = success(coarse, matrix), success(joints, matrix)
    of_class = coarse / coarse.sum(axis=1, keepdims=True)
    apart = sum(weight[c] * 0.5 * np.abs(p[c] - of_class[c // 3]).sum() for c in range(6))
    assert bound - 1e-12 <= finer <= bound + apart + 1e-12


@pytest.mark.parametrize("seed", range(6))
def test_the_priced_optimum_is_below_other_private_channels(seed):
    random = np.random.default_rng(seed)
    joints, loss = random.dirichlet(np.ones(8)).reshape(2, 4), random.uniform(size=(4, 4))
    p = joints.sum(axis=0)

    def worth(matrix):
        return (p[:, None] * matrix * loss).sum() + 0.8 * success(joints, matrix)

    best = worth(private_channel(p, loss, 1.0, price=0.8, joints=joints))
    for _ in range(200):
        low = random.dirichlet(np.ones(4)) * random.uniform(0.4, 1)
        rows = low * np.exp(random.uniform(size=(4, 4)))
        rows /= rows.sum(axis=1, keepdims=True)
        if (rows.max(axis=0) / rows.min(axis=0)).max() <= np.e:
            assert best <= worth(rows) + 1e-7


def test_by_its_name_the_public_text_is_the_projects_own():
    words = Embeddings(["the", "of", "a", "and", *WORDS], np.random.default_rng(1).normal(size=(28, 3)))
    mechanism = make_mechanism("context-aware custext", words, epsilon=1.0, k=7)
    assert mechanism.guarantee.tight(mechanism.channel) <= 1.0
    assert mechanism.prior[0] > mechanism.prior[5]
    elsewhere = ContextAwareCusText(EMBEDDINGS, 1.0, docs=[["zebra", "zoo"]], k=6)
    assert elsewhere.joints == pytest.approx(np.full((1, 24), 1 / 24))
    with pytest.raises(ValueError, match="docs: pass a list of token lists"):
        ContextAwareCusText(words, 1.0, docs=["a sentence"])
    with pytest.raises(ValueError, match=r"success: 0.01 is below what the groups give away; pass 0\.\d+"):
        ContextAwareCusText(words, 1.0, docs=DOCS, k=7, success=0.01).channel  # noqa: B018
