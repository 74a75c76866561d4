"""Words to keep and to protect, from files: what becomes of them, what is recorded, and what nobody quotes."""

import json
import shlex
from collections.abc import Collection, Iterable
from pathlib import Path

import jsonschema
import numpy as np
import pytest
from click.testing import CliRunner
from helpers import WORDS, toy_world

from textsan import STOP_WORDS, Embeddings
from textsan.auditing import attacking, material as materials, use
from textsan.base.registry import Registry
from textsan.cli.main import main
from textsan.mechanisms import MECHANISMS, make, make_mechanism, recorded_mechanism
from textsan.release import record
from textsan.release.shards import Job

LISTED = [*WORDS, "smith", "7"]
TOY = Embeddings(LISTED, np.random.default_rng(0).normal(size=(len(LISTED), 4)))
CUSTEXT = ("--mechanism", "custext+", "--epsilon", "0", "--k", "4")
SANTEXT = ("--mechanism", "santext+", "--epsilon", "1")
SECRET = "zyxwort"
LISTS = [(name, one) for name, entry in MECHANISMS.items() for one in entry.word_lists()]


@pytest.fixture(autouse=True)
def small_world(tmp_path, monkeypatch):
    toy_world(tmp_path, monkeypatch, TOY)
    monkeypatch.setattr(materials, "_public", lambda documents: [["the", "film"], ["good", "plot"]] * 20)
    monkeypatch.setattr(materials, "find_names", lambda docs, finder: [])
    monkeypatch.setattr(use, "find_spec", lambda name: None)
    Path("keep.txt").write_text(f"Film\n\n {SECRET} \n", encoding="utf-8-sig")
    Path("rare.txt").write_text(f"smith\nPLOT\n{SECRET}\n")
    Path("in.txt").write_text(f"The film of Smith , {SECRET} , a good story and plot\n" * 40)


def run(command, *arguments):
    return CliRunner().invoke(main, [command, *map(str, arguments)])


def released(*arguments):
    result = run("sanitize", *arguments, "in.txt", "out.txt")
    assert result.exit_code == 0, result.output
    return result, [line.split() for line in Path("out.txt").read_text().splitlines()]


def test_parameters_that_are_lists_of_words_are_known_by_their_annotation():
    def made(
        words, a: Iterable[str] = (), b: Collection[str] | None = None, c: str = "", d: Iterable[int] = (), e=()
    ):
        return words

    entry = Registry("thing").register("own", made)
    assert list(entry.word_lists()) == ["a", "b"] and list(entry.parameters()) == ["c"]
    assert LISTS == [
        ("santext+", "sensitive"),
        *((name, "keep") for name in ("custext", "custext+", "optimal custext", "optimal custext+")),
        ("context-aware custext", "keep"),
    ]


def test_kept_words_stay_in_lower_case_and_others_do_not():
    result, lines = released(*CUSTEXT, "--keep", "keep.txt")
    columns = [set(column) for column in zip(*lines, strict=True)]
    kept = [column for column, word in enumerate(["the", "film", "of", "smith", ",", SECRET, ",", "a"])]
    assert [columns[i] for i in kept if i in (0, 1, 2, 5, 7)] == [{"the"}, {"film"}, {"of"}, {SECRET}, {"a"}]
    assert all(len(columns[i]) > 1 for i in (3, 4, 6, 8, 9, 11))
    about = json.loads(Path("out.txt.json").read_text())
    clause = f"the {len(STOP_WORDS) + 2} kept words, released verbatim"
    assert f"warning: not protected: {clause}" in result.stderr and clause in about["guarantee"]["outside"]
    assert about["warnings"] == [f"not protected: {clause}"]


