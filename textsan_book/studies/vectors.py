"""Experiments on sentence vectors: patterns, keywords and words that an attacker reads from them.

Each is a function from settings to rows of a table, a cell of a study (see `textsan.sweeps.studies`).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from textsan.embedding_leakage import inversion, pattern
from textsan.embedding_leakage.keyword import KeywordInference, KeywordTransfer, keyword_score, present
from textsan.embedding_leakage.vector_knowledge import VectorKnowledge
from textsan.evaluation import clustered_difference, clustered_rate, hit_rate
from textsan.models.sentence_vectors import sentence_vectors
from textsan.text.vocabulary import STOP_WORDS
from textsan_book.studies import citizen, genome
from textsan_book.studies.experiments import columns, takes_settings
from textsan_book.studies.vector_texts import KEYWORDS, keyword_texts, other_texts, windows

VICTIMS = 1_000_000
"""Added to the seed of what is attacked, so that it is never the attacker's."""


@dataclass(frozen=True)
class View:
    """The vectors of an encoder, as of `sentence_vectors`."""

    encoder: str
    pooling: str
    layer: int

    def encode(self, texts: Sequence[str]) -> np.ndarray:
        """Compute the vectors of texts, (n, d)."""
        return sentence_vectors(texts, encoder=self.encoder, pooling=self.pooling, layer=self.layer)


@takes_settings
def citizens(view: View, *, pairs: int, steps: int, victims: int, seed: int) -> list[dict]:
    """Read dates of birth from citizen numbers: top 1 and top 5 of each segment and of the whole.

    Rows have the rate, the best blind guesses; what the whole has beyond the product of its parts.
    """
    encode, attacked = view.encode, citizen.generate(victims, seed + VICTIMS)
    knowledge = VectorKnowledge(encode, rule=citizen.generate, seed=seed)
    attack = pattern.PatternReconstruction.against(knowledge, pairs=pairs, steps=steps)
    vectors, rows = encode(attacked), []
    for top in (1, 5):
        hits, chance = attack.hits(vectors, attacked, top), citizen.blind(top)
        beyond = pattern.beyond_product(hits, seed=seed)
        for segment, rate in pattern.rates(hits).items():
            row = {"segment": segment, "top": top, **columns(rate), "chance": chance[segment]}
            if segment == "whole":
                row |= {f"beyond_product{end}": value for end, value in zip(_ENDS, beyond, strict=True)}
            rows.append(row | {"n": victims})
    return rows


@takes_settings
def genomes(view: View, *, corpus: str, n: int, steps: int, seed: int) -> list[dict]:
    """Read bases from windows of DNA: a row a position, and one of their mean."""
    encode, texts = view.encode, windows(corpus, n, seed=seed)
    attack = genome.GenomeReconstruction.against(VectorKnowledge(encode, texts.own, seed=seed), steps=steps)
    right = genome.hits(attack.reconstruct(encode(texts.attacked)), texts.attacked)
    blind = genome.majority(texts.own, texts.attacked)
    rows = [
        {"position": position + 1, **columns(hit_rate(right[:, position])), "chance": blind[:, position].mean()}
        for position in range(genome.LENGTH)
    ]
    window = np.repeat(np.arange(len(right)), genome.LENGTH)
    mean = clustered_rate(right.ravel(), window)
    over = clustered_difference(right.ravel().astype(float) - blind.ravel(), window)
    rows.append({"position": "mean", **columns(mean), "chance": blind.mean(), **columns(over, "over_")})
    return [row | {"n": len(right)} for row in rows]


@takes_settings
def keywords(
    view: View,
    *,
    dataset: str,
    n: int | None,
    head: str,
    balance: str,
    seed: int,
    external: str | None = None,
    reversal: float = 0.0,
    moments: bool = False,
) -> list[dict]:
    """Infer keywords on a corpus, a row a keyword.

    `external` is the corpus that the black-box attacker has instead; without it the box is white.
    """
    encode, words = view.encode, KEYWORDS[dataset]
    texts = keyword_texts(dataset, words, n, seed=seed)
    vectors, rows = encode(texts.attacked), []
    other = other_texts(external, len(texts.own), seed=seed) if external else []
    for word in words:
        if external:
            knowledge = VectorKnowledge(encode, other, captured=vectors, seed=seed)
            more = {"reversal": reversal, "moments": moments, "others": words}
            attack = KeywordTransfer.against(knowledge, keyword=word, **more)
        else:
            knowledge = VectorKnowledge(encode, texts.own, seed=seed)
            attack = KeywordInference.against(knowledge, keyword=word, head=head, balance=balance)
        score = keyword_score(attack.scores(vectors), present(texts.attacked, word), seed=seed)
        row = {"keyword": word, **columns(score.auc), **columns(score.balanced, "balanced_")}
        row |= {**columns(score.accuracy, "accuracy_"), "majority": score.majority}
        rows.append(row | {"positives": score.positives, "n": score.n})
    return rows


@takes_settings
def inversions(view: View, *, dataset: str, n: int, leak: int, k: int, seed: int) -> list[dict]:
    """Recover k words of each text from vectors after a leak of some pairs, a row."""
    encode, stop = view.encode, STOP_WORDS
    texts = keyword_texts(dataset, (), n, seed=seed)
    attack = inversion.WordInversion.against(
        VectorKnowledge(encode, texts.own, seed=seed), leak=leak, ignored=stop
    )
    share = inversion.recovered(attack.guess(encode(texts.attacked), k), texts.attacked, stop)
    blind = inversion.recovered(attack.blind(len(share), k), texts.attacked, stop)
    known = ~np.isnan(share)
    number = np.arange(known.sum())
    over = clustered_difference(share[known] - blind[known], number)
    mean = clustered_rate(share[known], number)
    return [{**columns(mean), "chance": blind[known].mean(), **columns(over, "over_"), "n": int(known.sum())}]


_ENDS = ("", "_low", "_high")
