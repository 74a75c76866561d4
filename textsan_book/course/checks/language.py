"""Checks on language models: the exact probability of a word that is written in several pieces."""

from itertools import product

import numpy as np

from textsan_book.course.checks.saying import close, number

# A toy model: piece i follows piece j with probability table[j, i]; some begin a word, the last ends the text.


def _model(seed: int, stream: int):
    """(table, numbers of the pieces that begin a word); the last piece is the end of text, and begins one."""
    generator = np.random.default_rng([seed, stream])
    n = int(generator.integers(4, 7))
    table = generator.dirichlet(np.ones(n), size=n)
    count = int(generator.integers(2, n - 1))
    starts = sorted({n - 1, *(int(start) for start in generator.permutation(n - 1)[:count])})
    return table, starts, generator


def _first_word(pieces, starts):
    """The pieces of the first word of a sequence, and whether it is complete."""
    for place, piece in enumerate(pieces[1:], start=1):
        if piece in starts:
            return tuple(pieces[:place]), True
    return tuple(pieces), False


def _enumerated(table, before: int, word: tuple[int, ...], starts) -> float:
    """The mass of all sequences, one piece longer than the word, whose first word it is."""
    total = 0.0
    for pieces in product(range(len(table)), repeat=len(word) + 1):
        if pieces[0] in starts and _first_word(pieces, starts) == (word, True):
            chain = (before, *pieces)
            total += float(np.prod([table[a, b] for a, b in zip(chain, chain[1:], strict=False)]))
    return total


def _words(table, starts, length: int):
    inner = [piece for piece in range(len(table)) if piece not in starts]
    for first in starts[:-1]:
        for rest in product(inner, repeat=length - 1):
            yield (first, *rest)


def word_is_exact(word_probability, *, seed: int) -> None:
    """The probability of a word against a sum over all sequences of pieces."""
    for stream in (1, 2, 3):
        table, starts, _ = _model(seed, stream)
        before = stream % len(table)
        for length in (1, 2, 3):
            for word in list(_words(table, starts, length))[:6]:
                value = word_probability(table, before, list(word), starts)
                value = number(value, "word_probability(table, before, pieces, starts)")
                said = f"the word {word} has another probability: the piece after its last must begin a word"
                close(value, _enumerated(table, before, word, starts), said)


def short_words_are_not_prefixes(word_probability, *, seed: int) -> None:
    """A word of one piece is less likely than its piece, by those words that go on."""
    table, starts, _ = _model(seed, 4)
    for first in starts[:-1]:
        value = number(word_probability(table, 0, [first], starts), "word_probability")
        assert value < table[0, first], (
            "the piece alone is more likely than the word: longer words begin with it, too, so ask what comes next"
        )
    value = number(word_probability(table.copy(), 0, [starts[0]], list(range(len(table)))), "word_probability")
    close(value, table[0, starts[0]], "where every piece begins a word, a word is its one piece")


def no_word_is_none(word_probability, *, seed: int) -> None:
    """Pieces that are no word have probability 0."""
    table, starts, _ = _model(seed, 5)
    inner = [piece for piece in range(len(table)) if piece not in starts]
    value = number(word_probability(table, 0, [inner[0]], starts), "word_probability")
    close(value, 0, "a word begins with a piece that begins words")
    value = number(word_probability(table, 0, [starts[0], starts[0]], starts), "word_probability")
    close(value, 0, "these pieces are two words, not one")


def guess_weighs_whole_words(guess, *, seed: int) -> None:
    """The likeliest word under model and channel, against all candidates weighed by enumeration."""
    for stream in (6, 7, 8, 9):
        table, starts, generator = _model(seed, stream)
        words = [word for length in (1, 2, 3) for word in _words(table, starts, length)]
        words = [words[number_] for number_ in generator.permutation(len(words))[:8]]
        channel = generator.random(len(words)) + 0.05
        weights = [c * _enumerated(table, 1, word, starts) for c, word in zip(channel, words, strict=True)]
        answer = guess(table, 1, [list(word) for word in words], starts, channel)
        assert answer in range(len(words)), f"the number of a candidate is wanted, you return {answer!r}"
        said = "another candidate is likelier: weigh whole words, and the channel"
        close(weights[int(answer)], max(weights), said)


def guess_follows_the_channel(guess, *, seed: int) -> None:
    """Check that what the channel excludes is never guessed."""
    table, starts, _ = _model(seed, 10)
    words = list(_words(table, starts, 2))[:4]
    for only in range(len(words)):
        channel = np.zeros(len(words))
        channel[only] = 1e-6
        answer = guess(table, 1, [list(word) for word in words], starts, channel)
        assert answer == only, "the released word can come from one candidate only, and you guess another"
