"""Checks on attacks: Bayes' rule, the posterior of a Markov source, and an attack that beats the published one."""

from itertools import product
from typing import NamedTuple

import numpy as np

from textsan_book.course.checks.saying import array, chosen, close, number, random_channel, returned


def _worlds(seed: int, stream: int, count: int = 4):
    generator = np.random.default_rng([seed, stream])
    for _ in range(count):
        n, m = int(generator.integers(2, 5)), int(generator.integers(2, 5))
        yield generator.dirichlet(np.ones(n)), random_channel(generator, n, m), generator


def _success(prior, matrix, rule) -> float:
    return float(sum(prior[x] * matrix[x, y] for y, x in enumerate(rule)))


# Bayes' rule without context


def rule_is_optimal(rule, *, seed: int) -> None:
    """No deterministic rule does better than the returned one."""
    for prior, matrix, _ in _worlds(seed, 1):
        n, m = matrix.shape
        answers = chosen(rule(prior, matrix), range(n), "rule(prior, matrix)")
        assert len(answers) == m, f"a rule says one word for each of the {m} outputs; yours has {len(answers)}"
        best = max(_success(prior, matrix, candidate) for candidate in product(range(n), repeat=m))
        own = _success(prior, matrix, answers)
        close(own, best, "another rule guesses right more often: weigh with the prior")


def rule_knows_extremes(rule, *, seed: int) -> None:
    """A prior that is sure wins over any channel; a channel that tells all wins over any prior."""
    for prior, matrix, generator in _worlds(seed, 2):
        n = len(prior)
        sure = np.zeros(n)
        sure[generator.integers(n)] = 1
        answers = chosen(rule(sure, matrix), range(n), "rule(prior, matrix)")
        assert set(answers) == {int(sure.argmax())}, "the prior is sure of a word, and the rule says another one"
        shuffled = np.eye(n)[generator.permutation(n)]
        answers = chosen(rule(prior, shuffled), range(n), "rule(prior, matrix)")
        assert answers == shuffled.argmax(axis=0).tolist(), (
            "the channel tells everything, and the rule does not listen"
        )


def loss_is_right(loss, *, seed: int) -> None:
    """Check the loss by a wrong prior against the two rules written out."""
    for prior, matrix, generator in _worlds(seed, 3, 6):
        believed = generator.dirichlet(np.ones(len(prior)))

        best, fooled = ((weights[:, None] * matrix).argmax(axis=0) for weights in (prior, believed))
        wanted = _success(prior, matrix, best) - _success(prior, matrix, fooled)
        value = number(loss(prior, believed, matrix), "loss(prior, believed, matrix)")
        close(value, wanted, "guess by the believed prior, but score by the true one")


def loss_has_its_limits(loss, *, seed: int) -> None:
    """No loss where the prior is believed rightly; never a gain from believing wrongly."""
    for prior, matrix, generator in _worlds(seed, 4, 6):
        close(number(loss(prior, prior, matrix), "loss"), 0, "who believes the truth loses nothing")
        believed = generator.dirichlet(np.full(len(prior), 0.3))
        value = number(loss(prior, believed, matrix), "loss")
        assert value >= -1e-12, "a wrong prior cannot help: you scored with the believed prior"


def coverage_is_right(coverage, *, seed: int) -> None:
    """Check the share of truths among the k likeliest words against a count over everything."""
    for prior, matrix, _ in _worlds(seed, 5):
        n, joint = len(prior), prior[:, None] * matrix
        for k in range(1, n + 1):
            wanted = sum(sorted(column)[-place] for column in joint.T for place in range(1, k + 1))
            value = number(coverage(prior, matrix, k), f"coverage(prior, matrix, {k})")
            close(value, wanted, f"the {k} likeliest words of each output together hold another share")


def coverage_has_its_ends(coverage, *, seed: int) -> None:
    """One guess is the best rule; as many as there are words never miss."""
    for prior, matrix, _ in _worlds(seed, 6):
        value = number(coverage(prior, matrix, 1), "coverage(prior, matrix, 1)")
        close(value, (prior[:, None] * matrix).max(axis=0).sum(), "with one guess it is the success of the rule")
        value = number(coverage(prior, matrix, len(prior)), f"coverage(prior, matrix, {len(prior)})")
        close(value, 1, "with as many guesses as words the truth is always among them")


# The posterior of a Markov source


