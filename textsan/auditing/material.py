"""Cut a text once, and hold it beside its release, the text that an attacker may own, and the scored words.

A word has a letter or a digit. Scored are the words that the mechanism protects and has rows for; how many more
should be protected, and what becomes of them, is counted as well.

Rows are divided by their numbers, and no row's text decides: else an epsilon that was chosen on one part would be
a function of the other part, too. Rows of one group (an author, a patient) stay together, and a row whose group is
missing (None, "" or NaN) is a group of its own.
"""

from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from textsan.attacks import Knowledge
from textsan.auditing.belonging import check_belonging
from textsan.evaluation import words_at
from textsan.mechanisms import Mechanism, Memoized
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
"""Groups of words that are measured separately, with their names in the report."""

_LEAST, _MOST = 500, 5_000  # public sentences: ten for each that is audited, between these
_FREQUENT = 0.25  # of the public list: the words beyond are rare


def is_word(token: str) -> bool:
    """Return whether a token has a letter or a digit.

    >>> is_word("n't"), is_word("..."), is_word("7")
    (True, False, True)
    """
    return any(map(str.isalnum, token))


def tokens_of(text) -> list[str]:
    """Return the lower-case tokens of a string, a record or a token list; anything else is refused.

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


def checked_texts(texts: Iterable, **columns: Sequence | None) -> list:
    """Return a list of texts, checked to be as many as the values that come with them, a class each say."""
    if isinstance(texts, str):
        raise ValueError("texts: one string; pass a list of texts, one a document")
    texts = list(texts)
    for name, values in columns.items():
        if values is not None and len(values) != len(texts):
            raise ValueError(f"{name}: {len(values)} for {len(texts)} documents; pass one a document")
    return texts


def divided(groups: Sequence[Hashable], sizes: Iterable[int], seed: int) -> list[np.ndarray]:
    """Draw parts of rows; the rows of a group go into one part.

    A part has its size of rows or more, unless the groups run out; last come the rows that are left. Numbers
    ascend.

    >>> [part.tolist() for part in divided(["a", "b", "a", "c"], [2], seed=1)]
    [[0, 2], [1, 3]]
    """
    members = members_of(groups)
    order = iter(np.random.default_rng([seed, 2]).permutation(len(members)).tolist())
    parts: list[list[int]] = []
    for size in sizes:
        part: list[int] = []
        while len(part) < size and (at := next(order, None)) is not None:
            part += members[at]
        parts.append(part)
    parts.append([row for at in order for row in members[at]])
    return [np.sort(np.array(part, dtype=np.intp)) for part in parts]


def one_each(groups: Sequence[Hashable], seed: int) -> list[int]:
    """Draw one row of each group; row numbers ascend.

    >>> one_each(["a", "b", "b", None, None], seed=0)
    [0, 2, 3, 4]
    """
    place = np.argsort(np.random.default_rng([seed, 3]).permutation(len(groups)))
    return sorted(min(rows, key=place.__getitem__) for rows in members_of(groups))


def without_group(groups: Iterable[Hashable]) -> int:
    """Count rows whose group is missing.

    >>> without_group(["a", None, "", 0])
    2
    """
    return sum(map(_is_missing, groups))


def _is_missing(group: Hashable) -> bool:
    return group is None or group == "" or group != group


def members_of(groups: Sequence[Hashable]) -> list[list[int]]:
    """Return the rows of each group, in the order of their first ones; a row without a group is one of its own."""
    members: dict[Hashable, list[int]] = {}
    for row, group in enumerate(groups):
        members.setdefault((row, None) if _is_missing(group) else (group,), []).append(row)
    return list(members.values())


@dataclass(frozen=True)
class Material:
    """A text with its release, under attack by somebody who owns other text.

    Attributes:
        public: whether that are the public sentences that are taken where none are given.
        rehearsed: whether the release was made for the audit and is thrown away.
        rows: numbers of the documents among all that were given.
    """

    texts: Sequence
    docs: Sequence[list[str]]
    released: Sequence[Sequence[str]]
    mechanism: Mechanism
    shadow: Sequence[Sequence[str]]
    public: bool
    rehearsed: bool
    seed: int
    finder: str
    rows: Sequence[int]

    def on(self, rows: Sequence[int], shadow: Sequence[Sequence[str]], *, public: bool) -> "Material":
        """Return some of the documents, by their numbers, under attack by the owner of another shadow text."""
        columns = ("texts", "docs", "released")
        parts: dict[str, Any] = {name: [getattr(self, name)[row] for row in rows] for name in columns}
        return replace(self, **parts, rows=list(rows), shadow=shadow, public=public)

    def by(self, mechanism: Mechanism) -> "Material":
        """Return the same documents as another mechanism releases them."""
        return replace(self, mechanism=mechanism, released=mechanism.sanitize(self.docs, self.seed))

    def __repr__(self) -> str:
        """Without the text, which is private."""
        return f"Material({len(self.texts)} documents, {len(self.positions)} positions)"

    @cached_property
    def positions(self) -> list[tuple[int, int]]:
        """The scored positions: words that are protected and have a row."""
        return [(d, i) for d, doc in enumerate(self.docs) for i, word in enumerate(doc) if word in self.attacked]

    @cached_property
    def attacked(self) -> frozenset[str]:
        """The words that can stand at a scored position: given to an attacker who is given the positions."""
        return frozenset(filter(is_word, self.mechanism.protected))

    @cached_property
    def truths(self) -> list[str]:
        """The original words at the scored positions."""
        return words_at(self.docs, self.positions)

    @cached_property
    def outputs(self) -> list[str]:
        """The released words at the scored positions."""
        return words_at(self.released, self.positions)

    @cached_property
    def documents(self) -> np.ndarray:
        """The number of the document of each scored position."""
        return np.array([document for document, _ in self.positions], dtype=np.intp)

    @cached_property
    def words(self) -> int:
        """The number of words of the text."""
        return sum(is_word(token) for doc in self.docs for token in doc)

    @cached_property
    def unknown(self) -> int:
        """The number of words that should be protected and have no row."""
        known = {token: self.mechanism.knows(token) for doc in self.docs for token in doc}
        return sum(not known[token] and is_word(token) for doc in self.docs for token in doc)

    @property
    def let_through(self) -> int:
        """The number of words that the mechanism releases as they are, by its own rule."""
        return self.words - len(self.positions) - self.unknown

    @cached_property
    def own(self) -> Prior:
        """The frequency of each word at scored positions, which nobody can know who has not seen the text."""
        return Prior.from_counts(Counter(self.truths), self.mechanism.channel.inputs, alpha_inverse=0)

    @cached_property
    def population(self) -> Prior:
        """The frequency of each of these words in the attacker's text, with Good and Turing's mass for the others.

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
        """For each of `GROUPS` (positions,) whether a scored position is of it."""
        listed = self.mechanism.inputs  # in the order of a public list of frequencies
        frequent = frozenset(listed[: int(_FREQUENT * len(listed))])
        names = frozenset(find_names(self.texts, self.finder))
        flags = {
            "all": [True] * len(self.truths),
            "rare": [word not in frequent for word in self.truths],
            "names": [position in names for position in self.positions],
            "numbers": [any(map(str.isdigit, word)) for word in self.truths],
            "unseen": [word not in self._seen for word in self.truths],
        }
        return {name: np.array(values, dtype=bool) for name, values in flags.items()}

    def knowledge(self, *, told: bool) -> Knowledge:
        """Return what an attacker is granted who owns the shadow text, and is told the scored positions or not."""
        resources = {"adapter": "without-rt", "embeddings": getattr(self.mechanism, "embeddings", None)}
        attacked = self.attacked if told else None
        granted = {"shadow": self.shadow, "attacked": attacked, "seed": self.seed, "resources": resources}
        return Knowledge.of(self.mechanism, **granted)

    def sampled(self, size: int) -> list[int]:
        """Draw documents that have a scored word, with the seed; all of them if there are no more than `size`."""
        documents = np.unique(self.documents)
        if len(documents) > size:
            documents = np.sort(np.random.default_rng(self.seed).choice(documents, size, replace=False))
        return documents.tolist()


