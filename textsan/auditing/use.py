"""Measure what a release keeps of a label: how well a classifier of sanitized text tells the owner's classes.

With the extra `models` the classifier is a frozen encoder with a logistic head, else it counts words (multinomial
naive Bayes). It learns from released documents and is asked about others, released alike; the same on the
originals says what sanitizing costs.
"""

from collections.abc import Callable, Mapping, Sequence
from importlib.util import find_spec
from typing import Any

import numpy as np

from textsan.auditing.material import Material
from textsan.evaluation import hit_rate

FOLDS = 5
"""Parts of the text, each of which is classified once by a classifier that was trained on the others."""

_FEWEST = 10  # documents of a class, at least: rarer classes are left out


def kept(material: Material, labels: Sequence[str | None], size: int) -> dict[str, Any]:
    """Measure how often the class of a document is told, released and original, beside the largest class."""
    given: dict[str, Any] = {"labels": labels, "size": size, "seed": material.seed}
    return beside(told(material.released, **given), told(material.docs, **given))


def beside(released: Mapping[str, Any], original: Mapping[str, Any]) -> dict[str, Any]:
    """Return the two results of `told` as one, for json."""
    about = {name: original[name] for name in ("reader", "documents", "classes", "largest")}
    return about | {"released": released["rate"], "original": original["rate"]}


def told(
    docs: Sequence[Sequence[str]],
    labels: Sequence[str | None],
    size: int,
    *,
    seed: int = 0,
    encoder: bool | None = None,
) -> dict[str, Any]:
    """Measure how often the class of a document is told, beside the largest class.

    Documents without a label (None or "") are left out, like classes of fewer than ten. An encoder reads where
    torch and scikit-learn are installed, or as is said, `size` documents at most; the seed is of these and of the
    folds.

    >>> told([["good"], ["bad"]] * 50, ["yes", "no"] * 50, 100, encoder=False)["rate"]["value"]
    1.0
    """
    if len(labels) != len(docs):
        raise ValueError(f"labels: {len(labels)} for {len(docs)} documents; pass one a document")
    encoder = all(map(find_spec, ("torch", "sklearn", "transformers"))) if encoder is None else encoder
    names_of_rows = np.array([label or "" for label in labels], dtype=object).astype(str)
    names, counts = np.unique(names_of_rows[names_of_rows != ""], return_counts=True)
    names = names[counts >= _FEWEST]
    if len(names) < 2:
        what = f"{len(names)} classes have {_FEWEST} documents or more"
        raise ValueError(f"labels: {what}; pass a column with two such classes at least, or none")
    generator = np.random.default_rng(seed)
    rows: Any = np.flatnonzero(np.isin(names_of_rows, names))
    if encoder and len(rows) > size:
        rows = np.sort(generator.choice(rows, size, replace=False))
    classes = np.searchsorted(names, names_of_rows[rows])
    fold = generator.permutation(len(rows)) % FOLDS
    classified = _encoded if encoder else _counted
    rate = hit_rate(classified([docs[d] for d in rows], classes, fold) == classes)._asdict()
    largest = float(np.bincount(classes).max() / len(rows))
    reader = "a frozen encoder with a logistic head" if encoder else "word counts (naive Bayes)"
    return {"reader": reader, "documents": len(rows), "classes": len(names), "largest": largest, "rate": rate}


Fit = Callable[[np.ndarray], Callable[[np.ndarray], np.ndarray]]


def _folds(fit: Fit, fold: np.ndarray) -> np.ndarray:
    """Answers for all rows, each of the classifier that was fitted on the rows of the other folds."""
    answers = np.zeros(len(fold), dtype=np.intp)
    for part in range(FOLDS):
        answers[fold == part] = fit(fold != part)(fold == part)
    return answers


def _counted(docs: Sequence[Sequence[str]], classes: np.ndarray, fold: np.ndarray) -> np.ndarray:
    """Answers of multinomial naive Bayes with one word more of each."""
    number: dict[str, int] = {}
    rows = [np.array([number.setdefault(word, len(number)) for word in doc], dtype=np.intp) for doc in docs]

    def fit(train):
        counts = np.ones((classes.max() + 1, max(len(number), 1)))
        for row in np.flatnonzero(train):
            np.add.at(counts[classes[row]], rows[row], 1)
        seen = np.log(np.bincount(classes[train], minlength=len(counts)) + 1.0)
        logs = np.log(counts) - np.log(counts.sum(axis=1, keepdims=True))
        return lambda test: [(seen + logs[:, rows[row]].sum(axis=1)).argmax() for row in np.flatnonzero(test)]

    return _folds(fit, fold)


def _encoded(docs: Sequence[Sequence[str]], classes: np.ndarray, fold: np.ndarray) -> np.ndarray:
    """Answers of a logistic head on the vectors of a frozen encoder."""
    from sklearn.linear_model import LogisticRegression

    from textsan.utility import Pieces
    from textsan.utility.frozen import sentence_vectors

    vectors = sentence_vectors([list(doc) for doc in docs], Pieces())

    def fit(train):
        head = LogisticRegression(C=10.0, max_iter=1000).fit(vectors[train], classes[train])
        return lambda test: head.predict(vectors[test])

    return _folds(fit, fold)
