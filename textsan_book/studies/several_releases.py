"""Several releases of one source: a document that is released k times, and k texts of one pseudo-writer.

A pseudo-writer is a set of texts that stand together: sentences of an editorial (nyt) or of a medical report
(mtsamples). It stands in for a person, of whom nothing is claimed. Main: the source of the releases is named among
the candidates. Control: releases are of another source, which is no candidate, and the same one is named.
Baseline: the attacker sees lengths alone. Log-likelihoods are summed over the releases.
"""

import re
from collections.abc import Sequence

import numpy as np

from textsan.attacks import Knowledge, Linkage, Ranks
from textsan.mechanisms import make_mechanism
from textsan.sweeps.splits import PUBLIC
from textsan.text.corpora import load_dataset
from textsan.text.loading import load_embeddings
from textsan.text.vocabulary import count_words, tokenize_v1
from textsan_book.studies.experiments import Rows
from textsan_book.studies.linkage import by_length, excess_row, of_equal_lengths

Docs = Sequence[Sequence[str]]

RELEASES = 1, 2, 4, 8
"""How many releases the attacker has."""

KNOWN = 4
"""Texts of each pseudo-writer that the attacker has, none of which is released."""

CHANGED = 0.5, 0.7, 0.9, 0.97
"""Shares of the words that are not of a writer's known ones; one is chosen on writers of the attacker's own."""

_MOST = max(RELEASES)


def several_releases(
    *, dataset: str, defence: str, epsilon: float, seed: int, n: int = 100, n_candidates: int = 1000
) -> Rows:
    """Measure how often k releases give their source away: a document among others, a pseudo-writer among others.

    Of `n` pseudo-writers each is a candidate and released in turn, with a document of it; as many others are
    controls, and twice as many are the attacker's own. Each document is looked for among `n_candidates`. Rows have
    threat ("same document", "one writer"), releases, candidates, changed (the share that was chosen), and what
    `excess_row` has.
    """
    own, listed, strangers, docs = _drawn(dataset, n, seed)
    shadow = [doc for texts in own for doc in texts]
    words = load_embeddings().frequent(PUBLIC)
    mechanism = make_mechanism(defence, words, counts=count_words(shadow), epsilon=epsilon)
    knowledge = Knowledge.of(mechanism, shadow=shadow, seed=seed)
    made = iter(range(100))  # each release has noise of its own

    def release(texts: Docs) -> list[list[str]]:
        return mechanism.sanitize(texts, np.random.default_rng([seed, next(made)]))

    others = of_equal_lengths(docs[:n], docs[n:])
    absent, left = [docs[n:][i] for i in others], frozenset(others)
    candidates = [*docs[:n], *(doc for i, doc in enumerate(docs[n:]) if i not in left)][:n_candidates]
    attack = Linkage.against(knowledge)
    tables = {
        "same document": [
            [attack.log_likelihoods(release(texts), candidates) for _ in range(_MOST)]
            for texts in (docs[:n], absent)
        ]
    }
    lengths = by_length(docs[:n], candidates).success()

    learnt = [release([texts[KNOWN + j] for texts in own[:n]]) for j in range(KNOWN)]
    known = [sum(texts[:KNOWN], []) for texts in own[:n]]
    changed = max(CHANGED, key=_sources(attack, learnt, known, CHANGED, _named).get)
    known = [sum(texts[:KNOWN], []) for texts in listed]
    rounds = [release([texts[KNOWN + j] for texts in some]) for some in (listed, strangers) for j in range(_MOST)]
    scores = _sources(attack, rounds, known, [changed])[changed]
    tables["one writer"] = [scores[:_MOST], scores[_MOST:]]
    alone = _length_scores(listed)
    rows = []
    for threat, (main, control) in tables.items():
        same = threat == "same document"
        for k in RELEASES:
            hits = [Ranks.of(table.diagonal(), table).success() for table in (sum(main[:k]), sum(control[:k]))]
            scores = sum(alone[:k])
            hits.append(lengths if same else Ranks.of(scores.diagonal(), scores).success())
            about = {"threat": threat, "releases": k, "candidates": main[0].shape[1]}
            rows.append(about | {"changed": None if same else changed} | excess_row(*hits, np.arange(n)))
    return rows


