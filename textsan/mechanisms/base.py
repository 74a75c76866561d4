"""The base of all mechanisms: documents in, documents of the same lengths out, one independent draw a token."""

import inspect
import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cached_property
from itertools import islice
from typing import Any, Literal, Self, overload

import numpy as np
import scipy

from textsan.base import checks
from textsan.base.randomness import streams
from textsan.channel import Channel
from textsan.priors import Prior
from textsan.privacy import Guarantee, Threshold
from textsan.text.embeddings import Embeddings
from textsan.text.vocabulary import tokenize

Oov = Literal["uniform", "keep", "error"]


class UnknownWord(ValueError):
    """A word that has no row, where `oov` is "error"; it is of the text and may be private."""

    def __init__(self, word: str):
        super().__init__(word)
        self.word = word

    def __str__(self) -> str:
        return f"docs: {self.word!r} is not in the vocabulary; pass oov='uniform' or oov='keep'"


class Mechanism:
    """A token-wise sanitizer: it builds a channel from public parameters and draws from it.

    A token is looked up as it stands, then lower-cased; what comes out has the vocabulary's casing. A word in
    `keep` is released verbatim, and so is a word without a row where `oov` is "keep": both are outside any
    guarantee. With `oov` "uniform" a word without a row becomes a uniform draw from `replacements`, which
    tells nothing but that it had none.

    Sub-classes give `channel`, take what they need in a constructor and keep it as attributes of the same names;
    those that promise something give `guarantee`, and those that draw without a channel override `_variates` and
    `_draw`.

    Args:
        inputs: the words that are sanitized.
        keep: words released verbatim.
        oov: "uniform", "keep" or "error": what becomes of a word that is neither.
    """

    recipe: tuple[str, Embeddings, dict[str, Any]] | None = None
    """The name, vocabulary and parameters that `make_mechanism` was given, if it made this object."""

    def __init__(self, inputs: Iterable[str], *, keep: Iterable[str] = (), oov: Oov = "uniform"):
        self.inputs = list(inputs)
        self.keep = checks.words("keep", keep)
        self.keep |= {word for word in self.inputs if word.lower() in self.keep}  # as text is read
        self.oov = checks.choice("oov", oov, ("uniform", "keep", "error"))

    def __init_subclass__(cls, **given):
        super().__init_subclass__(**given)
        for name in ("channel", "guarantee"):
            if callable(cls.__dict__.get(name)):
                raise ValueError(f"{name}: {cls.__name__} defines it as a method; put @property above it")

    @property
    def channel(self) -> Channel:
        """The channel Pr(y | x) over `inputs` and the words it keeps, whose rows are those of the identity.

        Its inputs may be in any order, and more; none of `inputs` may be missing.
        """
        raise NotImplementedError(
            f"channel: {type(self).__name__} gives none; define it, a property that returns a textsan.Channel"
        )

    @property
    def guarantee(self) -> Guarantee:
        """The promise: the definition, its parameters, and what lies outside. Here nothing is claimed."""
        return Guarantee("none", math.inf, None, self._outside())

    @property
    def protected(self) -> frozenset[str]:
        """The words that a promise can be about: those that are not released verbatim."""
        return frozenset(self.inputs) - self.keep

    @property
    def exposed(self) -> tuple[str, ...]:
        """Clauses that warn of what is released as it is, whatever is drawn."""
        unknown = ("words outside of the vocabulary, released verbatim",) if self.oov == "keep" else ()
        return *self._kept_clause(), *unknown

    def knows(self, token: str) -> bool:
        """Tell whether a token is kept or has a row, as it stands or lower-cased."""
        return self._row(token) != _UNKNOWN

    @property
    def parameters(self) -> dict:
        """The arguments of the constructor, given or by default, by name; only those that it keeps."""
        known = inspect.signature(type(self)).parameters
        return {name: getattr(self, name) for name in known if hasattr(self, name)}

    def with_(self, **changes) -> Self:
        """Make the mechanism with some parameters changed, arguments of the constructor.

        >>> from textsan import Embeddings, SanText
        >>> SanText(Embeddings(["a", "b"], [[0.0], [1.0]]), epsilon=1.0).with_(epsilon=2.0).epsilon
        2.0
        """
        known = self.parameters
        for name in changes:
            if name not in known:
                raise ValueError(f"{name}: {type(self).__name__} has no such parameter; it has {', '.join(known)}")
        return type(self)(**known | changes)

    def epsilon_for(self, success: float, prior: Prior) -> Threshold:
        """Compute the largest epsilon whose promise alone keeps the best guess of a word within a success rate.

        The inverse of `Guarantee.success`, for the same attacker, the mechanism's other parameters as they are; to
        a relative 1e-4, and never above: what is returned keeps its promise, and so does what is printed of it.

        Returns:
            epsilon, looked for from 1e-5 to 1e3; infinity where 1e3 still keeps to the rate (with vectors that are
            very close a larger one may not), and nan where 1e-5 does not, or where nothing is promised.

        >>> from textsan import Embeddings, SanText
        >>> two = SanText(Embeddings(["a", "b"], [[0.0], [2.0]]), epsilon=1.0)
        >>> round(two.epsilon_for(0.75, Prior("ab", [0.5, 0.5])), 4)  # ln 3 for a pair, at a distance of 2
        0.5493
        """
        success = checks.number("success", success, 0, 1)
        if "epsilon" not in self.parameters:
            return Threshold(math.inf if self.guarantee.success(prior) <= success else math.nan)

        def excess(log_epsilon):
            return self.with_(epsilon=math.exp(log_epsilon)).guarantee.success(prior) - success

        low, high, width = math.log(1e-5), math.log(1e3), 1e-4
        if excess(low) > 0:
            return Threshold(math.nan)
        if excess(high) <= 0:
            return Threshold(math.inf)
        root = scipy.optimize.brentq(excess, low, high, xtol=width)
        while excess(root) > 0:  # the root is known to its width, on either side
            root = max(root - width, low)
        return Threshold(math.exp(root))

    def __repr__(self) -> str:
        shown = (f"{name}={_shown(value)}" for name, value in self.parameters.items())
        return f"{type(self).__name__}({', '.join(shown)})"

    @property
    def replacements(self) -> list[str]:
        """The words that a draw can return."""
        return self.channel.outputs

    @cached_property
    def _index(self) -> dict[str, int]:
        return {word: i for i, word in enumerate(self.inputs)}

    def sanitize(self, docs: Iterable[Sequence[str]], seed=None, *, first: int = 0) -> list[list[str]]:
        """Replace every token of documents by an independent draw of the channel.

        The draws of a document depend on `seed` and the document's number alone, never on batch size or
        order of work: chunks sanitized apart, each with its own `first`, equal the whole sanitized at once (with
        an int as seed: from a Generator each call draws another key).

        Args:
            docs: token lists; empty ones stay empty.
            seed: None draws from operating-system entropy, the only choice that protects anybody (whoever
                knows the seed can undo the noise); an int or a `numpy.random.Generator` repeats a run.
            first: number of the first document, for text that is worked through in chunks.

        Raises:
            ValueError: a document is a string.
            UnknownWord: a word has no row and `oov` is "error".
        """
        docs = checks.documents("docs", docs)
        tokens = [token for doc in docs for token in doc]
        if not tokens:
            return docs
        row = {token: self._row(token) for token in dict.fromkeys(tokens)}
        rows = np.fromiter(map(row.__getitem__, tokens), dtype=np.intp, count=len(tokens))
        words = np.array(tokens, dtype=object)
        replacements = np.array(self.replacements, dtype=object)
        # Every token takes a variate, kept or not: what stands beside a word never shifts its draw.
        generators = streams(seed, range(first, first + len(docs)))
        variates = np.concatenate([self._variates(g, len(doc)) for g, doc in zip(generators, docs, strict=True)])
        drawn, unknown = rows >= 0, rows == _UNKNOWN
        words[drawn] = replacements[self._draw(rows[drawn], variates[drawn])]
        if unknown.any():
            uniforms = variates[unknown].reshape(unknown.sum(), -1)[:, 0]
            words[unknown] = self._unknown(words[unknown], uniforms)
        released = iter(words.tolist())
        return [list(islice(released, len(doc))) for doc in docs]

    @overload
    def sanitize_text(self, text: str, seed=None) -> str: ...  # type: ignore[overload-overlap]
    @overload
    def sanitize_text(self, text: Iterable[str], seed=None) -> list[str]: ...
    @overload
    def sanitize_text(self, text: Iterable[str | None], seed=None) -> list[str | None]: ...
    def sanitize_text(self, text, seed=None):
        """Sanitize a string, or each string of a list or a column.

        Text is lower-cased and tokenized, and the words of the result are joined with single blanks. None and NaN
        in a list, which mark that there is no text, stay as they are; null of arrow is None.

        Args:
            text: a string, or a list, pandas Series or arrow array of them.
            seed: as for `sanitize`; None is the only choice that protects anybody.

        >>> from textsan import Embeddings, SanText
        >>> SanText(Embeddings(["a", "b"], [[0.0], [9.0]]), epsilon=99).sanitize_text("A b, a b", seed=0)
        'a b a a b'
        """
        if isinstance(text, str):
            return self.sanitize_text([text], seed)[0]
        if isinstance(text, Mapping) or hasattr(text, "columns"):
            what = f"{type(text).__name__} has columns, which are sanitized one at a time"
            raise ValueError(f"text: {what}; pass one of them, table['text'] say")
        text = text.to_pylist() if hasattr(text, "to_pylist") else text  # of arrow
        texts = list(text) if isinstance(text, Iterable) else [text]
        there = [one for one in texts if not _is_missing(one)] if isinstance(text, Iterable) else texts
        for one in there:
            if not isinstance(one, str):
                raise ValueError(f"text: {type(one).__name__} is no string; token lists go to sanitize()")
        released = iter(self.sanitize([tokenize(one) for one in there], seed))
        return [one if _is_missing(one) else " ".join(next(released)) for one in texts]

    def _row(self, token: str) -> int:
        lower = token.lower()
        if token in self.keep or lower in self.keep:
            return _VERBATIM
        return self._index.get(token, self._index.get(lower, _UNKNOWN))

    def _unknown(self, tokens: np.ndarray, uniforms: np.ndarray) -> np.ndarray:
        """Replace words without a row, with one uniform variate each."""
        if self.oov == "error":
            raise UnknownWord(tokens[0])
        if self.oov == "keep":
            return tokens
        words = np.array(self._uniform_words(), dtype=object)
        return words[(uniforms * len(words)).astype(np.intp)]

    def _outside(self) -> tuple[str, ...]:
        """Clauses on what no guarantee covers."""
        fates = {"uniform": "become uniform draws", "keep": "are released verbatim", "error": "are refused"}
        unknown = f"words outside of the vocabulary {fates[self.oov]}"
        return *self._kept_clause(), unknown, "the number of tokens is released"

    def _kept_clause(self) -> tuple[str, ...]:
        return (f"the {len(self.keep)} kept words, released verbatim",) if self.keep else ()

    def _uniform_words(self) -> list[str]:
        """The words that stand in for a word without a row."""
        return self.replacements

    def _variates(self, stream: np.random.Generator, n: int) -> np.ndarray:
        """Draw the variates of `n` tokens of one document: (n,) or (n, width), the first of them uniform."""
        return stream.random(n)

    def _draw(self, rows: np.ndarray, variates: np.ndarray) -> np.ndarray:
        """Numbers in `replacements`, one a token."""
        return self.channel.sample(self._channel_rows[rows], variates)

    @cached_property
    def _channel_rows(self) -> np.ndarray:
        """The row of each input in the channel, which may have its words in another order."""
        index = self.channel.input_index
        for word in self.inputs:
            if word not in index:
                raise ValueError(
                    f"channel: {word!r} is an input of {type(self).__name__} and none of its channel; "
                    "give it a row, or leave it out of the inputs"
                )
        return np.array([index[word] for word in self.inputs], dtype=np.intp)


_UNKNOWN, _VERBATIM = -1, -2


def _is_missing(value) -> bool:
    """Tell whether a cell of a column has no text: None, NaN, or the NA of pandas."""
    return value is None or (isinstance(value, float) and math.isnan(value)) or type(value).__name__ == "NAType"


def _shown(value) -> str:
    """A parameter in a `repr`: word lists by their number."""
    is_list = isinstance(value, Embeddings | Collection) and not isinstance(value, str)
    return f"<{len(value)} words>" if is_list else repr(value)
