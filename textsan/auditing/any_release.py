"""Audit a release that another program made: a masking tool, another sanitizer, a rewrite by a language model.

Nothing is known of how it was made: no figure needs a channel Pr(y | x), and nothing is promised. Each row is
aligned with its release; `LIMITATIONS` says what an alignment cannot see. No function returns or quotes a word of
the text, but for errors of `quotes`.
"""

import difflib
import re
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from functools import cache, cached_property
from importlib.metadata import version
from typing import Any, NamedTuple

import numpy as np
import scipy

from textsan.attacks import MaskInference, PublicReader, Ranks
from textsan.auditing import deciding, linking, material as materials, quotes as quoting, use
from textsan.auditing.belonging import SURE
from textsan.auditing.report import Report
from textsan.auditing.wording import many, not_shown, odds, percent
from textsan.base import checks
from textsan.base.signatures import takes_parameters_of
from textsan.evaluation import clustered_difference, clustered_rate
from textsan.models.sentence_vectors import sentence_vectors
from textsan.priors import NGrams
from textsan.text.names import analyzer, find_names, spans_of
from textsan.text.vocabulary import STOP_WORDS, tokenize

LIMITS = {"words": "all", "names": "names", "numbers": "numbers", "documents": None}
"""The limits that can be held without a mechanism, with their group of words."""

ATTACKS = {"unchanged": "words left verbatim", "context": "public n-grams from both sides"}
ATTACKS |= {"dictionary": "released words looked up in other rows"}
ATTACKS |= {"words": "words (TF-IDF)", "embeddings": "sentence vectors"}
ABSENT = (
    "How the release was made is not known. Figures that need the channel Pr(y | x) are absent: V(X|Y), the bound "
    "of a guarantee, and attacks by Bayes' rule. Nothing is promised."
)
LIMITATIONS = (
    "An alignment finds words that are in both texts in the same order: it sees no word that moved, no part of a "
    "word and no paraphrase. Where a gap has other numbers of words on its two sides, it cannot say which became "
    "which: no such word is guessed, and all of them count as recovered before a limit is kept.",
    "Every attack's figure is a lower end: an attacker who knows the program that made the release recovers more.",
    "Entities are found by patterns, by name lists or Presidio: others are not counted.",
    "Other columns beside the text are not looked at, and two releases of one text give away more than one.",
)
_GROUPS = "all", "content", "names", "numbers"  # of words; content words are those off the stop list
_TESTED, _POOL = 2_000, 500  # rows whose belonging is tested, and documents that others are drawn from, at most
_ASTRAY, _AT_LEAST = 0.25, 3  # share and number of words by which another row's release is closer than it may be
_SHUFFLED = 0.1  # share of rows astray from which on the release is refused
_PLACES, _GUESSED = 1_000, 3_000  # places that are guessed, and words to choose from, at most
_WHOLE, _LISTED = 5, 10  # words of a document that is said to be left whole, at least; rows that are listed
_TIE = 1e-5  # of a cosine: equally similar candidates are ordered by their lengths
_MARK = re.compile(r"<[A-Z][\w -]{0,40}>|\[[A-Z][\w -]{0,40}\]|\{{1,2}[A-Z][\w -]{0,40}\}{1,2}|[*█■]{2,}")
_MONTH, _DAY = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?", r"\d{1,2}(?:st|nd|rd|th)?"
_ENTITIES = {
    "email": r"[\w.+-]+@\w[\w-]*(?:\.\w[\w-]*)+",
    "url": r"(?:https?://|www\.)[^\s<>\"]+[\w/]",
    "date": rf"\b(?:\d{{1,4}}[-/.]\d{{1,2}}[-/.]\d{{1,4}}|(?:{_MONTH} {_DAY}|{_DAY} {_MONTH})(?:,? \d{{4}})?)\b",
    "phone": r"(?<![\w.])(?=\+?(?:[ ().-]*\d){7,15}(?![\w-]))\+?\(?\d{1,4}\)?(?:[ .-]?\(?\d{2,5}\)?){1,5}(?!\w)",
    "id_number": r"\b(?=(?:[a-z-]*\d){5})[a-z0-9]+(?:-[a-z0-9]+)*\b",
}
PATTERN = re.compile("|".join(f"(?P<{name}>{pattern})" for name, pattern in _ENTITIES.items()), re.IGNORECASE)
"""The entities that have a form of their own; the name of the group that matches is the kind."""

