"""Stop words that SanText+ leaves alone, its sensitive words being the rarest of a data set (section 4.5)."""

from textsan.mechanisms.santext import least_frequent
from textsan.text.corpora import load_dataset
from textsan.text.loading import load_embeddings
from textsan.text.vocabulary import STOP_WORDS, count_words


def stop_words(*, dataset: str, w: float) -> list[dict]:
    """Compute the share of stop words that are not sensitive, if a share w of the words, the least frequent, is.

    The words are those of the training sentences that have a vector.
    """
    counts = count_words(record.tokens for record in load_dataset(dataset, "train"))
    known = load_embeddings()
    words = [word for word in counts if word in known]
    sensitive = least_frequent(counts, words, w)
    stopped = STOP_WORDS & set(words)
    share = len(stopped - sensitive) / len(stopped)
    row = {"words": len(words), "sensitive": len(sensitive), "stop_words": len(stopped)}
    return [row | {"share": round(share, 5)}]
