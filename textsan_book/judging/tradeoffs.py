"""Utility at equal disclosure, from stored tables: classifiers compared on the same test examples.

The share of words that a best guess recovers has one unit for all sanitizers, and epsilon has not. So the answers
of a classifier are interpolated between two epsilons, example by example, and compared at equal V(X | Y) on words
that all sanitizers protect, or at equal exposure, which counts every word. The rule: one of two is better at a
level where the 95 % interval of the paired difference, by test example, of all seeds together, is on one side of 0
*and* every seed leans there; else undecided.
"""

from collections.abc import Mapping, Sequence
from itertools import combinations

import numpy as np
import pandas as pd
from sklearn.isotonic import IsotonicRegression

from textsan import plotting
from textsan.evaluation import Estimate, clustered_difference
from textsan.sweeps.tables import difference, pooled, select
from textsan_book.judging import stored
from textsan_book.judging.stored import called

SANITIZERS = ("santext+", "santext", "custext+", "custext")
COUNTS = {"common": "words that all protect", "exposure": "all words"}
POINTS = 5  # levels of equal disclosure for each pair
_GRIDS = {  # by the rule for unlisted words: tables of the classifiers, and one of what the releases disclose
    "draw": ("utility-sst2.csv utility-sst2-between.csv utility-sst2-custext.csv", "utility-sst2-exposure.csv"),
    "keep": ("utility-oov.csv utility-oov-between.csv", "utility-oov-all-exposure.csv"),
}
_FRONTIER = "utility-sst2-frontier.csv"
_SETTING = ["defence", "epsilon"]


def hits(row: Mapping) -> np.ndarray:
    """Read which test examples a row of a task with classes answers rightly, (n_test,) of 0 and 1, from its signs.

    >>> hits({"right": "+.+"})
    array([1., 0., 1.])
    """
    signs = row.get("right")
    if not isinstance(signs, str) or not signs:
        raise ValueError("row: it has no signs, its answers are numbers; compare `utility` itself")
    return np.array([sign == "+" for sign in signs], dtype=float)


def paired(rows: pd.DataFrame, others: pd.DataFrame) -> Estimate:
    """Compute the utility of rows minus that of others, seed by seed, with a 95 % interval.

    Of an accuracy the interval is by test example, of both learners and all seeds together. Of other metrics,
    signs or not, the rows' own intervals are added as if independent, which is rather too wide.
    """
    theirs = {row["seed"]: row for row in others.to_dict("records")}
    pairs = [(row, theirs[row["seed"]]) for row in rows.to_dict("records") if row["seed"] in theirs]
    if not pairs:
        raise ValueError("others: no seed in common with the rows; pass rows of the same sweep")
    if pairs[0][0]["metric"] != "accuracy":
        free = ("defence", "epsilon", "defence_parameters")
        return pooled([difference(*pair, "utility", "utility", free) for pair in pairs])
    return _by_example(np.array([hits(one) - hits(other) for one, other in pairs]))


def at(rows: pd.DataFrame, vulnerability: float) -> np.ndarray | None:
    """Interpolate the rightness of each test example for a mechanism's learner at a V(X | Y), a row a seed.

    Between two epsilons the answers, 0 or 1, are interpolated linearly in V, of each seed by itself. None where a
    seed's V does not enclose it; a V that does not rise with epsilon is an error.
    """
    by_seed = []
    for _, group in rows.sort_values("epsilon").groupby("seed"):
        reached = group.vulnerability.to_numpy(dtype=float)
        if (np.diff(reached) < -1e-9).any():
            raise ValueError("rows: V(X | Y) does not rise with epsilon; it cannot be matched on")
        above = int(np.searchsorted(reached, vulnerability))
        if above == len(reached) or (above == 0 and reached[0] > vulnerability):
            return None
        low, high = max(above - 1, 0), above
        gap = reached[high] - reached[low]
        weight = (vulnerability - reached[low]) / gap if gap else 1.0
        lower, other = (hits(group.iloc[i].to_dict()) for i in (low, high))
        by_seed.append((1 - weight) * lower + weight * other)
    return np.array(by_seed)


