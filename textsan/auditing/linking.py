"""Link releases to their originals among other documents of the text.

The attacker owns candidates, the original among them, and names the one that most easily becomes the release. The
control seeks a document that was never released in the original's place; the baseline knows the length alone.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from textsan.attacks import Linkage, Ranks
from textsan.auditing.material import Material
from textsan.base import checks
from textsan.evaluation import Estimate, hit_rate

AMONG = 300
"""Documents that an original is sought among, itself included, unless another number is asked for."""

_OTHER_WORDS = 0.9  # of a person, off the texts that are known
_POOL = 20_000  # documents that others are drawn from, at most: 80 MB for 500 releases


def linked(material: Material, *, among: int = AMONG, size: int) -> dict[str, Any]:
    """Measure how often a release is linked to its own original, beside a control and a baseline.

    So many releases (`size`) are sought among so many documents, the original and others of the text at random, at
    most 20,000. Each share is a mean over all draws of the others, and of several likeliest candidates one is
    named at random. A copy of the original counts as the original.
    """
    checks.whole("among", among, low=2)
    generator = np.random.default_rng([material.seed, 1])
    pool = [d for d, doc in enumerate(material.docs) if doc]
    among = min(among, len(pool))
    if len(pool) > _POOL:
        pool = np.sort(generator.choice(pool, _POOL, replace=False)).tolist()
    targets = np.sort(generator.choice(len(pool), min(size, len(pool)), replace=False))
    candidates, released = [material.docs[d] for d in pool], [material.released[pool[at]] for at in targets]
    strangers = _strangers(material, [len(doc) for doc in released], generator)
    everyone = candidates + [stranger or [""] for stranger in strangers]
    scores = Linkage.against(material.knowledge(told=True)).log_likelihoods(released, everyone)
    rows, alone = np.arange(len(targets)), len(candidates)
    doubles = copies([candidates[at] for at in targets], candidates)
    doubles[rows, targets] = False
    scores[:, :alone][doubles] = -np.inf  # to name a copy is to name the document
    main = Ranks.of(scores[rows, targets], scores[:, :alone]).success(among)
    lengths = np.array([len(doc) for doc in candidates])
    same = np.where((lengths[targets][:, None] == lengths) & ~doubles, 0.0, -np.inf)
    length = Ranks.of(np.zeros(len(rows)), same).success(among)
    known = np.array([stranger is not None for stranger in strangers])
    scores[rows, targets] = -np.inf  # the original is not among them: the stranger stands in its place
    control = Ranks.of(scores[rows, alone + rows], scores[:, :alone], inside=False).success(among)[known]
    return {
        "among": among,
        "releases": len(targets),
        "main": _share(main)._asdict(),
        "length": float(length.mean()),
        "controls": int(known.sum()),
        "control": _share(control)._asdict() if known.any() else None,
        "excess": _excess(_share(main[known]), _share(control))._asdict() if known.any() else None,
    }


def copies(docs: Sequence[Sequence[str]], candidates: Sequence[Sequence[str]]) -> np.ndarray:
    """Tell which candidates have the very words of each document, (documents, candidates).

    >>> copies([["a", "b"]], [["a", "b"], ["b", "a"]])
    array([[ True, False]])
    """
    number: dict[tuple[str, ...], int] = {}
    numbered = ([number.setdefault(tuple(doc), len(number)) for doc in some] for some in (docs, candidates))
    own, theirs = map(np.array, numbered)
    return own[:, None] == theirs


def halved(docs: Sequence, members: Sequence[Sequence[int]]) -> list[tuple[list[int], list[int]]]:
    """Return the documents of each person that an attacker has, and the others; of persons with two texts or more.

    >>> halved([["a"], ["b"], ["c"], []], [[0, 2, 3], [1]])
    [([0], [2])]
    """
    full = ([d for d in some if docs[d]] for some in members)
    return [(some[::2], some[1::2]) for some in full if len(some) > 1]


def by_words(material: Material, halves: Sequence[tuple[list[int], list[int]]]) -> np.ndarray:
    """Compute log-likelihoods of the releases of each person under the words of each, (persons, persons)."""
    released = [material.released[d] for _, others in halves for d in others]
    known = [[word for d in some for word in material.docs[d]] for some, _ in halves]
    attack = Linkage.against(material.knowledge(told=True), changed=_OTHER_WORDS)
    starts = np.cumsum([0, *(len(others) for _, others in halves)])[:-1]
    return np.add.reduceat(attack.source_likelihoods(released, known), starts)


def persons(members: Sequence[Sequence[int]], scores: np.ndarray, among: int) -> dict[str, Any]:
    """Measure how often a person is identified by releases, by somebody who has other texts of each person.

    Scores are (persons with two texts, the same persons), of a person's releases by another one's known texts. In
    the control the releases are of another person, who is no candidate; there is no such part where fewer than
    three persons have two texts.
    """
    about = {"persons": len(members), "most": max(map(len, members)), "linkage": None}
    if (n := len(scores)) < 3:
        return about
    main = _share(Ranks.of(scores.diagonal(), scores).success(min(among, n)))
    scores = np.roll(scores, 1, axis=0)
    scores[np.arange(n), np.arange(n) - 1] = -np.inf
    control = _share(Ranks.of(scores.diagonal(), scores).success(min(among, n)))
    rates = {"main": main, "control": control, "excess": _excess(main, control)}
    return about | {"linkage": {"persons": n, "among": min(among, n)} | {k: v._asdict() for k, v in rates.items()}}


def _strangers(material: Material, lengths: Sequence[int], generator: np.random.Generator) -> list:
    """For each length a document of the attacker's that is as long, drawn anew for each; None if there is none."""
    by_length: dict[int, list] = {}
    for doc in material.shadow:
        by_length.setdefault(len(doc), []).append(doc)
    alike = [by_length.get(length) for length in lengths]
    return [docs[int(generator.integers(len(docs)))] if docs else None for docs in alike]


def _share(chances: np.ndarray) -> Estimate:
    """A mean of chances with Wilson's interval at their number: wide enough, as ties only narrow it."""
    n, value = len(chances), float(chances.mean())
    whole = hit_rate(np.arange(n) < round(value * n))
    return Estimate(value, min(whole.low, value), max(whole.high, value))


def _excess(main: Estimate, control: Estimate) -> Estimate:
    """The difference of two shares of the same releases, with Newcombe's interval."""
    value = main.value - control.value
    below = np.hypot(main.value - main.low, control.high - control.value)
    above = np.hypot(main.high - main.value, control.value - control.low)
    return Estimate(value, float(max(value - below, -1)), float(min(value + above, 1)))
