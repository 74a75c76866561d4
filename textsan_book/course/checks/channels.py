"""Checks on channels and guarantees: randomized response, tight epsilons, a mechanism of one's own."""

import math
from itertools import product

import numpy as np

from textsan_book.course.checks.saying import array, close, number, random_channel


def _worlds(seed: int):
    generator = np.random.default_rng([seed, 1])
    for _ in range(4):
        yield generator, int(generator.integers(2, 7)), float(generator.uniform(0.2, 4.0))


# Randomized response


def rows_sum_to_one(response, *, seed: int) -> None:
    """Every row of `response(n, epsilon)` is a distribution over n words."""
    for _, n, epsilon in _worlds(seed):
        matrix = array(response(n, epsilon), (n, n), f"response({n}, {epsilon:.3g})")
        assert (matrix >= 0).all(), "a probability is negative"
        close(matrix.sum(axis=1), np.ones(n), "a row does not sum to 1: it must say where each word goes, always")


def keeps_epsilon(response, *, seed: int) -> None:
    """The word itself is e^epsilon times as likely as any other, all others alike: the whole budget is spent."""
    for _, n, epsilon in _worlds(seed):
        matrix = array(response(n, epsilon), (n, n), f"response({n}, {epsilon:.3g})")
        close(matrix.sum(axis=1), np.ones(n), "a row does not sum to 1, so no ratio in it is one of probabilities")
        for x, y in product(range(n), repeat=2):
            if x != y:
                ratio = matrix[y, y] / max(matrix[x, y], 1e-300)
                assert ratio <= math.exp(epsilon) * (1 + 1e-9), (
                    "one column has a ratio above e^epsilon: whoever sees that word learns more than was promised"
                )
                said = "the word itself is not e^epsilon times as likely as another: budget is left unused"
                close(ratio, math.exp(epsilon), said)


def has_its_ends(response, *, seed: int) -> None:
    """At epsilon 0 nothing is told; at a large epsilon nearly everything is."""
    for _, n, _ in _worlds(seed):
        blind = array(response(n, 0.0), (n, n), "response(n, 0)")
        close(blind, np.full((n, n), 1 / n), "at epsilon 0 rows differ")
        kept = np.diag(array(response(n, 30.0), (n, n), "response(n, 30)"))
        assert (kept > 0.999).all(), "at epsilon 30 a word should nearly always stay as it is"


# The tight epsilon of any channel


def tight_of_response(tight, *, seed: int) -> None:
    """The tight epsilon of a channel whose ratios are known."""
    for _, n, epsilon in _worlds(seed):
        matrix = np.ones((n, n)) + np.diag(np.full(n, math.exp(epsilon) - 1))
        value = number(tight(matrix / matrix.sum(axis=1, keepdims=True)), "tight(matrix)")
        close(value, epsilon, "the largest log-ratio within a column is wrong")


def tight_of_any(tight, *, seed: int) -> None:
    """The tight epsilon against a search over all pairs of inputs and all outputs."""
    generator = np.random.default_rng([seed, 2])
    for inputs, outputs in ((2, 3), (4, 2), (5, 6)):
        matrix = random_channel(generator, inputs, outputs)
        largest = np.log(matrix[:, None] / matrix).max()
        said = "the largest log-ratio of two inputs at one output is another: compare within columns"
        close(number(tight(matrix), "tight(matrix)"), largest, said)
    same = np.tile(random_channel(generator, 1, 4), (3, 1))
    close(number(tight(same), "tight(matrix)"), 0, "rows that are all alike tell nothing: epsilon is 0")


def tight_without_support(tight, *, seed: int) -> None:
    """An output that one input excludes gives it away: epsilon is infinite; one that never occurs does not."""
    generator = np.random.default_rng([seed, 3])
    matrix = random_channel(generator, 3, 4)
    matrix[1, 2] = 0
    matrix[1] /= matrix[1].sum()
    value = number(tight(matrix), "tight(matrix)")
    assert value == math.inf, "an output that one word excludes and another does not: its epsilon is infinite"
    matrix = np.hstack([random_channel(generator, 3, 3), np.zeros((3, 1))])
    value = number(tight(matrix), "tight(matrix)")
    assert math.isfinite(value), "an output that no word ever has tells nothing: leave its column out"
    close(value, number(tight(matrix[:, :3]), "tight(matrix)"), "a column of zeros changes nothing")


# The lemma: how often a guess can be right


def bound_is_attained(most, *, seed: int) -> None:
    """Randomized response reaches the bound under a uniform prior."""
    for _, n, epsilon in _worlds(seed):
        right = math.exp(epsilon) / (math.exp(epsilon) + n - 1)
        value = number(most(n, epsilon), f"most({n}, {epsilon:.3g})")
        assert value >= right - 1e-9, "randomized response with this epsilon is guessed more often than that"
        assert value <= right + 1e-9, "your bound is true but loose: no channel with this epsilon reaches it"