@pytest.mark.parametrize("name", ["custext", "custext+", "optimal custext", "optimal custext+"])
def test_kept_words_are_added_to_what_the_mechanism_keeps(name):
    made = make_mechanism(name, TOY, epsilon=1.0, k=4, keep=(word for word in ["film"]))
    assert made.keep == {"film"} | (STOP_WORDS if name.endswith("+") else set())
    assert "film" not in made.protected and f"the {len(made.keep)} kept words, released verbatim" in made.exposed
    with pytest.raises(ValueError, match="^keep: it is one string; pass a set of words"):
        make_mechanism(name, TOY, epsilon=1.0, keep="film")


def test_sensitive_words_are_those_of_the_files():
    Path("more.txt").write_text("bad\n")
    result, lines = released(*SANTEXT, "--p", "0", "--sensitive", "rare.txt", "--sensitive", "more.txt")
    columns = [set(column) for column in zip(*lines, strict=True)]
    assert [columns[i] for i in (0, 1, 4, 8, 9)] == [{"the"}, {"film"}, {","}, {"good"}, {"story"}]
    private = [columns[i] for i in (3, 5, 11)]  # the one in the middle has no vector
    assert set().union(*private) == {"smith", "plot", "bad"} and min(map(len, private)) > 1
    assert "not protected: the list of 3 sensitive words: every replacement is one of them" in result.stderr
    assert make_mechanism("santext+", TOY, epsilon=1.0).exposed == (
        "the 2 words that are not sensitive, released unchanged with probability 0.7",
    )


@pytest.mark.parametrize(
    "content, arguments, message",
    [
        (
            f"film\n{SECRET} {SECRET}\n",
            (*CUSTEXT, "--keep"),
            "keep: line 2 of list.txt is cut into 2 words",
        ),
        ("\n \n", (*CUSTEXT, "--keep"), "keep: list.txt has no word; write one a line, or leave it out"),
        (f"{SECRET}é\n".encode("latin-1"), (*CUSTEXT, "--keep"), "keep: list.txt is not utf-8; convert it first"),
        (f"{SECRET}\n", (*SANTEXT, "--sensitive"), "sensitive: none of the words has a vector"),
        (f"film\n{SECRET}\n", (*SANTEXT, "--oov", "keep", "--sensitive"), "would release 1 sensitive words"),
        (f"film\n{SECRET}\n", (*SANTEXT, "--w", "0.5", "--sensitive"), "w: the sensitive words are given, and w"),
        (f"{SECRET}\n", (*SANTEXT, "--keep"), "keep: santext+ has no such parameter"),
        (None, (*CUSTEXT, "--keep"), "Invalid value for '--keep': File 'list.txt' does not exist"),
    ],
)
def test_a_list_that_does_not_fit_is_one_line_that_quotes_no_word(content, arguments, message):
    if content is not None:
        Path("list.txt").write_bytes(content if isinstance(content, bytes) else content.encode())
    result = run("sanitize", *arguments, "list.txt", "in.txt", "out.txt")
    assert result.exit_code == 2 and message in result.stderr and result.stderr.count("\n") == 1, result.output
    assert SECRET not in result.output and not Path("out.txt").exists()


def test_no_word_of_a_list_stands_in_a_record_or_a_line_and_no_hash_of_a_private_one():
    for arguments in ((*CUSTEXT, "--keep", "keep.txt"), (*SANTEXT, "--sensitive", "rare.txt")):
        result, _ = released(*arguments)
        text = Path("out.txt.json").read_text()
        about = json.loads(text)
        jsonschema.validate(about, json.loads(record.SCHEMA.read_text()))
        assert not {SECRET, "film", "smith", "plot"} & set(f"{text} {result.stderr}".replace('"', " ").split())
    assert about["parameters"]["sensitive"] == {"words": 3}  # and no hash
    derived = make.recorded_parameters(make_mechanism("santext+", TOY, epsilon=1.0), "santext+", {})
    assert derived["sensitive"].keys() == {"words", "sha256"}  # anybody can derive it


