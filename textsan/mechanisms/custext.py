"""CusText (Chen et al. 2023): the exponential mechanism within customised output sets of K words."""

from collections.abc import Iterable
from functools import cached_property, lru_cache
from threading import local
from typing import Any, Literal
from weakref import WeakKeyDictionary

import numpy as np
import scipy
from tqdm import tqdm

from textsan.base import checks
from textsan.base.blocks import BLOCK, map_blocks
from textsan.base.signatures import takes_parameters_of
from textsan.channel import Channel
from textsan.mechanisms.base import Oov
from textsan.mechanisms.vectors import VectorMechanism
from textsan.privacy import Adjacency, Guarantee
from textsan.text.embeddings import Embeddings, euclidean
from textsan.text.loading import load_embeddings
from textsan.text.vocabulary import STOP_WORDS

_SEEDS = 64  # words whose distances to all remaining ones are computed at a time
_ENTRIES = 10**9  # of a channel, with 24 bytes each while it is made: more than most machines hold
_RUN = 512  # values of which only the least is looked at first
_GROUPS: WeakKeyDictionary[Embeddings, dict[tuple, list[np.ndarray]]] = WeakKeyDictionary()


class CusText(VectorMechanism):
    """Pr(y | x) proportional to exp(epsilon u(x, y) / 2) for y in the output set of x.

    Algorithm 1 partitions the vocabulary: the first word that is left, in the order of the embedding (GloVe: most
    frequent first), and its k - 1 nearest of those left become one group, until fewer than k are left, which
    are the last group. The score is the similarity normalised to [0, 1] over all pairs of the group, so that its
    sensitivity is 1 and epsilon-DP holds between the words of one group. A last group of a single word is released
    unchanged, and a word whose group is kept but for itself has none to hide among: `guarantee` and `exposed` say
    so.

    CusText+ is `keep=STOP_WORDS`: they are released verbatim (section 4.3).

    Args:
        embeddings: the vocabulary, inputs and, without `outputs`, outputs.
        epsilon: privacy parameter of two words of one group, from 0 to 1400; 0 draws evenly from the group, larger
            gives away more.
        k: how many words a word can become, itself among them, at least 1 (the paper's K).
        similarity: which words are close: "euclidean" (u = minus the normalised distance) or "cosine" (u = the
            normalised cosine).
        mapping: how words get their output sets: "disjoint" is Algorithm 1. "overlapping" is the released code's
            other mode, the one that Tong et al. 2024 attack: each word has its own k nearest, itself included.
            Then output sets differ, and no finite epsilon holds.
        normalise: what is scaled to [0, 1]: "group", all scores of a group, is the paper's. "row", the released
            code's, scales the scores of each input word: epsilon-DP still holds, rows are sharper. The inputs of
            an overlapping output set are the words that have exactly this set; where that is one word, the two
            agree.
        outputs: other words to release, of vectors as long: the released code takes those of the whole file. Only
            with overlapping output sets, which need no word to be input and output.
        keep: words released verbatim, in any case.
        oov: what becomes of words without a vector: "uniform" draws a word for them, "keep" (the paper's) releases
            them, "error" refuses them.
        numbers: what becomes of numbers without a vector: None treats them as other such words, "keep" releases
            them, "jitter" is the released code's: round(x) + a whole number from 0 to 999, which leaks magnitude.

    >>> two = Embeddings(["good", "nice", "bad", "poor"], [[0.0], [1.0], [9.0], [8.0]])
    >>> CusText(two, epsilon=2, k=2).channel.rows(["good"]).round(3)
    array([[0.731, 0.269, 0.   , 0.   ]])
    """

    epsilons_to = 1400.0  # exp(-epsilon / 2) is the least weight: above, it underflows, and the support with it

    def __init__(
        self,
        embeddings: Embeddings,
        epsilon: float,
        *,
        k: int = 20,
        similarity: Literal["euclidean", "cosine"] = "euclidean",
        mapping: Literal["disjoint", "overlapping"] = "disjoint",
        normalise: Literal["group", "row"] = "group",
        outputs: Embeddings | None = None,
        keep: Iterable[str] = (),
        oov: Oov = "uniform",
        numbers: Literal["keep", "jitter"] | None = None,
    ):
        super().__init__(embeddings, epsilon, keep=keep, oov=oov)
        self.k = checks.whole("k", k, low=1)
        self.similarity = checks.choice("similarity", similarity, ("euclidean", "cosine"))
        self.mapping = checks.choice("mapping", mapping, ("disjoint", "overlapping"))
        self.normalise = checks.choice("normalise", normalise, ("group", "row"))
        self.numbers = checks.choice("numbers", numbers, (None, "keep", "jitter"))
        self.outputs = embeddings if outputs is None else outputs
        if self.outputs is not embeddings and self.mapping == "disjoint":
            raise ValueError("outputs: disjoint groups are of one vocabulary; pass mapping='overlapping'")
        entries = len(self.inputs) * min(self.k, len(self.outputs.words))
        if entries > _ENTRIES:
            size = f"{entries:.1e} entries of the channel, {entries * 24 / 1e9:,.0f} GB"
            raise ValueError(f"k: {k} of {len(self.inputs):,} words each are {size}; pass fewer of either")
        if self.outputs.vectors.shape[1] != embeddings.vectors.shape[1]:
            raise ValueError("outputs: its vectors have another length than those of the embeddings")

    @cached_property
    def groups(self) -> list[np.ndarray]:
        """Output sets as ascending numbers in `outputs`: one a group (disjoint) or one a word (overlapping).

        They do not depend on epsilon, and are made once for the same embeddings.
        """
        outputs = None if self.outputs is self.embeddings else self.outputs
        made = _GROUPS.setdefault(self.embeddings, {})
        asked = self.k, self.similarity, self.mapping, outputs
        if asked not in made:
            made[asked] = self._grouped()
        return made[asked]

    def _grouped(self) -> list[np.ndarray]:
        k = min(self.k, len(self.outputs.words))
        if self.mapping == "disjoint":
            return _partition(self._points, self._dissimilarity, k)
        itself = np.array([self.outputs.index.get(word, -1) for word in self.inputs])
        return _neighbours(self._points, self._targets, itself, self._dissimilarity, k)

    @property
    def group_words(self) -> list[list[str]]:
        """`groups` as words; disjoint ones are the adjacency under which epsilon-DP holds."""
        return [[self.outputs.words[i] for i in group] for group in self.groups]

    @cached_property
    def channel(self) -> Channel:
        inputs, outputs, entries = [], [], []
        for source, group in self._input_sets():
            log_weights = self.epsilon / 2 * self._scores(source, group)
            weights = np.exp(log_weights - log_weights.max(axis=1, keepdims=True))
            entries.append((weights / weights.sum(axis=1, keepdims=True)).ravel())
            inputs.append(np.repeat(source, len(group)))
            outputs.append(np.tile(group, len(source)))
        reached = np.arange(len(self.outputs.words))
        if self.outputs is not self.embeddings:
            reached = np.unique(np.concatenate(outputs))
        places = (np.concatenate(inputs), np.searchsorted(reached, np.concatenate(outputs)))
        shape = (len(self.inputs), len(reached))
        matrix = scipy.sparse.coo_array((np.concatenate(entries), places), shape=shape)
        channel = Channel.from_sparse(matrix.tocsr(), self.inputs, [self.outputs.words[i] for i in reached])
        return channel.keeping(self.keep)

    @property
    def parameters(self) -> dict:
        return super().parameters | {"outputs": None if self.outputs is self.embeddings else self.outputs}

    @property
    def guarantee(self) -> Guarantee:
        """DP within groups; none where output sets overlap."""
        outside = *self._outside(), *self._numbers_clause()
        if self.mapping == "overlapping":
            return Guarantee("none", np.inf, None, (*outside, "words differ in what they can become"))
        groups = [tuple(word for word in group if word not in self.keep) for group in self.group_words]
        adjacency = Adjacency(groups=tuple(group for group in groups if group))
        return Guarantee("DP within groups", self.epsilon, adjacency, (*outside, *self._alone_clause()))

    @property
    def exposed(self) -> tuple[str, ...]:
        return *super().exposed, *self._numbers_clause(), *self._alone_clause()

    def _numbers_clause(self) -> tuple[str, ...]:
        if not self.numbers:
            return ()
        fate = {"keep": "verbatim", "jitter": "with their magnitude"}[self.numbers]
        return (f"numbers outside of the vocabulary are released {fate}",)

    def _alone_clause(self) -> tuple[str, ...]:
        if self.k == 1:
            return ("every word, the one of its output set, is released unchanged",)
        if self.mapping == "overlapping":
            return ()
        words = self.group_words
        alone = [group[0] for group in words[-1:] if len(group) == 1 and group[0] not in self.keep]
        hidden = sum(sum(word not in self.keep for word in group) == 1 for group in words) - len(alone)
        clauses = [f"{word!r}, the one word of the last group, is released unchanged" for word in alone]
        if hidden:
            clauses.append(f"{hidden} words whose groups have no other word that is sanitized: none hides them")
        return tuple(clauses)

    @cached_property
    def _points(self):
        return self._scaled(self.embeddings.vectors)

    @cached_property
    def _targets(self):
        return self._points if self.outputs is self.embeddings else self._scaled(self.outputs.vectors)

    def _scaled(self, vectors):
        vectors = np.asarray(vectors, dtype=np.float64)
        if self.similarity == "euclidean":
            return vectors
        norms = np.linalg.norm(vectors, axis=1, keepdims=True)
        return vectors / np.where(norms > 0, norms, 1)  # the cosine with a zero vector counts as 0

    @property
    def _dissimilarity(self):
        return euclidean if self.similarity == "euclidean" else _minus_products

    def _input_sets(self) -> Iterable[tuple[np.ndarray, np.ndarray]]:
        """Each output set after the inputs that have it."""
        if self.mapping == "disjoint":
            return ((group, group) for group in self.groups)
        inputs: dict[bytes, tuple[list[int], np.ndarray]] = {}
        for word, group in enumerate(self.groups):
            inputs.setdefault(group.tobytes(), ([], group))[0].append(word)
        return ((np.array(words), group) for words, group in inputs.values())

    def _scores(self, source, group) -> np.ndarray:
        """u(x, y), (len(source), len(group)): 0 for the closest pair, -1 for the farthest.

        For cosines the paper's u is one more; the exponential mechanism does not see a constant.
        """
        far = self._dissimilarity(self._points[source], self._targets[group])
        axis = None if self.normalise == "group" else 1
        low, high = far.min(axis=axis, keepdims=True), far.max(axis=axis, keepdims=True)
        return -(far - low) / np.where(high > low, high - low, 1)

    def _unknown(self, tokens, uniforms):
        words = tokens.copy()
        others = np.ones(len(words), dtype=bool)
        if self.numbers:
            values: list[Any] = [_number(token) for token in tokens]
            others = np.array([value is None for value in values])
            if self.numbers == "jitter":
                for i in np.flatnonzero(~others):
                    words[i] = str(round(values[i]) + int(uniforms[i] * 1000))
        if others.any():
            words[others] = super()._unknown(tokens[others], uniforms[others])
        return words


