"""One draw a word: what it promises and what it opens, by going through whole releases of small worlds."""

import json
from collections import Counter, defaultdict
from itertools import product

import numpy as np
import pytest
from click.testing import CliRunner
from scipy import stats

from textsan import Channel, Embeddings, audit, choose_epsilon
from textsan.cli.main import main
from textsan.leakage import bayes_vulnerability, counted_vulnerability, repeated_vulnerability
from textsan.mechanisms import ChannelMechanism, CusText, Memoized, Random, make_mechanism

WORDS = [f"w{i}" for i in range(12)]
EMBEDDINGS = Embeddings(WORDS, np.random.default_rng(0).normal(size=(12, 3)))
DOCS = [list(np.random.default_rng(seed).choice(WORDS, size=30)) for seed in range(40)]


def pairs(docs, released, scope):
    found = defaultdict(set)
    for d, (doc, out) in enumerate(zip(docs, released, strict=True)):
        for x, y in zip(doc, out, strict=True):
            found[scope[d], x].add(y)
    return found


@pytest.mark.parametrize(
    ("scope", "of"), [("document", range(40)), ("writer", [f"by {d % 7}" for d in range(40)]), ("file", [0] * 40)]
)
def test_a_word_has_one_draw_in_its_scope_and_draws_are_those_of_the_channel(scope, of):
    inside = CusText(EMBEDDINGS, 1.0, k=4)
    made, writers = Memoized(inside, scope), {"writers": of} if scope == "writer" else {}
    assert all(len(words) == 1 for words in pairs(DOCS, made.sanitize(DOCS, 3, **writers), of).values())
    seen = Counter()
    for seed in range(60 if scope == "document" else 600):
        for (_, x), words in pairs(DOCS, made.sanitize(DOCS, seed, **writers), of).items():
            seen[x, *words] += 1
    rows = inside.channel.matrix()
    for x, row in zip(inside.inputs, rows, strict=True):
        got = np.array([seen[x, y] for y in inside.channel.outputs])
        assert not got[row == 0].any()
        assert stats.chisquare(got[row > 0], got.sum() * row[row > 0]).pvalue > 1e-4


def test_a_document_does_not_depend_on_those_beside_it():
    made = make_mechanism("memoized", EMBEDDINGS, epsilon=1.0, k=4)
    whole = made.sanitize(DOCS, seed=5)
    assert whole == made.sanitize(DOCS[:7], seed=5) + made.sanitize(DOCS[7:], seed=5, first=7)
    assert whole != made.sanitize(DOCS, seed=6) and made.sanitize([[], ["w1"], []], seed=1)[::2] == [[], []]


def test_unknown_and_kept_words():
    made = Memoized(CusText(EMBEDDINGS, 1.0, k=4, keep=["w0"]))
    [out] = made.sanitize([["zebra", "W0", "w1", "W1", "gnu", "zebra"] * 9], seed=2)
    assert set(out[1::6]) == {"W0"} and len(set(out[2::6] + out[3::6])) == 1  # a word in two cases is one word
    assert len(set(out[0::6] + out[5::6])) == 1 and set(out) <= {*WORDS, "W0"}
    assert made.sanitize_text("zebra is zebra", seed=1).split()[::2] in ([w, w] for w in WORDS)


def release_law(made, doc, draws):
    """Pr(release | doc) of one draw a type, by its definition."""
    types = list(dict.fromkeys(doc))
    law = Counter()
    for outputs in product(range(draws.shape[1]), repeat=len(types)):
        chance = np.prod([draws[x, y] for x, y in zip(types, outputs, strict=True)])
        law[tuple(outputs[types.index(x)] for x in doc)] += chance
    return law


