"""Which epsilon? For each mechanism the largest that keeps a target, by what it rests on: columns never mixed.

By the guarantee alone and by the exact channel with a public prior nothing of the text is used but what its reader
may own. By the strongest attack measured the text chooses, and what that promises is a theorem (`promises`). All
epsilons are of one grid, fixed beforehand, so that one which is said holds and none between is claimed.
"""

import hashlib
import math
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, field
from functools import cache, partial
from typing import Any

import numpy as np

from textsan.attacks import ContextFreeBayes, Knowledge, Linkage
from textsan.auditing import promises, use
from textsan.auditing.attacking import Means, hit, markov
from textsan.auditing.linking import success
from textsan.auditing.material import Material, material, tokens_of
from textsan.auditing.quotes import private_words, unquoted
from textsan.auditing.words import promised
from textsan.base import checks
from textsan.base.plugins import Needed
from textsan.leakage import bayes_vulnerability, linkage_limit, linkage_success
from textsan.mechanisms import MECHANISMS, Mechanism, make_mechanism
from textsan.priors import MarkovModel
from textsan.text.embeddings import Embeddings
from textsan.text.loading import load_embeddings

EPSILONS = tuple(
    float(f"{step}e{power}") for power in range(-2, 2) for step in (1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8)
)
"""The grid: ten values a decade, from 0.01 to 80."""

COLUMNS = ("guarantee", "channel", "source", "next document", "next text")
"""What an epsilon can rest on: never one in place of another."""

LARGEST = 60
"""Scored words of a document that count, at most: how far one document can go decides how many are needed."""

READ = 120
"""Words of a document that attackers read, at most: to read on takes long, and nothing is promised of it."""

SAMPLE = 1_000
"""Documents that choose, unless another number is asked for."""

_BELOW = 8  # steps of the grid below the channel's own choice at which testing begins, at the least
_FLAT = 0.002  # what a channel may give away beyond the least epsilon and still be taken for flat
_DRAWS = 60  # documents whose linkage is computed
_WORDS = 20_000  # of the public vocabulary
_PART = 250  # documents that one worker attacks at a time, however many workers there are


@dataclass(frozen=True)
class Target:
    """What is to be kept.

    Args:
        what: "words", the share of scored words that are named; or "documents", that of linked documents.
        share: at most, above 0 and below 1.
        among: for documents, how many candidates there are.
    """

    what: str
    share: float
    among: int = 1_000

    def __str__(self) -> str:
        hundred = f"at most {100 * self.share:g} of 100"
        if self.what == "words":
            return f"{hundred} protected words named"
        return f"{hundred} documents found among {self.among:,}"


@dataclass(frozen=True)
class Choice:
    """The largest epsilon of a mechanism, by what it rests on; None where none is seen to keep a target.

    Attributes:
        mechanism: its name in the registry.
        targets: what is kept, in words.
        guarantee: by the guarantee alone; of documents, of one of the median length of the attacker's text, among
            others of that length, all words in the vocabulary. Longer ones may be linked more often.
        channel: by the exact channel and a public prior, for guesses from single words, and documents of
            independent words and that length.
        source: by the strongest attack, for the rate of the source.
        next_document: the same, for the next document.
        next_text: the same, for the next text, by each attack by itself: that one of two exceeds the share has
            twice the chance at most. None, too, where none was asked for.
        promise: what the last three promise, a sentence each.
        measured: the epsilons that were tried, with the share that each attack reached: rows epsilon, target,
            attack, share.
        reasons: why there is none at `source`, a clause for each target that is not kept; else empty.
        excess: where there is none, the most by which an attack is above a target at the least epsilon tried.
        use: what a task keeps at `source`; None without labels, or where there is no epsilon.
        documents: that chose.
    """

    mechanism: str
    targets: list[str]
    guarantee: float | None
    channel: float | None
    source: float | None
    next_document: float | None
    next_text: float | None
    promise: dict[str, str]
    measured: list[dict[str, Any]] = field(repr=False)
    reasons: list[str]
    excess: float | None
    use: dict[str, Any] | None
    documents: int

    @property
    def epsilon(self) -> float | None:
        """That of `source`: the largest whose rate at the source keeps the target, with the stated confidence."""
        return self.source

    def row(self) -> dict[str, Any]:
        """All of it, for json."""
        return asdict(self)


