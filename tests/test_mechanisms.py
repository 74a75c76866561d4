"""Every mechanism against an independent computation, and its draws against its channel."""

import pickle
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from scipy.spatial.distance import cdist
from scipy.special import softmax

from textsan import (
    FBDD,
    TEM,
    Channel,
    CusText,
    Embeddings,
    Mahalanobis,
    Random,
    SanText,
    SanTextPlus,
    Vickrey,
)
from textsan.mechanisms import (
    MECHANISMS,
    ChannelMechanism,
    Mechanism,
    bert_vocabulary,
    custext,
    join_pieces,
    make_mechanism,
    wordpieces,
)
from textsan.mechanisms.base import UnknownWord
from textsan.mechanisms.noise import nearest_rows
from textsan.privacy import tight_epsilon

WORDS = [f"w{i}" for i in range(50)]
SENSITIVE = set(WORDS[5:])


@pytest.fixture(scope="module")
def embeddings():
    return Embeddings(WORDS, np.random.default_rng(7).normal(size=(50, 8)))


def naive_groups(far, k):
    """Algorithm 1, word by word."""
    left, groups = list(range(len(far))), []
    while len(left) >= k:
        seed = left[0]
        group = [seed] + sorted(left[1:], key=lambda word: (far[seed, word], word))[: k - 1]
        groups.append(sorted(group))
        left = [word for word in left if word not in group]
    return groups + ([left] if left else [])


def naive_custext(vectors, epsilon, k, similarity, mapping, normalise):
    if similarity == "euclidean":
        far = cdist(vectors, vectors)
    else:
        far = -(1 - cdist(vectors, vectors, "cosine"))
    if mapping == "disjoint":
        groups = naive_groups(far, k)
        sets = [next(group for group in groups if word in group) for word in range(len(far))]
    else:
        sets = [sorted(np.argsort(far[word], kind="stable")[:k].tolist()) for word in range(len(far))]
    matrix = np.zeros(far.shape)
    for word, group in enumerate(sets):
        peers = [other for other in range(len(far)) if sets[other] == group] if normalise == "group" else [word]
        table = far[np.ix_(peers, group)]
        low, high = table.min(), table.max()
        u = -(far[word, group] - low) / (high - low) if high > low else np.zeros(len(group))
        weights = np.exp(epsilon * u / 2)
        matrix[word, group] = weights / weights.sum()
    return matrix


@pytest.mark.parametrize("epsilon", [0, 0.5, 4.0, 1e3])
class TestClosedForms:
    def test_santext(self, embeddings, epsilon):
        expected = softmax(-epsilon * cdist(embeddings.vectors, embeddings.vectors) / 2, axis=1)
        np.testing.assert_allclose(SanText(embeddings, epsilon).channel.matrix(), expected, atol=1e-10)

    def test_random(self, embeddings, epsilon):
        np.testing.assert_allclose(Random(embeddings).channel.matrix(), 1 / 50, atol=1e-10)

    @pytest.mark.parametrize("p", [0.0, 0.3, 1.0])
    def test_santext_plus(self, embeddings, epsilon, p):
        vectors = embeddings.vectors
        expected = np.zeros((50, 50))
        expected[:, 5:] = softmax(-epsilon * cdist(vectors, vectors[5:]) / 2, axis=1)
        expected[:5] *= p
        expected[np.arange(5), np.arange(5)] += 1 - p
        channel = SanTextPlus(embeddings, epsilon, sensitive=SENSITIVE, p=p).channel
        assert channel.outputs == WORDS[5:] + WORDS[:5]
        back = [channel.output_index[word] for word in WORDS]
        np.testing.assert_allclose(channel.matrix()[:, back], expected, atol=1e-10)

    @pytest.mark.parametrize("gamma", [0.0, 2.5, 99.0])
    def test_tem_with_its_option_for_the_words_outside(self, embeddings, epsilon, gamma):
        distances = cdist(embeddings.vectors, embeddings.vectors)
        expected = np.zeros((50, 50))
        for x, row in enumerate(distances):
            inside, outside = np.flatnonzero(row <= gamma), np.flatnonzero(row > gamma)
            scores = -epsilon * row[inside] / 2
            if len(outside):
                scores = np.append(scores, -epsilon * gamma / 2 + np.log(len(outside)))
            chances = softmax(scores)
            expected[x, inside] = chances[: len(inside)]
            expected[x, outside] = chances[-1] / max(len(outside), 1)
        channel = TEM(embeddings, epsilon, gamma=gamma).channel
        np.testing.assert_allclose(channel.matrix(), expected, atol=1e-10)

    @pytest.mark.parametrize("k", [1, 7, 20, 50, 99])
    @pytest.mark.parametrize("similarity", ["euclidean", "cosine"])
    @pytest.mark.parametrize("mapping", ["disjoint", "overlapping"])
    @pytest.mark.parametrize("normalise", ["group", "row"])
    def test_custext(self, embeddings, epsilon, k, similarity, mapping, normalise):
        options = {"k": k, "similarity": similarity, "mapping": mapping, "normalise": normalise}
        matrix = CusText(embeddings, epsilon, **options).channel.matrix()
        np.testing.assert_allclose(matrix, naive_custext(embeddings.vectors, epsilon, **options), atol=1e-10)


