"""The base of all attacks: made from what a threat model grants, they answer with a word, or words, a position."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from textsan.attacks.knowledge import Knowledge
from textsan.base import checks
from textsan.channel import Posterior

Position = tuple[int, int]  # (document, index in it)


class Attack:
    """A reconstruction attack.

    Sub-classes give `_posteriors`, whose modes are the guesses; those without a posterior give `_guess` instead.
    With `against` they can be made from what a threat model grants, training and calibration included.

    >>> class Stubborn(Attack):
    ...     @classmethod
    ...     def against(cls, knowledge):
    ...         return cls()
    ...
    ...     def _guess(self, docs, positions):
    ...         return [docs[document][index] for document, index in positions]
    >>> Stubborn().reconstruct([["u", "v"]], [(0, 1)])
    ['v']
    """

    _reads_with = ""  # the attribute that holds the encoder or language model, if there is one

    @property
    def details(self) -> Mapping[str, float]:
        """Counts of a run: `encoded`, the sentences that went through an encoder, for example."""
        reader: Any = getattr(self, self._reads_with, None)
        return {"encoded": reader.encoded} if hasattr(reader, "encoded") else {}

    @property
    def models(self) -> Sequence[str]:
        """Names of the models that the attack reads with: encoders, language models."""
        name = getattr(getattr(self, self._reads_with, None), "name", None)
        return (name,) if name else ()

    def __repr__(self) -> str:
        """Its name, and the channel that it is made against."""
        return f"{type(self).__name__}({getattr(self, 'channel', '')})"

    @classmethod
    def against(cls, knowledge: Knowledge, *_: Any, **settings: Any) -> "Attack":
        """Make the attack of somebody with this knowledge, trained and calibrated, with settings of its own."""
        raise NotImplementedError(f"{cls.__name__} gives no against(knowledge); make it with its constructor")

    def reconstruct(self, sanitized_docs: Sequence[Sequence[str]], positions: Sequence[Position]) -> list[str]:
        """Guess the original word at each position, one word a position.

        Raises:
            ValueError: a document is a string, or a position lies outside of the documents.
        """
        return self._guess(*_checked(sanitized_docs, positions))

    def posteriors(
        self, sanitized_docs: Sequence[Sequence[str]], positions: Sequence[Position], k: int = 10
    ) -> Posterior:
        """Return the `k` likeliest original words at each position, with their probabilities.

        Raises:
            NotImplementedError: the attack has guesses only.
        """
        return self._posteriors(*_checked(sanitized_docs, positions), checks.whole("k", k, low=1))

    def posterior(self, sanitized_doc: Sequence[str]) -> list[dict[str, float]]:
        """Return words with their probabilities at every position of a released document, as if attacked."""
        [doc] = checks.documents("sanitized_doc", [sanitized_doc])
        table = self._posteriors([doc], [(0, i) for i in range(len(doc))], None)
        return [table.mapping(at) for at in range(len(table))]

    def _guess(self, docs: list[list[str]], positions: list[Position]) -> list[str]:
        return self._posteriors(docs, positions, 1).mode()

    def _posteriors(self, docs: list[list[str]], positions: list[Position], k: int | None) -> Posterior:
        """The `k` best candidates of each position; all that the attack considers if k is None."""
        raise NotImplementedError(f"{type(self).__name__} has no posterior, only guesses: call reconstruct()")


def posterior_of_batches(
    positions: Sequence[Position],
    released: Sequence[str],
    words: Sequence[str],
    batches: Iterable[tuple[Sequence[int], np.ndarray]],
    k: int | None,
) -> Posterior:
    """Collect the best candidates of all positions from scores that are computed a batch at a time.

    A batch has the numbers of some positions and their log scores, (some, len(words)), up to a constant each.
    """
    width = min(k or len(words), len(words))
    numbers, logs = np.full((len(positions), width), -1), np.full((len(positions), width), -np.inf)
    for at, scores in batches:
        best = Posterior.from_scores(at, at, words, np.arange(len(words)), scores, k)
        numbers[at], logs[at] = best.numbers, best.log_weights
    return Posterior(positions, words, numbers, logs, released=released)


def filled(lines: Sequence[tuple], none: int = -1, score: float = -np.inf) -> tuple[np.ndarray, np.ndarray]:
    """Return candidates and their scores, listed line by line, as two arrays filled up to one width."""
    shape = len(lines), max((len(numbers) for numbers, _ in lines), default=0)
    numbers, all_scores = np.full(shape, none), np.full(shape, score)
    for at, (some, scores) in enumerate(lines):
        numbers[at, : len(some)], all_scores[at, : len(some)] = some, scores
    return numbers, all_scores


def _checked(sanitized_docs, positions) -> tuple[list[list[str]], list[Position]]:
    docs = checks.documents("sanitized_docs", sanitized_docs)
    for document, index in positions:
        if not (0 <= document < len(docs) and 0 <= index < len(docs[document])):
            known = f"the {len(docs)} documents"
            if 0 <= document < len(docs):
                known = f"document {document}, of {len(docs[document])} tokens; pass the tokens that were released"
            raise ValueError(f"positions: ({document}, {index}) lies outside of {known}")
    return docs, list(positions)
