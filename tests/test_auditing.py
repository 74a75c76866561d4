"""`textsan audit`: small exact worlds, a planted word that nobody may quote, and input that does not fit."""

import csv
import gzip
import io
import json
import traceback
from itertools import product

import jsonschema
import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given, settings, strategies as st

import textsan
from textsan import CusText, Embeddings, Knowledge, SanText
from textsan.attacks import ContextFreeBayes
from textsan.auditing import (
    attacking,
    documents,
    files,
    guesses,
    headline,
    linking,
    material as materials,
    measuring,
    quotes,
    use,
    words,
)
from textsan.auditing.quotes import HIDDEN, masked, unquoted
from textsan.auditing.report import FEW, SCHEMA, Report, hundred, odds
from textsan.cli import progress
from textsan.cli.main import main
from textsan.evaluation import clustered_rate
from textsan.leakage import bayes_vulnerability, pointwise_leakage, repeated_leakage
from textsan.mechanisms import make

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
    for module in (measuring, quotes):
        monkeypatch.setattr(module, "public_words", lambda inputs: frozenset(inputs[:5]))
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
    assert [guess[y] for y in found.came] == attack.reconstruct(found.released, found.positions)


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


def test_guesses_are_scored_on_their_positions_beside_the_attacks():
    report = audited(released=mechanism().sanitize(text(60), seed=3))
    found = materials.material(
        text(60), mechanism(), released=mechanism().sanitize(text(60), seed=3), shadow=text(50)
    )
    hits, _ = attacking.hits(found, ["unchanged", "context-free"])
    right = [(d, i, found.docs[d][i].upper()) for d, i in found.positions[:20]]
    scored = guesses.scored(found, right, hits)
    assert (scored["value"], scored["words"], scored["elsewhere"]) == (1.0, 20, 0)
    unchanged = next(row for row in scored["attacks"] if row["attack"] == "unchanged")
    same = [found.released[d][i] == found.docs[d][i] for d, i in found.positions[:20]]
    assert unchanged["value"] == np.mean(same) and report.content["guesses"] is None


def test_what_a_report_begins_with_is_of_the_same_words():
    """Unchanged is measured on all documents and the attack that wins on a sample: both are told of the sample."""
    found = materials.material(text(60), mechanism(epsilon=3.0), shadow=text(50, seed=5))
    everything, some = np.arange(len(found.truths)), np.flatnonzero(found.documents < 7)
    same = np.array(found.came) == np.array(found.truths)
    winner = np.ones(len(some), dtype=bool)
    hits = {
        attacking.Asked("unchanged", True): attacking.Hits(everything, same),
        attacking.Asked("markov", True): attacking.Hits(some, winner),
        attacking.Asked("markov", False): attacking.Hits(everything, np.ones(len(everything), dtype=bool)),
    }
    first = headline.headline(found, hits)
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
        attacking.Asked("unchanged", True): attacking.Hits(everything, lucky),
        attacking.Asked("markov", True): attacking.Hits(some, np.arange(len(some)) % 2 == 0),
    }
    assert headline.headline(found, hits)["attack"] == "markov"


# The interval, and pointwise leakage


def test_the_interval_of_hanging_hits_holds():
    generator, missed = np.random.default_rng(1), 0
    for _ in range(400):
        rates = generator.beta(2, 5, size=60)  # mean 2 / 7, documents differ
        sizes = generator.integers(1, 12, size=60)
        group = np.repeat(np.arange(60), sizes)
        found = clustered_rate(generator.random(len(group)) < rates[group], group)
        missed += not found.low <= 2 / 7 <= found.high
    assert missed <= 36  # 5 % of 400, and three and a half standard errors
    one = clustered_rate([True, False], [0, 0])
    assert (one.low, one.high) == (0, 1)


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
    assert np.isclose(repeated_leakage(prior, channel, ["y0"]), leak[0])
    two = repeated_leakage(prior, channel, ["y0", "y1"])
    then = pointwise_leakage(posterior[:, 0], channel, ["y1"])[0]
    assert two <= leak[0] + then + 1e-9
    assert bayes_vulnerability(prior, channel) <= np.exp(leak.max()) * prior.max() + 1e-9


