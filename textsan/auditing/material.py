"""What is audited: a text, its release, what an attacker may own, and which words are scored.

A word has a letter or a digit. Scored are the words that the mechanism protects and has rows for; how many more
should be protected, and what becomes of them, is counted beside.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from textsan.attacks import Knowledge
from textsan.evaluation import words_at
from textsan.mechanisms import Mechanism
from textsan.mechanisms.base import UnknownWord
from textsan.mechanisms.noise import NoiseMechanism
from textsan.priors import Prior, good_turing
from textsan.text.corpora import Record, load_dataset
from textsan.text.names import find_names
from textsan.text.vocabulary import count_words, tokenize

PUBLIC = ("rt", "nyt", "amazon", "tweets")
"""The corpora that an attacker is given where no other text is named: reviews, editorials, tweets."""

GROUPS = {
    "all": "all words",
    "rare": "rare words",
    "names": "names of people",
    "numbers": "numbers",
    "unseen": "words that the attacker's text lacks",
}
"""The words that are looked at apart, and how a reader calls them."""

_LEAST, _MOST = 500, 5_000  # public sentences: ten for each that is audited, between these
_FREQUENT = 0.25  # of the public list: the words beyond are rare


def is_word(token: str) -> bool:
    """Whether a token has a letter or a digit.

    >>> is_word("n't"), is_word("..."), is_word("7")
    (True, False, True)
    """
    return any(map(str.isalnum, token))


def tokens_of(text) -> list[str]:
    """The lower-case tokens of a text.

    Args:
        text: a string, a record or a token list.

    Raises:
        ValueError: something else.

    >>> tokens_of("Good film!"), tokens_of(["Good", "film"])
    (['good', 'film', '!'], ['good', 'film'])
    """
    if isinstance(text, str):
        return tokenize(text)
    if isinstance(text, Record):
        return list(text.tokens)
    if not isinstance(text, list | tuple) or not all(isinstance(token, str) for token in text):
        raise ValueError(f"texts: {type(text).__name__} is no text; pass strings, records or lists of words")
    return [token.lower() for token in text]


@dataclass(frozen=True)
class Material:
    """A text with its release.

    Args:
        texts: the documents as they are written: strings, records or token lists.
        released: token lists of what became of them.
        mechanism: what made them.
        shadow: token lists that an attacker may own.
        public: whether these are the public sentences that are taken where none are given.
        rehearsed: whether the release was made for the audit and is thrown away.
        seed: of whatever is drawn.
        finder: of names, as `find_names` takes it.
    """

    texts: Sequence
    released: Sequence[Sequence[str]]
    mechanism: Mechanism
    shadow: Sequence[Sequence[str]]
    public: bool
    rehearsed: bool
    seed: int = 0
    finder: str = "census"

    def __repr__(self) -> str:
        """Without the text, which is private."""
        return f"Material({len(self.texts)} documents, {len(self.positions)} positions)"

    @cached_property
    def docs(self) -> list[list[str]]:
        """The tokens of the documents."""
        return [tokens_of(text) for text in self.texts]

    @cached_property
    def positions(self) -> list[tuple[int, int]]:
        """The scored positions: words that are protected and have a row."""
        return [(d, i) for d, doc in enumerate(self.docs) for i, word in enumerate(doc) if word in self.attacked]

    @cached_property
    def attacked(self) -> frozenset[str]:
        """The words that can stand at a scored position: what an attacker is told who is told where they are."""
        return frozenset(filter(is_word, self.mechanism.protected))

    @cached_property
    def truths(self) -> list[str]:
        """The original words at the scored positions."""
        return words_at(self.docs, self.positions)

    @cached_property
    def came(self) -> list[str]:
        """The released words at the scored positions."""
        return words_at(self.released, self.positions)

    @cached_property
    def documents(self) -> np.ndarray:
        """The number of the document of each scored position."""
        return np.array([document for document, _ in self.positions], dtype=np.intp)

    @cached_property
    def words(self) -> int:
        """How many words the text has."""
        return sum(is_word(token) for doc in self.docs for token in doc)

    @cached_property
    def unknown(self) -> int:
        """How many words should be protected and have no row."""
        known = {token: self.mechanism.knows(token) for doc in self.docs for token in doc}
        return sum(not known[token] and is_word(token) for doc in self.docs for token in doc)

    @property
    def let_through(self) -> int:
        """How many words the mechanism releases as they are, by its own rule."""
        return self.words - len(self.positions) - self.unknown

    @cached_property
    def own(self) -> Prior:
        """How often each word stands at a scored position: what nobody can know who has not seen the text."""
        return Prior.from_counts(Counter(self.truths), self.mechanism.channel.inputs, alpha_inverse=0)

    @cached_property
    def population(self) -> Prior:
        """How often each of these words stands in the attacker's text, with Good and Turing's mass for the others.

        One more of each word, as Tong et al. 2024 add, would take most of the mass of a short text from what is
        in it, and what is promised by it would be too good. Where that mass is nothing, as no word was seen in one
        document alone, it is that of one token more.
        """
        inputs = self.mechanism.channel.inputs
        words = [word for word in inputs if word in self.attacked]
        p = good_turing(self.shadow, words).probabilities
        if len(rest := np.flatnonzero(p == 0)):
            share = 1 / (1 + sum(self._seen[word] for word in words))
            p = p * (1 - share)
            p[rest] = share / len(rest)
        return Prior(inputs, Prior(words, p / p.sum()).aligned(inputs))

    @cached_property
    def _seen(self) -> Counter:
        return count_words(self.shadow)

    @cached_property
    def groups(self) -> dict[str, np.ndarray]:
        """For each of `GROUPS` whether a scored position is of it."""
        listed = self.mechanism.inputs  # in the order of a public list of frequencies
        frequent = frozenset(listed[: int(_FREQUENT * len(listed))])
        names = frozenset(find_names(self.texts, self.finder))
        found = {
            "all": [True] * len(self.truths),
            "rare": [word not in frequent for word in self.truths],
            "names": [position in names for position in self.positions],
            "numbers": [any(map(str.isdigit, word)) for word in self.truths],
            "unseen": [word not in self._seen for word in self.truths],
        }
        return {name: np.array(flags, dtype=bool) for name, flags in found.items()}

    def knowledge(self, *, told: bool) -> Knowledge:
        """What an attacker is granted who owns the shadow text.

        Args:
            told: whether it is known which positions are scored.
        """
        resources = {"adapter": "without-rt", "embeddings": getattr(self.mechanism, "embeddings", None)}
        attacked = self.attacked if told else None
        granted = {"shadow": self.shadow, "attacked": attacked, "seed": self.seed, "resources": resources}
        return Knowledge.of(self.mechanism, **granted)

    def sampled(self, size: int) -> list[int]:
        """Some of the documents that have a scored word, drawn with the seed; all if there are no more.

        Args:
            size: how many.
        """
        some = np.unique(self.documents)
        if len(some) > size:
            some = np.sort(np.random.default_rng(self.seed).choice(some, size, replace=False))
        return some.tolist()


def material(
    texts: Iterable,
    mechanism: Mechanism,
    *,
    released: Sequence[Sequence[str]] | None = None,
    shadow: Iterable | None = None,
    seed: int = 0,
    finder: str = "census",
) -> Material:
    """What is audited, checked.

    Args:
        texts, mechanism, released, shadow, seed, finder: as for `audit`.

    Raises:
        ValueError: a mechanism without an exact channel, no word to score, or releases that do not fit.
    """
    if isinstance(texts, str):
        raise ValueError("texts: one string; pass a list of texts, one a document")
    texts = list(texts)
    if isinstance(mechanism, NoiseMechanism):
        what = f"{type(mechanism).__name__} has no exact channel, so that little could be said of it"
        raise ValueError(f"mechanism: {what}; audit SanText, CusText, TEM or another that has one")
    mechanism.channel.exact("an audit")
    docs = [tokens_of(text) for text in texts]
    if (some := sum(map(bool, docs))) < 2:
        raise ValueError(f"texts: {some} of {len(docs)} have a word; pass two texts or more, and check the field")
    rehearsed = released is None
    if released is None:
        try:
            released = mechanism.sanitize(docs, seed)
        except UnknownWord as error:
            number = next(d for d, doc in enumerate(docs) if error.word in doc)
            what = f"document {number} has a word outside of the vocabulary"
            raise ValueError(f"texts: {what}; pass oov='uniform', or a larger vocabulary") from None
    came = [list(doc) for doc in released]
    _aligned(docs, came)
    if shadow is None:
        owned = _public(len(docs))
    else:
        owned = [tokens_of(text) for text in shadow]
        if not any(owned):
            raise ValueError("shadow: no word in it; leave it out, or pass text that an attacker may own")
    found = Material(texts, came, mechanism, owned, shadow is None, rehearsed, seed, finder)
    if not found.positions:
        what = "no word of them is protected and in the vocabulary"
        raise ValueError(f"texts: {what}; check their language, or keep fewer words")
    if not any(word in found.attacked for doc in owned for word in doc):
        raise ValueError(
            "shadow: no word of it is protected and in the vocabulary; pass text of the same language"
        )
    return found


def _aligned(docs: list[list[str]], released: list[list[str]]) -> None:
    if len(docs) != len(released):
        raise ValueError(f"released: {len(released)} documents for {len(docs)} originals; pass one a document")
    for number, (before, after) in enumerate(zip(docs, released, strict=True), start=1):
        if len(before) != len(after):
            what = f"document {number} has {len(after)} words and its original {len(before)}"
            raise ValueError(f"released: {what}; pass the release of this very text, in the same order")


def _public(documents: int) -> list[list[str]]:
    """Public sentences, the same number of each corpus, and the same ones for every text of a size."""
    wanted = min(max(10 * documents, _LEAST), _MOST) // len(PUBLIC)
    generator = np.random.default_rng(0)
    drawn = []
    for name in PUBLIC:
        records = load_dataset(name)
        drawn.append([records[i].tokens for i in generator.permutation(len(records))[:wanted]])
    return [doc for docs in zip(*drawn, strict=False) for doc in docs]  # any beginning is of all corpora
