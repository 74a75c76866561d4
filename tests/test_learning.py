"""The exact learning curve against enumerated counts, drawn counts, drawn texts, and the attack itself."""

from itertools import product

import numpy as np
import pytest
import scipy
from helpers import refused

from textsan import Channel, Prior, leakage
from textsan.attacks import ContextFreeBayes
from textsan_book.studies.learning import learning_curve

WORDS = list("abcd")


def world(seed, outputs="abcd"):
    generator = np.random.default_rng(seed)
    matrix = generator.dirichlet(np.full(len(outputs), 0.5), size=4)
    return Channel.from_matrix(matrix, WORDS, list(outputs)), generator.dirichlet(np.ones(4)), generator


def success_of(counts, channel, true, constant):
    """Of the attack with these counts, by its definition: earlier words win, and unexplained words stay."""
    matrix, total = channel.matrix(), 0.0
    for y, column in enumerate(matrix.T):
        score = (counts + constant) * column
        guess = score.argmax() if score.max() > 0 else channel.input_index.get(channel.outputs[y])
        total += 0 if guess is None else true[guess] * matrix[guess, y]
    return total


def enumerated(channel, true, size, constant, most=10):
    chances = scipy.stats.poisson.pmf(np.arange(most)[:, None], size * true)
    values = [
        np.prod(chances[counts, range(4)]) * success_of(np.array(counts), channel, true, constant)
        for counts in product(range(most), repeat=4)
    ]
    return sum(values)


@pytest.mark.parametrize("constant", [0.0, 1.0, 0.3])
@pytest.mark.parametrize("size", [0.5, 1.5])
def test_the_curve_is_the_sum_over_all_counts(size, constant):
    channel, true, _ = world(3)
    found = learning_curve(channel, true, [size], pseudo_count=constant)[0]
    assert found == pytest.approx(enumerated(channel, true, size, constant), abs=1e-5)


def test_ties_go_to_the_earlier_word():
    even = Channel.from_matrix(np.full((4, 2), 0.5), WORDS, ["u", "v"])
    true = np.array([0.1, 0.2, 0.3, 0.4])
    assert learning_curve(even, true, [0.0])[0] == pytest.approx(0.1)
    found = learning_curve(even, true, [2.0])[0]
    assert found == pytest.approx(enumerated(even, true, 2.0, 1.0), abs=1e-6)
    assert found != pytest.approx(learning_curve(even, true[::-1], [2.0])[0], abs=0.01)


def test_it_is_the_attack_on_drawn_texts():
    """Texts of a fixed number of tokens: Poisson counts are close, and the package's attack is the rule."""
    channel, true, generator = world(2)
    size, success = 200, []
    for _ in range(200):
        counts = dict(zip(WORDS, generator.multinomial(size, true).tolist(), strict=True))
        attack = ContextFreeBayes(channel, counts, alpha_inverse=1 / size)
        success.append(attack.tabulated().expected_success(Prior(WORDS, true)))
    assert learning_curve(channel, true, [size])[0] == pytest.approx(np.mean(success), abs=0.01)


def test_from_the_likelihood_alone_to_the_optimum():
    channel, true, _ = world(5)
    curve = learning_curve(channel, Prior(WORDS, true), [0.0, 10.0, 1e3, 1e6])
    blind = success_of(np.zeros(4), channel, true, 1.0)
    assert curve[0] == pytest.approx(blind)
    assert curve[-1] == pytest.approx(leakage.bayes_vulnerability(true, channel), abs=1e-4)
    assert curve.max() <= leakage.bayes_vulnerability(true, channel) + 1e-9
    nothing = learning_curve(channel, true, [0.0], pseudo_count=0.0)[0]
    assert nothing == pytest.approx(true @ np.diag(channel.matrix()))


def test_outputs_that_are_no_inputs_and_channels_that_are_estimates():
    channel, true, _ = world(6, outputs="uvw")
    found = learning_curve(channel, true, [2.0], pseudo_count=0.0)[0]
    assert found == pytest.approx(enumerated(channel, true, 2.0, 0.0), abs=1e-5)
    refused("estimated from 5 draws", lambda: learning_curve(Channel.estimated([[5]], 5, "a", "a"), [1.0], [1.0]))
    refused("sizes: ", lambda: learning_curve(channel, true, [-1.0]))
