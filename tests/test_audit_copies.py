"""What must make no audit milder: documents that occur several times, and columns beside a release."""

import numpy as np
import pytest
from helpers import command, sanitize

from textsan import Embeddings
from textsan.auditing import audit, audit_release, choose_epsilon
from textsan.auditing.linking import copies
from textsan.mechanisms import make_mechanism

run = command("audit")
WORDS = [f"w{a}{b}" for a in "abcdefghij" for b in "abcdefghij"]
LINE = Embeddings(WORDS, np.arange(len(WORDS), dtype=float)[:, None])


def texts(n, seed=0):
    rng = np.random.default_rng(seed)
    return [" ".join(rng.choice(WORDS, 8)) for _ in range(n)]


def test_copies_are_found_word_by_word():
    assert copies([["a"], ["b"]], [["b"], ["a"], ["a", "b"], ["a"]]).tolist() == [
        [False, True, False, True],
        [True, False, False, False],
    ]


@pytest.mark.parametrize("times", [2, 4])
def test_an_audit_of_copies_identifies_as_many_as_one_of_single_documents(times):
    """At a large epsilon each document is found; counted as misses, copies would divide the share."""
    mechanism = make_mechanism("custext", LINE, epsilon=20.0, k=4)
    for docs in (texts(40), texts(40) * times):
        linked = audit(docs, mechanism, shadow=texts(60, 1), seed=0).content["linkage"]
        assert linked["main"]["value"] > 0.95 and linked["length"] < 0.1 * times


def test_a_release_without_a_record_that_leaves_copies_whole_identifies_them():
    docs = texts(30) * 3
    linkage = audit_release(docs, docs, seed=0).content["linkage"]
    assert max(attack["main"]["value"] for attack in linkage["attacks"]) > 0.95


def test_copies_choose_no_larger_epsilon_and_stay_on_one_side():
    docs = texts(60) * 8
    choice = choose_epsilon(docs, "custext", documents=0.5, embeddings=LINE, k=4, seed=1)
    held, released = {docs[row] for row in choice.not_released}, set(docs)
    released -= {docs[row] for row in choice.not_released}
    assert held and released and not held & released
    assert len(released) + len(held) == 60
    assert "420 rows are copies of others" in choice.promise["not"]
    assert {docs[row] for row in range(len(docs)) if row not in set(choice.not_released)} == released


@pytest.mark.parametrize(
    "other, said", [("a ward", "has 1 column beside the text"), (None, "in 30 rows; drop it")]
)
def test_columns_of_a_release_that_no_attack_reads(run, tmp_path, other, said):
    """A masking script that leaves the original in another column is refused; any other column is counted."""
    lines = texts(30)
    (tmp_path / "in.csv").write_text("\n".join(["text", *lines]) + "\n")
    (tmp_path / "rel.csv").write_text(
        "\n".join(["text,beside", *(f"thing,{other or line}" for line in lines)]) + "\n"
    )
    result = run("in.csv", "--released", "rel.csv", "-o", "a.html")
    assert said in result.stderr
    assert (tmp_path / "a.html").exists() == bool(other)
    assert not any(line in result.output for line in lines)


def test_a_column_that_was_passed_and_holds_the_text_is_refused(run, tmp_path):
    lines = [
        "the film was good and the plot was very bad indeed",
        "a story of two cities and a man in the sea",
    ] * 20
    (tmp_path / "in.csv").write_text("\n".join(["text,copy", *(f"{line},{line}" for line in lines)]) + "\n")
    made = ["--mechanism", "custext", "--epsilon", "1", "--pass", "copy", "--seed", "1", "in.csv", "out.csv"]
    assert sanitize(*made).exit_code == 0
    assert "in 40 rows; drop it" in run("in.csv", "--released", "out.csv").stderr