def bound_holds(most, *, seed: int) -> None:
    """No channel with that tight epsilon is guessed more often, and at epsilon 0 only chance is left."""
    generator = np.random.default_rng([seed, 4])
    for _ in range(20):
        n = int(generator.integers(2, 6))
        matrix = random_channel(generator, n, int(generator.integers(2, 6)))
        epsilon = float(np.log(matrix.max(axis=0) / matrix.min(axis=0)).max())
        success = matrix.max(axis=0).sum() / n
        assert success <= number(most(n, epsilon), "most(n, epsilon)") + 1e-9, (
            f"a channel with epsilon {epsilon:.3f} over {n} words is guessed with {success:.3f}: above your bound"
        )
    for n in (2, 5):
        close(number(most(n, 0.0), "most(n, 0)"), 1 / n, "at epsilon 0 the best guess is chance")


# A mechanism of one's own, over points with distances


def _points(seed: int, stream: int):
    generator = np.random.default_rng([seed, stream])
    for n in (3, 6, 9):
        points = generator.normal(size=(n, 2))
        yield np.linalg.norm(points[:, None] - points, axis=2), float(generator.uniform(0.5, 3.0))


def is_a_channel(mechanism, *, seed: int) -> None:
    """`mechanism(distances, epsilon)` is a channel from the words to themselves."""
    for distances, epsilon in _points(seed, 5):
        n = len(distances)
        matrix = array(mechanism(distances, epsilon), (n, n), "mechanism(distances, epsilon)")
        assert (matrix > 0).all(), "a probability is not above 0: whoever sees that word can rule another one out"
        close(matrix.sum(axis=1), np.ones(n), "a row does not sum to 1")


def keeps_its_promise(mechanism, *, seed: int) -> None:
    """Metric differential privacy: no column's log-ratio is above epsilon times the distance."""
    for distances, epsilon in _points(seed, 6):
        n = len(distances)
        logs = np.log(array(mechanism(distances, epsilon), (n, n), "mechanism(distances, epsilon)"))
        for x, z in product(range(n), repeat=2):
            widest = (logs[x] - logs[z]).max()
            assert widest <= epsilon * distances[x, z] + 1e-9, (
                f"words at distance {distances[x, z]:.2f} differ by {widest:.2f} in some output, above epsilon "
                "times that distance: did you count the normalisation, which takes half of the budget?"
            )


def spends_its_budget(mechanism, *, seed: int) -> None:
    """Worth what it costs: at least four tenths of epsilon are used, and near words are likelier."""
    for distances, epsilon in _points(seed, 7):
        n = len(distances)
        matrix = array(mechanism(distances, epsilon), (n, n), "mechanism(distances, epsilon)")
        logs, apart = np.log(matrix), distances + np.eye(n)
        used = ((logs[:, None] - logs).max(axis=2) / apart).max()
        assert used >= 0.4 * epsilon, f"only {used / epsilon:.2f} of epsilon is used: text is worse than need be"
        assert (matrix.argmax(axis=1) == np.arange(n)).all(), "a word's likeliest output should be the word itself"
        for row, away in zip(matrix, distances, strict=True):
            order = np.argsort(away)
            assert (np.diff(row[order]) <= 1e-12).all(), "a word further away is likelier than one that is nearer"


def survives_large_scores(mechanism, *, seed: int) -> None:
    """Large distances do not underflow to zero or overflow to nan."""
    for distances, epsilon in _points(seed, 8):
        n = len(distances)
        matrix = array(mechanism(100 * distances, 3 * epsilon), (n, n), "mechanism(100 distances, 3 epsilon)")
        close(matrix.sum(axis=1), np.ones(n), "with large distances a row does not sum to 1")
    zero = array(mechanism(distances, 0.0), (n, n), "mechanism(distances, 0)")
    close(zero, np.full((n, n), 1 / n), "at epsilon 0 all rows must be alike, and uniform here")


def exposure_is_right(exposure, *, seed: int) -> None:
    """Check the success of the best guess against all deterministic rules of a small world."""
    generator = np.random.default_rng([seed, 9])
    for n in (2, 3, 4):
        prior, matrix = generator.dirichlet(np.ones(n)), random_channel(generator, n, 3)
        rules = map(list, product(range(n), repeat=3))
        best = max((prior[rule] * matrix[rule, range(3)]).sum() for rule in rules)
        said = "the best of all rules from outputs to words is right another share of the time"
        close(number(exposure(prior, matrix), "exposure(prior, matrix)"), best, said)


def exposure_rises(exposure, mechanism, *, seed: int) -> None:
    """The mechanism and its attack together: more epsilon, more exposure, from the prior alone to nearly all."""
    for distances, _ in _points(seed, 10):
        n = len(distances)
        prior = np.full(n, 1 / n)
        channels = [np.asarray(mechanism(distances, epsilon)) for epsilon in (0.0, 1.0, 4.0, 16.0)]
        values = [number(exposure(prior, matrix), "exposure(prior, matrix)") for matrix in channels]
        close(values[0], 1 / n, "at epsilon 0 only chance is left")
        assert (np.diff(values) >= -1e-12).all(), "with a larger epsilon the attack must not do worse"
        assert values[-1] > 1.5 / n, "at epsilon 16 words should be guessed far above chance"
