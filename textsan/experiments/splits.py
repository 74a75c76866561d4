"""The split that chapters and sweeps share: private text, an attacker's shadow text, and a vocabulary."""

from dataclasses import dataclass

from textsan.text.corpora import Record, load_dataset, private_and_shadow
from textsan.text.embeddings import Embeddings, load_embeddings


@dataclass(frozen=True)
class Split:
    """Private and shadow documents from one corpus, no sentence in both, and the vectors of their words.

    Attributes:
        private: token lists that are sanitized and attacked.
        shadow: token lists that the attacker owns.
        embeddings: every word of either that has a vector, in the order of the word vectors (GloVe: frequent
            words first); as in the papers the vocabulary is that of the data, and it is public.
        records: the private documents with the text as it is written, for what its case says.
    """

    private: list[list[str]]
    shadow: list[list[str]]
    embeddings: Embeddings
    records: tuple[Record, ...] = ()

    def __repr__(self) -> str:
        """Without the text, which is private."""
        return f"Split({len(self.private)} private, {len(self.shadow)} shadow documents, {self.embeddings})"


def load_split(
    dataset: str,
    n_private: int,
    n_shadow: int,
    *,
    seed: int,
    shadow_dataset: str | None = None,
    embeddings: str = "glove-6b-50d",
) -> Split:
    """Draws private and shadow sentences from the training split of a corpus, or of two.

    The private sentences depend on neither the number of shadow sentences nor their corpus.

    Args:
        dataset: name of a data set; see `textsan data list`.
        n_private, n_shadow: numbers of sentences, at least 1.
        seed: of the draw, int.
        shadow_dataset: what the attacker has instead of sentences of the same data set; None is the same.
        embeddings: name of word vectors.

    Raises:
        KeyError: unknown data set or word vectors.
        ValueError: the corpus has too few sentences.
    """
    shadow = None if shadow_dataset in (None, dataset) else load_dataset(shadow_dataset, split="train")
    parts = private_and_shadow(load_dataset(dataset, split="train"), n_private, n_shadow, seed, shadow)
    private, shadow = ([list(record.tokens) for record in part] for part in parts)
    words = {word for document in private + shadow for word in document}
    vectors = load_embeddings(embeddings)
    vocabulary = vectors.restrict(word for word in vectors.words if word in words)
    return Split(private, shadow, vocabulary, tuple(parts[0]))
