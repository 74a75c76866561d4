"""Word frequencies at each place of a text: the priors of an attacker who knows the place and the length."""

from collections.abc import Collection, Iterable, Sequence

from textsan.priors import Prior
from textsan.text.vocabulary import count_words


def by_place(docs: Iterable[Sequence[str]], words: Collection[str], n: int) -> tuple[list[Prior], list[int]]:
    """Compute the word frequencies at each place of the documents of n words.

    For the source that draws one of these documents at random they are exact.

    Args:
        docs: token lists; those of another length are left out.
        words: that count; a place that never holds one is left out.
        n: words of a document, at least 1.

    Returns:
        the prior of each place, in order, and how many documents have one of the words there.

    >>> priors, weights = by_place(["a b".split(), "a c".split(), "a".split()], {"a", "b"}, 2)
    >>> priors, weights
    ([Prior(1 words), Prior(1 words)], [2, 1])
    """
    alike = [doc for doc in docs if len(doc) == n]
    counts = [count_words([[doc[i] for doc in alike if doc[i] in words]]) for i in range(n)]
    filled = [count for count in counts if count]
    return [Prior.from_counts(one, list(one), alpha_inverse=0) for one in filled], [one.total() for one in filled]
