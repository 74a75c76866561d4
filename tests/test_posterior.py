"""The posterior against brute force: modes, coverage, exact success, kept words, estimated channels."""

import numpy as np
import pytest
import scipy
from hypothesis import given, settings, strategies as st

from textsan import Channel, CusText, Embeddings, Prior, SanText, leakage
from textsan.channel import Posterior
from textsan.leakage import vulnerability_bracket
from textsan.privacy.deniability import effective_support, expected_deniability, renyi_entropy
from textsan_book.studies.wrong_prior import prior_loss


def random_channel(seed, n=6, m=5, zeros=True):
    generator = np.random.default_rng(seed)
    matrix = generator.dirichlet(np.full(m, 0.5), size=n)
    if zeros:
        matrix[generator.random((n, m)) < 0.3] = 0.0
        matrix[:, 0] += 0.01
    matrix /= matrix.sum(axis=1, keepdims=True)
    words = [f"w{i}" for i in range(max(n, m))]
    return Channel.from_matrix(matrix, words[:n], words[:m]), generator.dirichlet(np.ones(n)), generator


def test_log_probabilities_sum_bit_by_bit_as_scipy_does():
    generator = np.random.default_rng(0)
    scores = 20 * generator.normal(size=(300, 400))
    scores[generator.random(scores.shape) < 0.9] = -np.inf
    scores[:, 0] = generator.normal(size=300)
    scores[::3, 1] = scores.max(axis=1)[::3]  # twice the same
    posterior = Posterior.from_scores(range(300), range(300), range(400), np.arange(400), scores, 1)
    expected = scores.max(axis=1) - scipy.special.logsumexp(scores, axis=1)
    assert (posterior.log_probabilities[:, 0] == expected).all()


@pytest.mark.parametrize("seed", range(20))
def test_modes_coverage_and_success_against_brute_force(seed):
    channel, q, generator = random_channel(seed)
    matrix, true = channel.matrix(), generator.dirichlet(np.ones(6))
    for k in (1, 2, 6):
        posterior = channel.posterior(q, k=k)
        joint = q[:, None] * matrix
        best = joint.argmax(axis=0)
        assert posterior.mode() == [channel.inputs[row] for row in best]
        np.testing.assert_allclose(posterior.coverage(), np.sort(joint, axis=0)[-k:].sum())
        by_hand = sum(true[x] * matrix[x, y] for y, x in enumerate(best))
        np.testing.assert_allclose(posterior.expected_success(true), by_hand)
        np.testing.assert_allclose(posterior.expected_success(q), leakage.bayes_vulnerability(q, channel))
        for y, word in enumerate(channel.outputs):
            mapping = posterior[word]
            expected = joint[:, y] / joint[:, y].sum()
            assert list(mapping.values()) == sorted(mapping.values(), reverse=True) and len(mapping) <= k
            for x, p in mapping.items():
                np.testing.assert_allclose(p, expected[channel.input_index[x]])


def test_what_no_word_explains_is_its_own_original_and_counts_where_it_is():
    channel = Channel.from_matrix(np.eye(3), inputs="abc", outputs="abc")
    posterior = channel.posterior([0.5, 0.5, 0.0], k=2)
    assert posterior.mode() == ["a", "b", "c"] and posterior["c"] == {"c": 1.0}
    assert posterior.expected_success([0.25, 0.25, 0.5]) == pytest.approx(1.0)
    assert posterior.expected_coverage([0.25, 0.25, 0.5]) == pytest.approx([1.0, 1.0])
    assert posterior.hit_probabilities("ca") == pytest.approx([1.0, 1.0])


