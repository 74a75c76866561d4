"""Attacks on sanitized text, one module each: from what a threat model grants to a guess a position (see `base`).

Imports the rooms above it; an attack never sees the truth, only bounds and scores do.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach(
    __name__,
    submod_attrs={
        "base": ["Attack"],
        "knowledge": ["Knowledge", "Truth"],
        "registry": ["ATTACKS"],
        "unchanged": ["Unchanged"],
        "context_free": ["ContextFreeBayes"],
        "contextual": ["ContextualBayes"],
        "density_ratio": ["DensityRatio"],
        "embedding_inversion": ["EmbeddingInversion"],
        "inversion_bert": ["EmpiricalInversion", "InversionBert"],
        "language_model": ["LanguageModelBayes"],
        "mixture": ["Mixture"],
        "markov": ["MarkovBayes", "NeighbourBayes"],
        "memory": ["Memory"],
        "mask_inference": ["MaskInference", "MaskedBert", "MaskedReader"],
        "noisy_channel": ["NoisyChannel"],
        "prompted": ["Prompted"],
    },
)
