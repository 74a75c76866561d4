"""The mixture: weights from text that no part has seen, parts left out, and what happens with too little text."""

import numpy as np
import pytest
import scipy

from textsan import Channel, Embeddings, Knowledge, SanTextPlus
from textsan.attacks import LanguageModelBayes, MarkovBayes, Mixture, mixture as module
from textsan.attacks.mixture import STATED, Factors, fit_weights
from textsan.priors import MarkovModel, Prior

WORDS = [f"w{i}" for i in range(30)]


def make_world(seed=0, context=0.05):
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(30, 2))
    logs = -1.2 * np.linalg.norm(points[:, None] - points, axis=2)
    channel = Channel.from_matrix(scipy.special.softmax(logs, axis=1), WORDS, WORDS)
    model = MarkovModel.from_arrays(WORDS, rng.dirichlet(np.ones(30)), rng.dirichlet(np.full(30, context), 30))
    return channel, model


def release(channel, docs, seed):
    rng = np.random.default_rng(seed)
    return [[WORDS[j] for j in channel.sample(doc, rng.random(len(doc)))] for doc in docs]


def attacked(docs):
    positions = [(d, i) for d, doc in enumerate(docs) for i in range(len(doc))]
    return positions, [docs[d][i] for d, i in positions]


def hits(attack, released, docs):
    positions, truth = attacked(docs)
    return np.array([g == x for g, x in zip(attack.reconstruct(released, positions), truth, strict=True)])


SMALL = {"reader": False, "language": False, "k": 30}


def test_weights_are_a_conditional_logit():
    """Against scipy on the formula written down again; what is no candidate does not count."""
    rng = np.random.default_rng(0)
    values = {"channel": rng.normal(size=(2000, 4)), "frequencies": rng.normal(size=(2000, 4))}
    true_weights = {"channel": 1.3, "frequencies": 0.4}
    scores = sum(w * values[name] for name, w in true_weights.items())
    truth = (scores + rng.gumbel(size=scores.shape)).argmax(axis=1)
    numbers = np.tile(np.arange(4), (2000, 1))
    numbers[0] = -1
    found = fit_weights([Factors(numbers, values)], [truth])

    def loss(weights):
        logs = scipy.special.log_softmax(np.stack(list(values.values()), axis=2)[1:] @ weights, axis=1)
        return -logs[np.arange(1999), truth[1:]].sum() + 2 * ((weights - 1) ** 2).sum()

    expected = scipy.optimize.minimize(loss, [0.5, 0.5]).x
    np.testing.assert_allclose(list(found.values()), expected, atol=1e-3)
    np.testing.assert_allclose(list(found.values()), list(true_weights.values()), atol=0.15)


def test_leak_is_caught(monkeypatch):
    """Bigrams that have seen the sentences on which their weight is chosen are trusted too much: planted, seen."""
    channel, model = make_world(5, context=50.0)  # nothing to learn from context
    shadow = model.sample(40, seed=6, length=10)
    knowledge = Knowledge(channel, shadow=shadow)
    honest = Mixture.against(knowledge, **SMALL).weights["bigrams"]
    everything = module._Maker.__call__
    monkeypatch.setattr(module._Maker, "__call__", lambda self, docs: everything(self, shadow))
    leaky = Mixture.against(knowledge, **SMALL).weights["bigrams"]
    assert leaky > honest + 0.5
    docs = model.sample(200, seed=7, length=10)
    released = release(channel, docs, 8)
    trusting = Mixture.against(knowledge, **SMALL)
    positions, truth = attacked(docs)
    logs = {}
    for weight in (honest, leaky):
        trusting.weights["bigrams"] = weight
        found = trusting.posteriors(released, positions, k=30)
        logs[weight] = np.mean([np.log(found.mapping(at).get(x, 1e-9)) for at, x in enumerate(truth)])
    assert logs[honest] > logs[leaky] + 0.05


def test_mixture_never_sees_the_truth():
    """Other private text, the same shadow: the same weights to the bit."""
    channel, model = make_world(12)
    shadow = model.sample(30, seed=13, length=8)
    weights = [Mixture.against(Knowledge(channel, shadow=shadow, seed=3), **SMALL).weights for _ in range(2)]
    assert weights[0] == weights[1]
    other = Mixture.against(Knowledge(channel, shadow=shadow[:-5], seed=3), **SMALL).weights
    assert other != weights[0]


def test_who_is_not_told_weighs_the_parts_alike(monkeypatch):
    """Kept words say nothing of the weights, as none of them is ever scored; planted: with them other weights."""
    channel, model = make_world(16)
    granted = {"shadow": model.sample(300, seed=17, length=10), "kept": WORDS[:15], "seed": 1}
    told = Mixture.against(Knowledge(channel, attacked=WORDS[15:], **granted), **SMALL)
    knowledge = Knowledge(channel, **granted)
    not_told = Mixture.against(knowledge, **SMALL)
    assert not_told.weights == pytest.approx(told.weights, abs=1e-6)
    kept = [["w20", "w3"]], [(0, 1)]
    assert not_told.reconstruct(*kept) == ["w3"] != told.reconstruct(*kept)
    monkeypatch.setattr(Knowledge, "scored", property(lambda self: self.candidates))
    others = Mixture.against(Knowledge(channel, **granted), **SMALL).weights
    assert max(abs(others[name] - weight) for name, weight in told.weights.items()) > 0.1


