"""Checks on what a chapter's notebook has computed, each by another route from the same corpus and seed.

Every check takes values of the notebook and the parameters of its run by name. It draws the same sentences and
computes the channel, the counts and the success again with NumPy alone.
"""

from functools import cache

import numpy as np

from textsan_book.course.checks.attacks import joint, marginals
from textsan_book.course.checks.saying import array, close, number, returned


def _had(value, name: str):
    assert value is not None and value is not Ellipsis, f"there is no `{name}` yet: write its cell and run it"
    return value


@cache
def _split(dataset: str, seed: int, vocabulary: int, n_private: int, n_shadow: int):
    """The sentences, the public words in the order of the shadow counts, their vectors, and counts of words."""
    import textsan

    split = textsan.load_split(dataset, n_private, n_shadow, seed=seed, vocabulary=vocabulary)
    words = np.array(split.embeddings.words)
    order = np.argsort(-_counts(split.shadow, words), kind="stable")
    counts = [_counts(docs, words[order]) for docs in (split.private, split.shadow, split.population)]
    return split.embeddings.vectors[order].astype(np.float64), *counts


def _counts(docs, words) -> np.ndarray:
    places, counts = {word: place for place, word in enumerate(words)}, np.zeros(len(words))
    np.add.at(counts, [places[word] for doc in docs for word in doc if word in places], 1)
    return counts


def _channel(vectors, to, epsilon: float, largest=1.0) -> np.ndarray:
    """SanText's channel between vectors; CusText's with the largest distance of a group."""
    squares = (vectors**2).sum(axis=1)[:, None] + (to**2).sum(axis=1) - 2 * vectors @ to.T
    distance = np.sqrt(np.where(squares > 1e-9, squares, 0))
    weights = np.exp(-epsilon / 2 * distance / (largest or distance.max() or 1))
    return weights / weights.sum(axis=1, keepdims=True)


def _custext(vectors, epsilon: float) -> np.ndarray:
    return _channel(vectors, vectors, epsilon, None)


def _groups(vectors, size: int) -> list[np.ndarray]:
    left, groups = np.arange(len(vectors)), []
    while len(left):
        near = np.argsort(np.linalg.norm(vectors[left] - vectors[left[0]], axis=1), kind="stable")[:size]
        groups.append(left[near])
        left = np.delete(left, near)
    return groups


# Chapter 3


def groups_are_nearest(partition, *, dataset, seed, vocabulary, n_private, n_shadow) -> None:
    """Groups of the corpus's most frequent words, against the algorithm of the paper written with arrays."""
    vectors, *_ = _split(dataset, seed, vocabulary, n_private, n_shadow)
    for words, size in ((40, 7), (41, 4), (12, 12)):
        answer = partition(np.linalg.norm(vectors[:words, None] - vectors[None, :words], axis=2), size)
        wanted = [sorted(map(int, group)) for group in _groups(vectors[:words], size)]
        found = [sorted(map(int, group)) for group in returned(answer, "partition(distances, size)")]
        assert sum(map(len, found)) == words, "every word belongs to one group, the last ones too"
        assert found == wanted, "take the first word that is left and those nearest to it among those left"


def success_by_what_is_seen(
    blind, group, best, *, dataset, seed, vocabulary, n_private, n_shadow, k, epsilons
) -> None:
    """The best guess of a word by nothing, by its group and by its release, with the counts of the text."""
    vectors, private, *_ = _split(dataset, seed, vocabulary, n_private, n_shadow)
    prior, groups = private / private.sum(), _groups(vectors, k)
    close(number(blind, "blind"), prior.max(), "a blind guess is the text's most frequent word")
    wanted = sum(prior[one].max() for one in groups)
    close(number(group, "group"), wanted, "whoever sees the group guesses its most frequent word")
    assert len(best) == len(epsilons), "one success for each epsilon is wanted"
    for epsilon, value in zip(epsilons, best, strict=True):
        joint = (prior[one][:, None] * _custext(vectors[one], epsilon) for one in groups)
        wanted = sum(table.max(axis=0).sum() for table in joint)
        close(number(value, "best"), wanted, f"at epsilon {epsilon:g} the best guess has another success")


# Chapter 5


def _bounds(vectors, pairs, epsilon: float) -> list[float]:
    """By (prior, counts) the success under the prior of the rule that is optimal for the counts, under SanText."""
    high, rule = np.zeros((len(pairs), len(vectors))), np.zeros((len(pairs), len(vectors)), dtype=int)
    kept = np.zeros_like(high)
    for start in range(0, len(vectors), 500):
        channel = _channel(vectors[start : start + 500], vectors, epsilon)
        for one, (prior, guessing) in enumerate(pairs):
            joint = guessing[start : start + 500, None] * channel
            top = joint.argmax(axis=0)
            value = joint[top, np.arange(len(vectors))]
            better = value > high[one]
            high[one, better], rule[one, better] = value[better], start + top[better]
            kept[one, better] = (prior[start + top] * channel[top, np.arange(len(vectors))])[better]
    return kept.sum(axis=1).tolist()


