"""Disclosure about the writer of a release: an attribute that is read from it, and words that can be claimed.

To read a label from sanitized text is a task, so that this is utility with its sign turned: what an owner calls
accuracy is a disclosure where the writer did not mean to tell. The attacker owns labelled text of the same kind,
sanitizes it with the same mechanism, learns from that and reads the releases of others.
Main: the attribute of a release's own writer. Control: the same answers held against the other writers; so often
anybody is described who did not write it. Baseline: the most frequent attribute of the attacker's text, always.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler

from textsan import leakage
from textsan.attacks import ContextFreeBayes
from textsan.auditing.documents import HALF, named_law
from textsan.auditing.material import is_word
from textsan.base.listed import Listed
from textsan.evaluation import bootstrap_mean, clustered_difference, clustered_rate
from textsan.mechanisms import Mechanism, make_mechanism
from textsan.priors import Prior
from textsan.sweeps.splits import PUBLIC
from textsan.text.corpora import Record, load_dataset, private_and_shadow, source_numbers
from textsan.text.embeddings import Embeddings
from textsan.text.loading import load_embeddings
from textsan.text.sources import sharing_runs
from textsan.text.vocabulary import STOP_WORDS, count_words
from textsan_book.studies.experiments import Release, columns, takes_settings
from textsan_book.studies.exposure import vulnerability_of
from textsan_book.studies.linkage import only

Docs = Sequence[Sequence[str]]

PRECISION = 0.95
"""Of what an attacker claims so much is to be right, by the attacker's own reckoning."""

DRAWS = 9
"""Releases of each document, to tell a writer who is always read from one who is read by chance."""

LENGTH, CANDIDATES = 2, 1000
"""Content words of a document, and documents, of the linkage that stands beside: of more words all are linked."""

_COPIES = 3  # how often the attacker sanitizes text of their own
_FOLDS = 5  # of that text, to learn how sure an answer is
_FEWEST = 20  # texts of an attribute in the corpus, and answers from which a threshold is learnt
_MATCHED = 100  # documents that the linkage is averaged over


@takes_settings
def writers(release: Release, *, n_released: int = 300, n_shadow: int = 1000) -> list[dict]:
    """Measure how often a release tells what its writer feels, has or writes about, and how many words surely.

    Labelled texts of `labelled` are released, each `DRAWS` times; the attacker owns `n_shadow` others. Rows have
    reading ("release", "kept words and length", "original", "words"), answers, how many there are, main with ends,
    control, baseline, excess of main over control with ends, lead of main over baseline with ends; claimed, the
    share that is claimed, and precision with ends of those claims; half, tenth and hundredth, the share read right
    of the documents that so many exceed; read, the share of documents that are read right each time (of words: of
    which half are named, in expectation); and right, a sign a document, + where its first release is read right.
    Beside them vulnerability and linked with ends, of content words.
    """
    records, seed = labelled(release.dataset), release.seed
    private, shadow = private_and_shadow(records, n_released, n_shadow, seed)
    docs, own = ([list(record.tokens) for record in part] for part in (private, shadow))
    truth, learnt = (np.array([record.label for record in part]) for part in (private, shadow))
    words = load_embeddings().frequent(PUBLIC)
    mechanism = make_mechanism(release.defence, words, counts=count_words(own), epsilon=release.epsilon)
    releases = mechanism.sanitize(docs * DRAWS, seed=seed)
    copies = mechanism.sanitize(own * _COPIES, seed=seed, first=1 << 21)
    of_own, sources = np.array(source_numbers(shadow)), np.array(source_numbers(private))
    readings = {
        "release": (copies, releases),
        "kept words and length": (only(mechanism.keep, own, "_"), only(mechanism.keep, docs, "_")),
        "original": (own, docs),
    }
    beside = _beside(mechanism, docs, seed)
    rows = []
    for reading, (text, asked) in readings.items():
        times = len(text) // len(own)
        reader = Reader(text, np.tile(learnt, times), np.tile(of_own, times), words)
        rows.append({"reading": reading} | _of_attributes(*reader.read(asked), truth, learnt, sources, seed))
    rows.append({"reading": "words"} | _of_words(mechanism, docs, own, releases, sources, seed))
    return [row | beside for row in rows]


def labelled(dataset: str) -> list[Record]:
    """Read all texts of a data set, with what is to be read from each as its label.

    That is a name, or for a score with a fraction its sign. Texts of attributes that fewer than twenty have, or of
    none, are left out. Where the data set does not say which texts are of one source, those are that share eight
    words in a row, directly or through others: many descriptions are made of one pattern, and whoever owns one has
    read half of the next.
    """
    records = [one for one in load_dataset(dataset, "all") if one.label is not None]
    named = [replace(record, label=_name(record.label)) for record in records]
    names, counts = np.unique([one.label for one in named], return_counts=True)
    frequent = set(names[counts >= _FEWEST].tolist())
    kept = [one for one in named if one.label in frequent]
    if not all("part_of" in one.fields for one in kept):
        for one, source in zip(kept, sharing_runs([one.tokens for one in kept]), strict=True):
            one.fields["part_of"] = source
    return kept


