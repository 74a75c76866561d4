"""The other parameters with which chapters are executed, `data/settings.yml`: a chapter takes each of them."""

from pathlib import Path

import pytest
import yaml

from textsan_book.chapters import chapters

ROOT = Path(__file__).parents[1]
SETTINGS = yaml.safe_load((ROOT / "data" / "settings.yml").read_text(encoding="utf-8"))
CHAPTERS = {chapter.name: chapter for chapter in chapters.chapters(ROOT)}


def faults(chapter, given):
    """Say why a chapter would not be executed with these parameters, or not otherwise than by default."""
    try:
        values = chapters.checked_parameters(chapter, given)
        chapters.check_size(chapter, values)
    except (KeyError, ValueError) as error:
        return [str(error)]
    defaults = chapters.parameters(chapter)
    return [] if any(values[name] != defaults[name] for name in values) else ["no value differs from its default"]


def test_every_chapter_with_parameters_has_settings_and_no_other():
    assert sorted(SETTINGS) == sorted(name for name, chapter in CHAPTERS.items() if chapters.parameters(chapter))


@pytest.mark.parametrize("name", SETTINGS)
def test_a_chapter_takes_its_settings(name):
    assert 1 <= len(SETTINGS[name]) <= 3
    assert [fault for given in SETTINGS[name] for fault in faults(CHAPTERS[name], given)] == []
    assert all(SETTINGS[name].count(given) == 1 for given in SETTINGS[name])


@pytest.mark.parametrize(
    "given, fault",
    [
        ({"epsilom": 1.0}, "has no 'epsilom'"),
        ({"epsilon": 1e9}, "out of range"),
        ({"n_private": 100_000}, "fewer than"),
        ({}, "no value differs"),
    ],
)
def test_a_setting_that_a_chapter_does_not_take_is_caught(given, fault):
    (found,) = faults(chapters.find(ROOT, "5"), given)
    assert fault in found
