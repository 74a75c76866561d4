"""The grid of attacks: what is there is drawn as a number, what is missing stays empty."""

import matplotlib
import numpy as np
import pandas as pd
import pytest
from test_scoreboard import row

from textsan_book.judging import grid

matplotlib.use("Agg")


def test_cells_are_pooled_empty_or_crossed_out():
    rows = [
        row("markov", 0.4, seed=0),
        row("markov", 0.5, seed=1),
        row("markov", 0.9, n_positions=10),
        row("contextual", 0.7),
        row("contextual", 0.6, epsilon=1.0, gate="passed"),
    ]
    table = grid.panel(pd.DataFrame(rows), [1.0, 4.0], ["markov", "contextual", "unchanged"])
    assert table.loc["markov", 4.0] == pytest.approx(0.45) and np.isnan(table.loc["markov", 1.0])
    assert table.loc["contextual"].tolist() == [0.6, -1.0]
    assert table.loc["unchanged"].isna().all()
    assert grid.panel(pd.DataFrame(), [1.0]).isna().all(axis=None)


def test_what_is_drawn_is_what_is_there():
    import matplotlib.pyplot as plt

    table = pd.DataFrame([[0.25, np.nan], [-1.0, 1.0]], index=["markov", "contextual"], columns=[1.0, 4.0])
    figure, ax = plt.subplots()
    assert grid.draw(ax, table) == {"filled": 2, "empty": 1, "untrained": 1}
    assert [text.get_text() for text in ax.texts] == [".25", "1.00"] and len(ax.lines) == 1
    assert [tick.get_text() for tick in ax.get_yticklabels()] == ["Markov", "contextual"]
    plt.close(figure)