def _name(label: str | float) -> str:
    return str(label) if not isinstance(label, float) else "positive" if label > 0 else "negative"


def content_words(mechanism: Mechanism) -> frozenset[str]:
    """Select the words that all sanitizers here protect: with a letter or a digit, and no stop words."""
    return frozenset(word for word in mechanism.channel.inputs if is_word(word) and word not in STOP_WORDS)


def content_counts(mechanism: Mechanism, docs: Docs) -> dict[str, int]:
    """Count the `content_words` of documents."""
    content = content_words(mechanism)
    return {word: n for word, n in count_words(docs).items() if word in content}


class Answers(NamedTuple):
    """An answer for each document, (n,), and whether the attacker would claim it."""

    answers: np.ndarray
    claimed: np.ndarray


class Reader:
    """A linear classifier of texts: the mean of two, of the words that occur and of their mean vector and number.

    Words that occur tell most where they come through, mean vectors where only their neighbourhood does, and how
    many there are is released whatever they are. Text of the reader's own, a fifth of its sources at a time, tells
    how probable an answer must be for `PRECISION` of the claims to be right.

    >>> table = Embeddings(["good", "bad"], [[1.0], [-1.0]])
    >>> reader = Reader([["good"], ["bad"]] * 40, np.array(["+", "-"] * 40), np.arange(80), table)
    >>> reader.read([["bad"], ["good"]]).answers.tolist()
    ['-', '+']
    """

    def __init__(self, docs: Docs, labels: np.ndarray, sources: np.ndarray, embeddings: Embeddings):
        self.embeddings = embeddings
        self.classes = np.unique(labels)
        self._bag = TfidfVectorizer(analyzer=list, sublinear_tf=True)
        self._scale = StandardScaler()
        seen = self._bag.fit_transform(docs), self._scale.fit_transform(self._dense(docs))
        known, group = np.unique(sources, return_inverse=True)
        fold = (np.random.default_rng(0).permutation(len(known)) % _FOLDS)[group]
        probabilities = np.zeros((len(docs), len(self.classes)))
        for part in range(_FOLDS):
            others, rest = np.flatnonzero(fold != part), np.flatnonzero(fold == part)
            heads = _heads([column[others] for column in seen], labels[others])
            probabilities[rest] = self._probabilities(heads, [column[rest] for column in seen])
        right = self.classes[probabilities.argmax(axis=1)] == labels
        self.threshold = surely(probabilities.max(axis=1), right)
        self._learnt = _heads(seen, labels)

    def read(self, docs: Docs) -> Answers:
        """Read the attribute of each document."""
        seen = self._bag.transform(docs), self._scale.transform(self._dense(docs))
        probabilities = self._probabilities(self._learnt, seen)
        return Answers(self.classes[probabilities.argmax(axis=1)], probabilities.max(axis=1) >= self.threshold)

    def _dense(self, docs: Docs) -> np.ndarray:
        """The mean vector of each document, how long it is, and the logarithm of that."""
        index, vectors = self.embeddings.index, self.embeddings.vectors
        means, sizes = np.zeros((len(docs), vectors.shape[1])), np.array([[float(len(doc))] for doc in docs])
        for row, doc in zip(means, docs, strict=True):
            if known := [index[word] for word in doc if word in index]:
                row[:] = vectors[known].mean(axis=0)
        return np.hstack([means, sizes, np.log1p(sizes)])

    def _probabilities(self, heads: Sequence[LogisticRegression], seen) -> np.ndarray:
        """Of all classes; one that a head has not seen has probability 0."""
        total = np.zeros((seen[0].shape[0], len(self.classes)))
        for head, part in zip(heads, seen, strict=True):
            total[:, np.searchsorted(self.classes, head.classes_)] += head.predict_proba(part) / len(heads)
        return total


def _heads(seen, labels: np.ndarray) -> list[LogisticRegression]:
    strengths = 10.0, 0.1  # inverse weights of the penalty, of words and of vectors
    return [
        LogisticRegression(C=c, max_iter=300).fit(part, labels) for c, part in zip(strengths, seen, strict=True)
    ]


def surely(said: Listed[float], right: Listed[bool]) -> float:
    """Find the least probability from which `PRECISION` of the answers were right, at least twenty of them.

    Infinity where there is none.
    """
    said, right = np.asarray(said, dtype=float), np.asarray(right, dtype=bool)
    order = np.argsort(-said, kind="stable")
    shares = np.cumsum(right[order]) / np.arange(1, len(order) + 1)
    last = np.append(said[order][1:] < said[order][:-1], True)  # no threshold lies between equal ones
    enough = np.flatnonzero(last & (shares >= PRECISION) & (np.arange(len(order)) >= _FEWEST - 1))
    return float(said[order[enough[-1]]]) if len(enough) else np.inf


