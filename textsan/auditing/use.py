"""What a release keeps of a label: how well a reader of sanitized text tells the classes that the owner has.

With the extra `models` the reader is a frozen encoder with a logistic head, else it counts words (multinomial
naive Bayes). It learns from released documents and is asked about others, released alike; the same on the
originals says what sanitizing costs.
"""

from collections.abc import Sequence
from importlib.util import find_spec
from typing import Any

import numpy as np

from textsan.auditing.material import Material
from textsan.evaluation import hit_rate

FOLDS = 5
"""Parts of the text, each of which is asked about once by a reader of the others."""

_FEWEST = 10  # documents of a class, at least: rarer classes are left out


def kept(
    material: Material, labels: Sequence[str | None], size: int, *, encoder: bool | None = None
) -> dict[str, Any]:
    """How often a reader names the class of a document, released and original, beside the largest class.

    Args:
        material: what is audited.
        labels: a class a document; None or "" has none and is left out, like classes of fewer than ten documents.
        size: documents that an encoder reads, at most.
        encoder: whether it reads; None is where torch and scikit-learn are installed.

    Returns:
        for json: `reader`, `documents`, `classes`, `largest` (the share of the largest class), and `released` and
        `original` with their intervals.

    Raises:
        ValueError: not as many labels as documents, or fewer than two classes that are large enough.
    """
    if len(labels) != len(material.docs):
        raise ValueError(f"labels: {len(labels)} for {len(material.docs)} documents; pass one a document")
    encoder = all(map(find_spec, ("torch", "sklearn", "transformers"))) if encoder is None else encoder
    given = np.array([label or "" for label in labels], dtype=object)
    names, counts = np.unique(given[given != ""].astype(str), return_counts=True)
    names = names[counts >= _FEWEST]
    if len(names) < 2:
        what = f"{len(names)} classes have {_FEWEST} documents or more"
        raise ValueError(f"labels: {what}; pass a column with two such classes at least, or none")
    generator = np.random.default_rng(material.seed)
    some: Any = np.flatnonzero(np.isin(given.astype(str), names))
    if encoder and len(some) > size:
        some = np.sort(generator.choice(some, size, replace=False))
    classes = np.searchsorted(names, given[some].astype(str))
    fold = generator.permutation(len(some)) % FOLDS
    read = _encoded if encoder else _counted
    found = {}
    for what, docs in (("released", material.released), ("original", material.docs)):
        rate = hit_rate(read([docs[d] for d in some], classes, fold) == classes)
        found[what] = {"value": rate.value, "low": rate.low, "high": rate.high}
    largest = float(np.bincount(classes).max() / len(some))
    reader = "a frozen encoder with a logistic head" if encoder else "word counts (naive Bayes)"
    return {"reader": reader, "documents": len(some), "classes": len(names), "largest": largest, **found}


def _counted(docs: Sequence[Sequence[str]], classes: np.ndarray, fold: np.ndarray) -> np.ndarray:
    """Answers of multinomial naive Bayes with one word more of each, fold by fold."""
    number: dict[str, int] = {}
    rows = [np.array([number.setdefault(word, len(number)) for word in doc], dtype=np.intp) for doc in docs]
    answers = np.zeros(len(docs), dtype=np.intp)
    for part in range(FOLDS):
        counts = np.ones((classes.max() + 1, max(len(number), 1)))
        for row in np.flatnonzero(fold != part):
            np.add.at(counts[classes[row]], rows[row], 1)
        seen = np.bincount(classes[fold != part], minlength=len(counts)) + 1.0
        logs = np.log(counts) - np.log(counts.sum(axis=1, keepdims=True))
        for row in np.flatnonzero(fold == part):
            answers[row] = int((np.log(seen) + logs[:, rows[row]].sum(axis=1)).argmax())
    return answers


def _encoded(docs: Sequence[Sequence[str]], classes: np.ndarray, fold: np.ndarray) -> np.ndarray:
    """Answers of a logistic head on the vectors of a frozen encoder, fold by fold."""
    from sklearn.linear_model import LogisticRegression

    from textsan.utility import Pieces
    from textsan.utility.frozen import sentence_vectors

    vectors = sentence_vectors([list(doc) for doc in docs], Pieces())
    answers = np.zeros(len(docs), dtype=np.intp)
    for part in range(FOLDS):
        head = LogisticRegression(C=10.0, max_iter=1000)
        head.fit(vectors[fold != part], classes[fold != part])
        answers[fold == part] = head.predict(vectors[fold == part])
    return answers