def test_the_promise_is_kept_for_renaming_and_void_for_one_place():
    """All documents of four words out of three, and all releases of each."""
    made = Memoized(CusText(EMBEDDINGS.restrict(WORDS[:3]), 1.5, k=3))
    draws = made.channel.matrix()
    laws = {doc: release_law(made, doc, draws) for doc in product(range(3), repeat=4)}
    renamed, single = [], []
    for doc, law in laws.items():
        for x, z in product(set(doc), range(3)):
            if z not in doc:
                other = laws[tuple(z if word == x else word for word in doc)]
                assert law.keys() == other.keys()
                renamed += [abs(np.log(law[y] / other[y])) for y in law]
            if x != z:
                for place in (at for at, word in enumerate(doc) if word == x):
                    other = laws[(*doc[:place], z, *doc[place + 1 :])]
                    single += [np.inf if y not in other else 0.0 for y in law]
    assert max(renamed) <= made.guarantee.epsilon + 1e-9
    assert max(renamed) == pytest.approx(made.guarantee.tight(made.channel))
    assert np.inf in single and made.guarantee.token() == made.guarantee.document(4) == np.inf
    assert "for one place alone nothing is promised" in str(made.guarantee)
    assert "how often each stands there, is released" in made.exposed[-1]


def test_the_draws_have_that_law():
    made = Memoized(CusText(EMBEDDINGS.restrict(WORDS[:2]), 1.0, k=2))
    doc, n = (0, 1, 0), 20_000
    law = release_law(made, doc, made.channel.matrix())
    names = made.channel.outputs
    got = Counter(map(tuple, made.sanitize([[made.inputs[x] for x in doc]] * n, seed=1)))
    wanted = {tuple(names[y] for y in outputs): n * p for outputs, p in law.items()}
    assert got.keys() <= wanted.keys()
    assert stats.chisquare([got[y] for y in wanted], list(wanted.values())).pvalue > 1e-4


class Contextual(CusText):
    def sanitize(self, docs, seed=None, *, first=0):
        return super().sanitize([sorted(doc) for doc in docs], seed, first=first)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda once: Memoized(Contextual(EMBEDDINGS, 1.0)),
            "mechanism: Contextual does not draw each word by its",
        ),
        (lambda once: Memoized(once), "mechanism: Memoized does not draw each word by its"),
        (lambda once: Memoized(Random(EMBEDDINGS), "page"), "scope: 'page' is unknown"),
        (lambda once: once.sanitize(DOCS, writers=DOCS), "writers: the scope is 'document'"),
        (
            lambda once: once.with_(scope="file").sanitize(DOCS, first=3),
            "scope: 'file' takes all its documents in",
        ),
        (lambda once: audit(DOCS, once, shadow=DOCS), "mechanism: Memoized has one draw for all places of a word"),
        (
            lambda once: choose_epsilon(DOCS, "memoized", words=0.5, embeddings=EMBEDDINGS, shadow=DOCS),
            "mechanism: Memoized has one draw for all places of a word",
        ),
    ],
)
def test_what_cannot_hold_is_refused_in_a_line(call, message):
    with pytest.raises(ValueError, match=message) as told:
        call(Memoized(Random(EMBEDDINGS)))
    assert "\n" not in str(told.value)


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "in.txt").write_text("good film bad film\nbad story bad\n" * 20)
    sized = ["--mechanism", "memoized", "--epsilon", "1", "--size", "500"]
    return lambda command, *more: CliRunner().invoke(main, [command, *sized, *more])


@pytest.mark.parametrize("scope", ["document", "file"])
def test_a_record_says_what_is_promised_and_an_audit_refuses_the_release(run, tmp_path, scope):
    result = run("sanitize", "--scope", scope, "in.txt", "out.txt")
    assert result.exit_code == 0 and "not protected: which words of a" in result.stderr
    promised = json.loads((tmp_path / "out.txt.json").read_text())["guarantee"]
    assert "for one place alone nothing" in promised["per_token"] and scope in promised["per_document"]
    refused = CliRunner().invoke(main, ["audit", "in.txt", "--released", "out.txt"])
    assert refused.exit_code == 2 and "an audit attacks each place as a fresh one" in refused.stderr
    assert len(refused.stderr.splitlines()) == 1 and not (tmp_path / "audit.html").exists()


