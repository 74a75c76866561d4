"""`textsan audit`: what a release of a text gives away, as a report."""

import sys

import click

from textsan.cli import options
from textsan.cli.mechanisms import MechanismCommand


class AuditCommand(MechanismCommand):
    """Its mechanism is named, or is that of a release."""

    arguments, required = 1, False


@click.command(cls=AuditCommand)
@click.argument("source", metavar="INPUT")
@click.option(
    "--released",
    metavar="FILE",
    multiple=True,
    help="A release of INPUT, by anything; of textsan, with its record beside it. Several are compared.",
)
@click.option("--key", metavar="FIELD", help="By which rows belong together, without a record, not by order.")
@click.option("--record", metavar="FILE", help="That record.  [default: the name of the release and .json]")
@click.option(
    "-o", "--output", default="audit.html", show_default=True, help="The report; the json goes beside it."
)
@options.texts(shadow="half of the rows, and public sentences", files=", of all files")
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
@options.vocabulary
@options.format_of("Of INPUT and the release.")
@options.workers
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Of whatever is drawn.")
def audit(source, mechanism, released, output, tolerate, parameters, **given):
    """Attack a release of INPUT, and write what it gives away: a report for people, and one for programs.

    A release without a record is one of another program: a masking tool, a rewrite by a language model. What is
    left verbatim, who finds its documents again, and what the context gives away is measured; nothing is promised.
    Several are compared in one report, without their records, beside doing nothing and a redaction: it recommends
    one or, where none keeps the limits, says what would. The verdict is that of the best.

    INPUT is the original text: txt (a document a line), jsonl, csv or tsv, also as gz or xz; "-" is standard
    input. Name a mechanism, and a release is made for the audit and thrown away; or a released file, which has a
    record.

    Without --shadow half of the rows are held out as the attacker's (with --group all rows of an author or a
    patient together), and the other half is attacked, also by an attacker with public text. The stronger decides.

    The first line is the verdict: "Do not release", "Limit kept against these attacks" or "Not shown"; then three
    reasons, and what to change next. Limits are those of --tolerate, and by default one of documents: what length
    alone identifies, and five in a hundred more. The upper end of an interval has to keep a limit. "Limit kept"
    takes a limit for words, 30 documents, and an attacker who has read text like INPUT.

    The exit status is 0 where limits are kept, 3 for "Do not release", and 4 for "Not shown". Only its owner can
    read the report. An audit that was killed goes on when it is called again; until then, what is done is in
    OUTPUT.parts.

    \b
    Examples:
      textsan audit --mechanism custext+ --epsilon 1 reviews.txt --tolerate words=0.2
      textsan audit tickets.csv --field message --group customer --released safe.csv --no-quotes
      textsan audit tickets.csv --field message --released safe.csv --guesses answers.jsonl
      textsan audit tickets.csv --field message --released masked.csv --key id --tolerate names=0.02
      textsan audit tickets.csv --label mood --released a.csv --released b.csv --tolerate words=0.3
    """
    from dataclasses import replace
    from pathlib import Path
    from types import SimpleNamespace

    from textsan.auditing import audit as measured, audit_release, compare_releases, files
    from textsan.auditing.wording import many
    from textsan.base.plugins import blamed
    from textsan.cli import progress
    from textsan.mechanisms import MECHANISMS, make_mechanism
    from textsan.release.formats import Form, fields_of, shown

    asked, quotes, limits = SimpleNamespace(**given), not given["no_quotes"], _limits(tolerate)
    if (mechanism is None) != bool(released):
        raise ValueError("mechanism: pass --mechanism with its epsilon, or --released FILE, one of the two")
    own = [name for name, value in parameters.items() if not isinstance(value, tuple)]
    if mechanism is None and (own := [*own, *options.was_typed("embedding", "size")]):
        raise ValueError(f"{own[0]}: the release has its own; leave it out")
    if mechanism is not None and asked.record is not None:
        raise ValueError("record: it is of a release; leave it out")
    several, released = released, next(iter(released), None)
    unknown = released is not None and asked.record is None and not Path(f"{released}.json").exists()
    unknown |= len(several) > 1
    if len(several) > 1 and (asked.record is not None or len(set(several)) < len(several)):
        raise ValueError("released: several releases are compared without a record, and each is passed once")
    record = asked.record or f"{released}.json"
    if asked.key is not None and not unknown:
        raise ValueError("key: it is for a release without a record; leave it out")
    read = (source, *several, released and record, asked.shadow, asked.guesses)
    files.check_output(output, read)
    target, beside = Path(output), Path(output).with_suffix(".json")
    files.check_output(beside, read)
    if beside == target:
        raise ValueError(f"output: {target} is the name of the json; pass another ending, .html say")
    kind = files.kind_of(source, asked.kind, "INPUT")
    fields_of(asked.fields, {kind})
    form = Form(asked.fields or ("text",), delimiter=asked.delimiter, encoding=asked.encoding)
    columns = {"label": asked.label, "group": asked.group}
    settings = {name: given[name] for name in ("sample", "among", "finder", "seed")} | {"tolerate": limits}
    release = None
    if unknown:
        needs = {name: given[name] for name in ("shadow", "guesses", "attacks", "vocabulary")} | parameters
        if unfit := [name for name, value in needs.items() if value]:
            raise ValueError(f"{unfit[0]}: it needs a mechanism, and the release has no record; leave it out")
        own = files.read_texts(source, kind, form, **columns, key=asked.key, quotes=False)
        options.warn_without_group(own.groups)
        form, ordered, columns_of = replace(form, encoding=None), [], []
        for path in several:
            path_kind = files.kind_of(path, asked.kind, "released")
            other = files.read_texts(path, path_kind, form, key=asked.key, what="released", quotes=False)
            ordered.append(_in_order(own.keys, other))
            files.refuse_copies(path, path_kind, form, other.beside, own.texts)
            columns_of.append(len(other.beside))
            if other.beside:
                rest = f"{many(len(other.beside), 'column')} beside the text, which no attack reads"
                click.echo(f"textsan: {shown(path)} has {rest}; what stands there is released as it is", err=True)
        settings |= {"groups": own.groups, "labels": own.labels, "beside": max(columns_of)}
        if len(several) > 1:
            names = [Path(path).name for path in several]
            named = dict(zip(names if len(set(names)) == len(names) else several, ordered, strict=True))
            report = compare_releases(own.texts, named, **settings)
        else:
            report = audit_release(own.texts, ordered[0], **settings)
        click.echo("textsan: no record: a release of another program, of which nothing is known", err=True)
        _written(report, target, beside)
    if released is not None:
        release_kind = files.kind_of(released, asked.kind, "released")
        release_form = form if asked.fields or asked.delimiter else None
        words = {"words": asked.vocabulary, "lists": parameters}
        release = files.read_release(released, release_kind, record, release_form, **words, quotes=quotes)
        form = replace(release.form, encoding=asked.encoding)
    texts, labels, groups, others, _ = files.read_texts(source, kind, form, **columns, quotes=quotes)
    options.warn_without_group(groups)
    if release is not None and released is not None:
        others = _names(release.record.get("untouched"))
        files.refuse_copies(released, release_kind, release.form, others, texts)
    texts = texts if release is None else release.cut_alike(texts)
    owned = files.read_shadow(asked.shadow, form, quotes=quotes)
    answers = None if asked.guesses is None else files.read_guesses(asked.guesses)
    if release is not None:
        made, name = release.mechanism, release.record["mechanism"]
    else:
        name = mechanism
        with blamed(MECHANISMS[mechanism].load()):
            vocabulary = options.words_of(asked.embedding, asked.size, asked.vocabulary)
            made = make_mechanism(mechanism, vocabulary, **parameters)
    with progress.reporting("documents, over all attacks") as reported:
        report = measured(
            texts,
            made,
            shadow=owned,
            released=None if release is None else release.documents,
            groups=groups,
            labels=labels,
            beside=others,
            guesses=answers,
            attacks=asked.attacks,
            quotes=quotes,
            parts=f"{output}.parts",
            called=MECHANISMS[name].label,
            progress=reported,
            workers=asked.workers,
            scheduler=asked.scheduler,
            **settings,
        )
    _written(report, target, beside)


