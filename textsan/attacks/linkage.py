"""Linkage: which candidate document a release was made of, by its exact likelihood under the mechanism.

The words of a release are independent given its original, so that log Pr(release | candidate) is a sum over words:
of the channel's entries for words with a row; for the others as the mechanism treats them. Every released word is
looked up once for all candidate words, and a candidate costs one look-up a word, so that a thousand releases and a
million candidates of twenty words take a minute, exactly and without a filter. The candidates need no prior: each
is taken for as likely as another.

Where the attacker's copy is another version of the original, words of it may have been `changed`, `lost` or
`added` on the way, each independently; a changed or added word is one of the prior. Lengths may differ then, and
all ways to align the two are summed.
"""

import logging
import math
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from itertools import groupby
from operator import itemgetter
from typing import NamedTuple

import numpy as np
import scipy

from textsan.attacks.knowledge import Knowledge
from textsan.base import checks
from textsan.base.blocks import map_blocks, map_jobs
from textsan.base.signatures import takes_parameters_of
from textsan.channel import Channel
from textsan.mechanisms import ChannelMechanism, Mechanism
from textsan.priors import Prior

_log = logging.getLogger(__name__)

Docs = Sequence[Sequence[str]]

_RELEASES = 32  # releases whose words are looked up together
_WORDS = 256  # released words whose likelihoods under all sources are summed together
_CANDIDATES = 1 << 15  # candidates scored at a time: their scores stay in the cache of a core
_MATRIX = 1 << 27  # entries of a matrix of likelihoods: 1 GiB of float64; above it `log_likelihoods` refuses
_ONE_BY_ONE = 1000  # tied candidates that are summed one by one
_EQUAL = 1e-9  # nats within which two candidates are as likely


class Links(NamedTuple):
    """The likeliest candidates, one line a release.

    Attributes:
        numbers: (n, k) the likeliest candidates, best first, -1 where fewer can have become the release.
        probabilities: (n, k) their posterior probabilities among all candidates, each as likely as another before.
        log_ratios: (n,) log of how much likelier the release is if it was made of the best candidate than if it
            was made of text of the prior; nan without a prior, -inf where there is no candidate.
        candidates: how many were compared.
    """

    numbers: np.ndarray
    probabilities: np.ndarray
    log_ratios: np.ndarray
    candidates: int

    @property
    def best(self) -> np.ndarray:
        """(n,) the likeliest candidate of each release, -1 where none can have become it; ties by number."""
        return self.numbers[:, 0]

    def claimed(self, false_links: float = 1e-4) -> np.ndarray:
        """Claim releases, (n,) bool, without knowing whether their originals are among the candidates.

        They are those of a log ratio of at least log(N / false_links), false_links above 0.

        Where the channel is exact, a release whose original is not among N candidates of
        words drawn from the prior is claimed with probability `false_links` at most, whatever was released: E
        exp(log ratio) is at most 1, Markov's inequality, N candidates. There is no such bound for an estimated
        channel, whose entries that were never drawn count as half a draw. Real
        candidates are not drawn so, and near copies of the original least: calibrate on text of one's own beside
        it.
        """
        rate = checks.number("false_links", false_links, 1e-300, 1)
        if np.isnan(self.log_ratios).any():
            raise ValueError(
                "log_ratios: there are none without a prior; grant shadow text or prior= to Knowledge"
            )
        return self.log_ratios >= math.log(self.candidates / rate)


