"""The book as built: nothing is wider than its column, and a browser has nothing to complain of; needs Chromium.

Run with `-m built` after `textsan book`, or where the pages stand in `_build/html` anyway. The accessibility
checker is asked where `AXE` names its script (axe-core of the npm registry); it is no part of this project.
"""

import os
import shutil
from pathlib import Path

import pytest

playwright = pytest.importorskip("playwright.sync_api")

ROOT = Path(__file__).parents[1]
HTML = ROOT / "_build" / "html"
WIDE = 660  # pixels of a display equation that a column at a desktop's width shows whole
PAGES = ("book/pages/index", "book/pages/short-path", "book/pages/glossary", "book/pages/notation")
MEASURE = """() => {
  const column = document.querySelector("article.bd-article");
  const width = (one) => one.getBoundingClientRect().width;
  const wide = (what, most) => [...document.querySelectorAll(what)].map(width).filter((one) => one > most);
  return {
    page: document.documentElement.scrollWidth - window.innerWidth,
    equations: wide("div.math mjx-container[display=true] mjx-math", WIDE),
    drawings: wide("div.drawing svg, svg.front", column.clientWidth + 1),
  };
}""".replace("WIDE", str(WIDE))

pytestmark = [
    pytest.mark.built,
    pytest.mark.skipif(not shutil.which("chromium"), reason="Chromium is not here: apt-get install chromium"),
    pytest.mark.skipif(not HTML.is_dir(), reason="the pages are not built: textsan book"),
]


@pytest.fixture(scope="module")
def browser():
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        yield browser
        browser.close()


def opened(browser, page, width):
    tab, said = browser.new_page(viewport={"width": width, "height": 900}), []
    tab.on("console", lambda message: said.append(message.text) if message.type == "error" else None)
    tab.on("pageerror", lambda error: said.append(str(error)))
    tab.goto((HTML / f"{page}.html").as_uri())
    tab.evaluate("() => window.MathJax && MathJax.startup.promise")
    return tab, said


def chapters():
    return [f"notebooks/{path.stem}" for path in sorted((ROOT / "notebooks").glob("*.ipynb"))]


@pytest.mark.parametrize("page", [*PAGES, *chapters()])
def test_a_page_fits_and_its_console_is_clean(browser, page):
    for width in (1400, 420):
        tab, said = opened(browser, page, width)
        found = tab.evaluate(MEASURE)
        assert said == [] and found["page"] <= 0 and found["drawings"] == []
        assert width < 1000 or found["equations"] == []
        tab.close()


@pytest.mark.parametrize("page", [*PAGES, *chapters()])
@pytest.mark.skipif("AXE" not in os.environ, reason="AXE names no script of axe-core")
def test_accessibility_checker_finds_nothing_serious(browser, page):
    tab, _ = opened(browser, page, 1400)
    tab.evaluate(Path(os.environ["AXE"]).read_text(encoding="utf-8"))
    found = tab.evaluate("() => axe.run(document, {resultTypes: ['violations']})")["violations"]
    assert [one["id"] for one in found if one["impact"] in ("serious", "critical")] == []


def test_search_from_a_file_finds_the_words_of_outsiders(browser):
    for word, page in (("anonymization", "glossary"), ("GDPR", "glossary"), ("linkability", "glossary")):
        tab, said = opened(browser, "search", 1400)
        tab.goto(f"{(HTML / 'search.html').as_uri()}?q={word}")
        tab.wait_for_selector("#search-results li a", timeout=20_000)
        links = tab.eval_on_selector_all("#search-results li a", "all => all.map(one => one.href)")
        assert any(page in link for link in links) and said == []
        tab.close()
