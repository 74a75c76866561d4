"""`textsan audit`: small exact worlds, a planted word that nobody may quote, and input that does not fit."""

import csv
import json
import traceback
from itertools import product

import jsonschema
import numpy as np
import pytest
from click.testing import CliRunner
from helpers import command
from hypothesis import given, settings, strategies as st

import textsan
from textsan import CusText, Embeddings, Knowledge, SanText
from textsan.attacks import ContextFreeBayes
from textsan.auditing import (
    attacking,
    documents,
    linking,
    material as materials,
    quotes,
    use,
    words,
)
from textsan.auditing.deciding import DO_NOT, KEPT, OPEN, decided
from textsan.auditing.quotes import HIDDEN, masked, unquoted
from textsan.auditing.report import SCHEMA, fates
from textsan.base import assets, checks
from textsan.cli import progress
from textsan.cli.main import main
from textsan.leakage import bayes_vulnerability, pointwise_leakage
from textsan.mechanisms import make, recorded_mechanism
from textsan.text import tokenize_v1

WORDS = ["the", ",", ".", "a", "film", "movie", "good", "bad", "great", "story", "actor", "plot", "7", "smith"]
VECTORS = Embeddings(WORDS, np.random.default_rng(0).normal(size=(len(WORDS), 4)))
PLANTED = "zyxwort"


def text(n, seed=0, extra=()):
    generator, listed = np.random.default_rng(seed), WORDS + list(extra)
    weights = 1 / np.arange(1, len(listed) + 1)
    return [list(generator.choice(listed, 3 + i % 5, p=weights / weights.sum())) for i in range(n)]


def mechanism(epsilon=1.0, **given):
    return CusText(VECTORS, epsilon, k=4, keep=["the", "a"], **given)


@pytest.fixture(autouse=True)
def small_world(monkeypatch):
    """A vocabulary of fourteen words, of which three are public; public sentences of the same; no census."""
    for module, name in ((textsan, "load_embeddings"), (make, "load_embeddings")):
        monkeypatch.setattr(module, name, lambda name="": VECTORS)
    monkeypatch.setattr(materials, "_public", lambda documents: text(40, seed=9))
    monkeypatch.setattr(materials, "find_names", lambda docs, finder: _smiths(docs))
    monkeypatch.setattr(quotes, "public_words", lambda inputs: frozenset(inputs[:5]))
    monkeypatch.setattr(use, "find_spec", lambda name: None)


def _smiths(docs):
    return [
        (d, i) for d, doc in enumerate(docs) for i, word in enumerate(materials.tokens_of(doc)) if word == "smith"
    ]


def audited(docs=None, made=None, **more):
    return textsan.audit(docs or text(60), made or mechanism(), **{"shadow": text(50, seed=5), "among": 10} | more)


# What is measured, against brute force


def test_the_exact_figures_are_those_of_every_release_multiplied_out():
    docs, made = [["film", "bad"], ["good", "film"]], mechanism()
    found = materials.material(docs, made, shadow=text(50, seed=5))
    table = words.rule(found)
    matrix, inputs = made.channel.rows(made.inputs), made.inputs
    guess = dict(zip(table.observed, table.mode(), strict=True))
    chance = {
        x: sum(matrix[inputs.index(x), j] for j, y in enumerate(made.channel.outputs) if guess[y] == x)
        for x in WORDS
    }
    assert np.allclose(words.chances(found, table), [chance[x] for x in found.truths])
    exact = words.exact(found, table)
    assert np.isclose(exact["rule"], np.mean([chance[x] for x in found.truths]))
    own = np.array([found.truths.count(x) for x in inputs]) / len(found.truths)
    assert np.isclose(exact["own"], (own[:, None] * matrix).max(axis=0).sum())
    assert exact["rule"] <= exact["own"] + 1e-12 <= exact["promised"] + 1e-9
    assert exact["blind"] == own.max()


def test_the_rule_is_the_attack_with_unseen_mass_that_is_told():
    found = materials.material(text(60), mechanism(), shadow=text(50, seed=5))
    attack = ContextFreeBayes.unseen(found.knowledge(told=True))
    guess = dict(zip(words.rule(found).observed, words.rule(found).mode(), strict=True))
    assert [guess[y] for y in found.outputs] == attack.reconstruct(found.released, found.positions)


def test_documents_have_the_law_of_every_outcome():
    chances = np.array([0.2, 0.7, 0.5])
    law = np.zeros(4)
    for outcome in product((0, 1), repeat=3):
        law[sum(outcome)] += np.prod(np.where(outcome, chances, 1 - chances))
    assert np.allclose(documents.named_law(chances), law)
    many = np.random.default_rng(0).uniform(size=300)
    assert np.isclose(documents.named_law(many).sum(), 1)
    assert np.isclose(documents.named_law(many) @ np.arange(301), many.sum())


def test_the_share_of_documents_that_are_read_is_what_many_releases_show():
    docs, made = text(20), mechanism(epsilon=3.0)
    found = materials.material(docs, made, shadow=text(50, seed=5))
    table = words.rule(found)
    expected = documents.exposure(found, words.chances(found, table), {})["read"]
    guess, seen = dict(zip(table.observed, table.mode(), strict=True)), []
    for seed in range(300):
        released = made.sanitize(found.docs, seed)
        right = np.array([guess[released[d][i]] == found.docs[d][i] for d, i in found.positions])
        _, where = np.unique(found.documents, return_inverse=True)
        seen.append((np.bincount(where, right) / np.bincount(where) >= 0.5).mean())
    assert abs(np.mean(seen) - expected) < 4 * np.std(seen) / np.sqrt(len(seen))


