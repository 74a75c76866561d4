"""No attack at all: the released word, right where the mechanism left the word as it was."""

from textsan.attacks.base import Attack
from textsan.attacks.knowledge import Knowledge


class Unchanged(Attack):
    """Guesses y, what every attack must beat.

    >>> Unchanged().reconstruct([["a", "b"]], [(0, 1)])
    ['b']
    """

    @classmethod
    def against(cls, knowledge: Knowledge) -> "Unchanged":
        """Make the attack, whatever is known."""
        return cls()

    def _guess(self, docs, positions):
        return [docs[document][index] for document, index in positions]