def choose_epsilon(
    texts: Iterable,
    mechanism: str = "custext+",
    *,
    words: float | None = None,
    documents: float | None = None,
    among: int = 1_000,
    shadow: Iterable | None = None,
    labels: Sequence[str | None] | None = None,
    ahead: int | None = None,
    alpha: float = 0.05,
    sample: int = SAMPLE,
    embeddings: Embeddings | None = None,
    quotes: bool = True,
    seed: int = 0,
    workers: int = 1,
    scheduler: str | None = None,
    progress: Callable[[str], None] = lambda said: None,
    **parameters,
) -> Choice:
    """The largest epsilon that keeps a target on text of a kind, with what it rests on.

    Attacks are the context-free and the Markov attack for words, told which are scored, and linkage by exact
    likelihood for documents; each is trained on the attacker's text. A target is kept where all of them keep it.
    The answer depends neither on the order of the documents nor on how many workers there are.

    Args:
        texts: the documents that choose, independent ones of one source: strings, records or token lists.
        mechanism: a name in the registry that has an epsilon and an exact channel.
        words: the share of scored words that may be named, above 0 and below 1; None is no such target.
        documents: the share of documents that may be found among `among`; None is no such target.
        among: the original and others, which are of the attacker's text.
        shadow: texts that an attacker may own, never those that choose; None is public sentences.
        labels: a class a document, for what a task keeps.
        ahead: documents of a text to come that have a scored word, for the promise about it, a nineteenth of those
            that choose at most
            where alpha is 0.05; None is no such promise.
        alpha: chance that a promise is broken, of each target by itself, and for the next text of each attack;
            above 0 and below 1.
        sample: documents that choose, at most.
        embeddings: the public vocabulary; None is the 20,000 most frequent words of the default vectors.
        quotes: whether errors may show words of the text. A choice never does.
        seed: of releases, and of the order of documents.
        workers: processes.
        scheduler: address of a dask scheduler, whose workers are used instead.
        progress: called with what is being done.
        parameters: others of the mechanism, by name.

    Raises:
        ValueError: no target, no epsilon to choose, too few documents for `ahead`, or what `audit` refuses.
        ConnectionError: no scheduler answers, or it has no workers.

    >>> from textsan import Embeddings
    >>> line = Embeddings(["a", "b", "c", "d"], [[0.0], [1.0], [5.0], [6.0]])
    >>> docs = [[x, y] for x in "abcd" for y in "abcd"] * 10
    >>> choice = choose_epsilon(docs, "custext", words=0.9, shadow=docs, embeddings=line, k=2)
    >>> choice.guarantee, choice.channel >= choice.guarantee
    (2.0, True)
    """
    targets = _targets(words, documents, among)
    promises.checked_share("alpha", alpha)
    if "epsilon" not in MECHANISMS[mechanism].parameters():
        raise ValueError(f"mechanism: {mechanism} has no epsilon to choose; pass another")
    if "epsilon" in parameters:
        raise ValueError("epsilon: it is what is chosen; leave it out")
    texts = list(texts) if not isinstance(texts, str) else texts
    checks.whole("sample", sample, low=1)
    if ahead is not None:  # what cannot be promised is told before anything is tried
        promises.blocks(min(len(texts), sample), ahead, alpha)
    vocabulary = load_embeddings().frequent(_WORDS) if embeddings is None else embeddings
    made = make_mechanism(mechanism, vocabulary, epsilon=EPSILONS[0], **parameters)
    means = Means(checks.whole("workers", workers, low=1), scheduler)

    def work() -> Choice:
        some, classes = ordered(texts, labels, seed)
        found = material(some, made, shadow=shadow, seed=seed)
        chooser = Chooser(mechanism, found, sample=sample, means=means, progress=progress)
        return chooser.choose(targets, labels=classes, ahead=ahead, alpha=alpha)

    return unquoted(None if quotes else private_words(texts, made.inputs), work)