def test_of_positions_from_scores():
    scores = np.array([[0.0, 1.0, 1.0], [-np.inf, -np.inf, -np.inf], [2.0, -np.inf, 0.0]])
    for k in (None, 1, 2):
        table = Posterior.from_scores([(0, 0), (0, 1), (1, 0)], ["u", "v", "w"], "abc", np.arange(3), scores, k)
        assert table.mode() == ["b", "v", "a"]  # ties go to the earlier candidate
    assert table[0, 1] == {"v": 1.0} and table[1, 0] == pytest.approx(
        {"a": 1 / (1 + np.exp(-2)), "c": 1 / (1 + np.exp(2))}
    )
    by_hand = [max(table.mapping(at).values()) for at in range(3)]  # "v" is its own original, for sure
    assert table.expected_success() == pytest.approx(np.mean(by_hand)) and by_hand[1] == 1.0
    assert table.coverage() == pytest.approx(np.mean([sum(table.mapping(at).values()) for at in range(3)]))
    nothing = Posterior([(0, 0)], "abc", np.empty((1, 0), int), np.empty((1, 0)), released=["z"])
    assert nothing.mode() == ["z"] and nothing.expected_success() == nothing.coverage() == 1.0
    with pytest.raises(ValueError, match="of positions"):
        table.expected_success([1, 0, 0])
    with pytest.raises(KeyError, match="9, 9"):
        table[9, 9]


@pytest.mark.parametrize("storage", ["dense", "sparse", "metric"])
def test_kept_words_have_identity_rows_in_every_storage(storage):
    points = np.random.default_rng(0).normal(size=(5, 2))
    words = ["the", "of", "a", "b", "c"]
    exact = SanText(Embeddings(words, points), 1.0).channel
    channel = {
        "dense": lambda: Channel.from_matrix(exact.matrix(), words, words),
        "sparse": lambda: Channel.from_sparse(exact.matrix(), words, words),
        "metric": lambda: exact,
    }[storage]()
    kept = channel.keeping(["the", "of", "unheard of"])
    matrix = kept.matrix()
    np.testing.assert_array_equal(matrix[:2], np.eye(5)[:2])
    np.testing.assert_allclose(matrix[2:], exact.matrix()[2:])
    np.testing.assert_allclose(np.exp(kept.log_columns(words)).T, matrix, atol=1e-15)
    assert kept.kept == {"the", "of"} and kept.keeping(["the"]) is kept and channel.kept == frozenset()
    assert kept.sample(["the"] * 50, np.linspace(0, 0.99, 50)).tolist() == [0] * 50


def test_kept_words_that_are_outputs_only_become_inputs():
    channel = Channel.from_matrix([[0.5, 0.5]], inputs=["cat"], outputs=["cat", "the"]).keeping(["the"])
    assert channel.inputs == ["cat", "the"]
    np.testing.assert_array_equal(channel.matrix(), [[0.5, 0.5], [0.0, 1.0]])


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10**6), share=st.floats(0.0, 1.0))
def test_plain_bayes_on_a_mechanism_that_keeps_words_never_loses_against_doing_nothing(seed, share):
    """The path to a silently wrong attack: rows for kept words that the mechanism never uses."""
    generator = np.random.default_rng(seed)
    words = [f"w{i}" for i in range(12)]
    mechanism = CusText(
        Embeddings(words, generator.normal(size=(12, 2))), 1.0, k=4, keep=words[: round(12 * share)]
    )
    true = generator.dirichlet(np.ones(12))
    channel = mechanism.channel
    unchanged = float(true @ np.diag(channel.matrix()))
    assert channel.posterior(true, k=1).expected_success() >= unchanged - 1e-12
    if mechanism.keep:
        assert channel.rows(sorted(mechanism.keep)).max(axis=1).tolist() == [1.0] * len(mechanism.keep)


