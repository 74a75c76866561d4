"""The gate: has a detector learnt anything about context?

A detector that never looks at the sentence can be right most of the time: the released word and the candidate that
it is shown say much about the label. So items that agree in both are compared: in one sentence the candidate is
the original, in another it is not, and only the sentence can tell. Two tests, each enough:

- contexts permuted among such items make the detector less accurate;
- the coefficient beta of log h / (1 - h) is above 0 in logit Pr(label) = blind + beta logit h, where blind is free
  for every released word and candidate (conditional logistic regression on matched pairs, Breslow and Day 1980).
  It takes no detector for one that knows context because it knows better than the blind rule how often a candidate
  is the original; and it does not ask that h be at 1/2 where the labels are even.

Items are made as the detector's training pairs are, of text that it has not seen. Items of one sentence are never
compared, and errors are those of independent sentences: in a mean over pairs of items the influence of a sentence
counts twice (Hoeffding 1948). One of two tests may pass by luck, so that each interval is of 97.5 %.
"""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import scipy

from textsan.base.listed import Listed
from textsan.evaluation import Estimate, clustered_rate

LEVEL = 1 - 0.05 / 2
"""Of each of the two intervals: Bonferroni, so that both hold with 95 %."""

ENOUGH = 20
"""Sentences with something to compare; intervals of fewer are infinite, since their spread is not known."""


class Gate(NamedTuple):
    """The results of the gate's tests of a detector.

    Attributes:
        permuted: accuracy minus that with contexts permuted, over items that can be compared; interval of 97.5 %.
        beta: coefficient of log h / (1 - h) beside a free blind part; interval of 97.5 %.
        accuracy: share of all items whose label is h > 1/2; interval of 95 %.
        accuracy_blind: the same of the rule that knows the channel and the shadow counts, and no context.
    """

    permuted: Estimate
    beta: Estimate
    accuracy: Estimate
    accuracy_blind: Estimate

    @property
    def passed(self) -> bool:
        """Tell whether the detector has learnt context: a lower limit above 0, of either test."""
        return bool(max(self.permuted.low, self.beta.low) > 0)

    def columns(self) -> dict[str, float | str]:
        """Return columns of a result table: `gate`, `gate_permuted` and its ends, and so on."""
        named = {"gate_permuted": self.permuted, "gate_beta": self.beta, "accuracy_blind": self.accuracy_blind}
        return {"gate": "passed" if self.passed else "not passed"} | flat(named)


def flat(estimates: Mapping[str, Estimate]) -> dict[str, float]:
    """Three columns an estimate: NAME, NAME_low and NAME_high.

    >>> flat({"rate": Estimate(0.5, 0.4, 0.6)})
    {'rate': 0.5, 'rate_low': 0.4, 'rate_high': 0.6}
    """
    ends = ("", "_low", "_high")
    return {
        f"{name}{end}": x for name, estimate in estimates.items() for end, x in zip(ends, estimate, strict=True)
    }


def gate(
    labels: Listed[int],
    log_odds: Listed[float],
    blind: Listed[float],
    strata: Listed[int],
    sentences: Listed[int],
) -> Gate:
    """Test a detector on n items that it was not trained on.

    Args:
        labels: 1 where the candidate is the original word, else 0.
        log_odds: the detector's log h / (1 - h).
        blind: log odds of a rule that sees no context, infinite where it is sure.
        strata: a number for each pair of released word and candidate.
        sentences: the number of the sentence of each item.

    >>> found = gate([1, 0] * 40, [2.0, -2.0] * 40, [0.0] * 80, [0] * 80, range(80))
    >>> found.passed, gate([1, 0] * 40, [0.0] * 80, [0.0] * 80, [0] * 80, range(80)).passed
    (True, False)
    """
    labels, log_odds, blind = (np.asarray(part, dtype=float) for part in (labels, log_odds, blind))
    _, sentences = np.unique(np.asarray(sentences), return_inverse=True)
    accuracies = [clustered_rate((odds > 0) == labels, sentences) for odds in (log_odds, blind)]
    pairs = _matched(np.asarray(strata), sentences)
    tests = _permuted(labels, log_odds > 0, pairs, sentences), _beta(labels, log_odds, pairs, sentences)
    return Gate(*tests, *accuracies)


