"""The book as built: nothing is wider than its column, and a browser has nothing to complain of; needs Chromium.

Run with `-m built` after `textsan book`, or where the pages stand in `_build/html` anyway. axe-core, of the
package axe-playwright-python, is asked in light and in dark. Where TEXTSAN_PAGES is set, as before anything is
published, a browser that is missing is a failure.
"""

import os
import re
import shutil
import subprocess
from importlib.resources import files
from pathlib import Path
from urllib.parse import urljoin

import pytest
import yaml
from playwright import sync_api

from textsan_book.chapters import paper

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
# Colours are those of the page at rest: halfway through a fade a text may be as pale as what is behind it.
STILL = "*, ::before, ::after { transition: none !important; animation: none !important; }"

COLOURS = ["color-contrast", "link-in-text-block"]
# One text of each kind: of the same ink and letters, on the same grounds, beside the same ink. Rules on colours
# take a minute on a page of thousands of texts that style sheets make alike.
MARK = """() => {
  const kinds = new Set(), plain = ["rgba(0, 0, 0, 0)", "none", "1", "static"];
  document.querySelectorAll("[data-kind]").forEach((one) => one.removeAttribute("data-kind"));
  const walk = (one, grounds, beside) => {
    const style = getComputedStyle(one);
    if (style.display === "none") return;
    const { backgroundColor, backgroundImage, opacity, position } = style;
    grounds += [backgroundColor, backgroundImage, opacity, position].filter((part) => !plain.includes(part)) + "/";
    if ([...one.childNodes].some((part) => part.nodeType === Node.TEXT_NODE && part.data.trim())) {
      const letters = [style.color, style.fontSize, style.fontWeight, style.textDecorationLine, style.visibility];
      const kind = [one.matches("a"), grounds, beside, ...letters].join();
      if (!kinds.has(kind)) one.dataset.kind = kinds.add(kind).size;
    }
    for (const part of one.children) walk(part, grounds, style.color);
  };
  walk(document.body, "", "");
}"""

pytestmark = [
    pytest.mark.built,
    pytest.mark.skipif(
        not (paper.browser() or "TEXTSAN_PAGES" in os.environ),
        reason="Chromium is not here: apt-get install chromium",
    ),
    pytest.mark.skipif(not HTML.is_dir(), reason="the pages are not built: textsan book"),
]


@pytest.fixture(scope="module")
def browser():
    assert paper.browser(), "Chromium is not here: apt-get install chromium"
    with sync_api.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=paper.browser(), args=["--no-sandbox"])
        yield browser
        browser.close()


def opened(browser, page, width):
    tab, said = browser.new_page(viewport={"width": width, "height": 900}, color_scheme="light"), []
    tab.on("console", lambda message: said.append(message.text) if message.type == "error" else None)
    tab.on("pageerror", lambda error: said.append(str(error)))
    tab.goto((HTML / f"{page}.html").as_uri())
    tab.evaluate("() => window.MathJax && MathJax.startup.promise")
    return tab, said


def serious(tab, rules, context="html"):
    """Faults that axe-core calls serious or critical: the rule, the element and the remedy."""
    if not tab.evaluate("() => window.axe !== undefined"):
        tab.evaluate((files("axe_playwright_python") / "axe.min.js").read_text(encoding="utf-8"))
        tab.add_style_tag(content=STILL)
    found = tab.evaluate(
        "([context, rules]) => axe.run(context, {...rules, resultTypes: ['violations']})", [context, rules]
    )["violations"]
    bad = [rule for rule in found if rule["impact"] in ("serious", "critical")]
    return [(rule["id"], node["html"], node["failureSummary"]) for rule in bad for node in rule["nodes"]]


def unreadable(tab, scheme):
    """Faults of the colours, of one text of each kind."""
    tab.evaluate("(scheme) => { document.documentElement.dataset.theme = scheme; }", scheme)
    tab.evaluate(MARK)
    return serious(tab, {"runOnly": COLOURS}, "[data-kind]")


def pages():
    """All that are in the contents, and the lists that are made of them."""
    toc = yaml.safe_load((ROOT / "_toc.yml").read_text(encoding="utf-8"))
    found, left = [toc["root"]], [one for part in toc["parts"] for one in part["chapters"]]
    while left:
        one = left.pop(0)
        found.append(one["file"])
        left += one.get("sections", [])
    return [*found, "genindex", "prf-prf", "py-modindex", "search"]


def drawn_or_not(page, edited):
    """A page; a smaller run draws of those that are neither among the two most read nor edited since then."""
    most_read = page in ("book/pages/index", "book/pages/decide")
    always = most_read or not {page, page.replace("notebooks", "book")}.isdisjoint(edited)
    return pytest.param(page, marks=[] if always else pytest.mark.drawn)