def bound_needs_no_release(
    exact, counted, margin, *, dataset, seed, vocabulary, n_private, n_shadow, epsilon, repetitions
) -> None:
    """The closed form of the bound, and counts on sanitized text that scatter around it."""
    vectors, counts, *_ = _split(dataset, seed, vocabulary, n_private, n_shadow)
    (wanted,) = _bounds(vectors, [(counts / counts.sum(), counts)], epsilon)
    close(number(exact, "exact"), wanted, "the bound is the sum of column maxima", within=1e-6)
    shares = array(counted, (repetitions,), "`counted`")
    error = np.sqrt(wanted * (1 - wanted) / counts.sum() / repetitions)
    assert abs(shares.mean() - wanted) < 6 * error, "the counts are not those of the optimal rule"
    wanted = 1.96 * shares.std(ddof=1) / np.sqrt(repetitions)
    close(number(margin, "margin"), wanted, "1.96 standard errors of the mean are wanted")


def rows_have_their_bounds(rows, *, dataset, seed, vocabulary, n_private, n_shadow, epsilons) -> None:
    """Two bounds and the success of the attack at each epsilon."""
    vectors, own, shadow, others = _split(dataset, seed, vocabulary, n_private, n_shadow)
    own, others = own / own.sum(), others / others.sum()
    assert len(rows) == len(epsilons), "a row for each epsilon is wanted"
    names = "in-sample bound", "population bound", "attack"
    pairs = (own, own), (others, others), (own, shadow + 1)
    for place in sorted({0, len(rows) // 2, len(rows) - 1}):
        for name, wanted in zip(names, _bounds(vectors, pairs, epsilons[place]), strict=True):
            value, said = rows[place].get(name), f"{name} at epsilon {epsilons[place]:g} is another"
            close(number(_had(value, f"rows[{place}][{name!r}]"), name), wanted, said, within=1e-6)


# Chapter 6


def reading_is_enumerated(forward_backward, *, dataset, seed) -> None:
    """The posterior of each word under the corpus's own word pairs, against a sum over all sentences."""
    import textsan

    docs = [record.tokens for record in textsan.load_dataset(dataset)]
    place = {word: at for at, (word, _) in enumerate(textsan.count_words(docs).most_common(4))}
    pairs = np.ones((4, 4))
    for doc in docs:
        for before, after in zip(doc, doc[1:], strict=False):
            if before in place and after in place:
                pairs[place[before], place[after]] += 1
    initial, transition = pairs.sum(axis=1) / pairs.sum(), pairs / pairs.sum(axis=1, keepdims=True)
    rng = np.random.default_rng(seed)
    for _ in range(3):
        channel, seen = rng.dirichlet(np.full(4, 0.5), size=4), rng.integers(4, size=5).tolist()
        wanted = marginals(joint(initial, transition, channel, seen))
        found = array(forward_backward(initial, transition, channel, tuple(seen)), (5, 4), "forward_backward")
        close(found, wanted, "the posterior differs from a sum over all sentences: go forwards and backwards")


def ladder_is_enumerated(rungs, initial, A, *, words, position, santext_epsilons) -> None:
    """Success of four attackers in the small world, summed over all sentences of three words and all releases."""
    import textsan

    vectors = textsan.load_embeddings().restrict(words).vectors.astype(np.float64)
    source = initial[:, None, None] * A[:, :, None] * A[None]
    others = [place for place in range(3) if place != position]
    assert len(rungs) == len(santext_epsilons), "one row for each of `santext_epsilons` is wanted"
    for epsilon, row in zip(santext_epsilons, rungs, strict=True):
        channel = _channel(vectors, vectors, epsilon)
        whole = np.einsum("abc,ax,by,cz->abcxyz", source, channel, channel, channel)
        own = whole.sum(axis=tuple(others))  # of the word, then of the three released ones
        single = own.sum(axis=tuple(1 + place for place in others))
        wanted = [table.max(axis=0).sum() for table in (single.sum(axis=1), single, own)]
        wanted.append(whole.sum(axis=tuple(3 + place for place in others)).max(axis=position).sum())
        said = f"at epsilon {epsilon:g}: no word, its release, the whole release, true neighbours"
        close(array(row, (4,), "a row of `rungs`"), wanted, said, within=1e-6)


# Chapter 8


def guesses_are_written_out(answers, *, dataset, seed, vocabulary, n_private, n_shadow, epsilon) -> None:
    """Check the released word of each attacked position, and the word that counts and channel favour."""
    from textsan.sweeps import problems

    sizes, given = (dataset, n_private, n_shadow, None, seed), {"epsilon": epsilon, "vocabulary": vocabulary}
    problem = problems.prepare(*sizes, "custext+", **given, k=20)
    seen = [problem.released[document][place] for document, place in problem.positions]
    released, guesses = (answers.get(name) for name in ("released", "word counts"))
    assert list(_had(released, "answers['released']")) == seen, "these are not the words that were released"
    assert len(_had(guesses, "answers['word counts']")) == len(seen), (
        "a guess for each attacked position is wanted"
    )
    mechanism, split, protected, best = problem.mechanism, problem.split, problem.mechanism.protected, {}
    counts = dict(zip(mechanism.inputs, _counts(split.shadow, mechanism.inputs), strict=True))
    place, vectors = {word: at for at, word in enumerate(split.embeddings.words)}, split.embeddings.vectors
    for group in mechanism.group_words:
        channel = _custext(vectors[[place[word] for word in group]].astype(np.float64), epsilon)
        own = np.array([counts[word] + 1 if word in protected else 0 for word in group])
        best |= dict(zip(group, np.array(group)[(own[:, None] * channel).argmax(axis=0)], strict=True))
    right = np.mean([guess == best[word] for guess, word in zip(guesses, seen, strict=True)])
    assert right > 0.99, f"only {right:.0%} of the guesses are the likeliest word by counts and channel"


def ceilings_are_enumerated(ceilings, clear, *, seed) -> None:
    """Success by what an attacker sees, summed over all sentences of five words and all releases."""
    rng = np.random.default_rng(seed)
    start, rows = rng.dirichlet(np.ones(4)), rng.dirichlet(np.full(4, 0.4), size=4)
    source = np.einsum("a,ab,bc,cd,de->abcde", start, rows, rows, rows, rows)
    close(number(clear, "clear"), source.max(axis=2).sum(), "the four other words are seen")
    distance = np.abs(np.subtract.outer(np.arange(4), np.arange(4)))
    for place, strength in ((0, 0.0), (5, 2.5), (16, 8.0)):
        channel = np.exp(-strength * distance / 2)
        channel /= channel.sum(axis=1, keepdims=True)
        context = np.einsum("abcde,av,bw,dy,ez->cvwyz", source, channel, channel, channel, channel)
        whole = context[:, None] * channel[:, :, None, None, None, None]
        alone = source.sum(axis=(0, 1, 3, 4))[:, None] * channel
        wanted = {"both": whole, "word alone": alone, "context alone": context}
        wanted = {name: table.max(axis=0).sum() for name, table in wanted.items()} | {"answer y": np.trace(alone)}
        for name, value in wanted.items():
            found = array(ceilings.get(name), (17,), f"ceilings[{name!r}]")
            close(found[place], value, f"{name} at strength {strength:g}: another success")


# Chapter 11


def links_are_simulated(rates, *, dataset, seed, vocabulary, candidates, lengths, santext, custext) -> None:
    """The share of documents found, against documents that are drawn, released and looked for."""
    import textsan

    split = textsan.load_split(dataset, 1000, 1000, seed=seed, vocabulary=vocabulary)
    vectors = split.embeddings.vectors.astype(np.float64)
    prior, rng, trials = _counts(split.shadow, split.embeddings.words) + 1, np.random.default_rng(seed), 300
    prior, groups = prior / prior.sum(), np.zeros((len(vectors), len(vectors)))
    for group in _groups(vectors, 20):
        groups[np.ix_(group, group)] = _custext(vectors[group], custext)
    channels = {f"CusText, ε = {custext:g}": groups}
    channels[f"SanText, ε = {santext[-1]:g}"] = _channel(vectors, vectors, santext[-1])
    for name, channel in channels.items():
        found = _had(rates.get(name), f"rates[{name!r}]")
        assert len(found) == len(lengths), f"one rate for each of the {len(lengths)} lengths is wanted"
        with np.errstate(divide="ignore"):
            logs, sums = np.log(channel), channel.cumsum(axis=1)
        for length, rate in zip(lengths, found, strict=True):
            hits = np.zeros(trials)
            for trial in range(trials):
                documents = rng.choice(len(prior), (candidates, length), p=prior)
                released = (sums[documents[0]] < rng.random(length)[:, None] * (1 - 1e-9)).sum(axis=1)
                scores = logs[documents, released].sum(axis=1)
                best = scores >= scores.max() - 1e-9
                hits[trial] = best[0] / best.sum()
            error = 4.5 * hits.std() / np.sqrt(trials) + rate.high - rate.low + 0.01
            said = f"{hits.mean():.2f} of simulated documents are found, not {rate.value:.2f}"
            assert abs(rate.value - hits.mean()) < error, f"{name}, {length} words: {said}"


def limit_is_reached(largest, *, seed, candidates) -> None:
    """The largest epsilon for a success: the limit is reached there, and there is none below chance."""
    from textsan.leakage import linkage_limit

    for length, success in zip((1, 4, 30), np.random.default_rng(seed).uniform(0.2, 0.6, 3), strict=True):
        value = number(largest(float(success), length), f"largest({success:.2f}, {length})")
        reached = linkage_limit(value, length, candidates).value
        close(reached, success, "at this epsilon the limit is another success", within=1e-6)
    blind = float(returned(largest(0.5 / candidates, 5), "largest(0.5 / candidates, 5)"))
    assert np.isnan(blind), "no epsilon keeps success below that of a blind guess: nan is wanted there"
