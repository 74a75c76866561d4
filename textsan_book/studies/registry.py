"""The experiments of the book by name, for `textsan.sweeps.studies`."""

_STUDIES = {
    "vectors": "citizens genomes keywords inversions",
    "vector_defences": "trade_offs",
    "departments": "departments",
    "erasure": "erasures projections",
    "pretraining": "preparations",
    "gradients": "gradient_spans gradient_features gradient_attacks",
    "gradient_whole": "gradient_tensors gradient_whole",
    "gradient_defences": "gradient_defences",
    "gradient_protocol": "gradient_reading",
    "gradient_learning": "gradient_learning",
    "mask_gate": "masked_readers",
    "language": "known_neighbours",
    "words": "found_words remembered",
    "departures": "departures",
    "attacked_types": "attacked_types",
    "stop_words": "stop_words",
    "query_words": "query_words",
    "counter_fitted": "counter_fitted",
    "gradient_factors": "gradient_factors",
    "name_finders": "finders",
    "overlap": "overlaps",
    "linkage": "linkages",
    "any_release": "any_releases",
    "writer": "writers",
    "frontier_gap": "frontier_gaps",
    "ranking": "ranks task_differences",
    "ranking_language": "ranks_with_language ranks_with_public",
    "promises": "promises",
    "exposure": "exposures",
    "least_distance": "distances frontier_tasks",
    "theorems": "theorems",
    "untold_noise": "untold_noise",
    "memoized": "memoized_attacks",
    "several_releases": "several_releases",
}
EXPERIMENTS = {
    name: f"textsan_book.studies.{module}" for module, names in _STUDIES.items() for name in names.split()
}
EXPERIMENTS |= dict.fromkeys(("scoreboard", "claims"), "textsan_book.judging.scoreboard")
"""The module of each experiment of the book, by its name in a specification."""
