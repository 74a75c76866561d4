"""The calibration of attackers who say how sure they are: against known chances."""

import numpy as np
import pytest

from textsan_book.studies import calibration


def answers(chance):
    rng = np.random.default_rng(1)
    said = rng.random(8000)
    return said, rng.random(8000) < chance(said), np.arange(8000) // 4


def test_who_says_the_truth_is_right_as_often_as_said_and_the_boaster_is_not():
    honest = calibration.curve(*answers(lambda said: said), 5)
    assert [said for said, _ in honest] == pytest.approx([0.1, 0.3, 0.5, 0.7, 0.9], abs=0.02)
    assert all(right.low - 0.01 < said < right.high + 0.01 for said, right in honest)
    boaster = calibration.curve(*answers(lambda said: said**2), 5)
    assert any(said > right.high + 0.1 for said, right in boaster)


def test_every_answer_is_in_one_part():
    rng = np.random.default_rng(2)
    said, right = rng.random(37), rng.random(37) < 0.5
    parts = calibration.curve(said, right, range(37), 37)
    assert [one for one, _ in parts] == sorted(said)
    assert sum(one.value for _, one in parts) == right.sum()