class Ranks(NamedTuple):
    """The numbers of wrong candidates that are as likely as the right one, or likelier, one line a release.

    Attributes:
        above: (n,) wrong candidates that are likelier; all of them where the right one is impossible.
        tied: (n,) wrong candidates that are as likely.
        others: wrong candidates in all.
    """

    above: np.ndarray
    tied: np.ndarray
    others: int

    @classmethod
    def of(cls, own: np.ndarray, scores: np.ndarray, *, inside: bool = True) -> "Ranks":
        """Count in a table of log-likelihoods; an impossible right candidate, of -inf, is behind all others.

        Args:
            own: (n,) of the right candidate.
            scores: (n, candidates) of all, the right one among them.
            inside: whether its score is in the table; else it stands in for one whose score there is -inf.
        """
        others, possible = scores.shape[1] - 1, own > -np.inf
        level = np.where(possible, own, 0.0)[:, None]
        above = np.where(possible, (scores > level + _EQUAL).sum(axis=1), others)
        tied = np.where(possible, (np.abs(scores - level) <= _EQUAL).sum(axis=1) - inside, 0)
        return cls(above, tied, others)

    def success(self, candidates: int | None = None) -> np.ndarray:
        """(n,) Pr(the right one is named) among so many candidates, itself and others drawn without replacement.

        With A likelier and T tied among M others, and m of these drawn, it is the mean over j = 0..T of
        C(M - A - j, m) / C(M, m): no likelier one is drawn, and none of the j tied ones that a random order puts
        first. So one list gives the rate for every shorter one, averaged over all of them.

        Args:
            candidates: N, from 1 to the number that there are; None is all.

        >>> Ranks(np.array([0, 1]), np.array([1, 0]), others=3).success(2).round(3)
        array([0.833, 0.667])
        """
        drawn = self.others if candidates is None else checks.whole("candidates", candidates, low=1) - 1
        if drawn > self.others:
            raise ValueError(f"candidates: {candidates} of {self.others + 1}; pass fewer, or link among more")
        left, ways = self.others - self.above, _log_choose(self.others, drawn)
        rates = np.empty(len(left))
        for row, (m, tied) in enumerate(zip(left, self.tied, strict=True)):
            if tied < _ONE_BY_ONE:
                rates[row] = np.exp(_log_choose(m - np.arange(tied + 1), drawn) - ways).mean()
            else:  # the sum in closed form, which loses digits where it has few terms
                all_but = _log_choose(np.array([m + 1, m - tied]), drawn + 1) - ways
                rates[row] = -np.diff(np.exp(all_but))[0] / (tied + 1)
        return rates.clip(0, 1)


