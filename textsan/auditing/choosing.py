"""Choose for each mechanism the largest epsilon that keeps a target, by what it rests on: columns never mixed.

By the guarantee alone and by the exact channel with a public prior nothing of the text is used but what its reader
may own. By the strongest attack measured the text chooses, and what that promises is a theorem (`promises`). All
epsilons are of one grid, fixed beforehand, so that one which is said holds and none between is claimed.
"""

import hashlib
import math
import secrets
import time
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cache, partial
from typing import Any

import numpy as np

from textsan.attacks import ContextFreeBayes, Knowledge, Linkage, Ranks
from textsan.attacks.training_text import whole_sentences
from textsan.auditing import promises, use
from textsan.auditing.attacking import Workers, hit, markov
from textsan.auditing.deciding import UNMEASURED
from textsan.auditing.linking import copies
from textsan.auditing.material import Material, checked_texts, divided, material, one_each, tokens_of
from textsan.auditing.promises import EPSILONS, greatest_within
from textsan.auditing.quotes import unquoted
from textsan.auditing.wording import percent
from textsan.auditing.words import promised
from textsan.base import checks
from textsan.leakage import bayes_vulnerability, linkage_limit, linkage_success
from textsan.mechanisms import MECHANISMS, Mechanism, make_mechanism
from textsan.priors import fit_bigrams
from textsan.text.embeddings import Embeddings
from textsan.text.loading import load_embeddings

COLUMNS = ("guarantee", "channel", "source", "next document", "next text")
"""The evidence that an epsilon can rest on: never one in place of another."""

LARGEST = 60
"""Scored words of a document that count, at most: how far one document can go decides how many are needed."""

READ = 120
"""Attackers read at most this many words of a document; words beyond it are not scored."""

SAMPLE = 1_000
"""Documents that choose, unless another number is asked for."""

_BELOW = 8  # steps of the grid below the channel's own choice at which testing begins, at the least
_FLAT = 0.002  # what a channel may give away beyond the least epsilon and still be taken for flat
_DRAWS = 60  # documents whose linkage is computed
_WORDS = 20_000  # of the public vocabulary
_OWNED = 5_000  # rows of the text that are taken for the attacker's, at most
_FEWEST = 8  # rows that can be split into parts
_SENTENCES = 5  # of the attacker, at least: the Markov attack chooses its context by as many folds
_AMONG = 1_000  # documents to be found among, where the attacker's text has as many
_PART = 250  # documents that one worker attacks at a time, however many workers there are
_HELD_BACK = (
    "Epsilon is a function of the rows that chose and of the attacker's: release none of them at it. A release of "
    "the other rows has the guarantee of an epsilon that was fixed beforehand."
)
_CHOSEN_ON = (
    "Epsilon is a function of the very rows that chose. Released at it they have no guarantee: two texts that "
    "differ in one word can get two epsilons, and the record of the release publishes which."
)


@dataclass(frozen=True)
class Target:
    """A share that is not to be exceeded: of scored "words" that are named, or of "documents" that are linked."""

    what: str
    share: float
    among: int = 1_000

    def __str__(self) -> str:
        what = "protected words named" if self.what == "words" else f"documents found among {self.among:,}"
        return f"at most {100 * self.share:g} of 100 {what}"


