"""Attacks on vectors: planted worlds where the answer is known, independent libraries, bad input."""

import datetime
import itertools
import math

import numpy as np
import pytest
from helpers import refused

from textsan import CusText, Embeddings
from textsan.base import assets, cache
from textsan.embedding_leakage import VectorKnowledge, defences, inversion, keyword, pattern
from textsan.models import sentence_vectors as vectors
from textsan_book.studies import citizen, genome, vector_defences, vector_texts


def digits(texts, noise=0.05):
    """A planted encoder: the characters one-hot, plus a little noise that depends on the text."""
    rows = [np.eye(11)[["0123456789X".index(c) for c in text]].ravel() for text in texts]
    random = np.random.default_rng(len(texts))
    return (np.array(rows) + noise * random.normal(size=(len(texts), 11 * 18))).astype(np.float32)


def nothing(texts):
    """An encoder that says nothing about its texts."""
    return np.random.default_rng(len(texts)).normal(size=(len(texts), 20)).astype(np.float32)


# --- citizen numbers --------------------------------------------------------------------------------------------


def test_check_characters_make_the_sum_one():
    for number in citizen.generate(200, 3):
        values = [10 if c == "X" else int(c) for c in number]
        assert sum(value * 2 ** (17 - i) for i, value in enumerate(values)) % 11 == 1
        assert datetime.datetime.strptime(number[6:14], "%Y%m%d").year in range(1900, 2000)


@pytest.mark.parametrize("k", [1, 5])
def test_blind_guesses_are_counted_right(k):
    days = [datetime.date(1900, 1, 1) + datetime.timedelta(i) for i in range(36524)]
    assert days[-1] == citizen.LAST
    months = sorted((sum(d.month == m for d in days) for m in range(1, 13)), reverse=True)
    assert citizen.blind(k)["month"] == pytest.approx(sum(months[:k]) / 36524)
    assert citizen.blind(k)["whole"] == pytest.approx(k / 36524)


# --- patterns ---------------------------------------------------------------------------------------------------


def known(encode, **more):
    return VectorKnowledge(encode, rule=citizen.generate, **more)


@pytest.fixture(scope="module")
def planted():
    return pattern.PatternReconstruction.against(known(digits), pairs=2500, steps=400)


def test_what_is_in_the_vector_is_read(planted):
    texts = citizen.generate(300, 99)
    rates = pattern.rates(planted.hits(digits(texts), texts))
    assert rates["month"].value > 0.95 and rates["day"].value > 0.9 and rates["whole"].low > 0.3


def test_from_vectors_that_say_nothing_nothing_is_read():
    texts = citizen.generate(1000, 99)
    attack = pattern.PatternReconstruction.against(known(nothing), pairs=2000, steps=200)
    rates, chance = pattern.rates(attack.hits(nothing(texts), texts)), citizen.blind()
    for name in ("year", "month", "day"):
        assert rates[name].low < chance[name] * 1.2


def test_the_best_wholes_are_those_of_all_combinations(planted):
    released = digits(citizen.generate(5, 7), noise=0.6)
    logs, found = planted.log_probabilities(released), planted.ranked(released, 4)
    for row in range(5):
        scores = {
            (1900 + y, 1 + m, 1 + d): logs["year"][row, y] + logs["month"][row, m] + logs["day"][row, d]
            for y, m, d in itertools.product(range(100), range(12), range(31))
        }
        assert found["whole"][row] == sorted(scores, key=lambda whole: -scores[whole])[:4]


def test_easy_and_hard_victims_are_seen_beyond_the_product():
    easy = np.random.default_rng(0).random(2000) < 0.5
    parts = {name: easy for name in ("year", "month", "day")}
    assert pattern.beyond_product(parts | {"whole": easy}, seed=0).low > 0.3
    random = np.random.default_rng(1).random((3, 2000)) < 0.5
    apart = dict(zip(("year", "month", "day"), random, strict=True)) | {"whole": random.all(axis=0)}
    gap = pattern.beyond_product(apart, seed=0)
    assert gap.low < 0 < gap.high


@pytest.mark.parametrize(
    "granted, line",
    [({}, "rule: .*pass rule="), ({"rule": citizen.generate, "queries": 100}, "queries: 300 texts .*100 granted")],
)
def test_what_is_not_granted_is_refused(granted, line):
    with pytest.raises(ValueError, match=line):
        pattern.PatternReconstruction.against(VectorKnowledge(digits, **granted), pairs=300, steps=1)


# --- genomes ----------------------------------------------------------------------------------------------------


