from . import (
    fine_tuning as fine_tuning,
    frozen as frozen,
    tasks as tasks,
)
from .examples import Examples as Examples, Pieces as Pieces
from .registry import TASKS as TASKS
from .scores import Outcome as Outcome, paired_difference as paired_difference, score as score
from .tasks import (
    Acceptability as Acceptability,
    Continuation as Continuation,
    Inference as Inference,
    Overlap as Overlap,
    Sentiment as Sentiment,
    Similarity as Similarity,
    Task as Task,
)