def _chain(seed: int, stream: int, length: int):
    generator = np.random.default_rng([seed, stream])
    n = int(generator.integers(2, 4))
    initial, transition = generator.dirichlet(np.ones(n)), generator.dirichlet(np.full(n, 0.6), size=n)
    matrix = random_channel(generator, n, n)
    return initial, transition, matrix, generator.integers(n, size=length).tolist()


def joint(initial, transition, matrix, released) -> np.ndarray:
    """Compute the probability of each text together with a release, an axis a place."""
    weights = initial * matrix[:, released[0]]
    for y in released[1:]:
        weights = weights[..., None] * transition * matrix[:, y]
    return weights


def marginals(weights: np.ndarray) -> np.ndarray:
    """Compute the posterior of the word at each place by sums over all texts."""
    places = range(weights.ndim)
    sums = [weights.sum(axis=tuple(other for other in places if other != place)) for place in places]
    return np.array(sums) / weights.sum()


def posterior_is_exact(posterior, *, seed: int) -> None:
    """Pr(word at t | the whole release), against a sum over all texts."""
    for stream in (11, 12, 13):
        world = _chain(seed, stream, 5)
        answer = array(posterior(*world), (5, len(world[0])), "posterior(initial, transition, matrix, released)")
        close(answer.sum(axis=1), np.ones(5), "at some position the probabilities do not sum to 1")
        said = "the posterior differs from a sum over all texts: does it use what comes after a position, too?"
        close(answer, marginals(joint(*world)), said)


def posterior_survives_length(posterior, *, seed: int) -> None:
    """A text of 2000 words underflows unless each step is normalised."""
    world = _chain(seed, 14, 2000)
    answer = array(posterior(*world), (2000, len(world[0])), "posterior of 2000 words")
    said = "a long text underflows: normalise each step, or work with logarithms"
    close(answer.sum(axis=1), np.ones(2000), said)


def posterior_without_memory(posterior, *, seed: int) -> None:
    """A source without memory leaves Bayes' rule at each position."""
    initial, _, matrix, released = _chain(seed, 15, 6)
    transition = np.tile(initial, (len(initial), 1))
    wanted = np.array([initial * matrix[:, y] for y in released])
    wanted /= wanted.sum(axis=1, keepdims=True)
    answer = array(posterior(initial, transition, matrix, released), wanted.shape, "posterior")
    close(answer, wanted, "words that do not depend on each other: each position is Bayes' rule on its own")


def path_is_likeliest(path, *, seed: int) -> None:
    """The single likeliest text, against all texts."""
    for stream in (16, 17, 18):
        world = _chain(seed, stream, 6)
        weights = joint(*world)
        answer = tuple(chosen(path(*world), range(len(world[0])), "path(initial, transition, matrix, released)"))
        assert len(answer) == 6, f"a text of 6 words is wanted, yours has {len(answer)}"
        said = "another text is likelier: maximise over the word before, then go back"
        close(weights[answer], weights.max(), said)


def path_survives_length(path, *, seed: int) -> None:
    """A text of 1000 words that hardly changes is read as it is, and does not underflow."""
    steady = np.eye(3) + 0.01
    steady /= steady.sum(axis=1, keepdims=True)
    first, second = (int(state) for state in np.random.default_rng([seed, 19]).permutation(3)[:2])
    released = [first] * 500 + [second] * 500
    answer = chosen(path(np.full(3, 1 / 3), steady, steady, released), range(3), "path of 1000 words")
    assert answer == released, "a long text that hardly changes is read wrongly: work with logarithms"


# An attack that beats the published one


class Problem(NamedTuple):
    """A sanitized corpus: what an attacker has, sentences of word numbers, and the truth, for scores alone."""

    released: list[list[int]]
    matrix: np.ndarray
    shadow: list[list[int]]
    truth: list[list[int]]


def problem(*, size: int, seed: int) -> Problem:
    """Draw a corpus of so many sentences from a Markov chain over 30 words, sanitized with SanText.

    The attacker has three times as many.
    """
    generator = np.random.default_rng([seed, 21])
    n, length, scale = 30, 12, 1.6
    points = generator.normal(size=(n, 2))
    frequency = generator.dirichlet(np.full(n, 0.7))
    weights = (40 * frequency * generator.gamma(0.3, size=n) + 1e-3 for _ in range(n))
    transition = np.stack([generator.dirichlet(row) for row in weights])
    docs = [_walk(generator, frequency, transition, length) for _ in range(4 * size)]
    distances = np.linalg.norm(points[:, None] - points, axis=2)
    matrix = np.exp(-scale * distances)
    matrix /= matrix.sum(axis=1, keepdims=True)
    cdf = matrix.cumsum(axis=1)
    released = [
        [min(int(np.searchsorted(cdf[x], generator.random())), len(cdf) - 1) for x in doc] for doc in docs[:size]
    ]
    return Problem(released, matrix, docs[size:], docs[:size])


