"""The density-ratio attack: a detector whose odds are the factor Theorem 2 asks for.

Positives (x, y, c) have the original word, negatives (x', y, c) a draw of Pr(x' | y), one each. The ideal odds are

    h / (1 - h) = Pr(x, y, c) / (Pr(x | y) Pr(y, c)) = Pr(c | x, y) / Pr(c | y)

(Sugiyama, Suzuki and Kanamori 2012), where Tong et al. 2024 put h itself, which is never above 1.
"""

import numpy as np

from textsan.attacks.contextual import SPAN, ContextualBayes
from textsan.attacks.knowledge import Knowledge
from textsan.attacks.shadow import held_out_split, paired
from textsan.text import checks


class DensityRatio(ContextualBayes):
    """Guesses argmax of Pr(x | y) [h / (1 - h)] over the `k` best x of the context-free attack.

    The odds are calibrated on held-out shadow sentences: log odds become a log odds + b (Platt 1999).

    Args: as for `ContextualBayes`.

    Attributes:
        calibration: (a, b).
    """

    calibration = (1.0, 0.0)

    @classmethod
    def against(
        cls,
        knowledge: Knowledge,
        *,
        k: int = 10,
        copies: int = 100,
        pairs: int | None = None,
        epochs: float = 3.0,
        span: int = SPAN,
        widen: bool = False,
        learning_rate: float = 5e-5,
    ) -> "DensityRatio":
        """The attack, its detector trained and calibrated on shadow text.

        Args: as for `ContextualBayes.against`.
        """
        training = {"pairs": pairs, "epochs": epochs, "widen": widen, "learning_rate": learning_rate}
        return super().against(knowledge, k=k, copies=copies, span=span, **training)

    def fit(self, shadow_docs, sanitized_docs, *, held_out: float = 0.1, seed: int = 0, **settings):
        """Trains the detector on some shadow sentences and calibrates it on the others.

        Args:
            shadow_docs, sanitized_docs, seed, settings: as for `ContextualBayes.fit`.
            held_out: share of the distinct shadow sentences that calibrate.
        """
        shadow, released = paired(shadow_docs, sanitized_docs)
        learn, rest = held_out_split(shadow, checks.number("held_out", held_out, 0, 1), seed)
        super().fit([shadow[d] for d in learn], [released[d] for d in learn], seed=seed, **settings)
        self._calibrate(*self.training_pairs([shadow[d] for d in rest], [released[d] for d in rest], pairs=2000))
        return self

    def _choose(self, truths, released, generator):
        seen = list(dict.fromkeys(released))
        best = self.bayes.tabulated(self.k, seen)
        weights = np.exp(best.log_weights - best.log_weights.max(axis=1, keepdims=True))
        table = dict(zip(seen, zip(best.numbers, np.cumsum(weights, axis=1), strict=True), strict=True))
        wrong = []
        for word, uniform in zip(released, generator.random(len(released)), strict=True):
            line, mass = table[word]
            wrong.append(self.channel.inputs[line[np.searchsorted(mass, uniform * mass[-1], side="right")]])
        return truths, wrong

    def _calibrate(self, pairs, labels) -> None:
        from scipy.optimize import minimize

        odds, sign = self.detector.log_odds(pairs), 2 * np.array(labels) - 1

        def loss(ab):
            return np.logaddexp(0.0, -sign * (ab[0] * odds + ab[1])).mean()

        a, b = minimize(loss, (1.0, 0.0), method="L-BFGS-B", bounds=[(0, None), (None, None)]).x
        self.calibration = float(a), float(b)

    def _log_context(self, pairs):
        a, b = self.calibration
        return a * self.detector.log_odds(pairs) + b
