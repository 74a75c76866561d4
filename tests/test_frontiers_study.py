"""Mechanisms against the least distance, in a world of sixty words."""

import numpy as np
import pytest

from textsan.leakage import frontier
from textsan.mechanisms import make_mechanism
from textsan_book.studies import frontiers


@pytest.fixture(scope="module")
def here():
    return frontiers.world("rt", n_private=30, n_shadow=60, public_words=60, seed=0)


def test_erasure_is_placed_where_the_formula_has_it(here):
    pi, far = here.prior.probabilities, here.outputs.distances(here.prior.words, ["."])[:, 0]
    success, lost = here.placed(make_mechanism("erasure", here.vocabulary, q=0.25))
    assert success == pytest.approx(0.25 + 0.75 * pi.max()) and lost == pytest.approx(0.75 * float(pi @ far))


def test_mechanisms_of_one_success_have_it_and_lose_no_less_than_the_least(here):
    best = frontier(here.prior, here.outputs, 0.4)
    alike = frontiers.at_one_success(here, best, 0.4)
    for name, mechanism in alike.items():
        success, lost = here.placed(mechanism)
        assert success == pytest.approx(0.4, abs=0.02) and lost >= best.least_loss(success) - 1e-9, name
    rows = {row["channel"]: row for row in frontiers.opened_by_context(here, alike)}
    assert rows.keys() == alike.keys()
    assert all(0 < row[attack].value < 1 for row in rows.values() for attack in ("one word", "the sentence"))


def test_the_best_table_keeps_what_is_claimed_and_loses_less(here):
    custext, free, alike = frontiers.same_guarantee(here, epsilon=2.0)
    assert all(row["tight ε"] <= 2 + 1e-9 for row in (custext, free, alike))
    assert free["lost"] < custext["lost"] and alike["lost"] < custext["lost"]
    assert alike["V(X | Y)"] == pytest.approx(custext["V(X | Y)"], abs=0.08)


def test_every_mechanism_lies_above_the_frontier(here):
    best = frontier(here.prior, here.outputs, 0.4, also=[0.2, 0.7])
    rows = frontiers.placed({"rt": here}, {"rt": best})
    exact = [row for row in rows if row["defence"] not in frontiers._NOISY and np.isfinite(row["least"])]
    assert len({row["defence"] for row in exact}) > 10
    assert all(row["lost"] >= row["least"] - 1e-9 for row in exact)
