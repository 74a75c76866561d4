"""Plausible deniability by draws, as Yue et al. 2021 estimate it: see `textsan.privacy.deniability`."""

import numpy as np

from textsan.base import checks
from textsan.base.blocks import BLOCK
from textsan.base.randomness import streams
from textsan.channel import Channel
from textsan.privacy.deniability import Deniability


def simulated_deniability(channel: Channel, draws: int = 1000, *, seed) -> Deniability:
    """Estimate N_x, S_x and S*_y from so many draws of every input word, as the paper does it."""
    draws = checks.whole("draws", draws, low=1)
    unchanged, outputs = np.empty(channel.shape[0]), np.empty(channel.shape[0], dtype=int)
    inputs = np.zeros(channel.shape[1], dtype=int)
    generators = streams(seed, range(channel.shape[0]))
    for at in range(0, channel.shape[0], BLOCK):
        rows = np.arange(channel.shape[0])[at : at + BLOCK]
        uniforms = np.concatenate([next(generators).random(draws) for _ in rows])
        drawn = channel.sample(np.repeat(rows, draws), uniforms).reshape(len(rows), draws)
        for row, released in zip(rows, drawn, strict=True):
            seen = np.unique(released)
            unchanged[row] = np.mean(released == channel.output_index.get(channel.inputs[row], -1))
            outputs[row] = len(seen)
            inputs[seen] += 1
    return Deniability(unchanged, outputs, inputs)
