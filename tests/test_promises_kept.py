"""Every registered mechanism by brute force: on small vocabularies it refuses, or keeps what its guarantee says.

The witness has its own distances (long doubles, a difference for each pair) and its own largest log-ratio, over
all pairs of words and all outputs. It knows only the data of the guarantee: definition, epsilon, adjacency.
"""

import math
from typing import Literal, get_args, get_origin

import numpy as np
import pytest
from hypothesis import example, given, settings, strategies as st
from scipy.stats import beta as beta_distribution

from textsan import Embeddings
from textsan.mechanisms import MECHANISMS, ContextAwareCusText, OptimalCusText, make_mechanism
from textsan.mechanisms.noise import NoiseMechanism
from textsan.priors import Prior

EPSILONS = [0.0, 1e-6, 0.01, 0.5, 1.0, 3.0, 10.0, 100.0, 400.0, 744.0, 746.0, 800.0, 1400.0, 1e6]
WORDS = ["the", "good", "bad", "film", "Apple", "apple", ".", "not", "zebra"]
NUMBERS = {  # by the name of a parameter: values that a draw takes; a new parameter needs its own line
    "k": [1, 2, 3, 8, 20],
    "w": [0.3, 0.5, 0.9, 1.0],
    "p": [0.0, 1e-3, 0.3, 1.0],
    "q": [0.0, 0.5, 1.0],
    "t": [0.0, 0.5, 1.0],
    "strength": [0.0, 0.2, 0.9],
    "factor": [0.0, 0.5, 1.0, 5.0],
    "beta": [None, 1e-6, 0.001, 0.5, 0.999],
    "success": [None, 0.3, 0.5, 0.7, 0.9, 1.0],
    "classes": [1, 2, 3],
    ("tem", "gamma"): [None, 0.0, 0.5, 3.0],
    ("1-diffractor", "gamma"): [0, 1, 5],
}
REFUSALS = ("epsilon:", "success:", "sensitive:", "vectors:")
NOISE = ["fbdd", "mahalanobis", "vickrey"]  # sampled: no exact channel


def vocabulary(generator):
    """Up to nine words in up to three dimensions: ordinary, equal, far, near, shifted, in single precision."""
    n, d = int(generator.integers(2, 9)), int(generator.integers(1, 4))
    vectors = generator.normal(size=(n, d))
    kind = generator.choice(["normal", "two alike", "all alike", "line", "far", "near", "offset", "single"])
    if kind == "two alike":
        vectors[-1] = vectors[0]
    elif kind == "all alike":
        vectors[:] = vectors[0]
    elif kind == "line":
        vectors = np.arange(n, dtype=float)[:, None] * np.ones(d)
    elif kind == "single":
        vectors = vectors.astype(np.float32)
    else:
        vectors = vectors * {"far": 1e4, "near": 1e-6}.get(kind, 1.0) + (1e5 if kind == "offset" else 0.0)
    return Embeddings(list(generator.permutation(WORDS)[:n]), vectors)


def options(name, generator):
    drawn = {}
    for parameter, one in MECHANISMS[name].parameters().items():
        choices = NUMBERS.get((name, parameter), NUMBERS.get(parameter))
        if parameter == "epsilon":
            choices = EPSILONS
        elif choices is None and one.annotation is bool:
            choices = [False, True]
        elif choices is None:
            choices = [value for part in literals(one.annotation) for value in get_args(part)]
            choices += [one.default] if one.default is None else []
        if parameter in ("public", "device"):
            continue
        assert choices, f"{parameter}: a new parameter of {name}; say in NUMBERS which values it takes"
        drawn[parameter] = choices[int(generator.integers(len(choices)))]
    return drawn


def literals(annotation):
    if get_origin(annotation) is Literal:
        return [annotation]
    return [part for one in get_args(annotation) for part in literals(one)]


def make(name, embeddings, generator):
    """A mechanism with drawn options, its public text drawn over the words."""
    drawn = options(name, generator)
    counts = (
        {word: int(generator.integers(0, 50)) for word in embeddings.words} if generator.random() < 0.7 else None
    )
    if name == "context-aware custext":
        docs = [list(generator.choice(embeddings.words, size=4)) for _ in range(30)]
        return ContextAwareCusText(embeddings, docs=docs, keep=some(embeddings, generator), **drawn), drawn
    if name == "optimal custext":
        return OptimalCusText(embeddings, counts=counts, keep=some(embeddings, generator), **drawn), drawn
    return make_mechanism(name, embeddings, counts=counts, **drawn), drawn


def some(embeddings, generator):
    return set(generator.choice(embeddings.words, size=int(generator.integers(0, 2))))


