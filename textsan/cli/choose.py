"""`textsan choose`: the largest epsilon that keeps a target, by what it rests on."""

import click

from textsan.cli.plugins import PluginCommand


class ChooseCommand(PluginCommand):
    """Its mechanisms are those of the registry, which is read when the command is."""

    def get_params(self, context):
        from textsan.cli.mechanisms import Name
        from textsan.mechanisms import MECHANISMS

        params = super().get_params(context)
        known = [name for name, entry in MECHANISMS.items() if "epsilon" in entry.parameters()]
        mechanism = click.Option(["--mechanism", "mechanisms"], multiple=True, type=Name(known))
        mechanism.help = "A sanitizer; may be repeated.  [default: custext+ and santext]"
        return [params[0], mechanism, *params[1:]]


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
@click.option("--shadow", metavar="FILE", help="Text that an attacker may own.  [default: public sentences]")
@click.option("--field", help="Field or column of the text in jsonl, csv and tsv, of both files.  [default: text]")
@click.option("--label", metavar="FIELD", help="Field or column of a class: says what a task keeps.")
@click.option("--alpha", type=float, default=0.05, show_default=True, help="Chance that a promise is broken.")
@click.option("--sample", type=click.IntRange(1), default=1000, show_default=True, help="Documents that choose.")
@click.option(
    "--embedding",
    default="glove-6b-50d",
    show_default=True,
    help="Word vectors: glove-6b-50d, counter-fitted, or a file.",
)
@click.option(
    "--size", type=click.IntRange(1), default=20_000, show_default=True, help="Most frequent words taken."
)
@click.option("--format", "kind", type=click.Choice(["txt", "jsonl", "csv", "tsv"]), help="Of INPUT.")
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
    seed,
    output,
):
    """Choose the largest epsilon that keeps a target on text like INPUT, for each mechanism.

    Columns that rest on different things and are never mixed: the guarantee alone; the exact channel, with the
    frequencies of public text; the strongest attack measured on INPUT, with a promise; and, with --label, what a
    task keeps there. The promise is a theorem about these attacks, trained on other documents, and about text of
    the same source; what it says, and what not, is printed below. "None" is an answer.

    Example: textsan choose reviews.txt --mechanism custext+ --words 0.2
    """
    import json
    from pathlib import Path

    from textsan import load_embeddings
    from textsan.auditing import choose_epsilon, files
    from textsan.base.plugins import blamed
    from textsan.mechanisms import MECHANISMS

    named = files.kind_of(source, kind, "INPUT")
    if field and named == "txt":
        raise ValueError(f"field: txt has no field {field!r}; leave it out, or pass --format jsonl, csv or tsv")
    if output and not Path(output).parent.is_dir():
        raise FileNotFoundError(f"output: the folder {Path(output).parent} does not exist; make it first")
    field = field or "text"
    texts, labels = files.read_texts(source, named, field, label=label)
    outside = None
    if shadow is not None:
        outside = files.read_texts(shadow, files.kind_of(shadow, None, "shadow"), field, what="shadow").texts
    vocabulary, found = load_embeddings(embedding).frequent(size), []
    for name in mechanisms or ("custext+", "santext"):
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
                    seed=seed,
                    progress=lambda said: click.echo(f"textsan: {said}", err=True),
                )
            )
    if output:
        rows = json.dumps([choice.row() for choice in found], indent=2, ensure_ascii=False)
        Path(output).write_text(rows + "\n", encoding="utf-8")
    for line in _table(found, ahead):
        click.echo(line)


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
    lines += [line for choice in found if (line := nearest(choice))]
    return lines


def nearest(choice) -> str:
    """What a mechanism that keeps no target comes to at the least epsilon that was tried; "" where one is kept."""
    if choice.source is not None or not choice.measured:
        return ""
    least = min(row["epsilon"] for row in choice.measured)
    worst = max((row for row in choice.measured if row["epsilon"] == least), key=lambda row: row["share"])
    what = f"{100 * worst['share']:.1f} of 100 by {worst['attack']}"
    return f"{choice.mechanism}: no epsilon keeps it; at {least:g}, the least that was tried, {what}."
