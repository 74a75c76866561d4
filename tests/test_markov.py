"""MarkovModel and MarkovBayes against brute force, hmmlearn and their own dense forms."""

import itertools
from collections import Counter

import numpy as np
import pytest
from hmmlearn.hmm import CategoricalHMM
from hypothesis import given, settings, strategies as st

from textsan import Channel, Embeddings, leakage
from textsan.attacks import ContextFreeBayes, MarkovBayes, emissions
from textsan.evaluation import attack_success_rate, paired_difference, sensitive_positions, words_at
from textsan.mechanisms import CusText
from textsan.priors import MarkovModel
from textsan_book.studies.enumeration import JointDistribution, markov_source
from textsan_book.studies.hierarchy import NeighbourBayes, attacker_hierarchy, word_prior
from textsan_book.studies.known_source import KnownSource

WORDS = ["w0", "w1", "w2", "w3", "w4"]


def random_chain(seed, m, outputs, sparsity=0.0):
    generator = np.random.default_rng(seed)
    transition = generator.dirichlet(np.full(m, 0.5), size=m)
    if sparsity:
        transition *= generator.random((m, m)) > sparsity
        transition += 1e-3 * np.eye(m)
        transition /= transition.sum(axis=1, keepdims=True)
    initial = generator.dirichlet(np.ones(m))
    matrix = generator.dirichlet(np.full(outputs, 0.5), size=m)
    channel = Channel.from_matrix(matrix, WORDS[:m], [f"y{j}" for j in range(outputs)])
    return initial, transition, matrix, MarkovModel.from_arrays(WORDS[:m], initial, transition), channel


def brute_force(initial, transition, matrix, observed, weight=1.0, frequency=None):
    """Posterior of every position by summing over all sentences, (n, m)."""
    m, n = len(initial), len(observed)
    posterior = np.zeros((n, m))
    f = np.ones(m) if frequency is None else frequency ** (1 - weight)
    for x in itertools.product(range(m), repeat=n):
        p = initial[x[0]] ** weight * f[x[0]] * matrix[x[0], observed[0]]
        for (a, b), y in zip(itertools.pairwise(x), observed[1:], strict=True):
            p *= transition[a, b] ** weight * f[b] * matrix[b, y]
        for t, word in enumerate(x):
            posterior[t, word] += p
    return posterior / posterior.sum(axis=1, keepdims=True)


def as_array(posterior, words):
    return np.array([[table.get(word, 0.0) for word in words] for table in posterior])


chains = st.tuples(st.integers(0, 10**6), st.integers(1, 5), st.integers(1, 4))


@pytest.mark.parametrize("dense", [False, True])
@given(chains, st.integers(1, 4), st.sampled_from([0.0, 0.3, 0.5, 1.0]))
@settings(deadline=None, max_examples=60)
def test_posterior_is_that_of_brute_force(dense, shape, n, weight):
    initial, transition, matrix, model, channel = random_chain(*shape)
    observed = np.random.default_rng(shape[0]).integers(0, shape[2], size=n)
    expected = brute_force(initial, transition, matrix, observed, weight, model.unigram)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(emissions, "SPARSE_LIMIT", 0 if dense else 1024)
        posterior = MarkovBayes(channel, model, weight=weight).posterior([f"y{j}" for j in observed])
    np.testing.assert_allclose(as_array(posterior, channel.inputs), expected, atol=1e-10)


@pytest.mark.parametrize("seed", range(8))
def test_posterior_is_that_of_hmmlearn(seed):
    initial, transition, matrix, model, channel = random_chain(seed, 5, 4, sparsity=0.4)
    hmm = CategoricalHMM(n_components=5)
    hmm.startprob_, hmm.transmat_, hmm.emissionprob_ = initial, transition, matrix
    hmm.n_features = 4
    observed = hmm.sample(40, random_state=seed)[0].ravel()
    posterior = MarkovBayes(channel, model).posterior([f"y{j}" for j in observed])
    expected = hmm.predict_proba(observed[:, None])
    np.testing.assert_allclose(as_array(posterior, channel.inputs), expected, atol=1e-10)