# Parts, limits, the report


def test_a_killed_audit_goes_on_and_keeps_no_word(tmp_path, monkeypatch):
    parts, made, real = tmp_path / "r.html.parts", [], attacking._hits

    def stops(needed, attack, *rest):
        made.append(type(attack).__name__)
        if len(made) == 4:
            raise KeyboardInterrupt
        return real(needed, attack, *rest)

    monkeypatch.setattr(attacking, "_hits", stops)
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


def test_the_workers_of_a_dask_scheduler_find_the_same():
    from distributed import LocalCluster

    with LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=None) as cluster:
        assert audited(scheduler=cluster.scheduler_address).content == audited().content
    with (
        LocalCluster(n_workers=0, dashboard_address=None) as empty,
        pytest.raises(ConnectionError, match="start some"),
    ):
        audited(scheduler=empty.scheduler_address)


def test_limits_are_held_against_the_upper_end():
    rows = audited(tolerate={"words": 1.0, "documents": 0.0, "names": 1.0}).content["decision"]
    assert [(one["limit"], one["kept"]) for one in rows] == [
        ("words", True),
        ("documents", False),
        ("names", True),
    ]
    assert rows[1]["high"] > rows[1]["value"] - 1e-12
    none = audited([["film", "bad"]] * 40, tolerate={"numbers": 0.0})
    assert none.exceeded == [] and none.content["decision"][0]["value"] is None
    few = audited([["film", "bad"]] * 2, tolerate={"words": 1.0})
    assert few.exceeded == ["words"] and any("not shown to hold by so few" in one for one in few.said)


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
        jsonschema.validate(json.loads(json.dumps(audited(made=made).content)), schema)


def test_the_page_needs_nothing_beside_it(tmp_path):
    report = audited(tolerate={"words": 0.0})
    report.to_html(tmp_path / "r.html")
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert "<svg" in page and "prefers-color-scheme: dark" in page and "@media print" in page
    assert not {"http://", "https://", "<script", "<link", "url("} & {part for part in page.split('"')}
    assert "http" not in page and "src=" not in page and "exceeded" in page
    best = report.content["words"]["first"]
    assert f"<strong>{hundred(best['value'])}</strong>" in page
    assert [path.name for path in tmp_path.iterdir()] == ["r.html"]


def test_an_option_is_named_on_one_line_and_two_documents_have_one_other():
    page = textsan.audit(text(60)[:2], mechanism(), among=10).html()
    assert "<code>--shadow</code>" in page and "told apart from 1 other\n" in page


def test_what_stands_in_a_word_is_no_markup(tmp_path):
    strange = Embeddings([*WORDS, "<b>bold&</b>"], np.vstack([VECTORS.vectors, [9.0] * 4]))
    report = audited([["film", "<b>bold&</b>"]] * 40, CusText(strange, 9.0, k=3), shadow=[["film", "bad"]] * 40)
    assert "<b>bold" not in report.html() and "&lt;b&gt;bold&amp;" in report.html()


def test_few_documents_decide_nothing():
    report = audited([["film", "bad"], ["good"]])
    assert "2 documents with a word that counts decide nothing" in report.said[0]
    assert "decide nothing" in report.html() and "decide nothing" not in audited([["film", "bad"]] * FEW).html()


def test_empty_documents_decide_nothing_either():
    report = audited([["film", "bad"], ["good"], *[[]] * FEW], tolerate={"words": 1.0})
    assert "decide nothing" in report.html() and not any(row["kept"] for row in report.content["decision"])


@pytest.mark.parametrize(
    "value, low, clause",
    [
        (0.04, 0.03, "that a reader does better is not shown"),
        (0.06, 0.041, "that a reader does better is not shown"),
        (0.2, 0.1, None),
    ],
)
def test_where_a_reader_is_not_shown_to_do_better_than_without_a_release_that_is_said(value, low, clause):
    content = json.loads(json.dumps(audited().content))
    content["words"]["first"] |= {"value": value, "low": low, "high": 0.3, "blind": 0.05}
    content["linkage"] |= {"main": {"value": value, "low": low, "high": 0.3}, "length": 0.05}
    report = Report(content)
    for shown in (" ".join(report.said), report.html()):
        assert (clause in shown) if clause else "better" not in shown.partition("do not cover")[0]
        assert ("the words add" in shown) == (clause is not None)