def test_estimated_channels_say_so_and_are_refused_or_bracketed():
    generator = np.random.default_rng(1)
    matrix = generator.dirichlet(np.ones(8), size=6)
    prior = Prior("abcdef", generator.dirichlet(np.ones(6)))
    exact = leakage.bayes_vulnerability(prior, Channel.from_matrix(matrix, "abcdef", "stuvwxyz"))
    ends = []
    for _ in range(200):
        counts = [np.array([generator.multinomial(40, row) for row in matrix]) for _ in range(2)]
        one, two = (Channel.estimated(count, 40, "abcdef", "stuvwxyz") for count in counts)
        ends.append(vulnerability_bracket(prior, one, two))
    low, high = np.mean(ends, axis=0)
    assert low < exact < high and "estimated from 40 draws" in repr(one)
    for needs_exact in (leakage.bayes_vulnerability, leakage.conditional_entropy):
        with pytest.raises(ValueError, match="estimated from 40 draws"):
            needs_exact(prior, one)
    for needs_exact in (effective_support, expected_deniability, lambda c: renyi_entropy(c, 1)):
        with pytest.raises(ValueError, match="estimated from 40 draws"):
            needs_exact(one)
    with pytest.raises(ValueError, match="estimated from 40 draws"):
        prior_loss(one, {"a": 1}, prior)
    assert one.keeping(["a"]).interval("a", "a") == (1.0, 1.0)
    with pytest.raises(ValueError, match="other: its words"):
        vulnerability_bracket(prior, one, Channel.estimated(counts[1], 40, "abcdef", "zyxwvuts"))
    with pytest.raises(ValueError, match="sums to"):
        Channel.estimated([[1, 1]], 3, "a", "uv")


@pytest.mark.parametrize("wrong", [[5, -4], [0.5, 0.4], [1.0], [[0.5, 0.5]]])
def test_what_is_no_prior_is_refused(wrong):
    channel = Channel.from_matrix(np.eye(2), "ab", "ab")
    for use in (channel.posterior, channel.posterior([0.5, 0.5]).expected_success):
        with pytest.raises(ValueError, match="prior: "):
            use(wrong)


@pytest.mark.parametrize("seed", range(10))
def test_coverage_under_the_true_prior_is_the_success_of_an_attacker_who_is_told(seed):
    """By brute force; and no other candidates, as many, hold the word more often than those of the truth."""
    channel, q, generator = random_channel(seed)
    matrix, true = channel.matrix(), generator.dirichlet(np.ones(6))
    posterior, ideal = channel.posterior(q, k=6), channel.posterior(true, k=6)
    candidates = np.argsort(-(q[:, None] * matrix), axis=0, kind="stable")
    joint = true[:, None] * matrix
    for k, covered in enumerate(posterior.expected_coverage(true), 1):
        by_hand = np.take_along_axis(joint, candidates[:k], axis=0).sum()
        assert covered == pytest.approx(by_hand) and covered <= ideal.expected_coverage(true)[k - 1] + 1e-12
    curve = ideal.expected_coverage(true)
    np.testing.assert_allclose(curve, ideal.expected_coverage())  # right about itself
    np.testing.assert_allclose(curve[[0, -1]], [ideal.expected_success(), 1.0])
    assert (np.diff(curve, 2) <= 1e-12).all()
    assert curve[2] == pytest.approx(channel.posterior(true, k=3).coverage())


@pytest.mark.parametrize("seed", range(10))
def test_hit_probabilities_are_those_of_each_word_and_average_to_the_success(seed):
    channel, q, generator = random_channel(seed)
    q[:2] = 0  # so that some released words may have no explanation
    matrix, posterior = channel.matrix(), channel.posterior(q / q.sum(), k=2)
    mode, text = posterior.mode(), generator.choice(channel.inputs, size=30).tolist()
    by_hand = [sum(matrix[channel.input_index[x], [y == x for y in mode]]) for x in text]
    hits = posterior.hit_probabilities(text)
    np.testing.assert_allclose(hits, by_hand)
    frequencies = np.array([text.count(word) / 30 for word in channel.inputs])
    assert posterior.expected_success(frequencies) == pytest.approx(hits.mean())


def test_a_posterior_of_positions_knows_its_own_coverage_alone():
    scores = np.log([[0.5, 0.3, 0.2], [0.1, 0.1, 0.8]])
    table = Posterior.from_scores([(0, 0), (0, 1)], ["u", "v"], "abc", np.arange(3), scores)
    np.testing.assert_allclose(table.expected_coverage(), [0.65, 0.85, 1.0])
    with pytest.raises(ValueError, match="true_prior: this posterior is of positions"):
        table.expected_coverage([1, 0, 0])
    with pytest.raises(ValueError, match="hit_probabilities: this posterior is of positions"):
        table.hit_probabilities(["a"])
