"""Pages of a stored notebook: folds, drawings in the page's colours, titles, descriptions."""

import ast
import importlib
import re
import shutil
import sys
from pathlib import Path
from types import SimpleNamespace

import nbformat
import pytest
from bs4 import BeautifulSoup
from docutils import nodes

from textsan import plotting
from textsan_book.chapters import build, chapters, reading_times

ROOT = Path(__file__).parents[1]
WIDTH, LENGTH = 88, 15  # columns and lines of a code cell: what a page shows without a cut, and one reads at once
LARGE = 300_000  # characters of a stored figure
CODE = re.compile(r"np\.\w+|\bNaN\b|\bdtype\b|<[\w.]+ object")
CODE_NAME = re.compile(r"[a-z]{2,}[._][a-z]{2,}")  # attack.pairs, n_shadow


@pytest.fixture(scope="module")
def extensions():
    sys.path.insert(0, str(ROOT / "book" / "_ext"))
    yield {name: importlib.import_module(name) for name in ("chapter_numbers", "drawings", "folding", "moved")}
    sys.path.remove(str(ROOT / "book" / "_ext"))


@pytest.mark.parametrize(
    "source, tags, draws, name",
    [
        ("import a\nfrom b import c\n\nplotting.style()", [], False, "Imports"),
        ("import a\n\na.run()", [], False, None),
        ("e = 1.0  # privacy\nn = 2", ["parameters"], False, "Parameters: e, n"),
        ("e = 1.0", [], False, None),
        ("_, ax = plt.subplots()\nax.plot([1])", [], True, "Code of the figure"),
        ("def draw(ax, rows):\n    ax.plot(rows)", [], False, "Code of the figure"),
        ("def rate(rows):\n    return rows", [], False, None),
        ("a = rates[0]\nfinding(a > 0, 'it is')\nprint(a)", [], False, "Code of the check"),
        ("a = 1\nb = train(a)\nfinding(b > 0, 'it is')", [], False, None),  # what is trained is what is shown
        ("a = by_hand(0)\nassert a == 1", [], False, None),  # what is compared is what is taught
        ("rows = []\nfor e in some:\n    rows.append({'e': e})", [], False, "Rows of what follows"),
        ("for e in some:\n    low = e.low\n    finding(low > 0, 'gains')", [], False, "Code of the check"),
        ("for e in some:\n    low = read(e)\n    print(low)", [], False, None),  # it asks nothing
        ("rows = f()\nplotting.table(rows)", [], False, "Code of the table"),
        ("def f():\n    pass\n\n\nplotting.table(f())", [], False, None),
    ],
)
def test_fold_follows_from_what_the_cell_does(extensions, source, tags, draws, name):
    assert extensions["folding"].summary(source, tags, draws) == name


SVG = """<?xml version="1.0"?>
<!DOCTYPE svg PUBLIC "x" "http://www.w3.org/x.dtd">
<svg xmlns:xlink="http://www.w3.org/1999/xlink" width="9pt" xmlns="http://www.w3.org/2000/svg">
 <metadata><x/></metadata>
 <defs><style type="text/css">*{stroke-linejoin: round}</style><path id="m1" style="stroke: #000000"/></defs>
 <use xlink:href="#m1" style="fill: #d22d1e; stroke: #000000"/><rect clip-path="url(#p1)" style="fill: #FFFFFF"/>
 <text style="fill: #111111">#000000 is black</text>
</svg>
"""


def test_drawing_takes_ink_and_paper_from_the_page_and_keeps_the_rest(extensions):
    shown = extensions["drawings"].inline(SVG, 'a "line" & a <point>', "one")
    assert shown.count("stroke: currentColor") == 2 and "fill: var(--pst-color-background)" in shown
    assert "fill: #d22d1e" in shown and "fill: #111111" in shown
    assert 'style="min-width: 5pt"' in shown
    assert not any(gone in shown for gone in ("<?xml", "<!DOCTYPE", "<metadata", "<style"))


def test_a_drawing_says_what_it_shows_and_names_of_two_differ_and_are_still_found(extensions):
    for prefix in ("one", "two"):
        text = extensions["drawings"].inline(SVG, 'a "line" & a <point>', prefix)
        shown = BeautifulSoup(text, "html.parser").svg
        assert (shown["role"], shown["aria-label"]) == ("img", 'a "line" & a <point>')
        assert f'id="{prefix}-m1"' in text and f'href="#{prefix}-m1"' in text and f"url(#{prefix}-p1)" in text


