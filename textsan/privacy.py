"""Definitions of differential privacy as executable checks: each returns the tight parameter of a channel."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Guarantee:
    """What a mechanism promises for one token, and for a document of them.

    Args:
        definition: the definition that holds, for example "metric DP".
        epsilon: its parameter.
        per: what epsilon is multiplied by for two adjacent words: "distance" or "pair".
        adjacency: which pairs of words are protected against each other, and by how much.
        outside: what the promise does not cover.
        epsilon_0: additive constant of (utility-optimised) metric DP.

    >>> Guarantee("DP within groups", 1.0, "pair", "two words of one group", "kept words").document(20)
    20.0
    """

    definition: str
    epsilon: float
    per: str
    adjacency: str
    outside: str
    epsilon_0: float = 0.0

    def token(self, distance: float = 1.0) -> float:
        """The bound on |log Pr(y | x) - log Pr(y | x')| for two adjacent words.

        Args:
            distance: d(x, x'), which counts where epsilon is per distance.
        """
        return (self.epsilon * distance if self.per == "distance" else self.epsilon) + self.epsilon_0

    def document(self, tokens: int, distance: float = 1.0) -> float:
        """The bound for two documents that differ in `tokens` places, `distance` apart in each (composition)."""
        return tokens * self.token(distance)

    def __str__(self) -> str:
        unit = " per unit of distance" if self.per == "distance" else ""
        plus = f", epsilon_0 = {self.epsilon_0:g}" if self.epsilon_0 else ""
        parameters = f"epsilon = {self.epsilon:g}{unit}{plus}"
        return f"{self.definition} with {parameters}; {self.adjacency}; outside: {self.outside}"