def test_custext_groups_are_those_of_algorithm_1_beyond_one_block():
    vectors = np.random.default_rng(3).normal(size=(301, 4)).round(1)  # with ties
    groups = CusText(Embeddings([f"w{i}" for i in range(301)], vectors), 1.0, k=3).groups
    assert [group.tolist() for group in groups] == naive_groups(cdist(vectors, vectors), 3)
    assert [len(group) for group in groups] == [3] * 100 + [1]


@pytest.mark.parametrize("similarity", ["euclidean", "cosine"])
def test_neighbours_beyond_one_block_are_those_of_all_pairs(monkeypatch, similarity):
    monkeypatch.setattr(custext, "_RUN", 16)
    vectors = np.random.default_rng(3).normal(size=(301, 4))
    options = {"k": 5, "similarity": similarity, "mapping": "overlapping"}
    mechanism = CusText(Embeddings([f"w{i}" for i in range(301)], vectors), 1.0, **options)
    far = cdist(vectors, vectors, similarity)
    expected = [sorted(np.lexsort((np.arange(301), row))[:5]) for row in far]
    assert [group.tolist() for group in mechanism.groups] == expected


def test_custext_with_other_outputs_against_brute_force():
    generator = np.random.default_rng(5)
    words = [f"w{i}" for i in range(9)]
    others = [*words[::2], *(f"o{i}" for i in range(30))]
    points = {word: generator.normal(size=3) for word in {*words, *others}}
    vocabulary, outputs = (Embeddings(some, np.array([points[w] for w in some])) for some in (words, others))
    mechanism = CusText(vocabulary, 2.0, k=4, mapping="overlapping", normalise="row", outputs=outputs)
    for word in words:
        nearest = sorted(others, key=lambda y: np.linalg.norm(points[word] - points[y]))[:4]
        far = np.array([np.linalg.norm(points[word] - points[y]) for y in nearest])
        weights = np.exp(-(far - far.min()) / np.ptp(far))
        row = dict(zip(mechanism.channel.outputs, mechanism.channel.rows([word])[0], strict=True))
        assert {y for y, p in row.items() if p} == set(nearest)
        np.testing.assert_allclose([row[y] for y in nearest], weights / weights.sum(), atol=1e-12)
    assert set(mechanism.channel.outputs) <= set(others) and len(mechanism.channel.outputs) < len(others)
    assert mechanism.with_(epsilon=3.0).channel.outputs == mechanism.channel.outputs
    assert set(mechanism.sanitize([words * 20], seed=0)[0]) <= set(others)
    with pytest.raises(ValueError, match="pass mapping='overlapping'"):
        CusText(vocabulary, 2.0, outputs=outputs)
    with pytest.raises(ValueError, match="another length"):
        CusText(vocabulary, 2.0, mapping="overlapping", outputs=Embeddings(["a"], np.zeros((1, 2))))