def bases(texts):
    return np.eye(4)[genome.numbered(texts)].reshape(len(texts), -1).astype(np.float32)


def test_planted_bases_are_read_and_others_are_not():
    texts = genome.generate(1500, 0, ["none"])
    attack = genome.GenomeReconstruction.against(VectorKnowledge(bases, texts[:1000]), steps=1200)
    right = genome.hits(attack.reconstruct(bases(texts[1000:])), texts[1000:])
    assert right.mean() > 0.45  # letter and position must be joined, which takes more steps than a test has
    blind = genome.GenomeReconstruction.against(VectorKnowledge(nothing, texts[:1000]), steps=100)
    wrong = genome.hits(blind.reconstruct(nothing(texts[1000:])), texts[1000:])
    assert abs(wrong.mean() - 0.25) < 4 * math.sqrt(0.25 * 0.75 / wrong.size)


def test_windows_follow_their_frequencies():
    for kind in genome.KINDS:
        drawn = genome.numbered(genome.generate(4000, 1, [kind]))
        shares = np.stack([(drawn == base).mean(axis=0) for base in range(4)], axis=1)
        assert np.abs(shares - genome.frequencies(kind)).max() < 0.04
        assert np.allclose(genome.frequencies(kind).sum(axis=1), 1)


def test_position_codes_are_those_of_the_formula():
    codes = genome.position_codes(6)
    for position, i in itertools.product((0, 7, 19), range(3)):
        angle = position / 10_000 ** (2 * i / 6)
        assert codes[position, 2 * i] == pytest.approx(math.sin(angle), abs=1e-6)
        assert codes[position, 2 * i + 1] == pytest.approx(math.cos(angle), abs=1e-6)


# --- keywords ---------------------------------------------------------------------------------------------------

TEXTS = [f"{'the pain' if i % 10 == 0 else 'a day'} {i}" for i in range(400)]


def loud(texts):
    """A planted encoder: the first coordinate says whether "pain" is there, with noise."""
    random = np.random.default_rng(sum(map(len, texts)))
    found = random.normal(size=(len(texts), 8))
    found[:, 0] += 2.5 * keyword.present(texts, "pain")
    return found.astype(np.float32)


@pytest.mark.parametrize("head", ["linear", "mlp"])
@pytest.mark.parametrize("balance", ["none", "resample", "weights", "threshold"])
def test_every_way_finds_a_planted_keyword(head, balance):
    pytest.importorskip("sklearn")
    attack = keyword.KeywordInference.against(
        VectorKnowledge(loud, TEXTS), keyword="PAIN", head=head, balance=balance
    )
    score = keyword.keyword_score(attack.scores(loud(TEXTS[::-1])), keyword.present(TEXTS[::-1], "pain"), seed=0)
    assert score.auc.low > 0.8 and score.majority == 0.9
    assert score.balanced.value > (0.49 if balance == "none" else 0.75)


def test_labels_that_have_nothing_to_do_with_vectors_give_nothing():
    pytest.importorskip("sklearn")
    attack = keyword.KeywordInference.against(VectorKnowledge(nothing, TEXTS), keyword="pain")
    random = np.random.default_rng(9).normal(size=(4000, 20)).astype(np.float32)
    there = np.arange(4000) % 2 == 0
    score = keyword.keyword_score(attack.scores(random), there, seed=0)
    assert abs(score.auc.value - 0.5) < 0.05 and abs(score.balanced.value - 0.5) < 0.05


@pytest.mark.parametrize("word, count", [("xylophone", "0 of 3"), ("a", "3 of 3")])
def test_a_keyword_that_never_or_always_occurs_is_refused_with_its_count(word, count):
    with pytest.raises(ValueError, match=f"keyword: '{word}' is in {count} texts"):
        keyword.KeywordInference.against(VectorKnowledge(loud, ["a b", "a c", "a d"]), keyword=word)


def test_areas_and_accuracies_are_those_of_scikit_learn():
    metrics = pytest.importorskip("sklearn.metrics")
    random = np.random.default_rng(0)
    there = random.random(200) < 0.3
    scores = np.round(random.normal(size=200) + there, 1)  # with ties
    found = keyword.keyword_score(scores, there, seed=0)
    assert found.auc.value == pytest.approx(metrics.roc_auc_score(there, scores))
    assert found.balanced.value == pytest.approx(metrics.balanced_accuracy_score(there, scores > 0))
    assert found.accuracy.value == pytest.approx(metrics.accuracy_score(there, scores > 0))
    for estimate in found[:3]:
        assert estimate.low < estimate.value < estimate.high