def test_only_what_is_impossible_is_left_out():
    model = MarkovModel.from_arrays("abc", [0.5, 0.5, 0], [[0, 1, 0], [0, 0, 1], [1, 0, 0]])
    channel = Channel.from_matrix([[0.5, 0.5], [1e-200, 1 - 1e-200], [0.5, 0.5]], "abc", "uv")
    [first, second] = MarkovBayes(channel, model).posterior(["u", "v"])
    assert set(first) == {"a", "b"} and set(second) == {"b", "c"}
    assert 0 < first["b"] < 1e-190
    assert first["a"] == pytest.approx(1.0) and second["b"] == pytest.approx(1.0)


def test_impossible_documents_are_refused():
    model = MarkovModel.from_arrays("ab", [1, 0], [[0, 1], [1, 0]])
    attack = MarkovBayes(Channel.from_matrix(np.eye(2), "ab", "ab"), model)
    assert attack.reconstruct([["a", "b"]], [(0, 1)]) == ["b"]
    with pytest.raises(ValueError, match="probability 0"):
        attack.posterior(["a", "a"])


# --- the model ------------------------------------------------------------------------------------------------


def corpus(seed=0, n=300, words=30):
    """Sentences of a source with strong bigrams, lengths 1 to 9, and one empty document."""
    generator = np.random.default_rng(seed)
    transition = generator.dirichlet(np.full(words, 0.05), size=words)
    docs = []
    for length in generator.integers(1, 10, size=n):
        doc = [int(generator.integers(words))]
        while len(doc) < length:
            doc.append(int(generator.choice(words, p=transition[doc[-1]])))
        docs.append([f"v{i}" for i in doc])
    return [[], *docs]


def test_kneser_ney_by_hand():
    """Corpus "a b a", "a": bigrams ^a twice, ab and ba once each; D = (2 + .5) / (2 + 2 + 1) = 1/2.

    Distinct left neighbours: a has ^ and b, b has a; D' = (1 + .5) / (1 + 2 + 1) = 3/8. With a third word c:
    u(a) = (2 - 3/8 + 2 * 3/8 / 3) / 3 = 5/8, u(b) = (1 - 3/8 + 1/4) / 3 = 7/24, u(c) = (1/4) / 3 = 1/12.
    """
    model = MarkovModel.fit([["a", "b", "a"], ["a"]], words=["c"])
    assert model.words == ["c", "a", "b"]
    np.testing.assert_allclose(model.backoff, [1 / 12, 5 / 8, 7 / 24])
    np.testing.assert_allclose(model.initial, [1 / 48, 3 / 4 + 5 / 32, 7 / 96])
    half = 0.5 * model.backoff
    np.testing.assert_allclose(model.transition(), [model.backoff, half + [0, 0, 0.5], half + [0, 0.5, 0]])
    np.testing.assert_allclose(model.unigram, np.array([1, 4, 2]) / 7)
    assert model.lengths.tolist() == [3, 1]


def test_sampling_follows_the_source_and_its_seed():
    model = MarkovModel.fit(corpus())
    docs = model.sample(40_000, seed=0, length=3)
    assert docs == model.sample(40_000, seed=0, length=3) != model.sample(40_000, seed=1, length=3)
    for position, expected in enumerate(model.marginals(3)):
        counts = Counter(doc[position] for doc in docs)
        observed = np.array([counts[word] for word in model.words]) / 40_000
        assert np.abs(observed - expected).max() < 4.5 * np.sqrt(0.25 / 40_000)
    word = max(model.words, key=lambda w: sum(doc[0] == w for doc in docs))
    follows = Counter(doc[1] for doc in docs if doc[0] == word)
    row, total = model.transition()[model.index[word]], sum(follows.values())
    observed = np.array([follows[w] for w in model.words]) / total
    assert np.abs(observed - row).max() < 4.5 * np.sqrt(0.25 / total)
    lengths = Counter(map(len, model.sample(5000, seed=2)))
    fitted = Counter(len(doc) for doc in corpus() if doc)
    assert set(lengths) == set(fitted)