def test_a_run_with_another_list_of_as_many_words_does_not_go_on():
    keys = [
        record.key(Job(make_mechanism(name, TOY, epsilon=1.0, **given)))
        for name, given in [
            ("santext+", {"sensitive": ["plot"]}),
            ("santext+", {"sensitive": ["film"]}),
            ("custext", {"keep": ["plot"]}),
            ("custext", {"keep": ["film"]}),
        ]
    ]
    assert len(set(keys)) == 4
    assert keys[0] == record.key(Job(make_mechanism("santext+", TOY, epsilon=1.0, sensitive={"plot"})))


@pytest.mark.parametrize("name, one", LISTS)
def test_a_record_gives_back_a_mechanism_with_a_list_to_who_has_it(name, one):
    released("--mechanism", name, "--epsilon", "1", f"--{one}", "rare.txt")
    words = ("smith", "plot", SECRET)
    found = recorded_mechanism("out.txt.json", **{one: words})
    made = make_mechanism(name, TOY, epsilon=1.0, **{one: words})
    docs = [["smith", "film", "plot", SECRET]] * 20
    assert found.sanitize(docs, seed=0) == made.sanitize(docs, seed=0) and found.exposed == made.exposed
    for lists in ({}, {one: words[1:]}, {one: [*words, "film"]}):
        with pytest.raises(
            ValueError, match=f"record: {one} is not what .* has now; pass --{one} FILE, or {one}=, "
        ):
            recorded_mechanism("out.txt.json", **lists)


def test_another_list_is_told_by_its_words_or_where_they_are_private_by_their_number():
    others = ["film", "good", "bad"]
    released(*CUSTEXT, "--keep", "rare.txt")
    with pytest.raises(ValueError, match="record: keep is not what"):
        recorded_mechanism("out.txt.json", keep=others)
    released(*SANTEXT, "--sensitive", "rare.txt")
    assert recorded_mechanism("out.txt.json", sensitive=others).sensitive == {*others}  # as the manual says


def test_a_record_without_a_list_needs_none():
    for arguments, lists in ((CUSTEXT, {"keep": ["film"]}), ((*SANTEXT, "--w", "0.5"), {"sensitive": ["plot"]})):
        released(*arguments)
        assert recorded_mechanism("out.txt.json").sanitize([["film"]], seed=0)
        with pytest.raises(ValueError, match=r"^(record: keep is not what|w: the sensitive words are given)"):
            recorded_mechanism("out.txt.json", **lists)


def test_an_audit_takes_the_lists_of_a_release_and_of_a_rehearsal(tmp_path):
    released(*CUSTEXT, "--keep", "keep.txt")
    for arguments, message in [
        (("--released", "out.txt"), "record: keep is not what custext+ has now; pass --keep FILE"),
        (("--released", "out.txt", "--keep", "keep.txt", "--k", "4"), "k: the release has its own; leave it out"),
        (("--released", "in.txt", "--keep", "keep.txt"), "keep: it needs a mechanism, and the release has no"),
    ]:
        result = run("audit", "in.txt", *arguments)
        assert result.exit_code == 2 and message in result.stderr and result.stderr.count("\n") == 1, result.output
        assert SECRET not in result.output and not Path("audit.html").exists()
    for given in (("--released", "out.txt"), CUSTEXT):
        result = run("audit", "in.txt", *given, "--keep", "keep.txt", "--no-quotes", "--among", "10")
        assert result.exit_code in (3, 4), result.output
        exposed = json.loads(Path("audit.json").read_text())["mechanism"]["exposed"]
        assert f"the {len(STOP_WORDS) + 2} kept words, released verbatim" in exposed
        assert SECRET not in result.output + Path("audit.json").read_text() + Path("audit.html").read_text()


def test_parts_of_an_audit_are_not_those_of_another_list():
    made = [make_mechanism("custext", TOY, epsilon=1.0, keep=[word]) for word in ("film", "plot", "plot")]
    docs = [["good", "film"], ["bad", "story"]]
    released = made[0].sanitize(docs, seed=0)
    digests = [
        attacking.Attacks(materials.material(docs, one, shadow=docs, released=released, seed=0)).digest
        for one in made
    ]
    assert digests[0] != digests[1] == digests[2]


