"""`textsan choose`: the largest epsilon that keeps a target, by what it rests on."""

import click

from textsan.cli import options
from textsan.cli.mechanisms import MechanismCommand, Name, typed_again

DEFAULT = ("custext+", "santext")
"""The mechanisms that are tried where none is named."""


class ChooseCommand(MechanismCommand):
    """Several mechanisms can be named, those with an epsilon, which is found, and an exact channel."""

    arguments, required, chosen = 1, False, ("epsilon",)

    def offers(self, entry):
        from textsan.mechanisms.noise import NoiseMechanism

        made = entry.load()
        adds_noise = isinstance(made, type) and issubclass(made, NoiseMechanism)
        return "epsilon" in entry.parameters() and not adds_noise

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
    "--among",
    type=click.IntRange(2),
    help="Documents to be found among.  [default: 1000, or as many as the attacker's text has]",
)
@click.option(
    "--ahead", type=click.IntRange(1), metavar="N", help="Promise something of the next N documents, too."
)
@options.texts(shadow="a quarter of the rows; public sentences with --on-released", files=", of both files")
@click.option(
    "--on-released", is_flag=True, help="All rows choose, and lose their guarantee if they are released."
)
@click.option(
    "--write-split", metavar="PREFIX", help="Write PREFIX-held-back and PREFIX-to-release, the rows in two files."
)
@click.option(
    "--alpha",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    default=0.05,
    show_default=True,
    help="Chance that a promise is broken.",
)
@click.option("--sample", type=click.IntRange(1), default=1000, show_default=True, help="Documents that choose.")
@options.vocabulary
@options.format_of("Of INPUT.")
@options.no_quotes
@options.workers
@click.option("--seed", type=click.IntRange(0), help="Of all that is drawn.  [default: drawn, and printed]")
@click.option("-o", "--output", metavar="FILE", help="All that was found, as json.")
def choose(source, mechanisms, ahead, seed, output, parameters, **given):
    """Choose the largest epsilon that keeps a target on text like INPUT, for each mechanism.

    Columns that rest on different things and are never mixed: the guarantee alone; the exact channel, with the
    frequencies of the attacker's text; the strongest attack measured, with a promise; and, with --label, what a
    task keeps there. The promise is a theorem about these attacks, trained on other documents, and about text of
    the same source; what it says, and what not, is printed below. "None" is an answer.

    The epsilon is a function of the rows that choose it, and so tells of them. A quarter of the rows choose, and
    another quarter is the attacker's (with --shadow, half choose): these must not be released. Release the other
    half: --write-split writes both. With --on-released all rows choose; released, they have no guarantee.

    A parameter is passed to each mechanism that takes it. The answer does not depend on the number of workers.

    \b
    Examples:
      textsan choose reviews.txt --mechanism custext+ --words 0.2 --write-split reviews
      textsan choose notes.csv --field note --group patient --label ward --words 0.2 --no-quotes
    """
    import json
    import secrets
    from types import SimpleNamespace

    from textsan.auditing import choose_epsilon, files
    from textsan.base.plugins import blamed
    from textsan.mechanisms import MECHANISMS
    from textsan.release.formats import Form, fields_of

    mechanisms, asked, quotes = mechanisms or DEFAULT, SimpleNamespace(**given), not given["no_quotes"]
    seed = secrets.randbelow(1 << 32) if seed is None else seed  # one for all mechanisms: they get the same split
    accepted = {name: MECHANISMS[name].parameters() | MECHANISMS[name].word_lists() for name in mechanisms}
    if left := [name for name in parameters if not any(name in known for known in accepted.values())]:
        raise ValueError(f"{left[0]}: no such parameter of {' or '.join(mechanisms)}; leave it out")
    if asked.among and asked.documents is None:
        raise ValueError("among: it is of a target of documents; pass --documents, or leave it out")
    kind = files.kind_of(source, asked.kind, "INPUT")
    fields = fields_of(asked.fields, {kind}) or ("text",)
    form = Form(fields, delimiter=asked.delimiter, encoding=asked.encoding)
    if output:
        files.check_output(output, (source, asked.shadow))
    if asked.on_released and asked.write_split:
        raise ValueError("write-split: with --on-released nothing is split; leave one of them out")
    targets = files.check_parts(source, kind, asked.write_split) if asked.write_split else {}
    columns = {"label": asked.label, "group": asked.group}
    texts, labels, groups, *_ = files.read_texts(source, kind, form, **columns, quotes=quotes)
    options.warn_without_group(groups)
    owned = files.read_shadow(asked.shadow, form, quotes=quotes)
    vocabulary, choices = options.words_of(asked.embedding, asked.size, asked.vocabulary), []
    handed_on = ("words", "documents", "among", "alpha", "sample", "workers", "scheduler")
    settings = {name: given[name] for name in handed_on}
    for name in mechanisms:
        with blamed(MECHANISMS[name].load()):
            choices.append(
                choose_epsilon(
                    texts,
                    name,
                    shadow=owned,
                    labels=labels,
                    groups=groups,
                    split=not asked.on_released,
                    ahead=ahead,
                    embeddings=vocabulary,
                    quotes=quotes,
                    seed=seed,
                    progress=lambda line: click.echo(f"textsan: {line}", err=True),
                    **settings,
                    **{key: value for key, value in parameters.items() if key in accepted[name]},
                )
            )
    if output:
        rows = json.dumps([choice.row() for choice in choices], indent=2, ensure_ascii=False)
        files.write_private(output, rows + "\n")
    if targets:
        files.write_parts(source, kind, form, choices[0].not_released, targets)
    again = ("embedding", "size", "vocabulary", "plugins", "fields", "delimiter")
    typed = [typed_again(click.get_current_context(), {*accepted[name], *again}) for name in mechanisms]
    for line in [*_table(choices, ahead), *_rows(choices, len(texts), targets, typed)]:
        click.echo(line)


