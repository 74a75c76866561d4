"""The rows of our result tables that ask what a published number asks, and the rule that compares them.

`NUMBERS` is read from top to bottom: of the entries that fit a published row, the first whose tables have rows of
ours is used. The rule of the verdict is in `textsan_book.judging.verdicts`.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

OURS = {"SST-2": "sst2", "QNLI": "qnli", "AGNEWS": "ag_news", "Yelp": "yelp", "MedSTS": "stsb", "CoLA": "cola"}
OURS |= {"Rotten Tomatoes": "rt", "FBDD (Feyisetan et al. 2020)": "fbdd", "CusText (GloVe)": "custext"}
OURS |= {"LAMP_cos": "LAMP cos", "Year": "year", "Month": "month", "Date": "day", "Whole": "whole"}
OURS |= {"alpha^-1": 1, "none (w/o alpha^-1)": 0, "0.1 x alpha^-1": 0.1, "5 x alpha^-1": 5, "10 x alpha^-1": 10}
"""Our words for the words of the papers."""


def printed(name: str, words: Mapping = OURS) -> Callable[[Mapping], object]:
    """Take the value of a column or a setting from the published row, in our words.

    >>> printed("dataset")({"dataset": "SST-2"}), printed("K")({"K": 10.0})
    ('sst2', 10.0)
    """
    return lambda row: words.get(row[name], row[name])


@dataclass(frozen=True)
class Entry:
    """Published rows and the rows of ours that ask the same.

    - `rows`: a value, or one of a list, by column or by name in the published setting.
    - `tables`: patterns of files in data/results; of several, the first with the rows is used.
    - `where`, `against`: conditions on our rows, and on those that they are set against, from the same positions;
      `printed` takes a value from the published row. Rows that differ in the seed alone are one number.
    - `quantity`: value, difference, ratio, relative gain (in percent), or at matched success, where `matched_on`
      are the settings of the published row at whose success epsilon is matched (`judging.matched_success`).
    - `column`, `scale`: the column that is compared, and its unit.
    - `mean_over`: ours is the mean over rows that differ in this column, the unit that was drawn.
    - `not_comparable`, `no_result`: the reason, a key of the lists in `verdicts`.
    - `over_types`: the published rate is over drawn types, whose scatter attacked-types.csv has.
    - `trivial`: why agreement says nothing, where the rule of `verdicts` (no effect agrees as well) misses it.
    - `beside`: further numbers of ours, by label, with the fields that change.
    - `as_published`: sizes and split of the paper; where ours are others, the scoreboard names them.
    - `substitution`: our stand-ins for the paper's data and models.
    """

    rows: Mapping
    tables: str | Sequence[str] = ()
    where: Mapping = field(default_factory=dict)
    against: Mapping = field(default_factory=dict)
    quantity: str = "value"
    matched_on: Mapping = field(default_factory=dict)
    column: str = "asr"
    scale: float = 1
    mean_over: str = ""
    is_count: bool = False
    not_comparable: str = ""
    no_result: str = ""
    not_run: str = ""
    over_types: bool = False
    trivial: str = ""
    beside: Mapping = field(default_factory=dict)
    as_published: Mapping = field(default_factory=dict)
    substitution: str = ""


def at(paper: str | Sequence[str] = (), place: str | Sequence[str] = (), method="", **more) -> dict:
    """Name published rows by paper, table or figure, mechanism or method, and further columns or settings."""
    given = {"paper": paper, "table_or_figure": place, "mechanism_or_method": method}
    return {name: value for name, value in given.items() if value} | more


TONG, SANTEXT, CUSTEXT, PAN, POOLER = "Tong 2024", "SanText 2021", "CusText 2023", "Pan 2020", "Li 2023"

# fmt: off
# Published numbers are set beside attacks over the words of the whole data set, as in the papers (or over those
# that a table without such a column has).
WHOLE = {"dataset": printed("dataset"), "vocabulary": ["data", None], "shadow_dataset": None}
OWN_CUSTEXT = WHOLE | {"defence": "custext+", "defence.mapping": "overlapping", "epsilon": printed("epsilon")}
CUSTEXT_PLUS = WHOLE | {"defence": "released custext+", "epsilon": printed("epsilon")}
CUSTEXT_4 = CUSTEXT_PLUS | {"epsilon": 4}
ANY_SANTEXT = WHOLE | {"defence": "santext+", "defence.w": 0.999, "defence.p": 0}
SANTEXT_PLUS = ANY_SANTEXT | {"epsilon": printed("epsilon")}
DETECTOR = {"attack": "contextual", "attack.k": 10, "attack.departure": None}
FREE = {"attack": "context-free", "attack.multiple": [None, 1]}  # the constant 1 / alpha is the default
INVERSION = {"attack": "embedding inversion", "attack.exclude_itself": False}
FREE_BOUND, UNCHANGED = {"attack": "context-free bound"}, {"attack": "unchanged"}
COUNTING, SEQUENCE = {"attack": "empirical inversion"}, {"attack": "inversion bert"}
FREQUENT = [10000, "10000"]

RELEASED = ["published-*.csv", "full-released*.csv"]  # the first on all positions
VECTORS = "GloVe-6B-50d for GloVe-840B-300d"
MODELS = f"{VECTORS}; MiniLM-L6 for BERT-base"
SIZES = {"n_private": 20000, "n_shadow": 1000, "split_by": "line"}

# --- Tong et al. 2024, Table 1: K. One candidate is the answer of the context-free attack, whatever a detector
# says ---
ONE_CANDIDATE = f"the context-free attack, which is the one with one candidate; {VECTORS}"
TABLE_1 = {"over_types": True, "as_published": SIZES, "substitution": ONE_CANDIDATE}
BY_SOURCE = {
    "on 1,000 types, split by source": {"tables": "faithful.csv"},
    "the contextual attack there, with K = 10": {"tables": "faithful.csv", "where": CUSTEXT_4 | DETECTOR},
}
CONTEXTUAL, CONTEXT_FREE = "Contextual Bayesian Attack", "Context-free Bayesian Attack"
TABLES_1_AND_2 = [
    # The released attacks count a guess that contains the word; the attacks they are set beside do not.
    Entry(at(TONG, "Table 1", CONTEXTUAL, K=1), RELEASED, CUSTEXT_4 | FREE, column="asr_substring",
        beside=BY_SOURCE, **TABLE_1),
    Entry(at(TONG, "Table 1", "Contextual K-ASR Bound", K=1), RELEASED, CUSTEXT_4 | FREE_BOUND, **TABLE_1),
    # More candidates are ranked by a detector. Ours is of another encoder, and was trained and tried on other
    # positions (types, split by source) than the column of K = 1: it stands beside that column, and in chapters
    # 11 and 19.
    Entry(at(TONG, "Table 1"), not_comparable="encoder"),
    Entry(at(TONG, "Table 2", CONTEXT_FREE), ["table-2.csv", "know-ratio*.csv"],
        CUSTEXT_PLUS | FREE | {"shadow_ratio": printed("shadow/private size ratio")}, column="asr_substring",
        over_types=True, as_published={"n_private": 20000, "split_by": "line"}, substitution=VECTORS),
    Entry(at(TONG, "Table 2", CONTEXTUAL), not_comparable="encoder"),
]

# --- Table 4: the constant. Epsilon is fitted to the rows of 1 / alpha, and the other rows are tested ---
AT_MATCHED_SUCCESS = {
    "tables": "matched-constant*.csv",
    "where": ANY_SANTEXT | {"attack": "context-free", "attack.multiple": printed("constant")},
    "against": ANY_SANTEXT | {"attack": "context-free", "attack.multiple": 1},
    "quantity": "at matched success",
    "matched_on": {"constant": "alpha^-1"},
    "as_published": SIZES,
}
SMALLER = ["none (w/o alpha^-1)", "0.1 x alpha^-1"]
AS_PRINTED = f"printed as epsilon 4.0, read as 2.4; {VECTORS}"
TABLE_4 = [
    Entry(at(TONG, "Table 4", constant="alpha^-1"), not_comparable="fitted"),
    *(
        Entry(at(TONG, "Table 4", **of), **AT_MATCHED_SUCCESS, substitution=substitution)
        for of, substitution in (
            ({"epsilon": [2.0, 2.8, 3.2], "constant": SMALLER}, VECTORS),
            ({"epsilon": "4.0 [as printed", "constant": SMALLER}, AS_PRINTED),
            ({"epsilon": [2.0, 2.8, 3.2]}, VECTORS),
            ({}, AS_PRINTED),
        )
    ),
]

# --- Table 3, Figures 6 and 7: time ---
LIMIT = {"column": "minutes_per_1000", "trivial": "a limit that any computer keeps", "substitution": VECTORS}
TIMES = ["Sec 5.4; Fig 6", "App G; Fig 7"]
TIME = [
    Entry(at(TONG, "Table 3"), "know-k*.csv",
        CUSTEXT_4 | {"attack": "contextual bound", "attack.k": printed("K"), "attack.departure": None},
        column="minutes_per_1000", no_result="machine",
        beside={"pairs through an encoder": {"column": "encoded"}}, substitution=MODELS),
    Entry(at(TONG, "Table 3"), no_result="machine"),
    Entry(at(place=TIMES, method=["Context-free ASR Bound and Context-free Bayesian Attack", CONTEXT_FREE]),
        RELEASED, CUSTEXT_4 | FREE | {"dataset": printed("dataset", OURS | {"not stated": "sst2"})}, **LIMIT),
    Entry(at(place="App G; Fig 7", method="Embedding Inversion Attack"), "full-sst2.csv",
        INVERSION | OWN_CUSTEXT | {"epsilon": 4}, **LIMIT),
    Entry(at(place=TIMES), no_result="machine"),
]

# --- Figure 4: numbers quoted in the text. The published Inversion BERT reads one word and no context: it counts
# ---
OVER_COUNTING = {
    "against": CUSTEXT_PLUS | COUNTING,
    "as_published": SIZES,
    "beside": {"over a model of the sequence": {"against": CUSTEXT_PLUS | SEQUENCE}},
}
GAIN = OVER_COUNTING | {"quantity": "relative gain"}
SANITIZATIONS = "counting of 30 sanitizations for BERT-base on 100"
NEAREST = CUSTEXT_PLUS | UNCHANGED  # the nearest word to a word is that word
FIGURE_4 = [
    Entry(at(method=f"{CONTEXTUAL} vs Inversion BERT"), ["faithful.csv", *RELEASED], CUSTEXT_PLUS | DETECTOR,
        **GAIN, not_comparable="encoder", substitution=MODELS),
    Entry(at(method=f"{CONTEXT_FREE} vs Inversion BERT"), RELEASED, CUSTEXT_PLUS | FREE, **GAIN, over_types=True,
        substitution=MODELS),
    Entry(at(method="Context-free ASR Bound vs Inversion BERT", dataset="QNLI"), RELEASED,
        CUSTEXT_PLUS | FREE_BOUND, **GAIN, over_types=True,
        substitution=f"read as relative; {VECTORS}; {SANITIZATIONS}"),
    Entry(at(method="Contextual K-ASR Bound vs Inversion BERT", dataset="QNLI"), not_comparable="encoder"),
    Entry(at(method="Embedding Inversion Attack", dataset="AGNEWS"), RELEASED, NEAREST, over_types=True,
        as_published=SIZES, substitution=VECTORS),
    Entry(at(method="Embedding Inversion Attack / Inversion BERT", dataset="AGNEWS"), RELEASED, NEAREST,
        quantity="ratio", **OVER_COUNTING, over_types=True, substitution=f"{VECTORS}; {SANITIZATIONS}"),
    Entry(at(method="Contextual K-ASR Bound vs Context-free ASR Bound"), not_comparable="unit"),
    Entry(at(method=f"Context-free ASR Bound minus {CONTEXT_FREE}"), "full-sst2.csv", SANTEXT_PLUS | FREE_BOUND,
        SANTEXT_PLUS | FREE, "difference", not_comparable="unit", as_published=SIZES, substitution=VECTORS),
    Entry(at(method=f"Contextual K-ASR Bound minus {CONTEXTUAL}"), not_comparable="unit"),
    Entry(at(method="Inversion BERT and Mask Token Inference vs each other attack"), "full-qnli.csv",
        SANTEXT_PLUS | COUNTING, SANTEXT_PLUS | FREE, "ratio", not_comparable="unit", as_published=SIZES,
        substitution=f"counting against the context-free attack, one of the six pairs; {VECTORS}"),
]

# --- Figure 5: names. The paper does not say which names, of which words, over which neighbours ---
NAMES = {"dataset": printed("dataset"), "defence": "custext+", "epsilon": printed("epsilon"), "targets": "census"}
FIGURE_5 = [
    Entry(at(method="Context-free ASR Bound vs Embedding Inversion Attack"), "names.csv", NAMES | FREE_BOUND,
        NAMES | INVERSION, "relative gain", not_comparable="unstated", as_published=SIZES,
        substitution=f"{VECTORS}; 20,000 public words; personal names by the census"),
    Entry(at(method="Contextual K-ASR Bound vs Inversion BERT", dataset="Yelp"), not_comparable="unstated"),
]

# --- settings, which are no results ---
PROTOCOL = CUSTEXT_4 | FREE | {"dataset": printed("dataset", OURS | {"all": "sst2"}), "shadow_ratio": 5}
PROTOCOL_SANTEXT = ANY_SANTEXT | FREE | {"dataset": PROTOCOL["dataset"], "epsilon": 2, "shadow_ratio": 5}
SETTINGS = [
    Entry(at(place="Sec 5.1", setting="private dataset"), RELEASED, PROTOCOL, column="n_private",
        no_result="setting"),
    Entry(at(place="Sec 5.1", setting="shadow dataset"), RELEASED, PROTOCOL, column="n_shadow",
        no_result="setting"),
    Entry(at(TONG, "Sec 5.1", defense="CUSTEXT+"), RELEASED, PROTOCOL, column="n_positions", no_result="setting"),
    Entry(at(TONG, "Sec 5.1", defense="SANTEXT+"), "full-sst2.csv", PROTOCOL_SANTEXT, column="n_positions",
        no_result="setting"),
    Entry(at(TONG, "App B", "CUSTEXT+"), RELEASED, PROTOCOL, column="defence.k", no_result="setting"),
    Entry(at(TONG, ["Sec 5.1", "Fig 4", "App B", "App D; App F.2", "App F.1", "App F"]), no_result="setting"),
    Entry(at(SANTEXT, ["Table 2", "Sec 5.1"]), no_result="setting"),
    Entry(at(SANTEXT, metric="runs"), no_result="setting"),
    Entry(at(SANTEXT, "Table 4"), no_result="text"),
    Entry(at(CUSTEXT, ["Fig 4", "Fig 5", "Sec 5.1"]), no_result="setting"),
    Entry(at(PAN, metric="minutes"), no_result="machine"),
    Entry(at(PAN, metric="iterations"), no_result="setting"),
    Entry(at(POOLER, metric=["d'", "width", "seeds", "sequences"]), no_result="setting"),
]

# --- CusText 2023: the query attack, under the paper's rule; the released code's beside it ---
QUERY = {"dataset": printed("dataset"), "defence": "custext", "normalise": "group", "epsilon": printed("epsilon")}
QUERY |= {"k": printed("K"), "word": printed("token")}
QUERIES = {
    "where": QUERY,
    "column": "queries",
    "is_count": True,
    "beside": {
        "scores normalised for each word, as in the released code": {"where": QUERY | {"normalise": "row"}},
    },
    "not_comparable": "vectors",
}
QUERY_ATTACK = [
    Entry(at(CUSTEXT, method="CusText (GloVe)", metric="queries N"), "query.csv", **QUERIES,
        substitution="GloVe-6B-50d for 300 dimensions"),
    Entry(at(CUSTEXT, method="CusText (Counter-Fitting)", metric="queries N"), "query-counter*.csv", **QUERIES,
        substitution="counter-fitted vectors made anew"),
    Entry(at(CUSTEXT, method="SANTEXT", metric="queries N"), not_comparable="unit"),
]

# --- SanText 2021 ---
SECONDS = {"tables": "sanitize-speed.csv", "column": "seconds", "scale": 0.0166666667, "no_result": "machine"}
SANTEXT_PAPER = [
    Entry(at(SANTEXT, "Sec 5.2", "SanText and SanText+"), where={"task": "peer_rt"}, **SECONDS,
        substitution="Rotten Tomatoes for SST-2; the published routine, rebuilt, on 2 cores"),
    Entry(at(SANTEXT, "Sec 5.2", "FBDD"), where={"task": "fbdd_one_by_one"}, **SECONDS,
        substitution="Rotten Tomatoes for SST-2; one word at a time, on 2 cores"),
    Entry(at(SANTEXT, "Sec 5.2"), no_result="machine"),
    # Its list of stop words, and what it counts as a word
    Entry(at(SANTEXT, "Sec 4.5"), "stop-words.csv", {"dataset": "sst2", "w": 0.9}, column="share", scale=100,
        not_comparable="unstated",
        substitution="our list of stop words; words with a vector in GloVe-6B for those in GloVe-840B"),
    # Of BERT's input vectors; chapter 9 has MiniLM's beside them, where epsilon has nearly that unit.
    Entry(at(SANTEXT, ["Sec 5.3; Fig 4", "Sec 5.5; Fig 5"]), not_comparable="encoder"),
]

# --- utility: SanText 2021, Table 1; CusText 2023, Tables 1 and 2. Ours are the frozen protocol's, on a thousand
# sentences. A paper's own rule for words without a row comes first: SanText's list is that of the task, CusText
# keeps such words. Where that was not run, such words were drawn at random, which the substitution says. ---
FROZEN = "MiniLM-L6, frozen, for BERT-base"
OTHER_TASK = {"column": "utility", "not_comparable": "protocol", "substitution": f"{FROZEN}; STS-B for MedSTS"}
READ = OTHER_TASK | {"substitution": f"{VECTORS}; {FROZEN}; STS-B for MedSTS"}
DRAWN = OTHER_TASK | {
    "substitution": f"{READ['substitution']}; a list of 10,000 frequent words, all others drawn at random"
}
TEXT = {"dataset": printed("dataset"), "task.text": "released", "task.protocol": "frozen"}
TASK_LIST = TEXT | {"defence": printed("mechanism_or_method"), "epsilon": printed("epsilon")}
TASK_LIST |= {"defence.oov": "uniform", "vocabulary": "data"}
RELEASED_TEXT = TASK_LIST | {"defence.similarity": ["euclidean", None], "vocabulary": FREQUENT}
KEPT = RELEASED_TEXT | {"defence.oov": "keep"}
SCORES = {"metric": ["accuracy", "Pearson r"]}
FBDD_SANTEXT = at(SANTEXT, "Table 1", ["FBDD (Feyisetan et al. 2020)", "SanText", "SanText+"])
CUSTEXT_UTILITY = at(CUSTEXT, ["Table 1", "Table 2"], ["CusText", "CusText+", "CusText (GloVe)"], **SCORES)
# Table 1 divides epsilon by the largest distance between two words: that has no unit. Table 2 counts per unit of
# distance.
RESCALED_ROWS = at(CUSTEXT, "Table 1", ["FBDD", "SANTEXT", "SANTEXT+"], **SCORES)
RESCALED = {"epsilon": printed("epsilon", {1.0: 0.049695, 2.0: 0.09939, 3.0: 0.149085})}
# The papers' own effort, where it was run: 60,000 phrases of SST-2, three epochs, every weight trained.
TUNED = {"column": "utility", "not_comparable": "smaller", "substitution": f"{VECTORS}; MiniLM-L6 for BERT-base"}
TUNED_TEXT = {"dataset": printed("dataset"), "task.protocol": "fine-tuned"}
UTILITY = [
    Entry(at([SANTEXT, CUSTEXT], "Table 1", ["Unsanitized", "Original"]), "papers-settings-sst2-original.csv",
        TUNED_TEXT | {"task.text": "original"}, **TUNED),
    Entry(at(SANTEXT, "Table 1", ["SanText", "SanText+"]), "papers-settings-sst2-oov.csv",
        TUNED_TEXT | {"defence": printed("mechanism_or_method"), "epsilon": printed("epsilon")}, **TUNED),
    Entry(at(CUSTEXT, ["Table 1", "Fig 4", "Fig 5"], "CusText+", **SCORES), "papers-settings-sst2-oov.csv",
        TUNED_TEXT | {"defence": "custext+", "epsilon": printed("epsilon")}, **TUNED),
    Entry(at([SANTEXT, CUSTEXT], "Table 1", ["Unsanitized", "Original"]), "utility-*-original.csv",
        {"dataset": printed("dataset"), "task.text": "original", "task.words": "text"}, **OTHER_TASK),
    Entry(at([SANTEXT, CUSTEXT], "Table 1", "Random"), "utility-*.csv", TEXT | {"defence": "random"},
        **OTHER_TASK),
    Entry(at(SANTEXT, "Table 1", ["SanText", "SanText+"]), "utility-oov*.csv", TASK_LIST, **READ),
    Entry(FBDD_SANTEXT, "utility-*.csv", RELEASED_TEXT, **DRAWN),
    Entry(CUSTEXT_UTILITY, "utility-oov*.csv", KEPT, **READ),
    Entry(CUSTEXT_UTILITY, "utility-*.csv", RELEASED_TEXT, **DRAWN),
    Entry(at(CUSTEXT, method="CusText (Counter-Fitting)", metric="accuracy"), "utility-oov-vectors.csv",
        {"dataset": printed("dataset"), "epsilon": printed("epsilon")}, column="utility",
        not_comparable="protocol",
        substitution=f"GloVe-6B-50d, counter-fitted anew, for the published vectors; {FROZEN}"),
    Entry(RESCALED_ROWS, "rescaled-*-oov.csv", KEPT | RESCALED, **READ),
    Entry(RESCALED_ROWS, "rescaled-*.csv", RELEASED_TEXT | RESCALED, **DRAWN),
    Entry(at(CUSTEXT, "Table 2", "SANTEXT", **SCORES), not_comparable="unit"),
]

# --- Pan 2020: a vector's leakage is a property of the encoder; only MiniLM is here, and the paper's random
# guess, one over a count of values ---
CITIZEN = {"encoder": "all-minilm-l6-v2", "pooling": "mean", "pairs": 200000, "steps": 100000}
CITIZEN |= {"segment": printed("segment")}
READ_CITIZEN = {
    "not_comparable": "encoder",
    "substitution": "MiniLM-L6 for BERT-base; numbers encoded once and used 64 times for fresh ones",
}
BLIND = {"column": "chance", "is_count": True, "substitution": "days of a calendar, counted"}  # sees no vector
VECTOR_READING = [
    *(
        Entry(at(PAN, "Table II", method, metric=f"Top-{top} accuracy"), "vectors-citizen-full.csv",
            CITIZEN | {"top": top}, **rule)
        for method, rule in (("Bert", READ_CITIZEN), ("Baseline (random guess)", BLIND))
        for top in (1, 5)
    ),
    Entry(at(PAN, dataset="Genome (HS3D)"), not_comparable="corpus"),
]

# --- Li et al. 2023. Means of ten sentences with special tokens, as the paper scores; S16 sets them side
# by side ---
WIDENED = "gradient-whole.csv has the widened pooler's attack, the paper's own, on a small victim alone, in pairs "
WIDENED += "and with a tenth of the steps"
NO_ROBERTA = "no victim here has RoBERTa's weights"
NO_ENCODER = "needs two encoders of the paper, of which none is here"
SENTENCE = {"dataset": printed("dataset"), "method": printed("mechanism_or_method"), "B": 1, "share": 1}
SENTENCE |= {"victim": "trained"}
TEN = {"mean_over": "batch", "scale": 100, "not_comparable": "few"}
PLAIN = TEN | {"substitution": "MiniLM-L6 after two epochs for BERT-base; ten sentences; one seed"}
SEARCHED = TEN | {
    "substitution": "MiniLM-L6 after two epochs for BERT-base; SmolLM2-135M for GPT-2; ten sentences; one seed"
}
LAMP = {"method": "LAMP_cos", "dataset": ["CoLA", "SST-2"]}
GRADIENTS = [
    Entry(at(POOLER, "Table 1", B=1, metric=f"ROUGE-{kind} F", **rows), tables, SENTENCE,
        column=f"rouge{kind} with specials", **rule)
    for rows, tables, rule in (
        ({"method": ["DLG", "TAG"]}, "gradients-plain.csv", PLAIN),
        (LAMP, ["gradients-lamp-phrases.csv", "gradients-match-trained.csv"], SEARCHED),
    )
    for kind in ("1", "2", "L")
]

# --- SanText 2021, Table 3, in the encoder's own space. Its encoder and effort are others. ---
PREPARED = {
    "tables": "utility-preparation-pieces.csv",
    "column": "utility",
    "not_comparable": "encoder",
    "substitution": "MiniLM-L6 and its input vectors for BERT-base's; 2,000 phrases, 600 batches of preparation",
}
TABLE_3 = [
    Entry(at(SANTEXT, "Table 3", method, dataset="SST-2"), where={"model": model, "epsilon": printed("epsilon")},
        **PREPARED)
    for method, model in (
        ("bert-base-uncased (Original)", "as published"),
        ("sanitisation-aware pretrained (+Pretrain)", "prepared"),
    )
]

# --- no row of ours: why, and what would make it ---
SEARCHES = ["DLG", "TAG", "LAMP_cos"]
NOT_HERE = [
    Entry(at(SANTEXT, ["Table 3", "Sec 5.4; Table 3"]), not_comparable="encoder"),
    Entry(at(CUSTEXT, ["Sec 5.2; Fig 4", "Sec 5.2; Fig 5"]), not_comparable="protocol"),
    Entry(at([SANTEXT, CUSTEXT]),
        not_run="data/sweeps/rescaled-stsb.yml and rescaled-qnli.yml, half an hour of a core each"),
    *GRADIENTS,
    Entry(at(POOLER, "Table 1", SEARCHES, B=[1, 4]),
        not_run="in data/sweeps/gradients-table-1.yml, days of two cores (6 to 14 minutes a sentence); ten "
        "sentences and another victim"),
    Entry(at(POOLER, "Table 1", SEARCHES), not_run="no specification has batches of 2 and 8 of this victim"),
    Entry(at(POOLER, ["Table 1", "Sec 5.2"]), not_run=WIDENED),
    Entry(at(POOLER, "Table 2"),
        not_run="in data/sweeps/gradients-table-1.yml with the unchanged pooler's features; the widened "
        "pooler's, on a small victim alone, in gradient-whole.csv"),
    Entry(at(POOLER, "Table 3"), not_run=NO_ROBERTA),
    # Figure 2, at its d' of 100 in place of 50 to 750
    Entry(at(POOLER, metric="cosine similarity (approximate)"), "gradient-tensors.csv",
        {"B": 1, "activation": "selu", "recovered": 100}, mean_over="batch", column="full",
        not_comparable="encoder",
        substitution="MiniLM-L6 with a fresh head for BERT-base; CoLA and rt; 5 restarts"),
    Entry(at(PAN, "Table II"),
        not_run="the encoder is not here; one of the Hugging Face hub can be named where there is a network"),
    Entry(at(PAN), not_run=NO_ENCODER),
]
# fmt: on

NUMBERS = [*TABLES_1_AND_2, *TABLE_4, *TIME, *FIGURE_4, *FIGURE_5, *SETTINGS, *QUERY_ATTACK, *SANTEXT_PAPER]
NUMBERS += [*UTILITY, *VECTOR_READING, *TABLE_3, *NOT_HERE]