@pytest.mark.parametrize(
    "made, arguments, message",
    [
        (MarkovModel.from_arrays, ("aa", [1, 0], np.eye(2)), "words: a word occurs more than once"),
        (MarkovModel.from_arrays, ("ab", [1, 0], np.eye(3)), "do not fit 2 words"),
        (MarkovModel.from_arrays, ("ab", [1, 1], np.eye(2)), "initial: pass probabilities"),
        (MarkovModel.from_arrays, ("ab", [1, 0], [[1.5, -0.5], [0, 1]]), "transition: pass probabilities"),
        (MarkovModel.fit, ([[]],), "corpus: empty"),
        (MarkovModel.fit, (["ab"],), "corpus: pass"),
    ],
)
def test_what_is_no_model_and_no_corpus_is_refused(made, arguments, message):
    with pytest.raises(ValueError, match=message):
        made(*arguments)


# --- the attack -----------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def lab():
    """A fitted source of 60 sanitized and 2 kept words, and CusText on it in groups of 5."""
    generator = np.random.default_rng(1)
    docs = [[w if i % 4 else "the" for i, w in enumerate(doc, start=1)] for doc in corpus(2, 1500, 60)]
    model = MarkovModel.fit([*docs, ["of", "the"]])
    sanitized = [word for word in model.words if word.startswith("v")]
    embeddings = Embeddings(sanitized, generator.normal(size=(len(sanitized), 3)))
    return model, CusText(embeddings, 2.0, k=5, keep=["the", "of"])


def dense_copy(model):
    return MarkovModel.from_arrays(model.words, model.initial, model.transition(), model.unigram)


@pytest.mark.parametrize("weight", [0.0, 0.4, 1.0])
def test_sparse_plus_backoff_equals_its_dense_matrix(lab, weight, monkeypatch):
    model, mechanism = lab
    docs = mechanism.sanitize(model.sample(30, seed=5), seed=5)
    one = MarkovBayes(mechanism.channel, model, weight=weight)
    for doc in docs:
        tables = (
            one.posterior(doc),
            MarkovBayes(mechanism.channel, dense_copy(model), weight=weight).posterior(doc),
        )
        np.testing.assert_allclose(*(as_array(table, model.words) for table in tables), atol=1e-10)
    listed = [one.posterior(doc) for doc in docs]
    monkeypatch.setattr(emissions, "SPARSE_LIMIT", 0)
    for doc, table in zip(docs, listed, strict=True):
        filled = MarkovBayes(mechanism.channel, model, weight=weight).posterior(doc)
        np.testing.assert_allclose(as_array(filled, model.words), as_array(table, model.words), atol=1e-10)


def test_batches_and_order_do_not_matter(lab):
    model, mechanism = lab
    docs = mechanism.sanitize(model.sample(60, seed=6), seed=6)
    positions = [(d, i) for d, doc in enumerate(docs) for i in range(len(doc))]
    together = MarkovBayes(mechanism.channel, model).reconstruct(docs, positions)
    apart = [MarkovBayes(mechanism.channel, model).reconstruct([docs[d]], [(0, i)])[0] for d, i in positions]
    assert together == apart
    modes = [
        max(table, key=table.get) for doc in docs for table in MarkovBayes(mechanism.channel, model).posterior(doc)
    ]
    assert together == modes


def test_all_candidates_are_the_full_vocabulary(lab):
    model, mechanism = lab
    docs = mechanism.sanitize(model.sample(40, seed=7), seed=7)
    exact, five, two = (MarkovBayes(mechanism.channel, model, k=k) for k in (None, 5, 2))
    for doc in docs:
        tables = as_array(exact.posterior(doc), model.words), as_array(five.posterior(doc), model.words)
        np.testing.assert_allclose(*tables, atol=1e-10)
        assert all(len(table) <= 2 for table in two.posterior(doc))


def test_kept_words_are_observed_and_inform_their_neighbours():
    channel = Channel.from_matrix(np.full((2, 2), 0.5), ["cat", "ran"], ["cat", "ran"])
    docs = [["the", "cat", "ran"], ["to", "ran"], ["the", "cat"], ["to", "ran"]]
    attack = MarkovBayes(channel, MarkovModel.fit(docs, words=channel.inputs))
    assert attack.reconstruct([["the", "ran"], ["to", "cat"]], [(0, 0), (0, 1), (1, 1)]) == ["the", "cat", "ran"]
    # A word no model knows is released as it stands and does not disturb.
    [unknown, _] = attack.posterior(["zebra", "cat"])
    assert unknown == {"zebra": 1.0}


