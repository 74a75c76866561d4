"""The experiments of the book by name, for `textsan.sweeps.studies`."""

_STUDIES = {
    "vectors": "citizens genomes keywords inversions",
    "vector_defences": "trade_offs departments",
    "erasure": "erasures projections",
    "pretraining": "preparations",
    "gradients": "gradient_spans gradient_features gradient_attacks gradient_tensors gradient_whole",
    "gradient_defences": "gradient_defences gradient_learning",
    "gradient_protocol": "gradient_reading",
    "mask_gate": "masked_readers",
    "words": "known_neighbours found_words remembered",
    "name_finders": "finders",
    "overlap": "overlaps",
    "linkage": "linkages",
    "any_release": "any_releases",
    "writer": "writers",
    "frontiers": "frontier_gaps",
    "ranking": "ranks task_differences ranks_with_language ranks_with_public",
    "exposure": "exposures distances frontier_tasks",
    "memoized": "memoized_attacks",
}
_OF_ONE_NAME = "attacked_types counter_fitted departures gradient_factors promises query_words stop_words".split()
_STUDIES |= {name: name for name in (*_OF_ONE_NAME, "theorems", "untold_noise", "several_releases")}
EXPERIMENTS = {
    name: f"textsan_book.studies.{module}" for module, names in _STUDIES.items() for name in names.split()
}
EXPERIMENTS |= dict.fromkeys(("scoreboard", "claims"), "textsan_book.judging.scoreboard")
"""The module of each experiment of the book, by its name in a specification."""
