"""One draw for all occurrences of a word: the same name gets the same replacement in a document or a file."""

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import replace
from typing import Any, Literal

from textsan.base import checks
from textsan.channel import Channel
from textsan.mechanisms.base import Mechanism, Oov
from textsan.mechanisms.make import make_mechanism
from textsan.privacy import Guarantee
from textsan.text.embeddings import Embeddings

Scope = Literal["document", "writer", "file"]


class Memoized(Mechanism):
    """Draws a replacement once for each word of a scope, and writes it wherever the word stands there.

    Within a scope the release is that of a random map f with independent f(x) of law Pr(. | x). So what the
    mechanism inside promises for a pair of words holds for renaming *all* occurrences of one of them to the other,
    where the other does not occur: one factor of the release's probability changes. For one occurrence alone
    nothing is promised, since a repeat that becomes none is seen. Which words repeat, and how often, is released.

    Of words without a row each spelling is a word of its own, and is drawn once as well. `channel` is the law of
    one draw; attacks that take it for one of fresh draws see less than there is (`leakage.counted_vulnerability`).

    Args:
        mechanism: what draws, each word by its channel alone.
        scope: where a word keeps its replacement: a "document"; all documents of a "writer", who is named to
            `sanitize`; or a "file", all documents of one call.

    >>> from textsan import CusText
    >>> words = Embeddings(["a", "b", "c"], [[0.0], [1.0], [2.0]])
    >>> Memoized(CusText(words, epsilon=1.0, k=3)).sanitize([["a", "b", "a", "a"]], seed=2)
    [['b', 'c', 'b', 'b']]
    """

    def __init__(self, mechanism: Mechanism, scope: Scope = "document"):
        if getattr(type(mechanism), "sanitize", None) is not Mechanism.sanitize:
            what = f"{type(mechanism).__name__} does not draw each word by its channel alone"
            raise ValueError(f"mechanism: {what}, so that one draw a word promises nothing; pass another")
        given: dict[str, Any] = {"keep": mechanism.keep, "oov": mechanism.oov}
        super().__init__(mechanism.inputs, **given)
        self.mechanism, self.scope = mechanism, checks.choice("scope", scope, ("document", "writer", "file"))
        if "epsilon" in mechanism.parameters:
            self.epsilon = mechanism.parameters["epsilon"]

    @property
    def channel(self) -> Channel:
        return self.mechanism.channel

    @property
    def guarantee(self) -> Guarantee:
        """The promise of the mechanism inside, for words that are renamed wherever they stand in the scope."""
        promise = self.mechanism.guarantee
        adjacency = promise.adjacency and replace(promise.adjacency, scope=self.scope)
        return replace(promise, adjacency=adjacency, outside=(self._repeats, *promise.outside))

    @property
    def exposed(self) -> tuple[str, ...]:
        return *self.mechanism.exposed, self._repeats

    @property
    def parameters(self) -> dict:
        return super().parameters | {name: one for name, one in vars(self).items() if name == "epsilon"}

    def with_(self, **changes) -> "Memoized":
        """Make the mechanism with some parameters changed: the scope, or those of the mechanism inside."""
        scope = changes.pop("scope", self.scope)
        return type(self)(self.mechanism.with_(**changes), scope)

    @property
    def replacements(self) -> list[str]:
        return self.mechanism.replacements

    def sanitize(
        self,
        docs: Iterable[Sequence[str]],
        seed=None,
        *,
        first: int = 0,
        writers: Sequence[Hashable] | None = None,
    ) -> list[list[str]]:
        """Replace every word of documents by the one draw that it has in the scope.

        Args:
            docs, seed, first: as for `Mechanism.sanitize`; a writer or a file is sanitized in one call.
            writers: of each document, where they are the scope.

        Raises:
            ValueError: a document is a string, writers are missing or not asked for, or a part of a file.
        """
        docs = checks.documents("docs", docs)
        if (writers is not None) != (self.scope == "writer") or len(writers or docs) != len(docs):
            raise ValueError(f"writers: the scope is {self.scope!r}; pass one a document for 'writer', else none")
        if first and self.scope != "document":
            raise ValueError(f"scope: {self.scope!r} takes all its documents in one call; pass 'document'")
        scopes: Iterable[Hashable] = range(len(docs))
        if self.scope != "document":
            scopes = [None] * len(docs) if writers is None else writers
        drawn: dict[Hashable, dict[Hashable, str]] = {}
        shared = [drawn.setdefault(scope, {}) for scope in scopes]
        for words, doc in zip(shared, docs, strict=True):
            words |= {self._type(token): token for token in doc}
        released = self.mechanism.sanitize([list(words.values()) for words in drawn.values()], seed, first=first)
        for words, outputs in zip(drawn.values(), released, strict=True):
            words.update(zip(words, outputs, strict=True))
        return [[words[self._type(token)] for token in doc] for words, doc in zip(shared, docs, strict=True)]

    def _type(self, token: str) -> Hashable:
        """Return what all occurrences of a word share: its row, or how it is written."""
        row = self._row(token)
        return row if row >= 0 else token

    @property
    def _repeats(self) -> str:
        return f"which words of a {self.scope} are the same, and how often each stands there, is released"


def memoized(
    embeddings: Embeddings,
    epsilon: float,
    *,
    of: Literal["custext", "custext+", "santext", "tem"] = "custext",
    scope: Scope = "document",
    k: int = 20,
    oov: Oov = "uniform",
) -> Memoized:
    """Make one draw a word of a scope, by a mechanism that is named.

    Args:
        embeddings: the vocabulary, inputs and outputs alike.
        epsilon: the parameter of the mechanism inside, from 0 to 1e6, for all occurrences of a word together.
        of: the mechanism inside: "custext", "custext+", "santext" or "tem".
        scope: where a word keeps its replacement: "document", "writer" or "file", all documents of one call.
        mechanism: the mechanism inside, by its class.
        k: words of a group of CusText, at least 1; the others have none.
        oov: what becomes of words without a vector: "uniform" draws a word for each of them, "keep" releases
            them, "error" refuses them.

    >>> memoized(Embeddings(["a", "b"], [[0.0], [2.0]]), epsilon=1.0).guarantee.adjacency.scope
    'document'
    """
    sized: dict[str, Any] = {"k": k} if of.startswith("custext") else {}
    return Memoized(make_mechanism(of, embeddings, epsilon=epsilon, oov=oov, **sized), scope)
