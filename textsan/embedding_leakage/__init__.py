"""What a sentence vector gives away: structured secrets, keywords, bags of words.

Imports the rooms up to `utility`.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach(
    __name__,
    submodules=["citizen", "defences", "genome", "heads", "inversion", "keyword", "pattern"],
    submod_attrs={
        "genome": ["GenomeReconstruction"],
        "inversion": ["WordInversion"],
        "keyword": ["KeywordInference", "KeywordTransfer"],
        "pattern": ["PatternReconstruction"],
        "vector_knowledge": ["VectorKnowledge"],
    },
)
