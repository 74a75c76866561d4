from . import repeated_releases as repeated_releases
from .gains import Deficiency as Deficiency, deficiency as deficiency, gain_vulnerability as gain_vulnerability
from .least_loss import Frontier as Frontier, frontier as frontier
from .linkage import (
    LinkageLimit as LinkageLimit,
    linkage_limit as linkage_limit,
    linkage_success as linkage_success,
    linkage_threshold as linkage_threshold,
    mutual_information as mutual_information,
    sharp_information as sharp_information,
)
from .noise import noisy_vector_vulnerability as noisy_vector_vulnerability
from .repeated_words import (
    counted_vulnerability as counted_vulnerability,
    repeated_vulnerability as repeated_vulnerability,
)
from .several_attackers import JointFrontier as JointFrontier, joint_frontier as joint_frontier
from .vulnerability import (
    bayes_vulnerability as bayes_vulnerability,
    conditional_entropy as conditional_entropy,
    entropy as entropy,
    pointwise_leakage as pointwise_leakage,
    prior_vulnerability as prior_vulnerability,
    vulnerability_bracket as vulnerability_bracket,
)