def test_custext_numbers(embeddings):
    docs = [["w1", "1999", "-3.6", "1,000", "12:30", "nan", "zebra"] * 40]
    keep = CusText(embeddings, 1.0, numbers="keep").sanitize(docs, seed=0)[0]
    assert keep[1:4] == ["1999", "-3.6", "1,000"] and {keep[4], keep[5], keep[6]} <= set(WORDS)
    jitter = CusText(embeddings, 1.0, numbers="jitter").sanitize(docs, seed=0)[0]
    years = [int(word) for word in jitter[1::7]]
    assert min(years) >= 1999 and max(years) <= 2998 and len(set(years)) > 30
    assert all(-4 <= int(word) <= 995 for word in jitter[2::7])
    plain = CusText(embeddings, 1.0).sanitize(docs, seed=0)[0]
    assert set(plain) <= set(WORDS)


def test_casing_and_unknown_words(embeddings):
    docs = [["W1", "nowhere", "w2"] * 50]
    exact = Embeddings(["w1", "w2"], [[0.0], [1e3]])
    assert set(SanText(exact, 10, oov="keep").sanitize([["W1", "nowhere"]], seed=0)[0]) == {"w1", "nowhere"}
    released = SanText(exact, 10).sanitize(docs, seed=0)[0]
    assert released[0::3] == ["w1"] * 50 and set(released[1::3]) == {"w1", "w2"}
    assert SanText(exact, 1).sanitize([[], ["nowhere"]], seed=0)[0] == []


def test_kept_words_stay_in_any_case(embeddings):
    released = CusText(embeddings, 0.0, keep={"the", "w3"}).sanitize([["The", "W3", "w4"] * 30], seed=0)[0]
    assert released[0::3] == ["The"] * 30 and released[1::3] == ["W3"] * 30 and len(set(released[2::3])) > 5


def closed_forms(embeddings):
    return {
        "random": Random(embeddings),
        "santext": SanText(embeddings, 2.0),
        "santext+": SanTextPlus(embeddings, 2.0, sensitive=SENSITIVE, p=0.4),
        "custext": CusText(embeddings, 3.0, k=12),
        "overlapping": CusText(embeddings, 3.0, k=12, mapping="overlapping"),
        "tem": TEM(embeddings, 2.0, gamma=3.0),
    }


@pytest.mark.parametrize("name", ["random", "santext", "santext+", "custext", "overlapping", "tem"])
@pytest.mark.parametrize("word", ["w2", "w40"])
def test_draws_follow_the_channel(embeddings, name, word):
    mechanism = closed_forms(embeddings)[name]
    drawn = mechanism.sanitize([[word] * 1000] * 40, seed=1)
    assert chi_square(mechanism.channel, word, drawn) > 1e-3


def chi_square(channel, word, drawn):
    """p-value of the drawn documents against the row of `word`."""
    counts = np.zeros(channel.shape[1])
    for document in drawn:
        for released in document:
            counts[channel.output_index[released]] += 1
    return p_value(counts, channel.rows([word])[0])


def p_value(counts, row):
    """That words were drawn from a row, the rare ones taken together; words outside of its support give 0."""
    if counts[row == 0].any():
        return 0.0
    frequent = row * counts.sum() >= 5
    observed = np.append(counts[frequent], counts[~frequent].sum())
    expected = np.append(row[frequent], row[~frequent].sum())
    there = expected > 0
    expected = expected[there] / expected[there].sum() * observed[there].sum()
    return stats.chisquare(observed[there], expected).pvalue


def test_chi_square_catches_a_missing_factor_two(embeddings):
    broken = SanText(embeddings, 4.0)  # exp(-epsilon d) where exp(-epsilon d / 2) is claimed
    drawn = broken.sanitize([["w2"] * 1000] * 40, seed=1)
    assert chi_square(SanText(embeddings, 2.0).channel, "w2", drawn) < 1e-9


# --- independence of the noise ---------------------------------------------------------------------------------

DOCUMENT = ["w1"] * 400


def coincidences(one, other):
    """p-value of as many equal tokens as in two independent documents of uniform draws from 50 words."""
    equal = sum(a == b for a, b in zip(one, other, strict=True))
    return stats.binomtest(equal, len(one), 1 / 50).pvalue


