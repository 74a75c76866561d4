"""A mechanism that is a given channel: for channels from elsewhere, and for attackers who own no other."""

from collections.abc import Iterable
from functools import cached_property

from textsan.channel import Channel
from textsan.mechanisms.base import Mechanism, Oov


class ChannelMechanism(Mechanism):
    """Draws each word from a row of a channel. It promises nothing; `privacy.tight_epsilon` may find something.

    Args:
        channel: Pr(y | x).
        keep: words released verbatim.
        oov: "uniform", "keep" or "error" for words that are no inputs.

    >>> channel = Channel.from_matrix([[0.0, 1.0], [1.0, 0.0]], inputs=["a", "b"], outputs=["a", "b"])
    >>> ChannelMechanism(channel).sanitize([["a", "b", "a"]], seed=0)
    [['b', 'a', 'b']]
    """

    def __init__(self, channel: Channel, *, keep: Iterable[str] = (), oov: Oov = "uniform"):
        super().__init__(channel.inputs, keep=keep, oov=oov)
        self._given = channel

    @cached_property
    def channel(self) -> Channel:
        return self._given.keeping(self.keep)

    @property
    def parameters(self) -> dict:
        return super().parameters | {"channel": self._given}
