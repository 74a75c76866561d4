"""`textsan audit`: what a release of a text gives away, as a report."""

import sys

import click

from textsan.cli import options
from textsan.cli.mechanisms import MechanismCommand

EXCEEDED = 3
"""The exit status where a limit does not hold."""


class AuditCommand(MechanismCommand):
    """Its mechanism is named, or is that of a release."""

    arguments, required = 1, False


@click.command(cls=AuditCommand)
@click.argument("source", metavar="INPUT")
@click.option(
    "--released", metavar="FILE", help="A release of INPUT, with its record beside it; then no mechanism."
)
@click.option("--record", metavar="FILE", help="That record.  [default: the name of the release and .json]")
@click.option(
    "-o", "--output", default="audit.html", show_default=True, help="The report; the json goes beside it."
)
@options.shadow
@options.field(", of all files")
@options.label
@click.option("--guesses", metavar="FILE", help="Somebody's guesses of --released: document, index, word; from 0.")
@click.option(
    "--tolerate",
    metavar="NAME=SHARE",
    multiple=True,
    help="At most this share of words, rare, names, numbers, unseen or documents. May be repeated.",
)
@click.option(
    "--attacks", metavar="NAME", multiple=True, help="A further attack of the registry. May be repeated."
)
@click.option(
    "--sample", type=click.IntRange(1), default=500, show_default=True, help="Documents of slow attacks."
)
@click.option("--among", type=click.IntRange(2), default=300, show_default=True, help="Documents to tell apart.")
@options.no_quotes
@click.option(
    "--names",
    "finder",
    type=click.Choice(["census", "presidio"]),
    default="census",
    show_default=True,
    help="What finds names; presidio needs the extra pii.",
)
@options.embedding
@options.size
@options.format_of("Of INPUT and the release.")
@options.workers
@options.scheduler
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Of whatever is drawn.")
def audit(
    source,
    mechanism,
    released,
    record,
    output,
    shadow,
    field,
    label,
    guesses,
    tolerate,
    attacks,
    sample,
    among,
    no_quotes,
    finder,
    embedding,
    size,
    kind,
    workers,
    scheduler,
    seed,
    parameters,
):
    """Attack a release of INPUT, and write what it gives away: a report for people, and one for programs.

    INPUT is the original text: txt (a document a line), jsonl, csv or tsv, also as gz or xz; "-" is standard
    input. Name a mechanism, and a release is made for the audit and thrown away; or a released file, which has a
    record.

    The report says how many words of a hundred are named, by which attack, told and not told which are protected;
    what is exact and what is promised beside it; how exposed each document is, and whether it can be told apart
    from others; and, with --label, what a task keeps. Every figure of an attack is a lower end.

    The exit status is 3 where a limit of --tolerate does not hold, by the upper end of its interval. An audit that
    was killed goes on when it is called again; until then, what is done is in OUTPUT.parts.

    \b
    Examples:
      textsan audit --mechanism custext+ --epsilon 1 reviews.txt --tolerate words=0.2
      textsan audit tickets.csv --field message --released safe.csv --shadow others.csv --no-quotes
      textsan audit tickets.csv --field message --released safe.csv --guesses answers.jsonl
    """
    from pathlib import Path

    from textsan.auditing import audit as measured, files
    from textsan.base.plugins import blamed
    from textsan.cli import progress
    from textsan.mechanisms import MECHANISMS

    quotes = not no_quotes
    if (mechanism is None) == (released is None):
        raise ValueError("mechanism: pass --mechanism with its epsilon, or --released FILE, one of the two")
    if parameters and mechanism is None:
        raise ValueError(f"{next(iter(parameters))}: the release has its own; leave it out")
    limits = _limits(tolerate)
    target = Path(output)
    if not target.parent.is_dir():
        raise FileNotFoundError(f"output: the folder {target.parent} does not exist; make it first")
    if target.is_dir():
        raise ValueError(f"output: {target} is a folder; pass a file")
    beside = target.with_suffix(".json")
    if beside == target:
        raise ValueError(f"output: {target} is the name of the json; pass another ending, .html say")
    given = {"quotes": quotes, "label": label}
    kind_ = files.kind_of(source, kind, "INPUT")
    options.field_of(field, kind_)
    record = record or (released and f"{released}.json")
    for one in (source, released, record, shadow, guesses):
        if one and Path(one).resolve() in (target.resolve(), beside.resolve()):
            raise ValueError(f"output: {output} would overwrite {one}; pass another path")
    came = None
    if released is not None:
        its = files.kind_of(released, kind, "released")
        came = files.read_release(released, its, record, field, quotes=quotes)
        field = field or came.record.get("field")
    texts, labels = files.read_texts(source, kind_, field or "text", **given)
    outside = None
    if shadow is not None:
        named = files.kind_of(shadow, None, "shadow")
        outside = files.read_texts(shadow, named, field or "text", what="shadow", quotes=quotes).texts
    answers = None if guesses is None else files.read_guesses(guesses)
    with progress.told("documents, over all attacks") as told:

        def run(made):
            return measured(
                texts,
                made,
                shadow=outside,
                released=None if came is None else came.documents,
                labels=labels,
                guesses=answers,
                tolerate=limits,
                attacks=attacks,
                sample=sample,
                among=among,
                quotes=quotes,
                finder=finder,
                seed=seed,
                workers=workers,
                scheduler=scheduler,
                parts=f"{output}.parts",
                called=MECHANISMS[mechanism if came is None else came.record["mechanism"]].label,
                progress=told,
            )

        if came is not None:
            report = run(came.mechanism)
        else:
            with blamed(MECHANISMS[mechanism].load()):
                made = _made(mechanism, embedding, size, parameters)
            report = run(made)
    report.to_json(beside)
    report.to_html(target)
    report.clear()
    for line in report.said:
        click.echo(line)
    click.echo(f"textsan: {target} and {beside}", err=True)
    if report.exceeded:
        sys.exit(EXCEEDED)


def _limits(given) -> dict[str, float]:
    limits = {}
    for one in given:
        name, _, share = one.partition("=")
        if name in limits:
            raise ValueError(f"tolerate: {name} has two limits; pass one")
        try:
            limits[name] = float(share)
        except ValueError:
            raise ValueError(f"tolerate: {one!r} is no NAME=SHARE; pass words=0.2, say") from None
    return limits


def _made(mechanism, embedding, size, parameters):
    from textsan import load_embeddings
    from textsan.mechanisms import make_mechanism

    return make_mechanism(mechanism, load_embeddings(embedding).frequent(size), **parameters)
