"""The context-free Bayesian attack and, with the true prior, its bound (Tong et al. 2024, Theorem 1, Eq. 10)."""

from collections.abc import Mapping

import numpy as np

from textsan.attacks.base import Attack
from textsan.channel import Channel
from textsan.priors import Prior


class ContextFreeBayes(Attack):
    """Guesses argmax_x Pr(y | x) (counts[x] / alpha + alpha_inverse), alpha the total of the counts.

    With counts of a shadow corpus this is the practical attack; with the counts of the attacked text itself and
    `alpha_inverse=0` it is the rule of the Context-free ASR bound (Definition 1), optimal by Theorem 1. A word
    that the channel cannot have released (it was kept verbatim), or that no word of positive prior explains, is
    guessed to be itself. Ties go to the earlier input.

    Args:
        channel: Pr(y | x), known to the attacker.
        counts: occurrences of words in the reference text.
        alpha_inverse: constant of at least 0 added to each frequency; None is 1 / alpha, add-one smoothing.
        keep: words that the mechanism releases verbatim; what another word may have become is never one of them.

    Raises:
        ValueError: empty counts, or a constant that is no number of at least 0.

    >>> channel = Channel.from_matrix([[0.6, 0.4], [0.4, 0.6]], inputs=["a", "b"], outputs=["a", "b"])
    >>> ContextFreeBayes(channel, {"a": 9, "b": 1}).reconstruct([["b"]], [(0, 0)])
    ['a']
    """

    def __init__(
        self, channel: Channel, counts: Mapping[str, int], alpha_inverse: float | None = None, *, keep=()
    ):
        self.channel = channel
        self.prior = Prior.from_counts(counts, channel.inputs, alpha_inverse)
        with np.errstate(divide="ignore"):
            self.log_prior = np.log(self.prior.probabilities)
        keep = frozenset(keep)
        self.log_prior[[word in keep for word in channel.inputs]] = -np.inf

    def candidates(self, outputs: list[str], k: int = 10) -> tuple[np.ndarray, np.ndarray]:
        """The `k` most likely inputs for each output: row numbers and log joint probabilities, (n, k)."""
        return self.channel.best_inputs(self.log_prior, outputs, k)

    def _guess(self, docs, positions):
        released = [docs[document][index] for document, index in positions]
        seen = [word for word in dict.fromkeys(released) if word in self.channel.output_index]
        best, scores = self.candidates(seen, k=1)
        guess = {
            word: self.channel.inputs[row] if score > -np.inf else word
            for word, row, score in zip(seen, best[:, 0], scores[:, 0], strict=True)
        }
        return [guess.get(word, word) for word in released]
