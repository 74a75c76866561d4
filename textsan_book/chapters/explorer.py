"""The explorer's data: a public world that a page can hold, and the lines that a reader without scripts sees.

The page computes everything anew in the browser, from a list of words, their vectors rounded to whole numbers, and
the counts of words and pairs of neighbours in three corpora; `material` has the same as objects of the package,
for tests. No sentence of the corpora is on the page: they belong to their authors, and the licence of the
collection cannot pass their rights on. The rivals of linkage are sentences of this book, the data set "prose".
"""

import base64
import json
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np
import yaml

from textsan import load_dataset, load_embeddings, tokenize
from textsan.attacks import ContextFreeBayes, MarkovBayes
from textsan.base import assets
from textsan.mechanisms import MECHANISMS, CusText, Mechanism, make_mechanism
from textsan.mechanisms.santext import least_frequent
from textsan.priors import MarkovModel
from textsan.text.embeddings import Embeddings
from textsan.text.vocabulary import STOP_WORDS, count_words

CORPORA = "rt", "amazon", "nyt"
WORDS = 8500  # on the list
FREQUENT = 2500  # of them from the corpora, besides stop words
NAMES = 250  # of each of the census bureau's lists: male, female, family
UNLISTED = "…"  # the state of all words that are not on the list
RIVALS, LONGEST = 200, 40  # rivals of a sentence; words of a sentence that are read


# By the registry's names: the parameter that the slider sets, least and largest value, step, and where it begins.
SLIDERS = {
    "custext+": ("epsilon", 0, 16, 0.25, 6),
    "custext": ("epsilon", 0, 16, 0.25, 6),
    "santext": ("epsilon", 0, 8, 0.5, 2),
    "santext+": ("epsilon", 0, 8, 0.5, 2),
    "tem": ("epsilon", 0, 8, 0.5, 2),
    "erasure": ("q", 0, 1, 0.02, 0.5),
}

_EXAMPLES = yaml.safe_load(Path(__file__).with_suffix(".yml").read_text(encoding="utf-8"))
SENSITIVE = frozenset(_EXAMPLES["sensitive"].split())
SENTENCES = tuple(_EXAMPLES["sentences"])
TRIOS = tuple(map(tuple, _EXAMPLES["trios"]))


class Material(NamedTuple):
    """The explorer's world as objects of the package.

    Vectors of the listed words, in GloVe's order, are whole multiples of one `step`. The documents of the corpora,
    with words that are not listed as `UNLISTED`, are not given to the page; of them are the counts of listed words
    and the Markov source, whose states are the listed words and `UNLISTED`. `prose` are sentences of this book,
    among which rivals are looked for.
    """

    embeddings: Embeddings
    step: float
    documents: list[list[str]]
    counts: Counter
    model: MarkovModel
    prose: list[str]

    def mechanism(self, name: str, value: float, words: Sequence[str] | None = None) -> Mechanism:
        """Make a mechanism of `SLIDERS` at a value of its slider, for all or fewer words."""
        embeddings = self.embeddings if words is None else self.embeddings.restrict(words)
        return make_mechanism(name, embeddings, counts=self.counts, **{SLIDERS[name][0]: value})


def words_of(sentence: str) -> list[str]:
    """Select the tokens of a sentence that have a letter or a digit; the others are left out of the explorer.

    >>> words_of("So far, so good.")
    ['so', 'far', 'so', 'good']
    """
    return [token for token in tokenize(sentence) if any(map(str.isalnum, token))]


@lru_cache(maxsize=1)
def material() -> Material:
    """Make the world of the explorer; the same every time."""
    documents = [words_of(record.text) for name in CORPORA for record in load_dataset(name)]
    glove = load_embeddings()
    plain = [word for word in glove.words if word.isascii() and word.isalpha()]  # frequent ones come first
    frequent = [word for word, _ in count_words(documents).most_common() if word in glove and word.isascii()]
    shown = {word for sentence in SENTENCES for word in words_of(sentence)} | {
        word for trio in TRIOS for word in trio
    }
    wanted = {*STOP_WORDS, *shown, *SENSITIVE, *common_names()}
    wanted |= set([word for word in frequent if word not in STOP_WORDS][:FREQUENT])
    chosen = {word for word in wanted if word in glove}
    chosen |= set([word for word in plain if word not in chosen][: WORDS - len(chosen)])
    listed = sorted(chosen, key=glove.index.__getitem__)
    vectors = glove.restrict(listed).vectors.astype(np.float64)
    step = float(np.abs(vectors).max()) / 127
    documents = [[word if word in chosen else UNLISTED for word in document] for document in documents]
    model = MarkovModel.fit(documents, words=[*listed, UNLISTED])
    counts = count_words(documents)
    del counts[UNLISTED]
    embeddings = Embeddings(listed, np.rint(vectors / step) * step)
    prose = [record.text for record in load_dataset("prose", split="all")]
    return Material(embeddings, step, documents, counts, model, prose)


def common_names() -> list[str]:
    """Read the `NAMES` most common names of each list of the 1990 census: male, female, family."""
    folder = assets.fetch("census-names")
    names = []
    for file in ("dist.male.first", "dist.female.first", "dist.all.last"):
        lines = (folder / file).read_text(encoding="ascii").splitlines()[:NAMES]
        names += [line.split()[0].lower() for line in lines]
    return names


