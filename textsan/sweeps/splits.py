"""The split that chapters and sweeps share: private text, an attacker's shadow text, and a public vocabulary."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from textsan.base import checks
from textsan.mechanisms import Mechanism
from textsan.text.corpora import Record, load_dataset, normalised, private_and_shadow, source_numbers
from textsan.text.embeddings import Embeddings
from textsan.text.loading import GLOVE, load_embeddings

PUBLIC = 20_000
"""Words of the public vocabulary unless another number is asked for."""

WHOLE_DATASET = "data"
"""The vocabulary of the papers: every word of the data set that has a vector."""

DRAWN_FROM = ("train", "all")
"""Records of a data set that are drawn: those of its training split, or all there are."""


@dataclass(frozen=True)
class Split:
    """Private and shadow documents from one corpus, no sentence in both, and the vectors of a vocabulary.

    Attributes:
        private: token lists that are sanitized and attacked.
        shadow: token lists that the attacker owns.
        embeddings: the vocabulary, in the order of the word vectors (GloVe: frequent words first). It does not
            depend on which sentences are private.
        records: the private documents with the text as it is written, for what its case says.
        sources: the number of the source that each private document is of (a sentence and its phrases, for
            example): documents of one source are not independent. None is one a document.
        held_out: token lists like the shadow ones, up to as many, which are nobody's: for tests of what an attack
            has learnt. None is private, or a part of a sentence that the attacker owns a part of.
        population: token lists of the corpus of the private ones, one a source and of no source that is private
            or shadow: text that is neither, whose counts are those of the language and not of the text at hand.
    """

    private: list[list[str]]
    shadow: list[list[str]]
    embeddings: Embeddings
    records: tuple[Record, ...] = ()
    sources: Sequence[int] | None = None
    held_out: tuple[list[str], ...] = ()
    population: tuple[list[str], ...] = ()

    def coverage(self, mechanism: Mechanism) -> float:
        """Return the share of the tokens to be protected that are in the vocabulary.

        Tokens that the mechanism keeps, or does not take for sensitive, do not count. The others are protected, or
        have no row: these cannot be attacked by a guess, so that a success rate times the coverage is the
        rate over all of them.
        """
        tokens = [token for document in self.private for token in document]
        protected = mechanism.protected
        inside = sum(token in protected for token in tokens)
        outside = sum(not mechanism.knows(token) for token in tokens)
        if not inside + outside:
            raise ValueError("mechanism: no private token is protected; keep fewer words")
        return inside / (inside + outside)

    def __repr__(self) -> str:
        """Without the text, which is private."""
        return f"Split({len(self.private)} private, {len(self.shadow)} shadow documents, {self.embeddings})"


def load_split(
    dataset: str,
    n_private: int,
    n_shadow: int,
    *,
    seed: int,
    shadow_dataset: str | None = None,
    vocabulary: int | str = PUBLIC,
    split_by: str = "source",
    drawn_from: str = "train",
    embeddings: str = GLOVE,
) -> Split:
    """Draw private and shadow sentences from a corpus, or from two.

    The private sentences depend on neither the number of shadow sentences nor their corpus. The vocabulary depends
    on no draw: one made of the drawn sentences would publish which words the private ones hold.

    Args:
        shadow_dataset: what the attacker has instead of sentences of the same data set; None is the same.
        vocabulary: so many of the most frequent words of the embeddings, at least 1; or "data", every word of what
            is drawn from that has a vector, as in the papers.
        split_by: "source", nothing private is of a source (sentence, paragraph, near duplicates) that the attacker
            has text of; or "line", records at random, as in the papers' code: `corpora.private_and_shadow`.
        drawn_from: "train", the training split; or "all", every row that there is, for sets of which little is at
            hand.
    """
    split = checks.choice("drawn_from", drawn_from, DRAWN_FROM)
    records = load_dataset(dataset, split)
    shadow_records = None if shadow_dataset in (None, dataset) else load_dataset(shadow_dataset, split)
    parts = private_and_shadow(records, n_private, n_shadow, seed, shadow_records, split_by=split_by)
    private, shadow = ([list(record.tokens) for record in part] for part in parts)
    wanted: int | str | frozenset[str] = check_vocabulary("vocabulary", vocabulary)
    if wanted == WHOLE_DATASET:
        wanted = frozenset(word for record in records for word in record.tokens)
    known = _vocabulary(wanted, embeddings)
    others, attacked = _of_neither(records, *parts, seed)
    population = tuple(list(record.tokens) for record in others)
    if shadow_records is not None:
        others, attacked = _of_neither(shadow_records, *parts, seed)
    held_out = tuple(list(record.tokens) for record in [*others, *attacked][:n_shadow])
    return Split(private, shadow, known, tuple(parts[0]), source_numbers(parts[0]), held_out, population)


# A draw changes no vocabulary, so that what follows from its vectors alone is made once for all seeds.
@lru_cache(maxsize=2)
def _vocabulary(wanted, embeddings: str) -> Embeddings:
    vectors = load_embeddings(embeddings)
    if isinstance(wanted, frozenset):
        return vectors.restrict(word for word in vectors.words if word in wanted)
    return vectors.frequent(wanted)


def _of_neither(records, private, shadow, seed: int) -> tuple[list[Record], list[Record]]:
    """Return records of neither part, one a source, in random order; those of private sources apart."""

    def source(record):
        return record.fields.get("part_of", normalised(record.text))

    texts = {normalised(record.text) for record in [*private, *shadow]}
    owned, attacked = ({source(record) for record in part} for part in (shadow, private))
    rest = [record for record in records if normalised(record.text) not in texts and source(record) not in owned]
    order = np.random.default_rng([seed, 1]).permutation(len(rest))
    one_each = {source(rest[i]): rest[i] for i in order}
    free = [record for name, record in one_each.items() if name not in attacked]
    return free, [record for name, record in one_each.items() if name in attacked]


def check_vocabulary(name: str, value) -> int | str:
    """Return a vocabulary as `load_split` takes it: a number of words of at least 1, or "data"."""
    if value == WHOLE_DATASET:
        return value
    if isinstance(value, str):
        raise ValueError(f"{name}: {value!r} is no vocabulary; pass a number of words, or {WHOLE_DATASET!r}")
    return checks.whole(name, value, low=1)
