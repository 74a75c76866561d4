"""Six threat models of linking a release to its original, each with control and baseline.

Main: a document was released, and the attacker, who has it (or a version of it) among N candidates, names it.
Control: another document of its length was released, which is not among the candidates, and the attacker names the
same one; so often it would be accused without having been released. Baseline: the same attack sees lengths alone.
The excess of main over control is what the release gives away; its interval is of documents, by source.
"""

from collections import Counter
from collections.abc import Collection, Sequence
from typing import Any

import numpy as np

from textsan.attacks import Knowledge, Linkage, Ranks
from textsan.channel import Channel
from textsan.evaluation import clustered_difference, clustered_rate
from textsan.mechanisms import ChannelMechanism, Mechanism, make_mechanism
from textsan.priors import Prior
from textsan.sweeps.splits import load_split
from textsan.text.embeddings import Embeddings
from textsan.text.vocabulary import count_words
from textsan_book.studies.experiments import Release, columns, takes_settings

Docs = Sequence[Sequence[str]]

EDITS = {"synonyms": (0.1, 0.3, 0.5), "summary": (0.1, 0.3, 0.5), "quotation": (0.5,)}
"""Kinds of an attacker's copy, and the shares of its words that differ: words replaced by near ones, words left
out anywhere, or all but a run of words left out."""

FALSE_LINKS, CALIBRATED = 1e-4, 1e-2
"""The rates of false links of an attacker who does not know whether the original is there: by the bound that holds
for candidates of the prior, and by the attacker's own text (a few hundred documents calibrate no smaller one)."""

_SIZES = 10, 100, 1000
_ALIKE = 10  # candidates of one length with the most words in common
_NEAR = 10  # words that count as synonyms
_PAIRED = 100  # documents that are released twice
_UNSEEN = 0.1  # share of words that a second release is taken to say nothing of


@takes_settings
def linkages(release: Release, *, n_released: int = 100, n_private: int = 1000, n_shadow: int = 500) -> list[dict]:
    """Measure how often a release is linked to its original, by six threat models.

    Of `n_private` documents `n_released` are released, each once, and looked for among all; the attacker has
    `n_shadow` more, for a prior and a threshold. Rows have threat, version, candidates, main with ends, control,
    baseline, excess with ends, released; and the hits that these were computed from, as text with a number a
    release: named (the chance that it was, over ties and the candidates that are listed, four digits), accused
    (the same of the control) and source (the groups of the intervals).
    """
    world = _World(release, n_released, n_private, n_shadow)
    threats = world.originals, world.versions, world.open_set, world.alike, world.twice, world.kept_words
    return [row for threat in threats for row in threat()]