@pytest.mark.parametrize("make", [lambda e: SanText(e, 0.0), lambda e: CusText(e, 0.0, k=50)])
def test_documents_get_independent_noise_and_forked_workers_would_not(embeddings, make):
    mechanism = make(embeddings)
    docs = mechanism.sanitize([DOCUMENT] * 8, seed=5)
    assert all(coincidences(one, other) > 1e-4 for one, other in pairwise(docs))
    # What forked workers do that inherit one generator: each starts again at document 0.
    forked = [mechanism.sanitize([DOCUMENT], seed=5)[0] for _ in range(2)]
    assert coincidences(*forked) < 1e-9


def chunk_of(arguments):
    mechanism, docs, first = arguments
    return mechanism.sanitize(docs, seed=11, first=first)


def every_mechanism(embeddings):
    vickrey, mahalanobis = Vickrey(embeddings, 9.0), Mahalanobis(embeddings, 9.0)
    return closed_forms(embeddings) | {"fbdd": FBDD(embeddings, 9.0), "vickrey": vickrey, "maha": mahalanobis}


@pytest.mark.parametrize(
    "name", ["random", "santext", "santext+", "custext", "overlapping", "tem", "fbdd", "vickrey", "maha"]
)
def test_one_worker_and_eight_give_the_same_text(embeddings, name):
    mechanism = every_mechanism(embeddings)[name]
    docs = [[f"w{(i * j) % 50}" for j in range(i % 9)] for i in range(200)]
    whole = mechanism.sanitize(docs, seed=11)
    chunks = [(mechanism, docs[at : at + 25], at) for at in range(0, len(docs), 25)]
    with ThreadPoolExecutor(8) as pool:
        assert [doc for chunk in pool.map(chunk_of, chunks) for doc in chunk] == whole
    apart = [mechanism.sanitize([doc], seed=11, first=i)[0] for i, doc in enumerate(docs)]
    assert apart == whole and [len(doc) for doc in whole] == [len(doc) for doc in docs]
    assert mechanism.sanitize(docs, seed=12) != whole and mechanism.sanitize(docs) != mechanism.sanitize(docs)


# --- noise in the embedding space ------------------------------------------------------------------------------


def laplace_channel(points, epsilon):
    """FBDD on a line in closed form: the cell of each word under a Laplace density."""
    order = np.argsort(points)
    middles = (points[order][1:] + points[order][:-1]) / 2
    bounds = np.concatenate([[-np.inf], middles, [np.inf]])
    matrix = np.empty((len(points), len(points)))
    for x, point in enumerate(points):
        matrix[x, order] = np.diff(stats.laplace.cdf(bounds, loc=point, scale=1 / epsilon))
    return matrix


def cell_masses(vectors, x, density, choose, epsilon):
    """Pr(y | x) by summing a density over a grid of noise vectors in the plane."""
    ticks = np.arange(-40, 40, 0.05) + 0.025
    grid = np.stack(np.meshgrid(ticks, ticks), axis=-1).reshape(-1, 2)
    weights = np.exp(-epsilon * density(grid))
    chances = choose(vectors[x] + grid)
    return weights @ chances / weights.sum()


def agrees(mechanism, word, expected):
    (released,) = mechanism.sanitize([[word] * 20_000], seed=2)
    return p_value(np.array([released.count(other) for other in mechanism.inputs]), expected) > 1e-3


PLANE = np.array([[0.0, 0.0], [2.0, 0.5], [-1.0, 3.0], [0.2, -0.1], [4.0, 4.0]])


def test_fbdd_on_a_line_is_laplace_noise():
    points = np.random.default_rng(0).normal(size=12)
    line = Embeddings(WORDS[:12], points[:, None])
    expected = laplace_channel(points, 1.5)
    for word in (0, 7):
        assert agrees(FBDD(line, 1.5), WORDS[word], expected[word])


def test_fbdd_in_the_plane():
    plane = Embeddings(WORDS[:5], PLANE)
    expected = cell_masses(PLANE, 1, lambda z: np.linalg.norm(z, axis=1), first_nearest, 0.8)
    assert agrees(FBDD(plane, 0.8), "w1", expected)
    assert not agrees(FBDD(plane, 1.6), "w1", expected)


def first_nearest(points):
    return np.eye(5)[cdist(points, PLANE).argmin(axis=1)]


