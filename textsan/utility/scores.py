"""Scores of a task: accuracy and correlation with intervals, paired differences between two learners."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from textsan.base.listed import Listed
from textsan.evaluation import Estimate, clustered_difference, clustered_rate
from textsan.utility.examples import Examples

METRICS = ("accuracy", "Pearson r", "Matthews")
"""Matthews' coefficient is Pearson's r of two binary variables."""


def score(metric: str, truths: Listed[float], answers: Listed[float]) -> float:
    """Compute one of `METRICS`, accuracy or a coefficient; a correlation with a constant is 0.

    >>> score("accuracy", [0, 1], [0, 0]), score("Matthews", [0, 1, 1], [0, 1, 1])
    (0.5, 1.0)
    """
    sums = _sums(metric, truths, answers).sum(axis=0)
    return float(_value(metric, sums[None])[0])


@dataclass(frozen=True)
class Outcome:
    """The answers of a learner on the test sentences.

    Attributes:
        metric: one of `METRICS`.
        truths, answers: (n,) numbers, one a test example.
        sources: (n,) number of the source of each test example.
        validation: the score of the chosen model on the validation part.
        best_on_test: the score that a choice on the test part would have had: too good, and never used otherwise.
        chosen: which of the models was chosen, in words.
    """

    metric: str
    truths: np.ndarray
    answers: np.ndarray
    sources: np.ndarray
    validation: float
    best_on_test: float
    chosen: str

    @property
    def chance(self) -> float:
        """The score of the best answer that reads nothing: the larger class, or no correlation."""
        if self.metric != "accuracy":
            return 0.0
        return float(np.unique(self.truths, return_counts=True)[1].max() / len(self.truths))

    @property
    def right(self) -> str:
        """A sign for each test example, + where the answer is right and . where it is not: for paired comparisons.

        Empty where answers are numbers.
        """
        if self.metric == "Pearson r":
            return ""
        return "".join("+" if hit else "." for hit in self.truths == self.answers)

    def estimate(self, *, seed: int = 0, resamples: int = 1000) -> Estimate:
        """Compute the score with its 95 % interval by source: `clustered_rate`, or resampling of correlations."""
        if self.metric == "accuracy":
            return clustered_rate(self.truths == self.answers, self.sources)
        return _estimate(self.metric, [(self.truths, self.answers)], self.sources, seed, resamples)


def chosen(metric: str, validation: Examples, test: Examples, answers: Sequence, names: Sequence[str]) -> Outcome:
    """Choose the model whose answers are best on the validation part, of equals the first."""
    on_validation, on_test = (
        [score(metric, part.labels, answer[at]) for answer in answers]
        for at, part in enumerate((validation, test))
    )
    best = int(np.argmax(on_validation))
    scores = on_validation[best], max(on_test), names[best]
    return Outcome(metric, np.asarray(test.labels, dtype=float), answers[best][1], test.sources, *scores)


def check_classes(metric: str, train: Examples) -> None:
    """Refuse to learn classes from one."""
    if metric != "Pearson r" and len(np.unique(train.labels)) < 2:
        raise ValueError("train: all labels are equal; pass examples of two classes")


def paired_difference(one: Outcome, other: Outcome, *, seed: int = 0, resamples: int = 1000) -> Estimate:
    """Compute the score of one learner minus that of another on the same test examples, with its 95 % interval.

    The interval of accuracies is that of `clustered_difference`; of correlations, from resampling sources.

    >>> truths, sources = np.array([0, 1]), np.arange(2)
    >>> good, bad = (Outcome("accuracy", truths, np.array(a), sources, 0, 0, "") for a in ([0, 1], [0, 0]))
    >>> paired_difference(good, bad).value
    0.5
    """
    same = one.metric == other.metric and np.array_equal(one.truths, other.truths)
    if not same or not np.array_equal(one.sources, other.sources):
        raise ValueError("other: it was tested on other examples; compare learners of the same task")
    if one.metric == "accuracy":
        right, theirs = (outcome.truths == outcome.answers for outcome in (one, other))
        return clustered_difference(right.astype(float) - theirs, one.sources)
    pair = [(one.truths, one.answers), (other.truths, other.answers)]
    return _estimate(one.metric, pair, one.sources, seed, resamples)


def _estimate(metric, pairs, sources, seed, resamples) -> Estimate:
    """The score of the first pair of truths and answers, less that of the second one if there is one."""
    _, group = np.unique(np.asarray(sources), return_inverse=True)
    groups = group.max() + 1
    picks = np.random.default_rng(seed).multinomial(groups, np.full(groups, 1 / groups), size=resamples)
    signs, value, drawn = (1, -1), 0.0, np.zeros(resamples)
    for sign, (truths, answers) in zip(signs, pairs, strict=False):
        sums = _sums(metric, truths, answers)
        by_group = np.stack([np.bincount(group, weights=column, minlength=groups) for column in sums.T], axis=1)
        value += sign * float(_value(metric, by_group.sum(axis=0)[None])[0])
        drawn += sign * _value(metric, picks @ by_group)
    if groups < 2:  # nothing is known of the spread
        return Estimate(value, -float(len(pairs)), float(len(pairs)))
    return Estimate(value, *np.quantile(drawn, [0.025, 0.975]).tolist())


def _sums(metric: str, truths, answers) -> np.ndarray:
    """Compute the columns, (n, columns), of whose sums over examples a score is a function."""
    if metric not in METRICS:
        raise ValueError(f"metric: {metric!r} is unknown; pass one of {', '.join(METRICS)}")
    truths, answers = np.asarray(truths, dtype=float), np.asarray(answers, dtype=float)
    if len(truths) != len(answers) or not len(truths):
        raise ValueError(f"answers: {len(answers)} for {len(truths)} truths; pass one an example, at least one")
    one = np.ones(len(truths))
    if metric == "accuracy":
        return np.stack([one, truths == answers], axis=1)
    return np.stack([one, truths, answers, truths**2, answers**2, truths * answers], axis=1)


def _value(metric: str, sums: np.ndarray) -> np.ndarray:
    if metric == "accuracy":
        return sums[:, 1] / sums[:, 0]
    n, x, y, xx, yy, xy = sums.T
    across, along = n * xx - x * x, n * yy - y * y
    spread = np.sqrt(np.maximum(across, 0) * np.maximum(along, 0))
    constant = (across <= 1e-9 * n * xx) | (along <= 1e-9 * n * yy)
    return np.divide(n * xy - x * y, spread, out=np.zeros(len(n)), where=~constant & (spread > 0))