def test_a_choice_passes_a_list_to_the_mechanism_that_takes_it(monkeypatch):
    from textsan import auditing

    given = {}

    def chosen(texts, name, **settings):
        given[name] = settings.get("keep")
        raise ValueError("stop: seen")

    monkeypatch.setattr(auditing, "choose_epsilon", chosen)
    for mechanism in ("custext+", "santext"):
        run("choose", "in.txt", "--mechanism", mechanism, "--words", "0.5", "--keep", "keep.txt")
    assert given == {"custext+": ("film", SECRET)}


def test_a_release_with_a_vocabulary_of_ones_own_is_audited_and_a_rehearsal_is():
    Path("public.txt").write_text("\n".join(reversed(WORDS)))
    own = ("--mechanism", "custext", "--epsilon", "1", "--k", "4", "--vocabulary", "public.txt")
    released(*own)
    for given in (("--released", "out.txt", "--vocabulary", "public.txt"), own):
        result = run("audit", "in.txt", *given, "--no-quotes", "--among", "10")
        assert result.exit_code in (3, 4), result.output


@pytest.mark.parametrize(
    "arguments, message",
    [
        (("--released", "out.txt"), "; pass --vocabulary FILE, or words=, the one it was made with"),
        (("--released", "out.txt", "--size", "9"), "size: the release has its own; leave it out"),
        (
            ("--released", "in.txt", "--vocabulary", "public.txt"),
            "vocabulary: it needs a mechanism, and the release",
        ),
        (
            (*CUSTEXT, "--vocabulary", "public.txt", "--size", "9"),
            "size: the words are those of --vocabulary; leave",
        ),
        ((*CUSTEXT, "--record", "out.txt.json"), "record: it is of a release; leave it out"),
    ],
)
def test_no_option_is_ignored_in_silence(arguments, message):
    Path("public.txt").write_text("\n".join(reversed(WORDS)))
    released(*CUSTEXT, "--vocabulary", "public.txt")
    result = run("audit", "in.txt", *arguments)
    assert result.exit_code == 2 and message in result.stderr and result.stderr.count("\n") == 1, result.output


def test_the_command_that_a_choice_prints_makes_what_was_chosen(monkeypatch):
    """With lists, vocabulary and parameters, of each mechanism those that it takes, as they were typed."""
    from types import SimpleNamespace

    from textsan import auditing

    def chosen(texts, name, **settings):
        what = {"guarantee": 1, "channel": 1, "next_document": None, "promise": {}, "reasons": [], "use": None}
        rows = {"choosing": 1, "released": 1, "attacker": 1}
        more = {
            "mechanism": name,
            "targets": ["most"],
            "source": 1.5,
            "not_released": [0],
            "rows": rows,
            "seed": 0,
        }
        return SimpleNamespace(**what, **more)

    monkeypatch.setattr(auditing, "choose_epsilon", chosen)
    Path("own list.txt").write_text("\n".join(reversed(WORDS)))
    given = ("--k", "3", "--keep", "keep.txt", "--keep", "own list.txt", "--vocabulary", "own list.txt")
    result = run("choose", "in.txt", "--mechanism", "custext", "--mechanism", "santext", "--words", "0.5", *given)
    ways = [line.partition(" with: textsan ")[2].split(" --chosen-on")[0] for line in result.stdout.splitlines()]
    kept, own = "--keep keep.txt --keep 'own list.txt'", "--vocabulary 'own list.txt'"
    assert [way for way in ways if way] == [
        f"sanitize --mechanism custext --epsilon 1.5 --k 3 {kept} {own}",
        f"sanitize --mechanism santext --epsilon 1.5 {own}",
    ]
    command = shlex.split(next(filter(None, ways)))
    assert run(*command, "in.txt", "out.txt").exit_code == 0
    record = json.loads(Path("out.txt.json").read_text())
    assert record["parameters"]["keep"]["words"] > 2 and record["embedding"]["words"] == len(WORDS)
