from . import (
    defences as defences,
    erasure as erasure,
    heads as heads,
    inversion as inversion,
    keyword as keyword,
    pattern as pattern,
)
from .erasure import Eraser as Eraser, NullspaceProjection as NullspaceProjection
from .inversion import WordInversion as WordInversion
from .keyword import KeywordInference as KeywordInference, KeywordTransfer as KeywordTransfer
from .pattern import PatternReconstruction as PatternReconstruction
from .vector_knowledge import VectorKnowledge as VectorKnowledge
