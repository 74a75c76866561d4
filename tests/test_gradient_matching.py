"""Attacks by optimisation, their scores, and defences."""

import numpy as np
import pytest
import torch
from helpers import refused

from textsan.gradient_leakage import cases, defences, factors, fluency, matching, scores, victims

TEXTS, LABELS = ["a good film", "not so very good"], [1, 0]


@pytest.fixture(scope="module")
def case(default_data):
    return cases.make_case(victims.small_victim(seed=0), TEXTS, LABELS)


@pytest.mark.parametrize("name", matching.ATTACKS)
def test_the_distance_is_zero_at_the_truth_and_only_there(case, name):
    settings = matching.ATTACKS[name]
    features = case.features if "match" in name else None
    one = matching.Matching(case.shared, settings, features=features)
    right = one.victim.words.detach()[case.ids]
    other = right.clone()
    other[0, [1, 2]] = right[0, [2, 1]]
    weight = max(settings.feature, settings.feature_orders)
    near, far = (float(one.distance(x, weight=weight).detach()) for x in (right, other))
    assert near < 1e-4 * far
    assert one.read(right) == case.sentences


@pytest.mark.parametrize("name", ["LAMP cos", "LAMP L1+L2", "DLG", "feature match, discrete"])
def test_orders_together_are_scored_as_one_by_one(case, name):
    settings = matching.ATTACKS[name]
    one = matching.Matching(case.shared, settings, features=case.features[:, :5])
    x = torch.randn(4, *one.mask.shape, 64, generator=torch.Generator().manual_seed(0))
    x[1:, 0] = x[0, 0]  # the first sentence is shared
    weight = settings.feature_orders
    singly = torch.stack([one.distance(row, weight=weight).detach() for row in x])
    assert torch.allclose(one.distances(x, weight=weight), singly, rtol=1e-4, atol=1e-5)


def test_a_discrete_phase_puts_a_planted_order_right(case):
    """Two tokens of the truth swapped: among all moves the one that undoes it has distance zero."""
    settings = matching.Settings("cosine", orders=60, fluency=0.0)
    one = matching.Matching(case.shared, settings, seed=0)
    right = one.victim.words.detach()[case.ids]
    swapped = right.clone()
    swapped[0, [1, 3]] = right[0, [3, 1]]
    assert one.read(one.reordered(swapped)) == case.sentences


def test_moves_keep_the_words_and_the_fixed_places(case):
    one = matching.Matching(case.shared, matching.ATTACKS["LAMP cos"], seed=1)
    x = one.victim.words.detach()[case.ids]
    for _ in range(40):
        moved = one.read(one._moved(x, 1))
        assert moved[0] == case.sentences[0] and sorted(moved[1]) == sorted(case.sentences[1])
        assert (moved[1][0], moved[1][-1]) == (case.sentences[1][0], case.sentences[1][-1])


@pytest.mark.parametrize("name", ["DLG", "DLG, scaled start", "LAMP cos"])
def test_a_scaled_start_is_as_long_as_the_embeddings_of_words(case, name):
    """A normal draw is about ten times as long on this victim: sqrt(64) against 64 numbers of deviation 0.1."""
    one = matching.Matching(case.shared, matching.ATTACKS[name].quicker(0.01), seed=0)
    norms, usual = one.start().norm(dim=-1), one.victim.words.detach().norm(dim=1).mean()
    if name == "DLG":
        assert float(norms.min()) > 5 * float(usual)
    else:
        assert torch.allclose(norms, usual.expand_as(norms), rtol=1e-4)


def test_descent_from_near_the_truth_ends_there(case):
    settings = matching.Settings("cosine", steps=30, starts=1, orders=0, learning_rate=0.002)
    one = matching.Matching(case.shared, settings, seed=0)
    right = one.victim.words.detach()[case.ids]
    one.start = lambda: right + 0.02 * torch.randn(right.shape, generator=torch.Generator().manual_seed(0))
    outcome = one.run()
    assert outcome.sentences == case.sentences and outcome.distance < outcome.history[0]


def test_features_are_asked_for(case):
    refused("features: None", lambda: matching.attack(case.shared, "feature match"))
    refused("name: 'lamp' is unknown", lambda: matching.attack(case.shared, "lamp"))


def test_rouge_leaves_special_pieces_out_and_the_printed_one_does_not(case):
    wrong = [[row[0], *[2000] * (len(row) - 2), row[-1]] for row in case.sentences]
    for row in scores.score(case, wrong):
        words = len(row["reference"].split())
        assert row["rouge1"] == 0 and row["exact"] == 0
        assert row["rouge1 with specials"] == pytest.approx(2 / (words + 2))
    for row in scores.score(case, case.sentences[::-1]):
        assert row["rouge1"] == row["rougeL"] == row["exact"] == 1