_OF_PRESIDIO = {"EMAIL_ADDRESS": "email", "URL": "url", "DATE_TIME": "date", "PHONE_NUMBER": "phone"}
_IDS = "CREDIT_CARD CRYPTO IBAN_CODE IP_ADDRESS MEDICAL_LICENSE UK_NHS US_BANK_NUMBER US_DRIVER_LICENSE US_ITIN"
_OF_PRESIDIO |= dict.fromkeys([*_IDS.split(), "US_PASSPORT", "US_SSN"], "id_number")
_LONG = 6  # letters and digits of an entity that is sought without regard to blanks and marks between them


@dataclass(repr=False)  # the text is private
class Original:
    """A text whose releases are audited alike, with the settings of `audit_release`."""

    texts: Any  # strings, a document each
    _: KW_ONLY
    groups: Sequence[Hashable] | None = None
    labels: Sequence[str | None] | None = None
    tolerate: Mapping[str, float] | None = None
    sample: int = 500
    among: int = linking.AMONG
    beside: int = 0
    finder: str = "census"
    seed: int = 0

    def __post_init__(self):
        self.texts = materials.checked_texts(self.texts, groups=self.groups, labels=self.labels)
        self.members = None if self.groups is None else materials.members_of(self.groups)
        self.limits = deciding.checked_limits(self.tolerate, LIMITS)
        self.sample = checks.whole("sample", self.sample, low=1)
        self.among = checks.whole("among", self.among, low=2)

    @cached_property
    def clusters(self) -> np.ndarray:
        """(documents,) number of the author or patient of each, equal texts being of one."""
        clusters = np.arange(len(self.texts))
        for number, rows in enumerate(self.members or materials.members_of(self.texts)):
            clusters[rows] = number
        return clusters

    @cached_property
    def docs(self) -> list[list[str]]:
        """The tokens of each document."""
        return list(map(tokenize, self.texts))

    @cached_property
    def full(self) -> list[int]:
        """The numbers of the documents that have a word; fewer than two are refused."""
        full = [d for d, doc in enumerate(self.docs) if any(map(materials.is_word, doc))]
        if len(full) < 2:
            raise ValueError(f"texts: {len(full)} of {len(self.docs)} have a word; pass two, and check the field")
        return full

    @cached_property
    def strangers(self) -> np.ndarray:
        """(documents,) the number of another one, of another author where there is one, for controls."""
        order = np.random.default_rng([self.seed, 4]).permutation(self.full)
        order, strangers = order[np.argsort(self.clusters[order], kind="stable")], np.arange(len(self.docs))
        step = min(int(np.bincount(self.clusters[order]).max()), len(order) - 1)  # beyond the rows of any author
        strangers[order] = np.roll(order, -step)
        return strangers

    @cached_property
    def sought(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The documents that originals are sought among, and the places in them of targets and of others."""
        generator = np.random.default_rng([self.seed, 1])
        pool = np.sort(generator.permutation(self.full)[: max(_POOL, self.among)])
        targets = np.sort(generator.permutation(len(pool))[: self.sample])
        return pool, targets, (targets + generator.integers(1, len(pool), len(targets))) % len(pool)

    @cached_property
    def vectors(self) -> np.ndarray:
        """The sentence vectors of the documents that originals are sought among."""
        return _unit_vectors([self.texts[d] for d in self.sought[0]])

    @cached_property
    def names(self) -> list[tuple[int, int]]:
        """Document and index of each word of a name."""
        return find_names(self.texts, self.finder)

    @cached_property
    def entities(self) -> list[tuple[str, int, list[int]]]:
        """Kind, document and word indices of the names, email addresses, dates and the like."""
        runs: list[tuple[str, int, list[int]]] = []
        for d, i in self.names:
            if runs and runs[-1][1] == d and runs[-1][2][-1] == i - 1:
                runs[-1][2].append(i)
            else:
                runs.append(("name", d, [i]))
        for d in range(len(self.docs)):
            text = " ".join(self.texts[d].split())
            found = [(match.lastgroup or "", *match.span()) for match in PATTERN.finditer(text)]
            if self.finder == "presidio":
                for span in analyzer().analyze(text, language="en"):
                    kind = _OF_PRESIDIO.get(span.entity_type)
                    undated = kind == "date" and not re.search(r"\d", text[span.start : span.end])  # "today", say
                    if kind and not undated:
                        found.append((kind, span.start, span.end))
            spans, taken = spans_of(text, self.docs[d]), set()
            for kind, start, end in found:
                places = [i for i, (low, high) in enumerate(spans) if low < end and start < high]
                places = [i for i in places if materials.is_word(self.docs[d][i]) and i not in taken]
                if places:
                    runs.append((kind, d, places))
                    taken.update(places)
        return runs

    @cached_property
    def told(self) -> dict[str, Any]:
        """The class of a document from its original, as `use.told` says."""
        return use.told(self.docs, self.labels or (), self.sample, seed=self.seed)

    def paired(self, written: Iterable[str], what: str = "released") -> "_Pairs":
        """Return the text with a release of it, checked to be one; `what` names the argument in errors."""
        written = materials.checked_texts(written)
        if not all(isinstance(text, str) for text in (*self.texts, *written)):
            raise ValueError("texts: not all are strings; without a record pass documents as they are written")
        if (rows := len(self.texts)) != len(written):
            raise ValueError(f"{what}: {len(written)} documents for {rows} originals; pass one a document")
        released = list(map(_marked, written, self.texts))
        return _Pairs(self, written, released, _belonging(self, released, what))

    def audit(self, pairs: "_Pairs") -> dict[str, Any]:
        """Audit a release of the text, for json."""
        words = _aligned(pairs)
        guesses, recovered, guessed = _guessed(pairs, words)
        about: dict[str, Any] = {"rows": len(self.texts), "documents": len(self.full)}
        about |= {"scored": len(words.document), "seed": self.seed, "finder": self.finder}
        about |= {"quotes": False, "beside": self.beside}
        content: dict[str, Any] = {"textsan": version("textsan"), "about": about, "mechanism": None, "use": None}
        if self.labels is not None:
            told = use.told(pairs.released, self.labels, self.sample, seed=self.seed)
            content["use"] = use.beside(told, self.told)
        content |= {"absent": ABSENT, "limitations": list(LIMITATIONS)}
        content |= {"belonging": pairs.belonging, "persons": self.members and _persons(pairs, self.members)}
        content["words"] = _left(pairs, words) | {"guesses": guesses, "recovered": recovered}
        content |= {"entities": _fates(pairs, words, *guessed), "linkage": _retrieved(pairs)}
        return content | {"decision": _decided(content, self.limits)}


@dataclass(frozen=True, repr=False)
class _Pairs:
    """A text with its release, row by row."""

    original: Original
    written: Sequence[str]  # the releases as they are written
    released: Sequence[list[str]]  # their tokens; a mark such as <PERSON> is one, unless the original has it
    belonging: dict[str, Any]  # of `_belonging`


class _Words(NamedTuple):
    """The words of a text, aligned with its release; each field has an entry a word."""

    document: np.ndarray
    at: np.ndarray
    place: np.ndarray  # index of the released token in its place; -1 where there is none
    verbatim: np.ndarray  # whether that is the word itself
    chance: np.ndarray  # whether it would be, in the release of another row
    replaced: np.ndarray  # whether another token is in its place
    groups: Mapping[str, np.ndarray]  # whether it is of each of `_GROUPS`


@takes_parameters_of(Original)
def audit_release(texts: Iterable[str], released: Iterable[str], **settings: Any) -> Report:
    """Measure what a release gives away of a text where nothing is known of how it was made.

    Args:
        texts, released: strings, a document and its release in the same order.
        groups: an author or a patient a document; None is none.
        labels: a class a document, for what a task keeps; None or "" where a document has none.
        tolerate: limits from 0 to 1 by name, of `LIMITS`. Of documents the default is what length alone identifies
            and five in a hundred more.
        sample: documents that are linked, and whose words are guessed, at most.
        among: documents that each original is sought among.
        beside: how many columns the release has beside the text.
        finder: of names and, if it is "presidio", of other entities, as `textsan.text.find_names` takes it.
        seed: of whatever is drawn.

    Returns:
        the report, which quotes no word of the text.

    Raises:
        ValueError: other numbers of documents, rows that seem shuffled, or a limit that needs a mechanism.

    >>> texts = [f"Film {number} was good" for number in range(40)]
    >>> audit_release(texts, texts, among=5).verdict
    'Do not release'
    """
    original = Original(texts, **settings)
    released = materials.checked_texts(released)
    return unquoted([*original.texts, *released], lambda: Report(original.audit(original.paired(released))))


def unquoted(texts: Sequence[str], work: Callable[[], Report]) -> Report:
    """Return what some work returns; no error of it quotes a word of the texts off the public list."""
    return quoting.unquoted(False, texts, public_words(), work)


@cache
def public_words() -> list[str]:
    """Return the words of the public table, the most frequent first."""
    table = NGrams.load()
    known = [word for word in table.words if materials.is_word(word) and not word.startswith("<")]
    order = np.argsort(-table.log_probabilities(table.numbers(known)[:, None]), kind="stable")
    return [known[at] for at in order]


def _belonging(original: Original, released: Sequence[list[str]], what: str) -> dict[str, Any]:
    """Test whether a row shares more words with its own release than with others, as permuted releases show.

    A row is astray where the release of another row has more of its words than its own release has, and than the
    original of any other row: only a release of that row itself has so many. One row in ten is refused.
    """
    generator, rows = np.random.default_rng([original.seed, 5]), np.array(original.full)
    rows = np.sort(generator.permutation(rows)[:_TESTED])
    both = _sets([docs[d] for docs in (original.docs, released) for d in rows], STOP_WORDS)
    sizes = both.sum(axis=1)[: len(rows)]
    before, after = both[: len(rows)][sizes > 0], both[len(rows) :][sizes > 0]
    rows, sizes = rows[sizes > 0], sizes[sizes > 0]
    if (n := len(rows)) < 2:
        return {"rows": n, "own": None, "others": None, "shown": False, "astray": 0, "listed": []}
    common, alike = ((before @ other.T).toarray() / sizes[:, None] for other in (after, before))
    own, others = common.diagonal().copy(), (common.sum(axis=1) - common.diagonal()) / (n - 1)
    permuted = [common[np.arange(n), generator.permutation(n)].mean() for _ in range(SURE - 1)]
    np.fill_diagonal(common, 0.0)
    np.fill_diagonal(alike, 0.0)
    beyond = common.max(axis=1) - np.maximum(own, alike.max(axis=1))
    astray = rows[(beyond >= _ASTRAY) & (beyond * sizes >= _AT_LEAST)].tolist()
    if len(astray) >= max(2, _SHUFFLED * n):
        how = f"{len(astray)} of {n} rows share more words with the release of another row than with their own"
        raise ValueError(f"{what}: {how}; put the rows in the order of INPUT, or pass --key")
    shares = {"own": _rate(own, original.clusters[rows]), "others": _rate(others, original.clusters[rows])}
    shown = bool(own.mean() > max(permuted))
    return {"rows": n, **shares, "shown": shown, "astray": len(astray), "listed": astray[:_LISTED]}


def align(before: Sequence[str], after: Sequence[str]) -> np.ndarray:
    """Return the place of each token of a row in its release, (len(before),), -1 where it has none.

    A gap with as many tokens on either side is read token by token.

    >>> align(["ann", "met", "bob", "smith", "here"], ["<name>", "met", "<name>", "here"])
    array([ 0,  1, -1, -1,  3])
    """
    places = np.full(len(before), -1)
    for _, start, end, low, high in difflib.SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if end - start == high - low:
            places[start:end] = np.arange(low, high)
    return places


def _aligned(pairs: _Pairs) -> _Words:
    """Align every row with its release, and with that of another row."""
    names, entries = frozenset(pairs.original.names), []
    for d in pairs.original.full:
        doc, after = pairs.original.docs[d], pairs.released[d]
        stranger = pairs.released[pairs.original.strangers[d]]
        own, other = align(doc, after), align(doc, stranger)
        for i, word in enumerate(doc):
            if materials.is_word(word):
                same, chance = own[i] >= 0 and after[own[i]] == word, other[i] >= 0 and stranger[other[i]] == word
                groups = True, word not in STOP_WORDS, (d, i) in names, any(map(str.isdigit, word))
                entries.append((d, i, own[i], same, chance, *groups))
    document, at, place, *columns = np.array(entries, dtype=np.intp).T
    same, chance, *flags = (column.astype(bool) for column in columns)
    replaced = (place >= 0) & ~same
    return _Words(document, at, place, same, chance, replaced, dict(zip(_GROUPS, flags, strict=True)))


def _left(pairs: _Pairs, words: _Words) -> dict[str, Any]:
    """The share of each group of words that is verbatim at its place, and the documents that are left whole."""
    rows = []
    for name, of in words.groups.items():
        if of.any():
            clusters = pairs.original.clusters[words.document[of]]
            own, chance = (_rate(hits[of], clusters) for hits in (words.verbatim, words.chance))
            rows.append({"group": name, "words": int(of.sum()), **own, "control": chance})
    sizes, left = np.bincount(words.document), np.bincount(words.document, weights=words.verbatim)
    whole = np.flatnonzero((sizes >= _WHOLE) & (left == sizes))
    counts = {"unplaced": int((words.place < 0).sum()), "replaced": int(words.replaced.sum())}
    return {"verbatim": rows, "whole": {"number": len(whole), "listed": whole[:_LISTED].tolist()}, **counts}


def _guessed(pairs: _Pairs, words: _Words) -> tuple[dict | None, list[dict[str, Any]], tuple]:
    """The guesses at replaced places, None where there is no such place, and the recovered words of each group.

    Last come, for each word, whether it is attacked, and whether the attack that is right most often names it.

    One attacker reads the released words on both sides and owns public n-grams. Another has half of the rows with
    their originals, and answers with the commonest original of the released word; then the halves change roles.
    Both are given the replaced places. The baseline is the one word that is right most often.
    """
    original, generator = pairs.original, np.random.default_rng([pairs.original.seed, 6])
    half = generator.permutation(int(original.clusters.max()) + 1)[original.clusters] % 2
    order = generator.permutation(original.full)[: original.sample]
    counts = np.bincount(words.document[words.replaced], minlength=len(half))
    enough = np.cumsum(counts[order]) <= max(_PLACES, counts[order[0]])
    attacked = np.isin(words.document, order[enough])
    at = np.flatnonzero(attacked & words.replaced).tolist()
    places = {int(k): (int(words.document[k]), int(words.place[k])) for k in np.flatnonzero(words.replaced)}
    truth = {k: original.docs[d][words.at[k]] for k, (d, _) in places.items()}
    seen = {k: pairs.released[d][j] for k, (d, j) in places.items()}
    made, content = {"unchanged": np.zeros(len(attacked), dtype=bool)}, None
    if len(at):
        clusters, truths = original.clusters[words.document[at]], [truth[k] for k in at]
        counted: dict[tuple, Counter] = {}
        for k, (d, _) in places.items():
            counted.setdefault((1 - half[d], seen[k]), Counter())[truth[k]] += 1
        looked_up = {key: counts.most_common(1)[0][0] for key, counts in counted.items()}
        read = MaskInference(PublicReader(public_words()[:_GUESSED]))
        answers = {"context": read.reconstruct(pairs.released, [places[k] for k in at])}
        answers["dictionary"] = [looked_up.get((half[places[k][0]], seen[k]), "") for k in at]
        constant = np.array(truths) == Counter(truths).most_common(1)[0][0]
        rows = []
        for name, guesses in answers.items():
            right = np.array(guesses) == np.array(truths)
            made[name] = np.zeros(len(attacked), dtype=bool)
            made[name][at] = right
            excess = clustered_difference(right.astype(float) - constant, clusters)._asdict()
            rows.append({"attack": name, "label": ATTACKS[name], **_rate(right, clusters), "excess": excess})
        content = {"places": len(at), "constant": _rate(constant, clusters), "attacks": rows}
    recovered = []
    for name, hits in made.items():
        for group, of in words.groups.items():
            if (both := of & attacked).any():
                clusters, found = original.clusters[words.document[both]], (words.verbatim | hits)[both]
                most = _rate(found | (words.place[both] < 0), clusters)["high"]
                about = {"attack": name, "label": ATTACKS[name], "group": group, "words": int(both.sum())}
                recovered.append({**about, **_rate(found, clusters), "most": most})
    return content, recovered, (attacked, max(made.values(), key=np.count_nonzero))


def _retrieved(pairs: _Pairs) -> dict[str, Any]:
    """Measure how often a release's original is the most similar, beside another row's and length alone."""
    original, (pool, targets, others) = pairs.original, pairs.original.sought
    rows, among = np.arange(len(targets)), min(original.among, len(pool))
    clusters = original.clusters[pool[targets]]
    candidates, released = [original.docs[d] for d in pool], [pairs.released[d] for d in pool[targets]]
    lengths, found = (np.log([1 + len(doc) for doc in docs]) for docs in (candidates, released))
    gaps = np.abs(found[:, None] - lengths - np.median(found - lengths[targets]))
    near = -gaps / (1 + gaps)
    doubles = linking.copies([candidates[at] for at in targets], candidates)
    doubles[rows, targets] = False
    near[doubles] = -np.inf  # to name a copy is to name the document
    alone = Ranks.of(near[rows, targets], near).success(among)
    similar, skipped = {"words": _tf_idf(released, candidates)}, {}
    try:
        similar["embeddings"] = _unit_vectors([pairs.written[d] for d in pool[targets]]) @ original.vectors.T
    except (ModuleNotFoundError, ValueError, OSError) as error:  # the encoder cannot be had
        skipped["embeddings"] = type(error).__name__
    attacks = []
    for name, cosines in similar.items():
        scores = cosines + _TIE * near
        main = Ranks.of(scores[rows, targets], scores).success(among)
        own = np.zeros(scores.shape, dtype=bool)
        own[rows, targets] = True  # is taken away for the control, and another row seeks to be named in its place
        rest = scores[~own].reshape(len(rows), -1)
        control = Ranks.of(scores[rows, others], rest).success(min(among, rest.shape[1]))
        excess = clustered_difference(main - alone, clusters)._asdict()
        shares = {"main": _rate(main, clusters), "control": _rate(control, clusters), "excess": excess}
        attacks.append({"attack": name, "label": ATTACKS[name], **shares})
    about = {"among": among, "releases": len(targets), "length": _rate(alone, clusters)}
    return about | {"attacks": attacks, "skipped": skipped}


def _persons(pairs: _Pairs, members: Sequence[Sequence[int]]) -> dict[str, Any]:
    """Measure how often a person is identified by words (TF-IDF) that releases and other originals share."""
    sides, among = (pairs.original.docs, pairs.released), pairs.original.among
    if len(halves := linking.halved(sides[0], members)) < 3:
        return linking.persons(members, np.zeros((0, 0)), among)
    known, released = (
        [[word for d in half[part] for word in docs[d]] for half in halves] for part, docs in enumerate(sides)
    )
    return linking.persons(members, _tf_idf(released, known), among)


def _fates(pairs: _Pairs, words: _Words, attacked: np.ndarray, named: np.ndarray) -> list[dict[str, Any]]:
    """The entities of each kind that are left in the release of their row, partly left, or gone; and guessed.

    An entity is left where its words are in the release side by side, whatever marks are between them. It is
    partly left where a run of three letters or digits of it is in the release and nowhere else in the original. It
    is guessed where it is not left and an attacker recovers all of its words. The control seeks it in the release
    of another row.
    """
    original, number = pairs.original, {at: k for k, at in enumerate(zip(words.document, words.at, strict=True))}
    fates: dict[str, list[tuple]] = {}
    for kind, d, places in original.entities:
        doc, after, stranger = original.docs[d], pairs.released[d], pairs.released[original.strangers[d]]
        entity, rest = [doc[i] for i in places], [word for i, word in enumerate(doc) if i not in places]
        left, chance = (_holds(row, entity, squeezed=kind != "name") for row in (after, stranger))
        own, released, beside = (set(re.findall(r"[^\W_]{3,}", " ".join(row))) for row in (entity, after, rest))
        part, at = not left and bool(own & released - beside), [number[d, i] for i in places]
        guessed = not left and bool((words.verbatim | named)[at].all())
        row = left, part, not left and not part, guessed, attacked[at].all(), chance, original.clusters[d]
        fates.setdefault(kind, []).append(row)
    rows = []
    for kind, entries in sorted(fates.items()):
        *flags, guessed, tried, chances, clusters = map(np.array, zip(*entries, strict=True))
        row = {"kind": kind, "found": len(entries), "control": _rate(chances, clusters), "guessed": None}
        for fate, hits in zip(("left", "partly", "gone"), flags, strict=True):
            row[fate] = _counted(hits, clusters)
        if tried.any():
            row["guessed"] = _counted(guessed[tried], clusters[tried])
        rows.append(row)
    return rows


def _holds(row: Sequence[str], entity: Sequence[str], *, squeezed: bool) -> bool:
    """Return whether the words of an entity are in a row side by side; squeezed, blanks and marks do not count."""
    both = [" ".join(word for word in words if materials.is_word(word)) for words in (entity, row)]
    short, long = (re.sub(r"[\W_]", "", words) for words in both)
    return short in long if squeezed and len(short) >= _LONG else f" {both[0]} " in f" {both[1]} "


def _decided(content: Mapping[str, Any], limits: Mapping[str, float]) -> dict[str, Any]:
    """The verdict by the rules of `deciding`."""
    fits, linkage, documents = content["belonging"], content["linkage"], content["about"]["documents"]
    of_rows, doubts = [], []
    if fits["astray"]:
        listed = ", ".join(map(str, fits["listed"]))
        what = "share more words with the release of another row than with their own: are rows shuffled?"
        of_rows.append(f"{many(fits['astray'], 'row')} ({listed}; from 0) {what}")
    if not fits["shown"]:
        of_rows.append("That rows belong together is not shown: they share no more words than rows at random.")
    if documents < deciding.FEW:
        doubts.append(f"{many(documents, 'document')} show nothing to be kept: audit more rows.")
    if not any(LIMITS[name] for name in limits):
        doubts.append("No limit for words was asked for: pass --tolerate words=0.2, say.")
    tolerated, rows = {"documents": min(linkage["length"]["value"] + deciding.MORE, 1.0)} | dict(limits), []
    for name, most in tolerated.items():
        measured = [row["main"] for row in linkage["attacks"]]
        if (group := LIMITS[name]) is not None:
            of_group = [row for row in content["words"]["recovered"] if row["group"] == group]
            measured = [row | {"high": row["most"]} for row in of_group]
        doubtful = {"few": documents < deciding.FEW, "unread": bool(of_rows)}
        rows.append(deciding.limit_row(name, most, name in limits, measured, **doubtful))
    verdict = deciding.verdict_of(rows, of_rows + doubts)
    said = [_of_words(content["words"], rows), _of_documents(content, rows[0])]
    first = verdict == deciding.OPEN and (of_rows or doubts)
    reasons = [" ".join(of_rows + doubts), *said] if first else [*said, " ".join(of_rows) or ABSENT]
    advice = ["The documents that are left whole."] if content["words"]["whole"]["number"] else []
    parts = ((row["kind"], row["left"]["number"] + row["partly"]["number"]) for row in content["entities"])
    if kinds := [kind.replace("_", " ") for kind, number in parts if number]:
        advice.append(f"Entities that are left, whole or in part: {', '.join(kinds)}.")
    if beside := content["about"]["beside"]:
        columns = f"the release has {many(beside, 'column')} beside the text"
        advice.append(f"Another column removed: {columns}, which no attack reads.")
    advice.append("Release once: two releases of one text give away more.")
    return {"verdict": verdict, "limits": rows, "reasons": reasons, "next": advice}


def _of_words(words: Mapping[str, Any], limits: Sequence[Mapping[str, Any]]) -> str:
    by_group = {row["group"]: row for row in words["verbatim"]}
    every, content = by_group["all"], by_group.get("content", by_group["all"])
    verbatim, off, chance = (percent(row["value"]) for row in (every, content, every["control"]))
    line = f"Of 100 words {verbatim} ({odds(every['value'])}) are verbatim at their place, of those off the stop "
    line += f"list {off}; in the release of another row {chance}."
    if (guesses := words["guesses"]) is not None:
        best = max(guesses["attacks"], key=lambda row: row["value"])
        share, constant = percent(best["value"]), percent(guesses["constant"]["value"])
        line += f" Of 100 replaced words {share} are guessed ({best['label']}), {constant} by one word for all"
        line += f"{not_shown(best['excess'], 0, 'an attack does better')}."
    asked = [
        f" {row['limit'].capitalize()}: {deciding.held_against(row)}" for row in limits if LIMITS[row["limit"]]
    ]
    return line + "".join(asked)


def _of_documents(content: Mapping[str, Any], row: Mapping[str, Any]) -> str:
    linkage, left = content["linkage"], content["words"]["whole"]
    best = max(linkage["attacks"], key=lambda attack: attack["main"]["value"])
    line = deciding.identified(linkage, best["main"], linkage["length"]["value"])
    line += f"{not_shown(best['excess'], 0, 'the words add to it')}. {deciding.held_against(row)}"
    if left["number"]:
        listed = ", ".join(map(str, left["listed"])) + (", …" if left["number"] > _LISTED else "")
        line += f" {many(left['number'], 'document')} of {_WHOLE} words or more left whole: {listed} (from 0)."
    return line


def _counted(hits, clusters) -> dict[str, float]:
    return {"number": int(hits.sum()), "of": len(hits), **_rate(hits, clusters)}


def _unit_vectors(texts: Sequence[str]) -> np.ndarray:
    vectors = sentence_vectors(texts, stored=False).astype(float)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True).clip(1e-12)


def _rate(hits, clusters) -> dict[str, float]:
    return clustered_rate(hits, clusters)._asdict()


def _marked(text: str, original: str) -> list[str]:
    """The tokens of a released text, each mark that the original does not have as one."""
    parts = enumerate(re.split(f"({_MARK.pattern})", text))
    cut = ([part.lower()] if n % 2 and part not in original else tokenize(part) for n, part in parts)
    return [token for tokens in cut for token in tokens]


def _sets(docs: Sequence[Sequence[str]], but: frozenset[str] = frozenset()) -> scipy.sparse.csr_array:
    """The words of each document, (documents, words), 1 where it has the word."""
    index: dict[str, int] = {}
    kept = [[word for word in set(doc) - but if materials.is_word(word)] for doc in docs]
    columns = np.array([index.setdefault(word, len(index)) for doc in kept for word in doc], dtype=np.intp)
    ends = np.cumsum([0, *map(len, kept)])
    return scipy.sparse.csr_array((np.ones(len(columns)), columns, ends), shape=(len(docs), max(len(index), 1)))


def _tf_idf(released: Sequence[Sequence[str]], candidates: Sequence[Sequence[str]]) -> np.ndarray:
    """Cosines, (released, candidates), of words weighted by their rarity among the candidates."""
    both = _sets([*candidates, *released])
    both = both * np.log((2 + len(candidates)) / (1 + both[: len(candidates)].sum(axis=0)))
    both = scipy.sparse.csr_array(both / np.sqrt((both * both).sum(axis=1)).clip(1e-12)[:, None])
    return (both[len(candidates) :] @ both[: len(candidates)].T).toarray()