def test_mahalanobis_in_the_plane():
    plane = Embeddings(WORDS[:5], PLANE)
    sigma = np.cov(PLANE.T, bias=True)
    matrix = 0.6 * sigma / np.mean(np.diag(sigma)) + 0.4 * np.eye(2)
    inverse = np.linalg.inv(matrix)

    def norm(z):
        return np.sqrt(np.einsum("ni,ij,nj->n", z, inverse, z))

    mechanism = Mahalanobis(plane, 0.8, strength=0.6)
    assert agrees(mechanism, "w1", cell_masses(PLANE, 1, norm, first_nearest, 0.8))
    differences = PLANE[:, None] - PLANE[None]
    np.testing.assert_allclose(
        mechanism.metric.distances(WORDS[:5]),
        np.sqrt(np.einsum("xyi,ij,xyj->xy", differences, inverse, differences)),
        atol=1e-12,
    )


@pytest.mark.parametrize("t", [0.0, 0.3, 1.0])
def test_vickrey_in_the_plane(t):
    def choose(points):
        far = cdist(points, PLANE)
        order = np.argsort(far, axis=1)
        d1, d2 = (np.take_along_axis(far, order[:, i : i + 1], axis=1)[:, 0] for i in (0, 1))
        first = (1 - t) * d2 / (t * d1 + (1 - t) * d2)
        return first[:, None] * np.eye(5)[order[:, 0]] + (1 - first)[:, None] * np.eye(5)[order[:, 1]]

    mechanism = Vickrey(Embeddings(WORDS[:5], PLANE), 0.8, t=t)
    expected = cell_masses(PLANE, 1, lambda z: np.linalg.norm(z, axis=1), choose, 0.8)
    assert agrees(mechanism, "w1", expected)


def test_nearest_rows_are_those_of_a_sort():
    generator = np.random.default_rng(4)
    points, vectors = generator.normal(size=(300, 5)), generator.normal(size=(90, 5))
    rows, distances = nearest_rows(points, vectors, k=3)
    far = cdist(points, vectors)
    np.testing.assert_array_equal(rows, np.argsort(far, axis=1)[:, :3])
    np.testing.assert_allclose(distances, np.sort(far, axis=1)[:, :3])


def test_estimated_rows_agree_with_the_closed_form_within_their_intervals():
    points = np.random.default_rng(0).normal(size=12)
    mechanism = FBDD(Embeddings(WORDS[:12], points[:, None]), 1.5)
    estimate = mechanism.estimate_channel(WORDS[:3], draws=2000, seed=3)
    assert estimate.inputs == WORDS[:3] and estimate.draws == 2000
    expected = laplace_channel(points, 1.5)
    intervals = [[estimate.interval(x, y, 0.999) for y in WORDS[:12]] for x in WORDS[:3]]
    inside = [low <= expected[x, y] <= high for x in range(3) for y, (low, high) in enumerate(intervals[x])]
    assert all(inside)
    assert mechanism.estimate_channel(WORDS[:3], draws=2000, seed=3) is estimate
    alone = mechanism.estimate_channel(["w2"], draws=2000, seed=3).rows(["w2"])
    np.testing.assert_array_equal(alone, estimate.rows(["w2"]))
    assert repr(mechanism.channel) == "Channel(12 inputs, 12 outputs, sparse, estimated from 1000 draws a row)"
    with pytest.raises(ValueError, match="a tight epsilon needs exact entries, and these are estimated from 1000"):
        tight_epsilon(mechanism.channel)


@pytest.mark.parametrize("words", [1, 2])
@pytest.mark.parametrize("make", [FBDD, Mahalanobis, Vickrey])
def test_noise_with_one_or_two_words(words, make):
    tiny = Embeddings(WORDS[:words], np.zeros((words, 3)))
    assert set(make(tiny, 1.0).sanitize([WORDS[:words] * 5], seed=0)[0]) <= set(WORDS[:words])


# --- WordPiece -------------------------------------------------------------------------------------------------


