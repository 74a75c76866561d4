"""The rules on a device: torch's own CPU stands in for a GPU, and everything is what NumPy gives."""

import numpy as np
import pytest

from textsan import Channel, CusText, Embeddings, SanText, SanTextPlus, leakage
from textsan.attacks import MarkovBayes
from textsan.channel.accelerator import TorchDistances
from textsan.mechanisms import WeightedSanText
from textsan.priors import MarkovModel, Prior

pytest.importorskip("torch")

WORDS = [f"w{i}" for i in range(90)]
VECTORS = np.random.default_rng(0).normal(size=(90, 5))
WEIGHTS = np.random.default_rng(2).integers(1, 1000, size=90).tolist()


def channels():
    embeddings = Embeddings(WORDS, VECTORS)
    santext = SanText(embeddings, 2.0, device="cpu").channel
    staying = SanTextPlus(embeddings, 2.0, sensitive=WORDS[40:], p=0.3, device="cpu").channel
    return {
        "dense": Channel.from_matrix(santext.matrix(), WORDS, WORDS),
        "groups": CusText(embeddings, 1.0, k=7, keep=WORDS[:5]).channel,
        "exponential": santext,
        "staying": staying,
        "kept": staying.keeping([*WORDS[:5], "new"]),
        "cut off": Channel.exponential(WORDS, WORDS, VECTORS, VECTORS, 1.3, cutoff=2.0),
        "some rows": santext.restrict(WORDS[10:60]),
        "weighted": WeightedSanText(embeddings, 2.0, counts=dict(zip(WORDS, WEIGHTS, strict=True))).channel,
    }


CHANNELS = list(channels())


def some_prior(channel, share=1.0, seed=1):
    """Random probabilities of a share of the inputs, 0 of the others."""
    generator, n = np.random.default_rng(seed), len(channel.inputs)
    there = generator.random(n) < share
    weights = np.where(there, generator.dirichlet(np.ones(n)), 0.0)
    return weights / weights.sum()


@pytest.mark.parametrize("share", [1.0, 0.2])
@pytest.mark.parametrize("kind", CHANNELS)
def test_vulnerability_is_the_sum_of_the_largest_entries(kind, share):
    channel = channels()[kind]
    prior = some_prior(channel, share)
    found = leakage.bayes_vulnerability(prior, channel, device="cpu")
    assert found == pytest.approx(leakage.bayes_vulnerability(prior, channel), abs=1e-9)
    assert found == pytest.approx((prior[:, None] * channel.matrix()).max(axis=0).sum(), abs=1e-9)


@pytest.mark.parametrize("k", [1, 4, 60])
@pytest.mark.parametrize("share", [1.0, 0.2])
@pytest.mark.parametrize("kind", CHANNELS)
def test_posterior_is_that_of_numpy(kind, share, k, monkeypatch):
    monkeypatch.setattr("textsan.channel.accelerator._ENTRIES", 1000)  # several blocks of columns
    channel = channels()[kind]
    prior = some_prior(channel, share)
    expected, found = (channel.posterior(prior, k=k, device=device) for device in (None, "cpu"))
    assert found.numbers.shape == expected.numbers.shape and found.mode() == expected.mode()
    np.testing.assert_array_equal(found.numbers, expected.numbers)
    np.testing.assert_allclose(np.exp(found.log_weights), np.exp(expected.log_weights), rtol=0, atol=1e-9)
    given = [np.exp(one.log_probabilities) for one in (found, expected)]
    np.testing.assert_allclose(*given, rtol=0, atol=1e-9)
    some = channel.outputs[3:8]
    assert channel.posterior(prior, k=k, outputs=some, device="cpu").mode() == expected.mode()[3:8]
    assert len(channel.posterior(prior, k=k, outputs=[], device="cpu")) == 0


def docs_of(channel, seed=2):
    generator = np.random.default_rng(seed)
    docs = [[channel.outputs[j] for j in generator.integers(0, len(channel.outputs), n)] for n in (1, 6, 6, 9)]
    docs[1][2] = docs[3][0] = "elsewhere"
    return [*docs, []]


