import pytest

from textsan.base.fingerprints import fingerprint

CODE = '''
"""Of the module."""
import math

LIMIT = 3
"""Of a name."""


def area(radius: float, *, unit: str = "m") -> float:
    """Of a function."""
    return math.pi * radius**2  # a comment


class Shape:
    """Of a class."""

    corners = 4
'''


@pytest.fixture
def of(tmp_path):
    def written(text, name="module.py"):
        (tmp_path / name).write_text(text)
        return fingerprint(tmp_path / name)

    return written


@pytest.mark.parametrize(
    "before, after",
    [
        ('"""Of the module."""', '"""Of a module."""'),
        ('"""Of the module."""\n', ""),
        ('"""Of a name."""\n', ""),
        ('    """Of a function."""\n', ""),
        ('"""Of a class."""', "'''Another.'''"),
        ("  # a comment", ""),
        ("math.pi * radius**2", "(math.pi\n        * radius ** 2)"),
        ('"m"', "'m'"),
    ],
)
def test_what_python_does_not_execute_does_not_count(of, before, after):
    assert before in CODE and of(CODE) == of(CODE.replace(before, after))


@pytest.mark.parametrize(
    "before, after",
    [
        ("LIMIT = 3", "LIMIT = 3.0"),
        ("LIMIT = 3", "LIMIT = True"),
        ("radius**2", "radius**3"),
        ("math.pi * radius", "radius * math.pi"),
        ('unit: str = "m"', 'unit: str = "cm"'),
        ("*, unit", "unit"),
        ("import math", "import cmath as math"),
        ("radius: float", "radius: int"),
        (") -> float:", "):"),
        ("class Shape", "class Shape(object)"),
        ("corners = 4", "corners = None"),
    ],
)
def test_every_change_of_code_counts(of, before, after):
    assert before in CODE and of(CODE) != of(CODE.replace(before, after))


def test_of_other_files_every_byte_counts(of):
    assert of("a,b\n", "table.csv") == of("a,b\n", "other.yml")
    assert of("a,b\n", "table.csv") != of("a, b\n", "table.csv")


def test_python_that_does_not_parse_names_its_file(of):
    with pytest.raises(SyntaxError, match="module.py"):
        of("def f(:\n")
