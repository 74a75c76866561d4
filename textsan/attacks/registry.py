"""The attacks and their bounds by name.

A constructor is called with what the attacker knows, a bound also with the truth, and with its settings by name.

>>> ATTACKS["markov"].load().__self__
<class 'textsan.attacks.markov.MarkovBayes'>
"""

from textsan.text.registry import Entry, Registry

_HERE = "textsan.attacks"

ATTACKS = Registry(
    "attack",
    (
        Entry("unchanged", f"{_HERE}.unchanged:Unchanged.against", "unchanged", "#777777", "_"),
        Entry("context-free", f"{_HERE}.context_free:ContextFreeBayes.against", "context-free", "#0072B2", "o"),
        Entry(
            "context-free bound",
            f"{_HERE}.context_free:ContextFreeBayes.bound",
            "context-free bound",
            "#777777",
            "_",
            is_bound=True,
        ),
        Entry("contextual", f"{_HERE}.contextual:ContextualBayes.against", "contextual", "#D55E00", "s"),
        Entry(
            "contextual bound",
            f"{_HERE}.contextual:ContextualBayes.bound",
            "contextual bound",
            "#777777",
            "s",
            is_bound=True,
        ),
        Entry("density ratio", f"{_HERE}.density_ratio:DensityRatio.against", "density ratio", "#CC79A7", "D"),
        Entry(
            "empirical inversion",
            f"{_HERE}.inversion_bert:EmpiricalInversion.against",
            "empirical inversion",
            "#999999",
            "p",
        ),
        Entry("inversion BERT", f"{_HERE}.inversion_bert:InversionBert.against", "inversion BERT", "#7B3294", "P"),
        Entry("mask inference", f"{_HERE}.mask_inference:MaskInference.against", "mask inference", "#5B4B00", "X"),
        Entry(
            "embedding inversion",
            f"{_HERE}.embedding_inversion:EmbeddingInversion.against",
            "embedding inversion",
            "#56B4E9",
            "x",
        ),
        Entry("markov", f"{_HERE}.markov:MarkovBayes.against", "Markov", "#009E73", "^"),
        Entry("noisy channel", f"{_HERE}.noisy_channel:NoisyChannel.against", "noisy channel", "#E69F00", "v"),
    ),
)