def matched(rows: pd.DataFrame, others: pd.DataFrame, vulnerability: float) -> tuple[Estimate, str]:
    """Compute the utility of one mechanism minus that of another at equal V(X | Y), with the verdict of the rule.

    It is "first", "second", "undecided", or "out of reach" with a difference of NaN.
    """
    first, other = at(rows, vulnerability), at(others, vulnerability)
    if first is None or other is None or first.shape != other.shape:
        return Estimate(np.nan, np.nan, np.nan), "out of reach"
    gaps = first - other
    difference, leaning = _by_example(gaps), gaps.mean(axis=1)
    is_first, is_second = difference.low > 0 and min(leaning) > 0, difference.high < 0 and max(leaning) < 0
    return difference, "first" if is_first else "second" if is_second else "undecided"


def verdicts(rows: pd.DataFrame, others: pd.DataFrame, points: int) -> list[str]:
    """List the verdicts of `matched` at so many levels of equal exposure that both reach."""
    sides = [side.assign(vulnerability=side.exposure) for side in (rows, others)]
    return [matched(sides[0], sides[1], level)[1] for level in common_range(sides, points)]


def common_range(some: Sequence[pd.DataFrame], points: int = POINTS) -> np.ndarray:
    """Space values of V(X | Y) evenly over what all mechanisms reach under every seed, if there is anything."""
    reached = [mechanism.groupby("seed").vulnerability for mechanism in some]
    low, high = max(seeds.min().max() for seeds in reached), min(seeds.max().min() for seeds in reached)
    return np.linspace(low, high, points) if low < high else np.array([])


def grid(unlisted: str = "draw") -> pd.DataFrame:
    """Load the classifiers of sentiment on SST-2 that learnt from releases of four sanitizers.

    Words on no list are replaced by uniform random words ("draw") or released unchanged ("keep"). A row a
    sanitizer, epsilon and seed, with `common`, V(X | Y) of the words that all four protect, and `exposure`. Under
    "draw" it also has `lost`, the mean distance of a word and its release; `least`, the least at its exposure; and
    `linked`, the share of documents of three words that are named.
    """
    names, disclosed = _GRIDS[unlisted]
    rows = stored.table(*names.split()).dropna(subset="utility").drop(columns="vulnerability")
    rows, key = rows[rows.defence.isin(SANITIZERS)], [*_SETTING, "seed"]
    rows = rows.merge(stored.table(disclosed)[[*key, *COUNTS]], on=key)
    if unlisted == "draw":
        distances = stored.table("utility-sst2-distances.csv")
        rows = rows.merge(distances[[*key, "lost", "least", "linked"]], on=key)
    return rows


def original() -> float:
    """Compute the accuracy of the same classifier on the original text, a mean over seeds."""
    return float(_original().utility.mean())


def _original() -> pd.DataFrame:
    rows = stored.table("utility-sst2-original.csv")
    return rows[rows["task.words"] == "text"]


def settings(rows: pd.DataFrame) -> list[dict]:
    """Compute what each sanitizer at each epsilon of `grid` discloses, and what it keeps of the task.

    `kept` is an estimate: accuracy above chance over that of the original, which counts as known.
    """
    whole, found = original(), []
    for (sanitizer, epsilon), seeds in rows.groupby(_SETTING):
        line = {"sanitizer": sanitizer, "setting": called(sanitizer, epsilon), "epsilon": float(epsilon)}
        line |= {column: float(seeds[column].mean()) for column in COUNTS}
        found.append(line | {"kept": _share(seeds, whole)})
    return found


def _accuracy(rows: pd.DataFrame) -> Estimate:
    return stored.mean(rows, "utility")


