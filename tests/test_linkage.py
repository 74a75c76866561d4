"""Linkage: the exact rate against enumerated worlds, the matcher against plain loops."""

import itertools
import logging
import math

import numpy as np
import pytest
import scipy
from helpers import refused
from test_composition import response

from textsan import Embeddings
from textsan.attacks import Linkage, Ranks, linkage as matcher
from textsan.channel import Channel
from textsan.leakage import (
    linkage as rates,
    linkage_limit,
    linkage_success,
    mutual_information,
    sharp_information,
)
from textsan.mechanisms import ChannelMechanism, CusText, SanText, SanTextPlus
from textsan.priors import Prior
from textsan.privacy import composed_success, tight_epsilon


def table(seed, inputs=3, outputs=3):
    rng = np.random.default_rng(seed)
    return rng.dirichlet(np.ones(inputs)), rng.dirichlet(np.full(outputs, 0.6), size=inputs)


def channel_of(rows):
    return Channel.from_matrix(rows, map(str, range(len(rows))), map(str, range(rows.shape[1])))


def product_of(rows, k):
    """The channel of k releases of one word."""
    every = itertools.product(range(rows.shape[1]), repeat=k)
    return np.stack([rows[:, list(y)].prod(axis=1) for y in every], axis=1)


def enumerated(p, rows, length, n):
    """Every original, every release, every list of rivals; a tie is broken evenly."""
    documents = list(itertools.product(range(len(p)), repeat=length))
    weight = {d: math.prod(p[x] for x in d) for d in documents}
    total = 0.0
    for release in itertools.product(range(rows.shape[1]), repeat=length):
        likelihood = {d: math.prod(rows[x, y] for x, y in zip(d, release, strict=True)) for d in documents}
        for rivals in itertools.product(documents, repeat=n - 1):
            chance = math.prod(weight[d] for d in rivals)
            best = max((likelihood[d] for d in rivals), default=0.0)
            for own in documents:
                if likelihood[own] > best * (1 + 1e-9):
                    total += weight[own] * likelihood[own] * chance
                elif likelihood[own] > best * (1 - 1e-9):
                    equal = sum(abs(likelihood[d] - best) <= 1e-9 * best for d in rivals)
                    total += weight[own] * likelihood[own] * chance / (1 + equal)
    return total


TIES = np.array([[0.5, 0.5, 0.0], [0.5, 0.5, 0.0], [0.0, 0.0, 1.0]])


@pytest.mark.parametrize("n", [1, 2, 3])
@pytest.mark.parametrize("rows", [TIES, response(3, 1.0), *(table(seed)[1] for seed in range(3))])
def test_the_exact_rate_is_that_of_all_worlds(rows, n):
    p = table(7)[0]
    found = linkage_success(p, channel_of(rows), 2, n)
    assert found.value == pytest.approx(enumerated(p, rows, 2, n), abs=1e-12)
    assert found.high - found.low < 1e-12


@pytest.mark.parametrize(("length", "n"), [(30, 1000), (60, 10**9), (200, 10**9)])
def test_a_turned_coin_has_a_closed_form(length, n):
    """Agreements with the original are binomial, those of a rival too."""
    stays = 0.85
    k = np.arange(length + 1)
    own, rival = scipy.stats.binom.pmf(k, length, stays), scipy.stats.binom.pmf(k, length, 0.5)
    above = scipy.stats.binom.sf(k, length, 0.5)
    exact = sum(w * rates._linked(a, t, n) for w, a, t in zip(own, above, rival, strict=True))
    found = linkage_success([0.5, 0.5], channel_of(np.array([[stays, 0.15], [0.15, stays]])), length, n, draws=800)
    assert found.low - 0.01 <= exact <= found.high + 0.01
    assert abs(found.value - exact) < 0.05


@pytest.mark.parametrize("n", [10, 1000, 10**6])
def test_groups_that_hide_a_word_are_told_apart(n):
    """Within a group nothing is told: two documents tie if their groups agree."""
    groups = [0.1, 0.2, 0.3, 0.4]
    rows = np.kron(np.eye(4), np.full((3, 3), 1 / 3))
    p = np.repeat(np.array(groups) / 3, 3)
    exact = sum((1 - (1 - g * h) ** n) / n for g in groups for h in groups)
    found = linkage_success(p, channel_of(rows), 2, n)
    assert found.value == pytest.approx(exact, rel=1e-9)