@pytest.mark.parametrize(("k", "weight"), [(None, 1.0), (None, 0.4), (5, 1.0), (5, 0.0)])
@pytest.mark.parametrize("kind", CHANNELS)
def test_forward_backward_is_that_of_numpy(kind, k, weight):
    channel, generator = channels()[kind], np.random.default_rng(3)
    corpus = generator.choice(channel.inputs, size=(40, 6)).tolist()
    model = MarkovModel.fit(corpus, words=[*channel.inputs, "elsewhere"][: len(channel.inputs) + (k is None)])
    docs, attacked = docs_of(channel), channel.inputs[8:]
    positions = [(d, i) for d, doc in enumerate(docs) for i in range(len(doc))]
    given = {"k": k, "weight": weight, "attacked": attacked}
    expected, found = (MarkovBayes(channel, model, **given, device=device) for device in (None, "cpu"))
    assert found.reconstruct(docs, positions) == expected.reconstruct(docs, positions)
    tables = [attack.posteriors(docs, positions, k=90) for attack in (expected, found)]
    for at in range(len(positions)):
        assert tables[1].mapping(at) == pytest.approx(tables[0].mapping(at), abs=1e-9)
    for doc in docs:
        for one, other in zip(found.posterior(doc), expected.posterior(doc), strict=True):
            assert {x: p for x, p in one.items() if p > 1e-9} == pytest.approx(
                {x: p for x, p in other.items() if p > 1e-9}, abs=1e-9
            )


def test_fit_and_impossible_sentences_on_a_device():
    channel = Channel.from_matrix(np.eye(2), ["a", "b"], ["a", "b"])
    model = MarkovModel.from_arrays("ab", initial=[1, 0], transition=[[0, 1], [1, 0]])
    with pytest.raises(ValueError, match="^sanitized_docs: a sentence has probability 0"):
        MarkovBayes(channel, model, device="cpu").reconstruct([["a", "a"]], [(0, 1)])
    groups = channels()["groups"]
    shadow = np.random.default_rng(4).choice(WORDS, size=(30, 6)).tolist()
    weights = {MarkovBayes(groups, device=d).fit(shadow, shadow).weight for d in (None, "cpu")}
    assert len(weights) == 1


def test_no_tensor_is_taken_for_an_array(monkeypatch):
    """A tensor on a GPU is none; one on the processor is turned into one without a word."""
    torch = pytest.importorskip("torch")

    def refuse(tensor, *arguments, **given):
        raise TypeError("can't convert a tensor of a GPU to numpy")

    monkeypatch.setattr(torch.Tensor, "__array__", refuse)
    with pytest.raises(TypeError):
        np.asarray(torch.zeros(1))  # else nothing is tested
    for channel in channels().values():
        assert len(channel.posterior(Prior(channel.inputs, some_prior(channel)), k=3, device="cpu"))
        model = MarkovModel.fit([list(channel.inputs)] * 2, words=channel.inputs)
        assert MarkovBayes(channel, model, device="cpu").reconstruct([[channel.outputs[0]]], [(0, 0)])


def test_single_precision_would_be_seen(monkeypatch):
    """Planted: distances of 24 bits. Nine digits are more than they have."""
    channel = channels()["exponential"]
    prior = Prior(WORDS, some_prior(channel))
    exact = TorchDistances.scaled
    monkeypatch.setattr(TorchDistances, "scaled", lambda self, rows: exact(self, rows).float().double())
    found = [np.exp(channel.posterior(prior, device=d).log_probabilities) for d in (None, "cpu")]
    assert np.abs(found[0] - found[1]).max() > 1e-9


def test_a_device_that_is_not_there_is_one_line():
    channel = channels()["dense"]
    prior = some_prior(channel)
    model = MarkovModel.fit([WORDS], words=WORDS)
    for call in (
        lambda: leakage.bayes_vulnerability(prior, channel, device="abacus"),
        lambda: channel.posterior(prior, device="abacus"),
        lambda: MarkovBayes(channel, model, device="abacus"),
    ):
        with pytest.raises(ValueError, match="^device: 'abacus' is not available; pass 'cpu' or 'auto'$"):
            call()
