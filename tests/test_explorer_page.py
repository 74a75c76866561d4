"""The explorer's pages: what the directive makes, and a browser that types, drags and reads."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from bs4 import BeautifulSoup
from playwright import sync_api

from textsan_book.chapters import build, explorer, paper

ROOT = Path(__file__).parents[1]
CONF = """
extensions = ["myst_nb", "explorer"]
nb_execution_mode = "off"
html_theme = "sphinx_book_theme"
"""
PAGES = {
    "index": "# First\n\nWords.\n\n```{toctree}\nbook/pages/explorer\nsmall\n```\n",
    "book/pages/explorer": "# The explorer\n\n```{explorer}\n```\n",
    "small": "# One view\n\n```{explorer}\n:view: small\n```\n",
}


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    source = tmp_path_factory.mktemp("book")
    (source / "conf.py").write_text(CONF)
    for name, text in PAGES.items():
        (source / f"{name}.md").parent.mkdir(parents=True, exist_ok=True)
        (source / f"{name}.md").write_text(text)
    paths = os.pathsep.join([str(ROOT / "book" / "_ext"), str(ROOT), os.environ.get("PYTHONPATH", "")])
    command = [sys.executable, "-m", "sphinx", "-q", "-W", str(source), str(source / "html")]
    subprocess.run(command, check=True, env=os.environ | {"PYTHONPATH": paths})
    return source / "html"


def soup(path):
    return BeautifulSoup(path.read_text(encoding="utf-8"), "html.parser")


def test_only_pages_that_show_it_load_it(pages):
    def loaded(page):
        return [script["src"] for script in soup(page)("script", src=True) if "explorer/" in script["src"]]

    assert not loaded(pages / "index.html")
    for page in (pages / "book" / "pages" / "explorer.html", pages / "small.html"):
        scripts = [(page.parent / source.partition("?")[0]).resolve() for source in loaded(page)]
        assert len(scripts) == 9 and all(script.is_file() for script in scripts)
        assert scripts[0].name == "data.js" and scripts[-1].name == "start.js"
    assert not build.external_resources(pages / "_static" / "explorer")


def test_without_scripts_there_is_one_draw_of_the_package(pages):
    world = explorer.material()
    shown = soup(pages / "small.html").select_one(".textsan-explorer noscript dl")
    one = explorer.reading(world, explorer.SENTENCES[0], "custext+", explorer.SLIDERS["custext+"][-1])
    lines = {term.text: term.find_next("dd") for term in shown("dt")}
    assert lines["released"].text.split() == one.released and lines["written"].text.split() == one.written
    hits = [word for word, true in zip(one.together, one.written, strict=True) if word == true]
    assert [mark.text for mark in lines["guessed from the sentence"]("mark")] == hits


class Browser:
    """Chromium without a window or a network: a page, and what went wrong in it."""

    def __init__(self, page):
        self.page, self.faults = page, []
        page.on("pageerror", lambda error: self.faults.append(str(error)))
        page.on("requestfailed", lambda asked: self.faults.append(asked.url))

    def open(self, path, width):
        self.faults.clear()
        self.page.set_viewport_size({"width": width, "height": 900})
        self.page.goto(path.resolve().as_uri())
        self.until("document.querySelector('.textsan-explorer .said')?.textContent")

    def run(self, program):
        return self.page.evaluate(program)

    def until(self, program):
        return self.page.wait_for_function(program, timeout=120_000).json_value()


@pytest.fixture(scope="module")
def chromium():
    if paper.browser() is None:
        assert "TEXTSAN_PAGES" not in os.environ, "Chromium is not here: apt-get install chromium"
        pytest.skip("Chromium is not here: apt-get install chromium")
    flags = ["--no-sandbox", "--disable-gpu", "--host-resolver-rules=MAP * ~NOTFOUND"]
    with sync_api.sync_playwright() as driver:
        yield driver.chromium.launch(executable_path=paper.browser(), args=flags)


@pytest.fixture(scope="module")
def browser(chromium):
    return Browser(chromium.new_page())


def texts(browser, selector):
    return browser.run(f"Array.from(document.querySelectorAll({json.dumps(selector)}), (one) => one.textContent)")


def table(browser, selector):
    of = f"document.querySelectorAll('{selector} tbody tr')"
    return browser.run(f"Array.from({of}, (row) => Array.from(row.children, (one) => one.textContent))")


WRITTEN = ".words button span:nth-child(1)"
RELEASED = ".words button span:nth-child(2)"


@pytest.mark.parametrize("width", [1400, 420])
def test_a_sentence_is_typed_and_the_slider_dragged(pages, browser, width):
    browser.open(pages / "book" / "pages" / "explorer.html", width)
    assert texts(browser, WRITTEN) == explorer.words_of(explorer.SENTENCES[0])
    browser.run(
        "document.querySelector('textarea.text').select(); document.querySelector('textarea.text').focus()"
    )
    browser.page.keyboard.insert_text("My mother sold the house, xylophone.")
    assert texts(browser, WRITTEN) == ["my", "mother", "sold", "the", "house", "xylophone"]
    slider = browser.page.locator("input.value")
    slider.scroll_into_view_if_needed()
    box, mouse = slider.bounding_box(), browser.page.mouse
    middle = box["y"] + box["height"] / 2
    mouse.move(box["x"] + 10 + (box["width"] - 20) * 6 / 16, middle)
    mouse.down()
    mouse.move(box["x"] + box["width"] - 1, middle)
    mouse.up()
    browser.run("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    assert texts(browser, ".textsan-explorer output") == ["ε = 16"]
    assert browser.run("document.querySelector('input.value').getAttribute('aria-valuetext')") == "ε = 16"
    for _ in range(2):  # a press draws again, and the running success counts it
        before = browser.run("parseInt(document.querySelector('.running').textContent.match(/In (\\d+)/)[1])")
        browser.run("document.querySelector('.again').click()")
        after = browser.run("parseInt(document.querySelector('.running').textContent.match(/In (\\d+)/)[1])")
        assert after == before + 1
    # What stop words are released as is sure, and so is that words that are not listed are not attacked.
    assert [texts(browser, RELEASED)[i] for i in (0, 3)] == ["my", "the"]
    assert "not on the list" in browser.run(
        "document.querySelectorAll('.words button')[5].getAttribute('aria-description')"
    )
    [warning] = texts(browser, ".warning.off")
    assert warning.startswith("“xylophone”: not on the list: replaced by noise, never attacked here")
    assert warning.endswith("this says nothing of how safe it is.")
    assert browser.run("document.querySelectorAll('.words li.unlisted').length") == 1
    assert browser.run("document.documentElement.scrollWidth <= innerWidth")
    assert not browser.faults


def test_the_opening_draw_is_the_first_seeds_and_later_ones_are_fresh(pages, browser):
    openings = []
    for _ in range(2):
        browser.open(pages / "book" / "pages" / "explorer.html", 1000)
        assert "The opening draw is fixed: seed 1" in texts(browser, ".noise")[0]
        openings.append(texts(browser, RELEASED))
    first = browser.run("""(() => {
      const T = textsanExplorer, world = T.world(T.data), { name, value } = T.data.mechanisms[0];
      const m = T.MECHANISMS[name](world, value);
      return m.sanitize(world.numbers(T.tokenize(T.data.sentences[0])), T.seededUniform(1)).map((y) => m.name(y));
    })()""")
    assert openings == [first, first]
    browser.run("(crypto.getRandomValues = (array) => array.fill(0), null)")
    browser.run("document.querySelector('.again').click()")
    assert texts(browser, RELEASED) != first
    assert texts(browser, ".noise") == ["Fresh noise from this browser's secure generator."]


def test_the_page_answers_while_pairs_are_added_up(pages, browser):
    browser.open(pages / "book" / "pages" / "explorer.html", 1000)
    browser.run("""(() => {
      const select = document.querySelector('select.mechanism');
      select.value = 'santext';
      select.dispatchEvent(new Event('change'));
    })()""")
    assert "Adding up all pairs" in texts(browser, ".busy")[0]
    before = texts(browser, RELEASED)
    browser.run("document.querySelector('.again').click()")  # of the mechanism before, meanwhile
    assert texts(browser, RELEASED) != before
    assert browser.run("document.querySelector('input.value').disabled")
    browser.until("document.querySelector('.busy').hidden")
    assert not browser.run("document.querySelector('input.value').disabled")
    assert texts(browser, ".textsan-explorer output") == ["ε = 2"]
    assert "No word is kept here" in texts(browser, ".linked .hint")[0]
    assert not browser.faults


def test_a_word_tells_its_posterior(pages, browser):
    browser.open(pages / "book" / "pages" / "explorer.html", 1000)
    browser.run("document.querySelectorAll('.words button')[1].focus()")
    browser.page.keyboard.press("Enter")
    assert browser.run("document.activeElement.getAttribute('aria-pressed')") == "true"
    rows = table(browser, ".posterior")
    assert any(row[0] == "friend (written)" for row in rows)
    context = [0.0 if row[3].startswith("<") else float(row[3]) for row in rows]
    assert context[:8] == sorted(context[:8], reverse=True) and sum(context) <= 1.01
    assert "by the sentence" in texts(browser, ".said")[1]
    browser.run("document.querySelectorAll('.words button')[0].click()")
    assert texts(browser, ".said")[1] == "“my” is not protected here, and not attacked."


def test_the_keyboard_moves_tabs_and_slider(pages, browser):
    browser.open(pages / "book" / "pages" / "explorer.html", 1000)
    browser.run("document.querySelector('[role=tab]').focus()")
    browser.page.keyboard.press("ArrowRight")
    assert browser.run("document.querySelector('[role=tab][aria-selected=true]').textContent") == "All values"
    browser.page.keyboard.press("ArrowRight")
    assert browser.run("document.querySelector('[role=tab][aria-selected=true]').textContent") == "Three words"
    said = "Array.from(document.querySelectorAll('.three .said'))[0].textContent"
    before = browser.run(said)
    browser.run("document.querySelector('input.value').focus()")
    browser.page.keyboard.press("End")
    after = browser.until(f"{said} !== {json.dumps(before)} && {said}")
    values = [float(word) for word in after.split() if word[0].isdigit()]
    assert values[1] > 0.9 > values[0]  # three words at the slider's end are all but told
