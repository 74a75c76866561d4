"""The attacks and their bounds by name.

A constructor is called with what the attacker knows, a bound also with the truth, and with its settings by name.

>>> ATTACKS["markov"].load().__self__
<class 'textsan.attacks.markov.MarkovBayes'>
"""

from typing import Any

from textsan.base.registry import Entry, Registry


def _entry(name: str, where: str, colour: str, marker: str, *, label: str | None = None, **drawn: Any) -> Entry:
    return Entry(name, f"textsan.attacks.{where}", label or name, colour, marker, **drawn)


_CONTEXT_FREE, _CONTEXTUAL = "context_free:ContextFreeBayes", "contextual:ContextualBayes"
ATTACKS = Registry(
    "attack",
    (
        _entry("unchanged", "unchanged:Unchanged.against", "#808080", "_", line=":"),
        _entry("context-free", f"{_CONTEXT_FREE}.against", "#969600", "o"),
        _entry("unseen mass", f"{_CONTEXT_FREE}.unseen", "#808080", "h"),
        _entry("public ranks", f"{_CONTEXT_FREE}.ranked", "#969600", "1", line=":"),
        _entry("context-free bound", f"{_CONTEXT_FREE}.bound", "#000000", "_", is_bound=True),
        _entry("contextual", f"{_CONTEXTUAL}.against", "#b42d96", "s", line="--"),
        _entry("contextual bound", f"{_CONTEXTUAL}.bound", "#000000", "_", is_bound=True, line="-."),
        _entry("released contextual", "released_code:ReleasedContextual.against", "#b42d96", "1", line="-."),
        _entry("density ratio", "density_ratio:DensityRatio.against", "#b42d96", "D", line=":"),
        _entry("empirical inversion", "inversion_bert:EmpiricalInversion.against", "#ff3ca5", "*", line="-."),
        _entry("inversion BERT", "inversion_bert:InversionBert.against", "#695ac3", "P", line="--"),
        _entry("mask inference", "mask_inference:MaskInference.against", "#d22d1e", "X", line=":"),
        _entry("embedding inversion", "embedding_inversion:EmbeddingInversion.against", "#0096e1", "x"),
        _entry("memory", "memory:Memory.against", "#886655", "<", line=":"),
        _entry("markov", "markov:MarkovBayes.against", "#1e780f", "^", label="Markov", line="-."),
        _entry("noisy channel", "noisy_channel:NoisyChannel.against", "#b400ff", "v", line="--"),
        _entry("language model", "language_model:LanguageModelBayes.against", "#0096e1", "p", line="-."),
        _entry("mixture", "mixture:Mixture.against", "#d22d1e", "d"),
        _entry("mixture without language", "mixture:Mixture.without", "#d22d1e", "<", line=":"),
        _entry("prompted", "prompted:Prompted.against", "#0096e1", "|", line=":"),
    ),
)
