"""Are promises kept? Choices of epsilon on some documents, and what the same attacks take from others.

Choices are those of `textsan.choose_epsilon`; then the attacks that chose, unchanged, are made on documents that
were not used. The three promises are held against these, and so are the two columns that promise nothing of an
attack which reads. The later documents are of the same source; or they are not, and then nothing is promised.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from textsan.auditing.choosing import Chooser, Target, Trials, ordered
from textsan.auditing.material import material
from textsan.mechanisms import make_mechanism
from textsan.text.corpora import Record, load_dataset, normalised, private_and_shadow
from textsan.text.loading import load_embeddings

LATER = 1 << 20
"""The number of the first later document, of the noise."""

COPIES = "copies"
"""Later documents that are near copies of what the attacker owns; those that choose are none."""

COLUMNS = "guarantee", "channel", "source", "next document", "next text"
"""What a choice rests on."""

Docs = list[list[str]]


def promises(
    *,
    dataset: str,
    defence: str,
    words: str = "",
    documents: str = "",
    other: str | None = None,
    seed: int = 0,
    n_choose: int = 400,
    n_later: int = 400,
    n_shadow: int = 500,
    ahead: int = 20,
    among: int = 100,
    vocabulary: int = 5_000,
) -> list[dict]:
    """Hold choices of epsilon against later documents.

    Targets, with blanks between, are shares of scored `words` that may be named, and of `documents` that may be
    found among so many. `other` is a data set whose documents come later, too; or `COPIES`, of a set that says
    which documents are of one story: then those that choose, and the later ones of the source, have one version.
    `ahead` are the documents of a text to come. A row for each target, later documents and column of the choice:
    what, target, chose, later (which), column, epsilon (NaN where there is none), and of the attack that takes
    most from these documents at it: attack, share with ends, excess (H - a W, of all words), texts (of `ahead`
    documents), and texts_above.
    """
    choose, shadow, parts = _documents(dataset, other, seed, n_choose, n_shadow, n_later)
    known = load_embeddings().frequent(vocabulary)
    docs, _ = ordered(choose, None, seed)
    text = material(docs, make_mechanism(defence, known, epsilon=1.0), shadow=shadow, seed=seed)
    chooser = Chooser(defence, text, sample=n_choose)
    rows = []
    for what, shares in (("words", words), ("documents", documents)):
        tries = {name: Trials(chooser, _scored(text, docs), what, among, LATER) for name, docs in parts.items()}
        for share in map(float, shares.split()):
            target = Target(what, share, among)
            choice = chooser.choose([target], ahead=ahead)
            columns = {name: getattr(choice, name.replace(" ", "_")) for name in COLUMNS}
            about = {"what": what, "target": share, "chose": choice.documents}
            rows += [
                about | {"later": name, "column": column} | _taken(tried, share, epsilon, ahead)
                for name, tried in tries.items()
                for column, epsilon in columns.items()
            ]
    return rows


def _scored(found, docs: Docs) -> Docs:
    """Keep documents with a scored word, as of those that choose."""
    return [doc for doc in docs if any(word in found.attacked for word in doc)]


def _taken(tried: Trials, most: float, epsilon: float | None, ahead: int) -> dict:
    """Measure the strongest attack on later documents, and count the texts of which it takes too much."""
    if epsilon is None:
        nothing = dict.fromkeys(("share", "low", "high", "excess", "texts", "texts_above"), float("nan"))
        return {"epsilon": float("nan"), "attack": "", **nothing}
    name, hits = strongest(tried.named(epsilon))
    share, low, high = ratio(hits, tried.sizes)
    texts = len(hits) // ahead
    taken, asked = (one[: texts * ahead].reshape(texts, ahead).sum(axis=1) for one in (hits, tried.sizes))
    row = {"epsilon": epsilon, "attack": name, "share": share, "low": low, "high": high}
    excess = float((hits - most * tried.sizes).sum() / tried.sizes.sum())
    return row | {"excess": excess, "texts": texts, "texts_above": int((taken > most * asked).sum())}


def strongest(hits: Mapping[str, np.ndarray]) -> tuple[str, np.ndarray]:
    """Find the attack with most hits, by name and with its hits, (documents,)."""
    return max(hits.items(), key=lambda one: one[1].sum())


def ratio(hits: np.ndarray, sizes: np.ndarray) -> tuple[float, float, float]:
    """Compute H / W with a 95 % interval over documents, by the spread of H_d - (H / W) W_d (linearised).

    >>> ratio(np.array([1.0, 0.0, 2.0]), np.array([2.0, 2.0, 2.0]))[0]
    0.5
    """
    value = float(hits.sum() / sizes.sum())
    n = len(sizes)
    spread = 1.96 * np.sqrt(n / max(n - 1, 1) * ((hits - value * sizes) ** 2).sum()) / sizes.sum()
    return value, max(value - float(spread), 0.0), min(value + float(spread), 1.0)


def _documents(
    dataset: str, other: str | None, seed: int, n_choose: int, n_shadow: int, n_later: int
) -> tuple[Docs, Docs, dict[str, Docs]]:
    """Split into documents that choose, the attacker's, and later ones by kind; no text is in two of them."""
    records = load_dataset(dataset)
    if other == COPIES:
        choose, shadow, same, copies = _copies(records, seed, n_choose, n_shadow, n_later)
        return _tokens(choose), _tokens(shadow), {"same": _tokens(same), COPIES: _tokens(copies)}
    private, shadow = private_and_shadow(records, n_choose + n_later, n_shadow, seed)
    parts = {"same": _tokens(private[n_choose:])}
    if other is not None:
        parts[other] = _tokens(private_and_shadow(load_dataset(other), n_later, 0, seed)[0])
    return _tokens(private[:n_choose]), _tokens(shadow), parts


def _tokens(records: Sequence[Record]) -> Docs:
    return [list(record.tokens) for record in records]


def _copies(
    records: Sequence[Record], seed: int, n_choose: int, n_shadow: int, n_later: int
) -> list[list[Record]]:
    """Of stories with several versions the attacker has one, the others come later; all else is of single ones."""
    stories: dict = {}
    for number, record in enumerate(records):
        story = record.fields.get("part_of", ("record", number))
        stories.setdefault(story, {})[normalised(record.text)] = record
    versions = [list(story.values()) for story in stories.values()]
    versions = [versions[at] for at in np.random.default_rng(seed).permutation(len(versions))]
    several = [one for one in versions if len(one) > 1][: n_shadow // 2]
    single = [version[0] for version in versions if len(version) == 1]
    copies = [copy for one in several for copy in one[1:]][:n_later]
    ends = np.cumsum([n_choose, n_later, n_shadow - len(several)])
    if len(copies) < n_later or len(single) < ends[-1]:
        raise ValueError(f"n_later: {n_later} is too many for {len(copies)} copies; ask for fewer")
    alone = [single[: ends[0]], single[ends[0] : ends[1]], single[ends[1] : ends[2]]]
    return [alone[0], [one[0] for one in several] + alone[2], alone[1], copies]
