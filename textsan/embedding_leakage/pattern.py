"""Pattern reconstruction: the segments of a text of known form, read from its vector by one network each.

Divide and conquer (Pan et al. 2020, section V-B): one classifier for all dates would have 36,524 outputs, three
for year, month and day have 143. The whole is guessed from the product of the parts' probabilities.
"""

from collections.abc import Callable, Hashable, Mapping, Sequence
from itertools import product
from typing import NamedTuple

import numpy as np

from textsan.base import checks
from textsan.embedding_leakage import heads
from textsan.embedding_leakage.vector_knowledge import VectorKnowledge
from textsan.evaluation import Estimate, hit_rate


class Segment(NamedTuple):
    """One part of a text."""

    name: str  # for tables
    values: Sequence[Hashable]  # what it can be
    read: Callable[[str], Hashable]  # finds it in a text
    hidden: int  # sigmoid units of its network


BIRTH = (
    Segment("year", range(1900, 2000), lambda number: int(number[6:10]), 400),
    Segment("month", range(1, 13), lambda number: int(number[10:12]), 25),
    Segment("day", range(1, 32), lambda number: int(number[12:14]), 200),
)
"""The date of birth in a citizen number, with the hidden units of Pan et al. 2020, section V-C."""


class PatternReconstruction:
    """Guesses each segment from the vector, and the whole from all of them."""

    def __init__(self, segments: Sequence[Segment], standard: heads.Standard, networks: Sequence):
        self.segments, self.standard, self.networks = tuple(segments), standard, tuple(networks)

    @classmethod
    def against(
        cls,
        knowledge: VectorKnowledge,
        *,
        segments: Sequence[Segment] = BIRTH,
        pairs: int = 200_000,
        steps: int = 100_000,
    ) -> "PatternReconstruction":
        """Train the attack on texts that the attacker drew by the rule and had encoded.

        Args:
            pairs: texts that are drawn and encoded once, at least 2; with `steps` times 128 of them every pair is
                used once, as if it was made on the fly.
        """
        import torch

        pairs, steps = checks.whole("pairs", pairs, low=2), checks.whole("steps", steps, low=1)
        texts = knowledge.drawn(pairs)
        vectors = knowledge.ask(texts)
        standard = heads.Standard(vectors)
        inputs, networks = torch.from_numpy(standard(vectors)), []
        for at, segment in enumerate(segments):
            number = {value: i for i, value in enumerate(segment.values)}
            truth = torch.tensor([number[segment.read(text)] for text in texts])

            def make(segment=segment):
                return heads.stack(inputs.shape[1], [segment.hidden], len(segment.values))

            def loss(net, rows, _, truth=truth):
                return torch.nn.functional.cross_entropy(net(inputs[rows]), truth[rows])

            networks.append(heads.train(make, loss, len(inputs), steps=steps, seed=knowledge.seed + at))
        return cls(segments, standard, networks)

    def log_probabilities(self, vectors: np.ndarray) -> dict[str, np.ndarray]:
        """Compute log-probabilities of the values of each segment, (n, values), from released vectors (n, d)."""
        import torch

        with torch.inference_mode():
            inputs = torch.from_numpy(self.standard(np.asarray(vectors)))
            return {
                segment.name: torch.log_softmax(net(inputs), dim=1).double().numpy()
                for segment, net in zip(self.segments, self.networks, strict=True)
            }

    def ranked(self, vectors: np.ndarray, k: int = 5) -> dict[str, list[list]]:
        """Return the k likeliest values of each segment and, under "whole", tuples of them, for vectors (n, d).

        A tuple among the best k has each of its parts among that part's best k, so k^3 tuples are enough.
        """
        k, logs = checks.whole("k", k, low=1), self.log_probabilities(vectors)
        best = {name: np.argsort(-table, axis=1, kind="stable")[:, :k] for name, table in logs.items()}
        found = {
            segment.name: [[segment.values[i] for i in row] for row in best[segment.name].tolist()]
            for segment in self.segments
        }
        whole = []
        for row in range(len(vectors)):
            parts = [[(logs[s.name][row, i], s.values[i]) for i in best[s.name][row]] for s in self.segments]
            tuples = sorted(product(*parts), key=lambda parts: -sum(log for log, _ in parts))[:k]
            whole.append([tuple(value for _, value in parts) for parts in tuples])
        return found | {"whole": whole}

    def hits(self, vectors: np.ndarray, texts: Sequence[str], k: int = 1) -> dict[str, np.ndarray]:
        """Tell whether the truth is among the k likeliest, for each segment and the whole, of vectors (n, d)."""
        truths = {s.name: [s.read(text) for text in texts] for s in self.segments}
        truths["whole"] = list(zip(*truths.values(), strict=True))
        return {
            name: np.array([truth in row for truth, row in zip(truths[name], rows, strict=True)])
            for name, rows in self.ranked(vectors, k).items()
        }


def rates(hits: Mapping[str, np.ndarray]) -> dict[str, Estimate]:
    """Compute the share of `PatternReconstruction.hits` of each segment with its 95 % interval.

    >>> print(rates({"year": np.array([True, False])})["year"])
    0.500 [0.095, 0.905]
    """
    return {name: hit_rate(row) for name, row in hits.items()}


def beyond_product(hits: Mapping[str, np.ndarray], *, seed, resamples: int = 1000) -> Estimate:
    """Compute how much more often the whole is right than if its parts were right independently.

    That is the mean of the product minus the product of the means; 95 % interval from resampling victims, of one
    victim [-1, 1]. Zero is what the whole column of Table II (Pan et al. 2020) looks like.

    >>> right = np.array([True, False])
    >>> beyond_product({"year": right, "month": right, "whole": right}, seed=0).value
    0.25
    """
    parts = np.array([row for name, row in hits.items() if name != "whole"], dtype=float)
    whole = np.asarray(hits["whole"], dtype=float)

    def gap(rows):
        return whole[rows].mean() - parts[:, rows].mean(axis=1).prod()

    random, n = np.random.default_rng(seed), len(whole)
    if n < 2:
        return Estimate(float(gap(slice(None))), -1.0, 1.0)
    drawn = [gap(random.integers(n, size=n)) for _ in range(resamples)]
    return Estimate(float(gap(slice(None))), *np.quantile(drawn, [0.025, 0.975]).tolist())
