"""The public n-gram table against its own library, and its mixture with own bigrams against plain programs."""

from itertools import pairwise, product
from pathlib import Path

import numpy as np
import pytest
from test_markov import brute_force

from textsan import Channel, Embeddings
from textsan.attacks import ATTACKS, Knowledge, MarkovBayes, emissions, forward_backward
from textsan.mechanisms import CusText
from textsan.priors import InterpolatedModel, MarkovModel, NGrams, fit_bigrams, interpolated

WORDS = ["new", "york", "the", "times", "zzqx", "film", "qqvw"]  # the table knows five of them
SENTENCES = ["the new york times", "new york", "the film zzqx", "the new film zzqx qqvw", "times zzqx the york"]


@pytest.fixture(scope="module")
def table(default_data):
    return NGrams.load()


def docs(n, seed=0):
    generator = np.random.default_rng(seed)
    return [SENTENCES[i].split() for i in generator.integers(len(SENTENCES), size=n)]


def test_logarithms_are_those_of_the_library(table):
    """On 10,000 n-grams; the library cuts its logarithms to base 1.0001 to whole numbers, towards 0."""
    stored = np.load(Path(__file__).parent / "tables" / "ngrams.npz")
    numbers = stored["numbers"].astype(np.int64)
    short = table.log_probabilities(numbers) / np.log(1.0001) - stored["logarithms"]
    assert len(short) == 10_000 and -1 < short.min() and short.max() < 0.02
    turned = table.log_probabilities(numbers[:, ::-1]) / np.log(1.0001) - stored["logarithms"]
    assert (np.abs(turned) > 2).mean() > 0.9


def test_what_the_table_does_not_know(table):
    assert "film" in table and "zzqx" not in table and table.numbers(["zzqx"]).tolist() == [-1]
    assert table.log_probabilities([["the", "zzqx"]]).tolist() == [-np.inf]
    known = [table.log_probabilities([gram])[0] for gram in (["film"], ["the", "film"])]
    cut = table.log_probabilities([["the", "zzqx", "film"], ["zzqx", "the", "film"], ["new", "the", "film"]])
    assert cut[:2].tolist() == known and cut[2] != known[1]
    for grams in ([["a"] * 4], [[]], np.zeros(3, dtype=int)):
        with pytest.raises(ValueError, match="grams: shape .*; pass rows of one, two or three words each"):
            table.log_probabilities(grams)
    with pytest.raises(ValueError, match="words: the table knows none of them"):
        table.source(["zzqx"])


def public(table):
    """Pr(x' | x) over WORDS as the table has it, row -1 for the start; plainly, word by word."""
    rows = np.zeros((len(WORDS) + 1, len(WORDS)))
    for i, before in enumerate([*WORDS, "<s>"]):
        for j, word in enumerate(WORDS):
            rows[i, j] = np.exp(table.log_probabilities([[before, word]])[0])
    return rows / rows.sum(axis=1, keepdims=True)


def test_a_source_has_the_table_s_rows(table):
    source, rows = table.source(WORDS), public(table)
    np.testing.assert_allclose(source.transition(), rows[:-1], atol=1e-12)
    np.testing.assert_allclose(source.initial, rows[-1], atol=1e-12)


def mixed(table, own, share):
    """Initial and transition probabilities of the mixture, cell by cell."""
    rows, known = public(table), [word in table for word in WORDS]
    mine = np.vstack([own.transition(), own.initial])
    for i, j in product(range(len(WORDS) + 1), range(len(WORDS))):
        if known[j]:
            rows[i, j] *= sum(mine[i, k] for k in range(len(WORDS)) if known[k])
        else:
            rows[i, j] = mine[i, j]
    q = (1 - share) * mine + share * rows
    np.testing.assert_allclose(q.sum(axis=1), 1, atol=1e-12)
    return q[-1], q[:-1]


@pytest.mark.parametrize("share", [0.0, 0.4, 1.0])
def test_a_mixture_is_that_of_a_plain_program(table, share):
    own = MarkovModel.fit(docs(20), words=WORDS)
    model = InterpolatedModel(own, table.source(WORDS), share)
    initial, transition = mixed(table, own, share)
    np.testing.assert_allclose(model.initial, initial, atol=1e-12)
    np.testing.assert_allclose(model.transition(), transition, atol=1e-12)


