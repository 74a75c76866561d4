"""Two papers' pictures of utility against parameters and against mask inference, from stored tables of SST-2."""

from collections.abc import Sequence

import numpy as np

from textsan import Channel, plotting
from textsan.base.project import project_data
from textsan.evaluation import Estimate, clustered_rate
from textsan.privacy.deniability import expected_deniability
from textsan.sweeps.hits import load_hits
from textsan.text.embeddings import Embeddings
from textsan_book.judging import stored, tradeoffs

LISTS = {"10,000 frequent words": "tradeoff-w-p.csv", "words of the task": "tradeoff-w-p-words.csv"}
"""Tables of SanText+ over w and p at an epsilon of 2, by the list of words."""
_CORNERS = {"w = 0.10, p = 0.1": (0.1, 0.1), "w = 0.95, p = 0.9": (0.95, 0.9)}
_MASKED = {
    "GloVe": ("tradeoff-mask-oov.csv", "mask-public-oov.csv"),
    "counter-fitted": ("tradeoff-mask-vectors.csv", "mask-public-vectors.csv"),
}  # by vectors: where accuracy is, and where mask inference is with the reader that passes its gate
_SQUARE = ["defence.w", "defence.p"]


def corners() -> list[dict]:
    """Compare the accuracy under SanText+ at two opposite corners of the square of w and p, a row a list of words.

    The difference is on the same test examples.
    """
    lines = []
    for name, file in LISTS.items():
        cells = dict(iter(stored.table(file).groupby(_SQUARE)))
        line: dict = {"list": name} | {label: stored.mean(cells[at], "utility") for label, at in _CORNERS.items()}
        lines.append(line | {"difference": tradeoffs.paired(*(cells[at] for at in _CORNERS.values()))})
    return lines


def task_words() -> tuple[int, int, int]:
    """Count the settings of w and p at which accuracy over words of the task is higher, lower, and all of them.

    A setting counts where the 95 % interval of the paired difference to 10,000 frequent words is on one side of 0.
    """
    frequent, task = (dict(iter(stored.table(file).groupby(_SQUARE))) for file in LISTS.values())
    gaps = [tradeoffs.paired(task[at], frequent[at]) for at in task]
    return sum(gap.low > 0 for gap in gaps), sum(gap.high < 0 for gap in gaps), len(gaps)


def draw_w_p(axes) -> None:
    """Draw accuracy and V(X | Y) of sensitive words under SanText+ over p, a line a w and a column a list."""
    for (above, below), (name, file) in zip(np.transpose(axes), LISTS.items(), strict=True):
        for series, (w, rows) in enumerate(stored.table(file).groupby("defence.w")):
            by_p = {p: stored.mean(some, "utility") for p, some in rows.groupby("defence.p")}
            across = [p + 0.012 * (series - 1.5) for p in by_p]  # no interval covers another
            plotting.points(above, across, list(by_p.values()), series=series, label=f"w = {w:g}", joined=True)
            success = rows.groupby("defence.p").vulnerability.mean()
            plotting.theory(below, success.index, success, series=series, label="")
        plotting.theory(above, [0, 1], [tradeoffs.original()] * 2, role="bound", label="original text")
        above.set_title(name, fontsize=9)
        below.set(xlabel="p", ylim=(0, 1))
    axes[0][0].set_ylabel("accuracy")
    axes[1][0].set_ylabel("V(X|Y)")


def deniability(embeddings: Embeddings, words: int = 200, draws: int = 1000, seed: int = 0) -> list[dict]:
    """Compute how often a word stays under SanText and how many come out of it, next to the accuracy on SST-2.

    A row an epsilon; N_x and S_x are medians over so many random words, from so many releases of each.
    """
    some = np.sort(np.random.default_rng(seed).choice(len(embeddings.words), words, replace=False))
    names, rows, lines = [embeddings.words[i] for i in some], tradeoffs.grid(), []
    distances = embeddings.distances(names)
    for epsilon, seeds in rows[rows.defence == "santext"].groupby("epsilon"):
        weights = np.exp(-epsilon * distances / 2)
        channel = Channel.from_matrix(weights / weights.sum(axis=1, keepdims=True), names, embeddings.words)
        expected, _ = expected_deniability(channel, draws)
        line = {"epsilon": float(epsilon), "accuracy": stored.mean(seeds, "utility")}
        medians = {"N_x": expected.unchanged, "S_x": expected.distinct_outputs}
        lines.append(line | {name: float(np.median(values)) for name, values in medians.items()})
    return lines


