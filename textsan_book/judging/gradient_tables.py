"""The stored tables of attacks on gradients, joined for chapter 16 and its supplement, and two of its figures."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from textsan import plotting
from textsan.evaluation import Estimate, bootstrap_mean, clustered_difference, clustered_rate, hit_rate
from textsan.sweeps.tables import select
from textsan_book.judging.stored import mean, printed, table

CORPORA = {"cola": "CoLA", "sst2": "SST-2", "rt": "Rotten Tomatoes"}
SEARCHES = {"DLG": "DLG", "TAG": "TAG", "LAMP cos": "LAMP"}
PLAIN = ("noise", "pruning", "DP-SGD")
_PUBLISHED = ("gradients-plain.csv", "gradients-match-trained.csv", "gradients-lamp-phrases.csv")
_SEED = 0  # of bootstrap samples


def _mean(values) -> Estimate:
    """A mean over sentences, each its own group."""
    return bootstrap_mean(values, range(len(values)), seed=_SEED)


def _by_method(rows: pd.DataFrame, *by: str) -> pd.DataFrame:
    return rows.pivot_table(index=list(by or ["batch"]), columns="method", values="rouge1")


def exact() -> list[dict]:
    """Sum up the exact attack on whole sentences of three corpora, a row a batch size.

    Numbers of (piece, position) pairs that are `true`, that are true and were `found`, that `pass` and that the
    theorem predicts (`predicted`); `exact sentences` of `sentences`, and the largest `rank` of a gradient.
    """
    stored = table("gradients-spans.csv")
    batches = stored.groupby(["dataset", "B", "batch"], sort=False).first().reset_index()
    rows = []
    for size, some in batches.groupby("B"):
        row = {"sentences in a batch": size, "batches": len(some), "true": some.pairs.sum()}
        row |= {"found": some.found.sum(), "pass": some.accepted.sum(), "predicted": some.theory.sum()}
        row |= {"exact sentences": int(some.exact_sentences.sum()), "sentences": int(some.B.sum())}
        rows.append({**row, "rank": some["rank"].max()})
    return rows


def search(kind: str = "1", *, specials: bool = True) -> list[dict]:
    """Set the search attacks at the published effort beside the published means, a row a corpus and attack.

    `kind` of ROUGE is "1", "2" or "L"; `specials` counts the two special tokens that the attacker is given, as the
    papers do. `ours` is an estimate over ten sentences, `published` the mean of Table 1 of Li et al. 2023, both
    from 0 to 1.
    """
    stored, theirs = table(*_PUBLISHED), published(kind=kind)
    rows = []
    for corpus, name in CORPORA.items():
        for method, attack in SEARCHES.items():
            some = stored[(stored.dataset == corpus) & (stored.method == method)]
            if len(some):
                ours = _mean(some[f"rouge{kind} with specials" if specials else f"rouge{kind}"])
                row = {"corpus": name, "attack": attack, "ours": ours}
                rows.append(row | {"published": theirs[name, method.replace(" ", "_")]})
    return rows


def published(size: int = 1, *, kind: str = "1") -> dict[tuple[str, str], float]:
    """Read the ROUGE of Table 1 of Li et al. 2023 for batches of a size, from 0 to 1, by corpus and method."""
    rows = printed(paper="Li 2023", table_or_figure="Table 1", metric=f"ROUGE-{kind} F")
    rows = rows[rows.setting.str.endswith(f"B={size}")]
    names = zip(rows.dataset, rows.mechanism_or_method, strict=True)
    return dict(zip(names, rows.value.astype(float) / 100, strict=True))


def draw_search() -> np.ndarray:
    """Draw the search attacks with their published means, a panel a corpus."""
    _, axes = plt.subplots(1, len(CORPORA), figsize=(7.4, 3.2), sharey=True)
    rows, means = search(), published()
    for ax, corpus in zip(axes, CORPORA.values(), strict=True):
        some = [row for row in rows if row["corpus"] == corpus]
        at = range(len(some))
        plotting.points(ax, at, [row["ours"] for row in some], series=0, label="ours, MiniLM")
        theirs = [means[corpus, method.replace(" ", "_")] for method in SEARCHES]
        mark = plotting.look(role="published")
        ax.plot(range(len(theirs)), theirs, mark.marker, color=mark.colour, ms=9, label="published, BERT-base")
        ax.set(title=corpus, xlim=(-0.5, len(SEARCHES) - 0.5), ylim=(0, 1.05))
        ax.set_xticks(range(len(SEARCHES)), SEARCHES.values())
    axes[0].set(ylabel="ROUGE-1, as published")
    plotting.legend(axes[0].figure)
    return axes


def start() -> dict[str, Estimate]:
    """Compute the ROUGE-1 of TAG from two starts on two victims, and the gains of start and distance.

    Means over ten sentences: `TAG, small model` and `TAG, MiniLM` from the released start, the same with
    `, scaled start`; `LAMP, small model`; on the small model the gain of the scaled start over DLG and TAG
    (`start`), that of TAG's distance over both starts (`distance`), and the paired difference of these two.
    """
    full = _by_method(select(table("gradients-start.csv"), {"share": 1}))
    six = _by_method(table("gradients-start-trained.csv"))
    scaled = ", scaled start"
    by_start = sum(full[name + scaled] - full[name] for name in ("DLG", "TAG")) / 2
    by_distance = sum(full["TAG" + at] - full["DLG" + at] for at in ("", scaled)) / 2
    found = {"TAG, small model": full["TAG"], f"TAG, small model{scaled}": full["TAG" + scaled]}
    found |= {"LAMP, small model": full["LAMP cos"]}
    found |= {"TAG, MiniLM": six["TAG"], f"TAG, MiniLM{scaled}": six["TAG" + scaled]}
    found |= {"start": by_start, "distance": by_distance, "start less distance": by_start - by_distance}
    return {name: _mean(values) for name, values in found.items()}


def starts() -> list[dict]:
    """Compute the ROUGE-1 of DLG and TAG on the small model from two starts, by share of the steps and attack.

    Estimates over ten sentences `as released` and with a `scaled start`, their paired `difference`, and `LAMP`.
    """
    rows = []
    for share, some in table("gradients-start.csv").groupby("share"):
        wide = _by_method(some)
        for name in ("DLG", "TAG"):
            released, scaled = wide[name], wide[f"{name}, scaled start"]
            row = {"steps": f"{share:.0%}", "attack": name, "as released": _mean(released)}
            row |= {"scaled start": _mean(scaled), "difference": _mean(scaled - released)}
            rows.append(row | {"LAMP": _mean(wide["LAMP cos"])})
    return rows


def peer() -> list[dict]:
    """Compare DLG and TAG with those of the library `breaching`, on two sentences with three seeds each.

    Mean ROUGE-1 of `ours`, of theirs with our settings, with a tenth of our start besides, and with `its own`;
    `path` is the largest relative difference of distances along a search.
    """
    rows = table("gradients-peer.csv")
    runs = rows[rows.check == "ROUGE-1"].groupby(["attack", "side"]).value.mean()
    paths = rows[rows.check.str.startswith("path")].groupby("attack").value.max()
    sides = {"ours": "textsan", "breaching, our settings": "same settings"}
    sides |= {"and a tenth of our start": "same, a tenth", "its own": "its settings"}
    found = []
    for name in ("DLG", "TAG"):
        row = {"attack": name} | {label: runs[name, side] for label, side in sides.items()}
        found.append(row | {"path": paths.get(name)})
    return found


def trained_twice() -> list[dict]:
    """Set DLG and TAG on phrases of SST-2 with a victim trained on a GPU beside the same on a processor, and LAMP.

    A row a phrase and attack: the final `distance` and the ROUGE-1 of both, and that of LAMP, on a processor too.
    """
    sides = {"GPU": select(table("gradients-plain.csv"), {"dataset": "sst2"})}
    sides["CPU"] = table("gradients-plain-phrases.csv")
    sides = {on: rows.set_index(["batch", "method"]).sort_index() for on, rows in sides.items()}
    lamp = table("gradients-lamp-phrases.csv").set_index("batch").rouge1
    return [
        {"phrase": batch, "attack": method}
        | {f"distance, {on}": f"{rows.distance[batch, method]:.5f}" for on, rows in sides.items()}
        | {f"ROUGE-1, {on}": rows.rouge1[batch, method] for on, rows in sides.items()}
        | {"LAMP": lamp[batch]}
        for batch, method in sides["CPU"].index
    ]


def lost_by_distance() -> dict[str, float]:
    """Compare the distance at which DLG ended where it found no word with that of the other sentences.

    The numbers of sentences without a word (`none found`) and of `all`; the largest final distance of the first
    (`largest`) and the smallest of the others (`smallest of the others`).
    """
    rows = table("gradients-plain.csv").query("method == 'DLG'")
    lost = rows.rouge1 == 0
    found = {"none found": int(lost.sum()), "all": len(rows), "largest": float(rows.distance[lost].max())}
    return found | {"smallest of the others": float(rows.distance[~lost].min())}


def feature_match() -> list[dict]:
    """Compare LAMP guided by a feature with LAMP on the same gradients, the feature from the unchanged pooler.

    A row a victim, batch size and phase of the search: `LAMP`, its mean; the `difference`, an estimate over
    `batches`, and the gain that so many show with probability 0.8 (`shown`). Sizes with fewer than five batches
    are left out, as are attacks that chose as LAMP did.
    """
    stored = table("gradients-small.csv", "gradients-small-pairs.csv", "gradients-match-trained.csv")
    names = {"small": "small", "trained": "MiniLM"}
    rows = _guided(stored.assign(victim=stored.victim.map(names)), ["victim", "B"])
    return [row for row in rows if row["batches"] >= 5 and any(row["difference"])]


def whole_attack() -> list[dict]:
    """Compare the published attack as a whole, on a small victim, with LAMP: rows as of `feature_match`.

    `attack` names the feature that guides the search.
    """
    return _guided(table("gradient-whole.csv"), ["B"])


def _guided(stored: pd.DataFrame, by: list[str]) -> list[dict]:
    rows = []
    for key, some in stored.groupby(by):
        wide = _by_method(some, "batch", "sentence")
        for method in wide.columns.drop("LAMP cos"):
            both = wide[["LAMP cos", method]].dropna()
            batch = both.index.get_level_values("batch")
            gain = both[method] - both["LAMP cos"]
            row = dict(zip(by, key, strict=True)) | {"attack": method, "batches": batch.nunique()}
            row |= {"LAMP": both["LAMP cos"].mean(), "difference": bootstrap_mean(gain, batch, seed=_SEED)}
            spread = gain.groupby("batch").mean().std(ddof=1)
            rows.append(row | {"shown": 2.8 * spread / batch.nunique() ** 0.5})  # 1.96 + 0.84
    return rows


def defences(rule: str = "random") -> list[dict]:
    """Set what a first guess reads of single sentences beside what the client's model learns under each defence.

    The rule of sanitizers for out-of-vocabulary words is "random", which replaces them by random words (one seed),
    or "papers", which treats them as their papers do (three seeds, fewer settings). Of a share of 0 or 1 in one
    seed the interval is Wilson's, of words.
    """
    name = {"random": "gradients-defences.csv", "papers": "gradients-defences-oov.csv"}[rule]
    rows = []
    for (kind, size), some in table(name).groupby(["defence", "size"], sort=False):
        line = {"defence": kind, "setting": size, "words read": mean(some, "read")}
        if len(some) == 1 and some["read"].item() in (0, 1):
            line["words read"] = hit_rate([bool(some["read"].item())] * some.words.item())
        rows.append(line | {"accuracy": mean(some, "accuracy")})
    return rows


def sanitized(rows: list[dict]) -> tuple[tuple[float, float], tuple[float, float], tuple[int, int]]:
    """Sum up the sanitizers among rows of `defences`, next to noise of 1 and pruning of 0.9.

    The smallest and the largest share of words read, and of accuracy; the number of settings whose accuracy is
    below that of noise and of pruning by intervals that do not overlap, and the number of all.
    """
    mild = [row for row in rows if (row["defence"], row["setting"]) in (("noise", 1.0), ("pruning", 0.9))]
    some = [row for row in rows if row["defence"].endswith("+")]
    read, accuracy = ([row[name].value for row in some] for name in ("words read", "accuracy"))
    costly = sum(row["accuracy"].high < min(row["accuracy"].low for row in mild) for row in some)
    return (min(read), max(read)), (min(accuracy), max(accuracy)), (costly, len(some))


def majority() -> float:
    """Read the share of the more frequent label among the test sentences of `defences`."""
    return float(table("gradients-defences.csv").majority.iloc[0])


def draw_defences():
    """Draw the share of words that a first guess reads over the accuracy of the client's model."""
    _, ax = plt.subplots(figsize=(6.4, 4))
    rows = defences()
    (bare,) = (row for row in rows if row["defence"] == "none")
    for kind in dict.fromkeys(row["defence"] for row in rows if row is not bare):
        some = [row for row in rows if row["defence"] == kind]
        at, to = ([row[name] for row in some] for name in ("accuracy", "words read"))
        own = {"series": PLAIN.index(kind), "label": kind} if kind in PLAIN else {"mechanism": kind}
        plotting.points(ax, at, to, joined=True, **own)
    at = bare["accuracy"].low, bare["words read"].value
    ax.annotate("no defence", at, xytext=(-6, -4), textcoords="offset points", ha="right")
    ax.axvline(majority(), color=plotting.look(role="chance").colour, ls="--", label="more frequent label")
    ax.set(xlabel="accuracy", ylabel="words read", ylim=(-0.03, 1.08))
    plotting.legend(ax.figure)
    return ax


