"""The book as built: nothing is wider than its column, and a browser has nothing to complain of; needs Chromium.

Run with `-m built` after `textsan book`, or where the pages stand in `_build/html` anyway. The accessibility
checker is asked, in light and in dark, where `AXE` names its script. That is axe-core of the npm registry, and no
part of this project.
"""

import os
import shutil
from pathlib import Path

import pytest
import yaml

playwright = pytest.importorskip("playwright.sync_api")

ROOT = Path(__file__).parents[1]
HTML = ROOT / "_build" / "html"
WIDE = 660  # pixels of a display equation that a column at a desktop's width shows whole
MEASURE = """() => {
  const column = document.querySelector("article.bd-article") ?? document.body;
  const width = (one) => one.getBoundingClientRect().width;
  const lines = (one) => {
    const range = document.createRange();
    range.selectNodeContents(one);
    return range.getClientRects().length;
  };
  const wide = (what, most) => [...document.querySelectorAll(what)].map(width).filter((one) => one > most);
  return {
    page: document.documentElement.scrollWidth - window.innerWidth,
    equations: wide("div.math mjx-container[display=true] mjx-math", WIDE),
    cut: [...document.querySelectorAll("mjx-container[display=true]")]
      .filter((one) => width(one.querySelector("mjx-math")) > one.clientWidth + 1).length,
    inline: [...column.querySelectorAll("mjx-container:not([display]) mjx-math")]
      .filter((one) => one.getBoundingClientRect().right > column.getBoundingClientRect().right).length,
    broken: [...column.querySelectorAll("table.results :is(td, th)")]
      .filter((one) => /^[\\d.]+$/.test(one.textContent) && lines(one) > 1).length,
    drawings: wide("div.drawing svg, svg.front", column.clientWidth + 1),
    sideways: [...column.querySelectorAll("div.cell_output .output, div.long-table")]
      .filter((one) => one.scrollWidth > one.clientWidth + 1).length,
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


def opened(browser, page, width, scheme="light"):
    tab, said = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme), []
    tab.on("console", lambda message: said.append(message.text) if message.type == "error" else None)
    tab.on("pageerror", lambda error: said.append(str(error)))
    tab.goto((HTML / f"{page}.html").as_uri())
    tab.evaluate("() => window.MathJax && MathJax.startup.promise")
    return tab, said


def pages():
    """All that are in the contents, and the lists that are made of them."""
    toc = yaml.safe_load((ROOT / "_toc.yml").read_text(encoding="utf-8"))
    found, left = [toc["root"]], [one for part in toc["parts"] for one in part["chapters"]]
    while left:
        one = left.pop(0)
        found.append(one["file"])
        left += one.get("sections", [])
    return [*found, "genindex", "prf-prf", "py-modindex", "search"]


@pytest.mark.parametrize("page", pages())
def test_a_page_fits_and_its_console_is_clean(browser, page):
    tab, said = opened(browser, page, 1400)
    for width in (1400, 420):
        tab.set_viewport_size({"width": width, "height": 900})
        tab.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
        found = tab.evaluate(MEASURE)
        assert said == [] and found["page"] <= 0 and found["drawings"] == [] and found["cut"] == 0
        assert found["inline"] == 0 and found["broken"] == 0  # a number of a table stays whole
        assert found["sideways"] == 0  # a table is as wide as its column at most
        assert width < 1000 or found["equations"] == []
    tab.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("page", pages())
@pytest.mark.skipif("AXE" not in os.environ, reason="AXE names no script of axe-core")
def test_accessibility_checker_finds_nothing_serious(browser, page, scheme):
    tab, _ = opened(browser, page, 1400, scheme)
    tab.evaluate(Path(os.environ["AXE"]).read_text(encoding="utf-8"))
    found = tab.evaluate("() => axe.run(document, {resultTypes: ['violations']})")["violations"]
    assert [one["id"] for one in found if one["impact"] in ("serious", "critical")] == []
    tab.close()


def old_addresses():
    """Each old address with an anchor, and where it leads."""
    listed = yaml.safe_load((ROOT / "book" / "moved.yml").read_text(encoding="utf-8"))
    for old, one in listed.items():
        one = {"to": one} if isinstance(one, str) else one
        page = one.get("to", old).partition("#")[0]
        anchors = {"": one["to"]} if "to" in one else {}
        for anchor, now in (anchors | one.get("anchors", {})).items():
            yield f"{old}.html#{anchor}".rstrip("#"), now if "#" in now or not anchor else f"{page}#{now}"


def test_old_addresses_lead_on_from_the_file_system(browser):
    tab = browser.new_page()
    for old, now in old_addresses():
        page, mark, anchor = now.partition("#")
        tab.goto((HTML / old.partition("#")[0]).as_uri() + "".join(old.partition("#")[1:]))
        tab.wait_for_url((HTML / f"{page}.html").as_uri() + mark + anchor)
        assert not anchor or tab.locator(f"[id='{anchor}']").count() == 1
    tab.close()


def test_search_from_a_file_finds_the_words_of_outsiders(browser):
    for word, page in (("anonymization", "glossary"), ("GDPR", "glossary"), ("linkability", "glossary")):
        tab, said = opened(browser, "search", 1400)
        tab.goto(f"{(HTML / 'search.html').as_uri()}?q={word}")
        tab.wait_for_selector("#search-results li a", timeout=20_000)
        links = tab.eval_on_selector_all("#search-results li a", "all => all.map(one => one.href)")
        assert any(page in link for link in links) and said == []
        tab.close()


def test_a_phone_says_what_a_cell_is(browser):
    tab, said = opened(browser, "book/pages/course-instructors", 420)
    label = "(cell) => [cell.innerText, getComputedStyle(cell, '::before').content]"
    cells = tab.eval_on_selector_all(
        "table.table tbody tr:first-child td", f"(all) => all.slice(0, 4).map({label})"
    )
    assert [before for _, before in cells[1:]] == ['"part of the book: "', '"read first: "', '"minutes: "']
    assert cells[0][1] == "none" and said == []
    tab.close()
