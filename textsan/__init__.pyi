from . import (
    attacks as attacks,
    auditing as auditing,
    base as base,
    channel as channel,
    embedding_leakage as embedding_leakage,
    evaluation as evaluation,
    gradient_leakage as gradient_leakage,
    leakage as leakage,
    mechanisms as mechanisms,
    models as models,
    plotting as plotting,
    priors as priors,
    privacy as privacy,
    release as release,
    sweeps as sweeps,
    text as text,
    utility as utility,
)
from .attacks import Knowledge as Knowledge
from .auditing import audit as audit, choose_epsilon as choose_epsilon
from .base import load_plugin as load_plugin, project_data as project_data
from .channel import Channel as Channel
from .mechanisms import (
    FBDD as FBDD,
    TEM as TEM,
    CusText as CusText,
    Mahalanobis as Mahalanobis,
    Random as Random,
    SanText as SanText,
    SanTextPlus as SanTextPlus,
    Vickrey as Vickrey,
    least_frequent as least_frequent,
)
from .priors import Prior as Prior
from .sweeps.splits import Split as Split, load_split as load_split
from .text import (
    STOP_WORDS as STOP_WORDS,
    Embeddings as Embeddings,
    count_words as count_words,
    load_dataset as load_dataset,
    load_embeddings as load_embeddings,
    tokenize as tokenize,
)
from .version import __version__ as __version__