@pytest.mark.parametrize("rows", [TIES, response(3, 1.0), *(table(seed)[1] for seed in range(3))])
@pytest.mark.parametrize("k", [2, 3])
def test_several_releases_are_one_through_all_their_channels(rows, k):
    p, channel, together = table(7)[0], channel_of(rows), product_of(rows, k)
    for n in (2, 40):
        found = linkage_success(p, channel, 4 - k, n, releases=k)
        assert found.value == pytest.approx(linkage_success(p, channel_of(together), 4 - k, n).value, abs=1e-12)
    assert linkage_success(p, channel, 1, 2, releases=k).value == pytest.approx(enumerated(p, together, 1, 2))


@pytest.mark.parametrize("seed", range(5))
def test_a_further_release_tells_less_than_the_one_before_and_all_tell_the_row(seed):
    p, rows = table(seed, 4)
    rows[1] = rows[0]
    told = [0.0, *(mutual_information(p, channel_of(product_of(rows, k))) for k in range(1, 6))]
    gains, classes = np.diff(told), np.array([p[0] + p[1], *p[2:]])
    assert (np.diff(gains) <= 1e-12).all() and (gains >= -1e-12).all()
    assert told[-1] <= min(5 * told[1], -classes @ np.log(classes)) + 1e-12


def test_several_releases_of_drawn_documents_hold_the_sums_one_by_one(monkeypatch):
    p, rows = table(1, 4, 4)
    exact = linkage_success(p, channel_of(rows), 1, 300, releases=2).value
    monkeypatch.setattr(rates, "_ENUMERATED", 0)
    drawn = linkage_success(p, channel_of(rows), 1, 300, releases=2, draws=2000)
    monkeypatch.setattr(rates, "_SUMS", 0)
    grid = linkage_success(p, channel_of(rows), 1, 300, releases=2, draws=2000)
    assert drawn.low <= exact <= drawn.high and grid.low - 1e-9 <= drawn.low and drawn.high <= grid.high + 1e-9


def far_words(words=300, epsilon=4.0, seed=0):
    rng = np.random.default_rng(seed)
    names = [f"w{i}" for i in range(words)]
    mechanism = SanText(Embeddings(names, rng.normal(size=(words, 3))), epsilon=epsilon)
    return mechanism, rng.dirichlet(np.full(words, 0.5))


def test_the_grid_holds_the_sums_one_by_one(monkeypatch):
    rng = np.random.default_rng(0)
    rows = rng.dirichlet(np.full(6, 0.5), size=6)
    p = rng.dirichlet(np.ones(6))
    exact = linkage_success(p, channel_of(rows), 5, 500, draws=60)
    monkeypatch.setattr(rates, "_SUMS", 0)
    ends = linkage_success(p, channel_of(rows), 5, 500, draws=60)
    assert ends.low - 1e-9 <= exact.low and exact.high <= ends.high + 1e-9
    assert (
        ends.value == pytest.approx(exact.value, abs=0.02) and ends.high - ends.low < exact.high - exact.low + 0.02
    )


@pytest.mark.parametrize(("length", "n"), [(4, 100), (12, 2000)])
def test_the_rate_is_that_of_a_simulation(length, n):
    """Documents of a channel of 2,000 words are drawn, released and linked by the loop that the words describe."""
    mechanism, p = far_words(words=2000, epsilon=3.0, seed=1)
    channel, rng = mechanism.channel, np.random.default_rng(2)
    found = linkage_success(p, channel, length, n, draws=300)
    log, hits = channel.log_rows(np.arange(2000)), []
    for _ in range(400):
        documents = rng.choice(2000, (n, length), p=p)
        release = [np.searchsorted(np.exp(log[x]).cumsum(), rng.random() * (1 - 1e-12)) for x in documents[0]]
        scores = sum(log[documents[:, t], y] for t, y in enumerate(release))
        tied = np.abs(scores - scores[0]) < 1e-9
        hits.append((scores.max() <= scores[0] + 1e-9) / tied.sum())
    error = math.hypot(np.std(hits) / 20, (found.high - found.low) / 4)
    assert 0.02 < found.value < 0.98
    assert abs(np.mean(hits) - found.value) < 4 * error


def test_information_is_the_sum_written_down():
    p, rows = table(5, inputs=4, outputs=6)
    joint = p[:, None] * rows
    direct = (joint * np.log(rows / joint.sum(axis=0))).sum()
    assert mutual_information(p, channel_of(rows)) == pytest.approx(direct, abs=1e-12)
    assert mutual_information(p, channel_of(np.full((4, 2), 0.5))) == pytest.approx(0, abs=1e-12)


