"""The register of errata: every row names a test that exists, and here are those that no other file has.

Code of others is not run here: what it does is written down again in a few lines, and held against what its paper
describes.
"""

import ast
import random
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from textsan import Channel, CusText, Embeddings, SanText
from textsan.mechanisms import least_frequent
from textsan.mechanisms.noise import nearest_rows
from textsan.privacy import tight_epsilon, tight_metric_epsilon

ROOT = Path(__file__).parents[1]
REGISTER = pd.read_csv(ROOT / "data" / "errata.csv")


def named_in(path: Path) -> set[str]:
    found = ast.walk(ast.parse(path.read_text(encoding="utf-8")))
    return {one.name for one in found if isinstance(one, ast.FunctionDef) and one.name.startswith("test_")}


@pytest.mark.parametrize("named", REGISTER.test)
def test_a_row_of_the_register_names_a_test_that_exists(named):
    file, name = named.split("::")
    assert name in named_in(ROOT / file)


def test_a_row_that_names_none_would_be_seen():
    assert "test_that_nobody_wrote" not in named_in(Path(__file__))


def test_the_register_has_each_departure_once_and_effects_that_are_there():
    assert not REGISTER.duplicated(["code base", "what the code does"]).any()
    required = REGISTER.drop(columns="effect")
    assert required.notna().all(axis=None)
    assert all((ROOT / path).is_file() for path in REGISTER.effect.dropna())


# What stands in no other file of tests


def test_the_released_share_of_sensitive_words_is_one_word_more():
    counts = {f"w{i}": i + 1 for i in range(10)}
    ordered = sorted(counts, key=counts.get, reverse=True)
    theirs = ordered[-(int(0.5 * len(ordered)) + 1) :]
    assert len(theirs) == 6 and len(least_frequent(counts, list(counts), 0.5)) == 5


def test_used_up_words_come_back_where_cosines_are_negative():
    """Algorithm 1 by inner products, used-up vectors set to nought: the third group takes words of the first."""
    angles = np.deg2rad([0, 5, 10, 100, 105, 200])
    vectors = np.c_[np.cos(angles), np.sin(angles)]
    left, groups = vectors.copy(), []
    for seed in (0, 3, 5):
        members = np.argsort(-(left @ vectors[seed]), kind="stable")[:3]
        groups.append(set(members.tolist()))
        left[members] = 0.0
    assert groups[0] & groups[2]
    words = Embeddings(list("abcdef"), vectors)
    ours = CusText(words, 1.0, k=3, similarity="cosine").groups
    assert sorted(np.concatenate(ours).tolist()) == list(range(6))


def test_a_lookup_without_lower_case_releases_capitalised_words():
    words = Embeddings(["paris", "rome"], [[0.0], [1.0]])
    mechanism = CusText(words, 0.0, k=2, oov="keep")
    text = [["Paris"] * 200]
    theirs = [[word if word not in words else mechanism.sanitize([[word]])[0][0] for word in text[0]]]
    assert theirs == text  # as it stands, "Paris" is not in the map
    assert set(mechanism.sanitize(text, seed=0)[0]) == {"paris", "rome"}


def test_a_vickrey_rule_that_strikes_the_private_word_is_not_private():
    """Two words 0.01 apart: one is released in a third of the cases where the other was there, else never."""
    points, epsilon = np.array([0.0, 0.01, 5.0]), 1.0
    noise = np.random.default_rng(0).laplace(scale=1 / epsilon, size=50_000)
    rows = np.zeros((3, 3))
    for x in range(3):
        order = np.argsort(np.abs(points[x] + noise[:, None] - points), axis=1)
        released = np.where(order[:, 0] == x, order[:, 1], order[:, 0])  # of t = (1, 0) nearly always the first
        rows[x] = np.bincount(released, minlength=3) / len(noise)
    assert rows[0, 0] == 0 and rows[1, 0] > 0.3


def test_a_softmax_of_squared_distances_is_another_rule():
    near, far = 1.0, 3.0
    odds = [np.exp(-(near**power) + far**power) for power in (1, 2)]
    assert odds[0] == pytest.approx(np.exp(2)) and odds[1] == pytest.approx(np.exp(8))


def test_sampling_from_the_keys_of_a_dict_is_an_error():
    with pytest.raises(TypeError, match="Population must be a sequence"):
        random.sample({"a": 1, "b": 2}.keys(), 1)


def test_an_index_that_looks_into_few_cells_finds_other_words():
    """Cells around 50 words, of which one is searched, as in an inverted file."""
    rng = np.random.default_rng(0)
    vectors = rng.normal(size=(2000, 20))
    centres = vectors[:50]
    points = vectors[rng.integers(2000, size=500)] + rng.normal(size=(500, 20)) / 2
    cell, asked = (nearest_rows(some, centres)[0][:, 0] for some in (vectors, points))
    found = []
    for point, own in zip(points, asked, strict=True):
        inside = np.flatnonzero(cell == own)
        found.append(inside[((vectors[inside] - point) ** 2).sum(axis=1).argmin()])
    exact = nearest_rows(points, vectors)[0][:, 0]
    assert np.mean(np.array(found) != exact) > 0.1


def test_an_index_that_answers_minus_one_leaves_words_without_a_place():
    """Greedy chain over cells, the nearest cell searched; where it is empty the answer is -1: the last word."""
    rng = np.random.default_rng(1)
    vectors = rng.normal(size=(200, 4))
    cell = nearest_rows(vectors, vectors[:10])[0][:, 0]
    left, here, chain = set(range(200)), 0, []
    for _ in range(200):
        chain.append(here)
        left.discard(here % 200)
        near = [i for i in left if cell[i] == cell[here]]
        here = min(near, key=lambda i: ((vectors[i] - vectors[here]) ** 2).sum()) if near else -1
    assert len({i % 200 for i in chain}) < 200 and chain.count(-1) > 1


def test_stop_words_that_stay_have_no_finite_epsilon():
    words = Embeddings(["the", "cat", "dog"], [[0.0], [1.0], [2.0]])
    rows = SanText(words, 1.0).channel.matrix()
    assert tight_metric_epsilon(Channel.from_matrix(rows, words.words, words.words), words) <= 1.0
    rows[0] = 1.0, 0.0, 0.0
    assert tight_epsilon(Channel.from_matrix(rows, words.words, words.words)) == np.inf