def _of_attributes(answers, claimed, truth, learnt, sources, seed: int) -> dict:
    n = len(truth)
    answers, claimed = answers.reshape(-1, n), claimed.reshape(-1, n)
    right = answers == truth
    names, counts = np.unique(learnt, return_counts=True)
    baseline = truth == names[counts.argmax()]
    control = np.mean([held_against_others(answer, truth) for answer in answers], axis=0)
    groups = np.broadcast_to(sources, right.shape)[claimed]
    row = _row(right.mean(axis=0), control, baseline, sources, seed)
    row |= {"answers": len(names), "read": right.all(axis=0).mean(), "claimed": claimed.mean()}
    return row | _precision(right[claimed], groups) | {"right": "".join(np.where(right[0], "+", "."))}


def held_against_others(answers: Listed[str], truth: Listed[str]) -> np.ndarray:
    """Compute how often answers are what another writer is, (n,): the control, as each document bears on it.

    A document bears on it twice, by its answer, held against all others, and by its writer, against whom all other
    answers are held. Both are counted, and their mean is taken off once: an interval over documents of what is
    right less this has the width of one of the whole excess (Hoeffding 1948, the projection of a U-statistic).

    >>> held_against_others(["a", "a"], ["a", "b"]).tolist()
    [0.5, 0.5]
    """
    answers, truth = np.asarray(answers), np.asarray(truth)
    fits = answers[:, None] == truth
    np.fill_diagonal(fits, False)
    n = len(truth) - 1
    return fits.sum(axis=1) / n + fits.sum(axis=0) / n - fits.sum() / n / (n + 1)


def _of_words(mechanism: Mechanism, docs: Docs, own: Docs, releases: Docs, sources, seed: int) -> dict:
    """Content words by the best rule for single words, with the attacker's counts."""
    content, channel = content_words(mechanism), mechanism.channel
    positions = [(d, i) for d, doc in enumerate(docs) for i, word in enumerate(doc) if word in content]
    truths = [docs[d][i] for d, i in positions]
    known = count_words(own)
    prior = np.array([known[word] + 1.0 if word in content else 0.0 for word in channel.inputs])
    favourite = channel.inputs[int(prior.argmax())]
    table = channel.posterior(prior / prior.sum(), k=1)
    chances = table.hit_probabilities(truths)
    documents, where = np.unique([d for d, _ in positions], return_inverse=True)
    sizes = np.bincount(where)
    attack = ContextFreeBayes(channel, known, attacked=content)
    posteriors = attack.posteriors(releases[: len(docs)], positions, k=1)
    sure, guesses = np.exp(posteriors.log_probabilities[:, 0]), np.array(posteriors.mode())
    order = np.argsort(-sure, kind="stable")
    many = int((np.cumsum(sure[order]) / np.arange(1, len(order) + 1) >= PRECISION).sum())  # the mean only falls
    claimed = order[:many]
    control = held_against_others(guesses, truths)
    means = (
        np.bincount(where, weights=one) / sizes
        for one in (chances, control, np.array([word == favourite for word in truths], dtype=float))
    )
    row = _row(*means, sources[documents], seed)
    parts = np.split(chances, np.cumsum(sizes)[:-1])
    read = [named_law(part)[int(np.ceil(HALF * len(part))) :].sum() for part in parts]
    row |= {"answers": len(content), "read": float(np.mean(read)), "claimed": many / len(positions)}
    right = (guesses == np.array(truths))[claimed]
    return row | _precision(right, sources[documents][where[claimed]]) | {"right": ""}


def _row(main, control, baseline, sources, seed: int) -> dict:
    row = {}
    excess = bootstrap_mean(main - control, sources, seed=seed)  # not within [-1, 1]: see `held_against_others`
    rates = clustered_rate(main, sources), excess, clustered_difference(main - baseline, sources)
    for name, rate in zip(("main", "excess", "lead"), rates, strict=True):
        row |= columns(rate, f"{name}_")
    row |= {"control": np.mean(control), "baseline": np.mean(baseline), "documents": len(main)}
    levels = {"half": 0.5, "tenth": 0.9, "hundredth": 0.99}
    return row | {name: float(np.quantile(main, level)) for name, level in levels.items()}


def _precision(right, groups) -> dict:
    return columns(clustered_rate(right, groups) if len(right) else (None, None, None), "precision_")


def _beside(mechanism: Mechanism, docs: Docs, seed: int) -> dict:
    """Success on a content word, exactly, and on documents of `LENGTH` of them, by formula."""
    counted = content_counts(mechanism, docs)
    prior = Prior.from_counts(counted, mechanism.channel.inputs, alpha_inverse=0)
    asked = prior, mechanism.channel, LENGTH, CANDIDATES
    success = leakage.linkage_success(*asked, draws=_MATCHED, seed=seed)
    return {"vulnerability": vulnerability_of(mechanism, docs, counted)} | columns(success, "linked_")
