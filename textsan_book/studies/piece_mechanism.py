"""A plugin of sweeps: SanText on an encoder's input embeddings, under the name "santext pieces".

`plugins: textsan_book.studies.piece_mechanism` in a specification makes it known. It needs an encoder for every
release, so that it is none of the mechanisms that `textsan sanitize` offers.
"""

from textsan.mechanisms import MECHANISMS

MECHANISMS.register(
    "santext pieces",
    "textsan.mechanisms.bert:santext_pieces",
    label="SanText, MiniLM's pieces",
    colour="#0096e1",
    marker="*",
    line=":",
)
