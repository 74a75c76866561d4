"""Pictures of ideas show the channel and the vectors that they are given."""

import matplotlib.pyplot as plt
import numpy as np
import pytest

from textsan_book.chapters import concepts

NAMES = ["a", "b", "c"]


@pytest.fixture
def ax():
    figure, axes = plt.subplots()
    yield axes
    plt.close(figure)


def heights(band) -> tuple[float, float]:
    points = band.get_paths()[0].vertices
    return tuple(np.ptp(points[np.isclose(points[:, 0], x), 1]) for x in (0, 1))


def test_bands_are_as_wide_as_the_joint_probability_on_both_sides(ax):
    prior, channel = np.array([0.5, 0.3, 0.2]), np.array([[0.8, 0.1, 0.1], [0, 1, 0], [0.2, 0.3, 0.5]])
    concepts.flow(ax, prior, channel, NAMES, NAMES)
    expected = (prior[:, None] * channel).ravel()
    assert np.allclose([heights(band) for band in ax.collections], expected[:, None], atol=1e-12)
    assert [text.get_text() for text in ax.texts][:3] == ["a  0.50", "b  0.30", "c  0.20"]


def test_three_points_keep_their_distances_in_a_plane():
    vectors = np.random.default_rng(0).normal(size=(3, 20))
    at = concepts.plane(vectors)
    for i, j in ((0, 1), (0, 2), (1, 2)):
        assert np.isclose(np.linalg.norm(at[i] - at[j]), np.linalg.norm(vectors[i] - vectors[j]))


def test_points_have_the_colour_of_the_word_whose_cell_they_are_in(ax):
    at = np.array([[0.0, 0.0], [2.0, 0.0], [0.0, 2.0]])
    concepts.cells(ax, at, NAMES, np.array([[1.9, 0.1], [0.1, 0.2], [0.2, 0.1]]))
    clouds, words = ax.lines[::2], ax.lines[1::2]
    assert [len(cloud.get_xdata()) for cloud in clouds] == [2, 1, 0]
    assert all(cloud.get_color() == word.get_color() for cloud, word in zip(clouds, words, strict=True))