class Linkage:
    """Names the document that a release was made of.

    Args:
        mechanism: what made the release, or as much of it as the attacker knows.
        prior: over the inputs of its channel; what a changed or added word is drawn from, and what a release is
            compared with where the original may not be there. None is no prior.
        unknown: share of the words of other text that the mechanism has no row for.
        changed: probability that a word of the attacker's copy is another one in the original.
        lost: probability that a word of the copy is not in the original.
        added: probability that before a word of the copy, or at its end, the original has a further one, and then
            another.

    Raises:
        ValueError: a probability out of range, or no prior where one is needed.

    >>> from textsan import Embeddings, SanText
    >>> line = Embeddings(["a", "b", "c"], [[0.0], [1.0], [2.0]])
    >>> attack = Linkage.against(Knowledge.of(SanText(line, epsilon=9.0)))
    >>> attack.link([["a", "c"]], [["a", "b"], ["a", "c"], ["c", "a"]]).best
    array([1])
    """

    def __init__(
        self,
        mechanism: Mechanism,
        prior: Prior | None = None,
        *,
        unknown: float = 0.0,
        changed: float = 0.0,
        lost: float = 0.0,
        added: float = 0.0,
    ):
        self.mechanism, self.prior = mechanism, prior
        self.unknown = checks.number("unknown", unknown, 0, 1)
        self.changed, self.lost = checks.number("changed", changed, 0, 1), checks.number("lost", lost, 0, 1)
        self.added = checks.number("added", added, 0, 0.999)
        if prior is None and (changed or added):
            raise ValueError("prior: changed or added words are drawn from it; grant shadow text or prior=")

    @classmethod
    @takes_parameters_of(__init__, but=("unknown",))
    def against(cls, knowledge: Knowledge, **edits) -> "Linkage":
        """Make the attack of somebody with this knowledge.

        Args:
            knowledge: the mechanism, or only its channel and kept words: then words that are no inputs are taken
                to be released as they are. Shadow text or a prior are needed for versions and for an open set
                only.
        """
        mechanism = knowledge.mechanism
        if mechanism is None:
            mechanism = ChannelMechanism(knowledge.channel, keep=knowledge.kept, oov="keep")
        granted = knowledge.prior is not None or bool(knowledge.shadow)
        prior = knowledge.unigram() if granted else None
        unknown = 0.0
        if knowledge.shadow:
            counts = knowledge.counts
            unknown = sum(n for word, n in counts.items() if not mechanism.knows(word)) / counts.total()
        return cls(mechanism, prior, unknown=unknown, **edits)

    def __repr__(self) -> str:
        shown = {"changed": self.changed, "lost": self.lost, "added": self.added}
        version = "".join(f", {name}={value:g}" for name, value in shown.items() if value)
        return f"Linkage({self.channel}{version})"

    @property
    def channel(self) -> Channel:
        """Pr(y | x) of words with a row."""
        return self.mechanism.channel

    def log_likelihoods(self, released: Docs, candidates: Docs) -> np.ndarray:
        """Compute log Pr(release | candidate), (n released, n candidates), in nats; -inf where it is impossible.

        Of a candidate of another length than the release it is -inf, unless words can be lost or added. Where the
        channel is estimated, an entry that was never drawn counts as half a draw. Where words can be lost and none
        added, a candidate some 700 nats behind may be -inf, too.

        Raises:
            ValueError: no candidate, a released word that the mechanism releases of nothing, or a matrix of more
                than 2^27 entries: `link` and `ranks` go through it in blocks.
        """
        comparison = _Comparison(self, released, candidates)
        shape = len(comparison.released), len(comparison.candidates)
        if shape[0] * shape[1] > _MATRIX:
            raise ValueError(
                f"candidates: a matrix of {shape[0]} x {shape[1]} is too large; use link() or ranks()"
            )
        matrix = np.full(shape, -np.inf)

        def fill(rows):
            for row, numbers, scores in comparison.scores(rows):
                matrix[row, numbers] = scores

        list(map_jobs(fill, comparison.batches()))
        return matrix

    def link(self, released: Docs, candidates: Docs, k: int = 10) -> Links:
        """The likeliest candidates of each release with their posterior probabilities.

        A line in the log says how many releases no candidate can have become, and for one of them why.

        Args:
            candidates: token lists; equal ones share their probability.
        """
        comparison = _Comparison(self, released, candidates)
        n, k = len(comparison.released), min(checks.whole("k", k, low=1), len(comparison.candidates))
        numbers, best, totals = np.full((n, k), -1), np.full((n, k), -np.inf), np.full(n, -np.inf)

        def keep(rows):
            for row, which, scores in comparison.scores(rows):
                totals[row] = np.logaddexp(totals[row], scipy.special.logsumexp(scores))
                if len(scores) > k:
                    # The k best, the earlier of equal ones.
                    least = np.partition(scores, len(scores) - k)[len(scores) - k]
                    which, scores = which[scores >= least], scores[scores >= least]
                which, scores = np.append(numbers[row], which), np.append(best[row], scores)
                order = np.lexsort((which, -scores))[:k]
                numbers[row], best[row] = which[order], scores[order]

        list(map_jobs(keep, comparison.batches()))
        numbers[best == -np.inf] = -1
        possible = totals > -np.inf
        if not possible.all():
            _log.warning(self._why_not(comparison, np.flatnonzero(~possible)))
        probabilities = np.exp(best - np.where(possible, totals, 0.0)[:, None])
        return Links(numbers, probabilities, best[:, 0] - self._log_others(comparison.released), len(candidates))

    def ranks(self, released: Docs, candidates: Docs, truth: Sequence[int]) -> Ranks:
        """Count the candidates that are likelier than the right one, whose number `truth` has for each release.

        >>> from textsan import Embeddings, SanText
        >>> attack = Linkage(SanText(Embeddings(["a", "b"], [[0.0], [1.0]]), epsilon=9.0))
        >>> attack.ranks([["a"]], [["b"], ["a"], ["a"]], truth=[1])
        Ranks(above=array([0]), tied=array([1]), others=2)
        """
        comparison = _Comparison(self, released, candidates)
        right = np.asarray(truth, dtype=np.intp)
        n = len(comparison.candidates)
        if right.shape != (len(comparison.released),) or not ((right >= 0) & (right < n)).all():
            raise ValueError(f"truth: pass the number of a candidate, below {n}, for each release")
        above, tied = np.full(len(right), n - 1), np.zeros(len(right), dtype=np.intp)

        def count(rows):
            for row, blocks in groupby(comparison.scores(rows), key=itemgetter(0)):
                which, scores = (np.concatenate(parts) for parts in list(zip(*blocks, strict=True))[1:])
                own = scores[which == right[row]]
                if (own > -np.inf).any():
                    above[row] = (scores > own + _EQUAL).sum()
                    tied[row] = (np.abs(scores - own) <= _EQUAL).sum() - 1  # itself

        list(map_jobs(count, comparison.batches()))
        return Ranks(above, tied, n - 1)

    def source_likelihoods(self, released: Docs, sources: Docs) -> np.ndarray:
        """Compute log Pr(release | source), (n released, n sources), where other words of each source are known.

        A released word is of an independent draw of the source's known words or, with probability `changed`, of
        the prior. Lengths count for nothing. Log-likelihoods of several releases of one source add up.

        Args:
            released: token lists as the mechanism released them.
            sources: all known words of each, token lists.

        Raises:
            ValueError: a source without a word, or a released word that the mechanism releases of nothing.

        >>> from textsan import Embeddings, SanText
        >>> attack = Linkage(SanText(Embeddings(["a", "b"], [[0.0], [1.0]]), epsilon=9.0))
        >>> attack.source_likelihoods([["a", "a"], ["b"]], [["a"], ["a", "b"]]).round(1).tolist()
        [[-0.0, -1.4], [-4.5, -0.7]]
        """
        comparison = _Comparison(self, released, sources)
        if not all(comparison.candidates):
            raise ValueError("sources: one has no word; leave it out")
        words = list(dict.fromkeys(word for doc in comparison.released for word in doc))
        shares, logs = comparison.shares(), dict[str, np.ndarray]()
        for at in range(0, len(words), _WORDS):
            some = words[at : at + _WORDS]
            with np.errstate(divide="ignore"):
                logs |= dict(zip(some, np.log(np.exp(comparison.emissions(some)[0]) @ shares), strict=True))
        empty = np.zeros(len(comparison.candidates))
        return np.array([sum((logs[word] for word in doc), empty) for doc in comparison.released])

    def _log_others(self, released: list[list[str]]) -> np.ndarray:
        """log Pr(release) if its words were drawn from the prior, (n,); nan without one."""
        if self.prior is None:
            return np.full(len(released), math.nan)
        words = list(dict.fromkeys(word for document in released for word in document))
        known = dict(zip(words, self.log_prior_released(words), strict=True))
        return np.array([math.fsum(known[word] for word in document) for document in released])

    def log_prior_released(self, words: Sequence[str]) -> np.ndarray:
        """Compute log Pr(y) of released words whose originals are of the prior, or without a row, (n,).

        A word that is released as it is, and of which the prior knows nothing, counts as one of the vocabulary's.
        """
        if self.prior is None:
            raise ValueError("prior: none is granted; pass shadow text or prior= to Knowledge")
        uniform = self._uniform
        rare = -math.log(len(self.channel.inputs))
        drawn = [word for word in words if word in self.channel.output_index]
        with np.errstate(divide="ignore"):
            log_prior = np.log(self.channel.prior_array(self.prior))
            known = dict(zip(drawn, self.channel.log_marginal(log_prior, drawn), strict=True)) if drawn else {}
            share, rest = np.log(self.unknown), np.log1p(-self.unknown)
        logs = [np.logaddexp(known.get(word, -np.inf) + rest, share + uniform.get(word, rare)) for word in words]
        return np.where(np.isneginf(logs), rare, logs)

    @cached_property
    def _uniform(self) -> dict[str, float]:
        """log probability of what an unknown word becomes where it is drawn evenly; else nothing."""
        if self.mechanism.oov != "uniform":
            return {}
        words = self.mechanism._uniform_words()
        return dict.fromkeys(words, -math.log(len(words)))

    def _why_not(self, comparison: "_Comparison", rows: np.ndarray) -> str:
        document = comparison.released[rows[0]]
        which = f"released: {len(rows)} of {len(comparison.released)} documents are of no candidate"
        lengths = {len(candidate) for candidate in comparison.candidates}
        if not comparison.any_length and len(document) not in lengths:
            return f"{which}; none has the {len(document)} words of document {rows[0]}"
        for word in document:
            if np.isneginf(comparison.table([word])).all():
                return f"{which}; no word of any can have become {word!r} of document {rows[0]}"
        return f"{which}; each has a word that cannot have become the one of document {rows[0]}"


