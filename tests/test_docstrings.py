"""Docstrings: sections in the package, a sentence and prose in the book's rooms; meanings of parameters."""

import ast
import importlib
import inspect
import re
from pathlib import Path

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


ROOT = Path(__file__).parents[1]
DOORS = ["textsan", *(f"textsan.{path.parent.name}" for path in sorted((ROOT / "textsan").glob("*/__init__.py")))]
BOOK = [path for folder in ("textsan_book", "book/_ext") for path in sorted((ROOT / folder).rglob("*.py"))]


@pytest.mark.parametrize("door", DOORS)
def test_a_function_of_many_parameters_at_a_door_explains_them(door):
    module = importlib.import_module(door)
    functions = {name: getattr(module, name) for name in getattr(module, "__all__", ())}
    functions = {name: made for name, made in functions.items() if inspect.isfunction(made)}
    many = [name for name, made in functions.items() if len(inspect.signature(made).parameters) > 5]
    assert [name for name in many if "Args:" not in (functions[name].__doc__ or "")] == []


def faults(text, *, imperative):
    """List what is amiss with a module's docstrings; properties and private functions may begin with a noun."""
    found, to_read = [], [(ast.parse(text), False)]
    for node, private in to_read:
        lines = (ast.get_docstring(node) or "").splitlines()
        first, rest = (lines[0], lines[1:]) if lines else ("", [])
        if rest and rest[0] or first and first[-1] not in ".?":
            found.append(f"no sentence on its first line: {first!r}")
        if re.match(r"(What|How|Whether|Which|Why|As|Those|The same)\b", first):
            found.append(f"no sentence of its own: {first!r}")
        named = isinstance(node, ast.FunctionDef) and not private and not node.decorator_list
        if imperative and named and first and not re.match(r"(?!(The|A|An)\b)[A-Z][a-z-]*([^s\W]|ss)\b", first):
            found.append(f"not what it does: {first!r}")
        found += [
            f"a section: {line!r}"
            for line in rest
            if re.fullmatch(r" *(Args|Attributes|Returns|Raises|Yields):", line)
        ]
        inner = [child for child in node.body if isinstance(child, ast.FunctionDef | ast.ClassDef)]
        to_read += [(child, private or child.name.startswith("_")) for child in inner]
    return found


def test_the_book_has_a_sentence_and_prose():
    """Help of commands is another text, and a check of an assignment says what is true."""
    found = []
    for path in BOOK:
        imperative = path.parent.name not in ("checks", "commands")
        found += [f"{path.name}: {fault}" for fault in faults(path.read_text(), imperative=imperative)]
    assert found == []


@pytest.mark.parametrize(
    "docstring",
    [
        "Draws words.",
        "The words.",
        "How many words.",
        "Draw words\n    from a list.",
        "Draw words.\n    More.",
        "Draw words.\n\n    Args:\n        n: words.\n    ",
    ],
)
def test_a_docstring_that_breaks_the_rule_is_caught(docstring):
    assert len(faults(f'def draw(n):\n    """{docstring}"""\n', imperative=True)) >= 1
    assert faults('def draw(n):\n    """Draw words.\n\n    Of a list.\n    """\n', imperative=True) == []
