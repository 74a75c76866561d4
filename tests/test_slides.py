"""A slide has its chapter's title, figure and sentences, and nothing that only Markdown knows."""

import re
from pathlib import Path
from xml.etree import ElementTree
from zipfile import ZipFile

import pytest

from textsan_book.chapters import slides

ROOT = Path(__file__).parents[1]
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem[:12])
def test_a_slide_is_whole(notebook):
    one = slides.slide(notebook)
    assert 40 < len(one.said) < 500 and one.said.endswith((".", "?", "!"))
    assert not re.search(r"[{}`$\\\\*]|fig-|eq-|/notebooks/", one.said + one.title)
    page = ElementTree.fromstring(slides.drawn(one))
    assert page.get("viewBox") == "0 0 1600 900"
    texts = page.findall("{http://www.w3.org/2000/svg}text")
    assert one.title in texts[0].text and " ".join(text.text for text in texts[1:]) == one.said
    assert all(float(text.get("y")) < slides.HIGH for text in texts)
    for figure in page.findall("{http://www.w3.org/2000/svg}svg"):
        right, bottom = (float(figure.get(a)) + float(figure.get(b)) for a, b in (("x", "width"), ("y", "height")))
        assert right <= slides.WIDE and bottom < float(texts[1].get("y")) - 20


def test_all_slides_are_in_the_zip_and_linked(tmp_path):
    made = slides.write(ROOT, tmp_path)
    with ZipFile(tmp_path / "textsan-slides.zip") as archive:
        assert archive.namelist() == [f"slides/{path.name}" for path in made]
    links = re.findall(r'href="../../_static/slides/([^"]+)"', slides.sentences(ROOT)["slides"])
    assert links == [path.name for path in made] == [f"{path.stem}.svg" for path in NOTEBOOKS]
    page = (ROOT / "book" / "pages" / "course-instructors.md").read_text(encoding="utf-8")
    assert "{{ slides }}" in page and "_static/slides/textsan-slides.zip" in page