def test_pieces_of_an_encoder_stand_for_words():
    pytest.importorskip("safetensors")
    pieces = bert_vocabulary()
    assert len(pieces) == 30_522 - 5 - 994 and pieces.vectors.shape[1] == 384
    assert not [piece for piece in pieces.words if piece.startswith("[") and len(piece) > 1]
    assert {"the", "##ing", "[", "!"} <= set(pieces.words)
    (document,) = wordpieces(["Unaffable embeddings, naïve " + "word " * 600])
    assert document[:6] == ["una", "##ffa", "##ble", "em", "##bed", "##ding"] and len(document) > 600
    assert join_pieces(document).startswith("unaffable embeddings , naive word word")
    released = SanText(pieces, 5.0).sanitize([document[:9]], seed=0)[0]
    assert len(released) == 9 and set(released) <= set(pieces.words)
    near = SanText(pieces, 200.0).sanitize([document[:9]], seed=0)[0]
    assert near == document[:9]


# --- bad arguments ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "make, message",
    [
        (lambda e: SanTextPlus(e, 1, sensitive=set()), "sensitive: none of the words has a vector"),
        (lambda e: SanTextPlus(e, 1, sensitive={"w1"}, p=1.5), "p: 1.5 is out of range"),
        (lambda e: SanText(e, float("nan")), "epsilon: nan is not a number"),
        (lambda e: SanText(e, "2"), "epsilon: '2' is not a number"),
        (lambda e: SanText(e, 1).sanitize(["a string"]), "list of token lists"),
        (lambda e: SanText(e, 1).sanitize([["w1"]], seed=1.5), "seed"),
        (lambda e: SanText(e, 1).sanitize([["w1"]], seed=-1), "seed"),
        (lambda e: SanText(e, 1).sanitize([["w1"]], seed=True), "seed"),
        (lambda e: CusText(e, 1, k=0), "k: 0 is out of range"),
        (lambda e: CusText(e, 1, k=2.5), "k: 2.5 is not whole"),
        (lambda e: CusText(e, 1, mapping="aggressive"), "mapping: 'aggressive' is unknown"),
        (lambda e: CusText(e, 1, keep="the"), "keep: it is one string"),
        (lambda e: CusText(e, 1500), "epsilon: 1500 is out of range"),
        (lambda e: FBDD(e, 0), "epsilon: 0 is too small for noise"),
        (lambda e: Mahalanobis(Embeddings(["a", "b"], [[0, 0], [1, 0.0]]), 1, strength=1), "strength: at 1"),
        (lambda e: TEM(e, 1, gamma=-1), "gamma: -1 is out of range"),
    ],
)
def test_bad_arguments_are_refused(embeddings, make, message):
    with pytest.raises(ValueError, match=message):
        make(embeddings)


def test_every_mechanism_states_its_guarantee(embeddings):
    for name in MECHANISMS.keys() - {"released custext+"}:
        options = {"epsilon": 2.0} if "epsilon" in MECHANISMS[name].parameters() else {}
        promise = make_mechanism(name, embeddings, **options).guarantee
        claimed = {"random": 0, "erasure": np.inf, "rantext": np.inf}.get(name, 2.0)
        assert promise.outside and promise.which and promise.epsilon == claimed
        assert promise.document(20, 3.0) == pytest.approx(20 * promise.token(3.0))
    assert CusText(embeddings, 1.0, mapping="overlapping").guarantee.definition == "none"


class TestExposed:
    """A mechanism names the words that it releases as they are."""

    five = Embeddings(list("abcde"), np.arange(5.0)[:, None])

    @pytest.mark.parametrize(
        "make, words",
        [
            (lambda e: SanText(e, 1.0, oov="keep"), "words outside of the vocabulary, released verbatim"),
            (lambda e: CusText(e, 1.0, k=5), ""),
            (lambda e: CusText(e, 1.0, k=2), "'e', the one word of the last group, is released unchanged"),
            (lambda e: CusText(e, 1.0, k=1), "every word, the one of its output set, is released unchanged"),
            (lambda e: CusText(e, 1.0, k=5, keep={"a", "b"}), "the 2 kept words, released verbatim"),
            (lambda e: CusText(e, 1.0, k=5, numbers="jitter"), "numbers outside of the vocabulary are released"),
            (lambda e: SanTextPlus(e, 1.0, sensitive={"e"}, p=0.3), "the 4 words that are not sensitive"),
            (lambda e: SanTextPlus(e, 1.0, sensitive={"a", "b"}, p=1.0), "the list of 2 sensitive words: every"),
        ],
    )
    def test_clauses_say_what_the_channel_does(self, make, words):
        clauses = make(self.five).exposed
        assert len(clauses) == bool(words) and words in "".join(clauses)

    def test_known_words_have_a_row_or_are_kept(self):
        mechanism = CusText(self.five, 1.0, k=2, keep={"the"})
        assert [mechanism.knows(word) for word in ("a", "A", "The", "zebra")] == [True, True, True, False]

    def test_an_unknown_word_is_named_to_the_caller_also_from_another_process(self):
        with pytest.raises(UnknownWord, match="'zebra' is not in the vocabulary") as caught:
            SanText(self.five, 1.0, oov="error").sanitize([["a", "zebra"]])
        assert pickle.loads(pickle.dumps(caught.value)).word == "zebra"