def _table(choices, ahead) -> list[str]:
    heads = ["mechanism", "guarantee", "channel", "attack: source", "attack: next document"]
    heads += ["attack: next text"] if ahead else []
    kept = any(choice.use for choice in choices)
    rows = [[*heads, *(["class recovered, of 100"] if kept else [])]]
    for choice in choices:
        numbers = [choice.guarantee, choice.channel, choice.source, choice.next_document]
        numbers += [choice.next_text] if ahead else []
        cells = ["none" if number is None else f"{number:g}" for number in numbers]
        rows.append([choice.mechanism, *cells, *([_use(choice.use)] if kept else [])])
    about = f"The largest epsilon with {' and '.join(choices[0].targets)}; one of a grid, and none between."
    lines = [about, *options.aligned(rows)]
    lines += ["", *(f"{name.replace('_', ' ')}: {sentence}" for name, sentence in choices[0].promise.items())]
    lines += [line for choice in choices for line in (why_none(choice), useless(choice)) if line]
    if len(choices) > 1 and all(choice.reasons for choice in choices):
        lines.append(f"Nearest comes {min(choices, key=lambda choice: choice.excess).mechanism}.")
    return lines


def _use(use) -> str:
    if not use:
        return ""
    return f"{100 * use['released']['value']:.0f}" + " (no better than the largest class)" * _is_useless(use)


def _is_useless(use) -> bool:
    return use["released"]["low"] <= use["largest"]


def useless(choice) -> str:
    """Say that a task keeps nothing at the chosen epsilon; "" where it does, or was not asked about."""
    use = choice.use
    if not use or not _is_useless(use):
        return ""
    released, largest = use["released"], 100 * use["largest"]
    return (
        f"{choice.mechanism}: at epsilon {choice.source:g} a reader of the release recovers the class of "
        f"{100 * released['value']:.0f} of 100 ({100 * released['low']:.0f} to {100 * released['high']:.0f}), and "
        f"{largest:.0f} of 100 are of the largest class: it is not shown to be better than no release."
    )


def _rows(choices, total: int, targets, typed: list[str]) -> list[str]:
    """The parts of the rows, which are the same for all mechanisms, with what may be released, and the seed."""
    choice = choices[0]
    numbers = {name: f"{number:,}" for name, number in choice.rows.items()}
    chose, not_released = f"all {total:,} chose", []
    if number := len(choice.not_released):
        chose = f"{numbers['choosing']} chose, {numbers['released']} are left to be released"
        not_released = [f"Not to be released: {number:,} of {total:,} rows, numbered with -o."]
    lines = [f"Rows: {chose}; the attacker's text has {numbers['attacker']} documents.", *not_released]
    lines += [f"Written: {' and '.join(map(str, targets.values()))}."] if targets else []
    name = targets.get("to-release", "the other rows")
    for choice, more in zip(choices, typed, strict=True):
        if choice.not_released and choice.source is not None:
            which = f"--mechanism {choice.mechanism} --epsilon {choice.source:g} {more}".rstrip()
            lines.append(f"Release {name} with: textsan sanitize {which} --chosen-on other")
    return [*lines, f"Seed: {choice.seed}"]


def why_none(choice) -> str:
    """Say why a mechanism keeps no target; "" where one is kept."""
    why = f"{choice.mechanism}: no epsilon is promised: {'; and '.join(choice.reasons)}."
    return why if choice.reasons else ""