def apart(places):
    """Euclidean distances, a difference for each pair."""
    places = np.asarray(places, dtype=np.longdouble)
    return np.sqrt(((places[:, None] - places[None]) ** 2).sum(axis=-1)).astype(float)


def worst(log_rows, allowed):
    """The largest log Pr(y | x) - log Pr(y | x') - allowed(x, x') of any two rows and any output."""
    with np.errstate(invalid="ignore"):
        ratio = log_rows[:, None] - log_rows[None]
    ratio[np.broadcast_to(log_rows[:, None] == -np.inf, ratio.shape)] = -np.inf  # nothing happens there
    excess = ratio.max(axis=-1) - allowed - 1e-9 * np.where(np.isfinite(allowed), allowed, 0.0)
    return excess[~np.eye(len(excess), dtype=bool)].max(initial=-np.inf)


def broken(guarantee, channel):
    """By how much a channel exceeds its guarantee, in the worst pair of words; at most 0 up to rounding."""
    if guarantee.definition == "none":
        return -np.inf
    adjacency, place = guarantee.adjacency, {word: i for i, word in enumerate(channel.inputs)}
    log_rows = channel.log_rows(list(channel.inputs))
    if guarantee.definition == "DP within groups":
        rows = [log_rows[[place[word] for word in group]] for group in adjacency.groups]
        return max((worst(one, np.full((len(one),) * 2, guarantee.epsilon)) for one in rows), default=-np.inf)
    if guarantee.definition == "DP":
        return worst(log_rows, np.full((len(log_rows),) * 2, guarantee.epsilon))
    distance = adjacency.distance
    far = np.minimum(apart(distance.vectors[distance.rows(list(channel.inputs))]), adjacency.cutoff)
    allowed = guarantee.epsilon * far + guarantee.epsilon_0
    if guarantee.definition == "metric DP":
        return worst(log_rows, allowed)
    sensitive = [channel.outputs.index(word) for word in adjacency.outputs]
    others = np.delete(log_rows, sensitive, axis=1)
    sources = (others > -np.inf).sum(axis=0)
    names = [word for word in channel.outputs if word not in adjacency.outputs]
    own = all(others[place[word], i] > -np.inf for i, word in enumerate(names) if sources[i])
    assert own and (sources <= 1).all() and not set(names) & adjacency.sensitive  # these outputs name their word
    return worst(log_rows[:, sensitive], allowed) if math.isfinite(guarantee.epsilon_0) else -np.inf


def examined(name, seed):
    """Return by how much the promise and the bound of one draw are exceeded; None if it was refused."""
    generator = np.random.default_rng([seed, *name.encode()])
    embeddings = vocabulary(generator)
    try:
        mechanism, drawn = make(name, embeddings, generator)
        channel = mechanism.channel
    except ValueError as error:
        assert str(error).startswith(REFUSALS) and "\n" not in str(error), error
        return None
    assert np.abs(np.exp(channel.log_rows(list(channel.inputs))).sum(axis=1) - 1).max() < 1e-9
    guarantee, prior = mechanism.guarantee, generator.dirichlet(np.ones(len(channel.inputs)))
    named = (prior[:, None] * np.exp(channel.log_rows(list(channel.inputs)))).max(axis=0).sum()
    above = named - guarantee.success(Prior(list(channel.inputs), prior))
    return broken(guarantee, channel), above, drawn


BUILT_IN = [name for name in MECHANISMS if name in MECHANISMS._built_in]
EXACT = [name for name in BUILT_IN if name not in (*NOISE, "released custext+")]  # which promises nothing


@pytest.mark.parametrize("name", EXACT)
def test_what_is_made_keeps_its_promise(name):
    found = [examined(name, seed) for seed in range(60)]
    made = [one for one in found if one is not None]
    assert len(made) >= 20, "nearly everything is refused"
    for excess, above, drawn in made:
        assert excess <= 1e-8, drawn
        assert above <= 1e-7, drawn


