"""The explorer's data: a small public world that a page can hold, and what a reader without scripts sees of it.

The page computes everything anew in the browser: channels, posteriors, forward-backward, linkage. What it is given
are a list of words, their vectors rounded to whole numbers, how often each word and each pair of neighbours stands
in three corpora, and candidates drawn from the Markov source of these counts. No sentence of a corpus is in it.
`material` has the same as objects of the package, so that a test can hold the page's numbers against theirs.
"""

import html
import json
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from textsan import load_dataset, load_embeddings, tokenize
from textsan.attacks import ContextFreeBayes, MarkovBayes
from textsan.mechanisms import MECHANISMS, CusText, Mechanism, make_mechanism
from textsan.mechanisms.santext import least_frequent
from textsan.priors import MarkovModel
from textsan.text.embeddings import Embeddings
from textsan.text.vocabulary import STOP_WORDS, count_words

CORPORA = "rt", "amazon", "nyt"
WORDS = 2500
UNLISTED = "…"  # the state of all words that are not on the list
CANDIDATES, LONGEST = 1000, 40

# By the registry's names: the parameter that the slider sets, least and largest value, step, and where it begins.
SLIDERS = {
    "custext+": ("epsilon", 0, 16, 0.25, 6),
    "custext": ("epsilon", 0, 16, 0.25, 6),
    "santext": ("epsilon", 0, 8, 0.25, 2),
    "santext+": ("epsilon", 0, 8, 0.25, 2),
    "tem": ("epsilon", 0, 8, 0.25, 2),
    "erasure": ("q", 0, 1, 0.02, 0.5),
}

SENTENCES = (
    "My friend has a drug problem and needs help from his family.",
    "My brother lost his job and has not paid the rent for two months.",
    "The doctor told my mother that her heart may fail before the winter.",
    "Our daughter left school last summer and now works in a small hotel.",
    "I will never buy this camera again because the battery died after one day.",
    "She told the judge that her husband had been violent for years.",
    "The mayor does not want another police officer in our street.",
    "We waited in the hotel for three hours and nobody said a word.",
    "He is a good actor but the story of the film is dull.",
    "The senator will vote against the tax cut next week.",
    "I have been sick since Friday and cannot eat or sleep.",
    "Her new phone was sent back because the screen was broken.",
    "They want to sell the house and move to California in the summer.",
    "The teacher gave every student a letter for the parents.",
    "This music makes me happy when I am alone at night.",
    "The war took his son and he never talks about it.",
    "He keeps all of his money in a box behind the wall.",
    "Please call me before you come to the office on Saturday.",
    "The food in that restaurant was cold and the service was slow.",
    "The company knew that the drug was dangerous and said nothing.",
)
TRIOS = (
    ("good", "great", "bad"),
    ("doctor", "teacher", "actor"),
    ("war", "peace", "music"),
    ("mother", "father", "money"),
)


class Material(NamedTuple):
    """The explorer's world as objects of the package.

    Attributes:
        embeddings: the listed words in GloVe's order; their vectors, whole multiples of one step.
        step: by which the whole numbers are multiplied.
        documents: token lists of the corpora, words that are not listed as `UNLISTED`; not given to the page.
        counts: how often each listed word stands there.
        model: the Markov source fitted on them; its states are the listed words and `UNLISTED`.
        candidates: sentences of `LONGEST` words drawn from it; their first n words are a sentence of n.
    """

    embeddings: Embeddings
    step: float
    documents: list[list[str]]
    counts: Counter
    model: MarkovModel
    candidates: list[list[str]]

    def mechanism(self, name: str, value: float, words: Sequence[str] | None = None) -> Mechanism:
        """A mechanism of the explorer.

        Args:
            name: a key of `SLIDERS`.
            value: of its slider.
            words: a smaller list of words; None is all.
        """
        embeddings = self.embeddings if words is None else self.embeddings.restrict(words)
        return make_mechanism(name, embeddings, counts=self.counts, **{SLIDERS[name][0]: value})


def words_of(sentence: str) -> list[str]:
    """The tokens of a sentence that have a letter or a digit; the others are left out of the explorer.

    >>> words_of("So far, so good.")
    ['so', 'far', 'so', 'good']
    """
    return _words(tokenize(sentence))


def _words(tokens: Sequence[str]) -> list[str]:
    return [token for token in tokens if any(map(str.isalnum, token))]


@lru_cache(maxsize=1)
def material() -> Material:
    """The world of the explorer; the same every time."""
    documents = [_words(record.tokens) for name in CORPORA for record in load_dataset(name)]
    glove = load_embeddings()
    frequent = [word for word, _ in count_words(documents).most_common() if word in glove and word.isascii()]
    frequent = [word for word in frequent if word not in STOP_WORDS][:WORDS]
    shown = {word for sentence in SENTENCES for word in words_of(sentence)} | {
        word for trio in TRIOS for word in trio
    }
    listed = sorted({*frequent, *STOP_WORDS, *shown} & glove.index.keys(), key=glove.index.__getitem__)
    vectors = glove.restrict(listed).vectors.astype(np.float64)
    step = float(np.abs(vectors).max()) / 127
    known = frozenset(listed)
    documents = [[word if word in known else UNLISTED for word in document] for document in documents]
    model = MarkovModel.fit(documents, words=[*listed, UNLISTED])
    candidates = model.sample(CANDIDATES, seed=0, length=LONGEST)
    counts = count_words(documents)
    del counts[UNLISTED]
    embeddings = Embeddings(listed, np.rint(vectors / step) * step)
    return Material(embeddings, step, documents, counts, model, candidates)


