from .base import Mechanism as Mechanism
from .bert import bert_vocabulary as bert_vocabulary, join_pieces as join_pieces, wordpieces as wordpieces
from .budgeted import BudgetedSanText as BudgetedSanText
from .clusant import CluSanT as CluSanT
from .context_aware_custext import ContextAwareCusText as ContextAwareCusText
from .custext import CusText as CusText
from .diffractor import OneDiffractor as OneDiffractor
from .erasure import Erasure as Erasure
from .fbdd import FBDD as FBDD
from .given_channel import ChannelMechanism as ChannelMechanism
from .mahalanobis import Mahalanobis as Mahalanobis
from .make import make_mechanism as make_mechanism, recorded_mechanism as recorded_mechanism
from .memoized import Memoized as Memoized
from .optimal_custext import OptimalCusText as OptimalCusText
from .random import Random as Random
from .rantext import RanText as RanText
from .registry import MECHANISMS as MECHANISMS
from .santext import SanText as SanText, SanTextPlus as SanTextPlus, least_frequent as least_frequent
from .spent import Spent as Spent
from .tem import TEM as TEM
from .vickrey import Vickrey as Vickrey
from .weighted_santext import WeightedSanText as WeightedSanText