class _World:
    """The documents of one cell and what became of them."""

    def __init__(self, release: Release, n_released: int, n_private: int, n_shadow: int):
        defence, seed = release.defence, release.seed
        split = load_split(release.dataset, n_private, n_shadow, seed=seed)
        self.split, self.seed, self.n = split, seed, n_released
        counts = count_words(split.shadow)
        self.mechanism = make_mechanism(defence, split.embeddings, counts=counts, epsilon=release.epsilon)
        other = ("custext", 1.0) if defence.startswith("santext") else ("santext", 3.0)
        self.other = make_mechanism(other[0], split.embeddings, epsilon=other[1])
        self.docs = split.private
        self.groups = list(split.sources or range(len(self.docs)))[:n_released]
        absent = of_equal_lengths(self.docs[:n_released], split.population)
        self.absent = [split.population[i] for i in absent]
        left = frozenset(absent)
        self.further = [doc for i, doc in enumerate(split.population) if i not in left]
        self.releases = self.mechanism.sanitize(self.docs[:n_released], seed=seed)
        self.controls = self.mechanism.sanitize(self.absent, seed=seed, first=1 << 20)
        self.knowledge = Knowledge.of(self.mechanism, shadow=split.shadow, seed=seed)

    def originals(self) -> list[dict]:
        """1. The attacker has the original."""
        attack, everything = Linkage.against(self.knowledge), [*self.docs, *self.further]
        self._main, self._control = (
            attack.log_likelihoods(releases, everything) for releases in (self.releases, self.controls)
        )
        n = len(self.docs)
        rows = []
        for size in (*(size for size in _SIZES if size <= n), len(everything)):
            width, scores = n if size <= n else size, (self._main, self._control)
            rates = [Ranks.of(matrix.diagonal(), matrix[:, :width]).success(size) for matrix in scores]
            rates.append(by_length(self.releases, everything[:width]).success(size))
            rows.append(self._row("original", "", size, *rates))
        return rows

    def versions(self) -> list[dict]:
        """2. The attacker has another version of it, and so of all candidates."""
        rows, rng = [], np.random.default_rng([self.seed, 2])
        near = _neighbours(self.split.embeddings, {word for doc in self.docs for word in doc})
        for kind, shares in EDITS.items():
            for share in shares:
                copies = [_edited(doc, kind, share, near, rng) for doc in self.docs]
                given = {"changed": share} if kind == "synonyms" else {"added": share}
                rates = _named(Linkage.against(self.knowledge, **given), self.releases, self.controls, copies)
                rates.append(by_length(self.releases, copies, **given).success())
                rows.append(self._row("version", f"{kind} {share:g}", len(copies), *rates))
        return rows

    def open_set(self) -> list[dict]:
        """3. The original may not be there, and a wrong link has a price."""
        attack = Linkage.against(self.knowledge)
        own = self.mechanism.sanitize(self.split.shadow, seed=self.seed, first=1 << 21)
        present, absent, calibrated = (
            attack.link(releases, self.docs, k=1) for releases in (self.releases, self.controls, own)
        )
        right = Ranks.of(self._main.diagonal(), self._main[:, : len(self.docs)]).success()
        bound = np.log(len(self.docs) / FALSE_LINKS)
        threshold = float(np.quantile(calibrated.log_ratios, 1 - CALIBRATED, method="higher"))
        rows = []
        for version, limit in ((f"bound {FALSE_LINKS:g}", bound), (f"calibrated {CALIBRATED:g}", threshold)):
            claimed, wrongly = (linked.log_ratios > limit for linked in (present, absent))
            rows.append(self._row("open set", version, len(self.docs), right * claimed, wrongly, np.zeros(self.n)))
        return rows

    def alike(self) -> list[dict]:
        """4. All candidates are of one length and have the most words in common."""
        everything = [*self.docs, *self.further]
        columns = [_most_alike(number, everything) for number in range(self.n)]
        complete = [row for row, alike_ones in enumerate(columns) if len(alike_ones) == _ALIKE - 1]
        main, control = np.zeros(self.n), np.zeros(self.n)
        for row in complete:
            for scores, rates in ((self._main, main), (self._control, control)):
                rates[row] = Ranks.of(scores[row, [row]], scores[row, [row, *columns[row]]][None]).success()[0]
        lengths = np.full(self.n, 1 / _ALIKE)
        return [self._row("near copies", "", _ALIKE, main, control, lengths, np.array(complete, dtype=np.intp))]

    def twice(self) -> list[dict]:
        """5. Two releases of one document, on another day or by another mechanism, and no original."""
        rows, n = [], min(_PAIRED, self.n)
        size = min(len(self.docs), 3 * n)
        for version, second in (("another day", self.mechanism), ("another mechanism", self.other)):
            others = second.sanitize(self.docs[:size], seed=self.seed, first=1 << 22)
            first, control = self.releases[:n], self.controls[:n]
            attack = _between(self.mechanism, second, self.split.shadow, [*first, *control], others)
            rates = [*_named(attack, first, control, others), by_length(first, others).success()]
            rows.append(self._row("two releases", version, size, *rates, np.arange(n)))
        return rows

    def kept_words(self) -> list[dict]:
        """6. The attacker looks at the number of words and at those that are kept, and at nothing else."""
        keep = sorted(self.mechanism.keep)
        words = [*keep, "x"]
        rows = np.eye(len(words))
        if keep:
            rows[-1] = [*np.full(len(keep), 0.1 / len(keep)), 0.9]
        blind = Linkage(ChannelMechanism(Channel.from_matrix(rows, words, words)))
        texts = self.releases, self.controls, self.docs
        rates = _named(blind, *(only(frozenset(keep), docs, "x") for docs in texts))
        rates.append(by_length(self.releases, self.docs).success())
        return [self._row("length and kept words", "", len(self.docs), *rates)]

    def _row(self, threat: str, version: str, size: int, main, control, baseline, some=slice(None)) -> dict:
        rates = (np.asarray(one, dtype=float)[some] for one in (main, control, baseline))
        about = {"threat": threat, "version": version, "candidates": size}
        return about | excess_row(*rates, np.array(self.groups)[some])


def excess_row(main: np.ndarray, control: np.ndarray, baseline: np.ndarray, groups: np.ndarray) -> dict[str, Any]:
    """Return the columns of a table for what was linked: rates, excess with its interval by groups, all hits.

    Main, control and baseline are (n,) chances that each source is named.
    """
    row: dict[str, Any] = {**columns(clustered_rate(main, groups), "main_")}
    excess = clustered_difference(main - control, groups)
    row |= {"control": control.mean(), "baseline": baseline.mean()}
    row |= {"excess": excess.value, "low": excess.low, "high": excess.high, "released": len(main)}
    hits = {"named": main, "accused": control, "source": groups}
    return row | {name: " ".join(f"{one:.4g}" for one in values) for name, values in hits.items()}


def of_equal_lengths(docs: Docs, pool: Docs) -> list[int]:
    """Find for each document another of its length, or of the nearest length that is left, none twice."""
    by_length: dict[int, list[int]] = {}
    for number, doc in enumerate(pool):
        by_length.setdefault(len(doc), []).append(number)
    others = []
    for doc in docs:
        nearest = min(by_length, key=lambda length: abs(length - len(doc)))
        others.append(by_length[nearest].pop())
        if not by_length[nearest]:
            del by_length[nearest]
    return others