def test_kept_words_that_others_may_become():
    """The channel has a row for "the", but the mechanism keeps it; "cat" becomes "the" with chance 1/4."""
    channel = Channel.from_matrix([[0.5, 0.5], [0.25, 0.75]], ["the", "cat"], ["the", "cat"])
    model = MarkovModel.from_arrays(["the", "cat"], [0.5, 0.5], [[0.5, 0.5], [0.5, 0.5]])
    for limit in (0, 1024):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(emissions, "SPARSE_LIMIT", limit)
            attack = MarkovBayes(channel.keeping(["the"]), model)
            first, second = attack.posterior(["the", "cat"])
            assert first == pytest.approx({"the": 0.8, "cat": 0.2}) and second == {"cat": 1.0}
            assert attack.reconstruct([["the"]], [(0, 0)]) == ["the"]
            told = MarkovBayes(channel.keeping(["the"]), model, attacked=["cat"])
            assert told.reconstruct([["the"]], [(0, 0)]) == ["cat"]  # under attack: not a kept word


def test_only_sensitive_words_are_guessed():
    channel = Channel.from_matrix(np.full((3, 3), 1 / 3), "abc", "abc")
    model = MarkovModel.from_arrays("abc", [0.6, 0.3, 0.1], np.tile([0.6, 0.3, 0.1], (3, 1)))
    for k in (None, 1):
        attack = MarkovBayes(channel, model, attacked=["b", "c"], k=k)
        assert attack.reconstruct([["c", "c"]], [(0, 0), (0, 1)]) == ["b", "b"]
    assert attack.posterior(["c"])[0] == pytest.approx({"a": 2 / 3, "b": 1 / 3})


def test_neighbours_posterior_is_that_of_the_world():
    initial, transition, matrix, model, channel = random_chain(11, 4, 3)
    world = JointDistribution.tokenwise(markov_source(initial, transition, 3), matrix)
    total = np.zeros(3)
    for x in np.ndindex(4, 4, 4):
        for y in np.ndindex(3, 3, 3):
            docs = [[WORDS[i] for i in x]], [[f"y{j}" for j in y]]
            confidence = NeighbourBayes(MarkovBayes(channel, model), docs[0]).confidence(docs[1])[0]
            total += world.joint[x + y] * confidence
    np.testing.assert_allclose(total, [world.hierarchy(i)[3] for i in range(3)], atol=1e-10)


def test_simulated_ladder_covers_the_exact_one():
    initial, transition, matrix, model, _ = random_chain(12, 4, 4)

    class Direct(CusText):
        """A mechanism with a given channel."""

        channel = Channel.from_matrix(matrix, WORDS[:4], WORDS[:4])

    mechanism = Direct(Embeddings(WORDS[:4], np.eye(4)), 1.0, k=4)
    world = JointDistribution.tokenwise(markov_source(initial, transition, 4), matrix)
    exact = np.mean([world.hierarchy(i) for i in range(4)], axis=0)
    rungs = attacker_hierarchy(model, mechanism, n_sentences=4000, seed=0, length=4)
    assert rungs.contextual.high - rungs.contextual.low < 0.02
    for estimate, value in zip(rungs[2:], exact[2:], strict=True):
        assert estimate.low - 0.002 < value < estimate.high + 0.002
    prior = np.mean([world.marginal([i]) for i in range(4)], axis=0)
    np.testing.assert_allclose(word_prior(model, WORDS[:4], 4).probabilities, prior, atol=1e-12)
    assert rungs.blind == pytest.approx(prior.max()) and rungs.context_free == pytest.approx(
        leakage.bayes_vulnerability(prior, Direct.channel)
    )