def test_what_is_scored_follows_from_the_mechanism():
    channel, _ = make_world(0)
    assert Knowledge(channel, kept=WORDS[:10]).scored == set(WORDS[10:])
    assert Knowledge(channel, kept=WORDS[:10], attacked=WORDS[5:15]).scored == set(WORDS[5:15])
    points = Embeddings(WORDS, np.arange(30.0)[:, None])
    mechanism = SanTextPlus(points, 1.0, sensitive=WORDS[20:], p=0.3)
    assert Knowledge.of(mechanism).scored == set(WORDS[20:]) != Knowledge.of(mechanism).candidates


def test_little_shadow_text_is_stated_weights():
    channel, model = make_world(14)
    few = Mixture.against(Knowledge(channel, shadow=model.sample(5, seed=1, length=6)), **SMALL)
    assert few.weights == {name: STATED[name] for name in ("channel", "frequencies", "bigrams")}
    prior = Mixture.against(Knowledge(channel, prior=model), **SMALL)
    assert prior.weights == few.weights
    none = Mixture.against(Knowledge(channel), **SMALL)
    assert set(none.weights) == {"channel", "frequencies"}
    strange = Knowledge(channel, shadow=[["elsewhere", "nothing", f"x{i}"] for i in range(12)])
    stated = Mixture.against(strange, **SMALL).weights  # its bigrams say nothing of attacked words
    assert stated == {name: STATED[name] for name in stated}
    left_out = Mixture.against(Knowledge(channel, shadow=[["w0"]]), bigrams=False, **SMALL)
    assert set(left_out.weights) == {"channel", "frequencies"}


def test_with_weight_on_one_part_it_is_that_part():
    channel, model = make_world(15)
    docs = model.sample(10, seed=1, length=9)
    released = release(channel, docs, 2)
    positions, _ = attacked(docs)
    bigrams = MarkovBayes(channel, model)
    only = {"channel": 1.0, "frequencies": 1.0, "bigrams": 1.0}
    mixed = Mixture(channel, Prior(WORDS, model.unigram), bigrams=bigrams, weights=only, k=30)
    np.testing.assert_allclose(
        [mixed.posterior(released[0])[0].get(w, 0) for w in WORDS],
        [bigrams.posterior(released[0])[0].get(w, 0) for w in WORDS],
        atol=1e-4,
    )
    assert mixed.reconstruct(released, positions) == bigrams.reconstruct(released, positions)


def test_bad_input_is_one_line():
    channel, _ = make_world(0)
    with pytest.raises(ValueError, match="^weights: 'bigram' is no part; known: channel, "):
        Mixture(channel, Prior(WORDS, np.full(30, 1 / 30)), weights={"bigram": 1})
    with pytest.raises(ValueError, match="^sentences: "):
        Mixture.against(Knowledge(channel, shadow=[["w0"]]), **SMALL, sentences=0)


def test_the_language_model_speaks_where_a_kept_word_was_released():
    """A word under attack can become a kept one: what its part says there is its own posterior, not the floor."""
    channel, model = make_world(4)
    channel, secret = channel.keeping(["w0"]), frozenset(WORDS[1:])
    docs = [["w3", "w0", "w7", "w0"]]
    language = LanguageModelBayes(channel, model, k=30, beam=30, attacked=secret)
    prior = Prior(WORDS, np.full(30, 1 / 30))
    attack = Mixture(channel, prior, language=language, k=30, attacked=secret)
    found = attack.factors(docs, [(0, 1), (0, 3)])
    scores = found.scores({"channel": 1.0, "frequencies": 1.0, "language": 1.0})
    expected = language.posteriors(docs, [(0, 1), (0, 3)], 30)
    for at in range(2):
        mass = scipy.special.softmax(scores[at])
        said = {WORDS[n]: p for n, p in zip(found.numbers[at], mass, strict=True) if n >= 0}
        assert said == pytest.approx(expected.mapping(at), abs=1e-5) and len(said) > 5


def test_a_language_model_that_takes_a_kept_word_for_itself_adds_nothing():
    """Without being told where attacked words stand: no candidate gains by a part that reads none of them."""
    channel, model = make_world(4)
    channel = channel.keeping(["w0"])
    attack = Mixture(
        channel,
        Prior(WORDS, np.full(30, 1 / 30)),
        language=LanguageModelBayes(channel, model, k=30, beam=30),
        k=30,
    )
    said = attack.factors([["w3", "w0", "w7"]], [(0, 0), (0, 1)]).values["language"]
    assert np.ptp(said[0]) > 1 and not said[1].any()
