"""CluSanT, 1-Diffractor, RANTEXT and a distributed budget: rows against the formulas, promises two-sided."""

import math

import numpy as np
import pytest
from scipy import integrate
from scipy.spatial.distance import cdist

from textsan import CusText, Embeddings, SanText
from textsan.mechanisms import BudgetedSanText, CluSanT, OneDiffractor, RanText, make_mechanism, rantext
from textsan.mechanisms.table import table_channel
from textsan.privacy import Adjacency, Guarantee, tight_epsilon

RNG = np.random.default_rng(3)
WORDS = ["the", "of", *(f"w{i}" for i in range(38))]
VECTORS = RNG.normal(size=(40, 4))
EMBEDDINGS = Embeddings(WORDS, VECTORS)
FAR = cdist(VECTORS, VECTORS)
PROMISING = {
    "clusant": {"k": 5},
    "1-diffractor": {},
    "truncated": {"method": "truncated", "gamma": 4},
    "budgeted santext": {},
    "rare": {"more": "rare"},
}
NAMES = {"truncated": "1-diffractor", "rare": "budgeted santext"}


def made(name, epsilon):
    return make_mechanism(NAMES.get(name, name), EMBEDDINGS, epsilon=epsilon, **PROMISING[name])


@pytest.mark.parametrize("name", PROMISING)
@pytest.mark.parametrize("epsilon", [0.2, 1.3])
def test_the_promise_is_kept_and_a_larger_epsilon_is_caught(name, epsilon):
    promise = made(name, epsilon).guarantee
    assert promise.definition == "metric DP"
    assert 0 < promise.tight(made(name, epsilon).channel) <= epsilon + 1e-9
    loose = 1.01 if name == "1-diffractor" else 40
    assert promise.tight(made(name, loose * epsilon).channel) > epsilon


@pytest.mark.parametrize("name", [*PROMISING, "rantext"])
def test_draws_follow_the_rows(name):
    mechanism = RanText(EMBEDDINGS, 3.0) if name == "rantext" else made(name, 1.0)
    drawn = mechanism.sanitize([["w7"] * 20_000], seed=1)[0]
    row = mechanism.channel.rows(["w7"])[0]
    seen = np.array([drawn.count(word) for word in WORDS])
    expected = 20_000 * row
    assert (np.abs(seen - expected) <= 5 * np.sqrt(expected * (1 - row)) + 3).all()


def naive_clusant(epsilon, k, factor):
    groups = [list(group) for group in CusText(EMBEDDINGS, 0.0, k=k).groups]
    centres = np.array([VECTORS[group].mean(axis=0) for group in groups])
    rows = np.zeros((40, 40))
    for x in range(40):
        own = next(i for i, group in enumerate(groups) if x in group)
        step = np.exp(-epsilon / 2 * factor * np.linalg.norm(centres[own] - centres, axis=1))
        for p, group in zip(step / step.sum(), groups, strict=True):
            inside = np.exp(-epsilon / 2 * FAR[x, group] / max(FAR[np.ix_(group, group)].max(), 1e-300))
            rows[x, group] = p * inside / inside.sum()
    return rows


@pytest.mark.parametrize("epsilon, k, factor", [(0.0, 5, 1.0), (1.0, 7, 0.0), (2.0, 5, 1.0), (6.0, 20, 3.0)])
def test_clusant_is_two_exponential_mechanisms(epsilon, k, factor):
    channel = CluSanT(EMBEDDINGS, epsilon, k=k, factor=factor).channel
    assert channel.matrix() == pytest.approx(naive_clusant(epsilon, k, factor), abs=1e-12)


def test_clusant_keeps_the_claim_of_both_steps():
    """epsilon in a cluster, epsilon (K d + 1) between clusters; the guarantee's distance is no smaller."""
    for seed in range(5):
        vectors = np.random.default_rng(seed).normal(size=(40, 4)) * np.repeat([0.1, 1.0, 10.0, 3.0], 10)[:, None]
        mechanism = CluSanT(Embeddings(WORDS, vectors), 2.0, k=4, factor=0.3)
        centres = np.array([vectors[group].mean(axis=0) for group in mechanism.clusters])[mechanism.cluster]
        rows = mechanism.channel.log_rows(np.arange(40))
        widest = np.abs(rows[:, None] - rows[None]).max(axis=2)
        steps = 0.3 * cdist(centres, centres) + (1 - np.eye(40))
        assert (widest <= 2.0 * steps + 1e-9).all() and widest.max() > 2.0
        promised = mechanism.guarantee.adjacency.distance.distances(WORDS, WORDS)
        same = mechanism.cluster[:, None] == mechanism.cluster
        assert promised[same] == pytest.approx(steps[same]) and (promised >= steps - 1e-6).all()