def test_the_number_of_a_chapter_is_that_of_its_file(extensions):
    def listed(*numbers):
        return nodes.bullet_list("", *(nodes.reference("", "", secnumber=[*one]) for one in numbers))

    page, other = "notebooks/supplement/s02-plausible-deniability", "book/pages/notation"
    env = SimpleNamespace(
        toc_secnumbers={page: {"": (17,), "#a": (17, 2), "#deep": None}, other: {"": (17,)}},
        titles={page: nodes.title(secnumber=[17]), other: nodes.title(secnumber=[17])},
        tocs={page: listed([17], [17, 2]), other: listed([17])},
    )
    extensions["chapter_numbers"].by_file(env)
    assert env.toc_secnumbers[page] == {"": ("S2",), "#a": ("S2", 2), "#deep": None}
    assert tuple(env.titles[page]["secnumber"]) == ("S2",)
    assert [tuple(one["secnumber"]) for one in env.tocs[page].findall(nodes.reference)] == [("S2",), ("S2", 2)]
    assert env.toc_secnumbers[other] == {"": (17,)} and env.titles[other]["secnumber"] == [17]


def test_figures_of_a_page_without_a_number_begin_with_one(extensions):
    numbers = {"csv": {"figure": {"a": (1,)}}, "verdicts": {"figure": {"b": (2,), "c": (3,)}}}
    env = SimpleNamespace(toc_fignumbers={**numbers, "chapter": {"figure": {"d": (7, 1)}}})
    extensions["chapter_numbers"].by_page(env)
    assert env.toc_fignumbers["verdicts"] == {"figure": {"b": (1,), "c": (2,)}}
    assert env.toc_fignumbers["chapter"] == {"figure": {"d": (7, 1)}}


