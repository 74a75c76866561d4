"""The paper's contextual attack: pairs by hand, encodings against transformers, odds against enumeration."""

import numpy as np
import pytest
from helpers import refused

from textsan import Channel
from textsan.attacks import ContextFreeBayes, ContextualBayes, DensityRatio, Knowledge, Truth, sentence_pairs
from textsan.attacks.released_code import ReleasedContextual
from textsan.attacks.sentence_pairs import Pair
from textsan.base import assets
from textsan.evaluation import attack_success_rate, sensitive_positions, words_at
from textsan.models import encoders
from textsan_book.studies.enumeration import JointDistribution

pytestmark = pytest.mark.usefixtures("default_data")

ANIMALS = Channel.from_matrix(
    [[0.5, 0.3, 0.2], [0.3, 0.4, 0.3], [0.2, 0.3, 0.5]], ["cat", "dog", "cow"], ["cat", "dog", "cow"]
)
COUNTS = {"cat": 8, "dog": 3, "cow": 1, "the": 9}
# Pr(x | dog) is ordered cat, dog, cow: 0.3 * 9, 0.4 * 4, 0.3 * 2.


def test_two_pairs_a_position_one_of_each_label():
    attack = ContextualBayes(ANIMALS, COUNTS)
    shadow, released = [["the", "cat", "dog"], ["cow"]], [["the", "dog", "dog"], ["dog"]]
    pairs, labels = attack.training_pairs(shadow, released)
    first, second = ("the", "dog", "dog"), ("dog",)
    assert list(zip(pairs, labels, strict=True)) == [
        (Pair(first, ("the", "cat", "dog")), 1),  # the guess is right: the second most likely word is labelled 0
        (Pair(first, ("the", "dog", "dog")), 0),
        (Pair(first, ("the", "dog", "dog")), 1),  # it is wrong: the original word is labelled 1
        (Pair(first, ("the", "dog", "cat")), 0),
        (Pair(second, ("cow",)), 1),
        (Pair(second, ("cat",)), 0),
    ]


def test_only_targets_and_sensitive_words_are_learnt_from():
    shadow, released = [["the", "cat", "dog", "cow"]], [["the", "cat", "dog", "dog"]]
    attack = ContextualBayes(ANIMALS, COUNTS, attacked={"cat", "cow"})

    def guesses(**settings):
        return [pair.guess[1:] for pair in attack.training_pairs(shadow, released, **settings)[0]]

    first, second = (("cat", "dog", "dog"), ("cow", "dog", "dog")), (("cat", "dog", "cow"), ("cat", "dog", "cat"))
    assert guesses() == [*first, *second]
    assert guesses(targets={"dog"}) == [("cat", "dog", "cow"), ("cat", "dog", "cat")]
    refused("no released word", lambda: guesses(targets={"gnu"}))
    refused("lengths differ", lambda: attack.training_pairs(shadow, [["the"]]))


def test_fewer_pairs_are_whole_positions():
    shadow = [["cat", "dog", "cow"]] * 10
    attack = ContextualBayes(ANIMALS, COUNTS)
    pairs, labels = attack.training_pairs(shadow, shadow, pairs=8, seed=1)
    assert (len(pairs), sum(labels)) == (8, 4)
    assert attack.training_pairs(shadow, shadow, pairs=8, seed=1) == (pairs, labels)
    assert attack.training_pairs(shadow, shadow, pairs=8, seed=2) != (pairs, labels)


def test_pairs_are_encoded_as_transformers_does():
    from transformers import AutoTokenizer

    reference = AutoTokenizer.from_pretrained(assets.fetch(encoders.ENCODER), local_files_only=True)
    sentence, guess = ["the", "undersupplied", "cat"], ["the", "undersupplied", "cows"]
    expected = reference(sentence, guess, is_split_into_words=True)
    [(ids, second)] = ContextualBayes(ANIMALS, COUNTS).detector._encode([Pair(tuple(sentence), tuple(guess))])
    assert ids == expected["input_ids"]
    assert [int(place >= second) for place in range(len(ids))] == expected["token_type_ids"]