def test_clusters_of_twins_are_uniform():
    """All words of a cluster have one vector; the released code divides nought by nought."""
    twins = Embeddings(["a", "b", "c", "d"], [[0.0], [0.0], [5.0], [5.0]])
    mechanism = CluSanT(twins, 1.0, k=2)
    row = mechanism.channel.rows(["a"])[0]
    assert row[0] == row[1] and row[2] == row[3] and row.sum() == pytest.approx(1)
    assert mechanism.guarantee.tight(mechanism.channel) <= 1.0 + 1e-9


def naive_places(vectors):
    left, order = list(range(1, len(vectors))), [0]
    while left:
        far = [((vectors[i] - vectors[order[-1]]) ** 2).sum() for i in left]
        order.append(left.pop(int(np.argmin(far))))
    return np.argsort(order)


def test_the_list_is_the_chain_of_nearest_neighbours():
    assert (OneDiffractor(EMBEDDINGS, 1.0).places == naive_places(VECTORS)).all()
    one = OneDiffractor(Embeddings(["a"], [[0.0]]), 1.0)
    assert one.sanitize([["a", "a"]], seed=0) == [["a", "a"]]


@pytest.mark.parametrize("epsilon", [0.05, 0.7, 3.0])
def test_geometric_noise_stops_at_the_ends(epsilon):
    """Against the clipped sum of the law of the noise, far beyond both ends."""
    mechanism = OneDiffractor(EMBEDDINGS, epsilon)
    steps = np.arange(-4000, 4001)
    law = np.exp(-epsilon * np.abs(steps)) * math.tanh(epsilon / 2)
    rows = np.zeros((40, 40))
    word_at = np.argsort(mechanism.places)
    for x in range(40):
        np.add.at(rows[x], word_at[np.clip(mechanism.places[x] + steps, 0, 39)], law)
    assert mechanism.channel.matrix() == pytest.approx(rows, abs=1e-9)
    assert mechanism.guarantee.tight(mechanism.channel) == pytest.approx(epsilon)


def test_truncated_scores_with_an_option_for_the_rest():
    """The window of 2 gamma + 1 places, and one option of score -gamma + 2 ln(outside) / epsilon."""
    mechanism = made("truncated", 0.8)
    rows = np.zeros((40, 40))
    for x in range(40):
        apart = np.abs(mechanism.places - mechanism.places[x])
        inside = apart <= 4
        option = np.exp(0.4 * (-4 + 2 / 0.8 * np.log((~inside).sum())))
        rows[x, inside] = np.exp(-0.4 * apart[inside])
        rows[x, ~inside] = option / (~inside).sum()
    assert mechanism.channel.matrix() == pytest.approx(rows / rows.sum(axis=1, keepdims=True))


def test_a_list_that_looks_among_the_nearest_few_only_jumps_further():
    """`dp-diffractor` 0.2.1 asks for the 50 nearest words, visited or not, else takes any left."""

    def chain(among):
        left, order = set(range(1, 400)), [0]
        while left:
            far = ((vectors - vectors[order[-1]]) ** 2).sum(axis=1)
            near = [i for i in np.argsort(far, kind="stable")[:among] if i in left]
            order.append(near[0] if near else min(left))
            left.remove(order[-1])
        return order

    vectors = np.random.default_rng(5).normal(size=(400, 6))
    lengths = {among: np.linalg.norm(np.diff(vectors[chain(among)], axis=0), axis=1).sum() for among in (400, 10)}
    assert lengths[10] > 1.05 * lengths[400]
    places = OneDiffractor(Embeddings([f"v{i}" for i in range(400)], vectors), 1.0).places
    assert (np.argsort(places) == chain(400)).all()