def by_length(releases: Docs, candidates: Docs, **edits) -> Ranks:
    """Link by lengths alone."""
    blind = ChannelMechanism(Channel.from_matrix([[1.0]], ["x"], ["x"]))
    seen, row = np.unique([len(doc) for doc in releases], return_inverse=True)
    known, column = np.unique([len(doc) for doc in candidates], return_inverse=True)
    pages = ([["x"] * int(length) for length in lengths] for lengths in (seen, known))
    scores = Linkage(blind, Prior(["x"], [1.0]), **edits).log_likelihoods(*pages)[row][:, column]
    return Ranks.of(scores.diagonal(), scores)


def only(keep: Collection[str], docs: Docs, sign: str) -> list[list[str]]:
    """Hide all words of documents but some.

    >>> only({"a"}, [["a", "b"]], "_")
    [['a', '_']]
    """
    return [[word if word in keep else sign for word in doc] for doc in docs]


def _named(attack: Linkage, releases: Docs, controls: Docs, candidates: Docs) -> list[np.ndarray]:
    """Chances, (n,) each, that the candidate of each release is named, and that of its control."""
    return [attack.ranks(docs, candidates, range(len(docs))).success() for docs in (releases, controls)]


def _neighbours(embeddings: Embeddings, words: set[str]) -> dict[str, list[str]]:
    """The nearest words of each by cosine."""
    known = sorted(words & embeddings.index.keys())
    vectors = np.asarray(embeddings.vectors, dtype=np.float32)
    vectors = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
    neighbours = {}
    for at in range(0, len(known), 256):
        block = known[at : at + 256]
        near = vectors[[embeddings.index[word] for word in block]] @ vectors.T
        best = np.argpartition(-near, _NEAR, axis=1)[:, : _NEAR + 1]
        for word, row in zip(block, best, strict=True):
            neighbours[word] = sorted({embeddings.words[i] for i in row} - {word})[:_NEAR]
    return neighbours


def _edited(doc: Sequence[str], kind: str, share: float, near, rng: np.random.Generator) -> list[str]:
    """An attacker's copy of a document: see `EDITS`."""
    if kind == "synonyms":
        changed = rng.random(len(doc)) < share
        picks = rng.random(len(doc))
        return [
            near[word][int(pick * len(near[word]))] if change and word in near else word
            for word, change, pick in zip(doc, changed, picks, strict=True)
        ]
    if kind == "summary":
        stays = rng.random(len(doc)) >= share
        return [word for word, stay in zip(doc, stays, strict=True) if stay]
    length = round(len(doc) * (1 - share))
    first = rng.integers(len(doc) - length + 1)
    return list(doc[first : first + length])


def _most_alike(number: int, docs: Docs) -> list[int]:
    """Documents of the same length with the most words in common with one, the most alike first."""
    own = Counter(docs[number])
    rivals = [i for i, doc in enumerate(docs) if len(doc) == len(docs[number]) and i != number]
    rivals.sort(key=lambda i: -(own & Counter(docs[i])).total())
    return rivals[: _ALIKE - 1]


def _between(first: Mechanism, second: Mechanism, shadow: Docs, releases: Docs, others: Docs) -> Linkage:
    """Make an attacker who has a second release for an original: Pr(y | z) = sum_x Pr(x | z) Pr(y | x).

    Words x are those of the shadow text, with their frequencies; of others a release says nothing.
    """
    counts = count_words(shadow)
    words = [word for word in counts if word in first.channel.input_index and word in second.channel.input_index]
    p = np.array([counts[word] for word in words], dtype=float)
    p /= p.sum()
    seen, known = (
        sorted({word for doc in docs for word in doc if word in mechanism.channel.output_index})
        for mechanism, docs in ((first, releases), (second, others))
    )
    joint = _entries(second.channel, known, words) * p
    weights = joint.sum(axis=1)
    posterior = np.where(weights[:, None] > 0, joint / np.maximum(weights, 1e-300)[:, None], p)
    entries = posterior @ _entries(first.channel, seen, words).T
    rest = np.maximum(1 - entries.sum(axis=1, keepdims=True), 0)
    matrix = np.hstack([entries, rest])
    channel = Channel.from_matrix(matrix / matrix.sum(axis=1, keepdims=True), known, [*seen, "\N{NULL}"])
    prior = Prior(known, (weights + 1e-12) / (weights + 1e-12).sum())
    return Linkage(ChannelMechanism(channel, oov="keep"), prior, changed=_UNSEEN)


def _entries(channel: Channel, outputs: list[str], inputs: list[str]) -> np.ndarray:
    """Pr(y | x) of some of both, (n outputs, n inputs), never all rows at once."""
    rows = np.array([channel.input_index[word] for word in inputs])
    blocks = (outputs[at : at + 256] for at in range(0, len(outputs), 256))
    return np.concatenate([np.exp(channel.log_columns(block)[:, rows]) for block in blocks])