def test_where_there_is_no_terminal_a_plain_line_says_how_far_it_is(monkeypatch, capsys):
    now = iter([0.0, 1.0, 30.0, 31.0, 60.0])
    monkeypatch.setattr(progress.time, "monotonic", lambda: next(now))
    with progress.told("documents") as told:
        for done in (100, 400, 500, 1000):
            told(done, 2000)
    lines = capsys.readouterr().err.splitlines()
    assert lines == [
        "textsan: so far 400 of 2,000 documents; at this speed 3 min more",
        "textsan: so far 1,000 of 2,000 documents; at this speed 1 min more",
    ]


def test_a_part_of_an_attack_is_progress(monkeypatch):
    monkeypatch.setattr(attacking, "_SMALL_PART", 10)
    said = []
    audited(progress=lambda *now: said.append(now))
    assert said == sorted(said) and said[-1][0] == said[-1][1]
    assert len({done for done, _ in said}) > len(attacking.DEFAULT) * 2


def test_a_task_keeps_what_the_words_say_and_nothing_where_they_do_not():
    docs = [["film", "good"] if i % 2 else ["plot", "bad"] for i in range(80)]
    labels = ["x" if i % 2 else "y" for i in range(80)]
    for made, low, high in ((SanText(VECTORS, 50.0), 0.95, 1.0), (textsan.Random(VECTORS), 0.2, 0.7)):
        found = use.kept(materials.material(docs, made, shadow=text(50)), labels, 500)
        assert found["original"]["value"] == 1.0 and low <= found["released"]["value"] <= high
        assert found["reader"].startswith("word counts") and found["largest"] == 0.5


def test_numbers_are_said_as_people_say_them():
    assert [hundred(share) for share in (0.0, 0.004, 0.5, 0.996, 1.0)] == [
        "none",
        "fewer than 1",
        "50",
        "more than 99",
        "100",
    ]
    assert odds(0.004) == "hardly any" and odds(0.999) == "nearly all" and odds(0.5) == "about 1 in 2"
    assert odds(0.06) == "about 1 in 17" and odds(0.94) == "all but 1 in 17"  # not in ten


# Nothing quoted


def secret(n=40):
    """A text with a planted word that the vocabulary lacks, and one, a name, that it has."""
    return [" ".join([*doc, PLANTED, "smith"]) for doc in text(n)]


def test_without_quotes_neither_word_nor_name_is_shown(tmp_path):
    loud = audited(secret(), SanText(VECTORS, 9.0))
    assert "smith" in loud.html() and "quotes words" in loud.html()
    silent = audited(secret(), SanText(VECTORS, 9.0, oov="keep"), quotes=False)
    silent.to_json(tmp_path / "r.json")
    for written in (silent.html(), (tmp_path / "r.json").read_text(), repr(silent), *silent.said):
        assert PLANTED not in written.lower() and "smith" not in written.lower()
    assert HIDDEN in silent.html()


def test_the_clause_of_a_lonely_word_is_masked(monkeypatch):
    for module in (measuring, quotes):
        monkeypatch.setattr(module, "public_words", lambda inputs: frozenset())
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


def test_words_are_masked_whole():
    assert masked("cat, catalogue; CAT!", frozenset({"cat"})) == f"{HIDDEN}, catalogue; {HIDDEN}!"
    assert unquoted(frozenset({"cat"}), lambda: "cat") == "cat"
    with pytest.raises(ZeroDivisionError):
        unquoted(None, lambda: 1 / 0)


@pytest.mark.parametrize("token", ["o'brien", "O'Brien", "new_york", "john.smith@x.com", "+49-171", "@joe"])
def test_words_of_lists_are_masked_though_no_text_would_have_them(token):
    """A list may hold tokens that the book's own way to cut a text never makes."""
    said = masked(f"released: {token!r} of document 0", frozenset({token}))
    assert token not in said and HIDDEN in said


