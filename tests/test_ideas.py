"""Pictures of ideas show the probabilities, likelihoods and distances that they are given."""

import matplotlib.pyplot as plt
import numpy as np
import pytest

from textsan import Channel, Prior
from textsan.attacks import MarkovBayes
from textsan.priors import MarkovModel
from textsan_book.chapters import ideas

NAMES = ["a", "b", "c"]


@pytest.fixture
def axes():
    figure, three = plt.subplots(1, 3)
    yield three
    plt.close(figure)


def texts(ax) -> list[str]:
    return [text.get_text() for text in ax.texts]


@pytest.mark.parametrize("seed", range(5))
def test_the_posterior_is_that_of_the_package(axes, seed):
    random = np.random.default_rng(seed)
    prior, table = random.dirichlet(np.ones(3)), random.dirichlet(np.ones(4), size=3)
    known = Channel.from_matrix(table, inputs=NAMES, outputs="stuv").posterior(Prior(NAMES, prior), k=3)
    after = ideas.bayes(axes, prior, table, NAMES, 2, "u")
    assert np.allclose(after, [known["u"][word] for word in NAMES])
    widths = [[bar.get_width() for bar in ax.patches] for ax in axes]
    assert np.allclose(widths, [prior, table[:, 2], after])
    coloured = [bar.get_facecolor() == plt.matplotlib.colors.to_rgba(ideas.READ) for bar in axes[2].patches]
    assert coloured == (after == after.max()).tolist()


@pytest.mark.parametrize("seed", range(5))
def test_the_trellis_is_forward_backward(axes, seed):
    random = np.random.default_rng(seed)
    initial, transition = random.dirichlet(np.ones(3)), random.dirichlet(np.ones(3), size=3)
    emission, seen = random.dirichlet(np.ones(4), size=3), [3, 0, 1, 1]
    model = MarkovModel.from_arrays(NAMES, initial=initial, transition=transition)
    channel = Channel.from_matrix(emission, inputs=NAMES, outputs="stuv")
    expected = MarkovBayes(channel, model).posterior(["stuv"[y] for y in seen])
    read = ideas.trellis(axes[0], initial, transition, emission, seen, NAMES, "stuv")
    assert np.allclose(read, [[row[word] for word in NAMES] for row in expected], atol=1e-9)
    # The lines into a place sum to what its dots say, and so do those out of it.
    lines = np.array([line.get_linewidth() / 14 for line in axes[0].lines]).reshape(3, 3, 3)
    assert np.allclose(lines.sum(axis=1), read[1:]) and np.allclose(lines.sum(axis=2), read[:-1])


def test_the_document_with_the_largest_sum_is_framed(axes):
    scores = np.array([[0.5, 0.5], [2.0, -0.4], [0.1, 0.2]])
    assert ideas.matching(axes[0], [["a", "b"], ["c", "d"], ["e", "f"]], scores, ["u", "v"]) == 1
    (frame,) = axes[0].lines
    assert frame.get_ydata().min() == pytest.approx(-1.46) and frame.get_ydata().max() == pytest.approx(-0.54)
    assert [text for text in texts(axes[0]) if text[0] in "+−"] == ["+1.0", "+1.6", "+0.3"]
    reds = [patch.get_facecolor()[:3] == plt.matplotlib.colors.to_rgb(ideas.WRONG) for patch in axes[0].patches]
    assert reds == (scores <= 0).ravel().tolist()


@pytest.mark.parametrize("seed", range(5))
def test_distances_from_the_span_are_those_of_least_squares(axes, seed):
    random = np.random.default_rng(seed)
    inputs, others = random.normal(size=(2, 3)), random.normal(size=(3, 3))
    rows = random.normal(size=(4, 2)) @ inputs
    away = ideas.span(axes[0], inputs, rows, [*inputs, *others], ["in", "in", *NAMES])
    fitted = [np.linalg.lstsq(inputs.T, one, rcond=None)[0] @ inputs for one in others]
    assert np.allclose(away, [0, 0, *np.linalg.norm(others - fitted, axis=1)], atol=1e-12)
    assert [text.endswith("passes") for text in texts(axes[0]) if ":" in text] == [True, True, False, False, False]
