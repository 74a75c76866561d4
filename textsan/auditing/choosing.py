"""Which epsilon? For each mechanism the largest that keeps a target, by what it rests on: columns never mixed.

By the guarantee alone and by the exact channel with a public prior nothing of the text is used but what its reader
may own. By the strongest attack measured the text chooses, and what that promises is a theorem (`promises`). All
epsilons are of one grid, fixed beforehand, so that one which is said holds and none between is claimed.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from typing import Any

import numpy as np

from textsan.attacks import ContextFreeBayes, Knowledge, Linkage
from textsan.auditing import promises, use
from textsan.auditing.attacking import markov
from textsan.auditing.linking import success
from textsan.auditing.material import Material, material
from textsan.auditing.words import promised
from textsan.base import checks
from textsan.leakage import bayes_vulnerability, linkage_limit, linkage_success
from textsan.mechanisms import MECHANISMS, Mechanism, make_mechanism
from textsan.priors import MarkovModel
from textsan.text.embeddings import Embeddings
from textsan.text.loading import load_embeddings

EPSILONS = tuple(
    float(f"{step}e{power}") for power in range(-2, 2) for step in (1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8)
)
"""The grid: ten values a decade, from 0.01 to 80."""

LARGEST = 60
"""Scored words of a document that count, at most: how far one document can go decides how many are needed."""

SAMPLE = 1_000
"""Documents that choose, unless another number is asked for."""

_BELOW = 8  # steps of the grid below the channel's own choice at which testing begins
_DRAWS = 60  # documents whose linkage is computed
_WORDS = 20_000  # of the public vocabulary


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
        guarantee: by the guarantee alone.
        channel: by the exact channel and a public prior, for guesses from single words and documents of
            independent words.
        source: by the strongest attack, for the rate of the source.
        next_document: the same, for the next document.
        next_text: the same, for the next text; None, too, where none was asked for.
        promise: what the last three promise, a sentence each.
        measured: the epsilons that were tried, with the share that each attack reached: rows epsilon, target,
            attack, share.
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
    seed: int = 0,
    progress: Callable[[str], None] = lambda said: None,
    **parameters,
) -> Choice:
    """The largest epsilon that keeps a target on text of a kind, with what it rests on.

    Attacks are the context-free and the Markov attack for words, told which are scored, and linkage by exact
    likelihood for documents; each is trained on the attacker's text. A target is kept where all of them keep it.

    Args:
        texts: the documents that choose, independent ones of one source: strings, records or token lists.
        mechanism: a name in the registry that has an epsilon and an exact channel.
        words: the share of scored words that may be named, above 0 and below 1; None is no such target.
        documents: the share of documents that may be found among `among`; None is no such target.
        among: the original and others, which are of the attacker's text.
        shadow: texts that an attacker may own, never those that choose; None is public sentences.
        labels: a class a document, for what a task keeps.
        ahead: documents of a text to come, for the promise about it; None is no such promise.
        alpha: chance that a promise is broken, of each target by itself.
        sample: documents that choose, at most.
        embeddings: the public vocabulary; None is the 20,000 most frequent words of the default vectors.
        seed: of releases, and of the order of documents.
        progress: called with what is being done.
        parameters: others of the mechanism, by name.

    Raises:
        ValueError: no target, no epsilon to choose, or what `audit` refuses.

    >>> from textsan import Embeddings
    >>> line = Embeddings(["a", "b", "c", "d"], [[0.0], [1.0], [5.0], [6.0]])
    >>> docs = [[x, y] for x in "abcd" for y in "abcd"] * 10
    >>> choice = choose_epsilon(docs, "custext", words=0.9, shadow=docs, embeddings=line, k=2)
    >>> choice.guarantee, choice.channel >= choice.guarantee
    (2.0, True)
    """
    targets = _targets(words, documents, among)
    if "epsilon" not in MECHANISMS[mechanism].parameters():
        raise ValueError(f"mechanism: {mechanism} has no epsilon to choose; pass another")
    vocabulary = load_embeddings().frequent(_WORDS) if embeddings is None else embeddings
    made = make_mechanism(mechanism, vocabulary, epsilon=EPSILONS[0], **parameters)
    texts = list(texts) if not isinstance(texts, str) else texts
    found = material(texts, made, shadow=shadow, seed=seed)
    chosen = np.random.default_rng([seed, 2]).permutation(found.sampled(len(texts)))[
        : checks.whole("sample", sample, 1)
    ]
    found_by = {column: math.inf for column in ("guarantee", "channel", "source", "next document", "next text")}

    def keeps(column: str, epsilon: float) -> None:
        found_by[column] = min(found_by[column], epsilon)

    starts = []
    for target in targets:
        progress(f"{mechanism}: guarantee and channel, {target}")
        keeps("guarantee", _largest(partial(_promised, made, found, target), target.share))
        public = _largest(partial(_exact, made, found, target), target.share)
        keeps("channel", public)
        starts.append(max(0, EPSILONS.index(public) - _BELOW) if public else 0)
    # All targets are tested from the same epsilon on, so that the smaller one was tested for each.
    start = min(starts)
    measured: list[dict[str, Any]] = []
    for target in targets:
        tried = _Tried(found, made, chosen, target, progress)
        for column, epsilon in tried.choices(EPSILONS[start:], alpha, ahead).items():
            keeps(column, epsilon or 0.0)
        measured += tried.rows()
    best = _said(found_by["source"])
    kept = None
    if labels is not None and best is not None:
        progress(f"{mechanism}: what a task keeps at {best:g}")
        kept = use.kept(material(texts, made.with_(epsilon=best), shadow=found.shadow, seed=seed), labels, sample)
    return Choice(
        mechanism,
        [str(target) for target in targets],
        _said(found_by["guarantee"]),
        _said(found_by["channel"]),
        best,
        _said(found_by["next document"]),
        _said(found_by["next text"]),
        _promises(targets, len(chosen), _usual(found), alpha, ahead),
        measured,
        kept,
        len(chosen),
    )


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


def _largest(gives: Callable[[float], float], most: float) -> float:
    """The largest epsilon of the grid that gives at most so much, where larger ones give more; 0 if none does."""
    low, high = 0, len(EPSILONS)  # the first `low` keep it, none from `high` on is taken to
    while low < high:
        middle = (low + high) // 2
        if gives(EPSILONS[middle]) <= most:
            low = middle + 1
        else:
            high = middle
    return EPSILONS[low - 1] if low else 0.0


def _promised(made: Mechanism, found: Material, target: Target, epsilon: float) -> float:
    """The most that the guarantee alone allows."""
    mechanism = made.with_(epsilon=epsilon)
    guarantee = mechanism.guarantee
    if target.what == "words":
        return promised(guarantee, found.population)
    plain = guarantee.definition == "DP" and not mechanism.keep and mechanism.oov != "keep"
    return linkage_limit(guarantee.epsilon, _length(found), target.among).value if plain else 1.0


def _exact(made: Mechanism, found: Material, target: Target, epsilon: float) -> float:
    """What the channel gives away under the prior of the attacker's text; of linkage the upper end."""
    mechanism = made.with_(epsilon=epsilon)
    if target.what == "words":
        return bayes_vulnerability(found.population, mechanism.channel)
    prior = Knowledge.of(mechanism, shadow=found.shadow).unigram()
    length, seed = _length(found), found.seed
    return linkage_success(prior, mechanism.channel, length, target.among, draws=_DRAWS, seed=seed).high


