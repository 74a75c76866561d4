"""A public table of word n-grams: what an attacker who owns no text at all can know of English.

The table is CMU Sphinx's US English model, trigrams with backoff (Katz 1987):

    Pr(z | x y) = listed(x y z), or else backoff(x y) Pr(z | y), and so on down to single words.

Its file is a trie of bit-packed entries (pocketsphinx 5.1.1, `src/lm/lm_trie.c`): under each word the words before
it, under these the words before them, each with numbers of a probability and a backoff in two lists of 65,536.
"""

from collections.abc import Iterable, Sequence
from functools import cache, cached_property
from pathlib import Path

import numpy as np
import scipy

from textsan.base import assets
from textsan.priors.markov import MarkovModel

_HEADER = b"Trie Language Model\x03"
_BASE = np.log(1.0001)  # of the logarithms in the file
_LEVELS = 1 << 16  # numbers of probabilities, and of backoffs


class NGrams:
    """A trigram table with backoff; make one with `load`.

    Attributes:
        words: those that the table knows, in lower case; "<s>" and "</s>" are start and end of a sentence.

    >>> table = NGrams.load()
    >>> table.log_probabilities([["new", "york", "times"], ["new", "york", "boats"]]).round(1)
    array([ -2.8, -13.1])
    """

    def __init__(self, path: Path):
        raw = np.fromfile(path, dtype=np.uint8)
        if raw[: len(_HEADER)].tobytes() != _HEADER:
            raise ValueError(f"path: {path} is no trigram table of pocketsphinx; pass en-us.lm.bin")
        n, _, most = counts = [int(count) for count in np.frombuffer(raw, "<u4", 3, len(_HEADER))]
        at = len(_HEADER) + 16
        levels = np.frombuffer(raw, "<f4", 3 * _LEVELS, at).reshape(3, _LEVELS)
        at += levels.nbytes
        single = np.frombuffer(raw, [("log", "<f4"), ("backoff", "<f4"), ("first", "<u4")], n + 1, at)
        at += single.nbytes
        sizes = n.bit_length(), 16, 16, most.bit_length()  # word, backoff, probability, first trigram
        first = single["first"].astype(np.int64)
        before, backoff, log, second = _unpack(raw, at, sizes, int(first[-1]) + 1)
        at += _bytes(counts[1], sum(sizes))
        earlier, last_log = _unpack(raw, at, (sizes[0], 16), int(second[-1]))
        at += _bytes(most, sizes[0] + 16)
        self.words = raw[at + 4 :].tobytes().decode("utf-8").split("\0")[:-1]
        self._n, self._single, self._backoff = n, single["log"][:n], single["backoff"][:n]
        self._pairs = np.repeat(np.arange(n), np.diff(first)) * n + before[:-1]  # word * n + the word before it
        self._pair_log, self._pair_backoff = levels[0][log[:-1]], levels[1][backoff[:-1]]
        triples = np.repeat(np.arange(len(self._pairs)), np.diff(second)) * n + earlier
        order = np.argsort(triples, kind="stable")  # two places of the file are out of order
        self._triples, self._triple_log = triples[order], levels[2][last_log][order]

    @classmethod
    @cache
    def load(cls) -> "NGrams":
        """The table of the asset "cmu-en-us", read once a process."""
        return cls(assets.fetch("cmu-en-us") / "en-us.lm.bin")

    def __repr__(self) -> str:
        return f"NGrams({self._n} words, {len(self._pairs)} pairs, {len(self._triples)} triples)"

    def __contains__(self, word) -> bool:
        return word in self._index

    @cached_property
    def _index(self) -> dict[str, int]:
        return {word: i for i, word in enumerate(self.words)}

    def numbers(self, words: Iterable[str]) -> np.ndarray:
        """Number of each word; -1 for one that the table does not know."""
        return np.array([self._index.get(word, -1) for word in words], dtype=np.int64)

    def log_probabilities(self, grams: Sequence[Sequence[str]] | np.ndarray) -> np.ndarray:
        """log Pr(last word | the one or two before it), in nats.

        An unknown last word gets -inf. Of the words before it those that stand before an unknown one, it included,
        are left out.

        Args:
            grams: n times m words in reading order, or their `numbers`, (n, m); m is 1, 2 or 3.
        """
        if not isinstance(grams, np.ndarray):
            grams = np.array([self.numbers(gram) for gram in grams])
        if grams.ndim != 2 or not 1 <= grams.shape[1] <= 3:
            raise ValueError(f"grams: shape {grams.shape}; pass rows of one, two or three words each")
        last, known = grams[:, -1], grams[:, -1] >= 0
        found = np.where(known, self._single[last], -np.inf).astype(np.float64)
        if grams.shape[1] > 1:
            before = grams[:, -2]
            use = known & (before >= 0)
            pair, listed = _find(self._pairs, last * self._n + before, use)
            found = np.where(use, found + self._backoff[before], found)
            found = np.where(listed, self._pair_log[pair], found)
        if grams.shape[1] > 2:
            earlier = grams[:, -3]
            use &= earlier >= 0
            history, there = _find(self._pairs, before * self._n + earlier, use)
            triple, whole = _find(self._triples, pair * self._n + earlier, use & listed)
            found = np.where(there, found + self._pair_backoff[history], found)
            found = np.where(whole, self._triple_log[triple], found)
        return found * _BASE

    def source(self, words: Iterable[str]) -> MarkovModel:
        """The table's pairs as a source of some words, given that each word is one of them and known.

        A row is Pr(. | x) over the known words, scaled to sum to one; after an unknown word it is that of single
        words, which is `unigram`, too. An unknown word has probability 0. `seen` is negative where a listed pair
        is less likely than backoff alone would have it.
        """
        words = list(words)
        numbers = self.numbers(words)
        known = np.flatnonzero(numbers >= 0)
        if not len(known):
            raise ValueError("words: the table knows none of them; pass English words in lower case")
        n, start = len(words), len(words)
        state = np.full(self._n, -1)
        state[numbers[known]] = known
        state_before = state.copy()
        state_before[self._index["<s>"]] = start
        single = np.zeros(n)
        single[known] = np.exp(self._single[numbers[known]] * _BASE)
        total, backoff = single.sum(), np.ones(n + 1)
        backoff[known] = np.exp(self._backoff[numbers[known]] * _BASE)
        backoff[start] = np.exp(self._backoff[self._index["<s>"]] * _BASE)
        last, before = np.divmod(self._pairs, self._n)
        use = (state[last] >= 0) & (state_before[before] >= 0)
        rows, columns = state_before[before[use]], state[last[use]]
        beyond = np.exp(self._pair_log[use] * _BASE) - backoff[rows] * single[columns]
        scale = 1 / (np.bincount(rows, beyond, n + 1) + backoff * total)
        seen = scipy.sparse.csr_array((beyond * scale[rows], (rows, columns)), shape=(n + 1, n))
        weight, single = backoff * scale * total, single / total
        initial = np.maximum(seen[[start]].toarray()[0] + weight[start] * single, 0.0)
        return MarkovModel(words, initial, seen[:n], weight[:n], single, single)


def _bytes(entries: int, bits: int) -> int:
    """Bytes that a bit-packed list takes: one further entry, and eight bytes that may be read beyond it."""
    return ((1 + entries) * bits + 7) // 8 + 8


def _unpack(raw: np.ndarray, at: int, sizes: Sequence[int], entries: int) -> list[np.ndarray]:
    """The fields of the first entries of a bit-packed list at byte `at`, each from its least significant bit."""
    eight = np.ndarray(len(raw) - 7, "<u8", raw.data, 0, (1,))  # the eight bytes that start at each byte
    fields, offset = [], 0
    for size in sizes:
        bit = np.arange(entries, dtype=np.int64) * sum(sizes) + offset
        field = eight[at + (bit >> 3)] >> (bit & 7).astype(np.uint64)
        fields.append((field & np.uint64((1 << size) - 1)).astype(np.int64))
        offset += size
    return fields


def _find(keys: np.ndarray, wanted: np.ndarray, use: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Find the place of each wanted key among sorted ones, and whether it is there and of use."""
    place = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    return place, use & (keys[place] == wanted)
