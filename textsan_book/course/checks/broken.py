"""Checks on mechanisms with a planted bug: what their releases give away for certain."""

from itertools import pairwise

import numpy as np

from textsan_book.course.checks.saying import array, chosen, random_channel


def _mask(value, shape: tuple, what: str) -> np.ndarray:
    mask = array(value, shape, what)
    assert np.isin(mask, (0, 1)).all(), f"{what} holds something else than True and False"
    return mask.astype(bool)


# A softmax in float32


def underflow_is_found(impossible, *, seed: int) -> None:
    """Entries far below the smallest float32 are zero there; entries far above are not."""
    generator = np.random.default_rng([seed, 1])
    for n, m in ((2, 3), (5, 4)):
        logits = generator.choice([0.0, -20.0, -60.0, -130.0, -400.0], size=(n, m))
        logits[:, 0] = 0
        epsilon = float(generator.uniform(1, 4))
        answer = _mask(impossible(2 * logits / epsilon, epsilon), (n, m), "impossible(scores, epsilon)")
        assert answer[logits < -105].all(), (
            "an entry that float32 rounds to zero is not in your list: compute as the mechanism does"
        )
        assert not answer[logits > -80].any(), "an entry that float32 still holds is in your list"


def shift_does_not_matter(impossible, *, seed: int) -> None:
    """A softmax subtracts the row's maximum first, so a constant added to a row changes nothing."""
    generator = np.random.default_rng([seed, 2])
    scores = generator.choice([0.0, -10.0, -300.0], size=(4, 5))
    scores[:, 0] = 0
    before = _mask(impossible(scores, 2.0), (4, 5), "impossible(scores, 2)")
    after = _mask(impossible(scores + np.array([[-500.0], [40.0], [0.0], [-90.0]]), 2.0), (4, 5), "impossible")
    assert (before == after).all(), "a constant added to a row changes your list: subtract each row's own maximum"
    lost = _mask(impossible(scores, 0.0), (4, 5), "impossible(scores, 0)")
    assert not lost.any(), "at epsilon 0 nothing is lost"


# One stream of random numbers for two documents


def _shared(seed: int, stream: int):
    generator = np.random.default_rng([seed, stream])
    for _ in range(40):
        n = int(generator.integers(3, 7))
        cdf = random_channel(generator, n, n).cumsum(axis=1)
        cdf[:, -1] = 1
        u = generator.random()
        mine, secret = (int(integer) for integer in generator.integers(n, size=2))
        seen, released = (int(np.searchsorted(cdf[x], u, side="right")) for x in (mine, secret))
        yield cdf, mine, seen, released, secret


def truth_is_a_candidate(candidates, *, seed: int) -> None:
    """The secret word is always among the candidates."""
    for cdf, mine, seen, released, secret in _shared(seed, 3):
        answer = _mask(candidates(cdf, mine, seen, released), (len(cdf),), "candidates(cdf, mine, seen, released)")
        assert answer[secret], "the secret word was ruled out: some u gives both releases, so it is a candidate"


def others_are_ruled_out(candidates, *, seed: int) -> None:
    """A word is a candidate exactly if some random number gives both releases."""
    for cdf, mine, seen, released, _ in _shared(seed, 4):
        edges = np.unique(np.concatenate([[0.0], cdf.ravel()]))
        tried = [(low + high) / 2 for low, high in pairwise(edges) if high - low > 1e-12]
        fits = [u for u in tried if np.searchsorted(cdf[mine], u, side="right") == seen]
        possible = [any(np.searchsorted(row, u, side="right") == released for u in fits) for row in cdf]
        answer = _mask(candidates(cdf, mine, seen, released), (len(cdf),), "candidates(cdf, mine, seen, released)")
        assert (answer == possible).all(), (
            "a word that no shared random number turns into this release is still a candidate: your own release "
            "says between which two numbers u was"
        )


# Overlapping groups


def _groups(seed: int, stream: int):
    generator = np.random.default_rng([seed, stream])
    for n in (4, 8, 12):
        others = [generator.choice(n, size=3, replace=False).tolist() for _ in range(n)]
        yield [sorted({x, *members}) for x, members in enumerate(others)], generator


def groups_are_searched(possible, *, seed: int) -> None:
    """The inputs whose group has the released word, and no others."""
    for groups, generator in _groups(seed, 5):
        y = int(generator.integers(len(groups)))
        answer = chosen(possible(groups, y), range(len(groups)), "possible(groups, released)")
        assert y in answer, "the released word itself is possible: every word is in its own group"
        wanted = {x for x, group in enumerate(groups) if y in group}
        assert set(answer) == wanted, (
            "the words that could have become this one are those whose own group has it: not those in its group"
        )


def repeats_narrow_it(possible_after, *, seed: int) -> None:
    """Several releases of one word leave the inputs that are possible after each of them."""
    for groups, generator in _groups(seed, 6):
        secret = int(generator.integers(len(groups)))
        releases = [int(generator.choice(groups[secret])) for _ in range(5)]
        for count in (1, 5):
            left = possible_after(groups, releases[:count])
            answer = chosen(left, range(len(groups)), "possible_after(groups, releases)")
            wanted = {x for x, group in enumerate(groups) if all(y in group for y in releases[:count])}
            assert set(answer) == wanted, (
                "each release rules words out; what is left is possible after all of them"
            )


# A vocabulary made of the private text


def members_are_named(certain, *, seed: int) -> None:
    """Every released word that is not public by itself stands in the private text, and no other is certain."""
    generator = np.random.default_rng([seed, 7])
    words = [f"w{number}" for number in range(30)]
    for _ in range(4):
        private, public = words[:20], words[15:25]
        releases = [[str(one) for one in generator.choice(private + public, size=6)] for _ in range(3)]
        answer = chosen(certain(releases, public), set(words), "certain(releases, public)")
        wanted = {word for doc in releases for word in doc} - set(public)
        assert not set(answer) & set(public), "a word that is in every vocabulary says nothing about this text"
        assert set(answer) == wanted, (
            "whatever is released and not public was taken from the private text: all of it"
        )


def nothing_is_certain_without_cause(certain, *, seed: int) -> None:
    """Public words and no release say nothing; where no word is public every released one is certain."""
    words = [f"w{number}" for number in np.random.default_rng([seed, 8]).permutation(30)]
    assert not list(certain([], words)), "from no release nothing is certain"
    assert not list(certain([words[:5], words[3:9]], words)), "public words are in every vocabulary"
    answer = chosen(certain([words[:5], [], words[3:9]], []), set(words), "certain(releases, public)")
    assert set(answer) == set(words[:9]), "where no word is public each released one is certain"
    assert len(answer) == len(set(answer)), "a word that was released twice is one word"
