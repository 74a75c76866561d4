import pytest

from textsan import STOP_WORDS, count_words, tokenize


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


def test_tokens_of_tokens_are_the_same():
    tokens = tokenize("The U.S.-made film isn't worth $3.50 -- it's 100% well-made...")
    assert [token for word in tokens for token in tokenize(word)] == tokens


def test_stop_words_are_tokens_of_the_tokenizer():
    assert all(tokenize(word) == [word] for word in STOP_WORDS)


def test_counts_include_every_occurrence():
    assert count_words([["a", "b", "a"], [], ["b"]]) == {"a": 2, "b": 2}