def reading() -> list[dict]:
    """Compute the share of pieces that three attackers read of a client's first batches under each defence.

    Defences are none, noise as large as the gradient and pruning of nine tenths. The shares `first guess`,
    `with a language model` and `without the gradient` are estimates, or numbers where there are fewer than
    five `batches`.
    """
    stored = table("gradients-reading.csv")
    rows = []
    for kind, size in {"none": 0, "noise": 1.0, "pruning": 0.9}.items():
        some = stored[(stored.defence == kind) & (stored["size"] == size) & ~stored.full.astype(bool)]
        for B, part in some.groupby("B"):
            row = {"defence": kind, "sentences in a batch": B}
            row["batches"] = len(part[["seed", "batch"]].drop_duplicates())
            names = {"first guess": "nearest", "with a language model": "beam", "without the gradient": "blind"}
            rows.append(row | {name: _share(part, column) for name, column in names.items()})
    return rows


def _share(rows: pd.DataFrame, column: str) -> Estimate | float:
    """Share of pieces that are right, resampled by batch; from fewer than five batches a number."""
    hits, groups = [], []
    for row in rows.to_dict("records"):
        hits += [i < row[column] for i in range(row["pieces"])]
        groups += [row["seed"] * 1000 + row["batch"]] * row["pieces"]
    return clustered_rate(hits, groups) if len(set(groups)) >= 5 else float(np.mean(hits))


