"""`textsan sweep`: run a grid of experiments."""

import click

from textsan.cli import options
from textsan.cli.errors import fail
from textsan.cli.plugins import PluginCommand

_LINES = 60  # comparisons that are shown; more are for a program to read


@click.command(cls=PluginCommand)
@click.argument("spec", type=click.Path(exists=True, dir_okay=False))
@click.option("-o", "--output", help="Folder of the results.  [default: runs/sweeps/ and the name of SPEC]")
@click.option("-j", "--workers", type=click.IntRange(min=1), help="Processes.  [default: one a core]")
@options.scheduler
@click.option("--over", multiple=True, metavar="ATTACK", help="Compare with it, pair by pair. May be repeated.")
def sweep(spec, output, workers, scheduler, over):
    """Run the grid of experiments in SPEC; a sweep that was stopped goes on where it was.

    SPEC asks for attacks on sanitized text and for tasks; or it names an experiment of another kind, on vectors or
    gradients, and gives values to its arguments. Results of single cells are in OUTPUT/cells, the table of all of
    them is OUTPUT/results.csv, what made it OUTPUT/results.yml, and what attacks hit OUTPUT/results.npz. With a
    scheduler, its workers must reach OUTPUT, and plugins, under the same names. SPEC may name plugins, too.

    Example: textsan sweep data/sweeps/quick.yml --over context-free
    """
    from textsan.sweeps import specification, sweep

    folder, cells = folder_of(spec, output), specification.read_spec(spec)
    if already := sum(sweep.is_computed(cell, folder) for cell in cells):
        there = f"{already} of {len(cells)} cells are in {folder} already"
        click.echo(f"{there}; if the code that made them is another, remove the folder", err=True)
    means = {"workers": workers or -1, "scheduler": scheduler}
    try:
        failures = sweep.run(cells, folder, **means, baselines=over)
    except KeyboardInterrupt:
        fail(f"stopped; finished cells are kept in {folder}, and the same command goes on from there")
    click.echo(folder / "results.csv")
    if failures:
        fail(f"{len(failures)} failed, the others are kept: " + "\n".join(failures))
    if over:
        click.echo(_compared(folder, over))


def _compared(folder, over) -> str:
    """Each attack against the named ones, where that is few enough lines to be read; the table has all."""
    import pandas as pd

    rows = pd.read_csv(folder / "results.csv")
    baselines = [name for name in (f"over {one}" for one in dict.fromkeys(over)) if name in rows]
    if not baselines:
        return "no other attack to compare"
    rows = rows[rows[baselines].notna().any(axis=1)]
    if len(rows) > _LINES:
        return f"{len(rows)} comparisons, with their intervals, are in its columns {', '.join(baselines)}"
    for name in ("defence", "attack"):  # with the parameters in which rows differ
        rows[name] += _differing(rows[f"{name}_parameters"])
    wanted = ["dataset", "seed", "defence", "epsilon", "attack", "asr"]
    for name in baselines:
        ends = rows[[f"{name} low", f"{name} high"]].itertuples(index=False)
        rows[f"95 % {name}"] = ["" if low != low else f"[{low:+.3f}, {high:+.3f}]" for low, high in ends]
        wanted += [name, f"95 % {name}"]
    return rows[wanted].to_string(index=False, na_rep="", float_format="{:.3f}".format)


def _differing(parameters):
    """Of each row ", name = value" for the parameters that do not have one value in all rows that have them."""
    import json

    known = [json.loads(one) for one in parameters]
    values = {name: {json.dumps(one[name]) for one in known if name in one} for one in known for name in one}
    several = [name for name, found in values.items() if len(found) > 1]
    return ["".join(f", {name} = {one[name]}" for name in several if name in one) for one in known]


def folder_of(spec, output):
    """Return the folder of the results of a specification."""
    from pathlib import Path

    return Path(output or Path("runs", "sweeps", Path(spec).stem))
