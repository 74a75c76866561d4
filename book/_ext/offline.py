"""Sphinx extension: a book that needs no network to be read.

MathJax comes from a pip package (byte for byte the files of npm's mathjax 3.2.2) and is copied into the
built book; thebe's loader, which Jupyter Book adds to every page and which names a CDN, is dropped. So are the
maps from the theme's scripts to their sources, which serve only who develops the theme.
"""

import hashlib
import shutil
from importlib.metadata import distribution
from pathlib import Path

from sphinx.errors import ExtensionError

PACKAGE = "sphinx-mathjax-offline"
SCRIPT = "tex-chtml-full.js"  # every TeX extension in one file, so nothing is loaded later
SCRIPT_SHA256 = "91b005503c5d1f0958bf4d73ada1a3be33596b2c4ab5da22277f1b0d3149b5a4"
FONTS = "output/chtml/fonts/woff-v2"


def _drop_thebe(app, config):
    for listeners in app.events.listeners.values():
        listeners[:] = [item for item in listeners if getattr(item.handler, "__module__", "") != "sphinx_thebe"]
    styles = app.registry.css_files  # that of thebe would be looked for in vain, on every page
    styles[:] = [style for style in styles if style[0] != "sphinx-thebe.css"]
    config.html_context.setdefault("default_mode", "auto")  # else the theme's script complains


def _copy_mathjax(app):
    source = Path(distribution(PACKAGE).locate_file("sphinx-mathjax-offline/static/mathjax"))
    if hashlib.sha256((source / SCRIPT).read_bytes()).hexdigest() != SCRIPT_SHA256:
        raise ExtensionError(f"{SCRIPT} of {PACKAGE} is not MathJax 3.2.2: install it again")
    # In the output only: Jupyter Book adds every script below the source's _static to every page a second time.
    target = Path(app.outdir) / "_static" / "mathjax"
    (target / FONTS).parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(source / SCRIPT, target)
    shutil.copytree(source / FONTS, target / FONTS, dirs_exist_ok=True)


def _drop_source_maps(app, exception):
    for path in (Path(app.outdir) / "_static").rglob("*.map"):
        path.unlink()


def setup(app):
    app.connect("config-inited", _drop_thebe, priority=900)
    app.connect("builder-inited", _copy_mathjax)
    app.connect("build-finished", _drop_source_maps)
