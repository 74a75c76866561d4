"""Declared changes to code: each is of the code as it is, says why, and hides no other change."""

import pytest
import yaml

from textsan.base.fingerprints import fingerprint
from textsan.base.project import project_data
from textsan_book.chapters import dependencies, same_code, stored_tables


@pytest.fixture
def declared(monkeypatch):
    """One planted declaration, and nothing remembered of the committed ones."""
    same_code._before.cache_clear()
    monkeypatch.setattr(same_code, "same_code", lambda: [{"path": "x.py", "was": "a" * 64, "is": "b" * 64}])
    yield
    same_code._before.cache_clear()


def test_every_committed_declaration_is_of_the_code_as_it_is_and_says_why():
    root = project_data().parent
    for one in same_code.same_code():
        assert fingerprint(root / one["path"]) == one["is"] != one["was"], one["path"]
        assert len(one["because"].split()) >= 10


def test_code_after_a_declared_change_counts_as_that_before_it(declared):
    assert same_code.canonical("b" * 16) == "a" * 16 == same_code.canonical("a" * 16)
    assert same_code.canonical("c" * 16) == "c" * 16


@pytest.mark.parametrize(
    ("recorded", "now", "verdict"),
    [
        ("a", "b", "fresh"),
        ("b", "b", "fresh"),
        ("a b", "b", "fresh"),
        ("a", "c", "stale"),
        ("c", "b", "stale"),
        ("a c", "b", "stale"),
    ],
)
def test_a_table_is_stale_by_every_change_but_a_declared_one(
    declared, monkeypatch, tmp_path, recorded, now, verdict
):
    said = {"modules": {"x.py": " ".join(16 * one for one in recorded.split())}}
    (tmp_path / "t.yml").write_text(yaml.safe_dump(said))
    monkeypatch.setattr(stored_tables.provenance, "fingerprint_now", lambda label: 16 * now)
    assert stored_tables.table_state(tmp_path / "t.csv").verdict == verdict


def test_a_chapter_is_what_it_was_after_a_declared_change(declared, monkeypatch, tmp_path):
    path = tmp_path / "x.py"
    found = []
    for content, value in (("1", "a"), ("22", "b"), ("333", "c")):
        path.write_text(content)
        monkeypatch.setattr(dependencies, "fingerprint", lambda _, value=value: 64 * value)
        found.append(dependencies._digest(tmp_path, "x.py"))
    assert found[0] == found[1] != found[2]