def test_factors_are_the_gradient(case):
    """Of the batch against autograd, of each sentence against opacus: written out, squared and multiplied."""
    victim, shared = case.shared.victim, case.shared.gradient
    words, labels = victim.words.detach()[case.ids], case.shared.labels
    each, features = factors.sentence_factors(victim, words, case.mask, labels)
    assert torch.allclose(features, case.features, atol=1e-6)
    sides = [side for one in each.values() for side in (one.slopes, one.inputs) if side is not None]
    assert not any(side.requires_grad for side in (features, *sides))
    single = cases.sentence_gradients(victim, words, case.mask, labels)
    batch = factors.joined([{name: one[row : row + 1] for name, one in each.items()} for row in range(2)])
    assert set(each) == set(batch) == set(shared)
    for name, one in shared.items():
        other = torch.randn(one.shape, generator=torch.Generator().manual_seed(0))
        for found, written in ((batch[name], one[None]), (each[name], single[name])):
            flat = written.flatten(1)
            assert torch.allclose(found.dense(), written, atol=1e-6)
            assert torch.allclose(found.squared(), flat.pow(2).sum(1), rtol=1e-3, atol=1e-10)
            assert torch.allclose(found.dot(other), flat @ other.flatten(), atol=1e-4)


def test_the_slope_of_the_distance_is_that_of_written_out_gradients(case):
    """Slopes of each kind of distance, against autograd through the gradients themselves."""
    victim, labels = case.shared.victim, case.shared.labels
    x = victim.words.detach()[case.ids] + 0.05 * torch.randn(
        *case.ids.shape, 64, generator=torch.Generator().manual_seed(3)
    )
    for name in ("LAMP cos", "DLG", "TAG"):
        one = matching.Matching(case.shared, matching.ATTACKS[name])
        x = x.detach().requires_grad_(True)
        mine = torch.autograd.grad(one.distance(x, differentiable=True), x)[0]
        parameters, total = dict(victim.named_parameters()), 0.0
        names = [part for stack in one.stacks for part in stack]
        batch_loss = victims.loss(victim, one.embedded(x), case.mask, labels)
        found = torch.autograd.grad(batch_loss, [parameters[part] for part in names], create_graph=True)
        for part, a in zip(names, found, strict=True):
            b = case.shared.gradient[part]
            if name == "LAMP cos":
                total = total + (1 - torch.nn.functional.cosine_similarity(a.flatten(), b.flatten(), 0)) / len(
                    names
                )
            else:
                total = total + ((a - b) ** 2).sum() + (name == "TAG") * 0.01 * (a - b).abs().sum()
        theirs = torch.autograd.grad(total, x)[0]
        assert torch.allclose(mine, theirs, rtol=1e-2, atol=1e-4 * float(theirs.abs().max()))


def test_dp_sgd_without_noise_and_clipping_is_the_gradient(case):
    sent = cases.make_case(case.shared.victim, TEXTS, LABELS, defence=defences.dp_sgd(0.0, 1e9)).shared.gradient
    assert all(torch.allclose(sent[name], one, atol=1e-6) for name, one in case.shared.gradient.items())


def test_dp_sgd_clips_each_sentence(case):
    clip = 1e-3
    sent = cases.make_case(case.shared.victim, TEXTS[:1], LABELS[:1], defence=defences.dp_sgd(0.0, clip))
    total = torch.cat([one.flatten() for one in sent.shared.gradient.values()]).norm()
    assert float(total) == pytest.approx(clip, rel=1e-4)


def test_dp_sgd_noise_has_the_stated_size(case):
    args = (case.shared.gradient, case.shared.victim, case.ids, case.mask, case.shared.labels)
    one, other = (defences.dp_sgd(2.0, 0.5)(*args, seed)["pooler.weight"] for seed in (0, 1))
    # Two sentences: the sum's noise of 2 * 0.5 is halved; the difference of two draws has sqrt(2) of it.
    assert float((one - other).std()) == pytest.approx(0.5 * np.sqrt(2), rel=0.05)


def test_sberts_cosine_is_one_for_the_same_text_and_falls_with_the_meaning(default_data):
    from textsan_book.studies.gradients import _sentence_cosine

    recovered = "a good film", "a great movie", "the price of coal rises"
    same, near, far = (_sentence_cosine("a good film", text) for text in recovered)
    assert np.isclose(same, 1) and 0.999 > near > far + 0.2


def test_bigrams_prefer_the_order_that_was_read():
    score = fluency.bigram_fluency([["the", "plot", "is", "thin"]] * 5)
    assert score(["the plot is thin"])[0] < score(["thin the is plot"])[0]
