"""The experiments of the book by name, for `textsan.sweeps.studies`."""

from textsan.sweeps.studies import Experiment

_HERE = "textsan_book.studies"
_GRIDS = "sst2", "sst2-between", "sst2-custext", "oov", "oov-words", "oov-between"
_UTILITY = tuple(f"sweeps/utility-{name}.yml" for name in _GRIDS)
_VERDICTS = "results/scoreboard.csv", "results/claims.csv"
_JUDGED = ("scoreboard.yml", "paper_numbers.csv", "results/*.csv", *(f"!{table}" for table in _VERDICTS))
EXPERIMENTS = {
    "citizens": Experiment(f"{_HERE}.vectors"),
    "genomes": Experiment(f"{_HERE}.vectors"),
    "keywords": Experiment(f"{_HERE}.vectors"),
    "inversions": Experiment(f"{_HERE}.vectors"),
    "trade_offs": Experiment(f"{_HERE}.vector_defences"),
    "departments": Experiment(f"{_HERE}.departments"),
    "erasures": Experiment(f"{_HERE}.erasure"),
    "projections": Experiment(f"{_HERE}.erasure"),
    "preparations": Experiment(f"{_HERE}.pretraining"),
    "gradient_spans": Experiment(f"{_HERE}.gradients"),
    "gradient_features": Experiment(f"{_HERE}.gradients"),
    "gradient_attacks": Experiment(f"{_HERE}.gradients"),
    "gradient_tensors": Experiment(f"{_HERE}.gradient_whole"),
    "gradient_whole": Experiment(f"{_HERE}.gradient_whole"),
    "gradient_defences": Experiment(f"{_HERE}.gradient_defences"),
    "gradient_reading": Experiment(f"{_HERE}.gradient_protocol"),
    "gradient_learning": Experiment(f"{_HERE}.gradient_learning"),
    "known_neighbours": Experiment(f"{_HERE}.language"),
    "found_words": Experiment(f"{_HERE}.words"),
    "remembered": Experiment(f"{_HERE}.words"),
    "departures": Experiment(f"{_HERE}.departures"),
    "attacked_types": Experiment(f"{_HERE}.attacked_types"),
    "stop_words": Experiment(f"{_HERE}.stop_words"),
    "query_words": Experiment(f"{_HERE}.query_words"),
    "counter_fitted": Experiment(f"{_HERE}.counter_fitted"),
    "gradient_factors": Experiment(f"{_HERE}.gradient_factors"),
    "finders": Experiment(f"{_HERE}.name_finders", ("names_checked.csv",)),
    "overlaps": Experiment(f"{_HERE}.overlap", ("results/overlap-sst2.csv", "results/overlap-sst2.npz")),
    "linkages": Experiment(f"{_HERE}.linkage"),
    "writers": Experiment(f"{_HERE}.writer"),
    "frontier_gaps": Experiment(f"{_HERE}.frontier_gap"),
    "ranks": Experiment(f"{_HERE}.ranking"),
    "task_differences": Experiment(f"{_HERE}.ranking"),
    "ranks_with_language": Experiment(f"{_HERE}.ranking_language", ("results/rank.csv",)),
    "promises": Experiment(f"{_HERE}.promises"),
    "exposures": Experiment(f"{_HERE}.exposure", _UTILITY),
    "distances": Experiment(f"{_HERE}.least_distance", _UTILITY),
    "frontier_tasks": Experiment(f"{_HERE}.least_distance", _UTILITY),
    "scoreboard": Experiment("textsan_book.judging.scoreboard", _JUDGED),
    "claims": Experiment("textsan_book.judging.scoreboard", _JUDGED),
}
"""Where each experiment of the book is, by its name in a specification."""