def test_equal_pairs_are_encoded_once_and_batches_do_not_matter():
    detector = ContextualBayes(ANIMALS, COUNTS).detector
    pairs = [Pair(("the", "cat"), ("the", word)) for word in ("dog", "cow", "dog")]
    pairs.append(Pair(("the", "cat", "and", "an", "undersupplied", "dog"), ("cow",)))
    odds = detector.log_odds(pairs)
    assert detector.encoded == 3
    assert odds[0] == odds[2]
    alone = [detector.log_odds([pair])[0] for pair in pairs]
    assert np.allclose(odds, alone, atol=1e-4)


def test_a_long_document_is_read_around_the_position():
    attack = ContextualBayes(ANIMALS, COUNTS)
    doc = ["far"] * 300 + ["cat"] + ["far"] * 300
    near = attack.pair(doc, 300, "dog")
    assert len(near.released) == len(near.guess) == 100
    assert [(a, b) for a, b in zip(*near, strict=True) if a != b] == [("cat", "dog")]
    assert attack.pair(doc, 600, "dog").guess == ("far",) * 99 + ("dog",)


def test_a_narrow_detector_reads_the_words_around_the_position():
    attack = ContextualBayes(ANIMALS, COUNTS, span=3)
    shadow, released = [["the", "the", "cat", "the", "the"]], [["a", "b", "dog", "c", "d"]]
    pairs, _ = attack.training_pairs(shadow, released)
    assert pairs[0] == Pair(("b", "dog", "c"), ("b", "cat", "c"))
    assert attack.training_pairs(shadow, released, span=1)[0][0] == Pair(("dog",), ("cat",))
    assert attack.pair(["dog", "c", "d"], 0, "cat") == Pair(("dog", "c", "d"), ("cat", "c", "d"))
    fused = ReleasedContextual(ANIMALS, COUNTS, span=3, departures=["fused"])
    assert fused.attacked_pair(released[0], 2, "cat") == Pair(("b", "dog", "c"), ("bcatc",))
    refused("span", lambda: ContextualBayes(ANIMALS, COUNTS, span=0))


def test_widening_shows_every_pair_once_words_alone_first(monkeypatch):
    attack, seen = ContextualBayes(ANIMALS, COUNTS), []
    monkeypatch.setattr(attack.detector, "train", lambda parts, **settings: seen.extend(parts))
    shadow = [["the", "the", "cat", "the", "dog", "the", "the"]] * 20
    attack.fit(shadow, shadow, widen=True)
    assert [{len(pair.guess) for pair in pairs} for pairs, _ in seen] == [{1}, {3}, {5}, {7}]
    assert [len(pairs) for pairs, _ in seen] == [32, 8, 12, 28]
    made, labels = attack.training_pairs(shadow, shadow)
    assert [label for _, part in seen for label in part] == labels
    assert len(made) == 80


def test_a_detector_that_knows_nothing_leaves_the_context_free_attack(monkeypatch):
    docs, positions = [["the", "cat", "dog", "cow", "dog"]], [(0, i) for i in range(5)]
    attack = ContextualBayes(ANIMALS, COUNTS)
    monkeypatch.setattr(attack.detector, "log_odds", lambda pairs: np.zeros(len(pairs)))
    assert attack.reconstruct(docs, positions) == ContextFreeBayes(ANIMALS, COUNTS).reconstruct(docs, positions)