def test_calibration_chooses_the_weight_on_held_out_shadow_sentences(lab):
    model, mechanism = lab
    shadow, private = model.sample(400, seed=20), model.sample(400, seed=21)
    attack = MarkovBayes(mechanism.channel).fit(shadow, mechanism.sanitize(shadow, seed=22))
    assert 0 < attack.weight <= 1
    assert (attack.model.transition() == MarkovModel.fit(shadow, mechanism.inputs).transition()).all()
    released = mechanism.sanitize(private, seed=23)
    positions = sensitive_positions(private, set(mechanism.inputs))
    truths = words_at(private, positions)
    counts = Counter(word for doc in shadow for word in doc)
    context_free = ContextFreeBayes(mechanism.channel, counts).reconstruct(released, positions)
    gain = paired_difference(
        attack.reconstruct(released, positions), context_free, truths, [d for d, _ in positions]
    )
    assert gain.low > 0.02


def test_calibration_does_not_learn_from_phrases_of_what_it_tries(lab):
    """Phrases of a sentence give its word order away; attacked sentences have no phrases in the shadow set."""
    _, mechanism = lab
    generator = np.random.default_rng(3)
    sentences = [generator.choice(mechanism.inputs, 12).tolist() for _ in range(40)]
    phrases = [doc[a:b] for doc in sentences for a, b in ((0, 12), (0, 8), (4, 12), (3, 7))]
    phrases = [phrases[i] for i in generator.permutation(len(phrases))]
    attack = MarkovBayes(mechanism.channel).fit(phrases, mechanism.sanitize(phrases, seed=4))
    assert attack.weight == 0


def test_bad_arguments(lab):
    model, mechanism = lab
    channel = mechanism.channel
    for message, call in {
        "weight: 2 is out of range": lambda: MarkovBayes(channel, model, weight=2),
        "k: 0": lambda: MarkovBayes(channel, model, k=0),
        "is no state": lambda: MarkovBayes(channel, MarkovModel.fit([["v1"]])),
        "model: none yet": lambda: MarkovBayes(channel).posterior(["v1"]),
        "lengths differ": lambda: MarkovBayes(channel).fit([["v1"]] * 6, [["v1", "v1"]] * 6),
        "1 sentences for 5 folds": lambda: MarkovBayes(channel).fit([["v1"]] * 3, [["v1"]] * 3),
    }.items():
        with pytest.raises(ValueError, match=message):
            call()


# --- the laboratory -------------------------------------------------------------------------------------------


def test_regrets_are_what_hits_say_on_average_and_never_negative(lab):
    model, mechanism = lab
    generator = np.random.default_rng(0)
    differences = []
    for seed in range(20):
        here = KnownSource(model, mechanism, n_private=60, n_shadow=60, seed=seed)
        assert here.regret(here.best.reconstruct(here.released, here.positions)).value == pytest.approx(
            0, abs=1e-12
        )
        context_free = ContextFreeBayes(mechanism.channel, Counter(w for doc in here.shadow for w in doc))
        guesses = context_free.reconstruct(here.released, here.positions)
        optimum, value, regret = here.optimum(), here.value(guesses), here.regret(guesses)
        assert regret.value == pytest.approx(optimum.value - value.value) and regret.low > 0
        differences.append(attack_success_rate(guesses, here.truths).value - value.value)
    assert abs(np.mean(differences)) < 4 * np.std(differences, ddof=1) / np.sqrt(20)
    for _ in range(20):  # no guesses at all do better
        blind = generator.choice(mechanism.inputs, len(here.positions)).tolist()
        assert here.regret(blind).value > 0
    assert here.value(["no word"] * len(here.positions)).value == 0


def test_odd_models():
    """Without any bigram it can be sampled; rows that are rounded have a unigram, and negative ones none."""
    drawn = MarkovModel.fit([["a"], ["b"]]).sample(50, seed=0, length=3)
    assert {len(doc) for doc in drawn} == {3} and {word for doc in drawn for word in doc} == {"a", "b"}
    rounded = MarkovModel.from_arrays("abc", [1, 0, 0], [[0.3333333333] * 3] * 3)
    assert rounded.unigram.sum() == pytest.approx(1, abs=1e-12)
    with pytest.raises(ValueError, match="^unigram: pass 2 probabilities"):
        MarkovModel.from_arrays("ab", [1, 0], [[0, 1], [1, 0]], unigram=[2, -1])