class _Comparison:
    """Releases and candidates as numbers, and the scores of one with the other."""

    def __init__(self, attack: Linkage, released: Docs, candidates: Docs):
        self.attack = attack
        self.released = checks.documents("released", released)
        self.candidates = checks.documents("candidates", candidates)
        if not self.candidates:
            raise ValueError("candidates: none; pass at least one document")
        self.any_length = bool(attack.lost or attack.added)
        self._index: dict[str, int] = {}
        by_length: dict[int, tuple[list[int], list[list[int]]]] = {}
        for number, document in enumerate(self.candidates):
            numbers, rows = by_length.setdefault(len(document), ([], []))
            numbers.append(number)
            rows.append([self._index.setdefault(word, len(self._index)) for word in document])
        # Position by position, as they are looked up; candidates of one length together.
        self._blocks = {
            length: list(_parts(np.array(numbers), np.array(rows, dtype=np.int32).reshape(len(rows), length).T))
            for length, (numbers, rows) in by_length.items()
        }
        self._look_at(list(self._index))
        for number, document in enumerate(self.released):
            for word in document:
                if not self._can_be_released(word):
                    what = f"released: {word!r} of document {number} is nothing that the mechanism releases"
                    raise ValueError(f"{what}; pass what it released, as tokens")

    @cached_property
    def _padded(self) -> list[tuple[np.ndarray, np.ndarray]]:
        """Candidates of all lengths together, the longest first, words that they lack -1."""
        longest = max(self._blocks)
        numbers, columns = [], []
        for length in sorted(self._blocks, reverse=True):
            for some, ids in self._blocks[length]:
                numbers.append(some)
                columns.append(np.pad(ids, ((0, longest - length), (0, 0)), constant_values=-1))
        return list(_parts(np.concatenate(numbers), np.hstack(columns)))

    def batches(self) -> Iterator[list[int]]:
        """Releases that are looked up together: those of one length are beside each other."""
        order = sorted(range(len(self.released)), key=lambda row: len(self.released[row]))
        return (order[at : at + _RELEASES] for at in range(0, len(order), _RELEASES))

    def scores(self, rows: Sequence[int]) -> Iterator[tuple[int, np.ndarray, np.ndarray]]:
        """For some releases, in blocks of candidates: a release, candidate numbers, log likelihoods."""
        words, score = self._scorer(rows)
        for row in rows:
            places = [words[word] for word in self.released[row]]
            for numbers, ids in self._padded if self.any_length else self._blocks.get(len(places), []):
                yield row, numbers, score(places, ids)

    def table(self, words: Sequence[str]) -> np.ndarray:
        """log Pr(y | word of a candidate), (n released words, n words of candidates)."""
        channel = self.attack.channel
        table = np.full((len(words), len(self._index)), -np.inf)
        drawn = np.array([i for i, word in enumerate(words) if word in channel.output_index], dtype=np.intp)
        columns = np.array([channel.output_index[words[i]] for i in drawn], dtype=np.intp)
        if len(drawn) and len(self._with_row):
            parts = map_blocks(lambda part: channel.log_columns(part)[:, self._rows], columns)
            entries = np.concatenate(list(parts))
            if channel.draws:
                entries = np.maximum(entries, math.log(0.5 / channel.draws))
            table[np.ix_(drawn, self._with_row)] = entries
        for i, word in enumerate(words):
            if word in self.attack._uniform:
                table[i, self._drawn_evenly] = self.attack._uniform[word]
            for at in self._verbatim_at.get(word, ()):
                table[i, at] = 0.0
            if self._shifted and (value := _whole(word)) is not None:
                for at, (low, high) in self._shifted.items():
                    if low <= value <= high:
                        table[i, at] = -math.log(high - low + 1)
        return table

    def emissions(self, words: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
        """The table where some words are changed, and log Pr(y) of those, (n released words,)."""
        table, attack = self.table(words), self.attack
        background = np.zeros(len(words))
        if attack.changed or attack.added:
            background = attack.log_prior_released(words)
        if attack.changed:
            with np.errstate(divide="ignore"):
                stays, other = np.log1p(-attack.changed), np.log(attack.changed) + background
            table = np.logaddexp(table + stays, other[:, None])
        return table, background

    def shares(self) -> "scipy.sparse.csc_array":
        """The share of each word in each candidate, (n words of candidates, n candidates)."""
        lengths = np.array([len(document) for document in self.candidates])
        rows = [self._index[word] for document in self.candidates for word in document]
        entries = np.repeat(1 / lengths, lengths), (rows, np.repeat(np.arange(len(lengths)), lengths))
        return scipy.sparse.coo_array(entries, (len(self._index), len(lengths))).tocsc()

    def _scorer(self, rows: Sequence[int]) -> tuple[dict[str, int], Callable]:
        """The released words of some documents with their places, and what scores by them."""
        words = list(dict.fromkeys(word for row in rows for word in self.released[row]))
        (table, background), attack = self.emissions(words), self.attack
        places = {word: place for place, word in enumerate(words)}
        if self.any_length:
            return places, lambda asked, ids: _aligned(table, background, asked, ids, attack.lost, attack.added)
        return places, lambda asked, ids: _in_order(table, asked, ids)

    def _look_at(self, words: list[str]) -> None:
        """Note how the mechanism treats each word of the candidates."""
        mechanism, index = self.attack.mechanism, self.attack.channel.input_index
        with_row, rows, evenly = [], [], []
        verbatim: dict[str, list[int]] = {}
        self._shifted: dict[int, tuple[int, int]] = {}
        inputs, numbers = frozenset(mechanism.inputs), getattr(mechanism, "numbers", None)
        for at, word in enumerate(words):
            lower = word.lower()
            if word in mechanism.keep or lower in mechanism.keep:
                verbatim.setdefault(word, []).append(at)
            elif word in inputs or lower in inputs:
                with_row.append(at)
                rows.append(index[word if word in inputs else lower])
            elif numbers and _is_number(word):
                ends = np.array([0.0, 1 - 2.0**-53])  # the least and the largest variate
                least, largest = mechanism._unknown(np.array([word] * 2, dtype=object), ends)
                if least == largest == word:
                    verbatim.setdefault(word, []).append(at)
                else:
                    self._shifted[at] = int(least), int(largest)
            elif mechanism.oov == "keep":
                verbatim.setdefault(word, []).append(at)
            elif mechanism.oov == "uniform":
                evenly.append(at)
        self._with_row, self._rows = np.array(with_row, dtype=np.intp), np.array(rows, dtype=np.intp)
        self._drawn_evenly, self._verbatim_at = np.array(evenly, dtype=np.intp), verbatim

    def _can_be_released(self, word: str) -> bool:
        """Tell whether some text can have become this word."""
        mechanism = self.attack.mechanism
        if mechanism.oov == "keep" or getattr(mechanism, "numbers", None):
            return True
        return (
            word in self.attack.channel.output_index
            or word in mechanism.keep
            or word.lower() in mechanism.keep
            or word in self.attack._uniform
        )


def _is_number(word: str) -> bool:
    try:
        return math.isfinite(float(word.replace(",", "")))
    except ValueError:
        return False


def _whole(word: str) -> int | None:
    try:
        return int(word)
    except ValueError:
        return None


def _in_order(table: np.ndarray, places: Sequence[int], ids: np.ndarray) -> np.ndarray:
    """Sums over positions, (n candidates,); `ids` are (length, n candidates) words of candidates."""
    scores = np.zeros(ids.shape[1])
    for place, words in zip(places, ids, strict=True):
        scores += table[place].take(words)
    return scores


def _aligned(table, background, places: Sequence[int], ids: np.ndarray, lost: float, added: float) -> np.ndarray:
    """Sums over all alignments, (n candidates,); the longest candidate first, words that are lacking -1.

    `reached[j]` is the probability of the first j released words, by that of as many added ones; candidate by
    candidate it is scaled so that its largest is one, which `scale` remembers.
    """
    rows = table[places] if places else np.zeros((0, table.shape[1]))
    # Without added words any unit does: that of the likeliest candidate word.
    unit = math.log(added) + background[places] if added else rows.max(axis=1, initial=-np.inf)
    unit = np.where(np.isneginf(unit), 0.0, unit)
    sent = (1 - added) * (1 - lost) * np.exp(rows - unit[:, None])
    reached, scale = np.zeros((len(places) + 1, ids.shape[1])), np.zeros(ids.shape[1])
    reached[0] = 1.0
    if added:
        reached[:] = 1.0
    lengths, ended = (ids >= 0).sum(axis=0), np.empty(ids.shape[1])
    for length, words in enumerate([*ids, None]):
        ends = np.searchsorted(-lengths, -length)  # those from here on end here
        with np.errstate(divide="ignore"):
            ended[ends : len(scale)] = np.log(reached[-1, ends:]) + scale[ends:]
        if words is None or not ends:
            break
        reached, scale = reached[:, :ends], scale[:ends]
        after = reached * ((1 - added) * lost)
        after[1:] += reached[:-1] * sent.take(words[:ends], axis=1)
        reached = np.cumsum(after, axis=0) if added else after
        largest = reached.max(axis=0)
        largest[largest == 0] = 1.0
        reached /= largest
        scale = scale + np.log(largest)
    return ended + unit.sum() + math.log1p(-added)


def _parts(numbers: np.ndarray, ids: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Some candidates at a time."""
    for at in range(0, len(numbers), _CANDIDATES):
        yield numbers[at : at + _CANDIDATES], np.ascontiguousarray(ids[:, at : at + _CANDIDATES])


def _log_choose(n, k) -> np.ndarray:
    """log C(n, k), -inf where k > n."""
    n, k = np.asarray(n, dtype=float), np.asarray(k, dtype=float)
    fits = k <= n
    n = np.where(fits, n, k)
    gamma = scipy.special.gammaln
    return np.where(fits, gamma(n + 1) - gamma(k + 1) - gamma(n - k + 1), -np.inf)