def test_no_channel_tells_more_than_the_sharp_limit():
    rng = np.random.default_rng(0)
    for _ in range(300):
        rows = np.exp(rng.uniform(0, rng.uniform(0.1, 3), size=(4, 5)))
        rows /= rows.sum(axis=1, keepdims=True)
        epsilon = tight_epsilon(channel_of(rows))
        assert (
            mutual_information(rng.dirichlet(np.ones(4)), channel_of(rows)) <= sharp_information(epsilon) + 1e-12
        )


@pytest.mark.parametrize("epsilon", [0.01, 1.0, 2.0])
def test_subset_selection_comes_near_it(epsilon):
    """Release a random set of k words that more often than not has the word in it."""
    words, excess = 400, epsilon / -math.expm1(-epsilon) - 1
    k = max(1, round(words * excess / math.expm1(epsilon)))
    inside = k / words
    weight = math.exp(epsilon) * inside + 1 - inside
    told = math.exp(epsilon) * inside / weight * epsilon - math.log(weight)
    assert told <= sharp_information(epsilon) + 1e-12
    assert told == pytest.approx(sharp_information(epsilon), rel=2e-2)
    assert sharp_information(1e-3) == pytest.approx(1e-6 / 8, rel=1e-3) and sharp_information(0.0) == 0.0


@pytest.mark.parametrize("epsilon", [0.1, 0.5, 1.0, 2.0])
@pytest.mark.parametrize("length", [1, 5, 10])
def test_no_matcher_passes_the_guarantee(epsilon, length):
    p, channel = np.full(8, 1 / 8), channel_of(response(8, epsilon))
    for n in (2, 100):
        assert linkage_success(p, channel, length, n).low <= linkage_limit(epsilon, length, n).value + 1e-12


def test_the_limit_is_the_composition_of_words():
    limit = linkage_limit(0.3, 20, 1000)
    assert limit.composed == pytest.approx(composed_success(np.full(1000, 1e-3), 0.3, 20), abs=1e-12)
    assert limit.fano == pytest.approx((20 * sharp_information(0.3) + math.log(2)) / math.log(1000))
    assert linkage_limit(0.3, 20, 10**9).composed < limit.composed and linkage_limit(9.0, 1, 1).value == 1.0


# --- the matcher on text

LINE = Embeddings(["the", "cat", "dog", "sat", "ran"], [[0.0], [1.0], [1.5], [4.0], [5.0]])


def likelihood(mechanism, x, y):
    """Pr(y | x) as the words of `Mechanism` say, without any array of the matcher's."""
    if x in mechanism.keep or x.lower() in mechanism.keep:
        return float(x == y)
    row = x if x in mechanism.inputs else x.lower()
    if row in mechanism.inputs:
        channel = mechanism.channel
        return channel.rows([row])[0, channel.output_index[y]] if y in channel.output_index else 0.0
    numbers = getattr(mechanism, "numbers", None)
    if numbers and x.replace(",", "").replace(".", "").isdigit():
        if numbers == "keep":
            return float(x == y)
        base = round(float(x.replace(",", "")))
        return 1 / 1000 if y.isdigit() and base <= int(y) <= base + 999 else 0.0
    if mechanism.oov == "keep":
        return float(x == y)
    words = mechanism._uniform_words()
    return 1 / len(words) if y in words else 0.0


MECHANISMS = {
    "santext": SanText(LINE, epsilon=1.0),
    "kept unknown": SanText(LINE, epsilon=1.0, oov="keep"),
    "santext+": SanTextPlus(LINE, 1.0, sensitive={"cat", "dog", "sat"}, p=0.4),
    "groups": CusText(LINE, epsilon=1.0, k=2, keep=["the"]),
    "jitter": CusText(LINE, epsilon=1.0, k=2, numbers="jitter"),
    "numbers": CusText(LINE, epsilon=1.0, k=2, keep=["the"], numbers="keep"),
    "given": ChannelMechanism(Channel.from_matrix(response(3, 1.0), ["cat", "dog", "sat"], ["u", "v", "dog"])),
}
TEXTS = ["the cat sat", "The dog ran", "cat zebra 17", "dog 1,200 zebra", "sat", "", "the cat sat"]
TEXTS = [text.split() for text in TEXTS]


