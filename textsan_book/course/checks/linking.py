"""Checks on linking: likelihoods of candidates, word by word at its place, and how often the best is right."""

import numpy as np

from textsan_book.course.checks.saying import array, close, number, random_channel

# Words are numbers. A channel is an array, a row an original; documents are lists of words.


def _documents(seed: int, stream: int, same_length: bool):
    """(channel, documents, releases): the release of each document, drawn from the channel."""
    generator = np.random.default_rng([seed, stream])
    words = int(generator.integers(4, 7))
    channel = random_channel(generator, words, words)
    sizes = np.full(9, 4) if same_length else generator.integers(2, 6, size=9)
    docs = [[int(integer) for integer in generator.integers(words, size=size)] for size in sizes]
    releases = [[int(generator.choice(words, p=channel[word])) for word in doc] for doc in docs]
    return channel, docs, releases


def _by_hand(channel, released, candidate) -> float:
    if len(released) != len(candidate):
        return -np.inf
    return sum(float(np.log(channel[x, y])) for x, y in zip(candidate, released, strict=True))


def _table(value) -> np.ndarray:
    return array(value, (9, 9), "log_likelihoods(channel, released, docs)")


def likelihoods_are_of_aligned_words(log_likelihoods, *, seed: int) -> None:
    """Each released word is compared with the candidate's word at its place, and with no other."""
    for stream in (1, 2):
        channel, docs, releases = _documents(seed, stream, same_length=True)
        answer = _table(log_likelihoods(channel, releases, docs))
        said = "another log-likelihood is wanted: add up log Pr(y | x) of the words at the same place"
        for i, j in np.ndindex(9, 9):
            close(answer[i, j], _by_hand(channel, releases[i], docs[j]), said)


def other_lengths_are_impossible(log_likelihoods, *, seed: int) -> None:
    """A sanitizer keeps the number of words: a candidate of another length has probability 0."""
    channel, docs, releases = _documents(seed, 3, same_length=False)
    answer = _table(log_likelihoods(channel, releases, docs))
    for i, j in np.ndindex(9, 9):
        wanted = _by_hand(channel, releases[i], docs[j])
        if np.isneginf(wanted):
            assert np.isneginf(answer[i, j]), (
                f"a candidate of {len(docs[j])} words cannot have become {len(releases[i])}: -inf is wanted"
            )
        else:
            close(answer[i, j], wanted, "where lengths are equal the words at their places decide")


def best_candidate_is_counted(linked, *, seed: int) -> None:
    """Release i is of candidate i; without ties it is linked where its own score is the largest."""
    generator = np.random.default_rng([seed, 4])
    for n in (2, 5, 20):
        scores = generator.permutation(n * n).reshape(n, n) * 1.0
        wanted = np.mean([scores[i, i] == max(scores[i]) for i in range(n)])
        value = number(linked(scores), "linked(scores)")
        close(value, wanted, "count the releases whose own candidate scores most")
    close(number(linked(np.eye(4)), "linked(scores)"), 1, "all own candidates are the best, so all are linked")


def ties_are_shared(linked, *, seed: int) -> None:
    """Of k best candidates each is named with probability 1 / k; a candidate of probability 0 never is."""
    alike = number(linked(np.zeros((5, 5))), "linked(scores)")
    close(alike, 0.2, "five candidates alike: a fifth by luck, not all")
    generator = np.random.default_rng([seed, 5])
    for n in (3, 8):
        scores = generator.integers(3, size=(n, n)) * 1.0
        best = scores == scores.max(axis=1, keepdims=True)
        wanted = (np.diag(best) / best.sum(axis=1)).mean()
        close(number(linked(scores), "linked(scores)"), wanted, "ties are broken evenly among the best")
    impossible = np.array([[-np.inf, -np.inf], [0.0, 1.0]])
    said = "a release that no candidate can have become is linked to nobody"
    close(number(linked(impossible), "linked(scores)"), 0.5, said)


def excess_is_over_the_control(excess, linked, *, seed: int) -> None:
    """Check that the excess is what is linked beyond releases of documents that are not on the list."""
    generator = np.random.default_rng([seed, 6])
    for _ in range(3):
        main, control = generator.integers(4, size=(2, 6, 6)) * 1.0
        wanted = number(linked(main), "linked(scores)") - number(linked(control), "linked(scores)")
        close(number(excess(main, control), "excess(main, control)"), wanted, "main less control is wanted")


def excess_has_its_ends(excess, *, seed: int) -> None:
    """All are linked and no control is: one. All controls are, and no release: minus one. Both alike: nothing."""
    all_, none = np.eye(5), np.roll(np.eye(5), 1, axis=1)
    for main, control, wanted in ((all_, none, 1), (none, all_, -1)):
        said = "every release is linked, or every control is: take one from the other"
        close(number(excess(main, control), "excess(main, control)"), wanted, said)
    same = np.random.default_rng([seed, 7]).random((5, 5))
    close(number(excess(same, same), "excess(main, control)"), 0, "a release that says nothing has no excess")