def test_scored_words_are_protected_known_and_words():
    docs = [["the", "film", ".", PLANTED, "7"], ["Smith", "bad", "a"]]
    found = materials.material(docs, mechanism(), shadow=text(50, seed=5))
    assert [found.docs[d][i] for d, i in found.positions] == ["film", "7", "smith", "bad"]
    assert (found.words, found.unknown, found.let_through) == (7, 1, 2)
    assert found.groups["numbers"].tolist() == [False, True, False, False]
    assert found.groups["names"].tolist() == [False, False, True, False]


def test_who_is_told_guesses_no_word_that_is_let_through():
    found = materials.material(text(60), mechanism(), shadow=text(50, seed=5))
    assert found.attacked == frozenset("film movie good bad great story actor plot 7 smith".split())
    assert found.knowledge(told=False).attacked is None


def test_a_leak_that_is_planted_is_found():
    matrix = np.eye(len(WORDS))
    leaking = textsan.mechanisms.ChannelMechanism(textsan.Channel.from_matrix(matrix, WORDS, WORDS))
    report = audited(made=leaking)
    assert words.strongest(report.content["words"]["attacks"])["value"] == 1
    assert report.content["linkage"]["main"]["value"] > 0.9 > report.content["linkage"]["length"]
    hidden = textsan.mechanisms.ChannelMechanism(
        textsan.Channel.from_matrix(np.full((14, 14), 1 / 14), WORDS, WORDS)
    )
    report = audited(made=hidden)
    linkage = report.content["linkage"]
    assert np.isclose(linkage["main"]["value"], linkage["length"])
    assert report.content["documents"]["given_away"]["quantiles"]["1"] == pytest.approx(1.0)


def test_linkage_is_every_draw_of_the_others():
    docs, made = text(8), mechanism(epsilon=2.0)
    found = materials.material(docs, made, shadow=text(50, seed=5))
    scores = linking.Linkage.against(Knowledge.of(made)).log_likelihoods(found.released, found.docs)
    shares = []
    for own in range(8):
        for other in set(range(8)) - {own}:
            mine, its = scores[own, own], scores[own, other]
            shares.append(0.5 if abs(mine - its) < 1e-9 else float(mine > its))
    assert linking.linked(found, among=2, size=8)["main"]["value"] == pytest.approx(np.mean(shares))


def test_a_document_that_was_never_released_is_linked_no_more_than_by_chance():
    found = materials.material(text(400), SanText(VECTORS, 0.0), shadow=text(400, seed=5))
    linkage = linking.linked(found, among=50, size=400)
    assert linkage["control"]["low"] <= linkage["length"] <= linkage["control"]["high"]
    assert linkage["excess"]["low"] <= 0 <= linkage["excess"]["high"]


def people(n=12, each=6):
    """Texts of persons, each with words of their own, one person's texts not beside each other."""
    generator = np.random.default_rng(3)
    own = [generator.dirichlet(np.full(len(WORDS), 0.2)) for _ in range(n)]
    return [list(generator.choice(WORDS, 8, p=own[i % n])) for i in range(n * each)], [
        i % n for i in range(n * each)
    ]


def test_persons_are_identified_by_the_products_of_their_words(monkeypatch):
    docs, groups = people()
    made = mechanism(4.0)
    found = materials.material(docs, made, shadow=text(50, seed=5))
    members = materials.members_of(groups)
    rows, prior = made.channel.matrix(), found.knowledge(told=True).unigram()
    column, row = made.channel.output_index, made.channel.input_index
    share, law = linking._OTHER_WORDS, made.channel.prior_array(prior) @ rows

    def emits(x, y):
        return float(x == y) if x in made.keep else rows[row[x], column[y]] if y in column else 0.0

    def source(known, y):
        other = law[column[y]] if y in column else 1 / len(made.channel.inputs)
        return (1 - share) * np.mean([emits(x, y) for x in known]) + share * other

    scores = np.zeros((12, 12))
    for i, mine in enumerate(members):
        for j, theirs in enumerate(members):
            known = [word for d in theirs[::2] for word in docs[d]]
            scores[i, j] = sum(np.log(source(known, y)) for d in mine[1::2] for y in found.released[d])
    main = np.mean(scores.diagonal() >= scores.max(axis=1))
    halves = linking.halved(docs, members)
    np.testing.assert_allclose(linking.by_words(found, halves), scores)
    rates = linking.persons(members, scores, 300)["linkage"]
    assert rates["main"]["value"] == pytest.approx(main) and main > 0.5
    control = [(scores[i - 1, i] >= np.delete(scores[i - 1], i - 1)).all() for i in range(12)]
    assert rates["control"]["value"] == pytest.approx(np.mean(control))


