"""The explorer's numbers are the package's: its scripts run in V8 here, and in a browser that is used."""

import json
from pathlib import Path

import numpy as np
import pytest

from textsan.attacks import ContextFreeBayes, Linkage, MarkovBayes
from textsan.leakage import bayes_vulnerability
from textsan.text.vocabulary import STOP_WORDS, normalize
from textsan_book.chapters import explorer

SCRIPTS = Path(__file__).parents[1] / "book" / "explorer"
NAMES = list(explorer.SLIDERS)
CLOSE = {"rtol": 0, "atol": 1e-6}
VALUES = {name: (0.0, 0.35, 0.9) if name == "erasure" else (0.0, 3.5, 8.0) for name in NAMES}
CASES = [(name, value) for name in NAMES for value in VALUES[name]]


@pytest.fixture(scope="module")
def world():
    return explorer.material()


class Engine:
    """V8 with the explorer's scripts, but for those that draw; `page` names its world."""

    def __init__(self, data: str):
        racer = pytest.importorskip("py_mini_racer", reason="mini-racer is not installed; it is of the extra test")
        self._context = racer.MiniRacer()
        scripts = [(SCRIPTS / f"{name}.js").read_text() for name in ("world", "mechanisms", "attacks")]
        for source in (data, *scripts):
            self._context.eval(source)
        self._timeout = 300  # seconds: a mechanism over all pairs of words takes some, once
        self.run("T = textsanExplorer; page = T.world(T.data); source = T.source(T.data); null")

    def run(self, program: str):
        """Return a program's value as json gives it back."""
        return json.loads(
            self._context.eval(
                f"JSON.stringify((() => {{ return eval({json.dumps(program)}); }})())", timeout_sec=self._timeout
            )
        )


@pytest.fixture(scope="module")
def engine(world):
    return Engine(explorer.script(world))


def numbers(world, words):
    """Words as the page numbers them: in the order of the list, every other word is the next number."""
    index = world.embeddings.index
    return [index.get(word, len(index)) for word in words]


def aligned(world, words, values):
    """Values of words, as the page has them: one a listed word, and one for the full stop."""
    row = np.zeros(len(world.embeddings) + 1)
    row[numbers(world, words)] = values
    return row


def made(name, value):
    return f"m = T.MECHANISMS['{name}'](page, {value}); prior = T.prior(m);"


@pytest.mark.parametrize("name, value", CASES)
def test_rows_are_those_of_the_channel(world, engine, name, value):
    mechanism = world.mechanism(name, value)
    rng = np.random.default_rng(0)
    words = [world.embeddings.words[i] for i in rng.choice(len(world.embeddings), 40, replace=False)] + ["the"]
    found = np.array(engine.run(f"{made(name, value)} {numbers(world, words)}.map((x) => Array.from(m.row(x)))"))
    rows = mechanism.channel.rows(words)
    expected = [aligned(world, mechanism.channel.outputs, row) for row in rows]
    np.testing.assert_allclose(found, expected, **CLOSE)
    np.testing.assert_allclose(found.sum(axis=1), 1, rtol=1e-12)


def test_the_source_is_the_fitted_model(world, engine):
    model = world.model
    found = engine.run(
        "[source.initial, [...source.weight.slice(0, -1), 1], source.backoff].map((part) => Array.from(part))"
    )
    for part, expected in zip(found, (model.initial, [*model.backoff_weight, 1.0], model.backoff), strict=True):
        np.testing.assert_allclose(part, expected, rtol=1e-12)
    some = np.random.default_rng(1).random(len(model.words))
    found = engine.run(f"Array.from(source.ahead({some.tolist()}))")
    np.testing.assert_allclose(found, model.ahead(some), rtol=1e-10)


def sentences(world, number, seed):
    rng = np.random.default_rng(seed)
    words = [*world.embeddings.words, "zebras", "yourselves", "paperclip"]
    docs = world.model.sample(number, seed=rng, length=12)
    for doc in docs:
        del doc[rng.integers(1, 13) :]
        for i in np.flatnonzero(rng.random(len(doc)) < 0.3):
            doc[i] = words[rng.integers(len(words))]
    return docs


