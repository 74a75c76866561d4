"""SanText and SanText+ (Yue et al. 2021): the exponential mechanism over all, or over all sensitive, words."""

import math
from collections.abc import Collection, Mapping
from functools import cached_property

import numpy as np

from textsan.base import checks
from textsan.channel import Channel
from textsan.mechanisms.base import Oov
from textsan.mechanisms.vectors import VectorMechanism
from textsan.privacy import Adjacency, Guarantee
from textsan.text.embeddings import Embeddings

_SHARE = 0.9  # of sensitive words: the paper's w


class SanText(VectorMechanism):
    """Pr(y | x) proportional to exp(-epsilon d(x, y) / 2), d the Euclidean distance of raw vectors.

    Satisfies epsilon-metric DP (Yue et al. 2021, Theorem 1): log Pr(y | x) - log Pr(y | x') is at most
    epsilon d(x, x') for all words x, x', y.

    Args:
        epsilon: privacy parameter per unit of distance, at least 0; 0 is uniform.
        embeddings, oov, device: as for `VectorMechanism`.

    >>> SanText(Embeddings(["a", "b"], [[0.0], [2.0]]), epsilon=0).channel.matrix()
    array([[0.5, 0.5],
           [0.5, 0.5]])
    """

    def __init__(self, embeddings: Embeddings, epsilon: float, *, oov: Oov = "uniform", device: str = "auto"):
        super().__init__(embeddings, epsilon, oov=oov, device=device)

    @cached_property
    def channel(self) -> Channel:
        vectors, words = self.embeddings.vectors, self.embeddings.words
        return Channel.exponential(words, words, vectors, vectors, scale=self.epsilon / 2, device=self.device)


class SanTextPlus(VectorMechanism):
    """SanText on the sensitive words; the others stay with probability 1 - p (Yue et al. 2021, Algorithm 2).

    With V_P = V_S, the sensitive words that have a vector:

        x in V_S:      Pr(y | x) = C_x exp(-epsilon d(x, y) / 2)            for y in V_P   (Eq. 1)
        x not in V_S:  Pr(x | x) = 1 - p,
                       Pr(y | x) = p C_x exp(-epsilon d(x, y) / 2)          for y in V_P   (Eq. 2)

    Satisfies (V_S, V_P, epsilon, ln(1 / p))-utility-optimised metric DP (Theorem 2). A word without a vector is
    rarer than the words with one, hence sensitive: with `oov="uniform"` it becomes a uniform draw from V_P (the
    released code draws from all words, and the paper says nothing).

    Args:
        embeddings, epsilon, oov, device: as for `VectorMechanism`.
        sensitive: the words of V_S, for example from `least_frequent`; those without a vector are left out.
        p: probability from 0 to 1 that a non-sensitive word is sampled; at 0 nothing protects it.

    Raises:
        ValueError: no sensitive word has a vector, or a number out of range.

    >>> SanTextPlus(Embeddings(["the", "b"], [[0.0], [2.0]]), 1, sensitive={"b"}, p=0.25).channel.matrix()
    array([[0.25, 0.75],
           [1.  , 0.  ]])
    """

    def __init__(
        self,
        embeddings: Embeddings,
        epsilon: float,
        *,
        sensitive: Collection[str],
        p: float = 0.3,
        oov: Oov = "uniform",
        device: str = "auto",
    ):
        super().__init__(embeddings, epsilon, oov=oov, device=device)
        self.p = checks.number("p", p, 0, 1)
        self.sensitive = checks.words("sensitive", sensitive) & set(embeddings.words)
        if not self.sensitive:
            raise ValueError("sensitive: none of the words has a vector; pass words of the embedding")

    @cached_property
    def channel(self) -> Channel:
        """The channel; its outputs are V_P in the order of the embedding, then the words that only stay."""
        words, vectors = self.embeddings.words, self.embeddings.vectors
        protected = np.array([word in self.sensitive for word in words])
        outputs = self._uniform_words() + [word for word in words if word not in self.sensitive]
        stay = np.where(protected, 0.0, 1 - self.p)
        scale, device = self.epsilon / 2, self.device
        return Channel.exponential(words, outputs, vectors, vectors[protected], scale, stay=stay, device=device)

    @property
    def guarantee(self) -> Guarantee:
        outputs = tuple(self._uniform_words())
        adjacency = Adjacency(distance=self.embeddings, outputs=outputs, sensitive=self.sensitive)
        outside = "a released word that is not sensitive was certainly in the text", *self._outside()
        epsilon_0 = math.log(1 / self.p) if self.p > 0 else math.inf
        return Guarantee("utility-optimised metric DP", self.epsilon, adjacency, outside, epsilon_0)

    @property
    def protected(self) -> frozenset[str]:
        return self.sensitive

    @property
    def exposed(self) -> tuple[str, ...]:
        n = len(self.inputs) - len(self.sensitive)
        stay = (f"the {n} words that are not sensitive, released unchanged with probability {1 - self.p:g}",)
        listed = (f"the list of {len(self.sensitive)} sensitive words: every replacement is one of them",)
        is_public = self.sensitive == set(self.inputs[n:])  # it follows from the order of the vocabulary
        return *super().exposed, *(stay if n and self.p < 1 else ()), *(() if is_public else listed)

    def _uniform_words(self):
        return [word for word in self.embeddings.words if word in self.sensitive]


