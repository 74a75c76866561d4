"""Reading DNA from a vector: one network for every position, told the position by a sinusoidal code.

Windows of twenty bases around splice sites, as in Pan et al. 2020.
"""

from collections.abc import Sequence
from functools import partial

import numpy as np

from textsan.base import checks
from textsan.embedding_leakage import heads
from textsan.embedding_leakage.vector_knowledge import VectorKnowledge

BASES = "ACGT"
LENGTH = 20


def position_codes(width: int) -> np.ndarray:
    """Compute sinusoidal position codes (Vaswani et al. 2017), (20, width), as wide as the vectors."""
    pairs = np.arange((width + 1) // 2)
    angles = np.arange(LENGTH)[:, None] / 10_000 ** (2 * pairs / width)
    return np.stack([np.sin(angles), np.cos(angles)], axis=2).reshape(LENGTH, -1)[:, :width].astype(np.float32)


class GenomeReconstruction:
    """Guess the base at each position from the vector, scaled, and the position's code.

    The network has 2d inputs, hidden 400 and 100 sigmoid units with batch normalisation, 4 classes.
    """

    def __init__(self, standard: heads.Standard, network):
        self.standard, self.network = standard, network

    @classmethod
    def against(
        cls, knowledge: VectorKnowledge, *, pairs: int | None = None, steps: int = 100_000
    ) -> "GenomeReconstruction":
        """Train the attack on windows of the attacker's own, or on so many pairs drawn by the rule.

        A step is a batch of 128 (window, position).
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

        make = partial(heads.stack, 2 * inputs.shape[1], [400, 100], len(BASES), normalise=True)
        steps = checks.whole("steps", steps, low=1)
        return cls(standard, heads.train(make, loss, truth.numel(), steps=steps, seed=knowledge.seed))

    def reconstruct(self, vectors: np.ndarray) -> list[str]:
        """Guess the window behind each released vector, (n, d)."""
        import torch

        inputs = torch.from_numpy(self.standard(np.asarray(vectors)))
        codes = torch.from_numpy(position_codes(inputs.shape[1]))
        with torch.inference_mode():
            guesses = [
                self.network(torch.cat([inputs, code.expand_as(inputs)], dim=1)).argmax(dim=1) for code in codes
            ]
        return ["".join(BASES[base] for base in row) for row in torch.stack(guesses, dim=1).tolist()]


def numbered(texts: Sequence[str]) -> np.ndarray:
    """Return the number of the base at each position of windows, (n, 20)."""
    for text in texts:
        if len(text) != LENGTH or not set(text) <= set(BASES):
            raise ValueError(f"texts: {text!r} is no window of {LENGTH} letters out of {BASES}")
    return np.array([[BASES.index(base) for base in text] for text in texts]).reshape(-1, LENGTH)


def hits(guesses: Sequence[str], truths: Sequence[str]) -> np.ndarray:
    """Tell for each base of windows if it was guessed right, (n, 20)."""
    if len(guesses) != len(truths):
        raise ValueError(f"guesses: {len(guesses)} for {len(truths)} truths; pass one a window")
    return numbered(guesses) == numbered(truths)


# --- windows from a model of donor and acceptor sites, for where the splice-junction data are not at hand --------

KINDS = ("donor", "acceptor", "none")

# Rounded frequencies of A, C, G, T beside human splice sites, after Shapiro and Senapathy (1987).
_DONOR = {
    7: (0.32, 0.37, 0.19, 0.12),
    8: (0.60, 0.13, 0.12, 0.15),
    9: (0.09, 0.03, 0.80, 0.08),
    10: (0, 0, 1, 0),
    11: (0, 0, 0, 1),
    12: (0.59, 0.03, 0.35, 0.03),
    13: (0.71, 0.08, 0.12, 0.09),
    14: (0.07, 0.05, 0.84, 0.04),
    15: (0.16, 0.16, 0.22, 0.46),
}
_ACCEPTOR = {i: (0.10, 0.32, 0.12, 0.46) for i in range(6)} | {
    6: (0.24, 0.30, 0.20, 0.26),
    7: (0.05, 0.65, 0.01, 0.29),
    8: (1, 0, 0, 0),
    9: (0, 0, 1, 0),
    10: (0.25, 0.14, 0.51, 0.10),
}


def frequencies(kind: str) -> np.ndarray:
    """Compute Pr(base) at each position of a window, (20, 4).

    A "donor" or "acceptor" site is between positions 9 and 10; of "none" every base is as likely as every other.
    """
    known = {"donor": _DONOR, "acceptor": _ACCEPTOR, "none": {}}[checks.choice("kind", kind, KINDS)]
    return np.array([known.get(position, (0.25,) * 4) for position in range(LENGTH)], dtype=float)


def generate(n: int, seed, kinds: Sequence[str] = KINDS) -> list[str]:
    """Draw windows, the kinds in turn."""
    n, random = checks.whole("n", n), np.random.default_rng(seed)
    ends = [frequencies(kind).cumsum(axis=1) for kind in kinds]
    windows = []
    for at, row in enumerate(random.random((n, LENGTH))):
        bases = (row[:, None] >= ends[at % len(kinds)][:, :3]).sum(axis=1)
        windows.append("".join(BASES[base] for base in bases))
    return windows


def window(sequence: str) -> str | None:
    """Cut the twenty bases in the middle out of a longer sequence; None if a letter is ambiguous.

    The 60 letters of the UCI data have their site in the middle.

    >>> window("A" * 20 + "C" * 20 + "T" * 20)
    'CCCCCCCCCCCCCCCCCCCC'
    """
    start = (len(sequence) - LENGTH) // 2
    middle = sequence.upper()[start : start + LENGTH]
    return middle if len(middle) == LENGTH and set(middle) <= set(BASES) else None


def majority(known: Sequence[str], truths: Sequence[str]) -> np.ndarray:
    """Guess the base that is most frequent at each position of the attacker's windows; hits, (n, 20).

    >>> int(majority(["A" * 20], ["A" * 20, "C" * 20]).sum())
    20
    """
    most = [np.bincount(column, minlength=len(BASES)).argmax() for column in numbered(known).T]
    return numbered(truths) == np.array(most)
