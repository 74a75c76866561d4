"""Disclosure by one released word, of every mechanism alike: the optimum, an attack, the same on new text.

Where a channel is known the optimum is exact. A mechanism with noise on vectors has no closed form: its optimum
lies between two ends, and its attacker counts the pairs of text that it has sanitized itself.
"""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from scipy import optimize

from textsan import leakage
from textsan.attacks import ContextFreeBayes, EmpiricalInversion, Knowledge
from textsan.base import checks
from textsan.mechanisms.base import Mechanism
from textsan.mechanisms.noise import NoiseMechanism
from textsan.priors import Prior
from textsan.privacy import Threshold

_ENDS = np.log(0.01), np.log(100)  # of the logarithm of epsilon
_CLOSE = 1e-5


def bracket(mechanism: Mechanism, prior: Prior, *, draws: int, seed: int) -> tuple[float, float]:
    """Compute ends between which V(X | Y) lies; both are the exact value where the channel has a closed form.

    From below, the best rule of one estimate of the channel, of so many draws a word, scored on another, and the
    blind guess. From above, the best rule of an estimate, scored on the same, and what the noisy vector gives
    away.
    """
    if not isinstance(mechanism, NoiseMechanism):
        value = leakage.bayes_vulnerability(prior, mechanism.channel.restrict(prior.words))
        return value, value
    first, other = (mechanism.estimate_channel(prior.words, draws, seed=seed + number) for number in (3, 4))
    low, high = leakage.vulnerability_bracket(prior, first, other)
    high = min(high, leakage.noisy_vector_vulnerability(prior, mechanism, seed=seed).high)
    return min(max(low, leakage.prior_vulnerability(prior)), high), high


def counting(
    mechanism: NoiseMechanism, docs: Iterable[Sequence[str]], *, copies: int, seed: int
) -> EmpiricalInversion:
    """Make the attack that counts pairs of its own sanitized text, each word of the vocabulary once more."""
    copies = checks.whole("copies", copies, low=1)
    known = mechanism.embeddings
    own = [[word for word in doc if word in known] for doc in [*docs, known.words]] * copies
    return EmpiricalInversion().fit(own, mechanism.sanitize(own, seed=seed))


def attack(mechanism: Mechanism, shadow: Sequence[Sequence[str]], *, copies: int, seed: int):
    """Make the attack on one released word: the optimal rule for the counts of own text, or `counting`."""
    if isinstance(mechanism, NoiseMechanism):
        return counting(mechanism, shadow, copies=copies, seed=seed)
    knowledge = Knowledge.of(mechanism, shadow=shadow, attacked=mechanism.protected)
    return ContextFreeBayes.against(knowledge)


def on_new_text(mechanism: Mechanism, counts: Mapping[str, int], *, seed: int) -> float:
    """Compute V(X | Y) for the prior of other text; for noise on vectors V(X | v), v noisy, which is no less."""
    known = [word for word in mechanism.inputs if counts.get(word) and word in mechanism.protected]
    prior = Prior.from_counts(counts, known, alpha_inverse=0)
    if isinstance(mechanism, NoiseMechanism):
        return leakage.noisy_vector_vulnerability(prior, mechanism, seed=seed).high
    return leakage.bayes_vulnerability(prior, mechanism.channel.restrict(known))


def largest_epsilon(mechanism: Mechanism, prior: Prior, success: float) -> float:
    """Find the largest epsilon at which the best guess from one released word succeeds at most so often.

    It is rounded down where it is printed; nan where no epsilon from 0.01 to 100 has that rate.

    >>> from textsan import CusText, Embeddings
    >>> two = CusText(Embeddings(["a", "b"], [[0.0], [1.0]]), epsilon=1, k=2)
    >>> round(float(largest_epsilon(two, Prior(["a", "b"], [0.5, 0.5]), 0.75)), 3)  # 2 ln 3
    2.197
    """

    def excess(log_epsilon: float) -> float:
        channel = mechanism.with_(epsilon=float(np.exp(log_epsilon))).channel.restrict(prior.words)
        return leakage.bayes_vulnerability(prior, channel) - success

    if excess(_ENDS[0]) > 0 or excess(_ENDS[1]) < 0:
        return np.nan
    root = optimize.brentq(excess, *_ENDS, xtol=_CLOSE)
    return Threshold(np.exp(root - 2 * _CLOSE))