def santext_plus(
    embeddings: Embeddings,
    epsilon: float,
    *,
    counts: Mapping[str, int] | None = None,
    sensitive: Collection[str] | None = None,
    w: float = _SHARE,
    p: float = 0.3,
    oov: Oov = "uniform",
    device: str = "auto",
) -> SanTextPlus:
    """SanText+ whose sensitive words are given, or the rarest of the vocabulary (Yue et al. 2021, section 4.3).

    Args:
        embeddings, epsilon, oov, device: as for `SanTextPlus`.
        p: probability from 0 to 1 that a non-sensitive word is sampled.
        counts: word counts of public text; None trusts the order of the vocabulary.
        sensitive: the sensitive words, which replace each other, so that a long release shows this list; None
            takes the rarest, by `counts` and `w`. Those without a vector are sensitive anyway.
        w: the paper's share of sensitive words, from 0 to 1, where they are not given.

    Raises:
        ValueError: as for `SanTextPlus`; or both `sensitive` and another `w`; or sensitive words without a vector
            that `oov` "keep" would release.

    >>> sorted(santext_plus(Embeddings(["the", "cat"], [[0.0], [1.0]]), 1.0, w=0.5).sensitive)
    ['cat']
    """
    if sensitive is None:
        sensitive = least_frequent(counts or {}, embeddings.words, share=w)
    elif w != _SHARE:
        raise ValueError("w: the sensitive words are given, and w would choose them; pass one of the two")
    elif oov == "keep" and (without := len(checks.words("sensitive", sensitive) - set(embeddings.words))):
        raise ValueError(f"oov: 'keep' would release {without} sensitive words without a vector; pass 'uniform'")
    return SanTextPlus(embeddings, epsilon, sensitive=sensitive, p=p, oov=oov, device=device)


def least_frequent(counts: Mapping[str, int], words: Collection[str], share: float = 0.9) -> set[str]:
    """Find the floor(share |words|) least frequent of `words`, SanText+'s rule for V_S (Yue et al. 2021, 4.3).

    Ties go to the later word, so that a vocabulary in order of frequency is cut where its order says.

    Args:
        counts: occurrences in some corpus; 0 for words not in it.
        words: the vocabulary.
        share: the paper's w, from 0 to 1.

    >>> sorted(least_frequent({"the": 9, "cat": 2, "sat": 2}, ["the", "cat", "sat"], share=0.67))
    ['cat', 'sat']
    """
    words = list(dict.fromkeys(words))
    number = math.floor(checks.number("share", share, 0, 1) * len(words) + 1e-9)
    ascending = sorted(reversed(words), key=lambda word: counts.get(word, 0))
    return set(ascending[:number])