def _share(rows: pd.DataFrame, whole: float) -> Estimate:
    chance = rows.chance.mean()
    return Estimate(*(float((end - chance) / (whole - chance)) for end in _accuracy(rows)))


def matches(rows: pd.DataFrame, column: str, pairs: Sequence[tuple[str, str]], points: int = POINTS) -> list[dict]:
    """Compare pairs of sanitizers at so many levels of equal disclosure that both reach under every seed.

    What is disclosed is a key of `COUNTS`. A row a pair and level (`at`): difference, accuracy of the first less
    that of the second; better, a key of the registry, or "undecided".
    """
    found, rows = [], rows.assign(vulnerability=rows[column])
    for pair in pairs:
        both = [rows[rows.defence == name] for name in pair]
        for level in common_range(both, points):
            gap, verdict = matched(both[0], both[1], level)
            better = dict(zip(("first", "second"), pair, strict=True)).get(verdict, verdict)
            found.append({"pair": pair, "at": float(level), "difference": gap, "better": better})
    return found


PAIRS = tuple(combinations(SANITIZERS, 2))
"""All pairs of the four sanitizers."""


def wins() -> list[dict]:
    """Count for each pair of sanitizers how often each is better at equal disclosure, under both rules and counts.

    A row a pair, and a last one of what is undecided; in each column, a count of words and a rule for unlisted
    ones, "wins of the first : wins of the second".
    """
    lines: list[dict] = [{"pair": " : ".join(map(called, pair))} for pair in PAIRS]
    last: dict = {"pair": f"undecided, of {POINTS * len(PAIRS)}"}
    for column, words in COUNTS.items():
        for rule in _GRIDS:
            found, name = matches(grid(rule), column, PAIRS), f"{words}, {rule}"
            for line, pair in zip(lines, PAIRS, strict=True):
                better = [one["better"] for one in found if one["pair"] == pair]
                line[name] = " : ".join(str(better.count(one)) for one in pair)
            last[name] = str(sum(one["better"] == "undecided" for one in found))
    return [*lines, last]


def keeping(points: int = POINTS) -> list[dict]:
    """Compare the two rules for unlisted words under each sanitizer, at equal epsilon and at equal exposure.

    A row a sanitizer: the least and the largest gain in accuracy of releasing them unchanged at one epsilon, two
    estimates; the numbers of epsilons, and of levels of exposure, at which that is better by the rule.
    """
    drawn, kept = (grid(rule) for rule in _GRIDS)
    lines = []
    for name in SANITIZERS:
        both = [rows[rows.defence == name] for rows in (kept, drawn)]
        gains, better = zip(*_gains(*both), strict=True)
        line = {"sanitizer": called(name), "least gain": min(gains), "largest": max(gains)}
        line["better at equal ε"] = f"{sum(better)} of {len(better)}"
        found = verdicts(*both, points)
        lines.append(line | {"at equal exposure": f"{found.count('first')} of {len(found)}"})
    return lines


def _gains(kept: pd.DataFrame, drawn: pd.DataFrame):
    """At each epsilon the paired difference, and whether the rule decides for the first."""
    for epsilon, rows in kept.groupby("epsilon"):
        others = drawn[drawn.epsilon == epsilon]
        gain, by_seed = paired(rows, others), [paired(one, others).value for _, one in rows.groupby("seed")]
        yield gain, gain.low > 0 and min(by_seed) > 0


def shared() -> float:
    """Compute the share of all words that SanText+ protects, at least that of the words that all four protect.

    The share of its words to protect that are listed is `coverage`; the others are all unlisted words.
    """
    rows = grid()
    rows = rows[rows.defence == "santext+"]
    unlisted = stored.table(_GRIDS["draw"][1]).groupby("seed").unlisted.first()
    listed = rows.coverage / (1 - rows.coverage) * unlisted[rows.seed].to_numpy()
    return float(listed.mean())


