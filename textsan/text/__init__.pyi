from . import corpora as corpora, names as names, vocabulary as vocabulary
from .corpora import Record as Record, load_dataset as load_dataset
from .embeddings import Embeddings as Embeddings
from .loading import load_embeddings as load_embeddings
from .vocabulary import (
    STOP_WORDS as STOP_WORDS,
    count_words as count_words,
    normalize as normalize,
    tokenize as tokenize,
    tokenize_v1 as tokenize_v1,
)
