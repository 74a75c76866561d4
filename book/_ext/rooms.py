"""Sphinx extension: a page for each room of the package, made of its docstrings.

A page `book/api/ROOM.md` holds a title, the room's name; what the room's modules say is put below it when the
page is read, so that a new module is there without an edit. `pages/api.md` gets the list of the rooms.
Docstrings are plain words with code between single backticks: they are made reStructuredText here, so that none
of it is misread as its markup.
"""

import importlib
import inspect
import pkgutil
import re
import tomllib
from pathlib import Path

import textsan

_CODE = re.compile(r"(``.+?``|`[^`]+`)")
_SECTION = re.compile(r"\s*(Args|Attributes|Raises|Returns|Yields):$")
_MARKUP = re.compile(r"([\\*|_])")
_EMPHASIS = re.compile(r"(?<![\w\\*])\\\*(\w(?:[\w ]*\w)?)\\\*(?![\w\\])")  # of words, after stars were made plain
_MARKUP_OF_PAGES = re.compile(r"([\\*_<>$\[\]])")
_FOLDER = "book/api/"
_COLON = "\ue000"  # of no text; stands for a colon while napoleon reads


def page(room: str) -> str:
    """Write what stands below the title of a room's page: its sentence, then its modules."""
    door = importlib.import_module(room)
    if room == "textsan.cli":
        return f"{inspect.getdoc(door)}\n\n{_commands()}"
    if not hasattr(door, "__path__"):
        return _module(door.__name__)
    names = [module.name for module in pkgutil.iter_modules(door.__path__) if not module.ispkg]
    folders = [one.name for one in pkgutil.iter_modules(door.__path__) if one.ispkg]
    names += [f"{folder}.{name}" for folder in folders for name in _inside(door, folder)]
    parts = [inspect.getdoc(door), _at_the_door(door)]
    for name in names:
        parts.append(f"## {name}\n\n{_module(f'{door.__name__}.{name}')}")
    return "\n\n".join(filter(None, parts))


def house(root: Path) -> str:
    """List the rooms in the order of imports, and the names of `import textsan`, for the first of these pages."""
    contracts = tomllib.loads((root / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    package, book = (
        [importlib.import_module(name) for name in reversed(contract["layers"])] for contract in contracts[:2]
    )
    lines, machinery = ([_entry(door) for door in doors] for doors in (package, book))
    objects = ((name, getattr(textsan, name)) for name in textsan.__all__)
    sentences = [f"- `textsan.{name}`: {_sentence(made)}" for name, made in objects if callable(made)]
    beside = "Beside the package, not in its wheel, the machinery of this book:"
    return "\n".join(
        [*lines, "", beside, "", *machinery, "", "What `import textsan` has by name:", "", *sentences]
    )


def _inside(door, folder: str) -> list[str]:
    """The modules that a folder within a room names at its own door."""
    return getattr(importlib.import_module(f"{door.__name__}.{folder}"), "__all__", [])


def _entry(door) -> str:
    return f"- {{doc}}`{door.__name__} </{_FOLDER}{door.__name__.rpartition('.')[-1]}>`: {_sentence(door)}"


def _sentence(documented) -> str:
    first = inspect.getdoc(documented).partition("\n\n")[0]
    return _MARKUP_OF_PAGES.sub(r"\\\1", " ".join(first.split()))


def _at_the_door(door) -> str:
    modules = {module.name for module in pkgutil.iter_modules(door.__path__)}
    names = ", ".join(f"`{name}`" for name in sorted({*getattr(door, "__all__", ())} - modules))
    return f"At the door, `from {door.__name__} import …`: {names}." if names else ""


def _module(name: str) -> str:
    return f"```{{eval-rst}}\n.. automodule:: {name}\n   :members:\n```"


def _commands() -> str:
    import click

    from textsan.cli.main import main

    def helps(command, name):
        context = click.Context(command, info_name=name, terminal_width=88, max_content_width=88)
        yield f"## {name}\n\n```text\n{command.get_help(context)}\n```"
        for sub in command.list_commands(context) if isinstance(command, click.Group) else ():
            yield from helps(command.get_command(context, sub), f"{name} {sub}")

    return "\n\n".join(helps(main, "textsan"))


def plain(lines: list[str]) -> list[str]:
    """Turn lines of a docstring into reStructuredText that shows them as they are.

    Code is between single backticks, or indented after an empty line; examples come after >>>.
    """
    written: list[str] = []
    example = code = False
    before = ""  # the last line that was not empty
    for number, line in enumerate(lines):
        if not line.strip():
            example = False
        elif line.lstrip().startswith(">>> "):
            example = True
        indented = line.startswith("    ")
        starts = indented and number and not lines[number - 1].strip() and not before.startswith("    ")
        if starts and not example and not _SECTION.match(before):
            code = True
            written += ["::", ""]
        elif line.strip() and not indented:
            code = False
        written.append(line if example or code else _words(line))
        before = line if line.strip() else before
    return written


def _words(line: str) -> str:
    parts = _CODE.split(line)
    parts[::2] = [_EMPHASIS.sub(r"*\1*", _MARKUP.sub(r"\\\1", words)) for words in parts[::2]]
    parts[1::2] = [f"``{code.strip('`')}``" for code in parts[1::2]]
    return "".join(parts)


def _fill(app, docname, source):
    if docname == "book/pages/api":
        source[0] += f"\n{house(Path(app.srcdir))}\n"
    elif docname.startswith(_FOLDER):
        source[0] += f"\n{page(source[0].removeprefix('#').strip())}\n"


def _make_plain(app, what, name, obj, options, lines):
    lines[:] = plain(lines)
    if what in ("attribute", "data", "property"):
        lines[:1] = [line.replace(":", _COLON) for line in lines[:1]]  # else napoleon reads a type before it


def _put_colons_back(app, what, name, obj, options, lines):
    lines[:] = [line.replace(_COLON, ":") for line in lines]


def _skip(app, what, name, obj, skip, options):
    """The fields of a named tuple, of which Python says what number they are."""
    return True if (inspect.getdoc(obj) or "").startswith("Alias for field number") else None


def setup(app):
    app.connect("source-read", _fill)
    app.connect("autodoc-process-docstring", _make_plain, priority=400)  # napoleon's is 500
    app.connect("autodoc-process-docstring", _put_colons_back, priority=600)
    app.connect("autodoc-skip-member", _skip)
