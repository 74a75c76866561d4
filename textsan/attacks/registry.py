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
        _entry("context-free", f"{_CONTEXT_FREE}.against", "#965a00", "o"),
        _entry("unseen mass", f"{_CONTEXT_FREE}.unseen", "#5a6969", "h"),
        _entry("public ranks", f"{_CONTEXT_FREE}.ranked", "#965a00", "1", line=":"),
        _entry("context-free bound", f"{_CONTEXT_FREE}.bound", "#000000", "_", is_bound=True),
        _entry("contextual", f"{_CONTEXTUAL}.against", "#c31e5a", "s", line="--"),
        _entry("contextual bound", f"{_CONTEXTUAL}.bound", "#000000", "_", is_bound=True, line="-."),
        _entry("released contextual", "released_code:ReleasedContextual.against", "#c31e5a", "1", line="-."),
        _entry("density ratio", "density_ratio:DensityRatio.against", "#c31e5a", "D", line=":"),
        _entry("empirical inversion", "inversion_bert:EmpiricalInversion.against", "#969669", "*", line="-."),
        _entry("inversion BERT", "inversion_bert:InversionBert.against", "#875a96", "P", line="--"),
        _entry("mask inference", "mask_inference:MaskInference.against", "#c378b4", "X", line=":"),
        _entry("embedding inversion", "embedding_inversion:EmbeddingInversion.against", "#96783c", "x"),
        _entry("memory", "memory:Memory.against", "#b400c3", "<", line=":"),
        _entry("markov", "markov:MarkovBayes.against", "#5aa500", "^", label="Markov", line="-."),
        _entry("public bigrams", "markov:MarkovBayes.alone", "#5aa500", "2", line=":"),
        _entry("noisy channel", "noisy_channel:NoisyChannel.against", "#d23cd2", "v", line="--"),
        _entry("language model", "language_model:LanguageModelBayes.against", "#4b78ff", "p", line="-."),
        _entry("mixture", "mixture:Mixture.against", "#3c4bff", "d"),
        _entry("mixture without language", "mixture:Mixture.without", "#3c4bff", "<", line=":"),
        _entry("prompted", "prompted:Prompted.against", "#4b78ff", "|", line=":"),
    ),
)