def recovered(activation: str) -> dict[int, dict[str, Estimate]]:
    """Compute the mean cosine of recovered with true features, whole sentences of three corpora, d' = 100.

    `activation` is that of the widened pooler: selu, tanh or cube plus square; or own pooler, least squares on the
    unchanged one. By sentences in a batch, estimates over batches: `tensor` (in the row space of the gradient; of
    the own pooler the fit), and for a widened pooler `singular vectors`, `blind` (the mean of public features) and
    the paired difference `over blind`. Batches without a gradient are left out.
    """
    rows = table("gradients-features.csv")
    rows = rows[rows.method == activation].dropna(subset="cosine")
    found = {}
    for size, some in rows.groupby("B"):
        values = {"tensor": some.cosine}
        if activation != "own pooler":
            values |= {"singular vectors": some.svd, "blind": some.blind, "over blind": some.cosine - some.blind}
        found[size] = {name: bootstrap_mean(one, _batches(some), seed=_SEED) for name, one in values.items()}
    return found


def _batches(rows: pd.DataFrame) -> pd.Series:
    return rows.dataset + rows.batch.astype(str)


def draw_recovered():
    """Draw the cosine with true features over sentences in a batch, of tensors and of two baselines."""
    _, ax = plt.subplots()
    selu, tanh = recovered("selu"), recovered("tanh")
    lines = [("blind guess", selu, "blind"), ("singular vectors", selu, "singular vectors")]
    lines += [("tensor, SELU", selu, "tensor"), ("tensor, tanh", tanh, "tensor")]
    for series, (label, means, column) in enumerate(lines):
        at, values = [size * 1.03**series for size in means], [row[column] for row in means.values()]
        plotting.points(ax, at, values, series=series, label=label, joined=True)
    ax.set(xscale="log", xlabel="sentences in a batch", ylabel="cosine with true features", ylim=(0, 1.05))
    ax.set_xticks(list(selu), [str(size) for size in selu])
    ax.set_xticks([], minor=True)
    plotting.legend(ax.figure)
    return ax


