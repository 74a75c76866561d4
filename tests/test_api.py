"""The API pages: one a room, made of the docstrings, with nothing in them misread as markup."""

import importlib
import sys
import tomllib
from pathlib import Path

import pytest
import yaml
from bs4 import BeautifulSoup

ROOT = Path(__file__).parents[1]
CONTRACTS = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
ROOMS = [name for contract in CONTRACTS[:2] for name in reversed(contract["layers"])]
PAGES = {room: f"book/api/{room.rpartition('.')[-1]}" for room in ROOMS}


@pytest.fixture(scope="module")
def rooms():
    sys.path.insert(0, str(ROOT / "book" / "_ext"))
    yield importlib.import_module("rooms")
    sys.path.remove(str(ROOT / "book" / "_ext"))


@pytest.fixture(scope="module")
def book():
    """The pages that `textsan book` has just built, where a warning is an error."""
    return ROOT / "_build" / "html"


def page(book, name):
    return BeautifulSoup((book / f"{name}.html").read_text(encoding="utf-8"), "html.parser")


def test_every_room_has_a_page_in_the_order_of_imports():
    parts = yaml.safe_load((ROOT / "_toc.yml").read_text())["parts"]
    (chapters,) = [part["chapters"] for part in parts if part["caption"] == "Use it"]
    assert [one["file"] for one in chapters[-1]["sections"]] == list(PAGES.values())
    for room in ROOMS:
        assert (ROOT / f"{PAGES[room]}.md").read_text() == f"# {room}\n"


@pytest.mark.built
def test_names_have_signature_meaning_and_example(book):
    shown = page(book, "book/api/attacks").find(id="textsan.attacks.context_free.ContextFreeBayes").parent
    text = " ".join(shown.text.split())
    assert "alpha_inverse: float | None = None" in text and "Pr(y | x), known to the attacker" in text
    assert ">>> ContextFreeBayes(channel," in text
    assert not shown.select(".problematic")


@pytest.mark.parametrize(
    ("line", "written"),
    [
        ("|V| x |V_S| of `a_b` and *args", r"\|V\| x \|V\_S\| of ``a_b`` and \*args"),
        (">>> a * b_", ">>> a * b_"),
        ("    epsilon: S*_y", r"    epsilon: S\*\_y"),
        ("the *second* layer", "the *second* layer"),
        ("**settings and **more, a * b * c", r"\*\*settings and \*\*more, a \* b \* c"),
    ],
)
def test_words_stay_words(rooms, line, written):
    assert rooms.plain([line]) == [written]


def test_indented_code_is_code_and_arguments_are_not(rooms):
    lines = ["One:", "", "    a = b_ * c", "", "Then:", "", "Args:", "    x: y_"]
    written = ["One:", "", "::", "", "    a = b_ * c", "", "Then:", "", "Args:", r"    x: y\_"]
    assert rooms.plain(lines) == written