def data(world: Material) -> dict:
    """What the page is given: names, and whole numbers.

    Args:
        world: of `material`.
    """
    words, index = world.embeddings.words, world.model.index
    start = len(index)  # the row of what a sentence begins with
    pairs: Counter[tuple[int, int]] = Counter()
    for document in world.documents:
        pairs.update(pairwise([start, *(index[word] for word in document)]))
    followers: list[list[int]] = [[] for _ in range(start + 1)]
    for word, follower in sorted(pairs):
        followers[word] += follower, pairs[word, follower]
    rare = least_frequent(world.counts, words)
    grouped = CusText(world.embeddings, epsilon=1.0).groups
    group_of = {int(word): number for number, group in enumerate(grouped) for word in group}
    return {
        "words": words,
        "unlisted": UNLISTED,
        "step": world.step,
        "vectors": np.rint(world.embeddings.vectors / world.step).astype(int).ravel().tolist(),
        "counts": [world.counts[word] for word in words],
        "stop": [int(word in STOP_WORDS) for word in words],
        "sensitive": [int(word in rare) for word in words],
        "groups": [group_of[i] for i in range(len(words))],
        "followers": followers,  # of each word: one that follows it, how often, another, ..
        "candidates": [[index[word] for word in sentence] for sentence in world.candidates],
        "sentences": SENTENCES,
        "trios": [[index[word] for word in trio] for trio in TRIOS],
        "mechanisms": [
            {"name": name, "label": MECHANISMS[name].label, "colour": MECHANISMS[name].colour}
            | dict(zip(("parameter", "min", "max", "step", "value"), slider, strict=True))
            for name, slider in SLIDERS.items()
        ],
    }


def script(world: Material) -> str:
    """`data` as a script, for a page from the file system may load a script and no json."""
    text = json.dumps(data(world), ensure_ascii=True, separators=(",", ":"))
    return f"(globalThis.textsanExplorer ??= {{}}).data = {text};\n"


class Reading(NamedTuple):
    """A sentence written, released, and read twice; one word a place, None for one that is not attacked."""

    written: list[str]
    released: list[str]
    alone: list[str | None]
    together: list[str | None]


def reading(world: Material, sentence: str, name: str, value: float, seed: int = 0) -> Reading:
    """One draw of a mechanism, with what both attacks make of it.

    Args:
        world: of `material`.
        sentence: whose words are listed.
        name, value: of the mechanism, and where its slider stands.
        seed: of the noise.
    """
    mechanism = world.mechanism(name, value)
    written = words_of(sentence)
    [released] = mechanism.sanitize([written], seed=seed)
    positions = [(0, i) for i, word in enumerate(written) if word in mechanism.protected]
    attacks = (
        ContextFreeBayes(mechanism.channel, world.counts, attacked=mechanism.protected),
        MarkovBayes(mechanism.channel, world.model, attacked=mechanism.protected),
    )
    read: list[list[str | None]] = []
    for attack in attacks:
        guesses = dict(zip(positions, attack.reconstruct([released], positions), strict=True))
        read.append([guesses.get((0, i)) for i in range(len(written))])
    return Reading(written, released, *read)


def still(world: Material) -> str:
    """A picture of one draw, for readers without scripts: four lines of words, hits underlined.

    Args:
        world: of `material`.

    Returns:
        an SVG element in the page's colours.
    """
    name, sentence = next(iter(SLIDERS)), SENTENCES[0]
    parameter, *_, value = SLIDERS[name]
    one = reading(world, sentence, name, value)
    lines = {
        "written": one.written,
        "released": one.released,
        "read without context": [guess or "" for guess in one.alone],
        "read by forward–backward": [guess or "" for guess in one.together],
    }
    label = f"{MECHANISMS[name].label}, {'ε' if parameter == 'epsilon' else parameter} = {value}"
    said = "; ".join(f"{what}: {' '.join(filter(None, words))}" for what, words in lines.items())
    wide = [9 * max(map(len, column)) + 14 for column in zip(*lines.values(), strict=True)]
    # Two halves under one another, so that it can be read on a phone.
    half = (len(wide) + 1) // 2
    parts, width = [], max(sum(wide[:half]), sum(wide[half:]), 330) + 16
    top = 34
    for columns in (range(half), range(half, len(wide))):
        for what, words in lines.items():
            parts.append(f'<text x="8" y="{top}" font-size="11" opacity="0.7">{what}</text>')
            x = 8
            for i in columns:
                hit = what.startswith("read") and words[i] == one.written[i]
                style = ' font-weight="700" text-decoration="underline"' if hit else ""
                parts.append(f'<text x="{x}" y="{top + 18}" font-size="15"{style}>{html.escape(words[i])}</text>')
                x += wide[i]
            top += 42
        top += 14
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {top - 20}" role="img" '
        f'aria-label="{html.escape(f"{label}. {said}")}" fill="currentColor" font-family="sans-serif" '
        f'style="width: 100%; max-width: {width}px; height: auto">'
        f'<text x="8" y="14" font-size="12" font-weight="700">{html.escape(label)}</text>{"".join(parts)}</svg>'
    )


def about(world: Material) -> str:
    """What the page's numbers rest on.

    Args:
        world: of `material`.
    """
    corpora = ", ".join(CORPORA)
    return (
        f"The list has {len(world.embeddings):,} words: stop words, the {WORDS:,} most frequent others of "
        f"{len(world.documents):,} sentences of the corpora {corpora}, and those of the examples; the attacker's "
        f"counts are of these sentences. The {CANDIDATES:,} other candidates are drawn from the Markov source of "
        f"these counts, and are sentences of nobody; {UNLISTED} stands for a word that is not on the list."
    )