# Files and the command


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def call(*arguments, **options):
        return CliRunner().invoke(main, ["audit", *map(str, arguments)], **options)

    return call


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
    assert result.exit_code == 0, result.output
    content = json.loads((tmp_path / "r.json").read_text())
    assert content["about"]["documents"] == 60 and content["use"]["classes"] == 2
    assert "Of 100 words that should be protected" in result.stdout
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in.csv", "r.html", "r.json"]


def test_the_report_calls_the_mechanism_as_it_is_registered(run, tmp_path):
    plus = ("--mechanism", "custext+", "--epsilon", "1", "--k", "4")
    write(tmp_path / "in.csv", text(60))
    assert run(*plus, "in.csv").exit_code == 0
    assert "under CusText+" in " ".join((tmp_path / "audit.html").read_text().split())
    assert CliRunner().invoke(main, ["sanitize", *plus, "--field", "text", "in.csv", "safe.csv"]).exit_code == 0
    assert run("in.csv", "--released", "safe.csv", "-o", "of.html").exit_code == 0
    assert json.loads((tmp_path / "of.json").read_text())["mechanism"]["name"] == "CusText+"
    assert audited().content["mechanism"]["name"] == "CusText"  # who calls Python may say more, with called=


def test_the_status_says_whether_limits_hold(run, tmp_path):
    write(tmp_path / "in.csv", text(60))
    assert run(*CUSTEXT, "in.csv", "--tolerate", "words=1").exit_code == 0
    result = run(*CUSTEXT, "in.csv", "--tolerate", "words=1", "--tolerate", "documents=0.01")
    assert result.exit_code == 3 and "exceeded" in result.stdout
    assert (tmp_path / "audit.html").is_file()  # a limit that does not hold is a finding, no failure


def test_a_release_is_audited_by_its_record(run, tmp_path):
    write(tmp_path / "in.csv", text(60))
    sanitized = CliRunner().invoke(main, ["sanitize", *CUSTEXT, "--keep-case", "in.csv", "safe.csv"])
    assert sanitized.exit_code == 0, sanitized.output
    (tmp_path / "g.csv").write_text("document,index,word\n" + "".join(f"{d},1,film\n" for d in range(60)))
    result = run("in.csv", "--released", "safe.csv", "--guesses", "g.csv")
    assert result.exit_code == 0, result.output
    content = json.loads((tmp_path / "audit.json").read_text())
    assert content["guesses"]["given"] == 60 > content["guesses"]["elsewhere"]
    assert not content["about"]["rehearsed"] and content["mechanism"]["epsilon"] == 1


@pytest.mark.parametrize("name", ["in.txt", "in.jsonl", "in.csv", "in.tsv", "in.csv.gz"])
def test_every_format_is_read(run, tmp_path, name):
    lines = [" ".join(doc) for doc in text(40)]
    if "jsonl" in name:
        content = "".join(json.dumps({"text": line}) + "\n" for line in lines)
    elif "txt" in name:
        content = "\n".join(lines)
    else:
        file = io.StringIO()
        csv.writer(file, delimiter="\t" if "tsv" in name else ",").writerows(
            [["text"], *([line] for line in lines)]
        )
        content = file.getvalue()
    data = content.encode()
    (tmp_path / name).write_bytes(gzip.compress(data) if name.endswith("gz") else data)
    assert run(*CUSTEXT, name).exit_code == 0
    assert json.loads((tmp_path / "audit.json").read_text())["about"]["documents"] == 40


