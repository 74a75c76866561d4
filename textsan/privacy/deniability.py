"""Plausible deniability of a channel (Yue et al. 2021, section 5.5): N_x, S_x, S*_y and Renyi entropies.

The paper estimates them from 1,000 draws a word; here they are computed in closed form, with the standard
deviation that such an estimate has.
"""

from typing import NamedTuple

import numpy as np

from textsan.base import checks
from textsan.base.blocks import map_blocks
from textsan.channel import Channel


class Deniability(NamedTuple):
    """Statistics of `draws` draws of every input word.

    Args:
        unchanged: N_x, (n_in,): Pr(x | x), or its frequency.
        distinct_outputs: S_x, (n_in,): how many distinct words come from x.
        distinct_inputs: S*_y, (n_out,): from how many distinct words y comes.
    """

    unchanged: np.ndarray
    distinct_outputs: np.ndarray
    distinct_inputs: np.ndarray


def expected_deniability(channel: Channel, draws: int = 1000) -> tuple[Deniability, Deniability]:
    """N_x, E S_x and E S*_y in closed form, and the standard deviations of their estimates.

    A word y is seen among n draws from x with probability q = 1 - (1 - Pr(y | x))^n. E S_x and E S*_y are sums of
    q; the variance of S*_y is the sum of q (1 - q), which bounds that of S_x from above, because the outputs of
    one word displace each other.

    >>> channel = Channel.from_matrix([[0.5, 0.5], [0.0, 1.0]], inputs=["a", "b"], outputs=["a", "b"])
    >>> mean, deviation = expected_deniability(channel, draws=2)
    >>> mean.distinct_outputs, deviation.unchanged.round(3)
    (array([1.5, 1. ]), array([0.354, 0.   ]))
    """
    draws, channel = checks.whole("draws", draws, low=1), channel.exact("expected deniability")

    def block(rows):
        probabilities = channel.rows(rows)
        own = np.array([channel.output_index.get(channel.inputs[row], -1) for row in rows])
        unchanged = np.where(own < 0, 0.0, probabilities[np.arange(len(rows)), own])
        with np.errstate(divide="ignore"):
            unseen = np.exp(draws * np.log1p(-np.minimum(probabilities, 1.0)))
        seen, variance = 1 - unseen, unseen * (1 - unseen)
        return unchanged, seen.sum(axis=1), variance.sum(axis=1), seen.sum(axis=0), variance.sum(axis=0)

    parts = list(zip(*map_blocks(block, np.arange(channel.shape[0])), strict=True))
    unchanged, outputs, spread_outputs = map(np.concatenate, parts[:3])
    inputs, spread_inputs = (np.sum(part, axis=0) for part in parts[3:])
    deviation = np.sqrt(unchanged * (1 - np.minimum(unchanged, 1.0)) / draws)
    return (
        Deniability(unchanged, outputs, inputs),
        Deniability(deviation, np.sqrt(spread_outputs), np.sqrt(spread_inputs)),
    )


def effective_support(channel: Channel, mass: float = 0.95) -> np.ndarray:
    """Size of the smallest set of outputs whose probability from x is at least `mass`, (n_in,).

    >>> channel = Channel.from_matrix([[0.5, 0.4, 0.1]], inputs=["a"], outputs=["a", "b", "c"])
    >>> effective_support(channel, 0.8)
    array([2])
    """
    mass, channel = checks.number("mass", mass, 0, 1), channel.exact("effective support")

    def block(rows):
        cumulative = np.cumsum(-np.sort(-channel.rows(rows), axis=1), axis=1)
        return (cumulative < mass * cumulative[:, -1:]).sum(axis=1) + 1

    return np.concatenate(list(map_blocks(block, np.arange(channel.shape[0]))))


def renyi_entropy(channel: Channel, order: float) -> np.ndarray:
    """Renyi entropy of each row in bits, (n_in,): H_0 is log2 of the support, H_inf is -log2 of the largest entry.

    Args:
        order: at least 0, infinity included; 1 is Shannon's entropy.

    >>> channel = Channel.from_matrix([[0.5, 0.25, 0.25]], inputs=["a"], outputs=["a", "b", "c"])
    >>> renyi_entropy(channel, 0).round(3), renyi_entropy(channel, np.inf), renyi_entropy(channel, 1)
    (array([1.585]), array([1.]), array([1.5]))
    """
    channel = channel.exact("Renyi entropy")
    if order != np.inf:
        order = checks.number("order", order, low=0)

    def block(rows):
        log_rows = channel.log_rows(rows)
        if order == 0:
            return np.log((log_rows > -np.inf).sum(axis=1))
        if order == 1:
            finite = np.where(log_rows > -np.inf, log_rows, 0.0)
            return -(np.exp(log_rows) * finite).sum(axis=1)
        top = log_rows.max(axis=1)
        if order == np.inf:
            return -top
        sums = np.exp(order * (log_rows - top[:, None])).sum(axis=1)
        return (np.log(sums) + order * top) / (1 - order)

    return np.concatenate(list(map_blocks(block, np.arange(channel.shape[0])))) / np.log(2) + 0.0
