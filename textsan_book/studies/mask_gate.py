"""A gate for masked readers: do they fill blanks in text that nobody has sanitized?

Mask inference on sanitized text is evidence about a sanitizer only if its reader names words in the clear.
"""

from collections import Counter
from collections.abc import Sequence

import numpy as np

from textsan.attacks import MaskInference
from textsan.attacks.mask_inference import FillsBlanks
from textsan.evaluation import clustered_difference, clustered_rate
from textsan.priors import LanguageModel
from textsan.sweeps.problems import prepare
from textsan_book.studies.experiments import columns


def masked_readers(
    *, dataset: str, n_private: int, n_shadow: int, n_positions: int, seed: int, reader: str
) -> list[dict]:
    """Measure how often mask inference names a content word of text in the clear, compared with one word for all.

    Content words are words with a letter or a digit that CusText+ protects. The reader, "public" (the trigram
    table), "adapter" (the small encoder) or a causal model by name (`CausalReader`), chooses from all that it
    protects, as when it attacks. The constant is the word that is most frequent at these very blanks, drawn at
    random, which no attacker knows. One row: the share named, the share that the constant names, and the paired
    difference over it; of a causal model also over the table.
    """
    problem = prepare(dataset, n_private, n_shadow, None, seed, "custext+", epsilon=4.0, k=20)
    docs, sources = problem.truth.docs, problem.split.sources or range(n_private)
    content = [(d, i) for d, i in problem.positions if any(map(str.isalnum, docs[d][i]))]
    drawn = np.sort(np.random.default_rng(seed).choice(len(content), n_positions, replace=False))
    positions = [content[at] for at in drawn]
    truths, clusters = np.array([docs[d][i] for d, i in positions]), [sources[d] for d, _ in positions]
    table = MaskInference.against(problem.knowledge)
    attack = MaskInference.against(problem.knowledge, public=False) if reader == "adapter" else table
    if is_causal := reader not in ("adapter", "public"):
        attack = MaskInference(CausalReader(table.model, LanguageModel.named(reader)))
    named = np.array(attack.reconstruct(docs, positions)) == truths
    constant = truths == Counter(truths.tolist()).most_common(1)[0][0]
    estimates = {
        "": clustered_rate(named, clusters),
        "constant_": clustered_rate(constant, clusters),
        "over_": clustered_difference(named.astype(float) - constant, clusters),
    }
    if is_causal:
        by_table = np.array(table.reconstruct(docs, positions)) == truths
        estimates["over_public_"] = clustered_difference(named.astype(float) - by_table, clusters)
    row: dict = {"n": len(truths), "words": len(attack.model.words)}
    for prefix, estimate in estimates.items():
        row |= columns(estimate, prefix)
    return [row]


class CausalReader:
    """A causal language model that fills blanks from both sides: the likeliest whole sentence names the word.

    Sentences are compared for the `CANDIDATES` words with the best sum of two scores, the public table's from both
    sides and the model's from the left. One that falls `BEHIND` nats behind the best, while the words after the
    blank are read, is given up.
    """

    CANDIDATES, BEHIND = 200, 10.0

    def __init__(self, table: FillsBlanks, model: LanguageModel):
        self.table, self.words, self.model = table, table.words, model

    def log_scores(self, docs: Sequence[Sequence[str]], indices: Sequence[int]) -> np.ndarray:
        """Compute log Pr of each word in the sentence of each document, up to constants; -inf where given up."""
        return np.array([self._scores(doc, index) for doc, index in zip(docs, indices, strict=True)])

    def _scores(self, doc: Sequence[str], index: int) -> np.ndarray:
        before = self.model.begin(1)
        for word in doc[:index]:
            before, _ = self.model.advance(before, [0], [word])
        guesses = self.table.log_scores([doc], [index])[0] + self.model.log_first(before, [0], self.words)[0]
        kept = np.argsort(-guesses, kind="stable")[: self.CANDIDATES]
        prefixes, logs = self.model.advance(before, [0] * len(kept), [self.words[at] for at in kept])
        for word in doc[index + 1 :]:
            rows = np.flatnonzero(logs > logs.max() - self.BEHIND)
            prefixes, further = self.model.advance(prefixes, rows, [word] * len(rows))
            kept, logs = kept[rows], logs[rows] + further
        scores = np.full(len(self.words), -np.inf)
        scores[kept] = logs + self.model.log_stop(prefixes)
        return scores
