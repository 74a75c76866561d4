"""What all attacks share: they see sanitized documents and positions, and answer with a word a position."""

from collections.abc import Sequence

from textsan.text import checks

Position = tuple[int, int]  # (document, index in it)


class Attack:
    """A reconstruction attack. Its constructor and `fit` take what the threat model grants, and nothing else.

    Sub-classes give `_guess`.
    """

    def reconstruct(self, sanitized_docs: Sequence[Sequence[str]], positions: Sequence[Position]) -> list[str]:
        """The guessed original word at each position.

        Args:
            sanitized_docs: token lists as the mechanism released them.
            positions: pairs (document, index).

        Returns:
            one word a position.

        Raises:
            ValueError: a document is a string, or a position lies outside of the documents.
        """
        docs = checks.documents("sanitized_docs", sanitized_docs)
        for document, index in positions:
            if not (0 <= document < len(docs) and 0 <= index < len(docs[document])):
                raise ValueError(f"positions: ({document}, {index}) lies outside of the {len(docs)} documents")
        return self._guess(docs, list(positions))

    def _guess(self, docs: list[list[str]], positions: list[Position]) -> list[str]:
        raise NotImplementedError