def ordered(texts: Iterable, labels: Sequence[str | None] | None, seed: int) -> tuple[list, list | None]:
    """Documents in an order that is as good as drawn, and the same in whichever order they are given.

    A document's place is a hash of its words, of the seed and of how many equal ones were before it, so that equal
    ones do not come together: gamblers bet on the next document, which the last must say nothing of.

    Args:
        texts, labels: as for `choose_epsilon`.
        seed: of the order.

    >>> ordered(["a", "b", "b"], None, 0) == ordered(["b", "a", "b"], None, 0)
    True
    """
    if isinstance(texts, str):
        raise ValueError("texts: one string; pass a list of texts, one a document")
    texts = list(texts)
    if labels is not None and len(labels) != len(texts):
        raise ValueError(f"labels: {len(labels)} for {len(texts)} documents; pass one a document")
    words = [tuple(tokens_of(text)) for text in texts]
    classes = ["" for _ in texts] if labels is None else [label or "" for label in labels]
    met: Counter = Counter()
    places = {}
    for at in sorted(range(len(texts)), key=lambda at: (words[at], classes[at])):
        met[words[at]] += 1
        said = repr((seed, words[at], met[words[at]])).encode("utf-8", "surrogatepass")
        places[at] = hashlib.sha256(said).digest()
    order = sorted(range(len(texts)), key=places.__getitem__)
    return [texts[at] for at in order], None if labels is None else [labels[at] for at in order]


class Chooser:
    """What chooses: the attacker, the documents, and all that was found of them, which no target changes.

    Args:
        mechanism: its name in the registry.
        found: its documents stand in an order which says nothing; its mechanism is of any epsilon.
        sample: documents that choose, at most.
        means: what makes the attacks; None is this process.
        progress: called with what is being done.
    """

    def __init__(
        self,
        mechanism: str,
        found: Material,
        *,
        sample: int = SAMPLE,
        means: Means | None = None,
        progress: Callable[[str], None] = lambda said: None,
    ):
        self.mechanism, self.found, self._sample, self._progress = mechanism, found, sample, progress
        self._means = means or Means()
        self._docs = [found.docs[d] for d in np.unique(found.documents)[:sample]]
        self._model = MarkovModel.fit(found.shadow, words=found.mechanism.channel.inputs)
        self._weights: dict[float, float] = {}
        self._tried: dict[tuple[str, int], Tried] = {}
        self._promised = cache(partial(_promised, found))
        self._exact = cache(partial(_exact, found))

    def choose(
        self,
        targets: Sequence[Target],
        *,
        labels: Sequence[str | None] | None = None,
        ahead: int | None = None,
        alpha: float = 0.05,
    ) -> Choice:
        """The choice for targets that are kept together.

        Args:
            targets: one or more.
            labels, ahead, alpha: as for `choose_epsilon`.
        """
        if ahead is not None:  # those without a scored word do not count
            promises.blocks(len(self._docs), ahead, alpha)
        found_by = dict.fromkeys(COLUMNS, math.inf)

        def keeps(column: str, epsilon: float) -> None:
            found_by[column] = min(found_by[column], epsilon)

        starts = []
        for target in targets:
            self._progress(f"{self.mechanism}: guarantee and channel, {target}")
            asked = target.what, target.among
            keeps("guarantee", _largest(partial(self._promised, *asked), target.share))
            public = _largest(partial(self._exact, *asked), target.share)
            keeps("channel", public)
            starts.append(self._start(target, public))
        # All targets are tested from the same epsilon on, so that the smaller one was tested for each.
        levels = EPSILONS[min(starts) :]
        measured: list[dict[str, Any]] = []
        reasons: list[str] = []
        above: list[float] = []
        for target in targets:
            tried = self.tried(target.what, target.among)
            chosen, reached = _choices(tried, target.share, levels, alpha, ahead)
            for column, epsilon in chosen.items():
                keeps(column, epsilon or 0.0)
            measured += [{"epsilon": e, "target": str(target)} | row for e in reached for row in tried.rows(e)]
            if chosen["source"] is None:
                reasons.append(self._reason(target, tried, levels[0]))
                above.append(max(row["share"] for row in tried.rows(levels[0])) - target.share)
        best = _said(found_by["source"])
        kept = None
        if labels is not None and best is not None:
            self._progress(f"{self.mechanism}: what a task keeps at {best:g}")
            found = self.found
            again = material(
                found.texts, found.mechanism.with_(epsilon=best), shadow=found.shadow, seed=found.seed
            )
            kept = use.kept(again, labels, self._sample)
        guarantee, channel, source, document, text = (_said(found_by[column]) for column in COLUMNS)
        return Choice(
            self.mechanism,
            [str(target) for target in targets],
            guarantee,
            channel,
            source,
            document,
            text,
            _promises(targets, len(self._docs), usual(self.found), alpha, ahead),
            measured,
            reasons,
            max(above, default=None),
            kept,
            len(self._docs),
        )

    def _start(self, target: Target, public: float) -> int:
        """The number of the epsilon at which testing begins: no document that chooses has a say in it.

        That is some steps below the channel's own choice, and not where the channel is still as flat as at the
        least epsilon: no smaller one would hide more. A channel that never rises gives all away from the least on.
        """
        gives = partial(self._exact, target.what, target.among)
        lowest, end = 0, len(EPSILONS)
        if public:
            lowest, end = max(0, EPSILONS.index(public) - _BELOW), EPSILONS.index(public) + 1
        floor = gives(EPSILONS[0])
        flat = _largest(gives, floor + min(_FLAT, (1 - floor) / 100), EPSILONS[lowest:end])
        return EPSILONS.index(flat) if 0 < flat < EPSILONS[-1] else lowest

    def _reason(self, target: Target, tried: "Tried", least: float) -> str:
        """Why no epsilon is promised for a target: what none changes, else what was measured at the least."""
        worst = max(tried.rows(least), key=lambda row: row["share"])
        taken = f"at {least:g}, the least that was tried, {100 * worst['share']:.1f} of 100 by {worst['attack']}"
        if target.what == "documents" and tried.by_length > target.share:
            said = f"length alone names {100 * tried.by_length:.1f} of 100, and no epsilon changes a length"
            return f"{said}; {taken}"
        if worst["share"] <= target.share:
            return f"{taken}, which keeps it, but {len(self._docs):,} documents are too few to promise it"
        alone = self._exact(target.what, target.among, EPSILONS[0])
        if target.what == "words" and alone > target.share:
            said = f"single words give away {100 * alone:.1f} of 100 by the channel and public frequencies"
            return f"{said} at {EPSILONS[0]:g} already; {taken}"
        return taken

    def tried(self, what: str, among: int = 1_000) -> "Tried":
        """What is hit of the documents that choose.

        Args:
            what, among: of a target.
        """
        if (what, among) not in self._tried:
            self._tried[what, among] = self.on(self._docs, what, among)
        return self._tried[what, among]

    def on(self, docs: Sequence[Sequence[str]], what: str, among: int = 1_000, *, first: int = 0) -> "Tried":
        """What the same attacks hit of any documents.

        Args:
            docs: token lists.
            what, among: of a target.
            first: number of the first document, of the noise: other documents get other noise.
        """
        return Tried(self, docs, what, among, first)