@dataclass(frozen=True)
class Choice:
    """The largest epsilon of a mechanism, by what it rests on; None where none is seen to keep a target.

    Attributes:
        mechanism: its name in the registry.
        targets: what is kept, in words.
        guarantee: by the guarantee alone, for guesses from one released word by one rule for all places; of
            documents, of one of the median length of the attacker's text, among others of that length, all words
            in the vocabulary. Longer ones may be linked more often.
        channel: by the exact channel and a public prior, for the same guesses from single words, and documents of
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
        seed: of the split, the releases and the order.
        rows: how many rows are the attacker's, chose, and are left to be released.
        not_released: numbers, from 0, of the rows that must not be released at this epsilon, which is a function
            of them; empty where nothing was split.
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
    seed: int | None = None
    rows: dict[str, int] = field(default_factory=dict)
    not_released: list[int] = field(default_factory=list, repr=False)

    @property
    def epsilon(self) -> float | None:
        """Choose for `source` the largest whose rate there keeps the target, with the stated confidence."""
        return self.source

    def row(self) -> dict[str, Any]:
        """Return all of it, for json."""
        return asdict(self)


def choose_epsilon(
    texts: Iterable,
    mechanism: str = "custext+",
    *,
    words: float | None = None,
    documents: float | None = None,
    among: int | None = None,
    shadow: Iterable | None = None,
    labels: Sequence[str | None] | None = None,
    groups: Sequence[Hashable] | None = None,
    split: bool = True,
    ahead: int | None = None,
    alpha: float = 0.05,
    sample: int = SAMPLE,
    embeddings: Embeddings | None = None,
    quotes: bool = True,
    seed: int | None = None,
    workers: int = 1,
    scheduler: str | None = None,
    progress: Callable[[str], None] = lambda line: None,
    **parameters,
) -> Choice:
    """Find the largest epsilon that keeps a target on text of a kind, with what it rests on.

    Attacks are the context-free and the Markov attack for words, given which are scored, and linkage by exact
    likelihood for documents; each is trained on the attacker's text. A target is kept where all of them keep it.

    The epsilon is a function of the rows that choose, and so tells of them. By default half of the rows neither
    choose nor are the attacker's: these may be released at it, and the others, `Choice.not_released`, may not.

    Args:
        texts: independent documents of one source: strings, records or token lists. Equal ones go into one part,
            and choose once, unless groups are given.
        mechanism: a name in the registry that has an epsilon and an exact channel.
        words: the share of scored words that may be named, above 0 and below 1; None is no such target.
        documents: the share of documents that may be found among `among`; None is no such target.
        among: the original and others, which are of the attacker's text; None is 1,000, or as many as that has.
        shadow: texts that an attacker may own, never those that choose; None is a quarter of the rows or, where
            nothing is split, public sentences.
        labels: a class a document, for what a task keeps.
        groups: an author or a patient a document: documents of one are not independent, so they stay together when
            rows are split, and one of each group chooses. A document whose group is None or "" is a group of its
            own.
        split: whether rows are left to be released, none of which chooses. Without, all rows choose (in any order
            the same), and may not be released at this epsilon.
        ahead: documents of a text to come that have a scored word, for the promise about it: where alpha is 0.05,
            at most a nineteenth of those that choose; None is no such promise.
        alpha: chance that a promise is broken, of each target by itself, and for the next text of each attack;
            above 0 and below 1.
        sample: documents that choose, at most.
        embeddings: the public vocabulary; None is the 20,000 most frequent words of the default vectors.
        quotes: whether errors may show words of the text. A choice never does.
        seed: of the split, of releases, and of the order of documents; None is drawn, since the promise counts
            choices with fresh noise.
        workers: processes.
        scheduler: address of a dask scheduler, whose workers are used instead.
        progress: called with what is being done.
        parameters: others of the mechanism, by name.

    Raises:
        ValueError: no target, no epsilon to choose, too few documents for parts or for `ahead`, or what `audit`
            refuses.
        ConnectionError: no scheduler answers, or it has no workers.

    >>> from textsan import Embeddings
    >>> line = Embeddings(["a", "b", "c", "d"], [[0.0], [1.0], [5.0], [6.0]])
    >>> docs = [[x, y, z] for x in "abcd" for y in "abcd" for z in "abcd"]
    >>> choice = choose_epsilon(docs, "custext", words=0.9, embeddings=line, k=2, seed=0)
    >>> choice.rows, choice.channel >= choice.guarantee
    ({'attacker': 16, 'choosing': 16, 'released': 32}, True)
    """
    targets = _targets(words, documents, among)
    seed = secrets.randbelow(1 << 32) if seed is None else seed
    promises.checked_share("alpha", alpha)
    if "epsilon" not in MECHANISMS[mechanism].parameters():
        raise ValueError(f"mechanism: {mechanism} has no epsilon to choose; pass another")
    if "epsilon" in parameters:
        raise ValueError("epsilon: it is what is chosen; leave it out")
    texts = checked_texts(texts, labels=labels, groups=groups)
    checks.whole("sample", sample, low=1)
    units = _equals(texts) if groups is None else groups
    parts = _parts(units, split, shadow is None, sample, seed)
    rows = parts["choosing"]
    rows = [rows[at] for at in one_each([units[row] for row in rows], seed)]
    if ahead is not None:  # what cannot be promised is refused before anything is tried
        promises.blocks(min(len(rows), sample), ahead, alpha)
    vocabulary = load_embeddings().frequent(_WORDS) if embeddings is None else embeddings
    made = make_mechanism(mechanism, vocabulary, epsilon=EPSILONS[0], **parameters)
    workers_of = Workers(checks.whole("workers", workers, low=1), scheduler)
    owned = [texts[row] for row in parts["attacker"]] if split and shadow is None else shadow

    def work() -> Choice:
        classes = None if labels is None else [labels[row] for row in rows]
        docs, classes = ordered([texts[row] for row in rows], classes, seed)
        held = material(docs, made, shadow=owned, seed=seed)
        chooser = Chooser(mechanism, held, sample=sample, workers=workers_of, progress=progress)
        attackers_docs = chooser.material.shadow
        _check_enough(attackers_docs, given=shadow is not None)
        among_default = [replace(target, among=among or chooser.among) for target in targets]
        choice = chooser.choose(
            among_default, labels=classes, ahead=ahead, alpha=alpha, grouped=groups is not None
        )
        beyond = [choice.promise["not"], _HELD_BACK if split else _CHOSEN_ON]
        if groups is None and (doubles := len(texts) - len(set(units))):
            beyond.append(f"{doubles} rows are copies of others; equal rows stay together, and choose once.")
        if (off := held.unknown / max(held.words, 1)) > UNMEASURED:
            beyond.append(f"{percent(off)} of 100 words are off the word list: another language?")
        return replace(
            choice,
            promise=choice.promise | {"not": " ".join(beyond)},
            seed=seed,
            rows={part: len(members) for part, members in parts.items()} | {"attacker": len(attackers_docs)},
            not_released=sorted([*parts["attacker"], *parts["choosing"]]) if split else [],
        )

    return unquoted(quotes, texts, made.inputs, work)


def _targets(words: float | None, documents: float | None, among: int | None) -> list[Target]:
    targets = []
    for what, share in (("words", words), ("documents", documents)):
        if share is not None:
            promises.checked_share(what, share)
            targets.append(Target(what, share, _AMONG if among is None else checks.whole("among", among, low=2)))
    if not targets:
        raise ValueError("words: no target; pass words=0.2, documents=0.05, or both")
    return targets


def _equals(texts: Sequence) -> list[int]:
    """Number rows so that those with the same words have one number: they are in one part, and choose once."""
    first: dict[tuple, int] = {}
    return [first.setdefault(tuple(tokens_of(text)) or (row,), row) for row, text in enumerate(texts)]


def _parts(groups: Sequence[Hashable], split: bool, owned: bool, sample: int, seed: int) -> dict[str, list[int]]:
    """Row numbers of the attacker's part (empty where text was given), of those that choose, and the rest."""
    n = len(groups)
    if not split:
        return {"attacker": [], "choosing": list(range(n)), "released": list(range(n))}
    sizes = [min(n // 4, _OWNED), min(n // 4, sample)] if owned else [0, min(n // 2, sample)]
    parts = [part.tolist() for part in divided(groups, sizes, seed)]
    if n < _FEWEST or not all(parts[0 if owned else 1 :]):
        what = f"{n} rows of {len(set(groups))} groups make no parts that choose and are released"
        raise ValueError(f"texts: {what}; pass more rows, or let all of them choose (--on-released)")
    return dict(zip(("attacker", "choosing", "released"), parts, strict=True))


def _check_enough(owned: Sequence[Sequence[str]], *, given: bool) -> None:
    if (sentences := len(set(whole_sentences(owned)))) < _SENTENCES:
        whose = "shadow: it has" if given else "texts: the attacker's part of the rows has"
        more = "such text" if given else "rows, or text that an attacker may own (--shadow)"
        raise ValueError(f"{whose} {sentences} sentences, and attacks need {_SENTENCES}; pass more {more}")


def ordered(
    texts: Iterable, labels: Sequence[str | None] | None, seed: int
) -> tuple[list[list[str]], list | None]:
    """Cut documents, and put them into an order as good as drawn, the same in whichever order they are given.

    A document's place is a hash of its words, of the seed and of how many equal ones were before it, so that equal
    ones do not come together: gamblers bet on the next document, which the last must say nothing of. The labels
    come in the same order.

    >>> ordered(["a", "b", "b"], None, 0) == ordered(["b", "a", "b"], None, 0)
    True
    """
    docs = [tokens_of(text) for text in checked_texts(texts, labels=labels)]
    classes = ["" for _ in docs] if labels is None else [label or "" for label in labels]
    copies: Counter = Counter()
    places = {}
    for at in sorted(range(len(docs)), key=lambda at: (docs[at], classes[at])):
        words = tuple(docs[at])
        copies[words] += 1
        places[at] = hashlib.sha256(repr((seed, words, copies[words])).encode("utf-8", "surrogatepass")).digest()
    order = sorted(range(len(docs)), key=places.__getitem__)
    return [docs[at] for at in order], None if labels is None else [labels[at] for at in order]


class Chooser:
    """Choose an epsilon for targets; the attacks are made once on each epsilon, whatever the target.

    The documents of the material stand in an order which says nothing; its mechanism is of any epsilon.
    """

    def __init__(
        self,
        mechanism: str,
        material: Material,
        *,
        sample: int = SAMPLE,
        workers: Workers | None = None,
        progress: Callable[[str], None] = lambda line: None,
    ):
        self.mechanism, self.material, self._sample, self.progress = mechanism, material, sample, progress
        self.workers = workers or Workers()
        self._docs = [material.docs[d] for d in np.unique(material.documents)[:sample]]
        self.bigrams = cache(partial(fit_bigrams, material.shadow, material.mechanism.channel.inputs))
        self.settings: dict[float, tuple[bool, float]] = {}
        self.trials = cache(partial(Trials, self, self._docs))
        self._promised = cache(partial(_promised, material))
        self._exact = cache(partial(_exact, material))

    def choose(
        self,
        targets: Sequence[Target],
        *,
        labels: Sequence[str | None] | None = None,
        ahead: int | None = None,
        alpha: float = 0.05,
        grouped: bool = False,
    ) -> Choice:
        """Choose for targets that are kept together; `grouped`: documents are one of each group."""
        if ahead is not None:  # those without a scored word do not count
            promises.blocks(len(self._docs), ahead, alpha)
        by_column: dict[str, list[float]] = {column: [] for column in COLUMNS}
        starts = []
        for target in targets:
            self.progress(f"{self.mechanism}: guarantee and channel, {target}")
            at_target = target.what, target.among
            by_column["guarantee"].append(greatest_within(partial(self._promised, *at_target), target.share))
            public = greatest_within(partial(self._exact, *at_target), target.share)
            by_column["channel"].append(public)
            starts.append(self._start(target, public))
        # All targets are tested from the same epsilon on, so that the smaller one was tested for each.
        levels = EPSILONS[min(starts) :]
        measured: list[dict[str, Any]] = []
        reasons: list[str] = []
        above: list[float] = []
        for target in targets:
            trials = self.trials(target.what, target.among)
            chosen, tried = _choices(trials, target.share, levels, alpha, ahead)
            for column, epsilon in chosen.items():
                by_column[column].append(epsilon or 0.0)
            measured += [{"epsilon": e, "target": str(target)} | row for e in tried for row in trials.rows(e)]
            if chosen["source"] is None:
                reasons.append(self._reason(target, trials, levels[0]))
                above.append(max(row["share"] for row in trials.rows(levels[0])) - target.share)
        fields: dict[str, Any] = {
            column.replace(" ", "_"): min(chosen, default=0) or None for column, chosen in by_column.items()
        }
        kept, source = None, fields["source"]
        if labels is not None and source is not None:
            self.progress(f"{self.mechanism}: what a task keeps at {source:g}")
            released = self.material.by(self.material.mechanism.with_(epsilon=source))
            kept = use.kept(released, labels, self._sample)
        fields["promise"] = _promises(targets, len(self._docs), usual(self.material), alpha, ahead, grouped)
        fields |= {"measured": measured, "reasons": reasons, "excess": max(above, default=None), "use": kept}
        return Choice(self.mechanism, list(map(str, targets)), documents=len(self._docs), **fields)

    @property
    def among(self) -> int:
        """Documents to be found among by default: a thousand, or as many as the attacker's text allows."""
        return min(_AMONG, sum(map(bool, self.material.shadow)) + 1)

    def _start(self, target: Target, public: float) -> int:
        """The number of the epsilon at which testing begins: no document that chooses has a say in it.

        That is some steps below the channel's own choice, and not where the channel is still as flat as at the
        least epsilon: no smaller one would hide more. A channel that never rises gives all away from the least on.
        """
        exact = partial(self._exact, target.what, target.among)
        lowest, end = 0, len(EPSILONS)
        if public:
            lowest, end = max(0, EPSILONS.index(public) - _BELOW), EPSILONS.index(public) + 1
        floor = exact(EPSILONS[0])
        flat = greatest_within(exact, floor + min(_FLAT, (1 - floor) / 100), EPSILONS[lowest:end])
        return EPSILONS.index(flat) if 0 < flat < EPSILONS[-1] else lowest

    def _reason(self, target: Target, trials: "Trials", least: float) -> str:
        """Say why no epsilon is promised for a target: what none changes, else what was measured at the least."""
        worst = max(trials.rows(least), key=lambda row: row["share"])
        tried = f"at {least:g}, the least that was tried, {100 * worst['share']:.1f} of 100 by {worst['attack']}"
        if target.what == "documents" and trials.by_length > target.share:
            length = f"length alone names {100 * trials.by_length:.1f} of 100, and no epsilon changes a length"
            return f"{length}; {tried}"
        if worst["share"] <= target.share:
            return f"{tried}, which keeps it, but {len(self._docs):,} documents are too few to promise it"
        alone = self._exact(target.what, target.among, EPSILONS[0])
        if target.what == "words" and alone > target.share:
            single = f"single words give away {100 * alone:.1f} of 100 by the channel and public frequencies"
            return f"{single} at {EPSILONS[0]:g} already; {tried}"
        return tried


def _promised(material: Material, what: str, among: int, epsilon: float) -> float:
    """The most that the guarantee alone allows."""
    mechanism = material.mechanism.with_(epsilon=epsilon)
    guarantee = mechanism.guarantee
    if what == "words":
        return promised(guarantee, material.population)
    plain = guarantee.definition == "DP" and not mechanism.keep and mechanism.oov != "keep"
    return linkage_limit(guarantee.epsilon, _length(material), among).value if plain else 1.0


def _exact(material: Material, what: str, among: int, epsilon: float) -> float:
    """The success of the channel under the prior of the attacker's text; of linkage the upper end."""
    mechanism = material.mechanism.with_(epsilon=epsilon)
    if what == "words":
        return bayes_vulnerability(material.population, mechanism.channel)
    prior = Knowledge.of(mechanism, shadow=material.shadow).unigram()
    channel, length = mechanism.channel, _length(material)
    return linkage_success(prior, channel, length, among, draws=_DRAWS, seed=material.seed).high


def _length(material: Material) -> int:
    """The words of a usual document, of the attacker's text: how long those are that choose is not looked at."""
    return int(np.median([len(doc) for doc in material.shadow if doc]))


def usual(material: Material) -> int:
    """Return the scored words of a document that count, from its beginning: by the attacker's text alone.

    In nineteen of twenty of the attacker's documents that is all, unless these have so different lengths that a
    document would have fewer than half of the largest number on average: then a target of a tenth could not be
    passed by a hundred documents of which no word is recovered.
    """
    words = _scored_words(material)
    most = int(np.clip(np.quantile(words, 0.95), 1, LARGEST))
    return next(b for b in range(most, 0, -1) if np.minimum(words, b).mean() >= b / 2 or b == 1)


def _scored_words(material: Material) -> np.ndarray:
    """(documents,) scored words that are read of the attacker's documents that have one."""
    counts = np.array([sum(word in material.attacked for word in doc[:READ]) for doc in material.shadow])
    return counts[counts > 0]


def _choices(
    trials: "Trials", share: float, levels: Sequence[float], alpha: float, ahead: int | None
) -> tuple[dict[str, float | None], list[float]]:
    """The largest of some levels with each promise, and those that were tried: until no promise can reach further.

    Each column ends at the first level that it does not keep, so that later ones cannot change it.
    """
    target: dict[str, Any] = {"words": trials.sizes, "share": share}
    bet: dict[str, Any] = {"largest": trials.largest, "spread": share * (1 - share) * trials.square}
    by_level: list[list[np.ndarray]] = []
    chosen: dict[str, float | None] = {"source": None}
    ended = False
    for level in levels:
        by_level.append(trials.hits(level))
        tried, by_attack = levels[: len(by_level)], list(zip(*by_level, strict=True))
        if not ended:
            passed = promises.source_rate([level], trials.hits, **target, **bet, alpha=alpha)
            chosen["source"], ended = passed or chosen["source"], passed is None
        document = [promises.next_document(tried, hits, **target, largest=trials.largest) for hits in by_attack]
        chosen["next document"] = min(epsilon or 0.0 for epsilon in document)
        if ahead is not None:
            text = [promises.next_text(tried, hits, **target, documents=ahead, alpha=alpha) for hits in by_attack]
            chosen["next text"] = min(epsilon or 0.0 for epsilon in text)
        if level not in chosen.values():
            break
    return chosen, list(levels[: len(by_level)])


class Trials:
    """The hits of the attacks of a chooser on any documents, at each epsilon that is asked for.

    Another number of the `first` document gives other noise. `sizes` has the words of each document that count, or
    ones, `largest` is the most of them, and `square` the mean of W * W of the attacker's documents. Of it a (1 -
    a) is the first guess of the spread of H - a W, as if a share a of the documents were recovered whole, and the
    others not at all.
    """

    def __init__(
        self, chooser: Chooser, docs: Sequence[Sequence[str]], what: str, among: int = 1_000, first: int = 0
    ):
        self._chooser, self._what, self._among, self._first = chooser, what, among, first
        self._docs = [list(doc)[: READ if what == "words" else None] for doc in docs]
        self._seconds: float | None = None
        self._by_epsilon: dict[float, dict[str, np.ndarray]] = {}
        self.largest, attacked = usual(chooser.material), chooser.material.attacked
        self._scored = [
            [i for i, word in enumerate(doc) if word in attacked][: self.largest] for doc in self._docs
        ]
        self.sizes = np.array([len(scored) for scored in self._scored], dtype=float)
        self.square = float((np.minimum(_scored_words(chooser.material), self.largest) ** 2.0).mean())
        if what == "documents":
            self.sizes, self.largest, self.square = np.ones(len(self._docs)), 1, 1.0

    def hits(self, epsilon: float) -> list[np.ndarray]:
        """Return the hits of each attack, document by document."""
        return list(self.named(epsilon).values())

    def named(self, epsilon: float) -> dict[str, np.ndarray]:
        """Return the same by the name of each attack."""
        if epsilon not in self._by_epsilon:
            chooser, material = self._chooser, self._chooser.material
            chooser.progress(f"{chooser.mechanism} at {epsilon:g}: {self._what}{self._estimate(epsilon)}")
            began = time.monotonic()
            mechanism = material.mechanism.with_(epsilon=epsilon)
            released = mechanism.sanitize(self._docs, material.seed, first=self._first)
            attack = partial(self._words, epsilon) if self._what == "words" else self._documents
            self._by_epsilon[epsilon] = attack(mechanism, released)
            self._seconds = time.monotonic() - began
        return self._by_epsilon[epsilon]

    def _estimate(self, epsilon: float) -> str:
        """The time that is left, by the epsilon before it: at most to the end of the grid."""
        if self._seconds is None:
            return ""
        left = sum(level >= epsilon for level in EPSILONS)
        minutes = math.ceil(left * self._seconds / 60)
        return f" ({self._seconds:.1f} s for the last epsilon; at most {left} more, {minutes} min)"

    def rows(self, epsilon: float) -> list[dict[str, Any]]:
        """Return the share that each attack reached at an epsilon, for json."""
        by_attack = self.named(epsilon).items()
        return [{"attack": name, "share": float(hits.sum() / self.sizes.sum())} for name, hits in by_attack]

    def _words(self, epsilon: float, mechanism: Mechanism, released) -> dict[str, np.ndarray]:
        material, settings = self._chooser.material, self._chooser.settings
        knowledge = Knowledge.of(mechanism, shadow=material.shadow, attacked=material.attacked, seed=material.seed)
        reader = markov(knowledge, self._chooser.bigrams, settings.get(epsilon))
        settings[epsilon] = reader.setting
        attacks = {"context-free": ContextFreeBayes.against(knowledge), "markov": reader}
        return {name: self._by_parts(_named, attack, released) for name, attack in attacks.items()}

    def _documents(self, mechanism: Mechanism, released) -> dict[str, np.ndarray]:
        work = partial(_linked, others=self._others(), among=self._among)
        return {"linkage": self._by_parts(work, Linkage.against(Knowledge.of(mechanism)), released)}

    def _by_parts(self, work: Callable[..., np.ndarray], attack: Any, released) -> np.ndarray:
        """An attack on the documents in parts, whose size no number of workers changes."""
        parts = [slice(at, at + _PART) for at in range(0, len(self._docs), _PART)]
        jobs = [(attack, released[part], self._docs[part], self._scored[part]) for part in parts]
        return np.concatenate(list(self._chooser.workers.map(work, jobs)))

    @property
    def by_length(self) -> float:
        """The share of documents that are found by who knows how many words they have, and nothing else."""
        others = np.array([len(doc) for doc in self._others()])
        own = np.array([len(doc) for doc in self._docs])
        same = np.where(own[:, None] == np.append(others, 0), 0.0, -np.inf)
        same[:, :-1][copies(self._docs, self._others())] = -np.inf
        same[:, -1] = 0.0  # the document itself
        return float(Ranks.of(np.zeros(len(own)), same).success(self._among).mean())

    def _others(self) -> list[Sequence[str]]:
        """The documents of the attacker's that a document is sought among."""
        others = [doc for doc in self._chooser.material.shadow if doc]
        if len(others) < self._among - 1:
            what = f"{self._among} need as many other documents but one, and the attacker's text has"
            raise ValueError(f"among: {what} {len(others)}; pass fewer, or more text as shadow")
        return others


def _named(attack, released, docs, scored) -> np.ndarray:
    """The number of scored words of each document that are named."""
    positions = [(d, i) for d, of_document in enumerate(scored) for i in of_document]
    right = hit(attack, released, positions, [docs[d][i] for d, i in positions])
    return np.bincount([d for d, _ in positions], weights=right, minlength=len(docs))


def _linked(attack, released, docs, scored, *, others, among: int) -> np.ndarray:
    """The chance of each document to be named among itself and others."""
    table = attack.log_likelihoods(released, [*docs, *others])
    own, n = np.diagonal(table), len(docs)
    table[:, n:][copies(docs, others)] = -np.inf  # to name a copy is to name the document
    return Ranks.of(own, np.hstack([table[:, n:], own[:, None]])).success(among)


def _promises(
    targets: Sequence[Target], documents: int, largest: int, alpha: float, ahead: int | None, grouped: bool
) -> dict[str, str]:
    what = " and ".join(map(str, targets))
    sure = f"{100 * (1 - alpha):g} of 100"
    if len(targets) > 1:  # each has its own alpha
        sure += f" (each target by itself; both at once in {max(0, 100 * (1 - 2 * alpha)):g})"
    each = ", one of each group" if grouped else ""
    base = f"These attacks, trained on other documents; {documents:,} documents that chose{each}, used once."
    if any(target.what == "words" for target in targets):
        base += (
            f" Of each document its first {largest} scored words count, of the first {READ} words, which are read."
        )
    apart = "Documents are independent; where an author or a patient has several, --group names whose."
    if grouped:
        apart = "Groups are independent, and the rate is that of one document of each."
    choices = f'In {sure} such choices, an answer of "none" counted as right'
    promise = {
        "source": f"{choices}, the rate of the source is {what}. {base} {apart}",
        "next_document": f"Over the next document and those that chose: {what}, in expectation. {base}",
    }
    if ahead is not None:
        promise["next_text"] = (
            f"{choices}, for each attack by itself, the next text of {ahead:,} documents "
            f"with a scored word has {what}. {base}"
        )
    promise["guarantee, channel"] = (
        "Guesses from one released word, by one rule for all places and frequencies of the attacker's text: who "
        "reads sentences, or uses the place of a word, may do better."
    )
    promise["not"] = "None of it holds for an attack that is invented later, or for text of another source."
    return promise
