"""Both sides of the papers' theorems: what holds, what does not, and a channel that breaks its promise is seen."""

import pandas as pd
import pytest

import textsan
from textsan_book.studies import theorems


@pytest.fixture(scope="module")
def rows(default_data):
    return pd.DataFrame(theorems.theorems(words=60, p=0.3, seed=1))


def excess(rows, statement, defence, mapping=None):
    chosen = rows[(rows.statement == statement) & (rows.defence == defence)]
    chosen = chosen[chosen.mapping == mapping] if mapping else chosen
    assert len(chosen)
    return (chosen.value - chosen.claimed).max()


@pytest.mark.parametrize(
    ("statement", "defence"),
    [
        ("metric DP", "santext"),
        ("utility-optimised metric DP", "santext+"),
        ("DP within groups", "custext"),
        ("two words", "custext"),
        ("context-free rule", "any"),
        ("contextual rule", "any"),
        ("entropy", "any"),
    ],
)
def test_it_holds(rows, statement, defence):
    assert excess(rows, statement, defence) <= 1e-9


def test_shortlists_and_overlapping_sets_do_not(rows):
    assert excess(rows, "pairs told apart", "custext", "disjoint") == 0
    assert excess(rows, "pairs told apart", "custext", "overlapping") > 0
    assert excess(rows, "K = 2 as a bound", "any") > 1e-3


def test_a_mechanism_that_claims_less_than_it_spends_is_seen(monkeypatch, default_data):
    real = textsan.SanText
    monkeypatch.setattr(textsan, "SanText", lambda words, epsilon: real(words, 4 * epsilon))
    broken = pd.DataFrame(theorems.theorems(words=60, p=0.3, seed=1))
    assert excess(broken, "metric DP", "santext") > 0.1


def test_two_words_are_two_ratios_multiplied(rows):
    """The product channel's tight epsilon is the sum of those of its two groups."""
    words = textsan.load_embeddings().frequent(60)
    custext = textsan.CusText(words, 2.0)
    largest = sorted(custext.group_words, key=len)[-2:]
    each = sum(float(theorems.tight_group_epsilon(custext.channel, [group])) for group in largest)
    [both] = rows[(rows.statement == "two words") & (rows.epsilon == 2)].value
    assert both == pytest.approx(each, abs=1e-9)