def test_intervals_of_the_area_hold_the_true_one():
    # Normal scores one deviation apart: the area is Phi(1 / sqrt 2).
    truth, inside = 0.5 * (1 + math.erf(0.5)), 0
    for seed in range(100):
        there = np.arange(150) < 50
        scores = np.random.default_rng(seed).normal(size=150) + there
        found = keyword.keyword_score(scores, there, seed=0).auc
        inside += found.low <= truth <= found.high
    assert inside >= 87  # of 100 at 95 %: below this with a probability under 1e-3


def test_the_best_threshold_is_that_of_all():
    random = np.random.default_rng(2)
    there = random.random(60) < 0.4
    scores = np.round(random.normal(size=60) + there, 1)

    def balanced(border):
        return ((scores > border)[there].mean() + (scores <= border)[~there].mean()) / 2

    every = [balanced(border) for border in np.arange(-4, 4, 0.05)]
    assert balanced(keyword.best_threshold(scores, there)) == pytest.approx(max(every))


def shifted(n, released, seed):
    """A world where plain transfer is led astray: see chapter 15."""
    random = np.random.default_rng(seed)
    there = random.random(n) < 0.5
    found = random.normal(size=(n, 6)).astype(np.float32)
    found[:, 0] += 2 * there
    found[:, 1] = 0.5 * random.normal(size=n) + (4 if released else 2 * there)
    return found, there


def test_gradient_reversal_repairs_a_planted_shift():
    (own, said), (theirs, truth) = shifted(1500, False, 0), shifted(1500, True, 1)
    texts = ["yes" if one else "no" for one in said]
    found = {}
    for reversal in (0.0, 1.0):
        attack = keyword.KeywordTransfer.against(
            VectorKnowledge(lambda _: own, texts, captured=theirs), keyword="yes", reversal=reversal
        )
        found[reversal] = keyword.keyword_score(attack.scores(theirs), truth, seed=0).balanced
    assert found[1.0].low > found[0.0].high


def test_a_word_is_placed_in_every_text():
    texts = ["one two three"] * 60
    made = keyword.placed(texts, "pain", ["pain", "skin", "head"], seed=0)
    words = [set(text.split()) - {"one", "two", "three"} for text in made]
    assert all(some == {"pain"} for some in words[::2])
    assert {word for some in words[1::2] for word in some} == {"skin", "head"}
    assert {text.split().index("pain") for text in made[::2]} == {0, 1, 2, 3}
    refused("others: none besides 'pain'", lambda: keyword.placed(texts, "pain", ["Pain"], seed=0))


# --- inversion --------------------------------------------------------------------------------------------------


def test_words_are_recovered_from_a_linear_encoder_and_more_with_more_pairs():
    pytest.importorskip("sklearn")
    random = np.random.default_rng(0)
    words = [f"word{letter}" for letter in "abcdefghijklmnopqrstuvwxyz"]
    texts = [" ".join(random.choice(words, 3, replace=False)) for _ in range(500)]
    codes = {word: random.normal(size=60) for word in words}

    def encode(texts):
        return np.array([sum(codes[word] for word in text.split()) for text in texts], np.float32)

    shares = []
    for leak in (20, 300):
        attack = inversion.WordInversion.against(VectorKnowledge(encode, texts[:300]), leak=leak)
        shares.append(inversion.recovered(attack.guess(encode(texts[300:]), 3), texts[300:]).mean())
    blind = inversion.recovered(attack.blind(200, 3), texts[300:]).mean()
    assert shares[1] > 0.95 and shares[1] > shares[0] > blind + 0.1 and blind < 0.25


# --- defences ---------------------------------------------------------------------------------------------------


def test_the_epsilon_of_laplace_noise_is_that_of_its_density():
    random, d, scale = np.random.default_rng(0), 12, 0.7
    epsilon, most = defences.laplace_epsilon(scale, d), 0.0
    corner = np.full(d, d**-0.5)
    for one, two in [(corner, -corner), *defences.unit(random.normal(size=(400, d))).reshape(200, 2, d)]:
        for z in random.normal(size=(20, d)):
            most = max(most, (np.abs(z - two).sum() - np.abs(z - one).sum()) / scale)
        most = max(most, np.abs(one - two).sum() / scale)
    assert most == pytest.approx(epsilon)  # attained at opposite corners, passed by none


