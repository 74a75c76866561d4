from .language_model import LanguageModel as LanguageModel
from .markov import MarkovModel as MarkovModel
from .unigram import Prior as Prior
from .unseen import good_turing as good_turing, unseen_mass as unseen_mass