def material(
    texts: Iterable,
    mechanism: Mechanism,
    *,
    released: Sequence[Sequence[str]] | None = None,
    shadow: Iterable | None = None,
    seed: int = 0,
    finder: str = "census",
) -> Material:
    """Cut texts, release them where no release is given, and check that all fits; arguments as for `audit`.

    Refused are a mechanism without an exact channel, texts without a word to score, and releases that do not fit.
    """
    texts = checked_texts(texts)
    if isinstance(mechanism, NoiseMechanism):
        what = f"{type(mechanism).__name__} has no exact channel, so that little could be said of it"
        raise ValueError(f"mechanism: {what}; audit SanText, CusText, TEM or another that has one")
    if isinstance(mechanism, Memoized):
        what = "Memoized has one draw for all places of a word, and an audit attacks each place as a fresh one"
        raise ValueError(f"mechanism: {what}, which is too weak; no audit decides about it")
    mechanism.channel.exact("an audit")
    docs = [tokens_of(text) for text in texts]
    if (full := sum(map(bool, docs))) < 2:
        raise ValueError(f"texts: {full} of {len(docs)} have a word; pass two texts or more, and check the field")
    rehearsed = released is None
    if released is None:
        try:
            released = mechanism.sanitize(docs, seed)
        except UnknownWord as error:
            number = next(d for d, doc in enumerate(docs) if error.word in doc)
            what = f"document {number} has a word outside of the vocabulary"
            raise ValueError(f"texts: {what}; pass oov='uniform', or a larger vocabulary") from None
    else:
        released = [list(doc) for doc in released]
        _check_aligned(docs, released)
        check_belonging(docs, released, mechanism)
    owned = _public(len(docs)) if shadow is None else [tokens_of(text) for text in shadow]
    if not any(owned):
        raise ValueError("shadow: no word in it; leave it out, or pass text that an attacker may own")
    rows = range(len(texts))
    made = Material(texts, docs, released, mechanism, owned, shadow is None, rehearsed, seed, finder, rows)
    if not made.positions:
        what = "no word of them is protected and in the vocabulary"
        raise ValueError(f"texts: {what}; check their language, or keep fewer words")
    if not any(word in made.attacked for doc in owned for word in doc):
        raise ValueError(
            "shadow: no word of it is protected and in the vocabulary; pass text of the same language"
        )
    return made