@pytest.mark.parametrize("name", MECHANISMS)
def test_likelihoods_are_those_of_a_plain_loop(name):
    mechanism = MECHANISMS[name]
    released = [words for seed in range(4) for words in mechanism.sanitize(TEXTS, seed=seed)]
    found = Linkage(mechanism).log_likelihoods(released, TEXTS)
    assert found.shape == (len(released), len(TEXTS))
    for row, y in enumerate(released):
        for column, x in enumerate(TEXTS):
            direct = math.prod(likelihood(mechanism, a, b) for a, b in zip(x, y, strict=False))
            direct *= len(x) == len(y)
            assert np.exp(found[row, column]) == pytest.approx(direct, rel=1e-9, abs=1e-15)
        assert found[row, row % len(TEXTS)] > -np.inf  # the original is always possible


def versions(mechanism, q, x, y, changed, lost, added):
    """Pr(y | x) where words change, are lost or are added: every alignment by itself, without a table."""

    def emit(a, b):
        return (1 - changed) * likelihood(mechanism, a, b) + changed * q[b]

    def go(i, j):
        total = added * q[y[j]] * go(i, j + 1) if j < len(y) and added else 0.0
        if i == len(x):
            return total + (1 - added) * (j == len(y))
        total += (1 - added) * lost * go(i + 1, j)
        if j < len(y):
            total += (1 - added) * (1 - lost) * emit(x[i], y[j]) * go(i + 1, j + 1)
        return total

    return go(0, 0)


PRIOR = Prior(LINE.words, [0.4, 0.3, 0.1, 0.1, 0.1])


@pytest.mark.parametrize("edits", [{"lost": 0.2, "added": 0.1}, {"lost": 0.3}, {"changed": 0.3, "added": 0.2}])
def test_versions_are_summed_over_all_alignments(edits):
    mechanism = SanText(LINE, epsilon=1.0)
    attack = Linkage(mechanism, PRIOR, **edits)
    q = dict(zip(LINE.words, PRIOR.probabilities @ mechanism.channel.matrix(), strict=True))
    released = [["cat", "sat"], ["the"], [], ["dog", "dog", "ran", "the"]]
    candidates = [["the", "cat", "sat"], ["dog"], [], ["ran", "zebra"]]
    found = np.exp(attack.log_likelihoods(released, candidates))
    for row, y in enumerate(released):
        for column, x in enumerate(candidates):
            direct = versions(mechanism, q, x, y, **{"changed": 0, "lost": 0, "added": 0} | edits)
            assert found[row, column] == pytest.approx(direct, rel=1e-9, abs=1e-15)


@pytest.mark.parametrize("name", MECHANISMS)
def test_likelihoods_of_sources_are_those_of_a_plain_loop(name):
    mechanism = MECHANISMS[name]
    sources = [["the", "cat", "cat"], ["dog", "sat"], ["sat"]]
    sources[1] += [] if name == "given" else ["zebra", "17"]
    released = mechanism.sanitize(TEXTS, seed=0)
    found = Linkage(mechanism).source_likelihoods(released, sources)
    for row, y in enumerate(released):
        for column, known in enumerate(sources):
            direct = math.prod(sum(likelihood(mechanism, x, b) for x in known) / len(known) for b in y)
            assert np.exp(found[row, column]) == pytest.approx(direct, rel=1e-9, abs=1e-15)


def test_sources_are_named_as_often_as_the_enumeration_says(monkeypatch):
    """Two sources, all releases of two texts of two words: the sum of the greater likelihoods."""
    monkeypatch.setattr(matcher, "_WORDS", 2)
    mechanism, sources = MECHANISMS["santext"], [["the", "cat", "cat"], ["dog", "cat", "ran", "sat"]]
    attack = Linkage(mechanism, PRIOR, changed=0.25)
    law = PRIOR.probabilities @ mechanism.channel.matrix()
    laws = [0.75 * mechanism.channel.rows(known).mean(axis=0) + 0.25 * law for known in sources]
    every = [list(words) for words in itertools.product(mechanism.channel.outputs, repeat=2)]
    scores = attack.source_likelihoods(every, sources)
    np.testing.assert_allclose(np.exp(scores).sum(axis=0), 1.0)
    named, direct = 0.0, 0.0
    for first, second in itertools.product(range(len(every)), repeat=2):
        both = np.exp(scores[first] + scores[second])
        named += both[both.argmax()] / 2
        at = [mechanism.channel.output_index[word] for word in every[first] + every[second]]
        direct += max(math.prod(one[at]) for one in laws) / 2
    assert named == pytest.approx(direct) and 0.5 < named < 1


