"""Reading DNA from a vector: one network for every position, told the position by a sinusoidal code.

Windows of twenty bases around splice sites, as in Pan et al. 2020.
"""

from collections.abc import Sequence

import numpy as np

from textsan.base import checks
from textsan.embedding_leakage import heads
from textsan.embedding_leakage.vector_knowledge import VectorKnowledge

BASES = "ACGT"
LENGTH = 20


def position_codes(width: int) -> np.ndarray:
    """Sinusoidal position codes (Vaswani et al. 2017), (20, width), as wide as the vectors.

    Args:
        width: at least 2.

    >>> position_codes(4)[0]
    array([0., 1., 0., 1.], dtype=float32)
    """
    pairs = np.arange((width + 1) // 2)
    angles = np.arange(LENGTH)[:, None] / 10_000 ** (2 * pairs / width)
    return np.stack([np.sin(angles), np.cos(angles)], axis=2).reshape(LENGTH, -1)[:, :width].astype(np.float32)


class GenomeReconstruction:
    """Guesses the base at each position from the vector and the position's code.

    Args:
        standard: how vectors are scaled.
        network: 2d inputs, hidden 400 and 100 sigmoid units with batch normalisation, 4 classes.
    """

    def __init__(self, standard: heads.Standard, network):
        self.standard, self.network = standard, network

    @classmethod
    def against(
        cls, knowledge: VectorKnowledge, *, pairs: int | None = None, steps: int = 100_000
    ) -> "GenomeReconstruction":
        """The attack, trained on windows of the attacker's own, or drawn by the rule.

        Args:
            knowledge: a corpus of windows, or a rule; and an encoder.
            pairs: windows that are drawn where there is a rule and no corpus.
            steps: batches of 128 (window, position), at least 1.

        Raises:
            ValueError: neither corpus nor rule, or a text that is no window.
        """
        import torch

        texts = knowledge.texts() if knowledge.corpus or pairs is None else knowledge.drawn(pairs)
        truth = torch.from_numpy(numbered(texts))
        vectors = knowledge.ask(texts)
        standard = heads.Standard(vectors)
        inputs = torch.from_numpy(standard(vectors))
        codes = torch.from_numpy(position_codes(inputs.shape[1]))

        def loss(net, rows, _):
            text, position = rows // LENGTH, rows % LENGTH
            scores = net(torch.cat([inputs[text], codes[position]], dim=1))
            return torch.nn.functional.cross_entropy(scores, truth[text, position])

        network = heads.train(
            lambda: heads.stack(2 * inputs.shape[1], [400, 100], len(BASES), normalise=True),
            loss,
            truth.numel(),
            steps=checks.whole("steps", steps, low=1),
            seed=knowledge.seed,
        )
        return cls(standard, network)

    def reconstruct(self, vectors: np.ndarray) -> list[str]:
        """The guessed window behind each vector.

        Args:
            vectors: the released ones, (n, d).
        """
        import torch

        inputs = torch.from_numpy(self.standard(np.asarray(vectors)))
        codes = torch.from_numpy(position_codes(inputs.shape[1]))
        with torch.inference_mode():
            guesses = [
                self.network(torch.cat([inputs, code.expand_as(inputs)], dim=1)).argmax(dim=1) for code in codes
            ]
        return ["".join(BASES[base] for base in row) for row in torch.stack(guesses, dim=1).tolist()]


def numbered(texts: Sequence[str]) -> np.ndarray:
    """The number of the base at each position, (n, 20).

    Args:
        texts: windows.

    Raises:
        ValueError: a text that is no window.

    >>> numbered(["ACGT" * 5])[0, :4]
    array([0, 1, 2, 3])
    """
    for text in texts:
        if len(text) != LENGTH or not set(text) <= set(BASES):
            raise ValueError(f"texts: {text!r} is no window of {LENGTH} letters out of {BASES}")
    return np.array([[BASES.index(base) for base in text] for text in texts]).reshape(-1, LENGTH)


def hits(guesses: Sequence[str], truths: Sequence[str]) -> np.ndarray:
    """Tell for each base if it was guessed right, (n, 20).

    Args:
        guesses, truths: windows.

    Raises:
        ValueError: a text that is no window, or not as many guesses as truths.
    """
    if len(guesses) != len(truths):
        raise ValueError(f"guesses: {len(guesses)} for {len(truths)} truths; pass one a window")
    return numbered(guesses) == numbered(truths)
