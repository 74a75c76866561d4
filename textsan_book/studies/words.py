"""Words that a language model finds, by kind and in sentences that nobody has written, and what hinders it."""

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cache

import numpy as np

from textsan.attacks import LanguageModelBayes
from textsan.attacks.language_model import COUNTS, TEMPERATURE, unseen_prior
from textsan.evaluation import Estimate, clustered_difference, clustered_rate, paired_difference
from textsan.priors import LanguageModel
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


# --- obstacles of a model that reads a sentence back: its search, the noise around a word, or the word ----------
# An attacker reads words among other sanitized words. Here the same model is also told the true words before, as
# nobody who attacks can be: what it gains by that is what the noise around the word costs the attacker.


@takes_settings
def known_neighbours(release: Attacked, *, vocabulary: int, beams: str, candidates: int) -> list[dict]:
    """Measure a language model under a channel: alone, mixed, and told the true words before the attacked one.

    `beams` are widths of the search, with blanks between; the model chooses from so many candidates a position.
    Rows have an attack or what the model is told, its success, the paired difference to the context-free attack.
    """
    problem = release.problem(vocabulary=vocabulary)
    truths, groups = problem.truth.words, problem.sentences
    guesses = {name: problem.guesses(name) for name in ("context-free", "unseen mass")}
    guesses["markov"] = problem.guesses("markov", public=False)
    for beam in map(int, beams.split()):
        guesses[f"language model, beam {beam}"] = problem.guesses("language model", beam=beam, k=candidates)
    listed = listed_words(problem, candidates)
    guesses["told the words before"] = told(problem, listed)
    among = [x if x in line else None for x, (line, _) in zip(truths, listed, strict=True)]
    guesses["told which of the candidates"] = among
    for name in ("mixture without language", "mixture"):
        guesses[name] = problem.guesses(name, public=False)
    rows = []
    for name, guess in guesses.items():
        row = {"attack": name, "n": len(truths), "vulnerability": problem.vulnerability}
        rate = clustered_rate(np.equal(guess, truths), groups)
        over = paired_difference(guess, guesses["context-free"], truths, groups)
        rows.append(row | columns(rate) | {f"over_{end}": value for end, value in columns(over).items()})
    return rows


def listed_words(problem: Problem, k: int) -> list[tuple[list[str], np.ndarray]]:
    """List for each attacked position the k words of largest Pr(y | x) Pr(x)^COUNTS, with its logarithm.

    Counts are those of the shadow text.
    """
    knows, channel = problem.knowledge, problem.knowledge.channel
    log_prior = np.full(len(channel.inputs), -np.inf)
    prior = channel.prior_array(unseen_prior(knows, knows.shadow))
    inside = np.array([x in knows.attacked and prior[i] > 0 for i, x in enumerate(channel.inputs)])
    log_prior[inside] = np.log(prior[inside])
    released = [problem.released[d][i] for d, i in problem.positions]
    tokens = sorted(set(released))
    numbers, joint = channel.best_inputs(log_prior, tokens, k)
    lists = {}
    for y, line, logs in zip(tokens, numbers, joint, strict=True):
        line, logs = line[logs > -np.inf], logs[logs > -np.inf]
        lists[y] = [channel.inputs[n] for n in line], logs + (COUNTS - 1) * log_prior[line]
    return [lists[y] for y in released]


def told(problem: Problem, listed: Sequence[tuple[list[str], np.ndarray]]) -> list[str]:
    """Guess by the language model where all words before the attacked one are the true ones.

    No attack: it is shown the truth.
    """
    model, private, guesses = LanguageModel.named(), problem.truth.docs, {}
    lists = dict(zip(problem.positions, listed, strict=True))
    for d in sorted({d for d, _ in problem.positions}):
        before = model.begin(1)
        for i, word in enumerate(private[d]):
            if (d, i) in lists:
                words, logs = lists[d, i]
                after, pieces = model.advance(before, [0] * len(words), words)
                weights = logs + TEMPERATURE * (pieces + model.log_end(after))
                guesses[d, i] = words[int(np.argmax(weights))]
            before, _ = model.advance(before, [0], [word])
    return [guesses[position] for position in problem.positions]


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
