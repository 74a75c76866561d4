"""Words that a language model finds, by kind, and in sentences that nobody can have written before."""

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cache

import numpy as np

from textsan.attacks import LanguageModelBayes
from textsan.evaluation import Estimate, clustered_difference, clustered_rate, paired_difference
from textsan.sweeps.problems import Problem
from textsan.text.names import find_names
from textsan_book.studies.experiments import Attacked, columns, takes_settings

RANKS = (1_000, 5_000)
"""Ends of the bands of public frequency: the most frequent words, those up to the second, and the rest."""

NEAR = 40
"""A word is exchanged for one of so many that are next to it in public frequency."""

_PHRASES = """the nurse, my brother, a lawyer, the old farmer, our neighbour, the queen
bought, painted, repaired, lost, borrowed, found, sold, carried
a wooden chair, the broken piano, two silver spoons, a leather coat, an empty bottle
in the market, near the harbour, behind the church, in the forest, beside the river
on friday, before winter, after lunch, last summer, in april, every morning"""
SLOTS = [line.split(", ") for line in _PHRASES.splitlines()]
"""Phrases that dice choose from, one of each list a sentence."""


@takes_settings
def found_words(release: Attacked) -> list[dict]:
    """Measure attacks by part of speech, by public frequency, and on personal names.

    Rows have which words, an attack, its success, the paired difference to the context-free attack on them.
    """
    problem = release.problem()
    kinds, sources = kinds_of(problem), np.array(problem.sentences)
    names = ("context-free", "unseen mass", "markov", "mixture without language", "mixture")
    truths = np.array(problem.truth.words)
    settings = dict.fromkeys(names[2:], {"public": False})
    guesses = {name: problem.guesses(name, **settings.get(name, {})) for name in names}
    hits = {name: np.equal(guess, truths).astype(float) for name, guess in guesses.items()}
    rows = []
    for by, labels in kinds.items():
        for kind in dict.fromkeys(sorted(labels)):
            chosen = np.array([label == kind for label in labels])
            for name, hit in hits.items():
                of = {"by": by, "kind": kind, "attack": name, "n": int(chosen.sum())}
                rate = clustered_rate(hit[chosen], sources[chosen])
                over = clustered_difference((hit - hits["context-free"])[chosen], sources[chosen])
                rows.append(of | columns(rate) | columns(over, "over_"))
    return rows


def kinds_of(problem: Problem) -> dict[str, list[str]]:
    """Classify each attacked word by part of speech in its sentence, band of frequency, and a name or not."""
    tagged, index = parts_of_speech(problem.truth.docs), problem.split.embeddings.index
    names = set(find_names(problem.split.records, "census"))
    first, second = RANKS
    bands = [f"1 to {first:,}", f"{first + 1:,} to {second:,}", f"above {second:,}"]
    ranks = [index[word] for word in problem.truth.words]
    return {
        "part of speech": [tagged[d][i] for d, i in problem.positions],
        "frequency": [bands[int(np.searchsorted(RANKS, rank, side="right"))] for rank in ranks],
        "census": ["a name" if position in names else "no name" for position in problem.positions],
    }


@takes_settings
def remembered(release: Attacked, *, beam: int) -> list[dict]:
    """Measure what a language model adds to the channel in sentences as written, exchanged, and made by dice.

    Neither attack knows any text of the attacker's own. What is added to sentences as they were written, and not
    to those that nobody has written, is what memory, grammar and sense together explain: a bound on memory, from
    above. `beam` is the number of prefixes that are kept a sentence.
    """
    problem, seed = release.problem(), release.seed
    docs, spots = problem.truth.docs, problem.positions
    ranked = [word for word in problem.knowledge.channel.inputs if word in problem.knowledge.attacked]
    parts = parts_of_speech(docs), usual_parts(problem.split.shadow, ranked)
    texts = {"as written": (docs, spots)}
    texts["other words, as frequent"] = exchanged(docs, spots, ranked, seed=seed), spots
    texts["and of the same part of speech"] = exchanged(docs, spots, ranked, parts, seed=seed), spots
    dice, known = made_by_dice(release.n_private, seed=seed), set(ranked)
    places = [(d, i) for d, doc in enumerate(dice) for i, word in enumerate(doc) if word in known]
    texts["made by dice"] = (dice, places)
    rows = []
    for number, (text, (written, positions)) in enumerate(texts.items()):
        released = problem.mechanism.sanitize(written, seed=seed + number)
        alone, added = model_adds(problem, written, released, positions, beam=beam)
        rows.append({"text": text, "n": len(positions)} | columns(alone) | columns(added, "added_"))
    return rows


