from .interpolated import InterpolatedModel as InterpolatedModel, fit_bigrams as fit_bigrams
from .language_model import LanguageModel as LanguageModel
from .markov import MarkovModel as MarkovModel
from .ngrams import NGrams as NGrams
from .unigram import Prior as Prior
from .unseen import good_turing as good_turing, unseen_mass as unseen_mass