def test_persons_have_their_words_together_and_no_name():
    docs, groups = people()
    blind, loud = (
        audited(docs, SanText(VECTORS, e), groups=[f"{PLANTED}{g}" for g in groups]) for e in (0.0, 20.0)
    )
    assert blind.content["persons"]["linkage"]["excess"]["low"] <= 0
    assert loud.content["persons"]["linkage"]["main"]["value"] > 0.7
    assert loud.content["persons"]["linkage"]["control"]["value"] < 0.3
    found = loud.content["persons"]
    assert (found["persons"], found["most"]) == (12, 6) and {row["document"] for row in found["worst"]} <= {
        *range(12)
    }
    named = {row["document"]: row["named"] for row in found["worst"]}
    table = words.rule(material := materials.material(docs, SanText(VECTORS, 20.0), shadow=text(50, seed=5)))
    of_person = np.bincount(np.array(groups)[material.documents], weights=words.chances(material, table))
    assert all(value == pytest.approx(of_person[person]) for person, value in named.items())
    for report in (blind, loud):
        assert PLANTED not in report.html() + json.dumps(report.content) + "".join(report.summary)
        jsonschema.validate(json.loads(json.dumps(report.content)), json.loads(SCHEMA.read_text()))
    assert "Of 100 persons with two texts" in "".join(loud.summary) and "<h3>Persons</h3>" in loud.html()
    assert "<h3>Persons</h3>" not in audited(docs).html()
    assert audited(docs, groups=range(len(docs))).content["persons"]["linkage"] is None


def test_guesses_are_scored_on_their_positions_beside_the_attacks():
    report = audited(released=mechanism().sanitize(text(60), seed=3))
    found = materials.material(
        text(60), mechanism(), released=mechanism().sanitize(text(60), seed=3), shadow=text(50)
    )
    hits, _, _ = attacking.hits({"given": found}, ["unchanged", "context-free"])
    right = [(d, i, found.docs[d][i].upper()) for d, i in found.positions[:20]]
    scored = words.scored({"given": found}, materials.answers(found, right, found.docs), len(right), hits)
    assert (scored["value"], scored["words"], scored["elsewhere"]) == (1.0, 20, 0)
    unchanged = next(row for row in scored["attacks"] if row["attack"] == "unchanged")
    same = [found.released[d][i] == found.docs[d][i] for d, i in found.positions[:20]]
    assert unchanged["value"] == np.mean(same) and report.content["guesses"] is None


def test_what_a_report_begins_with_is_of_the_same_words():
    """Unchanged is measured on all documents and the attack that wins on a sample: both are told of the sample."""
    found = materials.material(text(60), mechanism(epsilon=3.0), shadow=text(50, seed=5))
    everything, some = np.arange(len(found.truths)), np.flatnonzero(found.documents < 7)
    same = np.array(found.outputs) == np.array(found.truths)
    winner = np.ones(len(some), dtype=bool)
    hits = {
        attacking.Attacker("unchanged", True): attacking.Hits(everything, same),
        attacking.Attacker("markov", True): attacking.Hits(some, winner),
        attacking.Attacker("markov", False): attacking.Hits(everything, np.ones(len(everything), dtype=bool)),
    }
    first = words.headline(found, hits)
    listed = [found.truths[at] for at in some]
    assert (first["attack"], first["documents"], first["words"]) == ("markov", 6, len(some))
    assert first["unchanged"] == pytest.approx(same[some].mean()) != pytest.approx(same.mean())
    assert first["blind"] == max(map(listed.count, listed)) / len(some)


def test_the_strongest_is_told_where_all_were_made():
    """An attack that has luck on documents which another never saw is not the stronger one."""
    found = materials.material(text(60), mechanism(), shadow=text(50, seed=5))
    everything, some = np.arange(len(found.truths)), np.flatnonzero(found.documents < 7)
    lucky = np.ones(len(everything), dtype=bool)
    lucky[some] = False
    hits = {
        attacking.Attacker("unchanged", True): attacking.Hits(everything, lucky),
        attacking.Attacker("markov", True): attacking.Hits(some, np.arange(len(some)) % 2 == 0),
    }
    assert words.headline(found, hits)["attack"] == "markov"


# The interval, and pointwise leakage


@given(st.integers(2, 5), st.integers(2, 5), st.integers(0, 10**6))
@settings(max_examples=60, deadline=None)
def test_pointwise_leakage_bounds_every_guess_of_every_function(n, m, seed):
    generator = np.random.default_rng(seed)
    prior, matrix = generator.dirichlet(np.ones(n)), generator.dirichlet(np.ones(m), size=n)
    channel = textsan.Channel.from_matrix(matrix, [f"x{i}" for i in range(n)], [f"y{j}" for j in range(m)])
    leak, marginal = pointwise_leakage(prior, channel), prior @ matrix
    posterior = prior[:, None] * matrix / marginal
    for subset in product((0, 1), repeat=n):
        inside = np.array(subset)
        assert (inside @ posterior <= np.exp(leak) * (inside @ prior) + 1e-9).all()
    assert np.isclose(marginal @ np.exp(leak), matrix.max(axis=0).sum())
    assert bayes_vulnerability(prior, channel) <= np.exp(leak.max()) * prior.max() + 1e-9


# Parts, limits, the report


def test_a_killed_audit_goes_on_and_keeps_no_word(tmp_path, monkeypatch):
    parts, made, real = tmp_path / "r.html.parts", [], attacking.hit

    def stops(attack, *rest):
        made.append(type(attack).__name__)
        if len(made) == 4:
            raise KeyboardInterrupt
        return real(attack, *rest)

    monkeypatch.setattr(attacking, "hit", stops)
    with pytest.raises(KeyboardInterrupt):
        audited(parts=parts)
    kept = list(parts.glob("*.npy"))
    assert len(kept) == 3 and all(np.load(path).dtype == bool for path in kept)
    report = audited(parts=parts)
    fresh = audited()
    assert report.content == fresh.content
    report.clear()
    assert not parts.exists()