class _Pairs(NamedTuple):
    """Pairs (i, j) of items in one stratum and two sentences, in both orders; share is that of j among i's."""

    i: np.ndarray
    j: np.ndarray
    share: np.ndarray


def _matched(strata: np.ndarray, sentences: np.ndarray) -> _Pairs:
    order = np.argsort(strata, kind="stable")
    parts = np.split(order, np.flatnonzero(np.diff(strata[order])) + 1)
    matched = [np.empty((2, 0), dtype=np.intp)]
    for part in parts:
        i, j = np.nonzero(sentences[part][:, None] != sentences[part])
        matched.append(part[np.array([i, j])])
    i, j = np.concatenate(matched, axis=1)
    return _Pairs(i, j, 1 / np.bincount(i, minlength=len(strata))[i])


def _permuted(labels: np.ndarray, says: np.ndarray, pairs: _Pairs, sentences: np.ndarray) -> Estimate:
    """Mean over items i and their partners j of how much more often i's answer is right for i than j's is."""
    i, j, share = pairs
    gain = share * ((says[i] == labels[i]).astype(float) - (says[j] == labels[i]))
    by_sentence, sizes = (_by_sentence(part, pairs, sentences) for part in (gain, share))
    if not len(i):
        return Estimate(0.0, -np.inf, np.inf)
    value = by_sentence.sum() / sizes.sum()
    counted = _by_sentence((labels[i] != labels[j]).astype(float), pairs, sentences) > 0
    return _interval(value, (by_sentence - value * sizes) / sizes.sum(), counted)


def _beta(labels: np.ndarray, log_odds: np.ndarray, pairs: _Pairs, sentences: np.ndarray) -> Estimate:
    """The slope that makes it most likely which item of each pair of different labels is the one labelled 1."""
    different = labels[pairs.i] > labels[pairs.j]
    i, j = pairs.i[different], pairs.j[different]
    by = log_odds[i] - log_odds[j]
    scale = np.sqrt(np.mean(by**2)) if len(by) else 0.0
    if scale == 0:
        return Estimate(0.0, -np.inf, np.inf)
    partners = np.bincount(pairs.i, minlength=len(labels))
    weight, by = (1 / partners[i] + 1 / partners[j]) / 2, by / scale

    def score(beta):
        # Two pairs more, one each way, keep the slope finite where the detector is always right.
        return weight @ (by * scipy.special.expit(-beta * by)) + 0.5 - scipy.special.expit(beta)

    beta = scipy.optimize.brentq(score, -1e3, 1e3)
    chance = scipy.special.expit(beta * by)
    curvature = weight @ (by**2 * chance * (1 - chance)) + scipy.special.expit(beta) * scipy.special.expit(-beta)
    ordered = _Pairs(i, j, weight * by * (1 - chance))
    by_sentence = _by_sentence(ordered.share, ordered, sentences)
    counted = np.isin(np.arange(len(by_sentence)), sentences[np.concatenate([i, j])])
    return Estimate(*(float(x / scale) for x in _interval(beta, by_sentence / curvature, counted)))


def _by_sentence(values: np.ndarray, pairs: _Pairs, sentences: np.ndarray) -> np.ndarray:
    """Half of what each pair counts goes to the sentence of either item."""
    number = int(sentences.max(initial=-1)) + 1
    i, j = (np.bincount(sentences[side], weights=values / 2, minlength=number) for side in (pairs.i, pairs.j))
    return i + j


def _interval(value: float, influence: np.ndarray, counted: np.ndarray) -> Estimate:
    """Compute the interval of a mean over pairs, from half of each sentence's influence on it."""
    n = int(counted.sum())
    if n < ENOUGH:
        return Estimate(float(value), -np.inf, np.inf)
    error = 2 * np.sqrt(n / (n - 1) * np.sum(influence**2))
    wide = scipy.stats.t.ppf((1 + LEVEL) / 2, n - 1) * error
    return Estimate(float(value), float(value - wide), float(value + wide))
