from .base import Attack as Attack
from .context_free import ContextFreeBayes as ContextFreeBayes
from .contextual import ContextualBayes as ContextualBayes
from .density_ratio import DensityRatio as DensityRatio
from .embedding_inversion import EmbeddingInversion as EmbeddingInversion
from .inversion_bert import EmpiricalInversion as EmpiricalInversion, InversionBert as InversionBert
from .knowledge import Knowledge as Knowledge, Truth as Truth
from .language_model import LanguageModelBayes as LanguageModelBayes
from .linkage import Linkage as Linkage, Links as Links, Ranks as Ranks
from .markov import MarkovBayes as MarkovBayes
from .mask_inference import (
    MaskedBert as MaskedBert,
    MaskedReader as MaskedReader,
    MaskInference as MaskInference,
    PublicReader as PublicReader,
)
from .memory import Memory as Memory
from .mixture import Mixture as Mixture
from .noisy_channel import NoisyChannel as NoisyChannel
from .prompted import Prompted as Prompted
from .registry import ATTACKS as ATTACKS
from .unchanged import Unchanged as Unchanged
from .untold_noise import UntoldNoise as UntoldNoise