def test_workers_and_parts_do_not_change_the_figures(monkeypatch):
    alone = audited()
    monkeypatch.setattr(attacking, "_PART", 7)
    monkeypatch.setattr(attacking, "_SMALL_PART", 5)
    assert audited(workers=2).content == alone.content
    assert audited(workers=2, shadow=None).content == audited(shadow=None).content


def test_the_workers_of_a_dask_scheduler_find_the_same():
    from distributed import LocalCluster

    with LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=":0") as cluster:
        assert audited(scheduler=cluster.scheduler_address).content == audited().content


def states(report):
    return {one["limit"]: one["state"] for one in report.content["decision"]["limits"]}


def test_limits_are_held_against_the_upper_end():
    report = audited(tolerate={"words": 1.0, "documents": 0.0, "names": 1.0})
    assert states(report) == {"documents": "exceeded", "words": "kept", "names": "kept"}
    assert report.verdict == DO_NOT and report.status == 3
    rows = {one["limit"]: one for one in report.content["decision"]["limits"]}
    assert rows["documents"]["high"] >= rows["documents"]["value"] and rows["words"]["asked"]
    content = json.loads(json.dumps(report.content))
    for share, state in ((rows["words"]["value"] - 0.01, "exceeded"), (rows["words"]["high"] - 1e-3, "not shown")):
        again = decided(content, {"words": share, "documents": 1.0})
        assert {one["limit"]: one["state"] for one in again["limits"]}["words"] == state
        assert again["verdict"] == (DO_NOT if state == "exceeded" else OPEN)
    none = audited([["film", "bad"]] * 40, tolerate={"numbers": 0.0})
    assert states(none)["numbers"] == "kept"
    few = audited([["film", "bad"]] * 2, tolerate={"words": 1.0, "documents": 1.0})
    assert few.verdict == OPEN and states(few) == {"words": "not shown", "documents": "not shown"}


# Whose text the attacker has read

UNIFORM = SanText(VECTORS, 0.0)  # each word becomes any other: nothing but lengths is left
WIDE = {"words": 0.5, "documents": 1.0}


def test_half_of_the_rows_are_the_attackers_where_no_text_is_named():
    docs = [*text(58), ["film", "plot"], ["film", "plot"]]
    report = audited(docs, mechanism(3.0), shadow=None, tolerate={"words": 0.9})
    about, rows = report.content["about"], report.content["words"]["attacks"]
    assert about["rows"] == 60 and about["documents"] + about["shadow"]["documents"] == 60
    assert {row["owns"] for row in rows} == {"held-out", "public"}
    first = report.content["words"]["first"]
    told = [row["value"] for row in rows if row["group"] == "all" and row["told"]]
    assert first["value"] == max(told)
    rows_ = report.content["decision"]["limits"]
    assert rows_[1]["value"] >= max(first["value"], report.content["words"]["exact"]["held_out"])
    found = materials.material(docs, mechanism(3.0), shadow=None)
    alike = materials.held_out(found, None)
    held = [row for row in range(60) if row not in alike.rows]
    assert [found.docs[row] for row in held] == list(alike.shadow)
    assert (58 in alike.rows) == (59 in alike.rows)  # equal documents are in one half
    of = [row % 15 for row in range(60)]
    apart = materials.held_out(found, of).rows
    assert not {of[row] for row in apart} & {of[row] for row in range(60) if row not in apart} and len(apart) <= 30
    worst = report.content["documents"]["worst"][0]
    assert worst["document"] in alike.rows
    assert worst["words"] == sum(word in found.attacked for word in found.docs[worst["document"]])


def backwards(n):
    """Text of the same words, whose frequent ones are the rare ones."""
    turned = dict(zip(WORDS, reversed(WORDS), strict=True))
    return [[turned[word] for word in doc] for doc in text(n, seed=5)]


def test_text_unlike_the_owners_keeps_no_limit_and_text_like_it_may():
    like = audited(text(400), UNIFORM, shadow=text(400, seed=5), tolerate=WIDE)
    assert like.verdict == KEPT and like.status == 0 and states(like)["words"] == "kept"
    unlike = audited(text(400), UNIFORM, shadow=backwards(400), tolerate=WIDE)
    assert unlike.content["words"]["first"]["value"] <= like.content["words"]["first"]["value"]
    assert unlike.verdict == OPEN and unlike.status == 4 and states(unlike)["words"] == "not shown"
    assert "unlike yours" in unlike.summary[1]
    held = audited(text(400), UNIFORM, shadow=None, tolerate=WIDE)
    assert held.verdict == KEPT
    public = audited(text(3), UNIFORM, shadow=None, tolerate=WIDE)
    assert public.content["about"]["shadow"]["public"] and public.verdict == OPEN


def test_a_text_of_which_most_words_are_off_the_list_keeps_no_limit():
    """No attack is scored on them: nothing is measured of a text in another language."""
    docs = [[*doc, *[f"wort{number}"] * 8] for number, doc in enumerate(text(400))]
    report = audited(docs, UNIFORM, shadow=text(400, 5), tolerate=WIDE)
    assert report.verdict == OPEN and report.status == 4
    assert "are off the word list, and not measured: another language?" in report.summary[1]