def edited():
    """The files of the project that are not as they were committed, without their suffixes."""
    command = ["git", "status", "--porcelain"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True) if shutil.which("git") else None
    return {str(Path(line[3:]).with_suffix("")) for line in done.stdout.splitlines()} if done else set()


EDITED = edited()


@pytest.mark.parametrize("page", [drawn_or_not(page, EDITED) for page in pages()])
def test_a_page_fits_its_console_is_clean_and_nothing_serious_keeps_anybody_out(browser, page):
    tab, said = opened(browser, page, 1400)
    for width in (420, 1400):
        tab.set_viewport_size({"width": width, "height": 900})
        tab.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
        found = tab.evaluate(MEASURE)
        assert said == [] and found["page"] <= 0 and found["drawings"] == [] and found["cut"] == 0
        assert found["inline"] == 0 and found["broken"] == 0  # a number of a table stays whole
        assert found["sideways"] == 0  # a table is as wide as its column at most
        assert width < 1000 or found["equations"] == []
    other = dict.fromkeys(
        [*COLOURS, "region"], {"enabled": False}
    )  # a text outside all regions is no serious fault
    assert serious(tab, {"rules": other}) == []
    for scheme in ("light", "dark"):
        assert unreadable(tab, scheme) == []
    tab.close()


def test_a_pale_word_and_a_link_like_its_text_are_found(browser):
    tab, _ = opened(browser, "genindex", 1400)
    tab.evaluate("""() => document.querySelector("article").insertAdjacentHTML(
      "beforeend", "<p id=pale>pale</p><p id=hidden>text about <a href=x>a link</a> in it</p>")""")
    tab.add_style_tag(
        content="""
        html[data-theme=dark] #pale { color: #333; } html[data-theme=light] #pale { color: #000; }
        html[data-theme=light] #hidden { color: #000; }
        html[data-theme=light] #hidden a { color: #222; text-decoration: none; }"""
    )
    assert [name for name, *_ in unreadable(tab, "light")] == ["link-in-text-block"]
    assert [name for name, *_ in unreadable(tab, "dark")] == ["color-contrast"]
    tab.close()


def test_of_the_contents_the_part_that_is_read_is_open_and_another_one_opens(browser):
    tab, said = opened(browser, "notebooks/05-the-best-guess-from-one-word", 1400)
    state = "(all) => all.map(one => [one.innerText, one.getAttribute('aria-expanded')])"
    parts = dict(tab.eval_on_selector_all(".bd-sidebar-primary button.part", state))
    assert [name for name, is_open in parts.items() if is_open == "true"] == ["Attacks"] and len(parts) > 10
    link = tab.locator(".bd-sidebar-primary a[href*='01-a-sentence']")
    assert not link.is_visible()
    tab.locator(".bd-sidebar-primary button.part", has_text="Sanitizers").click()
    assert link.is_visible() and said == []
    tab.close()
    tab, _ = opened(browser, "book/pages/index", 1400)
    parts = dict(tab.eval_on_selector_all(".bd-sidebar-primary button.part", state))
    assert {*parts.values()} == {"true"}
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


def test_every_old_anchor_leads_to_one_that_is_there():
    texts = {}
    for _, now in old_addresses():
        page, _, anchor = now.partition("#")
        if page not in texts:
            texts[page] = (HTML / f"{page}.html").read_text(encoding="utf-8")
        assert not anchor or texts[page].count(f'id="{anchor}"') == 1, now


LEAD = """(all) => all.map(([source, hash]) => {
  let to = null;
  new Function("location", source)({ hash, replace: (address) => { to = address; } });
  return to;
})"""


def test_the_script_of_every_old_page_leads_on(browser):
    scripts, asked, expected = {}, [], []
    for old, now in old_addresses():
        page, mark, anchor = old.partition("#")
        if page not in scripts:
            found = re.findall(r"<script>(.*?)</script>", (HTML / page).read_text(encoding="utf-8"), re.DOTALL)
            (scripts[page],) = [source for source in found if "location.replace" in source]
        asked.append((scripts[page], mark + anchor))
        page, mark, anchor = now.partition("#")
        expected.append((HTML / f"{page}.html").as_uri() + mark + anchor)
    tab = browser.new_page()
    led = tab.evaluate(LEAD, asked)
    bases = [(HTML / old.partition("#")[0]).as_uri() for old, _ in old_addresses()]
    assert [urljoin(base, to) for base, to in zip(bases, led, strict=True)] == expected
    tab.close()


def test_search_from_a_file_finds_the_words_of_outsiders(browser):
    for word, page in (("anonymization", "notation"), ("GDPR", "notation"), ("linkability", "notation")):
        tab, said = opened(browser, "search", 1400)
        tab.goto(f"{(HTML / 'search.html').as_uri()}?q={word}")
        tab.wait_for_selector("#search-results li a", timeout=20_000)
        links = tab.eval_on_selector_all("#search-results li a", "all => all.map(one => one.href)")
        assert any(page in link for link in links) and said == []
        tab.close()