@takes_parameters_of(CusText, but=("outputs",))
def custext_plus(embeddings: Embeddings, epsilon: float, *, keep: Iterable[str] = (), **settings) -> CusText:
    """CusText+: stop words are released verbatim (Chen et al. 2023, section 4.3).

    Args:
        embeddings, epsilon, settings: as for `CusText`.
        keep: words that are released verbatim, too.

    >>> custext_plus(Embeddings(["the", "cat"], [[0.0], [1.0]]), 1.0, k=2).channel.rows(["the"])
    array([[1., 0.]])
    """
    return CusText(embeddings, epsilon, keep=STOP_WORDS | checks.words("keep", keep), **settings)


def released_custext_plus(embeddings: Embeddings, epsilon: float, *, k: int = 20) -> CusText:
    """CusText+ as the released code of Tong et al. 2024 builds it: neighbours are any words of the vectors' file.

    They are searched through the whole file, 400,000 words, for each input: minutes for 20,000 of them.

    Args:
        embeddings: the vocabulary of inputs, of GloVe's words.
        epsilon: privacy parameter of two words with one output set, from 0 to 1400; no finite one holds.
        k: number of words of an output set.
    """
    outputs = _whole_file()
    return CusText(
        embeddings, epsilon, k=k, mapping="overlapping", normalise="row", outputs=outputs, keep=STOP_WORDS
    )


