"""Reconstruction attacks, one module each; all answer `reconstruct(sanitized_docs, positions)` (see `base`)."""

from textsan.attacks.base import Attack
from textsan.attacks.context_free import ContextFreeBayes
from textsan.attacks.density_ratio import DensityRatio
from textsan.attacks.detector import ContextualBayes
from textsan.attacks.embedding_inversion import EmbeddingInversion
from textsan.attacks.inversion_bert import EmpiricalInversion, InversionBert
from textsan.attacks.markov import MarkovBayes, NeighbourBayes
from textsan.attacks.mask_inference import MaskedBert, MaskedReader, MaskInference
from textsan.attacks.noisy_channel import NoisyChannel
from textsan.attacks.query import mode_probability, queries_bounds, queries_needed, simulate_queries

__all__ = [
    "Attack",
    "ContextFreeBayes",
    "ContextualBayes",
    "DensityRatio",
    "EmbeddingInversion",
    "EmpiricalInversion",
    "InversionBert",
    "MarkovBayes",
    "MaskInference",
    "MaskedBert",
    "MaskedReader",
    "NeighbourBayes",
    "NoisyChannel",
    "mode_probability",
    "queries_bounds",
    "queries_needed",
    "simulate_queries",
]