def test_a_detector_that_is_sure_turns_the_guess_among_the_k_best(monkeypatch):
    attack = ContextualBayes(ANIMALS, COUNTS)

    def sure(yes, no):
        def log_odds(pairs):
            return np.array([yes if "cow" in pair.guess else no for pair in pairs])

        return log_odds

    # Pr(y | x) (n + 1) is 2.7 for cat and 0.6 for cow. From h = 1/2 to 1 the factor is 2, not enough.
    monkeypatch.setattr(attack.detector, "log_odds", sure(9.0, 0.0))
    assert attack.reconstruct([["dog"]], [(0, 0)]) == ["cat"]
    monkeypatch.setattr(attack.detector, "log_odds", sure(9.0, -9.0))
    assert attack.reconstruct([["dog"]], [(0, 0)]) == ["cow"]
    attack.k = 2
    assert attack.reconstruct([["dog"]], [(0, 0)]) == ["cat"]


def test_the_bound_has_the_true_counts_and_the_departure_the_attacked_pairs(monkeypatch):
    given = []
    monkeypatch.setattr(
        ContextualBayes, "_trained", lambda knowledge, counts, *docs, **_: given.append((counts, *docs))
    )
    docs, released = [["cat", "dog"], ["cow", "cat"]], [["dog", "dog"], ["cow", "dog"]]
    truth = Truth(docs, released, [(0, 0)], [(0, 0), (0, 1), (1, 0), (1, 1)])
    for departure in (None, "attacked pairs"):
        ContextualBayes.bound(Knowledge(ANIMALS, shadow=[["cow"]]), truth, copies=3, departure=departure)
    (counts, thrice, drawn, *_), (_, attacked, theirs, *_) = given
    assert counts == truth.counts == {"cat": 2, "dog": 1, "cow": 1} and thrice == docs * 3 and len(drawn) == 6
    assert (attacked, theirs) == (docs, released)


VERBS = Channel.from_matrix(np.full((2, 2), 0.5), ["swims", "flies"], ["swims", "flies"])
TOLD = [["fish", "swims"], ["bird", "flies"]] * 40


def released_verbs():
    generator = np.random.default_rng(0)
    return ([[noun, generator.choice(VERBS.outputs)] for noun, _ in TOLD] for _ in range(2))


def teach():
    released, _ = released_verbs()
    attack = ContextualBayes(VERBS, {"swims": 1, "flies": 1})
    return attack.fit(TOLD, released, epochs=4, learning_rate=1e-4, batch_size=16)


def test_the_detector_learns_what_context_tells(trained_once):
    _, fresh = released_verbs()
    # The nouns in other sentences: copies of one are one sentence, and are never compared with one another.
    tests = [[noun, verb, str(at)] for at, (noun, verb) in enumerate(TOLD)]
    others = [[noun, verb, str(at)] for at, (noun, verb) in enumerate(fresh)]
    before = ContextualBayes(VERBS, {"swims": 1, "flies": 1}).gate(tests, others)
    attack = trained_once(teach, "textsan.attacks.contextual", "textsan.attacks.sentence_pairs")
    after = attack.gate(tests, others)
    assert after.passed
    assert before.accuracy.high < after.accuracy.low
    assert after.accuracy_blind.low < 0.6 < after.accuracy.low
    positions = sensitive_positions(TOLD, set(VERBS.inputs))
    guesses = attack.reconstruct(fresh, positions)  # blind guessing is right half of the time
    assert attack_success_rate(guesses, words_at(TOLD, positions)).low > 0.8


# --- density ratio ------------------------------------------------------------------------------------------


def random_world(seed):
    """A source of two words with context, its channel, and Pr(x_1 | y_1 y_2)."""
    generator = np.random.default_rng(seed)
    source = generator.dirichlet(np.full(9, 0.4)).reshape(3, 3)
    matrix = generator.dirichlet(np.ones(3), size=3)
    return source, matrix, JointDistribution.tokenwise(source, matrix)