def test_a_planted_leak_of_length_is_caught():
    """At epsilon 0 a word says nothing: only where lengths differ is anything linked, and then everything."""
    blind = SanText(LINE, epsilon=0.0)
    rng = np.random.default_rng(0)
    alike = [list(rng.choice(LINE.words, 6)) for _ in range(40)]
    told = [list(rng.choice(LINE.words, n + 1)) for n in range(40)]
    rates_of = {
        name: Linkage(blind).ranks(blind.sanitize(docs, seed=1), docs, range(40)).success().mean()
        for name, docs in (("alike", alike), ("told", told))
    }
    assert rates_of["told"] == 1.0 and rates_of["alike"] == pytest.approx(1 / 40)


@pytest.mark.parametrize("epsilon", [0.3, 1.0])
def test_real_lists_stay_below_the_guarantee(epsilon):
    """Candidates that differ in every word, and copies but for one: plain DP bounds both."""
    words = list("abcdefgh")
    mechanism = ChannelMechanism(Channel.from_matrix(response(8, epsilon), words, words))
    for candidates in ([[w] * 6 for w in words], [["a"] * 5 + [w] for w in words]):
        released = mechanism.sanitize(candidates * 400, seed=0)
        success = Linkage(mechanism).ranks(released, candidates, list(range(8)) * 400).success()
        limit = linkage_limit(epsilon, 6, 8).value
        assert success.mean() - 3 * success.std() / math.sqrt(len(success)) <= limit


def test_the_guarantee_is_nearly_attained_by_copies():
    """The test above would catch a matcher that is too good: copies of two words come up to the limit."""
    mechanism = ChannelMechanism(Channel.from_matrix(response(2, 1.0), "ab", "ab"))
    candidates = [["a"] * 5, ["b"] * 5]
    released = mechanism.sanitize(candidates * 3000, seed=0)
    success = Linkage(mechanism).ranks(released, candidates, [0, 1] * 3000).success().mean()
    assert success == pytest.approx(linkage_limit(1.0, 5, 2).composed, abs=0.02)


@pytest.fixture(scope="module")
def many():
    rng = np.random.default_rng(5)
    docs = [list(rng.choice(LINE.words, rng.integers(2, 5))) for _ in range(60)]
    mechanism = SanText(LINE, epsilon=3.0)
    return Linkage(mechanism), mechanism.sanitize(docs[:20], seed=3), docs


def test_order_duplicates_and_blocks_do_not_matter(many, monkeypatch):
    attack, released, docs = many
    matrix = attack.log_likelihoods(released, docs)
    order = np.random.default_rng(0).permutation(60)
    np.testing.assert_array_equal(attack.log_likelihoods(released, [docs[i] for i in order]), matrix[:, order])
    whole = attack.link(released, docs, k=60)
    share = np.exp(matrix - scipy.special.logsumexp(matrix, axis=1, keepdims=True))
    for row in range(20):
        here = whole.numbers[row] >= 0
        np.testing.assert_allclose(whole.probabilities[row][here], share[row, whole.numbers[row][here]])
        assert whole.probabilities[row].sum() == pytest.approx(1.0)
    ranks = attack.ranks(released, docs, range(20))
    monkeypatch.setattr(matcher, "_CANDIDATES", 3)
    monkeypatch.setattr(matcher, "_RELEASES", 2)
    parts = attack.link(released, docs, k=4)
    np.testing.assert_array_equal(parts.numbers, whole.numbers[:, :4])
    np.testing.assert_allclose(parts.probabilities, whole.probabilities[:, :4])
    again = attack.ranks(released, docs, range(20))
    np.testing.assert_array_equal((again.above, again.tied), (ranks.above, ranks.tied))
    twice = attack.link(released, docs + docs, k=2)
    np.testing.assert_allclose(twice.probabilities[:, 0], whole.probabilities[:, 0] / 2)


def test_ranks_are_counted_in_the_matrix(many):
    attack, released, docs = many
    matrix, ranks = attack.log_likelihoods(released, docs), attack.ranks(released, docs, range(20))
    own = matrix[np.arange(20), np.arange(20)][:, None]
    np.testing.assert_array_equal(ranks.above, (matrix > own + 1e-9).sum(axis=1))
    np.testing.assert_array_equal(ranks.tied, (np.abs(matrix - own) <= 1e-9).sum(axis=1) - 1)


