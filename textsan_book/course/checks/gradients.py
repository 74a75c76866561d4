"""Checks on gradients: what the gradient of one linear layer says about its inputs."""

import numpy as np

from textsan_book.course.checks.saying import array, close, number


def _batch(seed: int, stream: int, *, inputs: int, outputs: int = 8):
    """(gradient of the weights, gradient of the bias, inputs): the layer W x + b, inputs as rows."""
    generator = np.random.default_rng([seed, stream])
    x, errors = generator.normal(size=(inputs, 10)), generator.normal(size=(inputs, outputs))
    return errors.T @ x, errors.sum(axis=0), x, generator


def single_input_is_read(only_input, *, seed: int) -> None:
    """One input is exactly a row of the weights' gradient over that of the bias."""
    for stream in (1, 2):
        weights, bias, x, _ = _batch(seed, stream, inputs=1)
        answer = array(only_input(weights, bias), (10,), "only_input(weights, bias)")
        said = "row i of the weights' gradient is error i times the input, and entry i of the bias' is error i"
        close(answer, x[0], said)


def silent_rows_are_skipped(only_input, *, seed: int) -> None:
    """Outputs without an error say nothing; the others still do."""
    generator = np.random.default_rng([seed, 3])
    x, errors = generator.normal(size=10), np.zeros(8)
    errors[int(generator.integers(1, 8))] = 1e-3
    answer = array(only_input(np.outer(errors, x), errors), (10,), "only_input(weights, bias)")
    close(answer, x, "only one output has an error here: divide where it is largest, not in a fixed row")


def rank_counts_inputs(how_many, *, seed: int) -> None:
    """Check that the rank is the number of different inputs, while they are fewer than the layer is wide."""
    for inputs in (1, 3, 5):
        weights, _, _, _ = _batch(seed, 4 + inputs, inputs=inputs)
        answer = number(how_many(weights), "how_many(weights)")
        assert answer == inputs, (
            f"{inputs} inputs were in the batch, you say {answer:g}: count singular values above noise"
        )


def rank_has_no_scale(how_many, *, seed: int) -> None:
    """A learning rate changes no rank, and a gradient of zeros has none."""
    for inputs, rate in ((2, 1e-6), (4, 1e6)):
        weights, _, _, _ = _batch(seed, 20 + inputs, inputs=inputs)
        answer = number(how_many(weights * rate), "how_many(weights)")
        assert answer == inputs, (
            "a small learning rate makes every singular value small: compare with the largest one"
        )
    assert number(how_many(np.zeros((8, 10))), "how_many") == 0, "a gradient of zeros has no input in it"


def true_words_are_in(in_span, *, seed: int) -> None:
    """Every vector that was in the batch passes: the check has no misses."""
    for inputs in (1, 3, 5):
        weights, _, x, _ = _batch(seed, 10 + inputs, inputs=inputs)
        answer = array(in_span(weights, x), (inputs,), "in_span(gradient, vectors)").astype(bool)
        assert answer.all(), "a vector that was in the batch is said not to be in the span of the gradient's rows"
        answer = array(in_span(weights * 1e-5, 100 * x), (inputs,), "in_span").astype(bool)
        assert answer.all(), (
            "small gradients or long vectors must not matter: compare lengths, not absolute errors"
        )


def others_are_out(in_span, *, seed: int) -> None:
    """Vectors that were not in the batch do not pass while it is smaller than the layer is wide."""
    for inputs in (1, 3, 5):
        weights, _, x, generator = _batch(seed, 20 + inputs, inputs=inputs)
        vocabulary = np.vstack([x, generator.normal(size=(40, 10)), x + 0.05 * generator.normal(size=x.shape)])
        answer = array(in_span(weights, vocabulary), (len(vocabulary),), "in_span(gradient, vectors)").astype(bool)
        assert not answer[inputs:].any(), (
            "a word that was not in the batch passes: measure what lies outside of the span"
        )
        assert answer[:inputs].all(), "a word that was in the batch does not pass"


def full_rank_tells_nothing(in_span, *, seed: int) -> None:
    """A batch as large as the layer is wide: everything passes, so passing means nothing."""
    weights, _, _, generator = _batch(seed, 30, inputs=30, outputs=20)
    answer = array(in_span(weights, generator.normal(size=(10, 10))), (10,), "in_span").astype(bool)
    assert answer.all(), "the gradient has full rank: its rows span everything, and the check must say so"
