"""The attacker who is not told the noise, against enumeration of small worlds."""

from itertools import product
from types import SimpleNamespace

import numpy as np
import pytest

from textsan import Channel, Embeddings, Prior, Split
from textsan.attacks import ContextFreeBayes, UntoldNoise
from textsan.sweeps import problems
from textsan_book.studies import untold_noise as study

WORDS = ["a", "b", "c"]
RNG = np.random.default_rng(3)
FAMILY = {
    name: Channel.from_matrix(RNG.dirichlet(np.ones(3), 3), WORDS, WORDS) for name in ("one", "two", "three")
}
PRIOR, WEIGHTS = Prior(WORDS, [0.5, 0.3, 0.2]), [0.2, 0.5, 0.3]


def enumerated(release):
    """Pr(channel | release), and Pr(word | release) at each place, from the joint law of everything."""
    joint = {}
    for (name, channel), weight in zip(FAMILY.items(), WEIGHTS, strict=True):
        for text in product(range(3), repeat=len(release)):
            said = [channel.matrix()[x, WORDS.index(y)] for x, y in zip(text, release, strict=True)]
            joint[name, text] = weight * np.prod(said) * np.prod(PRIOR.probabilities[list(text)])
    total = sum(joint.values())
    noise = {name: sum(p for (one, _), p in joint.items() if one == name) / total for name in FAMILY}
    places = range(len(release))
    at = [[sum(p for (_, t), p in joint.items() if t[i] == x) / total for x in range(3)] for i in places]
    return noise, at


@pytest.mark.parametrize("release", [["a"], ["c", "b"], ["a", "a", "c", "b"]])
def test_channel_and_words_have_the_posterior_of_enumeration(release):
    attack = UntoldNoise(FAMILY, PRIOR, weights=WEIGHTS)
    noise, at = enumerated(release)
    assert attack.noise([release]) == pytest.approx(noise)
    found = attack.posterior(release)
    assert [[one.get(word, 0.0) for word in WORDS] for one in found] == [pytest.approx(row) for row in at]
    cut = attack.noise([release[:1], release[1:]])  # the documents of a call are one release
    assert cut == pytest.approx(noise)


def test_no_attacker_without_the_channel_does_better_on_average_and_the_loss_is_bounded():
    """Over the family: told >= not told >= a fixed channel, and told - not told <= mean of 1 - Pr(m | y)."""
    attack = UntoldNoise(FAMILY, PRIOR, weights=WEIGHTS)
    told = fixed = untold = missing = 0.0
    for release in product(WORDS, repeat=3):
        guess = attack.reconstruct([list(release)], [(0, 0)])[0]
        noise = attack.noise([list(release)])
        for (name, channel), weight in zip(FAMILY.items(), WEIGHTS, strict=True):
            said = np.prod([PRIOR.probabilities @ channel.matrix()[:, WORDS.index(y)] for y in release[1:]])
            joint = PRIOR.probabilities * channel.matrix()[:, WORDS.index(release[0])] * said * weight
            told += joint.max()
            untold += joint[WORDS.index(guess)]
            first = PRIOR.probabilities * FAMILY["one"].matrix()[:, WORDS.index(release[0])]
            fixed += joint[first.argmax()]
            missing += joint.sum() * (1 - noise[name])
    assert fixed < untold < told and told - untold <= missing


def test_with_one_channel_it_is_the_context_free_attack():
    channel, release = FAMILY["two"], [["a", "c"], ["b"]]
    plain = ContextFreeBayes(channel, {"a": 5, "b": 3, "c": 2}, alpha_inverse=0)
    places = [(0, 0), (0, 1), (1, 0)]
    assert UntoldNoise({"two": channel}, PRIOR).reconstruct(release, places) == plain.reconstruct(release, places)


def test_much_text_tells_the_channel_and_the_share_outside_is_of_uniform_outputs():
    rng, name = np.random.default_rng(0), "three"
    drawn = rng.choice(3, size=2_000, p=PRIOR.probabilities)
    text = [WORDS[rng.choice(3, p=FAMILY[name].matrix()[x])] for x in drawn]
    assert UntoldNoise(FAMILY, PRIOR).noise([text])[name] > 0.99
    flat = Channel.from_matrix(np.full((3, 3), 1 / 3), WORDS, WORDS)
    half = UntoldNoise({"flat": flat, "two": FAMILY["two"]}, PRIOR, outside=0.5).noise([["a"]])
    p = PRIOR.probabilities @ FAMILY["two"].matrix()[:, 0]
    assert half["two"] == pytest.approx((p + 1 / 3) / (p + 1))


def test_what_a_channel_cannot_release_rules_it_out_and_unknown_words_say_nothing():
    less = Channel.from_matrix(np.eye(3)[:, :2] + [[0, 0], [0, 0], [1, 0]], WORDS, ["a", "b"])
    attack = UntoldNoise({"less": less, "two": FAMILY["two"]}, PRIOR, attacked=["b"])
    assert attack.noise([["c"]]) == {"less": 0.0, "two": 1.0}
    assert attack.noise([["film"]]) == pytest.approx({"less": 0.5, "two": 0.5})
    assert attack.reconstruct([["c", "film"]], [(0, 0), (0, 1)]) == ["b", "film"]


def test_bad_families_are_refused():
    with pytest.raises(ValueError, match="channels: none"):
        UntoldNoise({}, PRIOR)
    with pytest.raises(ValueError, match="'other' has other inputs"):
        UntoldNoise({"one": FAMILY["one"], "other": Channel.from_matrix([[1.0]], ["z"], ["z"])}, PRIOR)
    with pytest.raises(ValueError, match="weights"):
        UntoldNoise(FAMILY, PRIOR, weights=[0.5, 0.6, 0.1])


@pytest.fixture
def cell(monkeypatch):
    """The study on made-up text."""
    rng = np.random.default_rng(1)
    listed = [f"w{i}" for i in range(30)]
    docs = rng.choice(listed, size=(400, 12), p=(w := 1 / np.arange(1, 31)) / w.sum()).tolist()
    vectors = Embeddings(listed, rng.normal(size=(30, 3)))
    split = Split(docs[:100], docs[100:400], vectors, population=tuple(docs[100:]))
    monkeypatch.setattr(problems, "_split", lambda *_, **__: split)
    study._family.cache_clear()
    given = {"dataset": "made up", "defence": "custext", "epsilon": 2.0, "seed": 0, "vocabulary": 30}
    yield lambda **further: study.untold_noise(**given, n_shadow=300, **further)
    study._family.cache_clear()


def test_who_owns_no_text_counts_as_the_public_table_does(cell, monkeypatch):
    """Half as frequent as word 0 is word 1; word 2 is not listed; half of the table's words are no input."""
    listed = {"<s>": -1.0, "w0": np.log(0.3), "w1": np.log(0.15), "other": np.log(0.45)}
    table = SimpleNamespace(words=list(listed), numbers=lambda words: np.array([words]).T[:, 0])
    table.log_probabilities = lambda rows: np.array([listed.get(word, -np.inf) for (word,) in rows])
    monkeypatch.setattr(study.NGrams, "load", lambda: table)
    prior, outside = study._public(["w0", "w1", "w2"])
    assert outside == pytest.approx(0.5) and prior.probabilities == pytest.approx([0.5, 0.25, 0.25])
    row, own = cell(public=True)[-1], cell()[-1]
    assert row["told"] < own["told"] and row["words"] == own["words"]
