"""The worth of the noise's secrecy, by length of the release: from the stored table of `studies.untold_noise`."""

from collections.abc import Iterator
from pathlib import Path

import pandas as pd

from textsan_book.judging import stored

TOLD = 0.95
"""Probability from which on a release tells its channel, with every seed."""


def lengths(results: Path, name: str = "untold-noise") -> Iterator[dict]:
    """Judge a stored table by its rules, a row for each length of a release.

    `words` is a mean; `cells` are mechanisms times corpora; in how many a loss is `shown`, the release tells the
    `mechanism`, and the `channel`; `most` is the largest loss that no interval excludes, `of`
    the success of who is told there.
    """
    table = pd.read_csv(results / f"{name}.csv")
    for size, rows in table.groupby("documents"):
        cells = [cell for _, cell in rows.groupby(["dataset", "defence"])]
        losses = [stored.mean(cell, "difference") for cell in cells]
        row = {"documents": size, "words": rows.words.mean(), "cells": len(cells)}
        row |= {name: sum(cell[name].min() >= TOLD for cell in cells) for name in ("mechanism", "channel")}
        worst = min(range(len(cells)), key=lambda at: losses[at].low)
        row |= {"shown": sum(loss.high < 0 for loss in losses), "most": -losses[worst].low}
        yield row | {"of": cells[worst].told.mean()}


def lines(results: Path, name: str = "untold-noise") -> list[str]:
    """Write the rows of `lengths`, a line each."""
    said = "{documents} documents, {words:.0f} words: a loss in {shown} of {cells}, "
    said += "at most {most:.3f} of {of:.3f}; mechanism identified in {mechanism}, its ε in {channel}"
    return [said.format(**row) for row in lengths(results, name)]
