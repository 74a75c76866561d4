"""SanText on an encoder's input embeddings: the paper's rule for words of one piece, its promise, sweeps."""

import numpy as np
import pytest
import yaml

from textsan import Embeddings, SanText
from textsan.mechanisms import MECHANISMS, bert_vocabulary, make_mechanism
from textsan.mechanisms.bert import santext_pieces
from textsan.models import encoders
from textsan.sweeps import specification

WORDS = ["film", "movie", "good", "filmography", "dull"]  # the fourth has several pieces
LIST = Embeddings(WORDS, np.zeros((5, 2)))


@pytest.fixture
def known(plugged):
    from textsan_book.studies import piece_mechanism  # noqa: F401  # registers, once in a process

    MECHANISMS.register("santext pieces", "textsan.mechanisms.bert:santext_pieces")


@pytest.fixture(scope="module")
def pieces():
    return bert_vocabulary()


def test_between_words_of_one_piece_it_is_the_rule_of_the_paper_on_pieces(pieces):
    """The odds are SanText's over the list of pieces, where its other outputs are left out."""
    single = [word for word in WORDS if word in pieces]
    assert single == ["film", "movie", "good", "dull"]
    ours = santext_pieces(LIST, 12.0).channel.rows(single)[:, [WORDS.index(word) for word in single]]
    apart = pieces.distances(single, single)
    theirs = np.exp(-6.0 * apart)
    odds = [rows / rows.sum(axis=1, keepdims=True) for rows in (ours, theirs)]
    assert np.allclose(*odds, rtol=1e-4)


def test_a_word_of_several_pieces_is_read_as_their_mean(pieces):
    [cut] = encoders.word_pieces(["filmography"])
    shown = encoders.load_tokenizer().encode("filmography", add_special_tokens=False).tokens
    assert len(cut) == len(shown) > 1
    mean = np.mean([pieces.vectors[pieces.index[piece]] for piece in shown], axis=0)
    made = santext_pieces(LIST, 12.0)
    assert np.allclose(made.embeddings.vectors[WORDS.index("filmography")], mean, atol=1e-5)


@pytest.mark.parametrize("epsilon", [0.0, 6.0, 14.0])
def test_the_promise_holds_for_all_pairs_of_words(epsilon):
    """log Pr(y | x) - log Pr(y | x') is at most epsilon d(x, x'), and not at most a third of that."""
    made = santext_pieces(LIST, epsilon)
    logs = np.log(made.channel.rows(WORDS))
    worst = (logs[:, None] - logs[None]).max(axis=2)
    apart = made.embeddings.distances(WORDS, WORDS)
    assert isinstance(made, SanText) and made.guarantee.definition == "metric DP"
    assert (worst <= epsilon * apart + 1e-9).all()
    if epsilon:
        assert not (worst <= 0.3 * epsilon * apart + 1e-9).all()


def test_a_specification_names_it_and_so_does_the_maker(known, tmp_path):
    assert make_mechanism("santext pieces", LIST, epsilon=3.0).epsilon == 3.0
    spec = {"plugins": "textsan_book.studies.piece_mechanism", "dataset": "rt", "n_private": 9, "n_shadow": 9}
    spec |= {"defence": {"name": "santext pieces", "epsilon": [1, 2]}, "attack": "unchanged", "task": "sentiment"}
    (tmp_path / "spec.yml").write_text(yaml.safe_dump(spec))
    cells = specification.read_spec(tmp_path / "spec.yml")
    assert len(cells) == 4 and all(cell["defence"]["encoder"] == encoders.ENCODER for cell in cells)