def _walk(generator, frequency, transition, length: int) -> list[int]:
    doc = [int(generator.choice(len(frequency), p=frequency))]
    while len(doc) < length:
        doc.append(int(generator.choice(len(frequency), p=transition[doc[-1]])))
    return doc


def hits(attack, given: Problem) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Compute hits of the attack and of the published one, and the sentence of each, over all positions.

    The published attack is embedding inversion: it guesses the word whose vector is nearest to the released one's.
    """
    guesses = attack([list(doc) for doc in given.released], given.matrix, [list(doc) for doc in given.shadow])
    returned(guesses, "the attack")
    assert len(guesses) == len(given.released), "one sentence of guesses is wanted for each released one"
    answers = [chosen(guess, range(len(given.matrix)), "a guess") for guess in guesses]
    lengths = [len(true) for true in given.truth]
    fits = lengths == [len(answer) for answer in answers]
    assert fits, "a sentence of guesses must be as long as the released one"
    own, seen, true = map(np.concatenate, (answers, given.released, given.truth))
    published = given.matrix.argmax(axis=0)[seen]
    return own == true, published == true, np.repeat(np.arange(len(lengths)), lengths)


def guesses_have_the_form(attack, *, seed: int) -> None:
    """One guess for each released word."""
    hits(attack, problem(size=10, seed=seed))


def beats_the_published(attack, *, size: int, seed: int) -> None:
    """Above embedding inversion on the same words, the whole interval of the difference."""
    from textsan.evaluation import clustered_difference

    own, published, sentence = hits(attack, problem(size=size, seed=seed))
    gain = clustered_difference(own.astype(float) - published, sentence)
    assert gain.low > 0, f"paired with embedding inversion it gains {gain}: the interval must lie above 0"


def beats_counting(attack, *, size: int, seed: int) -> None:
    """Above Bayes' rule with the shadow text's word counts: what neighbours say is used."""
    from textsan.evaluation import clustered_difference

    given = problem(size=size, seed=seed + 1)
    own, _, sentence = hits(attack, given)
    counts = np.bincount(np.concatenate(given.shadow), minlength=len(given.matrix)) + 0.5
    rule = (counts[:, None] * given.matrix).argmax(axis=0)
    counted = rule[np.concatenate(given.released)] == np.concatenate(given.truth)
    gain = clustered_difference(own.astype(float) - counted, sentence)
    assert gain.low > 0, f"paired with counting words it gains {gain}: use the words before and after, too"


def comes_near_the_ideal(attack, *, size: int, seed: int) -> None:
    """A source whose words nearly determine the next: nearly as often right as who knows the source."""
    generator = np.random.default_rng([seed, 22])
    n, length = 6, 10
    transition = 0.9 * np.eye(n)[generator.permutation(n)] + 0.1 / n
    docs = [_walk(generator, np.full(n, 1 / n), transition, length) for _ in range(4 * size)]
    matrix = 0.45 * np.eye(n) + 0.55 / n
    released = [[int(generator.choice(n, p=matrix[x])) for x in doc] for doc in docs[:size]]
    given = Problem(released, matrix, docs[size:], docs[:size])
    ideal = np.mean(_knowing(given, transition))
    own = hits(attack, given)[0].mean()
    assert own >= ideal - 0.02, (
        f"where a word nearly determines the next one you are right in {own:.3f}, and who knows the source in "
        f"{ideal:.3f}: carry what you know forwards and backwards through the whole sentence"
    )


def _knowing(given: Problem, transition: np.ndarray) -> list[bool]:
    """Hits of the package's attack on a Markov source, that source given, at each position."""
    from textsan.attacks import MarkovBayes
    from textsan.channel import Channel
    from textsan.priors import MarkovModel

    n = len(transition)
    words = [f"w{number_}" for number_ in range(n)]
    source = MarkovModel.from_arrays(words, np.full(n, 1 / n), transition)
    attack = MarkovBayes(Channel.from_matrix(given.matrix, words, words), source)
    positions = [(d, i) for d, doc in enumerate(given.truth) for i in range(len(doc))]
    guesses = attack.reconstruct([[words[y] for y in doc] for doc in given.released], positions)
    return [guess == words[given.truth[d][i]] for guess, (d, i) in zip(guesses, positions, strict=True)]