def test_output_sets_that_no_memory_holds_are_refused_before_they_are_made():
    many = Embeddings([f"w{i}" for i in range(40_000)], np.arange(40_000.0)[:, None])
    with pytest.raises(ValueError, match="k: 40000 of 40,000 words each are 1.6e\\+09 entries"):
        CusText(many, 1.0, k=40_000)
    assert CusText(many, 1.0, k=20).k == 20


def test_a_channel_that_is_a_method_is_refused_where_it_is_defined():
    with pytest.raises(ValueError, match="channel: Own defines it as a method; put @property above it"):

        class Own(Mechanism):
            def channel(self):
                return None


# --- text, copies, what is shown ------------------------------------------------------------------------------


def test_text_is_tokenized_sanitized_and_joined(embeddings):
    mechanism = CusText(embeddings, 2.0, k=5, keep=["w3"])
    text = "W1 w2, W3 and w3!"
    one = mechanism.sanitize_text(text, seed=4)
    assert one.split() == mechanism.sanitize([["w1", "w2", ",", "w3", "and", "w3", "!"]], seed=4)[0]
    assert mechanism.sanitize_text([text, ""], seed=4) == [one, ""]
    for wrong in (3, None, [["a", "list"]], [3]):
        with pytest.raises(ValueError, match="text: .* is no string; token lists go to sanitize"):
            mechanism.sanitize_text(wrong)


def test_a_column_is_sanitized_and_a_table_is_not(embeddings):
    mechanism = CusText(embeddings, 2.0, k=5)
    one, two = mechanism.sanitize_text(["w1 w2", "w3"], seed=4)
    assert mechanism.sanitize_text(["w1 w2", None, "w3"], seed=4) == [one, None, two]
    released = mechanism.sanitize_text(pd.Series(["w1 w2", float("nan"), pd.NA, "w3"]), seed=4)
    assert [released[0], released[3]] == [one, two] and all(map(pd.isna, released[1:3]))
    for wrong in (pd.DataFrame({"text": ["w1 w2"]}), {"text": ["w1"]}):
        with pytest.raises(ValueError, match="has columns, which are sanitized one at a time; pass one of them"):
            mechanism.sanitize_text(wrong)


@pytest.mark.parametrize("name", [name for name in MECHANISMS if name != "released custext+"])
def test_a_copy_with_nothing_changed_is_the_same_and_one_parameter_can_be_changed(embeddings, name):
    has_epsilon = "epsilon" in MECHANISMS[name].parameters()
    mechanism = make_mechanism(name, embeddings, **({"epsilon": 2.0} if has_epsilon else {}))
    docs = [WORDS[:20]]
    assert mechanism.with_().sanitize(docs, seed=1) == mechanism.sanitize(docs, seed=1)
    assert type(mechanism).__name__ in repr(mechanism) and WORDS[0] not in repr(mechanism)
    if has_epsilon:
        fresh = make_mechanism(name, embeddings, epsilon=3.0)
        changed = mechanism.with_(epsilon=3.0)
        assert repr(changed) == repr(fresh) and mechanism.epsilon == 2.0
        assert changed.sanitize(docs * 9, seed=1) == fresh.sanitize(docs * 9, seed=1)
    with pytest.raises(ValueError, match="nonsense: .* has no such parameter; it has"):
        mechanism.with_(nonsense=1)


