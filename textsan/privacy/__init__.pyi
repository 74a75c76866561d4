from . import deniability as deniability, floating_point as floating_point, tight_epsilons as tight_epsilons
from .attained import Attained as Attained, attained_metric_success as attained_metric_success
from .composition import (
    composed_delta as composed_delta,
    composed_success as composed_success,
    composed_uniform_success as composed_uniform_success,
)
from .guarantee import Adjacency as Adjacency, Guarantee as Guarantee, Threshold as Threshold
from .sharp_bounds import (
    MetricBound as MetricBound,
    best_guess as best_guess,
    metric_success as metric_success,
    sharp_success as sharp_success,
    sharp_success_in_context as sharp_success_in_context,
)
from .tight_epsilons import (
    Tight as Tight,
    tight_epsilon as tight_epsilon,
    tight_group_epsilon as tight_group_epsilon,
    tight_metric_epsilon as tight_metric_epsilon,
    tight_uldp_epsilon as tight_uldp_epsilon,
    tight_umldp_epsilon as tight_umldp_epsilon,
)
