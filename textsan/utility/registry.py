"""The tasks by name: what sweeps and chapters ask of a sanitized text.

A constructor is called with how the task is learnt, by name.

>>> TASKS["sentiment"].load()
<class 'textsan.utility.tasks.Sentiment'>
"""

from textsan.base.registry import Entry, Registry

_HERE = "textsan.utility.tasks"

TASKS = Registry(
    "task",
    (
        Entry("sentiment", f"{_HERE}:Sentiment", "sentiment", "#0096e1", "o"),
        Entry("similarity", f"{_HERE}:Similarity", "similarity", "#d22d1e", "s", line="--"),
        Entry("inference", f"{_HERE}:Inference", "inference", "#1e780f", "^", line="-."),
        Entry("acceptability", f"{_HERE}:Acceptability", "acceptability", "#b400ff", "D", line=":"),
        Entry("overlap", f"{_HERE}:Overlap", "overlap (in place of similarity)", "#ff3ca5", "P", line="--"),
        Entry("continuation", f"{_HERE}:Continuation", "continuation (in place of inference)", "#969600", "v"),
    ),
)
