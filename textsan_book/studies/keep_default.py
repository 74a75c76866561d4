"""Keep what specifications mean when a default changes.

    python -m textsan_book.studies.keep_default KIND NAME PARAMETER OLD

for example with the arguments `attack markov k 20`, writes `k: 20` into every specification of `data/sweeps`
that asks for this attack and leaves its k out, and renews the specification's hash in the records of
`data/results`. KIND is defence, attack, task or experiment.
"""

import sys
from collections.abc import Iterator
from pathlib import Path

import yaml

from textsan.base.project import project_data
from textsan_book.studies.records import specification_sha256


def keep(kind: str, name: str, parameter: str, old: str, data: Path | None = None) -> list[Path]:
    """Write an old default, as YAML, into the specifications of a folder that relied on it; return these."""
    data, changed = data or project_data(), []
    for path in sorted((data / "sweeps").glob("*.yml")):
        text, before = path.read_text(encoding="utf-8"), specification_sha256(path)
        places = sorted(set(_places(yaml.compose(text), kind, name, parameter)), reverse=True)
        for start, end, template in places:
            text = text[:start] + template.format(text[start:end], f"{parameter}: {old}") + text[end:]
        if places:
            path.write_text(text, encoding="utf-8")
            changed.append(path)
            for record in (data / "results").glob("*.yml"):
                said = record.read_text(encoding="utf-8")
                record.write_text(said.replace(before, specification_sha256(path)), encoding="utf-8")
    return changed


def _places(spec: yaml.MappingNode, kind: str, name: str, parameter: str) -> Iterator[tuple[int, int, str]]:
    """Find where the parameter is left out: start, end, and what is to stand there."""
    keys = {key.value: value for key, value in spec.value}
    if kind == "experiment":
        asked = keys["grids"].value if keys.get(kind) and keys[kind].value == name else []
    else:
        asked = _listed(keys.get(kind))
    for node in asked:
        given = (
            {key.value: (key, value) for key, value in node.value} if isinstance(node, yaml.MappingNode) else {}
        )
        if kind != "experiment" and (given["name"][1] if given else node).value != name or parameter in given:
            continue
        if not given:
            yield node.start_mark.index, node.end_mark.index, "{{name: {}, {}}}"
            continue
        key, value = given["name"] if kind != "experiment" else next(iter(given.values()))
        after = ", " if node.flow_style else "\n" + " " * key.start_mark.column
        yield key.start_mark.index, key.start_mark.index, "{}{}" + after


def _listed(node) -> list:
    return [] if node is None else node.value if isinstance(node, yaml.SequenceNode) else [node]


if __name__ == "__main__":
    print("\n".join(map(str, keep(*sys.argv[1:]))) or "no specification relied on it")