def two_words(epsilon, there):
    """Pr(there | x) for x at 0 and the other word at 1, integrated over the radius |Laplace(1 / strength)|."""
    s = rantext.strength(epsilon)

    def beyond(r):
        other = math.exp(-epsilon / 2 / r)
        return s * math.exp(-s * r) * other / (1 + other)

    moves = integrate.quad(beyond, 1, np.inf)[0]
    return 1 - moves if there == 0 else moves


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 1.9, 4.0])
def test_rantext_against_the_integral_over_its_radius(epsilon, monkeypatch):
    monkeypatch.setattr(rantext, "RADII", 2000)
    channel = RanText(Embeddings(["a", "b"], [[0.0], [1.0]]), epsilon).channel
    assert channel.matrix()[0] == pytest.approx([two_words(epsilon, 0), two_words(epsilon, 1)], abs=0.01)


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 1.9, 4.0])
def test_rantext_breaks_its_published_epsilon_with_two_words(epsilon):
    """The log-ratio of one output, by the integral: no matter of how the radius is discretised."""
    ratio = math.log(two_words(epsilon, 0) / two_words(epsilon, 1))
    assert ratio > epsilon + 0.4
    channel = RanText(Embeddings(["a", "b"], [[0.0], [1.0]]), epsilon).channel
    assert tight_epsilon(channel) > epsilon
    promise = RanText(EMBEDDINGS, epsilon).guarantee
    assert promise.definition == "none" and "does not hold" in promise.outside[0]


def test_rantext_falls_off_where_its_rule_changes():
    below, above, later = (RanText(EMBEDDINGS, e).radii for e in (1.999999, 2.0, 20.0))
    assert below / above == pytest.approx(np.full(64, 4.56), abs=0.01)
    assert (above / later < 1.04).all()


def test_rantext_by_the_formula_given_a_radius():
    mechanism = RanText(EMBEDDINGS, 3.0)
    rows = np.zeros((40, 40))
    for r in mechanism.radii:
        inside = np.where(FAR < r, np.exp(1.5 * (1 - FAR / r)), 0.0)
        rows += inside / inside.sum(axis=1, keepdims=True)
    assert mechanism.channel.matrix() == pytest.approx(rows / 64, abs=1e-9)


def test_a_budget_is_spent_on_average_and_goes_where_it_is_told():
    counts = {"the": 500, "of": 300, "w1": 40}
    prior = np.array([counts.get(word, 0) + 1.0 for word in WORDS])
    prior /= prior.sum()
    common, rare = (
        BudgetedSanText(EMBEDDINGS, 1.0, counts=counts, more=more).shares for more in ("common", "rare")
    )
    assert prior @ common == pytest.approx(1) and prior @ rare == pytest.approx(1)
    assert common[0] > common[2] and rare[0] < rare[2]
    assert common / common[0] == pytest.approx(np.log(prior[0]) / np.log(prior))


def test_a_budget_shapes_rows_by_the_formula():
    mechanism = BudgetedSanText(EMBEDDINGS, 1.7)
    weights = np.exp(-1.7 / 2 * mechanism.shares[:, None] * FAR)
    assert mechanism.channel.matrix() == pytest.approx(weights / weights.sum(axis=1, keepdims=True))


@pytest.mark.parametrize("more", ["common", "rare"])
def test_a_mean_budget_is_no_promise_about_pairs(more):
    """Epsilon per unit of distance, as the mean word has it, is passed by a pair of near words."""
    vectors = RNG.normal(size=(40, 1))
    vectors[:2, 0] = 0.0, 0.01  # "the" and "of": near, and of different budgets
    near = Embeddings(WORDS, vectors)
    mechanism = BudgetedSanText(near, 1.0, more=more)
    mean = Guarantee("metric DP", 1.0, Adjacency(distance=near))
    assert mean.tight(mechanism.channel) > 5
    assert mean.tight(SanText(near, 1.0).channel) <= 1 + 1e-9
    assert mechanism.guarantee.tight(mechanism.channel) <= 1 + 1e-9


def test_a_table_that_no_memory_holds_is_refused(monkeypatch):
    monkeypatch.setattr("textsan.mechanisms.table.DENSE_LIMIT", 100)
    with pytest.raises(ValueError, match=r"embeddings: 40 words are a table of 1.6e\+03 entries; pass 10 words"):
        table_channel(WORDS, lambda rows: np.ones((len(rows), 40)))


@pytest.mark.parametrize(
    "make, message",
    [
        (lambda: CluSanT(EMBEDDINGS, 1.0, factor=-1.0), "factor: -1.0 is out of range"),
        (lambda: OneDiffractor(EMBEDDINGS, 0.0), "epsilon: 0.0 is out of range"),
        (lambda: RanText(EMBEDDINGS, 0.0), "epsilon: 0.0 is out of range"),
        (lambda: BudgetedSanText(EMBEDDINGS, 1.0, more="all"), "more: 'all' is unknown"),
    ],
)
def test_bad_arguments_are_one_line(make, message):
    with pytest.raises(ValueError, match=message):
        make()
