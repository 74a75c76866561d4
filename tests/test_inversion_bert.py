"""Inversion BERT: counting against brute force and its limit, and a world where only reading a sentence helps."""

from fractions import Fraction
from functools import partial
from itertools import product

import numpy as np
import pytest
from helpers import refused

from textsan import Channel
from textsan.attacks import ContextFreeBayes, EmpiricalInversion, InversionBert
from textsan.evaluation import attack_success_rate

pytestmark = pytest.mark.usefixtures("default_data")

# --- published: one classifier for each y, whose only input is y ---------------------------------------------


@pytest.fixture
def pairs():
    generator = np.random.default_rng(0)
    docs = [generator.choice(list("abcde"), size=generator.integers(1, 9)).tolist() for _ in range(40)]
    return docs, [[str(generator.integers(4)) for _ in doc] for doc in docs]


def places(docs):
    return [(d, i) for d, doc in enumerate(docs) for i in range(len(doc))]


def test_counting_is_brute_force(pairs):
    docs, released = pairs
    joint = {(x, y): 0 for x, y in product("abcde", "0123")}
    for d, i in places(docs):
        joint[docs[d][i], released[d][i]] += 1
    guesses = EmpiricalInversion().fit(docs, released).reconstruct(released, places(docs))
    for guess, (d, i) in zip(guesses, places(docs), strict=True):
        y = released[d][i]
        assert joint[guess, y] == max(joint[x, y] for x in "abcde")
    without = EmpiricalInversion(attacked="de").fit(docs, released)
    assert set(without.table.values()) <= set("de")


def test_with_many_copies_it_is_the_context_free_attack_without_smoothing():
    rows = {"a": (1, 2, 5), "b": (4, 4, 0), "c": (2, 2, 4)}  # eighths
    counts = {"a": 5, "b": 3, "c": 4}
    shadow = [x for x, n in counts.items() for _ in range(8 * n)]
    released = [
        y for x, n in counts.items() for y, share in zip("uvw", rows[x], strict=True) for _ in range(n * share)
    ]
    channel = Channel.from_matrix([[float(Fraction(n, 8)) for n in row] for row in rows.values()], "abc", "uvw")
    positions = [(0, i) for i in range(3)]
    counted = EmpiricalInversion().fit([shadow], [released]).reconstruct([list("uvw")], positions)
    assert counted == ContextFreeBayes(channel, counts, alpha_inverse=0).reconstruct([list("uvw")], positions)
    assert counted == ["b", "b", "a"]


def test_what_was_never_released_is_guessed_to_be_itself():
    attack = EmpiricalInversion(attacked={"a"}).fit([["a", "the"]], [["u", "the"]])
    assert attack.reconstruct([["u", "the", "v"]], [(0, 0), (0, 1), (0, 2)]) == ["a", "the", "v"]
    assert attack.table == {"u": "a"}


# --- as meant: a sequence model of aligned pairs -------------------------------------------------------------

FRAMES = "red old big sad fat wet shy odd new raw hot dry fit low thin tall kind rich poor calm".split()
WORLD = {"fish": "swims", "bird": "flies", "snake": "crawls"}
POSITIONS = [(d, 1) for d in range(30)]


def sentences(frames):
    return [[frame, animal, verb] for frame in frames for animal, verb in WORLD.items()]


def sanitize(docs):
    """Every animal becomes "thing": what stood there only the verb tells."""
    return [[frame, "thing", verb] for frame, _, verb in docs]


SHADOW, PRIVATE = sentences(FRAMES[:10]), sentences(FRAMES[10:])


def teach():
    return InversionBert(list(WORLD)).fit(SHADOW, sanitize(SHADOW), epochs=20, batch_size=8)


def teach_shifted():
    """From sentences beside the released versions of their neighbours."""
    return InversionBert(list(WORLD)).fit(SHADOW, sanitize(SHADOW[1:] + SHADOW[:1]), epochs=20, batch_size=8)


@pytest.fixture(scope="module")
def taught(trained_once):
    return trained_once(teach, "textsan.attacks.inversion_bert"), SHADOW, PRIVATE


def test_it_learns_what_counting_cannot(taught):
    attack, shadow, private = taught
    truths = [doc[1] for doc in private]
    read = attack_success_rate(attack.reconstruct(sanitize(private), POSITIONS), truths)
    counted = EmpiricalInversion(attacked=WORLD).fit(shadow, sanitize(shadow))
    assert attack_success_rate(counted.reconstruct(sanitize(private), POSITIONS), truths).value == 1 / 3
    assert read.value > 0.95


def test_it_needs_pairs_that_are_aligned(trained_once):
    attack = trained_once(teach_shifted, "textsan.attacks.inversion_bert")
    truths = [doc[1] for doc in PRIVATE]
    assert attack_success_rate(attack.reconstruct(sanitize(PRIVATE), POSITIONS), truths).value < 0.2


def test_a_sentence_is_read_once_and_its_neighbours_do_not_matter(taught):
    attack, _, private = taught
    docs = [["the", *doc] if d % 2 else doc for d, doc in enumerate(sanitize(private))]
    positions = [(d, i) for d, doc in enumerate(docs) for i in range(len(doc))]
    before = attack.details["encoded"]
    together = attack.reconstruct(docs, positions)
    assert attack.details["encoded"] - before == len(docs)
    alone = [attack.reconstruct([docs[d]], [(0, i)])[0] for d, i in positions[:12]]
    assert together[:12] == alone
    assert attack.reconstruct(docs, positions[::-1]) == together[::-1]


def test_fits_repeat_with_their_seed():
    docs = sentences(FRAMES[:4])
    asked = {"epochs": 1, "batch_size": 4}  # three steps: the first one of Adam knows signs alone
    fits = [InversionBert(list(WORLD), seed=1).fit(docs, sanitize(docs), **asked, seed=s) for s in (3, 3, 4)]
    biases = [attack.reader.bias.detach().numpy() for attack in fits]
    assert (biases[0] == biases[1]).all()
    assert (biases[0] != biases[2]).any()
    assert fits[0].details["encoded"] == len(docs)


def test_bad_input_is_named():
    refused("words: none", lambda: InversionBert([]))
    refused("no-such-model", lambda: InversionBert(["a"], encoder="no-such-model"), KeyError)
    attack = InversionBert(["fish"])
    for fit in (attack.fit, EmpiricalInversion().fit):
        refused("lengths differ", partial(fit, [["fish"]], [["a", "b"]]))
        refused("shadow_docs: empty", partial(fit, [[]], [[]]))
    refused("none of the words", lambda: attack.fit([["the"]], [["the"]]))
    refused("lies outside", lambda: attack.reconstruct([["fish"]], [(0, 1)]))
