"""The density-ratio attack: a detector whose odds are the factor Theorem 2 asks for.

Positives (x, y, c) have the original word, negatives (x', y, c) a draw of Pr(x' | y), one each. The ideal odds are

    h / (1 - h) = Pr(x, y, c) / (Pr(x | y) Pr(y, c)) = Pr(c | x, y) / Pr(c | y)

(Sugiyama, Suzuki and Kanamori 2012), where Tong et al. 2024 put h itself, which is never above 1.
"""

import numpy as np
import scipy

from textsan.attacks.contextual import ContextualBayes
from textsan.attacks.training_text import held_out_split, paired
from textsan.base import checks


class DensityRatio(ContextualBayes):
    """Guesses argmax of Pr(x | y) [h / (1 - h)] over the `k` best x of the context-free attack.

    The odds are calibrated on held-out shadow sentences: log odds become a log odds + b (Platt 1999).
    What a shadow sentence teaches is always compared with the counts of the *other* text.

    Attributes:
        calibration: (a, b).
    """

    calibration = (1.0, 0.0)

    def fit(self, shadow_docs, sanitized_docs, *, held_out: float = 0.1, seed: int = 0, **settings):
        """Train the detector on some shadow sentences and calibrate it on the others.

        Args:
            held_out: share of the distinct shadow sentences that calibrate.
        """
        shadow, released = paired(shadow_docs, sanitized_docs)
        learn, rest = held_out_split(shadow, checks.number("held_out", held_out, 0, 1), seed)
        super().fit([shadow[d] for d in learn], [released[d] for d in learn], seed=seed, **settings)
        enough = min(2000, settings.get("pairs") or 2000)
        further = [shadow[d] for d in rest], [released[d] for d in rest]
        self._calibrate(*self.training_pairs(*further, pairs=enough, seed=seed))
        return self

    def _choose(self, truths, released, counted, generator):
        """Both from the `k` best candidates: the original word if it is one of them, and a draw of Pr(x | y)."""
        numbers, logs = self._candidates(released, self.k + counted)
        true = np.array([self.channel.input_index[x] for x in truths])
        if counted:
            logs = logs + np.where(numbers == true[:, None], self._without_one()[numbers], 0.0)
            order = np.argsort(-logs, axis=1, kind="stable")[:, : self.k]
            numbers, logs = (np.take_along_axis(part, order, axis=1) for part in (numbers, logs))
        mass = np.cumsum(np.exp(logs - logs.max(axis=1, keepdims=True)), axis=1)
        drawn = (mass > generator.random(len(mass))[:, None] * mass[:, -1:]).argmax(axis=1)
        known = ((numbers == true[:, None]) & (logs > -np.inf)).any(axis=1)
        wrong = [self.channel.inputs[x] for x in numbers[np.arange(len(mass)), drawn]]
        return tuple(
            [x if is_known else None for x, is_known in zip(words, known, strict=True)]
            for words in (truths, wrong)
        )

    def _without_one(self) -> np.ndarray:
        """Compute the change of each log prior if its word is counted once less: attacked text is not counted."""
        counts = np.array([self.counts.get(x, 0) for x in self.channel.inputs], dtype=float)
        constant = 1.0 if self.alpha_inverse is None else self.alpha_inverse * sum(self.counts.values())
        with np.errstate(divide="ignore"):
            return np.log(
                np.where(counts > 0, (counts - 1 + constant) / np.maximum(counts + constant, 1e-300), 1.0)
            )

    def _blind(self, released, candidates):
        """Even odds: candidates come from the same distribution under both labels."""
        return np.zeros(len(released))

    def _calibrate(self, pairs, labels) -> None:
        odds, sign = self.detector.log_odds(pairs), 2 * np.array(labels) - 1

        def loss(ab):
            return np.logaddexp(0.0, -sign * (ab[0] * odds + ab[1])).mean()

        a, b = scipy.optimize.minimize(loss, (1.0, 0.0), method="L-BFGS-B", bounds=[(0, None), (None, None)]).x
        self.calibration = float(a), float(b)

    def _log_context(self, pairs):
        a, b = self.calibration
        return a * self.detector.log_odds(pairs) + b