def _targets(words: float | None, documents: float | None, among: int) -> list[Target]:
    targets = []
    for what, share in (("words", words), ("documents", documents)):
        if share is not None:
            if not 0 < checks.number(what, share) < 1:
                raise ValueError(f"{what}: {share!r} is out of range; pass a share above 0 and below 1")
            targets.append(Target(what, share, checks.whole("among", among, low=2)))
    if not targets:
        raise ValueError("words: no target; pass words=0.2, documents=0.05, or both")
    return targets


def _largest(gives: Callable[[float], float], most: float, levels: Sequence[float] = EPSILONS) -> float:
    """The largest of some epsilons that gives at most so much, where larger ones give more; 0 if none does."""
    low, high = 0, len(levels)  # the first `low` keep it, none from `high` on is taken to
    while low < high:
        middle = (low + high) // 2
        if gives(levels[middle]) <= most:
            low = middle + 1
        else:
            high = middle
    return levels[low - 1] if low else 0.0


def _promised(found: Material, what: str, among: int, epsilon: float) -> float:
    """The most that the guarantee alone allows."""
    mechanism = found.mechanism.with_(epsilon=epsilon)
    guarantee = mechanism.guarantee
    if what == "words":
        return promised(guarantee, found.population)
    plain = guarantee.definition == "DP" and not mechanism.keep and mechanism.oov != "keep"
    return linkage_limit(guarantee.epsilon, _length(found), among).value if plain else 1.0


