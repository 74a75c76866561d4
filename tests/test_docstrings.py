"""Parameters as docstrings describe them, for help texts and records."""

import pytest

from textsan.base.docstrings import UNDOCUMENTED, meaning, short_meaning
from textsan.mechanisms import MECHANISMS, CusText
from textsan.mechanisms.custext import custext_plus
from textsan.mechanisms.fbdd import FBDD


@pytest.mark.parametrize("entry", MECHANISMS.values(), ids=lambda entry: entry.name)
def test_every_parameter_of_a_mechanism_is_explained(entry):
    for name in entry.parameters():
        long, short = meaning(entry.load(), name), short_meaning(entry.load(), name)
        assert long.startswith(short) and long.endswith(".") and len(short) > 10
        assert "as for" not in long and "\n" not in long


def test_a_function_answers_from_what_it_makes_and_a_class_from_its_base():
    assert meaning(custext_plus, "mapping") == meaning(CusText, "mapping")
    assert "no finite epsilon holds" in meaning(CusText, "mapping")
    assert "per unit of distance" in meaning(FBDD, "epsilon")


def test_the_next_parameter_is_another_one():
    def make(first, second):
        """Makes.

        Args:
            first: one: more,
                and still the first.
            second: two.

        Returns:
            third: this is no argument.
        """

    assert meaning(make, "first") == "one: more, and still the first." and short_meaning(make, "first") == "one"
    assert meaning(make, "second") == "two." and meaning(make, "third") == UNDOCUMENTED
    assert meaning(lambda x: x, "x") == short_meaning(lambda x: x, "x") == UNDOCUMENTED


def test_a_meaning_that_begins_with_a_bracket_is_told_whole():
    def make(weights):
        """Makes.

        Args:
            weights: (n,) numbers.
        """

    assert short_meaning(make, "weights") == "(n,) numbers."