BAD = [
    ("in.csv", "", (), "it is empty"),
    ("in.csv", "text\n", (), "holds no document"),
    ("in.csv", "text\ngood film\n", (), "pass two texts or more"),
    ("in.csv", "text\n\n,\n", (), "columns"),
    ("in.csv", "text\n...\n!!!\n", (), "no word of them is protected"),
    ("in.csv", "words\ngood\n", (), "did you mean|no column"),
    ("in.txt", "good\nfilm\n", ("--field", "x"), "txt has no field"),
    ("in.txt", "good\nfilm\n", ("--label", "x"), "txt has no field"),
    ("in.txt", "good\nfilm\n", ("--tolerate", "words"), "NAME=SHARE"),
    ("in.txt", "good\nfilm\n", ("--tolerate", "words=0.1", "--tolerate", "words=0.9"), "two limits"),
    ("in.txt", "good\nfilm\n", ("--tolerate", "words=2"), "out of range"),
    ("in.txt", "good\nfilm\n", ("--tolerate", "letters=0.2"), "unknown"),
    ("in.txt", "good\nfilm\n", ("--attacks", "nobody"), "unknown"),
    ("in.txt", "good\nfilm\n", ("--attacks", "contextual bound"), "is a bound"),
    ("in.txt", "good\nfilm\n", ("--shadow", "none.txt"), "does not exist"),
    ("in.txt", "good\nfilm\n", ("-o", "nowhere/r.html"), "folder"),
    ("in.txt", "good\nfilm\n", ("-o", "r.json"), "another ending"),
    ("in.txt", "good\nfilm\n", ("--guesses", "in.txt"), "jsonl or csv"),
    ("in.txt", "good\nfilm\n", ("--released", "in.txt"), "one of the two"),
    ("in.docx", "good\n", (), "says no format"),
]


@pytest.mark.parametrize("name, content, arguments, message", BAD)
def test_bad_input_is_one_line_and_leaves_nothing(run, tmp_path, name, content, arguments, message):
    (tmp_path / name).write_text(content)
    for quiet in ((), ("--no-quotes",)):
        result = run(*CUSTEXT, name, *arguments, *quiet)
        assert result.exit_code == 2 and result.stderr.count("\n") == 1, result.output
        assert any(part in result.stderr for part in message.split("|")) or quiet
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
        (lambda lines, record: (lines, None), "does not exist"),
        (lambda lines, record: (lines, record | {"parameters": record["parameters"] | {"hue": 9}}), "hue"),
        (lambda lines, record: (lines, record | {"mechanism": "nobody"}), "not registered"),
        (lambda lines, record: (lines, []), "no record"),
        (
            lambda lines, record: (
                lines,
                record | {"writing": "lower case, spacing of sacremoses, line breaks kept"},
            ),
            "detokenize",
        ),
        (lambda lines, record: ([" ".join("qq" for _ in line.split()) for line in lines], record), "released"),
    ],
)
def test_a_release_that_does_not_fit_is_one_line(run, tmp_path, change, message):
    (tmp_path / "in.txt").write_text("good film\nbad , story\nthe plot\n")
    assert CliRunner().invoke(main, ["sanitize", *CUSTEXT, "in.txt", "safe.txt"]).exit_code == 0
    record = json.loads((tmp_path / "safe.txt.json").read_text())
    lines, record = change((tmp_path / "safe.txt").read_text().splitlines(), record)
    (tmp_path / "safe.txt").write_text("\n".join(lines) + "\n")
    (tmp_path / "safe.txt.json").unlink()
    if record is not None:
        (tmp_path / "safe.txt.json").write_text(json.dumps(record))
    result = run("in.txt", "--released", "safe.txt")
    assert result.exit_code == 2 and message in result.stderr and result.stderr.count("\n") == 1, result.output
    assert not list(tmp_path.glob("audit*"))


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
    assert result.exit_code in (0, 2), result.output
    assert result.exception is None or isinstance(result.exception, SystemExit)
    if result.exit_code == 2:
        assert result.stderr.count("\n") == 1 and not (folder / "r.html").exists()


@pytest.mark.parametrize(
    "content", ["[]", "x", '{"document": 0}', '{"document": "a", "index": 0, "word": "b"}', "{"]
)
def test_guesses_that_are_none_are_one_line(tmp_path, content):
    (tmp_path / "g.jsonl").write_text(content + "\n")
    with pytest.raises(ValueError, match="guesses"):
        files.read_guesses(str(tmp_path / "g.jsonl"))
