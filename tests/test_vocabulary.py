import random
import sys
import unicodedata

import pytest
from hypothesis import given, strategies as st

from textsan import STOP_WORDS, CusText, Embeddings, tokenize
from textsan.text.vocabulary import normalize, tokenize_v1


@pytest.mark.parametrize(
    "text, tokens",
    [
        ("It's not bad.", ["it", "'s", "not", "bad", "."]),
        ("They don\u2019t, we won't", ["they", "do", "n't", ",", "we", "wo", "n't"]),
        ("$3,000.50 at 10:30!", ["$", "3,000.50", "at", "10:30", "!"]),
        ("a well-made U.S. film -- really...", ["a", "well-made", "u.s.", "film", "--", "really", "..."]),
        ("Tel\u00e9fono \u4e2d\u6587", ["tel\u00e9fono", "\u4e2d\u6587"]),
        ("don't can't", ["do", "n't", "ca", "n't"]),
        ("", []),
        (" \t\n", []),
    ],
)
def test_tokens(text, tokens):
    assert tokenize(text) == tokens


def test_no_visible_character_is_lost():
    text = "R\u00f6ck_'n'-roll: 99% (of it), e.g. \u00a9 #tag @you ~;-) 1,2,, 'tis rock'n'roll ''quoted''"
    assert "".join(tokenize(text)) == "".join(text.lower().split())


def test_stop_words_are_tokens_of_the_tokenizer():
    assert all(tokenize(word) == [word] for word in STOP_WORDS)


def inside_words():
    """Every character that shows nothing of its own or belongs to the letter before it, between two kept words."""
    for number in range(sys.maxunicode + 1):
        character = chr(number)
        category = unicodedata.category(character)
        if category[0] in "MC" and not character.isspace() and category != "Cs":
            yield character
    yield from "\u115f\u1160\u3164\uffa0\u2010\u2011"


def test_no_invisible_character_and_no_accent_cuts_a_word():
    characters = list(inside_words())
    assert len(characters) > 900_000 and "\u00ad" in characters and "\u0301" in characters
    for start in range(0, len(characters), 50_000):
        some = characters[start : start + 50_000]
        tokens = tokenize(" ".join(f"her{c}man" for c in some))
        assert len(tokens) == len(some)
        assert not {"her", "man", "herm", "an"} & {*tokens}


def test_a_kept_word_with_such_a_character_leaves_whole_or_not_at_all():
    mechanism = CusText(Embeddings(["film", "movie"], [[0.0], [1.0]]), 1.0, k=2, keep=STOP_WORDS)
    drawn = random.Random(0).sample(list(inside_words()), 2000)
    text = " ".join(f"will{c}iam" for c in ["\u00ad", "\u200b", "\ufeff", "\u0301", "\u034f", "\ufe0f", *drawn])
    released = mechanism.sanitize_text(text, seed=0).split()
    assert {*released} <= {"film", "movie"}


def test_composed_and_decomposed_letters_are_one_word():
    for word in ("inés", "àlex", "dóra", "ångström"):
        assert tokenize(unicodedata.normalize("NFD", word)) == tokenize(word) == [word]
    assert tokenize("\u0130sabel") == ["i\u0307sabel"]


@pytest.mark.parametrize(
    "text, tokens",
    [
        ("J.Smith, J.R.Smith", ["j", ".", "smith", ",", "j.r.", "smith"]),
        ("write to will.i@her.org.", ["write", "to", "will.i@her.org", "."]),
        ("(see https://her.org/is?me=1)", ["(", "see", "https://her.org/is?me=1", ")"]),
        ("the u.s. at 5 p.m., U.S.-made", ["the", "u.s.", "at", "5", "p.m.", ",", "u.s.", "-", "made"]),
        ("well\u2010made and well\u2011made", ["well-made", "and", "well-made"]),
        ("line\none\ttwo\x00three", ["line", "one", "twothree"]),
    ],
)
def test_initials_and_addresses_are_no_pieces(text, tokens):
    assert tokenize(text) == tokens


def test_plain_text_is_cut_as_in_the_tables():
    plain = "It's n't U.S.-made, don't you think? 3.5 of 10 -- well... \u201cO\u2019Brien\u201d said: na\u00efve!"
    assert tokenize(plain) == tokenize_v1(plain)


@given(st.text())
def test_normalizing_again_changes_nothing_and_cutting_loses_no_visible_letter(text):
    assert normalize(normalize(text)) == normalize(text)
    letters = [c for c in normalize(normalize(text).lower()) if not c.isspace()]
    assert "".join(tokenize(text)) == "".join(letters)
