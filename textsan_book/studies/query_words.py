"""How many releases of a word the query attack needs (Chen et al. 2023, Table 2), on vocabularies of its size."""

from textsan.leakage.repeated_releases import queries_needed
from textsan.mechanisms import CusText
from textsan.text.corpora import load_dataset
from textsan.text.embeddings import Embeddings
from textsan.text.loading import COUNTER_FITTED, load_embeddings
from textsan.text.vocabulary import count_words

WORDS, EPSILONS = ("she", "car", "alice", "happy"), (1.0, 2.0, 3.0, 8.0)
"""Those of the paper's table."""

_SIZE = 65_713  # words of the published vectors


def query_words(*, dataset: str, embeddings: str, normalise: str, k: int) -> list[dict]:
    """The fewest draws whose mode is the word with 95 % confidence, exact, for each of `WORDS` and `EPSILONS`.

    Words of the data come first, the most frequent one at the head, as in the released code's mapping.
    Counter-fitted vectors are compared by cosine, as published.

    Args:
        dataset: whose words are ordered.
        embeddings: "glove-6b-50d", of which the vocabulary is the first 65,713 words and those of the data; or
            "counter-fitted", whose vocabulary is the published one.
        normalise: of scores, over a "group" of words as in the paper or over a "row" as in the released code.
        k: words in a group.

    Returns:
        rows: defence, epsilon, vocabulary (its size), word and queries.
    """
    similarity = "cosine" if embeddings == COUNTER_FITTED else "euclidean"
    vocabulary = _vocabulary(dataset, embeddings)
    mechanism = CusText(vocabulary, EPSILONS[0], k=k, similarity=similarity, normalise=normalise)
    rows = []
    for epsilon in EPSILONS:
        channel = mechanism.with_(epsilon=epsilon).channel
        row = {"defence": "custext", "epsilon": epsilon, "vocabulary": len(vocabulary)}
        for word in WORDS:
            needed = queries_needed(channel.rows([word])[0], channel.output_index[word])
            rows.append(row | {"word": word, "queries": needed})
    return rows


def _vocabulary(dataset: str, embeddings: str) -> Embeddings:
    counts = count_words(record.tokens for split in ("train", "dev") for record in load_dataset(dataset, split))
    vectors = load_embeddings(embeddings)
    words = vectors.words
    if embeddings != COUNTER_FITTED:
        words = [*words[:_SIZE], *(word for word in counts if word in vectors)]
    return vectors.restrict(sorted(dict.fromkeys(words), key=lambda word: -counts[word]))
