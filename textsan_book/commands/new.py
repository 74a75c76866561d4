"""`textsan new`: write every file and line that a new mechanism, attack or chapter needs."""

import re
import subprocess
import sys
from keyword import iskeyword
from pathlib import Path

import click

_MARKERS = "ospdh^v<>DPX*8H"
_PART = '  - caption: "Supplement: further chapters"\n    numbered: true\n    chapters:\n'  # of `_toc.yml`
_SETTINGS = "{share: 0.9, turned: 0.4}"  # other parameters of the chapter that it starts from
_SHAPE = re.compile(r"[a-z][a-z0-9]*( [a-z0-9]+)*")


@click.command()
@click.argument("kind", type=click.Choice(["mechanism", "attack", "chapter"]))
@click.argument("name")
def new(kind, name):
    """Write a working mechanism, attack or chapter called NAME into this clone, to be edited.

    NAME is lower-case words, in quotes if there are several.

    Example: textsan new mechanism "unit santext"
    """
    from textsan.cli.errors import fail
    from textsan_book.chapters import chapters

    try:
        root = chapters.project_root()
        if not _SHAPE.fullmatch(name):
            raise ValueError(f"name: {name!r} is not lower-case words, as in 'unit santext'")
        written = _chapter(root, name) if kind == "chapter" else _code(root, kind, name)
    except (FileNotFoundError, ValueError) as error:
        fail(error)
    click.echo("\n".join(str(path.relative_to(root)) for path in written))


def _code(root: Path, kind: str, name: str) -> list[Path]:
    """Write a module with its test, and its lines at the door and in the registry of the room."""
    module, title = name.replace(" ", "_"), "".join(word.capitalize() for word in name.split())
    room = root / "textsan" / f"{kind}s"
    file, test = room / f"{module}.py", root / "tests" / f"test_{module}.py"
    door, registry = room / "__init__.pyi", room / "registry.py"
    known = registry.read_text(encoding="utf-8")
    taken = f'"{name}",' in known or f" {title} as" in door.read_text(encoding="utf-8")
    if taken or iskeyword(module) or file.exists() or test.exists():
        raise ValueError(f"name: {name!r} is taken, by {kind}, module, test or Python; choose another")
    for path, template in ((file, kind), (test, f"{kind}_test")):
        content = _template(root, template).replace("CLASS", title).replace("NAME", name)
        path.write_text(content[:3] + content[3].upper() + content[4:], encoding="utf-8")
    with door.open("a", encoding="utf-8") as stream:
        stream.write(f"from .{module} import {title} as {title}\n")
    registry.write_text(_registered(known, kind, name, f"{module}:{title}"), encoding="utf-8")
    ruff, paths = [sys.executable, "-m", "ruff"], [str(path) for path in (file, test, door, registry)]
    subprocess.run([*ruff, "check", "--quiet", "--select", "I", "--fix", *paths], cwd=root, check=True)
    subprocess.run([*ruff, "format", "--quiet", *paths], cwd=root, check=True)
    return [file, test, door, registry]


def _template(root: Path, name: str) -> str:
    """Read a text to start from, which runs and passes the tests as it is; words in capitals are replaced."""
    return (root / "textsan_book" / "commands" / "templates" / f"{name}.txt").read_text(encoding="utf-8")


def _registered(text: str, kind: str, name: str, where: str) -> str:
    """Add a line to the text of a registry: the colour of the template's family, and a free marker."""
    colour = {"mechanism": "#0096e1", "attack": "#965a00"}[kind]  # SanText's; that of counts of words
    taken = set(re.findall(rf'"{colour}",\s+"(.)"', text))
    look = f'"{colour}", "{next(marker for marker in _MARKERS if marker not in taken)}"'
    label = name[0].upper() + name[1:]
    line = {
        "mechanism": f'_entry("{name}", "{where}", "{label}", {look}),',
        "attack": f'_entry("{name}", "{where}.against", {look}),',
    }[kind]
    before, end, after = text.rpartition("    ),\n)")
    return f"{before}        {line}\n{end}{after}"


def _chapter(root: Path, title: str) -> list[Path]:
    """Write a chapter of the supplement with the next number, and its lines in the contents and the settings."""
    toc, moved, settings = root / "_toc.yml", root / "book" / "moved.yml", root / "data" / "settings.yml"
    contents, slug = toc.read_text(encoding="utf-8"), title.replace(" ", "-")
    given = re.findall(
        r"notebooks/(?:supplement/)?(s?\d+[a-z]?)-([\w-]+)", contents + moved.read_text(encoding="utf-8")
    )
    if slug in [name for _, name in given]:
        raise ValueError(f"name: a chapter is or was called {slug!r}; choose another")
    number = max(int(number[1:]) for number, _ in given if number.startswith("s")) + 1
    name = f"supplement/s{number:02d}-{slug}"
    before, back, after = contents.partition("  - caption: Back matter\n")
    part = "" if _PART in before else _PART
    toc.write_text(f"{before}{part}      - file: notebooks/{name}\n{back}{after}", encoding="utf-8")
    with settings.open("a", encoding="utf-8") as stream:
        stream.write(f"{name}:\n  - {_SETTINGS}\n")
    file = root / "book" / f"{name}.md"
    text = _template(root, "chapter").replace("TITLE", title[0].upper() + title[1:])
    file.write_text(text, encoding="utf-8")
    return [file, toc, settings]
