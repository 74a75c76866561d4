"""Checks on utility: what a label keeps through a channel, and which settings nothing else beats."""

from itertools import product

import numpy as np

from textsan_book.course.checks.saying import chosen, close, number, random_channel


def _worlds(seed: int, stream: int):
    generator = np.random.default_rng([seed, stream])
    for _ in range(4):
        n, labels, m = (int(integer) for integer in generator.integers(2, 5, size=3))
        yield generator.dirichlet(np.ones(n * labels)).reshape(n, labels), random_channel(generator, n, m)


def accuracy_is_best(accuracy, *, seed: int) -> None:
    """The accuracy of the best rule from released word to label, against all rules."""
    for joint, matrix in _worlds(seed, 1):
        m, labels = matrix.shape[1], joint.shape[1]
        rules = map(list, product(range(labels), repeat=m))
        best = max((joint[:, rule] * matrix).sum() for rule in rules)
        value = number(accuracy(joint, matrix), "accuracy(joint, matrix)")
        close(value, best, "another rule from the released word to a label is right another share of the time")


def accuracy_has_its_ends(accuracy, *, seed: int) -> None:
    """A channel that tells nothing leaves the commonest label; one that tells all leaves what the word says."""
    for joint, matrix in _worlds(seed, 2):
        n = len(joint)
        blind = number(accuracy(joint, np.full((n, 3), 1 / 3)), "accuracy")
        close(blind, joint.sum(axis=0).max(), "if the text says nothing, the commonest label is all there is")
        clear = number(accuracy(joint, np.eye(n)), "accuracy")
        close(clear, joint.max(axis=1).sum(), "if the text is untouched, each word takes its likeliest label")
        between = number(accuracy(joint, matrix), "accuracy")
        assert blind - 1e-12 <= between <= clear + 1e-12, (
            "no channel helps, and none does worse than no text at all"
        )


def _points(seed: int, stream: int):
    generator = np.random.default_rng([seed, stream])
    for n in (1, 6, 15):
        yield np.round(generator.random((n, 2)) * 6) / 6


def frontier_is_right(frontier, *, seed: int) -> None:
    """The settings that no other one dominates, ties among them."""
    for points in _points(seed, 3):
        settings = [(float(exposed), float(useful)) for exposed, useful in points]
        answer = set(chosen(frontier(settings), range(len(settings)), "frontier(settings)"))
        for number_, (exposed, useful) in enumerate(settings):
            beaten = any(e <= exposed and u >= useful and (e < exposed or u > useful) for e, u in settings)
            if beaten:
                assert number_ not in answer, (
                    f"setting {number_} is beaten: another is no worse in both, and better in one"
                )
            else:
                assert number_ in answer, f"nothing beats setting {number_}: equal ones do not beat each other"


def frontier_of_a_line(frontier, *, seed: int) -> None:
    """Nothing is dominated where more utility always costs more exposure; one that costs and gives nothing is."""
    line = [(step / 10, step / 5) for step in range(5)]
    assert sorted(frontier(line)) == list(range(5)), (
        "each of these is worth more and gives away more: all of them stay"
    )
    assert sorted(frontier([*line, (0.9, 0.1)])) == list(range(5)), (
        "the last one gives away more and is worth less"
    )


def choice_is_right(best_within, *, seed: int) -> None:
    """The most useful setting whose whole exposure interval is within a limit."""
    generator = np.random.default_rng([seed, 5])
    for _ in range(12):
        exposed, useful = generator.random(8), generator.random(8)
        width = generator.random(8) / 4
        settings = [(float(e - w), float(e + w), float(u)) for e, w, u in zip(exposed, width, useful, strict=True)]
        limit = float(generator.uniform(0.2, 0.9))
        allowed = [number_ for number_, (_, high, _) in enumerate(settings) if high <= limit]
        wanted = max(allowed, key=lambda one: settings[one][2]) if allowed else None  # noqa: B023
        answer = best_within(settings, limit)
        assert answer == wanted, (
            "hold the interval's upper end against the limit, then take the most useful; None if none is allowed"
        )


def choice_has_its_edges(best_within, *, seed: int) -> None:
    """An interval that ends at the limit is within it; where none is, there is no choice."""
    ends = np.sort(np.random.default_rng([seed, 6]).uniform(0.2, 0.9, 4))
    settings = [(float(high) / 2, float(high), float(high)) for high in ends]
    for number_, high in enumerate(ends):
        said = "an interval whose upper end is the limit is within it"
        assert best_within(settings, float(high)) == number_, said
    assert best_within(settings, float(ends[0]) - 1e-6) is None, "no interval is within this limit: None is wanted"
    assert best_within([], 0.5) is None, "without settings there is no choice: None is wanted"