def tensors(name: str = "gradient-tensors.csv") -> list[dict]:
    """Compare the paper's tensor with blind guess, singular vectors and the tensor in the gradient's row space.

    `gradient-relu.csv` has two orders of tensors for ReLU, the other table the third alone. A row an activation,
    d', order and batch size `B`: estimates over batches of the cosine with true features (`blind`, `singular
    vectors`, `paper's tensor`, `row space`), paired differences (`over blind` and `over singular vectors` of the
    third, `row space over blind`), and the same without the direction of the public mean (`inner, ...`).
    """
    rows = table(name).dropna(subset="floor")
    rows, found = rows if "order" in rows else rows.assign(order=3), []
    for (activation, d, size, order), some in rows.groupby(["activation", "recovered", "B", "order"], sort=False):
        row = {"activation": activation, "d'": d, "B": size, "order": order}
        for kind, before in (("", ""), (" inner", "inner, ")):
            full, floor, singular = (some[f"{column}{kind}"] for column in ("full", "floor", "svd"))
            values = {"blind": floor, "singular vectors": singular, "paper's tensor": full}
            values |= {"row space": (reduced := some[f"reduced{kind}"]), "over blind": full - floor}
            values |= {"over singular vectors": full - singular, "row space over blind": reduced - floor}
            for name, one in values.items():
                row[before + name] = bootstrap_mean(one, _batches(some), seed=_SEED)
        found.append(row)
    return found