def _in_order(keys, released) -> list[str]:
    """The released texts in the order of the keys of INPUT, where there are keys."""
    if keys is None:
        return released.texts
    at = dict(zip(released.keys, released.texts, strict=True))
    if None in at or set(keys) != set(at) or not len(keys) == len(at) == len(released.texts):
        raise ValueError("key: a key is missing, twice in a file, or in one file alone; pass a column that fits")
    return [at[key] for key in keys]


def _written(report, target, beside):
    """Write a report, print its first screen, and exit with its status."""
    report.to_json(beside)
    report.to_html(target)
    report.clear()
    for line in report.summary:
        click.echo(line)
    click.echo(f"textsan: {target} and {beside}", err=True)
    sys.exit(report.status)


def _names(untouched) -> list[str]:
    """The columns that a record says were released beside the text."""
    return [name for name in untouched if isinstance(name, str)] if isinstance(untouched, list) else []


def _limits(given) -> dict[str, float]:
    limits = {}
    for limit in given:
        name, _, share = limit.partition("=")
        if name in limits:
            raise ValueError(f"tolerate: {name} has two limits; pass one")
        try:
            limits[name] = float(share)
        except ValueError:
            raise ValueError(f"tolerate: {limit!r} is no NAME=SHARE; pass words=0.2, say") from None
    return limits