def draw_deniability(axes, lines: Sequence[dict]) -> None:
    """Draw accuracy and the share of words that stay over epsilon, and the number of different outputs."""
    left, right = axes
    epsilon, accuracy, stays, outputs = ([line[name] for line in lines] for name in lines[0])
    plotting.points(left, epsilon, accuracy, series=3, label="accuracy")
    plotting.theory(left, epsilon, stays, series=0, label="$N_x$")
    plotting.theory(right, epsilon, outputs, series=1, label="$S_x$")
    left.set(xlabel="ε", ylabel="accuracy, probability", ylim=(0, 1.02))
    right.set(xlabel="ε", ylabel="words of 10,000", yscale="log")
    for ax in axes:
        ax.legend()


def masks() -> list[dict]:
    """Load mask inference and the accuracy on SST-2 of SanText and CusText, means over seeds, a row a setting.

    `k` is the size of CusText's groups, or 0; `recovered` is the attack's success; `V`, the best guess of a word.
    """
    lines = []
    for vectors, (learnt, masked) in _MASKED.items():
        rows = stored.table(learnt, masked)
        rows = rows[rows.task.notna() | (rows.table == masked)]
        rows["k"] = rows["defence.k"].fillna(0).astype(int) if "defence.k" in rows else 0
        for (sanitizer, k, epsilon), some in rows.groupby(["defence", "k", "epsilon"]):
            line = {"vectors": vectors, "sanitizer": sanitizer, "k": int(k), "epsilon": float(epsilon)}
            line["recovered"] = stored.mean(some[some.attack == "mask inference"], "asr")
            line["accuracy"] = stored.mean(some[some.task.notna()], "utility")
            lines.append(line | {"V": float(some.vulnerability.mean())})
    return lines


def draw_masks(axes, lines: Sequence[dict]) -> None:
    """Draw accuracy over the share of words that mask inference misses, settings joined in the order of epsilon.

    The axes are one for each kind of vectors.
    """
    missed = [1 - line["recovered"].value for line in lines]
    for ax, vectors in zip(axes, _MASKED, strict=True):
        mine = [line for line in lines if line["vectors"] == vectors]
        for name, k in dict.fromkeys((line["sanitizer"], line["k"]) for line in mine):
            some = [line for line in mine if (line["sanitizer"], line["k"]) == (name, k)]
            across, kept = [1 - line["recovered"].value for line in some], [line["accuracy"] for line in some]
            label = stored.called(name) + (f", K = {k}" if k else "")
            look = {"series": {5: 1, 20: 2, 50: 3}[k]} if k else {"mechanism": name}
            plotting.points(ax, across, kept, label=label, joined=True, **look)
        plotting.theory(ax, [0, 1], [tradeoffs.original()] * 2, role="bound", label="original text")
        ax.set(title=vectors, xlabel="share missed", xlim=(min(missed) - 0.01, max(missed) + 0.01))
    axes[0].set_ylabel("accuracy")


def at_equal_masks() -> list[dict]:
    """Compare the accuracy of CusText (K = 20) and SanText where mask inference recovers as many words, on SST-2.

    Rows as of `textsan_book.judging.tradeoffs.matches`; a level is the attack's success, a mean over seeds.
    """
    learnt, masked = (stored.table(file) for file in _MASKED["GloVe"])
    key = ["defence", "defence.k", "epsilon"]
    recovered = masked.groupby(key, dropna=False).asr.mean().rename("recovered").reset_index()
    rows = learnt[learnt.task.notna() & ~learnt["defence.k"].isin([5, 50])].merge(recovered, on=key)
    return tradeoffs.matches(rows, "recovered", [("custext", "santext")])


def marks() -> dict[str, tuple[Estimate, int]]:
    """Compute how often mask inference recovers words with a letter or a digit, and how often punctuation marks.

    By kind its success, where unlisted words are released unchanged, and the number of attacked positions.
    """
    name = _MASKED["GloVe"][1]
    rows, hits = stored.table(name), load_hits(project_data() / "results" / name)
    attacked, found = [hits[row] for row in rows[rows.attack == "mask inference"].index], {}
    for kind, lettered in {"words": True, "marks": False}.items():
        of_kind = [(one["hit"], one["source"], one["letter"] == lettered) for one in attacked]
        hit, source = (np.concatenate([one[i][one[2]] for one in of_kind]) for i in (0, 1))
        found[kind] = clustered_rate(hit, source), len(hit)
    return found