@pytest.mark.parametrize("name", ["optimal custext", "optimal custext+", "context-aware custext"])
@pytest.mark.parametrize("epsilon", [744.0, 800.0, 1400.0])
def test_an_optimum_with_a_success_bound_at_absurd_epsilons(name, epsilon):
    """exp(-epsilon) rounds to 0 from 746 on, and the mixture that makes rows private had nothing to mix in."""
    made = 0
    for seed in range(8):
        generator = np.random.default_rng(seed)
        n = int(generator.integers(3, 9))
        words = [f"w{i}" for i in range(n)]
        embeddings = Embeddings(words, generator.normal(size=(n, 2)))
        weights = generator.integers(0, 50, size=n) + np.eye(n, dtype=int)[0]
        if name == "context-aware custext":
            text = {"docs": [list(generator.choice(words, size=4, p=weights / weights.sum())) for _ in range(30)]}
        else:
            text = {"counts": dict(zip(words, weights.tolist(), strict=True))}
        bound = {"success": float(generator.uniform(0.3, 1)), "k": int(generator.integers(2, n + 1))}
        try:
            mechanism = MECHANISMS[name].load()(embeddings, epsilon, **bound, **text)
            assert broken(mechanism.guarantee, mechanism.channel) <= 1e-8
            made += 1
        except ValueError as error:
            assert str(error).startswith("success: ")
    assert made >= 3


@pytest.mark.parametrize(
    ("name", "epsilon", "given"), [("clusant", 400.0, {"k": 2}), ("budgeted santext", 100.0, {"more": "rare"})]
)
def test_where_probabilities_underflow_the_channel_is_refused(name, epsilon, given):
    embeddings = Embeddings(["the", "film", "zebra", "apple"], [[0.0], [1.0], [20.0], [21.0]])
    mechanism = make_mechanism(name, embeddings, epsilon=epsilon, **given)
    with pytest.raises(ValueError, match=r"^epsilon: so large .*; pass a smaller one$"):
        mechanism.sanitize([["film", "zebra"]], seed=0)


@settings(deadline=None, max_examples=60)
@given(seed=st.integers(0, 2**32 - 1))
@example(seed=1525286)  # all words of a group point one way, as far as rounding lets them
def test_context_aware_custext_is_made_or_refuses_its_success(seed):
    """It divided by a difference of two success rates, which is 0 where epsilon or groups leave no choice."""
    generator = np.random.default_rng(seed)
    embeddings = vocabulary(generator)
    try:
        mechanism, _ = make("context-aware custext", embeddings, generator)
        matrix = mechanism.channel.matrix()
    except ValueError as error:
        assert str(error).startswith(("success: ", "epsilon: 1000000.0 is out of range"))
        return
    taken = sum(
        (mechanism.joints[:, group, None] * matrix[np.ix_(group, group)]).max(axis=1).sum()
        for group in mechanism.groups
    )
    assert taken <= mechanism._allowed + 1e-9


@pytest.mark.parametrize("name", NOISE)
@pytest.mark.parametrize("epsilon", [0.5, 2.0])
def test_noise_is_not_seen_to_break_its_promise(name, epsilon):
    """There is no closed form, so by drawing: no log-ratio is shown to be above the promise."""
    generator, draws = np.random.default_rng(0), 4000
    for _ in range(3):
        n = int(generator.integers(2, 6))
        embeddings = Embeddings(list("abcdef")[:n], generator.normal(size=(n, 2)))
        mechanism = make_mechanism(name, embeddings, epsilon=epsilon)
        assert isinstance(mechanism, NoiseMechanism)
        released = [mechanism.sanitize([[word] * draws], seed=7)[0] for word in embeddings.words]
        seen = np.array([[row.count(word) for word in embeddings.words] for row in released])
        level = 1e-3 / seen.size / n  # corrected for all that is compared
        least = np.where(seen > 0, beta_distribution.ppf(level, np.maximum(seen, 1), draws - seen + 1), 0.0)
        most = np.where(seen < draws, beta_distribution.ppf(1 - level, seen + 1, np.maximum(draws - seen, 1)), 1.0)
        guarantee = mechanism.guarantee
        far = apart(guarantee.adjacency.distance.vectors)
        with np.errstate(divide="ignore"):
            ratio = (np.log(least)[:, None] - np.log(most)[None]).max(axis=-1)
        assert (ratio <= guarantee.epsilon * far).all()


def test_the_witness_notices_a_promise_that_is_too_good():
    """SanText's channel under half of its epsilon, and CusText's without one output."""
    embeddings = Embeddings(["a", "b", "c"], [[0.0], [1.0], [2.5]])
    mechanism = make_mechanism("santext", embeddings, epsilon=4.0)
    better = make_mechanism("santext", embeddings, epsilon=2.0)
    assert broken(mechanism.guarantee, mechanism.channel) <= 1e-8
    assert broken(better.guarantee, mechanism.channel) > 0.1
    erased = make_mechanism("custext", embeddings, epsilon=1.0, k=3, mapping="disjoint")
    rows = erased.channel.matrix()
    rows[0, 0] = 0.0
    rows /= rows.sum(axis=1, keepdims=True)
    cut = type(erased.channel).from_matrix(rows, embeddings.words, embeddings.words)
    assert broken(erased.guarantee, cut) == np.inf
