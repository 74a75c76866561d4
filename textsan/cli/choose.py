"""`textsan choose`: the largest epsilon that keeps a target, by what it rests on."""

import click

from textsan.cli import options
from textsan.cli.mechanisms import MechanismCommand, Name

DEFAULT = ("custext+", "santext")
"""The mechanisms that are tried where none is named."""


class ChooseCommand(MechanismCommand):
    """Several mechanisms can be named, those with an epsilon, which is found, and an exact channel."""

    arguments, required, chosen = 1, False, ("epsilon",)

    def offers(self, entry):
        from textsan.mechanisms.noise import NoiseMechanism

        made = entry.load()
        return "epsilon" in entry.parameters() and not (
            isinstance(made, type) and issubclass(made, NoiseMechanism)
        )

    def named(self, params):
        return params.get("mechanisms") or DEFAULT

    def mechanism(self):
        from textsan.mechanisms import MECHANISMS

        known = [name for name, entry in MECHANISMS.items() if self.offers(entry)]
        option = click.Option(["--mechanism", "mechanisms"], multiple=True, type=Name(known))
        option.help = f"A sanitizer; may be repeated.  [default: {' and '.join(DEFAULT)}]"
        return option


@click.command(cls=ChooseCommand)
@click.argument("source", metavar="INPUT")
@click.option("--words", type=float, metavar="SHARE", help="At most this share of protected words may be named.")
@click.option("--documents", type=float, metavar="SHARE", help="At most this share of documents may be found.")
@click.option(
    "--among", type=click.IntRange(2), default=1000, show_default=True, help="Documents to be found among."
)
@click.option(
    "--ahead", type=click.IntRange(1), metavar="N", help="Promise something of the next N documents, too."
)
@options.shadow
@options.field(", of both files")
@options.label
@click.option(
    "--alpha",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    default=0.05,
    show_default=True,
    help="Chance that a promise is broken.",
)
@click.option("--sample", type=click.IntRange(1), default=1000, show_default=True, help="Documents that choose.")
@options.embedding
@options.size
@options.format_of("Of INPUT.")
@options.no_quotes
@options.workers
@options.scheduler
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Of releases and of the order.")
@click.option("-o", "--output", metavar="FILE", help="All that was found, as json.")
def choose(
    source,
    mechanisms,
    words,
    documents,
    among,
    ahead,
    shadow,
    field,
    label,
    alpha,
    sample,
    embedding,
    size,
    kind,
    no_quotes,
    workers,
    scheduler,
    seed,
    output,
    parameters,
):
    """Choose the largest epsilon that keeps a target on text like INPUT, for each mechanism.

    Columns that rest on different things and are never mixed: the guarantee alone; the exact channel, with the
    frequencies of public text; the strongest attack measured on INPUT, with a promise; and, with --label, what a
    task keeps there. The promise is a theorem about these attacks, trained on other documents, and about text of
    the same source; what it says, and what not, is printed below. "None" is an answer.

    A parameter is passed to each mechanism that takes it. The answer depends neither on the order of the documents
    nor on the number of workers.

    \b
    Examples:
      textsan choose reviews.txt --mechanism custext+ --words 0.2
      textsan choose notes.csv --field note --label ward --words 0.2 --no-quotes
    """
    import json
    from pathlib import Path

    from textsan import load_embeddings
    from textsan.auditing import choose_epsilon, files
    from textsan.base.plugins import blamed
    from textsan.mechanisms import MECHANISMS

    mechanisms, quotes = mechanisms or DEFAULT, not no_quotes
    taken = {name: _taken(name, parameters) for name in mechanisms}
    if left := [name for name in parameters if not any(name in some for some in taken.values())]:
        raise ValueError(f"{left[0]}: no such parameter of {' or '.join(mechanisms)}; leave it out")
    named = files.kind_of(source, kind, "INPUT")
    field = options.field_of(field, named)
    if output and not Path(output).parent.is_dir():
        raise FileNotFoundError(f"output: the folder {Path(output).parent} does not exist; make it first")
    if output and Path(output).is_dir():
        raise ValueError(f"output: {output} is a folder; pass a file")
    for one in (source, shadow):
        if output and one and Path(output).resolve() == Path(one).resolve():
            raise ValueError(f"output: {output} would overwrite {one}; pass another path")
    texts, labels = files.read_texts(source, named, field, label=label, quotes=quotes)
    outside = None
    if shadow is not None:
        its = files.kind_of(shadow, None, "shadow")
        outside = files.read_texts(shadow, its, field, what="shadow", quotes=quotes).texts
    vocabulary, found = load_embeddings(embedding).frequent(size), []
    for name in mechanisms:
        with blamed(MECHANISMS[name].load()):
            found.append(
                choose_epsilon(
                    texts,
                    name,
                    words=words,
                    documents=documents,
                    among=among,
                    shadow=outside,
                    labels=labels,
                    ahead=ahead,
                    alpha=alpha,
                    sample=sample,
                    embeddings=vocabulary,
                    quotes=quotes,
                    seed=seed,
                    workers=workers,
                    scheduler=scheduler,
                    progress=lambda said: click.echo(f"textsan: {said}", err=True),
                    **taken[name],
                )
            )
    if output:
        rows = json.dumps([choice.row() for choice in found], indent=2, ensure_ascii=False)
        Path(output).write_text(rows + "\n", encoding="utf-8")
    for line in _table(found, ahead):
        click.echo(line)


def _taken(mechanism: str, parameters: dict) -> dict:
    """The parameters that a mechanism takes."""
    from textsan.mechanisms import MECHANISMS

    known = MECHANISMS[mechanism].parameters()
    return {name: value for name, value in parameters.items() if name in known}


def _table(found, ahead) -> list[str]:
    heads = ["mechanism", "guarantee", "channel", "attack: source", "attack: next document"]
    heads += ["attack: next text"] if ahead else []
    kept = any(choice.use for choice in found)
    heads += ["class told, of 100"] if kept else []
    rows = [heads]
    for choice in found:
        numbers = [choice.guarantee, choice.channel, choice.source, choice.next_document]
        numbers += [choice.next_text] if ahead else []
        cells = ["none" if number is None else f"{number:g}" for number in numbers]
        if kept:
            cells.append(f"{100 * choice.use['released']['value']:.0f}" if choice.use else "")
        rows.append([choice.mechanism, *cells])
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows
    ]
    lines.insert(0, f"The largest epsilon with {' and '.join(found[0].targets)}; one of a grid, and none between.")
    lines += ["", *(f"{name.replace('_', ' ')}: {said}" for name, said in found[0].promise.items())]
    lines += [line for choice in found if (line := why_none(choice))]
    if len(found) > 1 and all(choice.reasons for choice in found):
        lines.append(f"Nearest comes {min(found, key=lambda choice: choice.excess).mechanism}.")
    return lines


def why_none(choice) -> str:
    """Why a mechanism keeps no target; "" where one is kept."""
    if not choice.reasons:
        return ""
    return f"{choice.mechanism}: no epsilon is promised: {'; and '.join(choice.reasons)}."
