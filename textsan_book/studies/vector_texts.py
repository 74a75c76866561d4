"""The texts behind vectors: what is attacked, what the attacker has, and which keywords are looked for."""

import re
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from textsan.base import checks
from textsan.embedding_leakage.keyword import present
from textsan.text.corpora import Record, load_dataset, private_and_shadow
from textsan_book.studies import splice_sites

PLACES = ("york", "america", "manhattan", "washington")
"""Place names that editorials (`nyt`) have often enough."""

BODY = ("pain", "skin", "anxiety", "acne", "stomach")
"""Words of body and condition that drug reviews (`drugs`) have often enough."""

CITIES = ("london", "heathrow", "singapore", "bangkok", "dubai", "paris")
"""Places in airline reviews."""

SITES = ("heart", "skin", "chest", "knee", "brain", "breast")
"""Sites of the body in medical reports."""

KEYWORDS = {"nyt": PLACES, "drugs": BODY, "airline_ba": CITIES, "airline_skytrax": CITIES, "mtsamples": SITES}
"""The keywords of each corpus, chosen by how often they are in it before anything was attacked."""

_MOST_WORDS = 40


class Texts(NamedTuple):
    """Two parts of a corpus, no source in both.

    Attributes:
        attacked: texts whose vectors are released; for scores alone.
        own: texts of the attacker's.
    """

    attacked: list[str]
    own: list[str]


def keyword_texts(dataset: str, keywords: Sequence[str], n: int | None, *, seed: int) -> Texts:
    """Texts for keyword attacks: all that hold one of the keywords, and others up to n, parted by source.

    Long records are cut into sentences of 3 to 40 words; those of a record stay together.

    Args:
        dataset: name of a data set.
        keywords: words.
        n: texts in both parts together; None is all there are.
        seed: of the draw.

    Raises:
        ValueError: fewer texts than asked for.
    """
    records = _sentences(load_dataset(dataset, split="all"))
    if n is not None:
        if checks.whole("n", n, low=4) > len(records):
            raise ValueError(f"n: {n} of {len(records)} texts of {dataset}; pass fewer, or None for all")
        order = np.random.default_rng(seed).permutation(len(records))
        holds = np.array([any(present([record.text], word)[0] for word in keywords) for record in records])
        chosen = sorted(order, key=lambda i: not holds[i])[:n]  # stable: random within both kinds
        records = [records[i] for i in chosen]
    half = int(0.48 * len(records))  # sources are whole, so that the halves are not equal
    attacked, own = private_and_shadow(records, half, half, seed)
    return Texts([record.text for record in attacked], [record.text for record in own])


def other_texts(dataset: str, n: int, *, seed: int) -> list[str]:
    """Texts of another kind, for an attacker who has none of the victim's: drawn, since files may be sorted.

    Args:
        dataset: name of a data set.
        n: texts, at most; a data set that has fewer gives all.
        seed: of the draw.
    """
    records = load_dataset(dataset, split="all")
    return [records[i].text for i in np.random.default_rng(seed).permutation(len(records))[:n]]


def _sentences(records: Sequence[Record]) -> list[Record]:
    """Records of at most 40 words; longer ones as their sentences, which stay one source."""
    made: dict[str, Record] = {}
    for number, record in enumerate(records):
        source = {"part_of": record.fields.get("part_of", f"record {number}")}
        for text in re.split(r"(?<=[.!?])\s+", record.text):
            if 3 <= len(text.split()) <= _MOST_WORDS:
                made.setdefault(text, Record(text, record.label, source))
    return list(made.values())


def windows(corpus: str, n: int, *, seed: int) -> Texts:
    """DNA windows around splice sites and elsewhere: half of them the attacker's.

    Args:
        corpus: "generated", from the model of `splice_sites`; or "splice_junction", the UCI data, where at hand.
        n: windows in both parts together.
        seed: of the draw.

    Raises:
        ValueError: fewer windows than asked for.
    """
    if checks.choice("corpus", corpus, ("generated", "splice_junction")) == "generated":
        random = np.random.default_rng(seed)
        return Texts(splice_sites.generate(n - n // 2, random), splice_sites.generate(n // 2, random))
    every = [splice_sites.window(record.text) for record in load_dataset("splice_junction", split="all")]
    known = sorted({window for window in every if window})
    if n > len(known):
        raise ValueError(f"n: {n} of {len(known)} distinct windows; pass fewer")
    drawn = [known[i] for i in np.random.default_rng(seed).permutation(len(known))[:n]]
    return Texts(drawn[: n - n // 2], drawn[n - n // 2 :])
