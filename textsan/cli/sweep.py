"""`textsan sweep`: run a grid of experiments."""

import click

from textsan.cli.errors import fail


@click.command()
@click.argument("spec", type=click.Path(exists=True, dir_okay=False))
@click.option("-o", "--output", help="Folder of the results.  [default: runs/sweeps/ and the name of SPEC]")
@click.option("-j", "--workers", type=click.IntRange(min=1), help="Processes.  [default: one a core]")
@click.option("--scheduler", metavar="ADDRESS", help="Use the workers of this dask scheduler (extra cluster).")
@click.option("--over", multiple=True, metavar="ATTACK", help="Compare with it, pair by pair. May be repeated.")
def sweep(spec, output, workers, scheduler, over):
    """Run the grid of experiments in SPEC; a sweep that was stopped goes on where it was.

    Results of single cells are in OUTPUT/cells, the table of all of them is OUTPUT/results.csv, and what made it
    OUTPUT/results.yml. With a scheduler, its workers must reach OUTPUT under the same name.

    Example: textsan sweep data/sweeps/quick.yml --over context-free
    """
    from pathlib import Path

    from textsan.experiments import specification, sweep

    folder = Path(output or Path("runs", "sweeps", Path(spec).stem))
    cells = specification.read_spec(spec)
    failures = sweep.run(cells, folder, workers=workers or -1, scheduler=scheduler, baselines=over)
    click.echo(folder / "results.csv")
    if failures:
        fail(f"{len(failures)} failed, the others are kept: " + "\n".join(failures))