def writers(dataset: str) -> list[list[list[str]]]:
    """Read the texts of each pseudo-writer, none twice: sentences of an article (nyt) or a report (mtsamples)."""
    texts: dict[str, list[str]] = {}
    reports: dict[str, str] = {}
    for record in load_dataset(dataset, "train" if dataset == "mtsamples" else "all"):
        if dataset == "mtsamples":
            reports[record.fields["note_id"]] = record.fields["transcription"]
        else:
            texts.setdefault(record.fields["id"].split("_")[0], []).append(record.text)
    texts |= {key: re.split(r"(?<=[.?!])\s+", report) for key, report in reports.items()}
    seen: set[str] = set()
    found: list[list[list[str]]] = []
    for sentences in texts.values():
        fresh = [text for text in dict.fromkeys(sentences) if text not in seen and len(text.split()) > 2]
        seen.update(fresh)
        found.append([tokenize_v1(text) for text in fresh])
    return found


def _drawn(dataset: str, n: int, seed: int) -> tuple[list, list, list, Docs]:
    """Draw the attacker's own writers, candidates, strangers, and documents, the first ones a candidate's each."""
    rng, everyone = np.random.default_rng(seed), writers(dataset)
    texts = [[everyone[i][j] for j in rng.permutation(len(everyone[i]))] for i in rng.permutation(len(everyone))]
    parts: list[list] = []
    for size, least in ((n, KNOWN + _MOST), (n, _MOST), (2 * n, 2 * KNOWN)):
        parts.append([one for one in texts if len(one) >= least][:size])
        texts = [one for one in texts if not any(one is other for other in parts[-1])]
    candidates, strangers, own = parts
    rest = [doc for one in (*(one[1:] for one in candidates), *strangers, *texts) for doc in one]
    docs = [one[0] for one in candidates] + [rest[i] for i in rng.permutation(len(rest))]
    return own, candidates, [[[]] * KNOWN + one for one in strangers], docs


def _sources(attack: Linkage, rounds: Sequence[Docs], known: Docs, shares: Sequence[float], use=list) -> dict:
    """Compute log-likelihoods (released, sources) of each round, for each share of words off the known ones.

    They are of `Linkage.source_likelihoods` with `changed`; a released word is looked up once for all shares.
    """
    words = list(dict.fromkeys(word for texts in rounds for doc in texts for word in doc))
    number = {word: at for at, word in enumerate(words)}
    rates = np.exp(attack.source_likelihoods([[word] for word in words], known))
    others = np.exp(attack.log_prior_released(words))[:, None]
    scores = {}
    for share in shares:
        logs = np.log((1 - share) * rates + share * others)
        scores[share] = use(
            [np.array([logs[[number[word] for word in doc]].sum(axis=0) for doc in texts]) for texts in rounds]
        )
    return scores


def _named(tables: Sequence[np.ndarray]) -> float:
    total = sum(tables)
    return float(Ranks.of(total.diagonal(), total).success().mean())


def _length_scores(texts: Sequence[Docs]) -> list[np.ndarray]:
    """Log-likelihoods of lengths: log-normal about each writer's known ones, drawn towards the mean of all."""
    logs = np.log([[len(doc) for doc in one[: KNOWN + _MOST]] for one in texts])
    within, means = logs[:, :KNOWN].var(axis=1, ddof=1).mean(), logs[:, :KNOWN].mean(axis=1)
    between = max(means.var(ddof=1) - within / KNOWN, 1e-9)
    weight = between / (between + within / KNOWN)
    centres, spread = means.mean() + weight * (means - means.mean()), within + weight * within / KNOWN
    return [-((logs[:, KNOWN + j, None] - centres) ** 2) / (2 * spread) for j in range(_MOST)]
