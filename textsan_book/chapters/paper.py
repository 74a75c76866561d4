"""The main text as one PDF with bookmarks, printed by a headless Chromium: `make pdf`.

The book is built a second time as one long page, of the parts that are main text; the browser makes the bookmarks
of its headings.
"""

import html
import re
import shutil
import subprocess
import sys
from importlib import metadata
from pathlib import Path
from tempfile import TemporaryDirectory

import yaml

from textsan_book.chapters.build import BuildError

LEFT_OUT = ("Use it", "Back matter", "Supplement")  # how the parts of `_toc.yml` begin that are no main text
PREFACE = "book/pages/preface"  # takes the place of the front page
ON_SCREEN = {"book/pages/explorer", "book/pages/decide", PREFACE}
"""Pages that move, frame another, or stand before the parts, and so are in none of the printed parts."""
_SPAN = re.compile(r"</?span[^>]*>")
_LINK = re.compile(r'(<a\b[^>]*?)\s(?:xlink:)?href="([^"]*)"')
NOTICE = (
    "The textsan authors. Version {version}, BSD-3-Clause. This file is the main text. The supplement, the "
    "manual, the course and the explorer are pages of the book on screen, which <code>make book</code> makes; "
    "what is named in italics is there."
)
"""The text under the title, of a version."""
_CHAPTER = re.compile(
    r'(<span id="document-notebooks/[^"]*"></span>)<section([^>]*>)((?:\s*<span id="[^"]*"></span>)*\s*<h\d>)'
    r'(.*?)(?=<a class="headerlink"|</h\d>)',
    re.DOTALL,
)
_PAGE = re.compile(rb"/Type /Page\b")
_MOST = 12 * 2**20  # bytes
MOST_PAGES = 200


def contents(root: Path) -> dict:
    """Read the table of contents of the main text."""
    toc = yaml.safe_load((root / "_toc.yml").read_text(encoding="utf-8"))
    parts = [part for part in toc["parts"] if not part["caption"].startswith(LEFT_OUT)]
    parts = [
        part | {"chapters": [entry for entry in part["chapters"] if entry["file"] not in ON_SCREEN]}
        for part in parts
    ]
    references = {"caption": "References", "chapters": [{"file": "book/pages/references"}]}
    return toc | {"root": PREFACE, "parts": [*filter(lambda part: part["chapters"], parts), references]}


def plain(page: str) -> str:
    """Leave out what only weighs on paper (colours of code, formulas said twice) and unfold proofs.

    Chromium names every part of a page in the file for reading aloud, each coloured word of code among them;
    without these it is less than half as large. Of what is a heading it makes bookmarks, and the parts that the
    table of contents names are none of its own.

    >>> plain('<pre><span></span><span class="n">x</span> = 1</pre>')
    '<pre>x = 1</pre>'
    """
    page = page.replace('<details class="sd-', '<details open class="sd-')  # a folded proof is read on paper, too
    page = re.sub(r"<pre>.*?</pre>", lambda match: _SPAN.sub("", match[0]), page, flags=re.DOTALL)
    return page.replace(' role="heading"', "").replace(
        'window.MathJax = {"options": {', 'window.MathJax = {"options": {"enableAssistiveMml": false, '
    )


def linked(page: str) -> str:
    """Turn a page's links to itself into such, and leave out those to pages that are not printed.

    >>> linked('<i id="one"></i><a class="x" href="../index.html#one">1</a> <a href="two.html">2</a>')
    '<i id="one"></i><a class="x" href="#one">1</a> <a>2</a>'
    >>> linked('<a href="https://example.org/#a">3</a>')
    '<a href="https://example.org/#a">3</a>'
    """
    known = set(re.findall(r'\sid="([^"]+)"', page))

    def target(match: re.Match) -> str:
        tag, address = match.groups()
        if re.match(r"[a-z]+:", address):
            return match[0]
        anchor = address.partition("#")[2]
        return f'{tag} href="#{anchor}"' if anchor in known else tag

    return _LINK.sub(target, page)


