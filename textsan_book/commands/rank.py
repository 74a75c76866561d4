"""`textsan rank`: every registered mechanism on one scale."""

import click

from textsan.cli.errors import fail
from textsan.cli.plugins import PluginCommand

_SHOWN = "defence value reached success read lost times vulnerability linkage tight changed covered different"
_LATER = "accuracy seconds guarantee"
SKIPPED = {"released custext+", "memoized"}
"""Without `--mechanism` left out: one looks for neighbours among 400,000 words, of which no certificate speaks;
and attacks take the other's one draw for all places of a word for fresh ones."""


@click.command("rank", cls=PluginCommand)
@click.argument("corpus")
@click.option("--at-success", type=click.FloatRange(0, 1), help="Success of the strongest attack.  [default: 0.3]")
@click.option("--at-linkage", type=click.FloatRange(0, 1), help="In its place: how often a document is linked.")
@click.option("--mechanism", "mechanisms", multiple=True, metavar="NAME", help="Only this one. May be repeated.")
@click.option(
    "--seed", type=click.IntRange(0), default=0, show_default=True, help="Of the split and of all draws."
)
@click.option("--vocabulary", type=click.IntRange(2), default=1000, show_default=True, help="Most frequent words.")
@click.option("--sentences", type=click.IntRange(1), default=150, show_default=True, help="That are attacked.")
@click.option("--shadow", type=click.IntRange(1), default=300, show_default=True, help="Of the attacker's own.")
@click.option("--learn", type=click.IntRange(1), default=4000, show_default=True, help="A task is learnt from.")
@click.option("-o", "--output", help="Folder of the results.  [default: runs/rank/CORPUS]")
@click.option("-j", "--workers", type=click.IntRange(min=1), default=1, show_default=True, help="Processes.")
def rank(
    corpus, at_success, at_linkage, mechanisms, seed, vocabulary, sentences, shadow, learn, output, workers, **_
):
    """Rank all registered mechanisms on CORPUS, a data set by name, each where the same attack reads as much.

    For each mechanism the parameter is searched at which the strongest contextual attack that needs no language
    model reads the given share of the protected words; what it costs is measured there. The least distance lost
    comes first. A mechanism of one's own joins with --plugin. A run that was stopped goes on where it was: the
    same command does it.

    Example: textsan rank rt --at-success 0.3 --plugin my_mechanism.py
    """
    from pathlib import Path

    from textsan.mechanisms import MECHANISMS
    from textsan.sweeps import specification, sweep
    from textsan.text import corpora

    if corpus not in corpora.known():  # unknown ones are named here, before anything runs
        raise ValueError(corpora.unknown(corpus))
    if at_success is not None and at_linkage is not None:
        raise click.UsageError("--at-success and --at-linkage are two scales; pass one of them")
    target, level = ("linkage", at_linkage) if at_linkage is not None else ("success", at_success)
    level = 0.3 if level is None else level
    for name in mechanisms:
        MECHANISMS[name]
    asked = list(mechanisms) or [name for name in MECHANISMS if name not in SKIPPED]
    grid = {"dataset": corpus, "defence": asked, "target": target, "level": level, "seed": seed}
    grid |= {"vocabulary": vocabulary, "n_private": sentences, "n_shadow": shadow, "n_learn": learn}
    cells = specification.cells_of({"experiment": "ranks", "grids": [grid]})
    folder = Path(output or f"runs/rank/{corpus}")
    failures = sweep.run(cells, folder, workers=workers)
    click.echo(ranked(sweep.table(cells, folder)))
    click.echo(folder / "results.csv")
    if failures:
        fail(f"{len(failures)} failed, the others are kept: " + "\n".join(failures))


def ranked(table) -> str:
    """Print the rows that reached the level first, in the order of the distance lost.

    The ratio to the least distance at a mechanism's own V(X | Y) ("times") is a column and no order: at equal
    success V differs from mechanism to mechanism.
    """
    if table.empty:
        return "nothing was measured"
    ordered = table.sort_values(["reached", "lost", "defence"], ascending=[False, True, True])
    return ordered[f"{_SHOWN} {_LATER}".split()].to_string(index=False, na_rep="", float_format="{:.3f}".format)
