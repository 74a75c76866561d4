"""Tight parameters against enumeration; claims hold, less than the tight value fails, planted bugs are caught."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from textsan import TEM, Channel, CusText, Embeddings, SanText, SanTextPlus
from textsan.privacy import (
    best_guess,
    tight_epsilon,
    tight_group_epsilon,
    tight_metric_epsilon,
    tight_uldp_epsilon,
    tight_umldp_epsilon,
)
from textsan.privacy.deniability import effective_support, expected_deniability, renyi_entropy
from textsan.privacy.floating_point import SMALLEST_DRAW, sampling_delta
from textsan_book.studies.deniability import simulated_deniability

WORDS = [f"w{i}" for i in range(30)]
EPSILON = 1.7


@pytest.fixture(scope="module")
def embeddings():
    return Embeddings(WORDS, np.random.default_rng(11).normal(size=(30, 4)))


@pytest.fixture(scope="module")
def distances(embeddings):
    return cdist(embeddings.vectors, embeddings.vectors)


def enumerated(matrix, rate=lambda ratio, x, other: ratio, columns=None):
    """Largest rate(log ratio, x, x') over all x, x', y, one by one."""
    worst = 0.0
    columns = range(matrix.shape[1]) if columns is None else columns
    for x, other, y in product(range(len(matrix)), range(len(matrix)), columns):
        if x != other and matrix[x, y] > 0:
            ratio = np.log(matrix[x, y]) - np.log(matrix[other, y]) if matrix[other, y] > 0 else np.inf
            worst = max(worst, rate(ratio, x, other))
    return worst


def attained(channel, tight):
    """The log-ratio at the pair and the output that a tight value names."""
    rows = channel.log_rows(list(tight.pair))
    return float(rows[0, channel.output_index[tight.output]] - rows[1, channel.output_index[tight.output]])


def noisy(shape, seed=0):
    matrix = np.random.default_rng(seed).dirichlet(np.ones(shape[1]), size=shape[0])
    return Channel.from_matrix(matrix, WORDS[: shape[0]], WORDS[: shape[1]])


def test_tight_epsilon_is_that_of_enumeration_and_names_where():
    channel = noisy((9, 12))
    tight = tight_epsilon(channel)
    assert tight == pytest.approx(enumerated(channel.matrix()), rel=1e-12)
    assert attained(channel, tight) == pytest.approx(tight, rel=1e-12)


def test_tight_epsilon_of_identical_rows_and_of_lost_support():
    same = Channel.from_matrix([[0.5, 0.5, 0]] * 2, "ab", "uvw")
    assert tight_epsilon(same) == 0 and tight_epsilon(same).pair is None
    apart = Channel.from_matrix([[1, 0], [0.5, 0.5]], "ab", "uv")
    assert tight_epsilon(apart) == np.inf and tight_epsilon(apart).output == "v"
    assert tight_epsilon(apart).pair == ("b", "a")


def test_tight_metric_epsilon_is_that_of_enumeration(distances):
    channel = noisy((30, 8))
    tight = tight_metric_epsilon(channel, distances)
    expected = enumerated(channel.matrix(), lambda ratio, x, other: ratio / distances[x, other])
    assert tight == pytest.approx(expected, rel=1e-12)
    x, other = (WORDS.index(word) for word in tight.pair)
    assert attained(channel, tight) / distances[x, other] == pytest.approx(tight, rel=1e-12)


def test_metric_epsilon_at_distance_zero():
    distances = [[0, 0], [0, 0]]
    same = Channel.from_matrix([[0.5, 0.5]] * 2, "ab", "uv")
    assert tight_metric_epsilon(same, distances) == 0
    differs = Channel.from_matrix([[0.5, 0.5], [0.6, 0.4]], "ab", "uv")
    assert tight_metric_epsilon(differs, distances) == np.inf


@pytest.mark.parametrize("make", [SanText, lambda e, epsilon: TEM(e, epsilon, gamma=1.5)])
def test_exponential_mechanisms_of_a_metric_are_private_and_own_outputs_suffice(embeddings, distances, make):
    mechanism = make(embeddings, EPSILON)
    metric = np.minimum(distances, getattr(mechanism, "gamma", np.inf))
    tight = tight_metric_epsilon(mechanism.channel, metric)
    assert EPSILON / 2 < tight <= EPSILON
    assert tight_metric_epsilon(mechanism.channel, metric, outputs="own") == pytest.approx(tight, rel=1e-9)
    expected = enumerated(mechanism.channel.matrix(), lambda ratio, x, other: ratio / metric[x, other])
    assert tight == pytest.approx(expected, rel=1e-9)


def test_a_missing_factor_two_is_caught(embeddings, distances):
    broken = Channel.exponential(WORDS, WORDS, embeddings.vectors, embeddings.vectors, scale=EPSILON)
    assert tight_metric_epsilon(broken, distances) > EPSILON


def test_the_factor_two_is_needed():
    """One word with a crowd nearby, another far from it: the tight value comes close to the claim."""
    crowd = np.r_[[0.0, 1.0], np.full(400, 0.0)][:, None]
    words = [f"w{i}" for i in range(402)]
    channel = SanText(Embeddings(words, crowd), EPSILON).channel
    assert 0.99 * EPSILON < tight_metric_epsilon(channel, cdist(crowd, crowd)) <= EPSILON


def test_tem_as_the_peer_package_weighs_its_option_is_not_private():
    """ln(V / inside) for the words outside: a word that gains neighbours makes all far words likelier."""
    gamma, epsilon = 1.0, 2.0
    points = np.r_[[0.0, 0.1], np.full(200, 1.05), [50.0]]
    words = [f"w{i}" for i in range(len(points))]
    distances = np.abs(points[:, None] - points)
    matrix = np.zeros(distances.shape)
    for x, row in enumerate(distances):
        inside = row <= gamma
        weights = np.exp(-epsilon * row[inside] / 2)
        option = len(points) / inside.sum() * np.exp(-epsilon * gamma / 2)
        matrix[x, inside] = weights / (weights.sum() + option)
        matrix[x, ~inside] = option / (weights.sum() + option) / (~inside).sum()
    peer = Channel.from_matrix(matrix, words, words)
    ours = TEM(Embeddings(words, points[:, None]), epsilon, gamma=gamma).channel
    assert tight_metric_epsilon(ours, distances) <= epsilon < 2 * epsilon < tight_metric_epsilon(peer, distances)


@pytest.mark.parametrize("similarity", ["euclidean", "cosine"])
@pytest.mark.parametrize("normalise", ["group", "row"])
def test_custext_is_private_within_groups(embeddings, similarity, normalise):
    mechanism = CusText(embeddings, EPSILON, k=8, similarity=similarity, normalise=normalise)
    tight = tight_group_epsilon(mechanism.channel, mechanism.group_words)
    matrix = mechanism.channel.matrix()
    expected = max(enumerated(matrix[np.ix_(group, group)]) for group in mechanism.groups)
    assert EPSILON / 2 < tight <= EPSILON and tight == pytest.approx(expected, rel=1e-12)
    assert attained(mechanism.channel, tight) == pytest.approx(tight, rel=1e-12)
    assert tight_epsilon(mechanism.channel) == np.inf


def test_custext_without_its_factor_two_is_caught(embeddings):
    broken = CusText(embeddings, 2 * EPSILON, k=8)
    assert tight_group_epsilon(broken.channel, broken.group_words) > EPSILON


def test_pairs_of_words_attain_half_of_epsilon(embeddings):
    mechanism = CusText(embeddings, EPSILON, k=2)
    assert tight_group_epsilon(mechanism.channel, mechanism.group_words) == pytest.approx(EPSILON / 2)


def test_overlapping_output_sets_have_no_finite_epsilon(embeddings):
    mechanism = CusText(embeddings, EPSILON, k=8, mapping="overlapping", normalise="row")
    assert tight_group_epsilon(mechanism.channel, mechanism.group_words) == np.inf
    assert tight_metric_epsilon(mechanism.channel, embeddings) == np.inf


SENSITIVE = WORDS[6:]


@pytest.mark.parametrize("p", [0.1, 0.3, 1.0])
def test_santext_plus_is_utility_optimised_metric_dp(embeddings, distances, p):
    channel = SanTextPlus(embeddings, EPSILON, sensitive=set(SENSITIVE), p=p).channel
    epsilon_0 = np.log(1 / p)
    tight = tight_umldp_epsilon(channel, distances, SENSITIVE, SENSITIVE, epsilon_0=epsilon_0)
    columns = [channel.output_index[word] for word in SENSITIVE]

    def rate(ratio, x, other):
        return (ratio - epsilon_0) / distances[x, other]

    assert tight == pytest.approx(enumerated(channel.matrix(), rate, columns), rel=1e-9)
    assert EPSILON / 2 < tight <= EPSILON
    assert tight_uldp_epsilon(channel, SENSITIVE, SENSITIVE) == pytest.approx(
        enumerated(channel.matrix(), columns=columns), rel=1e-9
    )


def test_less_than_ln_1_over_p_fails_between_close_words():
    vectors = np.array([[0.0], [1e-4], [1.0]])
    channel = SanTextPlus(Embeddings(WORDS[:3], vectors), EPSILON, sensitive={"w1", "w2"}, p=0.3).channel
    arguments = (channel, cdist(vectors, vectors), ["w1", "w2"], ["w1", "w2"])
    assert tight_umldp_epsilon(*arguments, epsilon_0=np.log(1 / 0.3)) <= EPSILON
    assert tight_umldp_epsilon(*arguments, epsilon_0=np.log(1 / 0.3) - 0.01) > 10 * EPSILON


def test_a_sensitive_word_that_leaves_the_protected_set_is_caught(embeddings, distances):
    everywhere = SanText(embeddings, EPSILON).channel
    assert tight_umldp_epsilon(everywhere, distances, SENSITIVE, SENSITIVE, epsilon_0=9.0) == np.inf
    matrix = np.array([[0.7, 0.0, 0.3], [0.0, 0.5, 0.5], [0.0, 0.2, 0.8]])
    leaks = Channel.from_matrix(matrix, ["n", "s", "t"], ["n", "s", "t"])
    assert tight_uldp_epsilon(leaks, ["s", "t"], ["t"]).output == "s"


def test_best_guess_is_the_posterior_of_the_worst_pair():
    channel = Channel.from_matrix([[0.75, 0.25], [0.25, 0.75]], "ab", "uv")
    assert best_guess(tight_epsilon(channel)) == pytest.approx(0.75)
    assert best_guess(0, 0.2) == pytest.approx(0.2) and best_guess(5, 0) == 0


@pytest.mark.parametrize("epsilon", [0.0, 3.0, 9.0])
def test_deniability_in_closed_form_and_by_draws_agree(embeddings, epsilon):
    channel = SanTextPlus(embeddings, epsilon, sensitive=set(SENSITIVE), p=0.4).channel
    mean, deviation = expected_deniability(channel, draws=1000)
    seen = simulated_deniability(channel, draws=1000, seed=4)
    for expected, spread, value in zip(mean, deviation, seen, strict=True):
        certain = spread < 1e-9
        np.testing.assert_allclose(value[certain], expected[certain], atol=1e-6)
        z = (value[~certain] - expected[~certain]) / spread[~certain]
        assert np.abs(z).max() < 6 and (np.abs(z) < 1.96).mean() > 0.85  # some counts are far from normal


def test_deniability_by_hand():
    channel = Channel.from_matrix([[0.5, 0.4, 0.1], [0, 0, 1]], ["a", "b"], ["a", "b", "c"])
    mean, _ = expected_deniability(channel, draws=1)
    np.testing.assert_allclose(mean.unchanged, [0.5, 0.0])
    np.testing.assert_allclose(mean.distinct_outputs, [1, 1])
    np.testing.assert_allclose(mean.distinct_inputs, [0.5, 0.4, 1.1])
    assert effective_support(channel, 0.9).tolist() == [2, 1]
    np.testing.assert_allclose(renyi_entropy(channel, 0), [np.log2(3), 0])
    np.testing.assert_allclose(renyi_entropy(channel, np.inf), [1, 0])
    np.testing.assert_allclose(renyi_entropy(channel, 2), [-np.log2(0.42), 0], atol=1e-15)


def float32_santext(embeddings, epsilon):
    """SanText as published code computes it, by a softmax in float32; then in float64, so that rows sum to one."""
    scores = (-0.5 * epsilon * embeddings.distances(embeddings.words)).astype(np.float32)
    weights = np.exp(scores - scores.max(axis=1, keepdims=True)).astype(np.float64)
    return Channel.from_matrix(weights / weights.sum(axis=1, keepdims=True), embeddings.words, embeddings.words)


def lost_support(channel, dtype):
    """Pairs of a positive probability that `dtype` rounds to 0."""
    logs = channel.log_rows(channel.inputs)
    return ((np.exp(logs).astype(dtype) == 0) & (logs > -np.inf)).sum()


def test_float32_loses_support_where_float64_logs_keep_it(embeddings, distances):
    epsilon = 60.0
    broken, sound = float32_santext(embeddings, epsilon), SanText(embeddings, epsilon).channel
    assert tight_metric_epsilon(broken, distances) == np.inf == tight_epsilon(broken)
    assert tight_metric_epsilon(sound, distances) <= epsilon and tight_epsilon(sound) < np.inf
    assert lost_support(sound, np.float32) > 0 == lost_support(sound, np.float64)


def test_log_space_keeps_support_at_any_epsilon(embeddings, distances):
    channel = SanText(embeddings, 1e3).channel
    smallest = channel.log_rows(channel.inputs).min()
    assert -np.inf < smallest < -1000
    assert smallest == pytest.approx(-500 * distances.max(), rel=1e-3)
    assert lost_support(channel, np.float64) > 0  # as probabilities they are gone
    assert tight_metric_epsilon(channel, distances) <= 1e3


@pytest.mark.parametrize("storage", ["metric", "dense"])
def test_what_53_bits_draw_is_within_delta_of_the_row(embeddings, storage):
    """The probability of each output under all 2^53 uniforms, found by bisection, in exact arithmetic."""
    channel = SanText(embeddings, 20.0).channel
    if storage == "dense":
        channel = Channel.from_matrix(channel.matrix(), WORDS, WORDS)
    row = [Fraction(p) for p in channel.rows(["w3"])[0].tolist()]
    drawn = [Fraction(0)] * 30
    grid = 2**53
    low = 0
    while low < grid:  # the outputs own runs of consecutive uniforms
        (output,) = channel.sample(["w3"], [low / grid])
        inside, outside = low, grid
        while outside - inside > 1:
            middle = (inside + outside) // 2
            if channel.sample(["w3"], [middle / grid])[0] == output:
                inside = middle
            else:
                outside = middle
        drawn[output] += Fraction(outside - low, grid)
        low = outside
    total = sum(row)
    variation = sum(abs(p / total - q) for p, q in zip(row, drawn, strict=True)) / 2
    assert 0 < variation < sampling_delta(channel)
    rows = channel.matrix()
    undrawable = np.where(rows < SMALLEST_DRAW, rows, 0.0).sum(axis=1).max()
    assert undrawable < sampling_delta(channel)
    assert sum(drawn) == 1


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda c, e: tight_metric_epsilon(c, np.zeros((2, 2))), r"distances: shape \(2, 2\)"),
        (lambda c, e: tight_metric_epsilon(c, e, outputs="some"), "outputs: 'some' is unknown"),
        (lambda c, e: tight_uldp_epsilon(c, ["w1"], ["nope"]), "protected: 'nope' is no output"),
    ],
)
def test_bad_arguments_are_refused(embeddings, call, message):
    with pytest.raises(ValueError, match=message):
        call(SanText(embeddings, 1.0).channel, embeddings)


@pytest.mark.parametrize("worst", [np.nan, -2.0])
@pytest.mark.parametrize("given", [{}, {"outputs": "own"}])
def test_a_missing_distance_is_no_perfect_privacy(worst, given):
    channel = Channel.from_matrix([[0.75, 0.25], [0.25, 0.75]], inputs=["a", "b"], outputs=["a", "b"])
    with pytest.raises(ValueError, match="^distances: an entry is negative or missing"):
        tight_metric_epsilon(channel, [[0, worst], [worst, 0]], **given)