@pytest.mark.parametrize("seed", range(5))
def test_ideal_odds_give_the_contextual_posterior_where_h_does_not(seed, monkeypatch):
    source, matrix, world = random_world(seed)
    words = ["cat", "dog", "cow"]
    channel = Channel.from_matrix(matrix, words, ["u", "v", "w"])
    prior = source.sum(axis=1)
    counts = dict(zip(words, (prior * 1e9).round().astype(int).tolist(), strict=True))
    joint = world.marginal([0], [0, 1])  # x, y, c
    given_y = joint / joint.sum(axis=(0, 2), keepdims=True)
    positive = given_y  # Pr(x, c | y)
    negative = given_y.sum(axis=2, keepdims=True) * given_y.sum(axis=0, keepdims=True)
    log_odds = np.log(positive) - np.log(negative)

    def exact(pairs):
        return np.array([log_odds[words.index(p.guess[0]), *map("uvw".index, p.released)] for p in pairs])

    docs = [[y, c] for y in "uvw" for c in "uvw"]
    positions = [(d, 0) for d in range(9)]
    optimum = [words[i] for i in joint.reshape(3, 9).argmax(axis=0)]
    ratio = DensityRatio(channel, counts, alpha_inverse=0)
    monkeypatch.setattr(ratio.detector, "log_odds", exact)
    assert ratio.reconstruct(docs, positions) == optimum
    paper = ContextualBayes(channel, counts, alpha_inverse=0)
    monkeypatch.setattr(paper.detector, "log_odds", exact)
    value = {
        name: _value(a.reconstruct(docs, positions), words, joint) for name, a in (("h", paper), ("odds", ratio))
    }
    assert value["h"] <= value["odds"] + 1e-12