def test_what_follows_from_other_parameters_is_not_taken_for_given(embeddings):
    assert TEM(embeddings, 2.0).parameters["beta"] == 0.001 and TEM(embeddings, 2.0, beta=None).beta == 0.001
    assert TEM(embeddings, 2.0, gamma=0.5, beta=0.2).parameters["beta"] is None  # a gamma takes its place
    wide, narrow = TEM(embeddings, 2.0).with_(epsilon=1.0), TEM(embeddings, 2.0, gamma=0.5).with_(epsilon=1.0)
    assert wide.gamma == TEM(embeddings, 1.0).gamma != TEM(embeddings, 2.0).gamma and narrow.gamma == 0.5
    assert TEM(embeddings, 1.0).with_(beta=0.2).gamma == TEM(embeddings, 1.0, beta=0.2).gamma
    assert TEM(embeddings, 0).with_(epsilon=1.0).gamma == wide.gamma
    channel = SanText(embeddings, 1.0).channel
    kept = ChannelMechanism(channel, keep=["w1"])
    assert kept.channel.rows(["w1"]).max() == 1.0 > kept.with_(keep=()).channel.rows(["w1"]).max()


class Own(Mechanism):
    """A channel whose words are not those of the inputs, or not in their order."""

    def __init__(self, inputs, channel, **more):
        super().__init__(inputs, **more)
        self._given = channel

    @property
    def channel(self):
        return self._given


def test_a_channel_in_another_order_is_drawn_from_by_its_words(embeddings):
    """Both directions: words that swap, and any channel turned round, with words that are no inputs."""
    swap = Channel.from_matrix([[0.0, 1.0], [1.0, 0.0]], inputs=["b", "a"], outputs=["b", "a"])
    assert Own(["a", "b"], swap).sanitize([["a", "b", "a"]], seed=0) == [["b", "a", "b"]]
    mechanism = CusText(embeddings, 3.0, k=7)
    order = np.random.default_rng(1).permutation(50)
    words = [WORDS[i] for i in order]
    turned = Channel.from_matrix(mechanism.channel.matrix()[order], words, WORDS)
    docs = [WORDS * 40]
    assert Own(WORDS, turned).sanitize(docs, seed=5) == mechanism.sanitize(docs, seed=5)
    assert Own(WORDS[10:20], turned).sanitize([WORDS[10:20]], 5) == mechanism.sanitize([WORDS[10:20]], 5)


def test_a_channel_without_a_row_for_an_input_is_refused_whatever_the_text():
    channel = Channel.from_matrix(np.eye(2), inputs=["b", "a"], outputs=["a", "b"])
    for make in (lambda: Own("abc", channel), lambda: Own("cba", channel, keep={"c"})):
        with pytest.raises(ValueError, match="^channel: 'c' is an input of Own and none of its channel; ") as told:
            make().sanitize([["a"]], seed=0)
        assert "\n" not in str(told.value)


@pytest.mark.parametrize("make", [CusText, FBDD, Mahalanobis, Random, SanText, SanTextPlus, TEM, Vickrey])
def test_a_list_of_words_in_place_of_vectors_is_one_line(make):
    given = {} if make is Random else {"epsilon": 3.0}
    given |= {"sensitive": {"a"}} if make is SanTextPlus else {}
    with pytest.raises(ValueError, match="^embeddings: list holds no vectors; pass Embeddings") as told:
        make(["a", "b"], **given)
    assert "\n" not in str(told.value)


def test_a_word_that_is_kept_in_any_case_of_letters_is_promised_nothing():
    """Text is read in lower case where words are looked for among those kept: so is the vocabulary."""
    words = Embeddings(["the", "The", "cat", "Cat"], [[0.0], [1.0], [2.0], [3.0]])
    mechanism = CusText(words, 1.0, k=4, keep={"the"})
    assert mechanism.sanitize([["The"] * 8], seed=0) == [["The"] * 8]
    assert mechanism.channel.rows(["The"]).max() == 1.0
    assert "The" not in mechanism.protected and {"cat", "Cat"} <= set(mechanism.protected)
