"""`textsan train-mlm`: train one of the adapters that come with the package."""

import click


@click.command("train-mlm")
@click.argument("without")
@click.option("--steps", type=click.IntRange(1), default=1536, show_default=True, help="Batches of 32 sentences.")
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Of everything that is drawn.")
@click.option("--output", type=click.Path(file_okay=False), help="Folder of the adapter (default: the package's).")
def train_mlm(without, steps, seed, output):
    """Train the noisy-channel attack's context model on the default corpora WITHOUT the one that is attacked.

    Writes without-CORPUS.safetensors and its recipe. A run that was killed goes on from its last checkpoint,
    which is in the cache. A quarter of an hour on two cores.

    Example: textsan train-mlm rt
    """
    from pathlib import Path

    from textsan.base import assets
    from textsan.models import encoders
    from textsan_book.studies import adapters

    checkpoint = assets.cache_folder() / "training" / f"without-{without}-{steps}-{seed}.safetensors"
    folder = Path(output) if output else encoders.ADAPTERS
    click.echo(
        adapters.train_adapter(without, folder, steps=steps, seed=seed, checkpoint=checkpoint, say=click.echo)
    )
    checkpoint.unlink(missing_ok=True)
