"""The texts behind vectors: what is attacked, what the attacker has, and which keywords are looked for."""

import re
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from textsan.base import checks
from textsan.embedding_leakage.keyword import present
from textsan.text.corpora import Record, load_dataset, private_and_shadow
from textsan_book.studies import genome

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
    """Two parts of a corpus, no source in both: texts whose vectors are released, and the attacker's own."""

    attacked: list[str]
    own: list[str]


def keyword_texts(dataset: str, keywords: Sequence[str], n: int | None, *, seed: int) -> Texts:
    """Draw texts for keyword attacks: all that hold one of the keywords, and others up to n in both parts.

    Long records are cut into sentences of 3 to 40 words; those of a record, and of a source, stay together.
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
    """Draw texts, since files may be sorted, of another kind for an attacker who has none of the victim's."""
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
    """Draw n DNA windows around splice sites and elsewhere: half of them the attacker's.

    The corpus is "generated", from the model of `genome`; or "splice_junction", the UCI data, where at hand.
    """
    if checks.choice("corpus", corpus, ("generated", "splice_junction")) == "generated":
        random = np.random.default_rng(seed)
        return Texts(genome.generate(n - n // 2, random), genome.generate(n // 2, random))
    every = [genome.window(record.text) for record in load_dataset("splice_junction", split="all")]
    known = sorted({window for window in every if window})
    if n > len(known):
        raise ValueError(f"n: {n} of {len(known)} distinct windows; pass fewer")
    drawn = [known[i] for i in np.random.default_rng(seed).permutation(len(known))[:n]]
    return Texts(drawn[: n - n // 2], drawn[n - n // 2 :])