def exchanged(
    docs: Sequence[Sequence[str]],
    positions: Iterable[tuple[int, int]],
    ranked: Sequence[str],
    parts: tuple[Sequence[Sequence[str]], dict[str, str]] | None = None,
    *,
    seed: int,
) -> list[list[str]]:
    """Exchange the words at some positions for other ones of `ranked`, frequent first, that are about as frequent.

    `parts` are the part of speech of each token, and the usual one of each word: with them words are exchanged for
    ones of the same part of speech.
    """
    rng, rank = np.random.default_rng(seed), {word: n for n, word in enumerate(ranked)}
    tagged, usual = parts or (None, dict.fromkeys(ranked))
    alike = {kind: [word for word in ranked if usual[word] == kind] for kind in set(usual.values())}
    made = [list(doc) for doc in docs]
    for d, i in positions:
        word, candidates = docs[d][i], alike.get(tagged and tagged[d][i], [])
        at = bisect_left(candidates, rank[word], key=rank.__getitem__)
        near = [other for other in candidates[max(0, at - NEAR // 2) : at + NEAR // 2 + 1] if other != word]
        if near:  # else nothing else is like it
            made[d][i] = near[rng.integers(len(near))]
    return made


def made_by_dice(n: int, *, seed: int) -> list[list[str]]:
    """Make n sentences of a phrase from each of `SLOTS`."""
    rng = np.random.default_rng(seed)
    return [" ".join(map(rng.choice, SLOTS)).split() for _ in range(n)]


def model_adds(
    problem: Problem,
    docs: Sequence[Sequence[str]],
    released: Sequence[Sequence[str]],
    positions: Sequence[tuple[int, int]],
    *,
    beam: int,
) -> tuple[Estimate, Estimate]:
    """Measure the channel alone, and what a language model adds to it; neither looks at any text of its own."""
    nothing, truths = replace(problem.knowledge, shadow=None), [docs[d][i] for d, i in positions]
    alone = LanguageModelBayes.against(nothing, beam=1, temperature=0.0)
    model = LanguageModelBayes.against(nothing, beam=beam)
    sources = [d for d, _ in positions]
    without, guesses = (attack.reconstruct(released, positions) for attack in (alone, model))
    rate = clustered_rate(np.equal(without, truths), sources)
    return rate, paired_difference(guesses, without, truths, sources)


# --- parts of speech, by spaCy's small English model -----------------------------------------------------------

_KINDS = {"NOUN": "noun", "PROPN": "name", "VERB": "verb", "AUX": "verb", "ADJ": "adjective", "ADV": "adverb"}
_KINDS |= {"NUM": "number"}


def parts_of_speech(docs: Iterable[Sequence[str]]) -> list[list[str]]:
    """Tag each token of unsanitized documents with its part of speech, in its sentence, or "other".

    The tagger, spaCy's, is a small network trained on text as it is printed; of lower-case text it knows fewer
    names.
    """
    tagger = _tagger()
    from spacy.tokens import Doc

    made = (Doc(tagger.vocab, words=list(doc)) for doc in docs)
    return [[_KINDS.get(token.pos_, "other") for token in doc] for doc in tagger.pipe(made)]


def usual_parts(docs: Sequence[Sequence[str]], words: Iterable[str]) -> dict[str, str]:
    """Find the part of speech that each word has most often in some text; by itself where it is not there."""
    counts: dict[str, Counter] = {}
    for doc, kinds in zip(docs, parts_of_speech(docs), strict=True):
        for word, kind in zip(doc, kinds, strict=True):
            counts.setdefault(word, Counter())[kind] += 1
    words = list(dict.fromkeys(words))
    alone = iter(parts_of_speech([word] for word in words if word not in counts))
    return {word: counts[word].most_common(1)[0][0] if word in counts else next(alone)[0] for word in words}


@cache
def _tagger():
    try:
        import spacy

        [name, *_] = [name for name in spacy.util.get_installed_models() if name.startswith("en_core_web_sm")]
    except (ImportError, ValueError):
        raise ValueError(
            "parts of speech need spaCy and its English model; pip install '.[pii]' in a clone"
        ) from None
    return spacy.load(name, disable=["parser", "ner", "lemmatizer"])
