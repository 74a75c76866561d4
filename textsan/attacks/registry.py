"""The attacks and their bounds by name.

A constructor is called with what the attacker knows, a bound also with the truth, and with its settings by name.

>>> ATTACKS["markov"].load().__self__
<class 'textsan.attacks.markov.MarkovBayes'>
"""

from textsan.base.registry import Entry, Registry

_HERE = "textsan.attacks"

ATTACKS = Registry(
    "attack",
    (
        Entry("unchanged", f"{_HERE}.unchanged:Unchanged.against", "unchanged", "#808080", "_", line=":"),
        Entry("context-free", f"{_HERE}.context_free:ContextFreeBayes.against", "context-free", "#969600", "o"),
        Entry("unseen mass", f"{_HERE}.context_free:ContextFreeBayes.unseen", "unseen mass", "#808080", "h"),
        Entry(
            "context-free bound",
            f"{_HERE}.context_free:ContextFreeBayes.bound",
            "context-free bound",
            "#000000",
            "_",
            is_bound=True,
        ),
        Entry(
            "contextual", f"{_HERE}.contextual:ContextualBayes.against", "contextual", "#b42d96", "s", line="--"
        ),
        Entry(
            "contextual bound",
            f"{_HERE}.contextual:ContextualBayes.bound",
            "contextual bound",
            "#000000",
            "_",
            is_bound=True,
            line="-.",
        ),
        Entry(
            "density ratio",
            f"{_HERE}.density_ratio:DensityRatio.against",
            "density ratio",
            "#b42d96",
            "D",
            line=":",
        ),
        Entry(
            "empirical inversion",
            f"{_HERE}.inversion_bert:EmpiricalInversion.against",
            "empirical inversion",
            "#ff3ca5",
            "*",
            line="-.",
        ),
        Entry(
            "inversion BERT",
            f"{_HERE}.inversion_bert:InversionBert.against",
            "inversion BERT",
            "#695ac3",
            "P",
            line="--",
        ),
        Entry(
            "mask inference",
            f"{_HERE}.mask_inference:MaskInference.against",
            "mask inference",
            "#d22d1e",
            "X",
            line=":",
        ),
        Entry(
            "embedding inversion",
            f"{_HERE}.embedding_inversion:EmbeddingInversion.against",
            "embedding inversion",
            "#0096e1",
            "x",
        ),
        Entry("memory", f"{_HERE}.memory:Memory.against", "memory", "#886655", "<", line=":"),
        Entry("markov", f"{_HERE}.markov:MarkovBayes.against", "Markov", "#1e780f", "^", line="-."),
        Entry(
            "noisy channel",
            f"{_HERE}.noisy_channel:NoisyChannel.against",
            "noisy channel",
            "#b400ff",
            "v",
            line="--",
        ),
        Entry(
            "language model",
            f"{_HERE}.language_model:LanguageModelBayes.against",
            "language model",
            "#0096e1",
            "p",
            line="-.",
        ),
        Entry("mixture", f"{_HERE}.mixture:Mixture.against", "mixture", "#d22d1e", "d"),
        Entry(
            "mixture without language",
            f"{_HERE}.mixture:Mixture.without",
            "mixture without language",
            "#d22d1e",
            "<",
            line=":",
        ),
        Entry("prompted", f"{_HERE}.prompted:Prompted.against", "prompted", "#0096e1", "|", line=":"),
    ),
)