def test_equal_rows_are_said_to_be_too_few_different_ones():
    report = audited([["film", "bad"]] * 60, UNIFORM, shadow=None, tolerate=WIDE)
    assert report.verdict == OPEN and "Different rows are too few to hold half of them out" in report.summary[1]


def test_public_text_alone_never_keeps_a_limit():
    """An attacker who has read film reviews, say, decides on notes of another kind, as the default once did."""
    report = audited(text(400), UNIFORM, shadow=None, tolerate=WIDE)
    content = json.loads(json.dumps(report.content))
    assert decided(content, WIDE)["verdict"] == KEPT
    content["words"]["exact"] |= {"held_out": None, "behind": None}
    assert decided(content, WIDE)["verdict"] == OPEN
    content["words"]["exact"] |= {"held_out": 0.6, "behind": 0.0}  # V(X|Y) of the held-out rows is above the limit
    assert decided(content, WIDE)["verdict"] == DO_NOT


def test_words_released_verbatim_are_do_not_release():
    leaking = textsan.mechanisms.ChannelMechanism(textsan.Channel.from_matrix(np.eye(14), WORDS, WORDS))
    for shadow in (None, text(400, seed=5)):
        report = audited(text(400), leaking, shadow=shadow, tolerate={"words": 0.9, "documents": 1.0})
        assert report.verdict == DO_NOT and report.summary[0] == "Do not release"
    docs = [[*doc, f"off{number}list"] for number, doc in enumerate(text(400))]
    for oov, verdict in (("uniform", KEPT), ("keep", DO_NOT)):
        shown = audited(docs, SanText(VECTORS, 0.0, oov=oov), shadow=text(400, 5), tolerate=WIDE)
        assert shown.verdict == verdict


def test_documents_have_a_limit_by_default_and_words_need_one():
    report = audited(text(400), UNIFORM, tolerate={"words": 0.5})
    (row,) = (one for one in report.content["decision"]["limits"] if one["limit"] == "documents")
    assert not row["asked"] and np.isclose(row["at_most"], report.content["linkage"]["length"] + 0.05)
    plain = audited(text(400), UNIFORM, tolerate={"documents": 1.0})
    assert plain.verdict == OPEN and "No limit for words was asked for" in plain.summary[1]
    assert audited(text(400), SanText(VECTORS, 50.0), tolerate={"words": 1.0}).verdict == DO_NOT


def test_a_smaller_epsilon_gives_what_an_audit_at_it_finds():
    made = SanText(VECTORS, 9.0)
    report = audited(text(200), made, tolerate={"words": 0.4})
    smaller = report.content["smaller"]
    assert smaller["within"] and smaller["value"] <= 0.4 < smaller["now"]
    alike = materials.held_out(materials.material(text(200), made, shadow=text(50, seed=5)), None)
    for epsilon, within in ((smaller["epsilon"], True), (1.2 * smaller["epsilon"], False)):
        there = materials.material(alike.texts, made.with_(epsilon=epsilon), shadow=alike.shadow)
        assert (words.exact(there, words.rule(there))["rule"] <= 0.4) == within or not within
    assert not audited(text(200), mechanism(3.0), tolerate={"words": 0.01}).content["smaller"]["within"]
    assert audited(made=textsan.Random(VECTORS)).content["smaller"] is None


def test_a_hundred_words_are_one_grid():
    report = audited(secret(60), mechanism(2.0), shadow=None)
    about, first = report.content["about"], report.content["words"]["first"]
    scored = about["scored"] / about["words"]
    shares = {
        "released as they are, by the mechanism's own rule": about["let_through"] / about["words"],
        "off the list, replaced by uniform draws": about["unknown"] / about["words"],
        "drawn as themselves, and so released verbatim": first["unchanged"] * scored,
        "recovered by the strongest attack": (first["value"] - first["unchanged"]) * scored,
    }
    drawn = {legend: share for _, share, legend in fates(report.content)}
    assert sum(drawn.values()) == pytest.approx(1) and list(drawn) == [*shares, "not recovered"]
    assert all(drawn[legend] == pytest.approx(share) for legend, share in shares.items())


def test_one_document_is_shown_before_after_and_read_back(monkeypatch):
    docs = text(60)
    shown = audited(docs, mechanism(3.0), shadow=None).content["example"]
    found = materials.material(docs, mechanism(3.0), shadow=None)
    document = shown["document"]
    assert shown["before"] == found.docs[document] and shown["after"] == found.released[document]
    assert shown["scored"] == [i for d, i in found.positions if d == document]
    assert document in materials.held_out(found, None).rows and len(shown["read"]) == len(shown["scored"])
    silent = audited(docs, quotes=False)
    assert silent.content["example"] is None and "read back" not in silent.html()


