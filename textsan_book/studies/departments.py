"""The department that a description of a report belongs to, after defences of vectors, beside the keyword attack.

Pan et al. 2020 (section V-A) motivate the attack on medical text by a service that sends patients to one of ten
departments: a linear layer on released vectors. Here it learns on what a defended service releases, and so does
the attacker.
"""

from collections import Counter

from textsan.evaluation import hit_rate
from textsan.text.corpora import Record, load_dataset, normalised, private_and_shadow
from textsan_book.studies.experiments import columns, takes_settings
from textsan_book.studies.vector_defences import Part, attacked, releases, used
from textsan_book.studies.vectors import View

DEPARTMENTS = (
    "Cardiovascular / Pulmonary",
    "Orthopedic",
    "Gastroenterology",
    "Neurology",
    "Urology",
    "Obstetrics / Gynecology",
    "ENT - Otolaryngology",
    "Ophthalmology",
    "Hematology - Oncology",
    "Nephrology",
)
"""The specialties of the medical reports that are departments (no kind of report is) and have the most texts of
their own; neurosurgery shares most of its texts with neurology and orthopedics."""


def filed(records: list[Record]) -> list[Record]:
    """Select each text once, if it is filed under exactly one of the ten departments."""
    under: dict[str, dict[str, Record]] = {}
    for record in records:
        if record.label in DEPARTMENTS:
            under.setdefault(normalised(record.text), {})[record.label] = record
    return [record for labels in under.values() if len(labels) == 1 for record in labels.values()]


@takes_settings
def departments(
    view: View, *, dataset: str, keywords: str, n: int, vocabulary: int, defence: str, strength: float, seed: int
) -> list[dict]:
    """Measure the accuracy of the department and the keyword attack under one defence, a row a keyword.

    Keywords have blanks between. `n` texts are released, and as many are the attacker's and the analyst's;
    vocabulary, defence and strength are those of `vector_defences.releases`. Rows have area and balanced accuracy
    of the linear attack, accuracy of the department, the share of the most frequent one, and in how many released
    texts the keyword is.
    """
    service, asked = releases(view.encode, defence, strength, vocabulary=vocabulary, seed=seed)
    sides = zip(
        private_and_shadow(filed(load_dataset(dataset, split="all")), n, n, seed), (service, asked), strict=True
    )
    released, own = (Part(part, encode([record.text for record in part])) for part, encode in sides)
    utility = hit_rate(used(released, own, lambda record: record.label))
    majority = Counter(record.label for record in released.records).most_common(1)[0][1] / n
    rows = []
    for keyword in keywords.split():
        score = attacked(released, own, keyword, "linear", seed=seed)
        row = {"keyword": keyword, "positives": score.positives, "majority": majority}
        row |= {**columns(score.auc), **columns(score.balanced, "balanced_"), **columns(utility, "utility_")}
        rows.append(row)
    return rows