_whole_file = lru_cache(maxsize=1)(load_embeddings)  # one object, for which `groups` are made once


def _number(token: str) -> float | None:
    try:
        value = float(token.replace(",", ""))
    except ValueError:
        return None
    return value if np.isfinite(value) else None


def _partition(points, dissimilarity, k) -> list[np.ndarray]:
    """Algorithm 1: groups of the first remaining word and its k - 1 nearest among those that remain."""
    left = np.arange(len(points))
    remaining = points.copy()
    groups = []
    progress = tqdm(desc="groups", unit="word", unit_scale=True, total=len(left), disable=None, delay=2)
    while len(left) >= k:
        height = min(_SEEDS, len(left))
        far = dissimilarity(remaining[:height], remaining)
        free = np.ones(len(left), dtype=bool)
        for seed in range(height):
            if not free[seed] or free.sum() < k:
                continue
            far[seed, ~free] = np.inf
            far[seed, seed] = -np.inf  # a word is its own nearest, whatever duplicates it has
            members = _smallest(far[seed], k)
            free[members] = False
            groups.append(left[members])
        progress.update(len(left) - free.sum())
        left, remaining = left[free], remaining[free]
    progress.close()
    if len(left):
        groups.append(left)
    return groups


def _neighbours(points, targets, itself, dissimilarity, k) -> list[np.ndarray]:
    """Each word's own k nearest, itself included; `itself` is its number among the targets, or -1."""
    own = local()  # a thread's distances are written in one place: new memory costs more than they do

    def block(numbers):
        if not hasattr(own, "far"):
            own.far = np.empty((BLOCK, len(targets)))
        far = dissimilarity(points[numbers], targets, out=own.far[: len(numbers)])
        there = np.flatnonzero(itself[numbers] >= 0)
        far[there, itself[numbers][there]] = -np.inf
        return [_smallest(row, k) for row in far]

    groups: list[np.ndarray] = []
    what = f"neighbours among {len(targets):,} words"
    progress = tqdm(desc=what, unit="word", unit_scale=True, total=len(points), disable=None, delay=2)
    for part in map_blocks(block, np.arange(len(points))):
        groups += part
        progress.update(len(part))
    progress.close()
    return groups


def _minus_products(a: np.ndarray, b: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
    products = np.matmul(a, b.T, out=out)
    return np.negative(products, out=products)


def _smallest(values: np.ndarray, k: int) -> np.ndarray:
    """Find the places of the `k` smallest values, ascending; the earlier of equal ones."""
    if len(values) >= 2 * k * _RUN:  # none of them is above the k-th smallest minimum of a run
        minima = values[: len(values) // _RUN * _RUN].reshape(-1, _RUN).min(axis=1)
        near = np.flatnonzero(values <= np.partition(minima, k - 1)[k - 1])
        return near[_k_smallest(values[near], k)]
    return _k_smallest(values, k)


def _k_smallest(values: np.ndarray, k: int) -> np.ndarray:
    last = np.partition(values, k - 1)[k - 1]
    below, equal = np.flatnonzero(values < last), np.flatnonzero(values == last)
    return np.sort(np.concatenate([below, equal[: k - len(below)]]))