def test_the_json_is_as_its_schema_says(tmp_path):
    schema = json.loads(SCHEMA.read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    labels = ["x" if i % 2 else "y" for i in range(60)]
    released = mechanism().sanitize(text(60), seed=3)
    report = audited(
        released=released, labels=labels, guesses=[(d, 1, "film") for d in range(60)], tolerate={"words": 0.1}
    )
    report.to_json(tmp_path / "r.json")
    content = json.loads((tmp_path / "r.json").read_text(), parse_constant=pytest.fail)
    jsonschema.validate(content, schema)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(content | {"more": 1}, schema)
    for made in (SanText(VECTORS, 1.0), textsan.Random(VECTORS), mechanism(mapping="overlapping")):
        for more in ({"shadow": None, "quotes": False, "beside": ["name"]}, {}):
            jsonschema.validate(json.loads(json.dumps(audited(made=made, **more).content)), schema)
    few = audited(text(2), shadow=None)
    jsonschema.validate(json.loads(json.dumps(few.content)), schema)


def test_the_page_needs_nothing_beside_it(tmp_path):
    report = audited(tolerate={"words": 0.0})
    report.to_html(tmp_path / "r.html")
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert "<svg" in page and "prefers-color-scheme: dark" in page and "@media print" in page
    assert not {"http://", "https://", "<script", "<link", "url("} & {part for part in page.split('"')}
    assert "http" not in page and "src=" not in page and "exceeded" in page
    assert '<p class="verdict exceeded">Do not release</p>' in page
    assert (tmp_path / "r.html").stat().st_mode & 0o777 == 0o600  # it may quote
    assert [path.name for path in tmp_path.iterdir()] == ["r.html"]


def test_what_stands_in_a_word_is_no_markup(tmp_path):
    strange = Embeddings([*WORDS, "<b>bold&</b>"], np.vstack([VECTORS.vectors, [9.0] * 4]))
    report = audited([["film", "<b>bold&</b>"]] * 40, CusText(strange, 9.0, k=3), shadow=[["film", "bad"]] * 40)
    assert "<b>bold" not in report.html() and "&lt;b&gt;bold&amp;" in report.html()


def test_where_there_is_no_terminal_a_plain_line_says_how_far_it_is(monkeypatch, capsys):
    now = iter([0.0, 1.0, 30.0, 31.0, 60.0])
    monkeypatch.setattr(progress.time, "monotonic", lambda: next(now))
    with progress.reporting("documents") as report:
        for done in (100, 400, 500, 1000):
            report(done, 2000)
    lines = capsys.readouterr().err.splitlines()
    assert lines == [
        "textsan: so far 400 of 2,000 documents; at this speed 3 min more",
        "textsan: so far 1,000 of 2,000 documents; at this speed 1 min more",
    ]


def test_a_task_keeps_what_the_words_say_and_nothing_where_they_do_not():
    docs = [["film", "good"] if i % 2 else ["plot", "bad"] for i in range(80)]
    labels = ["x" if i % 2 else "y" for i in range(80)]
    for made, low, high in ((SanText(VECTORS, 50.0), 0.95, 1.0), (textsan.Random(VECTORS), 0.2, 0.7)):
        found = use.kept(materials.material(docs, made, shadow=text(50)), labels, 500)
        assert found["original"]["value"] == 1.0 and low <= found["released"]["value"] <= high
        assert found["reader"].startswith("word counts") and found["largest"] == 0.5


# Nothing quoted


def secret(n=40):
    """A text with a planted word that the vocabulary lacks, and one, a name, that it has."""
    return [" ".join([*doc, PLANTED, "smith"]) for doc in text(n)]


def test_without_quotes_neither_word_nor_name_is_shown(tmp_path):
    loud = audited(secret(), SanText(VECTORS, 9.0))
    assert "smith" in loud.html() and "quotes words" in loud.html()
    silent = audited(secret(), SanText(VECTORS, 9.0, oov="keep"), quotes=False)
    silent.to_json(tmp_path / "r.json")
    for written in (silent.html(), (tmp_path / "r.json").read_text(), repr(silent), *silent.summary):
        assert PLANTED not in written.lower() and "smith" not in written.lower()
    assert HIDDEN in silent.html()


def test_the_clause_of_a_lonely_word_is_masked(monkeypatch):
    monkeypatch.setattr(quotes, "public_words", lambda inputs: frozenset())
    lonely = CusText(VECTORS, 1.0, k=13)  # the last word is a group by itself, and is named by the guarantee
    alone = lonely.group_words[-1][0]
    report = audited([[alone, "film"]] * 40, lonely, quotes=False)
    assert any(HIDDEN in clause for clause in report.content["mechanism"]["exposed"])


@pytest.mark.parametrize("error", [ValueError, KeyError, OSError, TypeError, IndexError, RuntimeError])
def test_no_error_and_no_traceback_quotes(monkeypatch, error):
    def fails(*_):
        raise error(f"it was {PLANTED} and {PLANTED.title()}, said Smith")

    for module, name in ((words, "rates"), (documents, "exposure"), (linking, "linked"), (attacking, "hits")):
        with monkeypatch.context() as patched:
            patched.setattr(module, name, lambda *_, **__: fails())
            with pytest.raises((ValueError, KeyError, RuntimeError)) as caught:
                audited(secret(), quotes=False)
            told = "".join(traceback.format_exception(caught.value)) + str(caught.value)
            assert PLANTED not in told.lower() and "smith" not in told.lower()
            assert caught.value.__context__ is None


def test_an_error_keeps_the_words_of_its_own_message_whatever_the_text_has():
    """Phrases of three words or more of the module that raises it; what it quotes stays hidden."""
    docs = ["a good film is out of range; pass it a number of least bad words in one order"] * 40
    for more, message in (
        ({"among": 1}, "among: 1 is out of range; pass a number of at least 2"),
        ({"released": [["a"]] * 40}, "; pass the release of this very text, in the same order"),
    ):
        with pytest.raises(ValueError) as caught:
            audited(docs, quotes=False, **more)
        assert str(caught.value).replace(HIDDEN, "1").endswith(message)
    with pytest.raises(ValueError) as caught:
        unquoted(False, ["smith is unknown"], [], lambda: checks.choice("oov", "smith", ["keep"]))
    assert str(caught.value) == f"oov: '{HIDDEN}' is unknown; pass one of 'keep'"


def test_the_first_words_of_ones_own_list_are_not_taken_for_the_most_frequent(monkeypatch):
    monkeypatch.undo()
    monkeypatch.setattr(quotes, "load_embeddings", lambda: VECTORS)
    quotes._most_frequent.cache_clear()
    assert quotes.public_words([PLANTED, "film"]) == {"film"}
    quotes._most_frequent.cache_clear()
    monkeypatch.setattr(quotes, "load_embeddings", lambda: open("nowhere/at/all"))
    assert quotes.public_words([PLANTED, "film"]) == frozenset()
    quotes._most_frequent.cache_clear()


def test_words_are_masked_whole():
    assert masked("cat, catalogue; CAT!", frozenset({"cat"})) == f"{HIDDEN}, catalogue; {HIDDEN}!"
    assert unquoted(False, ["cat"], [], lambda: "cat") == "cat"
    with pytest.raises(ZeroDivisionError):
        unquoted(True, ["cat"], [], lambda: 1 / 0)


@pytest.mark.parametrize("token", ["o'brien", "O'Brien", "new_york", "john.smith@x.com", "+49-171", "@joe"])
def test_words_of_lists_are_masked_though_no_text_would_have_them(token):
    """A list may hold tokens that the book's own way to cut a text never makes."""
    said = masked(f"released: {token!r} of document 0", frozenset({token}))
    assert token not in said and HIDDEN in said


# Files and the command


run = command("audit")


CUSTEXT = ("--mechanism", "custext", "--epsilon", "1", "--k", "4")


def write(path, docs, labels=None):
    with open(path, "w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["id", "text", "class"])
        for i, doc in enumerate(docs):
            rows.writerow([i, doc if isinstance(doc, str) else " ".join(doc), labels[i] if labels else ""])


def test_a_table_gets_a_report_and_a_json(run, tmp_path):
    write(tmp_path / "in.csv", text(60), ["x" if i % 2 else "y" for i in range(60)])
    result = run(*CUSTEXT, "in.csv", "--label", "class", "-o", "r.html")
    assert result.exit_code in (3, 4), result.output  # no limit for words was asked for
    content = json.loads((tmp_path / "r.json").read_text())
    assert content["about"]["rows"] == 60 and content["use"]["classes"] == 2
    assert "Of 100 words that should be protected" in result.stdout
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in.csv", "r.html", "r.json"]


def test_the_status_says_whether_limits_hold(run, tmp_path):
    write(tmp_path / "in.csv", text(200))
    wide = ("--tolerate", "words=1", "--tolerate", "documents=1")
    result = run(*CUSTEXT, "in.csv", *wide)
    assert result.exit_code == 0 and result.stdout.startswith("Limit kept against these attacks\n1. ")
    result = run(*CUSTEXT, "in.csv", "--tolerate", "words=1", "--tolerate", "documents=0.01")
    assert result.exit_code == 3 and result.stdout.startswith("Do not release\n1. ")
    assert "Another column removed: id, class" in result.stdout
    assert (tmp_path / "audit.html").is_file()  # a limit that does not hold is a finding, no failure
    assert {path.stat().st_mode & 0o777 for path in tmp_path.glob("audit.*")} == {0o600}
    result = run(*CUSTEXT, "in.csv", "--tolerate", "documents=1")
    assert result.exit_code == 4 and result.stdout.startswith("Not shown\n1. ")
    grouped = run(*CUSTEXT, "in.csv", *wide, "--group", "id")
    assert grouped.exit_code == 0, grouped.output


def test_a_release_is_audited_by_its_record(run, tmp_path):
    write(tmp_path / "in.csv", text(60))
    columns = ("--pass", "id", "--pass", "class")
    sanitized = CliRunner().invoke(main, ["sanitize", *CUSTEXT, "--keep-case", *columns, "in.csv", "safe.csv"])
    assert sanitized.exit_code == 0, sanitized.output
    (tmp_path / "g.csv").write_text("document,index,word\n" + "".join(f"{d},1,film\n" for d in range(60)))
    result = run("in.csv", "--released", "safe.csv", "--guesses", "g.csv")
    assert result.exit_code in (3, 4), result.output
    content = json.loads((tmp_path / "audit.json").read_text())
    assert content["guesses"]["given"] == 60 > content["guesses"]["elsewhere"]
    assert not content["about"]["rehearsed"] and content["mechanism"]["epsilon"] == 1


BAD = [
    ("in.csv", "text\n", (), "holds no document"),
    ("in.csv", "text\ngood film\n", (), "pass two texts or more"),
    ("in.csv", "text\n...\n!!!\n", (), "no word of them is protected"),
    ("in.txt", "good\nfilm\n", ("--tolerate", "words"), "NAME=SHARE"),
    ("in.txt", "good\nfilm\n", ("--tolerate", "words=0.1", "--tolerate", "words=0.9"), "two limits"),
    ("in.txt", "good\nfilm\n", ("--tolerate", "words=2"), "out of range"),
    ("in.txt", "good\nfilm\n", ("--tolerate", "letters=0.2"), "unknown"),
    ("in.txt", "good\nfilm\n", ("--attacks", "nobody"), "unknown"),
    ("in.txt", "good\nfilm\n", ("--attacks", "contextual bound"), "is a bound"),
    ("in.txt", "good\nfilm\n", ("-o", "r.json"), "another ending"),
    ("in.txt", "good\nfilm\n", ("--guesses", "in.txt"), "jsonl or csv"),
    ("in.txt", "good\nfilm\n", ("--released", "in.txt"), "one of the two"),
]


@pytest.mark.parametrize("name, content, arguments, message", BAD)
def test_bad_input_is_one_line_and_leaves_nothing(run, tmp_path, name, content, arguments, message):
    (tmp_path / name).write_text(content)
    for quiet in ((), ("--no-quotes",)):
        result = run(*CUSTEXT, name, *arguments, *quiet)
        assert result.exit_code == 2 and result.stderr.count("\n") == 1, result.output
        assert message in result.stderr or quiet
        assert sorted(path.name for path in tmp_path.iterdir()) == [name]


def test_a_mechanism_without_a_channel_is_refused(run, tmp_path):
    (tmp_path / "in.txt").write_text("good film\nbad film\n")
    result = run("--mechanism", "fbdd", "--epsilon", "1", "in.txt")
    assert result.exit_code == 2 and "no exact channel" in result.stderr and result.stderr.count("\n") == 1


@pytest.mark.parametrize(
    "change, message",
    [
        (lambda lines, record: (lines[:-1], record), "documents for"),
        (lambda lines, record: ([*lines[:-1], lines[-1] + " film"], record), "words and its original"),
        (lambda lines, record: (lines, record | {"parameters": record["parameters"] | {"hue": 9}}), "hue"),
        (lambda lines, record: (lines, record | {"mechanism": "nobody"}), "not registered"),
        (lambda lines, record: (lines, []), "no record"),
        (lambda lines, record: (lines, record | {"writing": "spacing of sacremoses"}), "detokenize"),
        (lambda lines, record: ([" ".join("qq" for _ in line.split()) for line in lines], record), "released"),
    ],
)
def test_a_release_that_does_not_fit_is_one_line(run, tmp_path, change, message):
    (tmp_path / "in.txt").write_text("good film\nbad , story\nthe plot\n")
    assert CliRunner().invoke(main, ["sanitize", *CUSTEXT, "in.txt", "safe.txt"]).exit_code == 0
    record = json.loads((tmp_path / "safe.txt.json").read_text())
    lines, record = change((tmp_path / "safe.txt").read_text().splitlines(), record)
    (tmp_path / "safe.txt").write_text("\n".join(lines) + "\n")
    if record:
        record["sha256"] = assets.file_sha256(tmp_path / "safe.txt")
    (tmp_path / "safe.txt.json").write_text(json.dumps(record))
    result = run("in.txt", "--released", "safe.txt")
    assert result.exit_code == 2 and message in result.stderr and result.stderr.count("\n") == 1, result.output
    assert not list(tmp_path.glob("audit*"))


def test_a_release_of_0_2_0_is_cut_as_it_was(run, tmp_path):
    lines = ["good film of J.Smith", "bad film, soft\u00adware", *(["the plot"] * 30)]
    (tmp_path / "in.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    assert CliRunner().invoke(main, ["sanitize", *CUSTEXT, "in.txt", "safe.txt"]).exit_code == 0
    record = json.loads((tmp_path / "safe.txt.json").read_text())
    released = recorded_mechanism(record).sanitize([tokenize_v1(line) for line in lines])
    (tmp_path / "safe.txt").write_text("\n".join(map(" ".join, released)) + "\n", encoding="utf-8")
    old = {key: value for key, value in record.items() if key != "sha256"} | {"tokenizer": "textsan.tokenize"}
    for tokenizer, status in (("textsan.tokenize", 4), ("textsan.tokenize 9", 2)):
        (tmp_path / "safe.txt.json").write_text(json.dumps(old | {"tokenizer": tokenizer}))
        result = run("in.txt", "--released", "safe.txt")
        assert result.exit_code == status, result.output
    assert "tokenizer 'textsan.tokenize 9' is unknown" in result.stderr


def test_no_header_is_quoted_without_quotes(run, tmp_path):
    (tmp_path / "in.csv").write_text(f"{PLANTED}\n{PLANTED}\n")
    assert PLANTED in run(*CUSTEXT, "in.csv").stderr
    result = run(*CUSTEXT, "in.csv", "--no-quotes")
    assert result.exit_code == 2 and PLANTED not in result.output


@given(
    st.lists(st.text(max_size=12), max_size=6),
    st.sampled_from(["txt", "jsonl", "csv", "tsv"]),
    st.booleans(),
)
@settings(max_examples=40, deadline=None)
def test_no_text_makes_a_traceback(tmp_path_factory, lines, kind, quiet):
    folder = tmp_path_factory.mktemp("fuzz")
    path = folder / f"in.{kind}"
    path.write_text("text\n" * (kind in ("csv", "tsv")) + "\n".join(lines), encoding="utf-8", errors="replace")
    silent = ["--no-quotes"] if quiet else []
    result = CliRunner().invoke(main, ["audit", str(path), *CUSTEXT, "-o", str(folder / "r.html"), *silent])
    assert result.exit_code in (2, 3, 4), result.output
    assert result.exception is None or isinstance(result.exception, SystemExit)
    if result.exit_code == 2:
        assert result.stderr.count("\n") == 1 and not (folder / "r.html").exists()
