"""The draw of long tests that a smaller run leaves out."""

from conftest import LONG, left_out, long


def test_of_the_long_tests_an_eighth_is_drawn_and_each_has_its_turn():
    seconds = {f"tests/test_a.py::test_{n}": LONG + n for n in range(20)}
    seconds["tests/test_a.py::test_short"] = LONG - 1
    ran = [seconds.keys() - left_out(long(seconds), f"{commit:040x}") for commit in range(100)]
    assert {len(some) for some in ran} == {4} and all("tests/test_a.py::test_short" in some for some in ran)
    assert set.union(*ran) == seconds.keys()
    assert left_out(long(seconds), None) == set()  # outside of a checkout nothing is left out