def entitled(page: str, title: str, version: str) -> str:
    """Make the theme's printed heading a title page, and show the preface's own heading after it.

    The theme hides that one on paper.

    >>> entitled("<h1>A</h1><h1>A</h1>", "T", "1.0")[:39]
    '<h1>T</h1><p>The textsan authors. Versi'
    >>> entitled("<h1>A</h1><h1>A</h1>", "T", "1.0").endswith('<h1 style="display: block !important">A</h1>')
    True
    """
    before, _, rest = page.partition("<h1>")
    rest = rest.partition("</h1>")[2].replace("<h1>", '<h1 style="display: block !important">', 1)
    return f"{before}<h1>{title}</h1><p>{NOTICE.format(version=version)}</p>{rest}"


def headed(page: str) -> str:
    """Put each chapter's title above its printed pages; a mark of its name begins it.

    >>> headed('<head></head><span id="document-notebooks/1"></span><section id="a"><h2>1. R&amp;D</h2>')[:73]
    '<head><style>@page chapter0 { @top-center { content: "1. R&D"; font: 8pt '
    """
    rules: list[str] = []

    def named(match: re.Match) -> str:
        mark, tag, heading, title = match.groups()
        heading_text = (
            html.unescape(re.sub(r"<[^>]+>", "", title)).strip().replace("\\", r"\\").replace('"', r"\"")
        )
        name = f"chapter{len(rules)}"
        rules.append(f'@page {name} {{ @top-center {{ content: "{heading_text}"; font: 8pt sans-serif; }} }}')
        return f'<section style="page: {name}"{tag}{mark}{heading}{title}'  # outside it, a mark has its own page

    page = _CHAPTER.sub(named, page)
    return page.replace("<head>", f"<head><style>{' '.join(rules)}</style>", 1)


def pages(pdf: bytes) -> int:
    """Count the pages of a PDF as Chromium writes it: its objects are not compressed.

    >>> pages(b"<</Type /Page\\n/Parent 2 0 R>> <</Type /Pages>> <</Type /Page /Parent 2 0 R>>")
    2
    """
    return len(_PAGE.findall(pdf))


def browser() -> str | None:
    """Find a Chromium under any of its names; None where there is none."""
    names = "chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome"
    return next(filter(None, map(shutil.which, names)), None)


def print_book(root: Path, path: Path) -> str:
    """Print the main text, and say its pages and size: more than 200 pages or 12 MB are an error."""
    chromium = browser()
    if chromium is None:
        raise BuildError("make pdf needs Chromium: on Debian, apt-get install chromium")
    with TemporaryDirectory() as folder:
        toc = Path(folder, "toc.yml")
        toc.write_text(yaml.safe_dump(contents(root), sort_keys=False), encoding="utf-8")
        program = "from jupyter_book.cli.main import main; main()"
        command = [sys.executable, "-c", program, "build", ".", "--all", "-q", "--builder", "singlehtml"]
        subprocess.run([*command, "--toc", str(toc), "--path-output", folder], cwd=root, check=False)
        page = Path(folder, "_build", "singlehtml", "book", "pages", "preface.html")
        if not page.is_file():
            raise BuildError("jupyter-book made no single page; its messages are above")
        text = headed(linked(plain(page.read_text(encoding="utf-8"))))
        config = yaml.safe_load((root / "_config.yml").read_text(encoding="utf-8"))
        text = entitled(text, config["title"], metadata.version("textsan"))
        page = Path(folder, "_build", "singlehtml", "printed.html")  # its styles are named from there
        page.write_text(text, encoding="utf-8")
        path.parent.mkdir(parents=True, exist_ok=True)
        options = ["--headless=new", "--no-sandbox", "--disable-gpu", f"--user-data-dir={folder}/profile"]
        options += ["--generate-pdf-document-outline", "--no-pdf-header-footer", "--virtual-time-budget=600000"]
        options += ["--timeout=600000", f"--print-to-pdf={path}", page.as_uri()]
        subprocess.run([chromium, *options], check=True, capture_output=True)
    pdf = path.read_bytes() if path.is_file() else b""
    size = f"{pages(pdf)} pages, {len(pdf) / 2**20:.1f} MB"
    if not 0 < len(pdf) <= _MOST or pages(pdf) > MOST_PAGES:
        raise BuildError(f"{path}: {size}; it may have 1 to {MOST_PAGES} pages and {_MOST // 2**20} MB")
    return f"{path}: {size}"


if __name__ == "__main__":
    print(print_book(Path.cwd(), Path("_build", "textsan.pdf").resolve()))