@pytest.mark.parametrize("name, value", CASES)
def test_what_is_read_is_what_the_attacks_read(world, engine, name, value):
    """On 100 sentences over all cases: posteriors, guesses, likelihoods of rivals, ranks."""
    mechanism = world.mechanism(name, value)
    written = sentences(world, -(-100 // len(CASES)), seed=CASES.index((name, value)))
    released = mechanism.sanitize(written, seed=1)
    positions = [
        (d, i) for d, doc in enumerate(written) for i, word in enumerate(doc) if word in mechanism.protected
    ]
    keeps = STOP_WORDS.__contains__ if name == "custext+" else lambda word: False
    told = {"attacked": mechanism.protected}
    alone = ContextFreeBayes(mechanism.channel, world.counts, **told)
    together = MarkovBayes(mechanism.channel, world.model, **told)
    linkage = Linkage(mechanism)
    candidates = [[original, *explorer.rivals(world, original)] for original in written]
    expected = {
        "alone": alone.reconstruct(released, positions),
        "together": together.reconstruct(released, positions),
        "linked": [
            linkage.log_likelihoods([doc], among)[0] for doc, among in zip(released, candidates, strict=True)
        ],
    }
    pairs = [
        [original, numbers(world, original), numbers(world, doc)]
        for original, doc in zip(written, released, strict=True)
    ]
    found = engine.run(
        made(name, value)
        + f"""
        {json.dumps(pairs)}.map(([tokens, x, y]) => {{
          const rivals = T.rivals(page, tokens);
          const together = T.forwardBackward(m, source, y);
          const alone = y.map((one) => T.contextFree(m, prior, one));
          const read = (of) => x.map((one, t) => (m.attacks(one) ? m.name(T.guess(m, of[t], y[t])) : null));
          const scores = T.logLikelihoods(m, y, [x, ...rivals.map((rival) => rival.numbers)]);
          return {{
            alone: read(alone), together: read(together), scores: scores.map((s) => (s === -Infinity ? null : s)),
            first: Array.from(alone[0]), all: together.map((one) => Array.from(one)),
            told: Array.from(T.told(m, together[0])),
            rank: T.rank(scores[0], scores.slice(1)),
            rivals: rivals.map((rival) => rival.words), same: T.sameKept(m, x, rivals),
          }};
        }})"""
    )
    for key in ("alone", "together"):
        assert [guess for one in found for guess in one[key] if guess is not None] == expected[key]
    for one, doc, among, scores in zip(found, released, candidates, expected["linked"], strict=True):
        posterior = together.posterior(doc)
        for mine, theirs in zip(one["all"], posterior, strict=True):
            np.testing.assert_allclose([*mine, 0], aligned(world, theirs, list(theirs.values())), **CLOSE)
        for key, attack in (("first", alone), ("told", together)):
            first = attack.posteriors([doc], [(0, 0)], k=len(world.embeddings))
            np.testing.assert_allclose(one[key], dense(world, first), **CLOSE)
        mine = np.array([-np.inf if score is None else score for score in one["scores"]])
        np.testing.assert_allclose(mine, scores, **CLOSE)
        assert one["rivals"] == among[1:]
        kept = [[word if keeps(word) else None for word in sentence] for sentence in among]
        assert one["same"] == kept[1:].count(kept[0])
        ranks = linkage.ranks([doc], among, truth=[0])
        assert (one["rank"]["above"], one["rank"]["tied"]) == (ranks.above[0], ranks.tied[0])


def dense(world, posterior):
    row = np.zeros(len(world.embeddings))
    known = posterior.numbers[0] >= 0
    words = [posterior.words[i] for i in posterior.numbers[0][known]]
    row[numbers(world, words)] = np.exp(posterior.log_probabilities[0][known])
    return row


@pytest.mark.parametrize("name", NAMES)
def test_the_best_guess_is_right_as_often(world, engine, name):
    value = VALUES[name][1]
    mechanism = world.mechanism(name, value)
    prior = np.array([(world.counts[x] + 1.0) * (x in mechanism.protected) for x in mechanism.channel.inputs])
    prior /= prior.sum()
    found = engine.run(f"{made(name, value)} T.vulnerability(m, prior)")
    assert found["blind"] == pytest.approx(prior.max(), abs=1e-12)
    assert found["posterior"] == pytest.approx(bayes_vulnerability(prior, mechanism.channel), abs=1e-9)


@pytest.mark.parametrize("name, value", CASES)
def test_three_words_by_themselves(world, engine, name, value):
    for trio in explorer.TRIOS:
        mechanism = world.mechanism(name, value, trio)
        found = np.array(
            engine.run(
                f"m = T.MECHANISMS['{name}'](page.restrict({numbers(world, trio)}), {value});"
                "[0, 1, 2].map((x) => Array.from(m.row(x)))"
            )
        )
        matrix = mechanism.channel.matrix()
        expected = np.zeros((3, 4))
        for column, word in enumerate(mechanism.channel.outputs):
            expected[:, trio.index(word) if word in trio else 3] = matrix[:, column]
        np.testing.assert_allclose(found, expected, **CLOSE)


PIECES = [
    *"aZé9.'’-_@+/:,<\"² \t\n!ſİΣ½Ⅷ漢ß",
    *"\u00ad e\u0301 \u0301 \u2010 \u200b \ufe0f \u0903 \u1c80 \x1c \x85 n't 's J.".split(" "),
    *("http://", "www.", "U.S.", "me@x.org", "can't", "o'clock", "well-made", "3,000.50"),
]


def test_words_are_split_as_they_are_everywhere(world, engine):
    """On the page's sentences, and on 2,000 texts of pieces that are hard to split."""
    rng = np.random.default_rng(0)
    texts = [
        *explorer.SENTENCES,
        *world.prose,
        "Don't -- it's 3,000.50 U.S. dollars (well-made), they'll see; n't's can't 4th o'clock",
        "J.Smith (me@x.org) read https://a.b/c?d=e. Her\u00adman, ine\u0301s: well\u2011made",
        *("".join(rng.choice(PIECES, rng.integers(1, 12))) for _ in range(2000)),
    ]
    assert engine.run(f"{json.dumps(texts)}.map(T.normalize)") == [normalize(text) for text in texts]
    for text, found in zip(texts, engine.run(f"{json.dumps(texts)}.map(T.tokenize)"), strict=True):
        assert found == explorer.words_of(text), ascii(text)


def test_rivals_are_sentences_of_the_book_that_share_stop_words(world):
    written = explorer.words_of("This is a very short sentence.")
    rivals = explorer.rivals(world, written)
    own = {tuple(explorer.words_of(text)[: len(written)]) for text in (*world.prose, *explorer.SENTENCES)}
    assert len(rivals) == explorer.RIVALS and set(map(tuple, rivals)) <= own

    def agrees(rival):
        pairs = zip(rival, written, strict=True)
        return sum(a == b if {a, b} & STOP_WORDS else True for a, b in pairs)

    order = [agrees(rival) for rival in rivals]
    assert order == sorted(order, reverse=True)
    assert min(order) >= max(agrees(list(rival)) for rival in own - set(map(tuple, rivals)) if len(rival) == 6)
    first = explorer.words_of(world.prose[0])[: explorer.LONGEST]
    assert first not in explorer.rivals(world, first)


def test_sums_in_pieces_are_those_at_once(world, engine):
    """The page's sums in pieces, for all values of the slider, are each row's plain sum."""
    trio = numbers(world, [*explorer.TRIOS[0], *explorer.TRIOS[1]])
    for name in ("santext", "santext+", "tem"):
        told = engine.run(
            f"few = page.restrict({trio}); s = T.sums(few, '{name}'); shares = [s.share];"
            "while (s.share < 1) { s.add(s.done++); shares.push(s.share); }"
            f"[shares, Array.from({{length: s.values}}, (_, k) => [0, 1, 2, 3, 4, 5].map("
            f"(x) => T.MECHANISMS['{name}'](few, s.epsilon(k)).row(x).reduce((a, b) => a + b, 0)))]"
        )
        assert len(told[0]) == 7 and told[0] == sorted(told[0])
        np.testing.assert_allclose(told[1], 1, rtol=1e-12)


def test_draws_follow_the_channel(world, engine):
    """Of 4,000 draws of one row, no share is more than five deviations off."""
    mechanism = world.mechanism("custext", 2.0)
    [row] = mechanism.channel.rows(["mother"])
    n, [x] = 4000, numbers(world, ["mother"])
    drawn = engine.run(
        f"{made('custext', 2.0)} u = T.seededUniform(7); Array.from({{length: {n}}}, () => m.draw({x}, u()))"
    )
    shares = np.bincount(drawn, minlength=len(world.embeddings) + 1) / n
    expected = aligned(world, mechanism.channel.outputs, row)
    assert (np.abs(shares - expected) <= 5 * np.sqrt(expected * (1 - expected) / n) + 1e-12).all()


def test_a_wrong_sum_would_be_seen(world):
    """The bug that is planted: a distance that is not halved in the exponent."""
    bent = Engine(explorer.script(world))
    source = (SCRIPTS / "mechanisms.js").read_text()
    assert source.count("Math.exp((-epsilon / 2) * (world.distance") == 1
    bent._context.eval(source.replace("(-epsilon / 2)", "(-epsilon)"))
    [x] = numbers(world, ["mother"])
    found = bent.run(f"{made('custext', 3.0)} Array.from(m.row({x}))")
    channel = world.mechanism("custext", 3.0).channel
    assert np.abs(found - aligned(world, channel.outputs, channel.rows(["mother"])[0])).max() > 1e-3


def test_the_page_holds_no_sentence_of_a_corpus(world):
    """Only counts, of the page's data, depend on the corpora's texts; its sentences are the project's own."""
    given = explorer.data(world)
    assert set(given) == {
        *("words", "unlisted", "step", "vectors", "counts", "stop", "sensitive", "groups", "followers"),
        *("prose", "rivals", "longest", "sentences", "trios", "mechanisms"),
    }
    assert len(explorer.script(world)) < 2_500_000
    assert all(word in world.embeddings for sentence in explorer.SENTENCES for word in explorer.words_of(sentence))
    texts = {" ".join(document) for document in world.documents if len(document) > 4}
    sentences, prose = (
        {" ".join(explorer.words_of(one)) for one in some} for some in (explorer.SENTENCES, given["prose"])
    )
    assert not (sentences | prose) & texts
    assert not any(sentence in text for sentence in sentences for text in texts)
