"""The knowledge of an attacker who holds vectors."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np


@dataclass(frozen=True)
class VectorKnowledge:
    """The knowledge of an attacker on released vectors; the texts behind them are never in it.

    Args:
        encode: vectors (n, d) of a list of texts, as the service would release them: with its defence, if it has
            one. Every attacker of Pan et al. 2020 may ask for them.
        corpus: texts of the attacker's own: like the attacked ones (white box) or not (black box).
        rule: draws n texts with a seed, where the form of the attacked ones is known.
        captured: the released vectors, (n, d), whose texts the attacker wants. Adaptation reads them.
        queries: how many texts the attacker may have encoded in all; None is no limit.
        seed: of what the attacker draws and trains.

    >>> knowledge = VectorKnowledge(lambda texts: np.array([[float(len(text))] for text in texts]), queries=2)
    >>> knowledge.ask(["a", "the"])
    array([[1.], [3.]])
    """

    encode: Callable[[Sequence[str]], np.ndarray]
    corpus: Sequence[str] | None = None
    rule: Callable[[int, int], list[str]] | None = None
    captured: np.ndarray | None = None
    queries: int | None = None
    seed: int = 0
    _asked: list[int] = field(default_factory=list, repr=False, compare=False)

    def __post_init__(self):
        if isinstance(self.corpus, str):
            raise ValueError("corpus: one string; pass a list of texts")

    def __repr__(self) -> str:
        """Without the texts, which are long."""
        granted = ["an encoder"]
        granted += [] if self.corpus is None else [f"{len(self.corpus)} texts"]
        granted += [] if self.rule is None else ["a rule"]
        granted += [] if self.captured is None else [f"{len(self.captured)} captured vectors"]
        granted += [] if self.queries is None else [f"{self.queries} queries"]
        return f"VectorKnowledge({', '.join(granted)})"

    @property
    def asked(self) -> int:
        """The number of texts that the attacker has had encoded."""
        return sum(self._asked)

    def ask(self, texts: Sequence[str]) -> np.ndarray:
        """Return the vectors of the attacker's own texts, counted as queries."""
        if self.queries is not None and self.asked + len(texts) > self.queries:
            asked = self.asked + len(texts)
            raise ValueError(f"queries: {asked} texts asked for, {self.queries} granted; train on fewer")
        self._asked.append(len(texts))
        return np.asarray(self.encode(list(texts)))

    def texts(self) -> list[str]:
        """The attacker's own texts, for attacks that cannot do without."""
        if not self.corpus:
            raise ValueError("corpus: this attack learns from texts of the attacker's own; pass corpus=")
        return list(self.corpus)

    def drawn(self, n: int) -> list[str]:
        """Draw n texts of the known form."""
        if self.rule is None:
            raise ValueError("rule: this attack draws texts of a known form; pass rule=, generate(n, seed)")
        return self.rule(n, self.seed)

    def victims(self) -> np.ndarray:
        """The released vectors."""
        if self.captured is None or not len(self.captured):
            raise ValueError("captured: this attack adapts to the released vectors; pass captured=")
        return np.asarray(self.captured)
