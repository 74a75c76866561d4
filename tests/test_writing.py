"""Released words as text that reads."""

import pytest

from textsan.release.writing import Writing

BOTH = Writing(keep_case=True, detokenize=True)


@pytest.mark.parametrize(
    "text",
    [
        "Dr. Smith didn't call; we've waited (three) hours!",
        "She said \"no\", and that's it... isn't it?",
        "It cost $5.50, 20% less.\n\n  Best,\nAnna".replace("  ", ""),
        "THEY CAN'T",
        "",
        "\n\n",
    ],
)
def test_text_that_is_released_unchanged_comes_back(text):
    tokens = BOTH.tokens(text)
    assert BOTH.text(tokens.words, tokens) == text


def test_no_token_is_lost_whatever_the_words_are():
    words = ["(", "n't", '"', "&amp;", "'s", ")", "n't", "``", "$", "a"]
    tokens = Writing(detokenize=True).tokens("x " * len(words))
    assert Writing(detokenize=True).text(words, tokens).replace(" ", "") == "".join(words)


def test_default_is_lower_case_and_blanks():
    tokens = Writing().tokens("Don't\nSHOUT.")
    assert tokens.words == ["do", "n't", "shout", "."] and Writing().text(tokens.words, tokens) == "do n't shout ."


def test_casing_goes_by_position_and_never_by_what_was_drawn():
    """A word that became itself is written like any other: its own letters ("iPhone") would say that it stayed."""
    tokens = Writing(keep_case=True).tokens("My iPhone and USA trip I")
    write = Writing(keep_case=True).text
    assert write(["my", "iphone", "and", "usa", "trip", "i"], tokens) == "My iphone and USA trip I"
    assert write(["a", "b", "c", "paris", "e", "film"], tokens) == "A b c PARIS e Film"


def test_what_is_carried_over_is_said():
    assert Writing().exposed == ()
    assert ["capital" in clause for clause in BOTH.exposed] == [True, False]
    assert str(BOTH) != str(Writing(keep_case=True)) != str(Writing())