def test_no_attack_on_one_word_is_better_than_its_rows_allow():
    table = Embeddings(["a", "b", "c"], [[0.0], [0.4], [1.0]])
    mechanism = CusText(table, 1.0, k=3)
    rows = mechanism.channel.rows(["a", "b"])
    bound = (1 + np.abs(rows[0] - rows[1]).sum() / 2) / 2
    assert 0.5 < bound <= math.e / (1 + math.e)
    texts = ["a"] * 4000 + ["b"] * 4000
    released = defences.sanitized(texts, mechanism, seed=0)
    best = {y for y, p, q in zip(mechanism.channel.outputs, *rows, strict=True) if p > q}
    right = [(y in best) == (x == "a") for x, y in zip(texts, released, strict=True)]
    assert np.mean(right) == pytest.approx(bound, abs=4 * 0.5 / math.sqrt(8000))


# --- vectors ----------------------------------------------------------------------------------------------------


@pytest.fixture
def own_cache(monkeypatch, tmp_path):
    place = cache.place
    monkeypatch.setattr(cache, "place", lambda *what, **code: tmp_path / place(*what, **code).name)
    return tmp_path


def test_static_means_are_means():
    from textsan import load_embeddings

    table = load_embeddings()
    [found] = vectors.sentence_vectors(["A fine film"], vectors.STATIC, stored=False)
    expected = np.mean([table.vectors[table.index[word]] for word in ("a", "fine", "film")], axis=0)
    assert np.allclose(found, expected)
    one, two = vectors.sentence_vectors(["dog bites man", "man bites dog"], vectors.STATIC, stored=False)
    assert np.allclose(one, two, atol=1e-6)  # it knows no order


def test_vectors_are_those_of_the_model_whatever_the_batch(own_cache):
    torch = pytest.importorskip("torch")
    if not assets.is_cached(vectors.encoders.ENCODER):
        pytest.skip("the encoder is not in the cache")
    texts = ["a film", "a very much longer sentence about a film, with commas", "x"]
    of = [vectors.View("mean", -1), vectors.View("cls", 2), vectors.View("pooled", -1), vectors.View("last", 0)]
    found = vectors.views(texts, of=of, batch=3, stored=False)
    alone = vectors.views(texts, of=of, batch=1)
    assert len(list(own_cache.iterdir())) == len(of)
    again = vectors.views(texts, of=of, batch=2)
    model, tokenizer = vectors.encoders.load_encoder(), vectors.encoders.load_tokenizer()
    for row, text in enumerate(texts):
        ids = torch.tensor([tokenizer.encode(text).ids])
        with torch.no_grad():
            read = model(input_ids=ids, output_hidden_states=True)
        hidden = read.hidden_states
        wanted = [hidden[-1][0].mean(0), hidden[2][0, 0], read.pooler_output[0], hidden[0][0, -1]]
        for at, vector in enumerate(wanted):
            assert np.allclose(found[at][row], vector, atol=1e-5)
            assert np.allclose(alone[at][row], vector, atol=1e-5)
    assert all(np.array_equal(a, b) for a, b in zip(alone, again, strict=True))  # from the files


@pytest.mark.parametrize(
    "texts, options, line",
    [
        ("a text", {}, "texts: one string"),
        (["a"], {"encoder": "no-such-encoder"}, "encoder: 'no-such-encoder' cannot be had here; .*glove-6b-50d"),
        (["a"], {"encoder": "vader-corpora"}, "encoder: 'vader-corpora' cannot be had here"),
        (["a"], {"pooling": "max"}, "pooling: 'max' is unknown"),
        (["a"], {"encoder": "glove-6b-50d", "pooling": "cls"}, "pooling: 'cls'"),
    ],
)
def test_what_no_encoder_can_do_is_one_line(texts, options, line):
    refused(line, lambda: vectors.sentence_vectors(texts, **{"encoder": vectors.STATIC} | options))


# --- texts and defences -----------------------------------------------------------------------------------


def test_no_text_is_attacked_and_owned():
    found = vector_texts.keyword_texts("nyt", ("york",), 900, seed=0)
    assert not set(found.attacked) & set(found.own)
    assert keyword.present(found.own, "york").sum() > 50 < keyword.present(found.attacked, "york").sum()
    made = vector_texts.windows("generated", 11, seed=0)
    assert (len(made.attacked), len(made.own)) == (6, 5)


def test_a_defence_that_says_nothing_leaves_nothing_to_attack_or_use():
    pytest.importorskip("sklearn")
    task = vector_defences.Task.of("rt", "comedy", 600, pairs=200, victims=100, steps=20, seed=0)
    assert not {r.text for r in task.attacked} & {r.text for r in task.own}
    found = vector_defences.outcome(task, nothing, nothing)
    assert found["low"] < 0.5 < found["high"]
    assert found["month_low"] < found["month_chance"] and found["utility_low"] < found["majority"]
