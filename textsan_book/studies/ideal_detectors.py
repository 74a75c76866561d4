"""The detectors that infinite training would give, exact where the source is known: the value of labels.

A detector that sees enough pairs answers with the share of ones among equal pairs, and that follows from how the
labels were made. Here x_1, x_2, .. are the candidates for a released word y, the best of the context-free attack
first, a_j = Pr(x_j | y) and p_j = Pr(x_j | y, c), c the rest of the released sentence.
"""

import numpy as np

from textsan.evaluation import Estimate
from textsan_book.studies.known_source import KnownSource


def detector_of_steps(given: np.ndarray) -> np.ndarray:
    """Compute h of Steps 1 and 2 of Tong et al. 2024: p_1 for the first, p_2 / (p_1 + p_2) for the second, else 1.

    The first is shown always, and labelled 1 if it is the original; the second if the first is (label 0) or if it
    is itself (1); any other only if it is the original. The p_j are (positions, K), zeros where there is no
    candidate.
    """
    h = np.ones_like(given)
    h[:, 0] = given[:, 0]
    if given.shape[1] > 1:
        pair = given[:, :2].sum(axis=1)
        h[:, 1] = np.divide(given[:, 1], pair, out=np.full(len(given), 0.5), where=pair > 0)
    return h


def detector_of_ratio(alone: np.ndarray, given: np.ndarray) -> np.ndarray:
    """Compute h of the density ratio, positives the original and negatives a draw of Pr(x | y): odds p_j / a_j.

    Both, (positions, K), come from the K candidates, so that a_j and p_j are those given that the original is
    among them.
    """
    alone, given = (part / part.sum(axis=1, keepdims=True) for part in (alone, given))
    return np.divide(given, alone + given, out=np.zeros_like(given), where=alone > 0)


def gains(here: KnownSource, k: int = 10) -> dict[str, Estimate]:
    """Compute the gain of attacks with ideal detectors over the context-free one, given the released sentences.

    Each answers with the largest a_j times what it makes of its detector: h, as Tong et al. 2024 do, or the odds h
    / (1 - h). The odds of the density ratio give the best rule on `k` candidates. The gains, by the names "steps,
    h", "ratio, h" and "ratio, odds", are differences of success rates with 95 % intervals by sentence.
    """
    alone, given = (part[:, :k] for part in (here.chances(context=False), here.chances()))
    steps, ratio = detector_of_steps(given), detector_of_ratio(alone, given)
    by_detector, rows = {}, np.arange(len(given))
    for name, factor in {"steps, h": steps, "ratio, h": ratio, "ratio, odds": ratio / (1 - ratio)}.items():
        guess = (alone * factor).argmax(axis=1)
        by_detector[name] = here.average(given[rows, guess] - given[:, 0])
    return by_detector