def held_out(everything: Material, groups: Sequence[Hashable] | None) -> Material | None:
    """Return half of the documents under attack by the owner of the other half; None where they are too few."""
    if groups is None:
        groups = [tuple(doc) for doc in everything.docs]
    held, attacked = (part.tolist() for part in divided(groups, [len(groups) // 2], everything.seed))
    scored = [any(word in everything.attacked for word in doc) for doc in everything.docs]
    if min(sum(scored[row] for row in part) for part in (held, attacked)) < 2:
        return None
    return everything.on(attacked, [everything.docs[row] for row in held], public=False)


def attackers(everything: Material, alike: Material | None) -> dict[str, Material]:
    """Return the documents under attack, by what the attacker owns; the first is the main attacker."""
    if not everything.public:
        return {"given": everything}
    if alike is None:
        return {"public": everything}
    return {"held-out": alike, "public": everything.on(alike.rows, everything.shadow, public=True)}


def described(material: Material, everything: Material, sample: int) -> dict[str, Any]:
    """Return the size of the attacked part of a text and of the text that its attacker owns, for json."""
    owned = "text that was given" if material is everything else "other rows of this text, held out"
    return {
        "rows": len(everything.docs),
        "documents": len(material.docs),
        "tokens": sum(map(len, material.docs)),
        "words": material.words,
        "scored": len(material.positions),
        "unknown": material.unknown,
        "unknown_become": material.mechanism.oov,
        "let_through": material.let_through,
        "groups": {name: int(flags.sum()) for name, flags in material.groups.items()},
        "rehearsed": material.rehearsed,
        "seed": material.seed,
        "shadow": {
            "public": material.public,
            "is": f"public sentences ({', '.join(PUBLIC)})" if material.public else owned,
            "documents": len(material.shadow),
            "tokens": sum(map(len, material.shadow)),
        },
        "sample": len(material.sampled(sample)),
        "finder": material.finder,
    }


def answers(
    material: Material, guesses: Sequence[tuple[int, int, str]], docs: Sequence[Sequence[str]]
) -> dict[int, str]:
    """Return somebody's guesses (document, index, word) by the number of their scored position.

    Those at other positions are left out. Refused are a position twice, or outside of the text, and guesses of
    which none is scored.
    """
    numbers = {(material.rows[d], i): number for number, (d, i) in enumerate(material.positions)}
    given: dict[tuple[int, int], str] = {}
    for line, (document, index, word) in enumerate(guesses, start=1):
        if not (0 <= document < len(docs) and 0 <= index < len(docs[document])):
            what = f"number {line} is at ({document}, {index}), outside of the text"
            raise ValueError(f"guesses: {what}; document and index count from 0")
        if (document, index) in given:
            raise ValueError(f"guesses: number {line} is the second at ({document}, {index}); pass one a position")
        given[document, index] = word.lower()
    by_number = {numbers[place]: word for place, word in given.items() if place in numbers}
    if not by_number:
        raise ValueError(
            "guesses: none is at a scored position, a protected word; check how documents are numbered, and pass "
            "--shadow, so that no row is held out"
        )
    return by_number


def _check_aligned(docs: Sequence[Sequence[str]], released: Sequence[Sequence[str]]) -> None:
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
