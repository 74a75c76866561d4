"""What sanitized text is still good for: tasks, training on sanitized text, privacy read against utility.

Imports the rooms up to `attacks`.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach(
    __name__,
    submodules=["fine_tuning", "frozen", "pretrained_encoder", "pretraining", "tasks"],
    submod_attrs={
        "examples": ["Examples", "Pieces"],
        "registry": ["TASKS"],
        "scores": ["Outcome", "paired_difference", "score"],
        "tasks": [
            "Acceptability",
            "Continuation",
            "Inference",
            "Overlap",
            "Sentiment",
            "Similarity",
            "Task",
        ],
    },
)