def test_a_writer_is_not_known_to_the_command(run, tmp_path):
    result = run("sanitize", "--scope", "writer", "in.txt", "out.txt")
    assert result.exit_code == 2 and "the scope is 'writer'; pass one a document" in result.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in.txt"]


def worlds():
    for seed in range(12):
        generator = np.random.default_rng(seed)
        p = generator.dirichlet(np.full(3, 1.5))
        yield p, generator.dirichlet(np.full(3, 0.7), size=3)


def guessed(source, law, seen):
    """The success of the best guess of the first word, over texts of a source and their releases."""
    joint = defaultdict(lambda: np.zeros(3))
    for doc, chance in source.items():
        for released, p in law(doc):
            joint[seen(doc, released)][doc[0]] += chance * p
    return sum(one.max() for one in joint.values())


def independent(p, n):
    return {doc: np.prod(p[list(doc)]) for doc in product(range(3), repeat=n)}


def laws(draws):
    def fresh(doc):
        for out in product(range(3), repeat=len(doc)):
            yield out, np.prod([draws[x, y] for x, y in zip(doc, out, strict=True)])

    def once(doc):
        types = list(dict.fromkeys(doc))
        for out in product(range(3), repeat=len(types)):
            chance = np.prod([draws[x, y] for x, y in zip(types, out, strict=True)])
            yield tuple(out[types.index(x)] for x in doc), chance

    return fresh, once


def pattern(doc):
    return tuple(doc.index(word) for word in doc)


def channel_of(draws):
    return Channel.from_matrix(draws, inputs="abc", outputs="uvw")


@pytest.mark.parametrize("k", [1, 2, 3, 4])
def test_repeats_under_fresh_noise_by_enumeration(k):
    for p, draws in worlds():
        fresh, _ = laws(draws)
        same = {(x,) * k: p[x] for x in range(3)}
        wanted = guessed(same, fresh, lambda doc, out: out)
        assert repeated_vulnerability(p, channel_of(draws), k) == pytest.approx(wanted)


@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_a_draw_and_a_count_by_enumeration(n):
    for p, draws in worlds():
        _, once = laws(draws)
        wanted = guessed(independent(p, n), once, lambda doc, out: (out[0], doc.count(doc[0])))
        assert counted_vulnerability(p, channel_of(draws), n) == pytest.approx(wanted)


def test_one_draw_lies_between_one_word_and_fresh_noise_whose_repeats_are_told():
    above = []
    for p, draws in worlds():
        fresh, once = laws(draws)
        source = independent(p, 4)
        alone = bayes_vulnerability(p, channel_of(draws))
        whole = guessed(source, once, lambda doc, out: out)
        told_once = guessed(source, once, lambda doc, out: (pattern(doc), out))
        told = guessed(source, fresh, lambda doc, out: (pattern(doc), out))
        assert alone == pytest.approx(
            guessed(source, fresh, lambda doc, out: out)
        )  # a place tells of itself alone
        assert alone - 1e-12 <= whole <= told_once + 1e-12 <= told + 2e-12
        counted = counted_vulnerability(p, channel_of(draws), 4)
        assert counted <= told_once + 1e-12
        above.append(whole > counted + 1e-6)
    assert set(above) == {True, False}  # a count of one's own is no bound, and not always reached


def test_too_many_multisets_are_refused():
    channel = ChannelMechanism(channel_of(np.eye(3))).channel
    assert repeated_vulnerability([1, 0, 0], channel, 1000) == pytest.approx(1)
    wide = Channel.from_matrix(np.full((9, 9), 1 / 9), inputs=WORDS[:9], outputs=WORDS[:9])
    with pytest.raises(ValueError, match="k: 20 draws are 3,108,105 multisets of outputs; pass fewer words"):
        repeated_vulnerability(np.full(9, 1 / 9), wide, 20)