@pytest.mark.parametrize("drawn", [0, 1, 3, 6])
def test_shorter_lists_are_averaged_over_all_of_them(drawn):
    for above, tied in itertools.product(range(4), range(4)):
        if above + tied > 6:
            continue
        kinds = ["above"] * above + ["tied"] * tied + ["below"] * (6 - above - tied)
        lists = list(itertools.combinations(kinds, drawn))
        mean = np.mean([("above" not in some) / (1 + some.count("tied")) for some in lists])
        ranks = Ranks(np.array([above]), np.array([tied]), others=6)
        assert ranks.success(drawn + 1)[0] == pytest.approx(mean)


def test_many_ties_have_a_closed_form(monkeypatch):
    ranks = Ranks(np.array([3, 0, 0]), np.array([40, 50, 0]), others=60)
    direct = ranks.success(20)
    monkeypatch.setattr(matcher, "_ONE_BY_ONE", 0)
    np.testing.assert_allclose(ranks.success(20), direct, rtol=1e-6)


def test_false_links_are_as_rare_as_claimed():
    """No original is there, and candidates are of the prior."""
    rng = np.random.default_rng(1)
    mechanism = SanText(LINE, epsilon=4.0)
    draw = lambda n: [list(rng.choice(LINE.words, 12, p=PRIOR.probabilities)) for _ in range(n)]  # noqa: E731
    released, candidates = mechanism.sanitize(draw(2000), seed=0), draw(50)
    links = Linkage(mechanism, PRIOR).link(released, candidates)
    assert links.claimed(0.05).mean() < 0.05 + 3 * math.sqrt(0.05 * 0.95 / 2000)
    inside = Linkage(mechanism, PRIOR).link(mechanism.sanitize(candidates, seed=1), candidates)
    assert inside.claimed(0.05).mean() > 0.5


def test_what_no_candidate_can_have_become_is_said_in_one_line(caplog):
    mechanism = CusText(LINE, epsilon=1.0, k=2, keep=["the"])
    attack = Linkage(mechanism)
    with caplog.at_level(logging.WARNING):
        links = attack.link([["cat", "sat"], ["the", "cat"]], [["ran", "ran"], ["ran", "the"], ["sat"]])
    assert links.best.tolist() == [-1, -1] and (links.probabilities == 0).all()
    assert len(caplog.records) == 1 and "released: 2 of 2 documents are of no candidate" in caplog.text
    assert "'cat' of document 0" in caplog.text and "\n" not in caplog.records[0].message
    caplog.clear()
    assert attack.link([["sat"] * 5], [["sat"]]).best.tolist() == [-1] and "none has the 5 words" in caplog.text


@pytest.mark.parametrize(
    ("released", "candidates", "says"),
    [
        ([["cat"]], [], "candidates: none"),
        (["cat"], [["cat"]], "released: pass a list of token lists"),
        ([["cat"]], ["cat"], "candidates: pass a list of token lists"),
        ([["cat"], ["sat", "zebra"]], [["cat"]], "released: 'zebra' of document 1 is nothing"),
    ],
)
def test_bad_input_gets_one_line(released, candidates, says):
    attack = Linkage(SanText(LINE, epsilon=1.0))
    for call in (attack.log_likelihoods, attack.link, lambda *given: attack.ranks(*given, truth=[0])):
        with pytest.raises(ValueError, match=says) as error:
            call(released, candidates)
        assert "\n" not in str(error.value)


def test_settings_that_cannot_be_are_refused():
    mechanism = SanText(LINE, epsilon=1.0)
    refused("prior: changed or added words", lambda: Linkage(mechanism, changed=0.1))
    refused("lost: 2 is out of range", lambda: Linkage(mechanism, lost=2))
    refused("truth: pass the number", lambda: Linkage(mechanism).ranks([["cat"]], [["cat"]], truth=[1]))
    refused("none without a prior", lambda: Linkage(mechanism).link([["cat"]], [["cat"]]).claimed())
    with pytest.raises(ValueError, match="is too large; use link"):
        Linkage(mechanism).log_likelihoods([["cat"]] * 20_000, [["cat"]] * 20_000)
    refused("candidates: 3 of 2", lambda: Ranks(np.array([0]), np.array([0]), others=1).success(3))