def _value(guesses, words, joint):
    return sum(joint[words.index(g), at // 3, at % 3] for at, g in enumerate(guesses))


def test_negatives_are_draws_of_the_context_free_posterior():
    """The count of the original word is one less: the attacked text is not among the counted."""
    n = 4000
    attack = DensityRatio(ANIMALS, COUNTS)
    pairs, labels = attack.training_pairs([["dog"]] * n, [["dog"]] * n, seed=5)
    drawn = [pair.guess[0] for pair, label in zip(pairs, labels, strict=True) if not label]
    weights = np.array([0.3 * 9, 0.4 * 3, 0.3 * 2])
    expected = weights / weights.sum()
    share = np.array([drawn.count(word) / n for word in ("cat", "dog", "cow")])
    assert (np.abs(share - expected) < 4 * np.sqrt(expected * (1 - expected) / n)).all()
    assert sum(labels) == n == len(drawn)


def test_positives_and_negatives_come_from_the_same_candidates():
    attack = DensityRatio(ANIMALS, COUNTS, k=2)
    shadow, released = [["cow"]] * 50 + [["dog"]] * 50, [["dog"]] * 100
    pairs, labels = attack.training_pairs(shadow, released, seed=1)
    assert {pair.guess[0] for pair in pairs} == {"cat", "dog"}  # cow is the third
    assert sum(labels) == 50 == len(labels) - sum(labels)


def test_an_occurrence_less_can_cost_a_word_its_place():
    attack = DensityRatio(ANIMALS, {"cat": 8, "dog": 2, "cow": 3}, k=2)
    # Given dog: 2.7 for cat, 1.2 for dog and for cow; one dog less makes it 0.8.
    generator = np.random.default_rng(0)
    assert attack._choose(["dog"], ["dog"], True, generator)[0] == [None]  # cat and cow are left
    assert attack._choose(["dog"], ["dog"], False, generator)[0] == ["dog"]


def test_calibration_undoes_a_distortion(monkeypatch):
    generator = np.random.default_rng(0)
    true = generator.normal(0, 2, 4000)
    labels = (generator.random(4000) < 1 / (1 + np.exp(-true))).astype(int)
    attack = DensityRatio(ANIMALS, COUNTS)
    monkeypatch.setattr(attack.detector, "log_odds", lambda pairs: 3 * np.array(pairs) + 1)
    attack._calibrate(true.tolist(), labels.tolist())
    a, b = attack.calibration
    assert abs(a - 1 / 3) < 0.03
    assert abs(a + b) < 0.15


# --- the released code --------------------------------------------------------------------------------------


def test_departures_of_the_released_code():
    doc = ["an", "undersupplied", "dog", "barks", "."]
    fused = ReleasedContextual(ANIMALS, COUNTS, departures=["fused"])
    assert fused.attacked_pair(doc, 2, "cat").guess == ("an", "undersuppliedcatbarks", ".")
    assert fused.attacked_pair(doc, 0, "cat").guess == ("catundersupplied", "dog", "barks", ".")
    assert fused.attacked_pair(doc, 4, "cat").guess == ("an", "undersupplied", "dog", "barkscat")
    shadow = [["undersupplied", "dog"]]
    assert fused.training_pairs(shadow, shadow)[0][0].released == ("undersupplied", "dog")
    dropped = ReleasedContextual(ANIMALS, COUNTS, departures=["dropped"])
    assert dropped.training_pairs(shadow, shadow)[0] == [Pair(("dog",), ("dog",)), Pair(("dog",), ("cat",))]
    assert dropped.attacked_pair(doc, 2, "cat") == Pair(("an", "dog", "barks", "."), ("an", "cat", "barks", "."))
    long = dropped.attacked_pair(["an", "undersupplied", "dog"], 1, "oversupplied")  # the candidate itself stays
    assert long == Pair(("an", "dog"), ("an", "oversupplied", "dog"))
    both = ReleasedContextual(ANIMALS, COUNTS, departures=["fused", "dropped"])
    assert both.attacked_pair(doc, 2, "cat").guess == ("ancatbarks", ".")
    refused("departures", lambda: ReleasedContextual(ANIMALS, COUNTS, departures=["substring"]))


def test_without_segments_the_encoder_is_not_told_which_sentence_a_piece_is_of():
    seen = []
    for departures in ([], ["unsegmented"]):
        detector = ReleasedContextual(ANIMALS, COUNTS, departures=departures).detector
        detector.model.register_forward_pre_hook(
            lambda _, args, given: seen.append(given["token_type_ids"].max().item()), with_kwargs=True
        )
        detector.log_odds([Pair(("the", "cat"), ("the", "dog"))])
    assert seen == [1, 0]


# --- trainings that are killed ----------------------------------------------------------------------------------


def test_a_training_that_was_killed_ends_as_it_would_have(tmp_path, monkeypatch):
    monkeypatch.setattr(sentence_pairs, "KEPT_EVERY", 2)
    docs, checkpoint = [["fish", "cat"], ["bird", "dog"]] * 8, tmp_path / "state.safetensors"
    settings = {"epochs": 1, "batch_size": 8, "steps": 5, "seed": 4}
    probe = [Pair(("fish", "cat"), ("fish", "dog"))]
    whole = ContextualBayes(ANIMALS, COUNTS).fit(docs, docs, **settings | {"epochs": 3})
    steps, step = [], sentence_pairs.checkpoints.save

    def killed(*state):
        step(*state)
        steps.append(state[3])
        raise KeyboardInterrupt

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(sentence_pairs.checkpoints, "save", killed)
        ContextualBayes(ANIMALS, COUNTS).fit(docs, docs, **settings | {"epochs": 3}, checkpoint=checkpoint)
    resumed = ContextualBayes(ANIMALS, COUNTS).fit(docs, docs, **settings | {"epochs": 3}, checkpoint=checkpoint)
    assert steps == [2]
    assert resumed.detector.log_odds(probe) == whole.detector.log_odds(probe)
    assert resumed.detector.encoded == whole.detector.encoded
    other = ContextualBayes(ANIMALS, COUNTS).fit(docs, docs, **settings | {"epochs": 0.5}, checkpoint=checkpoint)
    fresh = ContextualBayes(ANIMALS, COUNTS).fit(docs, docs, **settings | {"epochs": 0.5})
    assert other.detector.log_odds(probe) == fresh.detector.log_odds(probe)  # the state was of another training