def _exact(found: Material, what: str, among: int, epsilon: float) -> float:
    """What the channel gives away under the prior of the attacker's text; of linkage the upper end."""
    mechanism = found.mechanism.with_(epsilon=epsilon)
    if what == "words":
        return bayes_vulnerability(found.population, mechanism.channel)
    prior = Knowledge.of(mechanism, shadow=found.shadow).unigram()
    return linkage_success(prior, mechanism.channel, _length(found), among, draws=_DRAWS, seed=found.seed).high


def _length(found: Material) -> int:
    """The words of a usual document, of the attacker's text: how long those are that choose is not looked at."""
    return int(np.median([len(doc) for doc in found.shadow if doc]))


def usual(found: Material) -> int:
    """Scored words of a document that count, from its beginning: in nineteen of twenty of the attacker's all."""
    words = [sum(word in found.attacked for word in doc) for doc in found.shadow]
    return int(np.clip(np.quantile(words, 0.95), 1, LARGEST))


def _choices(
    tried: "Tried", share: float, levels: Sequence[float], alpha: float, ahead: int | None
) -> tuple[dict[str, float | None], list[float]]:
    """The largest of some levels with each promise, and those that were tried: until no promise can reach further.

    Each column ends at the first level that it does not keep, so that later ones cannot change it.
    """
    given: dict[str, Any] = {"words": tried.sizes, "share": share}
    reached: list[list[np.ndarray]] = []
    found: dict[str, float | None] = {"source": None}
    ended = False
    for level in levels:
        reached.append(tried.hits(level))
        some, by_attack = levels[: len(reached)], list(zip(*reached, strict=True))
        if not ended:
            rejected = promises.source_rate([level], tried.hits, **given, largest=tried.largest, alpha=alpha)
            found["source"], ended = rejected or found["source"], rejected is None
        document = [promises.next_document(some, hits, **given, largest=tried.largest) for hits in by_attack]
        found["next document"] = min(one or 0.0 for one in document)
        if ahead is not None:
            text = [promises.next_text(some, hits, **given, documents=ahead, alpha=alpha) for hits in by_attack]
            found["next text"] = min(one or 0.0 for one in text)
        if level not in found.values():
            break
    return found, list(levels[: len(reached)])