@pytest.mark.parametrize(("limit", "long"), [(0, 4), (1024, 0), (1024, 1000)])
def test_posteriors_are_those_of_a_plain_program(table, limit, long, monkeypatch):
    """All states, candidates pair by pair, and row by row; a table that is read backwards is caught."""
    monkeypatch.setattr(emissions, "SPARSE_LIMIT", limit)
    monkeypatch.setattr(forward_backward, "_LONG", long)
    generator = np.random.default_rng(1)
    matrix = generator.dirichlet(np.full(4, 0.7), size=len(WORDS))
    channel = Channel.from_matrix(matrix, WORDS, ["y0", "y1", "y2", "y3"])
    own, source = MarkovModel.fit(docs(20), words=WORDS), table.source(WORDS)
    turned = table.source(WORDS)
    turned.seen = turned.seen.T.tocsr()
    wrong = 0.0
    for observed in generator.integers(4, size=(5, 4)):
        released = [f"y{y}" for y in observed]
        expected = brute_force(*mixed(table, own, 0.4), matrix, observed)
        for one in (source, turned):
            found = MarkovBayes(channel, InterpolatedModel(own, one, 0.4)).posterior(released)
            error = np.abs(np.array([[line[word] for word in WORDS] for line in found]) - expected).max()
            if one is source:
                assert error < 1e-12
            else:
                wrong = max(wrong, error)
    assert wrong > 0.01


def test_the_share_makes_held_out_sentences_likeliest(table, monkeypatch):
    """Scored once more at other shares, with bigrams that have not seen them; phrases tell nothing of theirs."""
    generator = np.random.default_rng(3)
    corpus = [generator.choice(WORDS, 5).tolist() for _ in range(12)] + [SENTENCES[0].split() * 2]
    fitted = InterpolatedModel.fit(corpus, WORDS)
    assert 0 < fitted.share < 1
    likelihood = {}
    for share in (fitted.share, fitted.share - 0.03, fitted.share + 0.03):
        total = 0.0
        for part in np.array_split(np.arange(len(corpus)), 5):
            own = MarkovModel.fit([doc for d, doc in enumerate(corpus) if d not in part], words=WORDS)
            initial, transition = mixed(table, own, share)
            for d in part:
                numbers = [WORDS.index(word) for word in corpus[d]]
                total += np.log(initial[numbers[0]]) + sum(np.log(transition[a, b]) for a, b in pairwise(numbers))
        likelihood[share] = total
    assert max(likelihood, key=likelihood.get) == fitted.share
    generator, listed = np.random.default_rng(3), table.words[3000:3100]
    strange = [generator.permutation(listed)[:9].tolist() for _ in range(40)]
    phrases = [part for doc in strange for part in (doc, doc[2:8])]
    phrases = [phrases[i] for i in generator.permutation(80)]
    honest = InterpolatedModel.fit(phrases).share
    monkeypatch.setattr(interpolated, "phrase_sources", lambda some: range(len(some)))
    assert InterpolatedModel.fit(phrases).share < honest / 2


def test_who_owns_no_text_has_the_table_alone(table):
    model = InterpolatedModel.fit((), WORDS)
    assert model.share == 1
    np.testing.assert_allclose(model.transition()[:, [4, 6]], 1 / 7)  # of words that it does not know: evenly
    channel = Channel.from_matrix(np.full((7, 1), 1.0), WORDS, ["y"])
    assert ATTACKS["public bigrams"].load()(Knowledge(channel)).reconstruct([["new", "y"]], [(0, 1)]) == ["york"]
    plain = fit_bigrams([["zzqx", "qqvw"]], ["zzqx"], True)
    assert isinstance(plain, MarkovModel)
    with pytest.raises(ValueError, match="the table knows none"):
        InterpolatedModel.fit((), ["zzqx"])


@pytest.fixture(scope="module")
def world(table):
    """Sentences of the table's own source under groups of four words, for owner and attacker."""
    frequent = np.argsort(-table.log_probabilities(np.arange(len(table.words))[:, None]))[:402]
    listed = [table.words[i] for i in frequent if table.words[i] not in ("<s>", "</s>")][:400]
    source = table.source(listed)
    source.seen.data = np.maximum(source.seen.data, 0)  # to draw from
    generator = np.random.default_rng(4)
    vectors = Embeddings(listed, generator.normal(size=(400, 3)))
    mechanism = CusText(vectors, epsilon=0.5, k=4, similarity="euclidean", mapping="disjoint")
    return mechanism, source.sample(60, seed=5, length=8), source.sample(100, seed=6, length=8)


def test_nothing_is_learnt_from_what_is_attacked(world):
    mechanism, shadow, private = world
    attack = MarkovBayes.against(Knowledge.of(mechanism, shadow=shadow), public=True)
    before = attack.model.share, list(attack.model.words), attack.model.seen.copy()
    attack.reconstruct(mechanism.sanitize([["unheard-of", *doc] for doc in private], seed=9), [(0, 1)])
    assert (attack.model.share, attack.model.words) == before[:2] and (attack.model.seen != before[2]).nnz == 0
    assert set(attack.model.words) == {word for doc in [mechanism.inputs, *shadow] for word in doc}