def added() -> tuple[float, float]:
    """Compute how much more of a document is disclosed where unlisted words are released unchanged.

    The smallest and the largest difference of exposures, over sanitizers, epsilons and seeds.
    """
    drawn, kept = (grid(rule).set_index([*_SETTING, "seed"]).exposure for rule in _GRIDS)
    rise = (kept - drawn).dropna()
    return float(rise.min()), float(rise.max())


def tuned() -> list[dict]:
    """Compare a frozen encoder with one that is fine-tuned, on 60,000 phrases, unlisted words drawn.

    A row a setting, the original text first: common and exposure, of 1,000 phrases; accuracy of the fine-tuned
    encoder; "frozen keeps" and "fine-tuned keeps", two estimates, as in `settings`.
    """
    rows, texts = _papers_size()
    disclosed = {one["setting"]: {column: one[column] for column in COUNTS} for one in settings(grid())}
    lines: list[dict] = [{"setting": "original text"} | dict.fromkeys(COUNTS, 1.0)]
    lines[0] |= {"accuracy": _accuracy(texts["fine-tuned"])}
    for setting, some in rows.groupby(_SETTING):
        name, read = called(*setting), by_protocol(some)
        line = {"setting": name} | disclosed[name] | {"accuracy": _accuracy(read["fine-tuned"])}
        kept = {f"{how} keeps": _share(one, texts[how].utility.mean()) for how, one in read.items()}
        lines.append(line | kept)
    return [lines[0], *sorted(lines[1:], key=lambda line: line["exposure"])]


def tuned_difference(first: tuple[str, float], second: tuple[str, float]) -> dict[str, Estimate]:
    """Compute the accuracy from one release of `tuned` less that from another, by protocol."""
    rows, texts = _papers_size()
    ours, theirs = (by_protocol(select(rows, dict(zip(_SETTING, one, strict=True)))) for one in (first, second))
    return {name: paired(ours[name], theirs[name]) for name in texts}


def _papers_size() -> tuple[pd.DataFrame, dict[str, pd.DataFrame]]:
    """Rows of releases, and by protocol those of the original text."""
    texts = by_protocol(stored.table("papers-settings-sst2-original.csv"))
    return stored.table("papers-settings-sst2.csv"), texts