def own_pooler() -> tuple[int, int]:
    """Count features that least squares on the unchanged pooler finds to rounding error, and all features."""
    rows = table("gradients-features.csv").query("method == 'own pooler'")
    return int(((rows.error < 1e-5) & (rows.cosine > 0.999)).sum()), len(rows)


def broken_promises(promise: float = 0.01) -> tuple[int, int]:
    """Count the settings in which the test for one piece raises more false alarms than promised, and all settings.

    A promise is broken if the whole interval is above it; settings have an interval from five batches on.
    """
    rates = []
    for _, some in table("gradients-reading.csv").groupby(["defence", "size", "B"]):
        once = some.sort_values("tried").groupby(["seed", "batch"], as_index=False).last()
        if len(once) >= 5:
            hits = [i < row.alarms for row in once.itertuples() for i in range(row.tried)]
            rates.append(clustered_difference([float(hit) for hit in hits], np.repeat(once.index, once.tried)))
    return sum(rate.low > promise for rate in rates), len(rates)


def factor_speed() -> dict[str, tuple[float, float, float]]:
    """Read by which factor distances of gradients are faster by factors, for many at once and for a step.

    By kind of work the median, the lowest and the highest of five rounds.
    """
    rows = table("gradient-factors.csv")
    ends = zip(rows.ratio, rows.lowest, rows.highest, strict=True)
    return dict(zip(rows.what, ends, strict=True))


def learning() -> list[dict]:
    """Compute the accuracy that a defence costs at each batch size, on the same test sentences.

    A row a defence, setting and size; `difference` is that from no defence at this size, an estimate over test
    sentences, None for no defence.
    """
    right = {}
    for row in table("gradients-learning.csv").to_dict("records"):
        packed = np.frombuffer(bytes.fromhex(row["right"]), np.uint8)
        right[row["defence"], row["size"], row["B"]] = np.unpackbits(packed, count=row["test"])
    rows = []
    for (kind, size, B), hits in right.items():
        row = {"defence": kind, "setting": size, "sentences in a batch": B, "accuracy": hit_rate(hits)}
        gap = hits.astype(float) - right["none", 0, B]
        rows.append(row | {"difference": None if kind == "none" else clustered_difference(gap, range(len(gap)))})
    return rows