def rivals(world: Material, written: Sequence[str]) -> list[list[str]]:
    """Choose sentences of this book, cut to as many words, that a release could be mistaken for.

    At most `RIVALS`, none equal to what was written and no two equal. Those come first whose stop words agree with
    it at most places: the same stop word, or none in both.
    """

    def agreement(rival: list[str]) -> int:
        shapes = zip(map(_stop_word, rival), map(_stop_word, written), strict=True)
        return sum(mine == theirs for mine, theirs in shapes)

    cut = [words_of(sentence)[: len(written)] for sentence in (*SENTENCES, *world.prose)]
    different = dict.fromkeys(tuple(words) for words in cut if len(words) == len(written))
    different.pop(tuple(written), None)
    return sorted(map(list, different), key=agreement, reverse=True)[:RIVALS]


def _stop_word(word: str) -> str | None:
    return word if word in STOP_WORDS else None


def data(world: Material) -> dict:
    """Make the page's data: words, whole numbers, and sentences of the project's own."""
    words, index = world.embeddings.words, world.model.index
    start = len(index)  # the row of what a sentence begins with
    pairs: Counter[tuple[int, int]] = Counter()
    for document in world.documents:
        pairs.update(pairwise([start, *(index[word] for word in document)]))
    followers: list[list[int]] = [[] for _ in range(start + 1)]
    for word, follower in sorted(pairs):
        followers[word] += follower, pairs[word, follower]
    vectors = np.rint(world.embeddings.vectors / world.step).astype(np.int8)
    rare = least_frequent(world.counts, words)
    grouped = CusText(world.embeddings, epsilon=1.0).groups
    group_of = {int(word): number for number, group in enumerate(grouped) for word in group}
    return {
        "words": words,
        "unlisted": UNLISTED,
        "step": world.step,
        "vectors": base64.b64encode(vectors.tobytes()).decode("ascii"),  # a byte a number, row by row
        "counts": [world.counts[word] for word in words],
        "stop": [int(word in STOP_WORDS) for word in words],
        "sensitive": [int(word in rare) for word in words],
        "groups": [group_of[i] for i in range(len(words))],
        "followers": followers,  # of each word: one that follows it, how often, another, ..
        "prose": world.prose,
        "rivals": RIVALS,
        "longest": LONGEST,
        "sentences": SENTENCES,
        "trios": [[index[word] for word in trio] for trio in TRIOS],
        "mechanisms": [
            {"name": name, "label": MECHANISMS[name].label, "colour": MECHANISMS[name].colour}
            | dict(zip(("parameter", "min", "max", "step", "value"), slider, strict=True))
            for name, slider in SLIDERS.items()
        ],
    }


def script(world: Material) -> str:
    """Write the data as a script, for a page from the file system may load a script and no json."""
    text = json.dumps(data(world), ensure_ascii=True, separators=(",", ":"))
    return f"(globalThis.textsanExplorer ??= {{}}).data = {text};\n"


class Reading(NamedTuple):
    """A sentence written, released, and read twice; one word a place, None for one that is not attacked."""

    written: list[str]
    released: list[str]
    alone: list[str | None]
    together: list[str | None]


def reading(world: Material, sentence: str, name: str, value: float) -> Reading:
    """Make one draw of a mechanism at a value of its slider, with what both attacks make of it."""
    mechanism = world.mechanism(name, value)
    written = words_of(sentence)
    [released] = mechanism.sanitize([written], seed=0)
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
    """Write one draw for readers without scripts: lines of words, hits marked, as an HTML element."""
    name, sentence = next(iter(SLIDERS)), SENTENCES[0]
    parameter, *_, value = SLIDERS[name]
    example = reading(world, sentence, name, value)
    guessed = {"guessed from each word": example.alone, "guessed from the sentence": example.together}
    lines = [("written", example.written), ("released", example.released)]
    for what, words in guessed.items():
        pairs = zip(words, example.written, strict=True)
        lines.append((what, [f"<mark>{word}</mark>" if word == true else word or "–" for word, true in pairs]))
    rows = "".join(f"<dt>{what}</dt><dd>{' '.join(words)}</dd>" for what, words in lines)
    label = f"{MECHANISMS[name].label}, {'ε' if parameter == 'epsilon' else parameter} = {value}"
    return f'<p><strong>{label}</strong></p><dl class="three-lines">{rows}</dl>'


def about(world: Material) -> str:
    """Write the sentences that say what the page's numbers rest on."""
    corpora = ", ".join(CORPORA)
    return (
        f"The list has {len(world.embeddings):,} words: stop words; the {FREQUENT:,} most frequent other words of "
        f"{len(world.documents):,} sentences of the corpora {corpora}; words of health, law, money and faith; "
        f"the {NAMES} most common male, female and family names of the 1990 US census; the words of the examples; "
        "and the most frequent other words in the order of GloVe. The attacker counts words in the corpora's "
        "sentences. None of these is on this page, for they belong to their authors. The rivals are chosen from "
        f"the examples and {len(world.prose):,} sentences of this book."
    )