@pytest.fixture(scope="module")
def book(tmp_path_factory):
    """A book of one chapter whose outputs were written by hand."""
    root = tmp_path_factory.mktemp("page")
    for name in ("book/_ext", "book/_static"):
        shutil.copytree(ROOT / name, root / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("_config.yml", "book/references.bib"):
        shutil.copy(ROOT / name, root / name)
    (root / "_toc.yml").write_text("format: jb-book\nroot: book/pages/index\nchapters:\n- file: notebooks/01\n")
    (root / "book" / "pages").mkdir()
    (root / "book" / "pages" / "index.md").write_text("# What text sanitization really hides\n\nA book.\n")
    (root / "book" / "moved.yml").write_text("{}\n")
    (root / "notebooks").mkdir()

    def code(source, data=None, **metadata):
        cell = nbformat.v4.new_code_cell(source, metadata=metadata, execution_count=1)
        if data:
            cell.outputs = [nbformat.v4.new_output("display_data", data)]
        return cell

    figure = {"figure": {"name": "fig-one", "caption": "A line"}, "image": {"alt": "A line that rises"}}
    shown = plotting.table([{"attack": "Markov", "rate": 0.5}], caption="One rate")
    cells = [
        nbformat.v4.new_markdown_cell("# First\n\nThe *first* paragraph.\n\nSee {numref}`fig-one`."),
        code("import textsan"),
        code("epsilon = 1.0", tags=["parameters"]),
        code("draw()", {"image/svg+xml": SVG, "text/plain": "<Figure>"}, mystnb=figure),
        code("table()", {"text/html": shown._repr_html_(), "text/plain": repr(shown)}),
    ]
    notebook = nbformat.v4.new_notebook(cells=cells)
    notebook.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3", "language": "python"}
    nbformat.write(notebook, root / "notebooks" / "01.ipynb")
    return build.build(root).parent


@pytest.fixture
def chapter(book):
    return BeautifulSoup((book / "notebooks" / "01.html").read_text(), "html.parser")


def test_cells_are_folded_and_named(chapter):
    names = [summary.p.text for summary in chapter.select("details.hide > summary")]
    assert names == ["Imports", "Parameters: epsilon", "Code of the figure"]
    (still_open,) = [cell for cell in chapter.select("div.cell_input") if cell.find_parent("details") is None]
    assert still_open.text.strip() == "table()"


def test_figure_is_in_the_page_with_its_number_caption_and_alternative_text(chapter, book):
    (figure,) = chapter.find_all("figure")
    assert figure["id"] == "fig-one" and figure.svg["aria-label"] == "A line that rises"
    assert figure.figcaption.text.strip().startswith("Fig.\N{NO-BREAK SPACE}1 A line")
    assert chapter.select_one('a[href="#fig-one"] .std-numref').text == "Fig.\N{NO-BREAK SPACE}1"
    assert not [*book.rglob("_images/*.svg"), *book.rglob("*.map")]
    assert chapter.select_one("table.results caption").text == "One rate"


def test_pages_describe_themselves_and_the_first_is_titled_once(chapter, book):
    said = {tag.get("name") or tag.get("property"): tag.get("content") for tag in chapter.find_all("meta")}
    assert said["description"] == said["og:description"] == "The first paragraph."
    assert said["og:title"] == "First" and chapter.title.text.split(" ", 1)[0] == "First"
    assert chapter.find("link", rel="icon")
    first = BeautifulSoup((book / "book" / "pages" / "index.html").read_text(), "html.parser")
    assert first.title.text.strip() == "What text sanitization really hides"
    assert first.select_one(".logo__title").text == "What text sanitization really hides"


def test_an_old_address_that_leads_nowhere_is_told(extensions):
    moved = {"gone": {"": "new#x", "a": "new#y"}, "b": {"": "nowhere"}, "new": {"": "new"}, "c": {"d": "new#x"}}
    assert extensions["moved"].faults(moved, {"new"}, lambda page: {"x"}) == [
        "gone: there is no anchor y on new",
        "b: there is no page nowhere",
        "new is still a page of the book",
        "c is no page of the book",
    ]


def anchors_in_text(page):
    """Anchors that the text of a page names: headings, labels and figures; the build knows the others."""
    text = reading_times.source(ROOT, page).read_text(encoding="utf-8")
    headings = {nodes.make_id(re.sub(r"[$`*]", "", one)) for one in re.findall(r"^#+ (.*)$", text, re.M)}
    labels = re.findall(r"^\(([\w-]+)\)=$|^\s*:?(?:label|name): ([\w-]+)$|^\$\$ \(([\w-]+)\)$", text, re.M)
    named = {one for found in labels for one in found if one}
    return headings | named | {f"equation-{one}" for one in named}


def test_every_old_address_leads_to_a_page_of_the_book_and_an_anchor_there(extensions):
    found = extensions["moved"].addresses(ROOT)
    contents = (ROOT / "_toc.yml").read_text(encoding="utf-8")
    pages = {*re.findall(r"(?:file|root): (\S+)", contents)}
    assert found and extensions["moved"].faults(found, pages, anchors_in_text) == []


def cells_of(chapter):
    return [cell.source.splitlines() for cell in chapters.read_text(chapter).cells if cell.cell_type == "code"]


CHAPTERS = [pytest.param(chapter, id=chapter.name) for chapter in chapters.chapters(ROOT)]


def lost_tables(source):
    """Lines of a cell that make what only the end of a cell shows, and are not its end."""
    body = ast.parse(source).body
    shows = [node for node in ast.walk(ast.Module(body, [])) if isinstance(node, ast.Expr)]
    made = {"plotting.table", "plotting.matrix", "plotting.reading"}
    return [
        node.lineno
        for node in shows
        if isinstance(node.value, ast.Call) and ast.unparse(node.value.func) in made and node is not body[-1]
    ]


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_code_fits_the_page_and_shows_its_tables(chapter):
    for lines in cells_of(chapter):
        assert len(lines) <= LENGTH and not [line for line in lines if len(line) > WIDTH]
        assert lost_tables("\n".join(lines)) == []


def test_a_table_before_the_end_of_a_cell_is_found():
    assert lost_tables("x = 1\nplotting.table(x)") == []
    assert lost_tables("plotting.table(x)\nprint(x)") == [1]
    assert lost_tables("for x in y:\n    plotting.reading(x, {})") == [2]


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_outputs_are_small_drawings_words_and_numbers_not_code(chapter):
    cells = [cell for cell in nbformat.read(chapter.notebook, as_version=4).cells if cell.cell_type == "code"]
    outputs = [out for cell in cells for out in cell.outputs]
    data = [out.get("data", {}) for out in outputs]
    pictures = [(kind, len(one[kind])) for one in data for kind in one if kind.startswith("image/")]
    assert {kind for kind, _ in pictures} <= {"image/svg+xml"} and all(size < LARGE for _, size in pictures)
    texts = [out.get("text") or out.get("data", {}).get("text/plain", "") for out in outputs]
    pages = [BeautifulSoup(one.get("text/html", ""), "html.parser") for one in data]
    found = {word for text in texts for word in CODE.findall(text)}
    found |= {th.text for page in pages for th in page.find_all("th") if CODE_NAME.search(th.text)}
    found |= {"a table that plotting.table has not made" for page in pages if page.select("table.dataframe")}
    assert found == set()
