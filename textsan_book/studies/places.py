"""Word frequencies at each place of a text: the priors of an attacker who knows the place and the length."""

from collections.abc import Collection, Iterable, Sequence

from textsan.priors import Prior
from textsan.text.vocabulary import count_words


def by_place(docs: Iterable[Sequence[str]], words: Collection[str], n: int) -> tuple[list[Prior], list[int]]:
    """Compute the word frequencies at each place of the documents of n words, and how many have a word there.

    For the source that draws one of these documents at random they are exact. A place that never holds one of the
    words is left out.
    """
    alike = [doc for doc in docs if len(doc) == n]
    counts = [count_words([[doc[i] for doc in alike if doc[i] in words]]) for i in range(n)]
    filled = [count for count in counts if count]
    return [Prior.from_counts(one, list(one), alpha_inverse=0) for one in filled], [one.total() for one in filled]