def _length(found: Material) -> int:
    """The words of a usual document, of the attacker's text: how long those are that choose is not looked at."""
    return int(np.median([len(doc) for doc in found.shadow if doc]))


def _usual(found: Material) -> int:
    """Scored words of a document that count, from its beginning: in nineteen of twenty of the attacker's all."""
    words = [sum(word in found.attacked for word in doc) for doc in found.shadow]
    return int(np.clip(np.quantile(words, 0.95), 1, LARGEST))


class _Tried:
    """What attacks hit of the documents that choose, at each epsilon that is asked for."""

    def __init__(self, found: Material, made: Mechanism, chosen: np.ndarray, target: Target, progress):
        self._found, self._made, self._target, self._progress = found, made, target, progress
        self._docs = [found.docs[d] for d in chosen]
        self._known: dict[float, dict[str, np.ndarray]] = {}
        self._positions: list[tuple[int, int]] = []
        largest = _usual(found)
        for d, doc in enumerate(self._docs):
            self._positions += [(d, i) for i, word in enumerate(doc) if word in found.attacked][:largest]
        self._model = MarkovModel.fit(found.shadow, words=made.channel.inputs)
        if target.what == "words":
            self.sizes = np.bincount([d for d, _ in self._positions], minlength=len(self._docs)).astype(float)
            self.largest = largest
        else:
            self.sizes, self.largest = np.ones(len(self._docs)), 1

    def choices(self, levels: Sequence[float], alpha: float, ahead: int | None) -> dict[str, float | None]:
        """The largest of some levels with each promise; levels are tried as long as one may still be kept."""
        share = self._target.share
        given: dict[str, Any] = {"words": self.sizes, "share": share}
        source = promises.source_rate(levels, self.hits, **given, largest=self.largest, alpha=alpha)
        reached: list[list[np.ndarray]] = []
        for level in levels:
            reached.append(self.hits(level))
            worst = max(one.sum() for one in reached[-1])
            if worst > share * self.sizes.sum() and (source is None or level > source):
                break
        by_attack = list(zip(*reached, strict=True))
        tried = levels[: len(reached)]
        document = [promises.next_document(tried, hits, **given, largest=self.largest) for hits in by_attack]
        found = {"source": source, "next document": min(one or 0.0 for one in document)}
        if ahead is not None:
            text = [promises.next_text(tried, hits, **given, documents=ahead, alpha=alpha) for hits in by_attack]
            found["next text"] = min(one or 0.0 for one in text)
        return found

    def hits(self, epsilon: float) -> list[np.ndarray]:
        """Hits of each attack, document by document."""
        if epsilon not in self._known:
            self._progress(f"{type(self._made).__name__} at {epsilon:g}: {self._target}")
            mechanism = self._made.with_(epsilon=epsilon)
            released = mechanism.sanitize(self._docs, self._found.seed)
            tries = self._words if self._target.what == "words" else self._documents
            self._known[epsilon] = tries(mechanism, released)
        return list(self._known[epsilon].values())

    def rows(self) -> list[dict[str, Any]]:
        """What was measured, for json."""
        return [
            {
                "epsilon": epsilon,
                "target": str(self._target),
                "attack": name,
                "share": float(found.sum() / self.sizes.sum()),
            }
            for epsilon, by_attack in sorted(self._known.items())
            for name, found in by_attack.items()
        ]

    def _words(self, mechanism: Mechanism, released) -> dict[str, np.ndarray]:
        granted = {"shadow": self._found.shadow, "attacked": self._found.attacked, "seed": self._found.seed}
        knowledge = Knowledge.of(mechanism, **granted)
        truths = [self._docs[d][i] for d, i in self._positions]
        where = [d for d, _ in self._positions]
        found = {}
        for name, attack in (
            ("context-free", ContextFreeBayes.against(knowledge)),
            ("markov", markov(knowledge, self._model)),
        ):
            guesses = attack.reconstruct(released, self._positions)
            right = [guess == truth for guess, truth in zip(guesses, truths, strict=True)]
            found[name] = np.bincount(where, weights=right, minlength=len(self._docs))
        return found

    def _documents(self, mechanism: Mechanism, released) -> dict[str, np.ndarray]:
        others = [doc for doc in self._found.shadow if doc]
        if len(others) < self._target.among - 1:
            what = f"{self._target.among} need as many other documents but one, and the attacker's text has"
            raise ValueError(f"among: {what} {len(others)}; pass fewer, or more text as shadow")
        attack = Linkage.against(Knowledge.of(mechanism))
        table = attack.log_likelihoods(released, [*self._docs, *others])
        own, n = np.diagonal(table), len(self._docs)
        return {"linkage": success(np.hstack([table[:, n:], own[:, None]]), own, self._target.among)}


def _promises(
    targets: Sequence[Target], documents: int, largest: int, alpha: float, ahead: int | None
) -> dict[str, str]:
    what = " and ".join(map(str, targets))
    sure = f"{100 * (1 - alpha):g} of 100"
    if len(targets) > 1:  # each has its own alpha
        sure += f" (each target by itself; both at once in {max(0, 100 * (1 - 2 * alpha)):g})"
    base = f"These attacks, trained on other documents; {documents:,} documents that chose, used once."
    if any(target.what == "words" for target in targets):
        base += f" Of each document its first {largest} scored words count."
    said = {
        "source": f"In {sure} such choices the rate of the source is {what}. {base} Documents are independent.",
        "next_document": f"Over the next document and those that chose: {what}, in expectation. {base}",
    }
    if ahead is not None:
        said["next_text"] = f"In {sure} such choices the next text of {ahead:,} documents has {what}. {base}"
    said["guarantee, channel"] = (
        "Guesses from one released word, by frequencies of the attacker's text: who reads sentences may do better."
    )
    said["not"] = "None of it holds for an attack that is invented later, or for text of another source."
    return said


def _said(epsilon: float) -> float | None:
    return epsilon if 0 < epsilon < math.inf else None
