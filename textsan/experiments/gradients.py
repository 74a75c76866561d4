"""Experiments on gradients: fine-tuned victims that are kept."""

from pathlib import Path

from textsan.gradient_leakage import victims
from textsan.text import assets
from textsan.text.corpora import load_dataset

TRAINED_ON = 8500  # sentences: all of CoLA's and Rotten Tomatoes' train, a draw from SST-2's


def training_records(dataset: str, seed: int = 0) -> list:
    """The sentences a victim is fine-tuned on, and from which the attacked ones are drawn: a client's."""
    import torch

    records = [record for record in load_dataset(dataset) if record.tokens]
    order = torch.randperm(len(records), generator=torch.Generator().manual_seed(seed))
    return [records[i] for i in order[:TRAINED_ON].tolist()]


def trained_victim(dataset: str, *, epochs: int = 2, seed: int = 0, folder: Path | None = None):
    """MiniLM with a fresh pooler and classifier, fine-tuned on a data set; trained once and kept in the cache.

    Args:
        dataset: cola, sst2 or rt.
        epochs: the papers' is 2.
        seed: of fresh weights and order.
        folder: where weights are kept.
    """
    from safetensors.torch import load_file, save_file

    folder = folder or assets.cache_folder() / "gradient-victims"
    file = folder / f"{dataset}-{epochs}-{seed}.safetensors"
    victim = victims.load_victim(seed=seed)
    if file.is_file():
        victim.load_state_dict(load_file(file))
        return victim
    victims.fine_tune(victim, training_records(dataset, seed), epochs=epochs, seed=seed)
    folder.mkdir(parents=True, exist_ok=True)
    part = file.with_suffix(".part")
    save_file({name: value.contiguous() for name, value in victim.state_dict().items()}, part)
    part.rename(file)
    return victim