def by_protocol(rows: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Divide rows of learners by protocol: frozen and fine-tuned."""
    return {how: select(rows, {"task.protocol": how}) for how in ("frozen", "fine-tuned")}


def least_distance() -> list[dict]:
    """Compare each sanitizer with the channel that loses the least distance between words at equal exposure.

    A row a sanitizer: from, to, the smallest and the largest of its distance over the least possible one, where
    exposure is below 0.7; wins of the channel of least distance on the task, and its losses, of three levels;
    named, the smallest share of documents of three words that are named among 1,000.
    """
    marks, rows, lines = stored.table(_FRONTIER), grid(), []
    channel = marks.assign(epsilon=marks.success)
    for name in SANITIZERS:
        mine = rows[rows.defence == name]
        times, found = (mine.lost / mine.least)[mine.exposure < 0.7], verdicts(channel, mine, 3)
        line = {"sanitizer": called(name), "from": float(times.min()), "to": float(times.max())}
        line |= {"wins": found.count("first"), "losses": found.count("second"), "levels": len(found)}
        lines.append(line | {"named": float(mine.linked.min())})
    return lines


def at_mixture(without: Sequence[float] = ()) -> list[dict]:
    """Compare all pairs of sanitizers at equal success of the mixture of attacks, measured under one seed.

    Success is measured, so it may fall where epsilon rises; such values are pooled with their neighbours, or left
    out (`without`). Rows as of `matches`; what the measurement of success is off is in no interval.
    """
    attacked = stored.table("utility-sst2-mixture.csv").sort_values("epsilon")
    by_name = [rows for _, rows in attacked.groupby("defence")]
    rising = [rows.assign(mixture=IsotonicRegression().fit_transform(rows.epsilon, rows.asr)) for rows in by_name]
    key = [*_SETTING, "seed"]
    rows = grid().merge(pd.concat(rising)[[*key, "mixture"]], on=key)
    return matches(rows[~rows.epsilon.isin(without)], "mixture", PAIRS)


def without_noise() -> tuple[float, Estimate, float]:
    """Compute the loss of SanText at its largest epsilon, where next to no noise is left.

    Its V(X | Y) on words that all protect; the accuracy from the original text less that from its release; the
    share of unlisted words, each replaced by a uniform random word.
    """
    rows = grid()
    rows = rows[rows.defence == "santext"]
    rows = rows[rows.epsilon == rows.epsilon.max()]
    return float(rows.common.mean()), paired(_original(), rows), float(1 - rows.coverage.mean())


def facts() -> list[dict]:
    """Compute all that is disclosed, lost and kept of each setting, means over seeds; columns as of `grid`.

    Exposure is also that where unlisted words are released unchanged; accuracy is under both rules.
    """
    drawn, kept = (dict(iter(grid(rule).groupby(_SETTING))) for rule in _GRIDS)
    lines = []
    for setting, rows in drawn.items():
        means = {name: float(rows[name].mean()) for name in (*COUNTS, "linked", "lost", "least")}
        line = {"setting": called(*setting)} | means | {"exposure, keep": float(kept[setting].exposure.mean())}
        lines.append(line | {"accuracy, draw": _accuracy(rows), "accuracy, keep": _accuracy(kept[setting])})
    return lines


def yardstick() -> dict[str, float]:
    """Compare the channel of least distance with SanText at the smallest exposure that it was tried at.

    `common` and `santext` are V(X | Y) on words that all protect, of the channel and of SanText, interpolated;
    `named` is the smallest share of documents of three words that the channel names.
    """
    marks, rows = stored.table(_FRONTIER), grid()
    low = marks[marks.success == marks.success.min()]
    curve = rows[rows.defence == "santext"].groupby("epsilon")[list(COUNTS)].mean()
    other = np.interp(low.exposure.mean(), curve.exposure, curve.common)
    found = {"exposure": low.exposure.mean(), "common": low.common.mean(), "santext": other}
    return {name: float(value) for name, value in (found | {"named": marks.linked.min()}).items()}


_NAMES_AT = {"santext": (0.2, 0.1), "santext+": (0.57, 0.6), "custext": (0.38, -0.03), "custext+": (0.75, 0.36)}
_WRITTEN = {"santext": (1, 3, 3.5, 4, 5, 6), "santext+": (), "custext": (1, 8, 10), "custext+": (1, 8, 12)}


def draw_settings(ax, rows: Sequence[Mapping]) -> None:
    """Draw what is kept of the task over the exposure of a document, a band for each sanitizer."""
    for sanitizer in SANITIZERS:
        mine = sorted((one for one in rows if one["sanitizer"] == sanitizer), key=lambda one: one["exposure"])
        look = plotting.look(mechanism=sanitizer)
        across = [one["exposure"] for one in mine]
        middle, low, high = np.transpose([one["kept"] for one in mine])
        ax.fill_between(across, low, high, color=look.colour, alpha=0.12, linewidth=0)
        ax.plot(across, middle, look.line, color=look.colour, marker=look.marker, markersize=5)
        ax.annotate(look.label, _NAMES_AT[sanitizer], color=look.colour, ha="center", weight="bold")
        above = {"xytext": (0, 7 if sanitizer == "santext" else -14), "textcoords": "offset points"}
        for one in mine:
            if one["epsilon"] in _WRITTEN[sanitizer]:
                place, number = (one["exposure"], one["kept"].value), f"{one['epsilon']:g}"
                ax.annotate(number, place, color=look.colour, ha="center", fontsize=7, **above)
    ax.axhline(1, color="0.4", linewidth=1)
    ax.axvline(0.5, color="0.4", linewidth=1, linestyle=":")
    ax.set(xlabel="exposure: disclosed share of a document", ylabel="kept share of the task", xlim=(0, 0.9))


def draw_pairs(axes, rows: pd.DataFrame, pairs: Sequence[tuple[str, str]]) -> None:
    """Draw differences in accuracy at equal disclosure, a panel a pair, once for each count of words."""
    for ax, pair in zip(axes, pairs, strict=True):
        for series, (column, words) in enumerate(COUNTS.items()):
            found = matches(rows, column, [pair])
            levels, gaps = ([one[name] for one in found] for name in ("at", "difference"))
            plotting.points(ax, levels, gaps, label=f"counting {words}", series=series, joined=True)
        plotting.theory(ax, [0, 1], [0, 0], role="chance", label="")
        ax.set(title=" minus ".join(map(called, pair)))
        ax.set(xlabel="equal share of these words disclosed", xlim=(-0.03, 1.03))
    axes[0].set_ylabel("difference in accuracy")


def _curve(rows: pd.DataFrame, sanitizer: str, column: str) -> tuple[list[float], list[Estimate]]:
    """Return what is disclosed at each epsilon, and the accuracy there."""
    by_epsilon = [some for _, some in rows[rows.defence == sanitizer].groupby("epsilon")]
    return [float(some[column].mean()) for some in by_epsilon], [_accuracy(some) for some in by_epsilon]


def draw_least_distance(axes, rows: pd.DataFrame) -> None:
    """Draw accuracy over the share of named documents, and the distance lost over exposure, with the least one."""
    left, right = axes
    marks = stored.table(_FRONTIER)
    for sanitizer in SANITIZERS:
        plotting.points(left, *_curve(rows, sanitizer, "linked"), mechanism=sanitizer, joined=True)
        mine = rows[rows.defence == sanitizer].groupby("epsilon")[["exposure", "lost"]].mean()
        exact = [(value, value, value) for value in mine.lost]
        plotting.points(right, mine.exposure, exact, mechanism=sanitizer, label="", joined=True)
    accuracies = [_accuracy(some) for _, some in marks.groupby("success")]
    means = marks.groupby("success")[["linked", "exposure", "lost"]].mean()
    plotting.points(left, means.linked, accuracies, role="bound", label="least distance, no ε")
    plotting.points(right, means.exposure, [(value, value, value) for value in means.lost], role="bound", label="")
    below = rows.groupby(_SETTING)[["exposure", "least"]].mean().sort_values("exposure")
    plotting.theory(right, below.exposure, below.least, role="bound", label="no channel below")
    left.set(xlabel="share of documents named", ylabel="accuracy", xlim=(-0.03, 1.03))
    right.set(xlabel="exposure", ylabel="distance between words, lost", xlim=(-0.03, 1.03))


def draw_rules(axes) -> None:
    """Draw accuracy over both counts where unlisted words are released, and pale lines where they are replaced."""
    drawn, kept = (grid(rule) for rule in _GRIDS)
    for ax, (column, words) in zip(axes, COUNTS.items(), strict=True):
        for sanitizer in SANITIZERS:
            plotting.points(ax, *_curve(kept, sanitizer, column), mechanism=sanitizer, joined=True)
            levels, accuracies = _curve(drawn, sanitizer, column)
            values = [one.value for one in accuracies]
            for line in plotting.theory(ax, levels, values, mechanism=sanitizer, label=""):
                line.set_alpha(0.5)
        plotting.theory(ax, [-1, 2], [original()] * 2, role="bound", label="original text")
        ax.set(xlabel=f"disclosed of {words}", xlim=(-0.03, 1.03))
    axes[0].set_ylabel("accuracy")


def _by_example(gaps: np.ndarray) -> Estimate:
    """Mean of (seeds, n) differences with the interval of n examples."""
    return clustered_difference(gaps.ravel(), np.tile(np.arange(gaps.shape[1]), len(gaps)))