class Tried:
    """What the attacks hit of some documents, at each epsilon that is asked for; made by `Chooser.on`.

    Attributes:
        sizes: (documents,) words of each that count, or ones.
        largest: the most of them.
    """

    def __init__(self, chooser: Chooser, docs: Sequence[Sequence[str]], what: str, among: int, first: int):
        self._of, self._what, self._among, self._first = chooser, what, among, first
        self._docs = [list(doc)[: READ if what == "words" else None] for doc in docs]
        self._seconds: float | None = None
        self._known: dict[float, dict[str, np.ndarray]] = {}
        self.largest, self._scored = usual(chooser.found), []
        for doc in self._docs:
            scored = [i for i, word in enumerate(doc) if word in chooser.found.attacked]
            self._scored.append(scored[: self.largest])
        self.sizes = np.array([len(scored) for scored in self._scored], dtype=float)
        if what == "documents":
            self.sizes, self.largest = np.ones(len(self._docs)), 1

    def hits(self, epsilon: float) -> list[np.ndarray]:
        """Hits of each attack, document by document."""
        return list(self.named(epsilon).values())

    def named(self, epsilon: float) -> dict[str, np.ndarray]:
        """The same by the name of each attack."""
        if epsilon not in self._known:
            self._of._progress(f"{self._of.mechanism} at {epsilon:g}: {self._what}{self._estimate(epsilon)}")
            began = time.monotonic()
            found = self._of.found
            mechanism = found.mechanism.with_(epsilon=epsilon)
            released = mechanism.sanitize(self._docs, found.seed, first=self._first)
            tries = partial(self._words, epsilon) if self._what == "words" else self._documents
            self._known[epsilon] = tries(mechanism, released)
            self._seconds = time.monotonic() - began
        return self._known[epsilon]

    def _estimate(self, epsilon: float) -> str:
        """How long it may take, by the epsilon before it: at most to the end of the grid."""
        if self._seconds is None:
            return ""
        left = sum(one >= epsilon for one in EPSILONS)
        minutes = math.ceil(left * self._seconds / 60)
        return f" ({self._seconds:.1f} s for the last epsilon; at most {left} more, {minutes} min)"

    def rows(self, epsilon: float) -> list[dict[str, Any]]:
        """The share that each attack reached at an epsilon, for json."""
        hits = self.named(epsilon).items()
        return [{"attack": name, "share": float(found.sum() / self.sizes.sum())} for name, found in hits]

    def _words(self, epsilon: float, mechanism: Mechanism, released) -> dict[str, np.ndarray]:
        found, weights = self._of.found, self._of._weights
        knowledge = Knowledge.of(mechanism, shadow=found.shadow, attacked=found.attacked, seed=found.seed)
        reader = markov(knowledge, self._of._model, weights.get(epsilon))
        weights[epsilon] = reader.weight
        return {
            name: np.concatenate(list(self._of._means.done(_named, self._parts(attack, released))))
            for name, attack in (("context-free", ContextFreeBayes.against(knowledge)), ("markov", reader))
        }

    def _parts(self, attack: Any, released) -> list[tuple]:
        """The documents in parts, whose size no number of workers changes."""
        parts = [slice(at, at + _PART) for at in range(0, len(self._docs), _PART)]
        return [(Needed(), attack, released[part], self._docs[part], self._scored[part]) for part in parts]

    @property
    def by_length(self) -> float:
        """The share of documents that are found by who knows how many words they have, and nothing else."""
        others = np.array([len(doc) for doc in self._others()])
        own = np.array([len(doc) for doc in self._docs])
        same = np.where(own[:, None] == np.append(others, 0), 0.0, -np.inf)
        same[:, -1] = 0.0  # the document itself
        return float(success(same, np.zeros(len(own)), self._among).mean())

    def _others(self) -> list[Sequence[str]]:
        """The documents of the attacker's that a document is sought among."""
        others = [doc for doc in self._of.found.shadow if doc]
        if len(others) < self._among - 1:
            what = f"{self._among} need as many other documents but one, and the attacker's text has"
            raise ValueError(f"among: {what} {len(others)}; pass fewer, or more text as shadow")
        return others

    def _documents(self, mechanism: Mechanism, released) -> dict[str, np.ndarray]:
        others = self._others()
        attack = Linkage.against(Knowledge.of(mechanism))
        work = partial(_linked, others=others, among=self._among)
        return {"linkage": np.concatenate(list(self._of._means.done(work, self._parts(attack, released))))}


def _named(_: Needed, attack, released, docs, scored) -> np.ndarray:
    """How many scored words of each document are named."""
    positions = [(d, i) for d, those in enumerate(scored) for i in those]
    right = hit(attack, released, positions, [docs[d][i] for d, i in positions])
    return np.bincount([d for d, _ in positions], weights=right, minlength=len(docs))


def _linked(_: Needed, attack, released, docs, scored, *, others, among: int) -> np.ndarray:
    """The chance of each document to be named among itself and others."""
    table = attack.log_likelihoods(released, [*docs, *others])
    own, n = np.diagonal(table), len(docs)
    return success(np.hstack([table[:, n:], own[:, None]]), own, among)


def _promises(
    targets: Sequence[Target], documents: int, largest: int, alpha: float, ahead: int | None
) -> dict[str, str]:
    what = " and ".join(map(str, targets))
    sure = f"{100 * (1 - alpha):g} of 100"
    if len(targets) > 1:  # each has its own alpha
        sure += f" (each target by itself; both at once in {max(0, 100 * (1 - 2 * alpha)):g})"
    base = f"These attacks, trained on other documents; {documents:,} documents that chose, used once."
    if any(target.what == "words" for target in targets):
        base += (
            f" Of each document its first {largest} scored words count, of the first {READ} words, which are read."
        )
    said = {
        "source": f"In {sure} such choices the rate of the source is {what}. {base} Documents are independent.",
        "next_document": f"Over the next document and those that chose: {what}, in expectation. {base}",
    }
    if ahead is not None:
        said["next_text"] = (
            f"In {sure} such choices, for each attack by itself, the next text of {ahead:,} documents with a "
            f"scored word has {what}. {base}"
        )
    said["guarantee, channel"] = (
        "Guesses from one released word, by frequencies of the attacker's text: who reads sentences may do better."
    )
    said["not"] = "None of it holds for an attack that is invented later, or for text of another source."
    return said


def _said(epsilon: float) -> float | None:
    return epsilon if 0 < epsilon < math.inf else None
