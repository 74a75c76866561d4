"""The prior of unseen words: its mass against known sources, its split, the attack beside add-one smoothing."""

import numpy as np
import pytest

from textsan.priors import good_turing, unseen_mass

WORDS = [f"w{i}" for i in range(3000)]
ZIPF = 1 / np.arange(1, 3001)
ZIPF /= ZIPF.sum()


def sample(generator, documents, length=10, clustered=False):
    """Documents of a Zipf source; clustered ones say each word twice."""
    docs = generator.choice(WORDS, size=(documents, length), p=ZIPF).tolist()
    return [doc + doc for doc in docs] if clustered else docs


@pytest.mark.parametrize("clustered", [False, True])
def test_the_mass_is_that_of_the_words_not_seen(clustered):
    generator = np.random.default_rng(0)
    estimates, truths, once = [], [], []
    for _ in range(40):
        docs = sample(generator, 60, clustered=clustered)
        seen = {word for doc in docs for word in doc}
        estimates.append(unseen_mass(docs))
        truths.append(sum(p for word, p in zip(WORDS, ZIPF, strict=True) if word not in seen))
        counts = [sum(doc.count(word) for doc in docs) for word in seen]
        once.append(counts.count(1) / sum(counts))
    gap = np.mean(np.subtract(estimates, truths))
    assert abs(gap) < 4 * np.std(np.subtract(estimates, truths)) / np.sqrt(40) + 0.01
    if clustered:  # where words cluster, counting what occurs once finds nothing
        assert max(once) == 0.0 < min(truths)


def test_the_prior_by_hand():
    even = good_turing([["a", "a", "b"], ["a"]], "abcd")
    np.testing.assert_allclose(even.probabilities, [0.75 * 0.75, 0.25 * 0.75, 0.125, 0.125])
    public = good_turing([["a", "a", "b"], ["a"]], "abcd", {"c": 3, "d": 1, "a": 7})
    np.testing.assert_allclose(public.probabilities[2:], [0.25 * 3 / 4, 0.25 / 4])
    rare = good_turing([["a", "a", "b"], ["a"]], "abcd", {"c": 3, "a": 1})
    np.testing.assert_allclose(rare.probabilities[2:], [0.25 * 3 / 4, 0.25 / 4])
    assert good_turing([["a", "b"]], "ab").probabilities.tolist() == [0.5, 0.5]
    for docs in ([["a"]], [["a", "b"]], [["a", "b"], ["b", "c"]]):
        assert 0 < good_turing(docs, "abcd").probabilities.min() and good_turing(docs, "abcd")["a"] > 0


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda: unseen_mass([]), "docs: no token"),
        (lambda: good_turing([["x"]], "ab"), "docs: no token"),
        (lambda: good_turing([["a"]], "ab", {"x": 1.0}), "frequencies: pass numbers"),
        (lambda: good_turing(["a b"], "ab"), "docs: pass a list of token lists"),
    ],
)
def test_bad_input_is_one_line(call, message):
    with pytest.raises(ValueError, match=message):
        call()
