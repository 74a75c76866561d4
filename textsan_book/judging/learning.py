"""Stored tables of learners on sanitized text: accuracy, losses, the rule for unlisted words, and pretraining.

Sanitizers treat a word that is not on their list by one of two rules: *draw* puts a uniform random word in its
place, *keep* releases it unchanged. The list has the 10,000 most frequent words of GloVe, or those of the task.
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations, product

import numpy as np
import pandas as pd

from textsan import plotting
from textsan.evaluation import Estimate
from textsan.sweeps.tables import over, pooled, select
from textsan_book.judging import stored, tradeoffs
from textsan_book.judging.stored import called

SETTINGS = ("custext+", 16.0), ("custext+", 3.0), ("santext+", 3.0), ("santext", 3.0)
"""Mechanisms and epsilons of the tables at the papers' size."""
_LARGE = {"papers": "papers-settings-sst2-oov.csv", "10,000 words": "papers-settings-sst2.csv"}
_WHOLE = "papers-settings-sst2-original.csv"
_DRAWN = ("utility-sst2.csv", "utility-sst2-noise.csv")
_KEPT = ("utility-oov.csv", "utility-oov-between.csv")
_LISTED = ("utility-oov-words.csv", "utility-oov-words-all.csv")
_SANTEXT, _CUSTEXT = "SanText 2021", "CusText 2023"


def _rows(*names: str) -> pd.DataFrame:
    rows = stored.table(*names)
    if "task.words" in rows:  # what learns from words that are looked up as pieces is another experiment
        rows = rows[rows["task.words"] == "text"]
    return rows


def _released(*names: str) -> pd.DataFrame:
    return select(_rows(*names), {"task.text": "released"})


def _learnt(rows: pd.DataFrame, column: str = "utility") -> Estimate:
    return stored.mean(rows, column)


def _printed(paper: str, table: str) -> pd.Series:
    """Return the accuracies on SST-2 that a table prints, by method and setting."""
    rows = stored.printed(paper=paper, table_or_figure=table, dataset="SST-2", metric="accuracy")
    return rows.set_index(["mechanism_or_method", "setting"]).value.astype(float)


def _printed_loss(name: str, epsilon: float) -> float:
    """Return the accuracy on the original SST-2 that a mechanism's paper prints, minus that of the mechanism."""
    accuracy = _printed(_CUSTEXT if name.startswith("custext") else _SANTEXT, "Table 1")
    [whole] = accuracy.xs("no sanitisation", level="setting")
    kept, start = accuracy[called(name)], f"embedding=GloVe; epsilon={epsilon:g};"
    [kept] = (value for setting, value in kept.items() if f"{setting};".startswith(start))
    return whole - kept


def papers_size() -> list[dict]:
    """Compute what is learnt from 60,000 sanitized phrases of SST-2 under the papers' rules, over the seeds.

    The list has the words of the task; CusText+ keeps others, SanText and SanText+ draw. A row for the original
    text and each of `SETTINGS`: `text`, `V(X | Y)`; accuracies, `frozen` and `fine-tuned`; `loss`, the original
    text's fine-tuned accuracy minus this one on the same phrases, and the `printed loss` of the mechanism's paper
    or None.
    """
    whole, large = tradeoffs.by_protocol(_rows(_WHOLE)), _rows(_LARGE["papers"])
    lines: list[dict] = [{"text": "original", "V(X | Y)": None} | {how: _learnt(whole[how]) for how in whole}]
    lines[0] |= {"loss": None, "printed loss": None}
    for name, epsilon in SETTINGS:
        rows = select(large, {"defence": name, "epsilon": epsilon})
        read = tradeoffs.by_protocol(rows)
        line = {"text": called(name, epsilon), "V(X | Y)": float(rows.vulnerability.mean())}
        line |= {how: _learnt(some) for how, some in read.items()}
        line |= {"loss": tradeoffs.paired(whole["fine-tuned"], read["fine-tuned"])}
        lines.append(line | {"printed loss": None if epsilon > 3 else _printed_loss(name, epsilon)})
    return lines


def pairs() -> list[dict]:
    """Compare all settings of 60,000 phrases that follow one rule, two at a time, on the same test phrases.

    A row a pair: `rule` ("papers" or "10,000 words"), `pair`, and the differences `frozen` and `fine-tuned`.
    """
    lines = []
    for rule, table in _LARGE.items():
        groups = _rows(table).groupby(["defence", "epsilon"], sort=False)
        cells = {cell: tradeoffs.by_protocol(rows) for cell, rows in groups}
        for one, other in combinations(cells, 2):
            gaps = {how: tradeoffs.paired(rows, cells[other][how]) for how, rows in cells[one].items()}
            lines.append({"rule": rule, "pair": f"{called(*one)} − {called(*other)}"} | gaps)
    return lines


def spread() -> float:
    """Compute how far fine-tuned accuracies of two seeds of one setting of 60,000 phrases lie apart, at most."""
    rows = select(_rows(*_LARGE.values()), {"task.protocol": "fine-tuned"})
    by_setting = rows.groupby(["table", "defence", "epsilon"]).utility
    return float((by_setting.max() - by_setting.min()).max())


def agreement(rows: Iterable[Mapping]) -> dict[str, int]:
    """Count the rows of `pairs` that both protocols decide, by an interval on one side of 0, and how.

    `pairs` in all, those decided `alike`, `against` each other, and by `one alone`.
    """
    signs = [[int(row[how].low > 0) - int(row[how].high < 0) for how in ("frozen", "fine-tuned")] for row in rows]
    both = [first * second for first, second in signs]
    found = {"pairs": len(signs), "alike": both.count(1), "against": both.count(-1)}
    return found | {"one alone": sum(pair.count(0) == 1 for pair in signs)}


def rules_at_papers_size() -> list[dict]:
    """Compute what list and rule change for a fine-tuned learner of 60,000 phrases, over the seeds of both.

    A row for each of `SETTINGS`: `text`, `change`, the papers' rules minus drawing with 10,000 words, and the
    shares of the words to protect that are unlisted under both, `unlisted` and `of 10,000`. The last row is
    SanText at an epsilon of 10 with 10,000 words: `V(X | Y)`, and `loss`, the original text minus it.
    """
    whole, listed, frequent = (
        tradeoffs.by_protocol(_rows(table))["fine-tuned"] for table in (_WHOLE, *_LARGE.values())
    )
    lines: list[dict] = []
    for name, epsilon in SETTINGS:
        here, there = (select(rows, {"defence": name, "epsilon": epsilon}) for rows in (listed, frequent))
        unlisted = {"unlisted": float(1 - here.coverage.mean()), "of 10,000": float(1 - there.coverage.mean())}
        lines.append({"text": called(name, epsilon), "change": tradeoffs.paired(here, there)} | unlisted)
    clear = select(frequent, {"defence": "santext", "epsilon": 10.0})
    line = {"text": called("santext", 10), "V(X | Y)": float(clear.vulnerability.mean())}
    return [*lines, line | {"loss": tradeoffs.paired(whole, clear)}]


def other_tasks() -> list[dict]:
    """Compute what is learnt of three further tasks with the papers' settings, by task and protocol, over seeds.

    `original` and `released` are estimates; released is CusText+ at an epsilon of 16 that draws for unlisted
    words.
    """
    names = {"stsb": "STS-B", "qnli": "QNLI", "cola": "CoLA"}
    rows = _rows(*(f"papers-settings-{data}{kind}.csv" for data in names for kind in ("", "-original")))
    lines = []
    for (data, protocol), some in rows.groupby(["dataset", "task.protocol"], sort=False):
        line = {"task": names[data], "metric": some.metric.iloc[0], "protocol": protocol}
        line["chance"] = float(some.chance.max())
        texts = ("original", "released")
        lines.append(line | {text: _learnt(select(some, {"task.text": text})) for text in texts})
    return lines


def _first_three(rows: pd.DataFrame, name: str) -> pd.DataFrame:
    """Return a mechanism's rows at its three smallest epsilons, paired by seed and by the epsilon's number."""
    some = rows[(rows.defence == name) & (rows.epsilon <= 3)]
    number = some.epsilon.rank(method="dense")
    return some.assign(seed=list(zip(some.seed, number, strict=True)))


_OPPONENTS = ("custext", "santext"), ("custext", "fbdd"), ("custext+", "santext+")


def leads() -> list[dict]:
    """Compute the leads of CusText over the others on SST-2 by who keeps unlisted words, over seeds and epsilons.

    The others run at an epsilon divided by the largest distance between two words. A row a pair, `difference`:
    differences of the accuracy on the same test phrases where `both draw`, `only CusText keeps` and `both keep`;
    `rule` is what keeping adds to the other mechanism.
    """
    drawn, kept = _released(*_DRAWN), _released(*_KEPT)
    drawn_others, kept_others = _rows("rescaled-sst2.csv"), _rows("rescaled-sst2-oov.csv")
    lines = []
    for name, other in _OPPONENTS:
        ours = _first_three(drawn, name), _first_three(kept, name)
        theirs = _first_three(drawn_others, other), _first_three(kept_others, other)
        sides = {"both draw": (ours[0], theirs[0]), "only CusText keeps": (ours[1], theirs[0])}
        sides |= {"both keep": (ours[1], theirs[1]), "rule": (theirs[1], theirs[0])}
        gaps = {name: tradeoffs.paired(*pair) for name, pair in sides.items()}
        lines.append({"difference": f"{called(name)} − {called(other)}"} | gaps)
    return lines


def divided() -> list[dict]:
    """Compute accuracy and Bayes vulnerability on SST-2 at an epsilon of 1, 2, 3 over the largest distance.

    A row for FBDD, SanText and SanText+, and one for CusText at 1, 2, 3 itself; all of them draw. `accuracy` is
    over seeds and epsilons, `printed` the mean of Chen et al.; `blind`, the success of always guessing the list's
    most frequent word, and the largest `V(X | Y)` of the three epsilons, NaN for FBDD, which has no formula.
    """
    drawn, others = _released(*_DRAWN), _rows("rescaled-sst2.csv")
    blind = float(select(drawn, {"defence": "random"}).vulnerability.mean())
    accuracy = _printed(_CUSTEXT, "Table 1")
    parts = {name: (others[others.defence == name], "ε / d_max") for name in ("fbdd", "santext", "santext+")}
    parts["custext"] = _first_three(drawn, "custext"), "ε"
    lines = []
    for name, (some, unit) in parts.items():
        printed = [value for (method, _), value in accuracy.items() if method.casefold() == name]
        line = {"text": f"{called(name)} at {unit}", "accuracy": _learnt(some), "printed": float(np.mean(printed))}
        line |= {"chance": float(some.chance.mean()), "blind": blind}
        lines.append(line | {"V(X | Y)": float(some.groupby("epsilon").vulnerability.mean().max())})
    return lines


def _exposures(epsilon: float) -> dict[str, float]:
    """Return the mean exposure of a phrase under CusText+ by rule: drawn, kept, and with the list of the task."""
    cell = {"defence": "custext+", "epsilon": epsilon}
    drawn, others = (select(_rows(f"utility-{kind}-exposure.csv"), cell) for kind in ("sst2", "oov"))
    kept, listed = (select(others, {"vocabulary": words}) for words in ("10000", "data"))
    found = {"drawn": drawn.exposure, "kept": kept.exposure, "task's list": listed.exposure}
    return {rule: float(some.mean()) for rule, some in (found | {"unlisted": kept.unlisted}).items()}


def published_losses() -> list[dict]:
    """Compute the loss of CusText+ on SST-2 under both rules, with its paper's and with the exposure of a phrase.

    A row an epsilon (1, 3): losses of accuracy `drawn` and `kept` on the same test phrases, the `printed` one;
    `exposure drawn` and `exposure kept`, average-case disclosure of all words of a phrase, and the share of
    `unlisted` words.
    """
    whole = select(_rows("utility-sst2-original.csv"), {"task.text": "original"})
    lines = []
    for epsilon in (1.0, 3.0):
        cell, line = {"defence": "custext+", "epsilon": epsilon}, dict[str, object]({"ε": epsilon})
        for rule, tables in (("drawn", _DRAWN), ("kept", _KEPT)):
            line[rule] = tradeoffs.paired(whole, select(_released(*tables), cell))
        shares = _exposures(epsilon)
        line |= {"printed": _printed_loss("custext+", epsilon), "unlisted": shares["unlisted"]}
        lines.append(line | {f"exposure {rule}": shares[rule] for rule in ("drawn", "kept")})
    return lines


def task_list() -> dict:
    """Compare two ways of CusText+ to avoid random words, at an epsilon of 3 on SST-2: a longer list, and keeping.

    `accuracy` is that with the task's list minus that of 10,000 words that keeps others; `task's list` and `kept`
    are exposures of a phrase.
    """
    cell = {"defence": "custext+", "epsilon": 3}
    listed, kept = select(_released(*_LISTED), cell), select(_released(*_KEPT), cell)
    shares = _exposures(3.0)
    return {"accuracy": tradeoffs.paired(listed, kept)} | {key: shares[key] for key in ("task's list", "kept")}


def keeping(dataset: str) -> list[dict]:
    """Compute what keeping unlisted words changes for a task on pairs of texts, three seeds, frozen encoder.

    "stsb" has Pearson's r, "qnli" accuracy. A row a mechanism and epsilon (1, 3): `drawn`, `kept` and their
    `gain`; `task's list`, which has the words of the task and follows the mechanism's paper for others; `chance`.
    """
    both = _released(f"utility-oov-{dataset}.csv")
    rules = select(both, {"vocabulary": 10_000, "defence.oov": "keep"})
    drawn, lines = _released(f"utility-{dataset}.csv"), []
    for (name, epsilon), some in rules.groupby(["defence", "epsilon"]):
        other = select(drawn, {"defence": name, "epsilon": epsilon})
        line = {"mechanism": called(str(name)), "ε": epsilon, "drawn": _learnt(other), "kept": _learnt(some)}
        gain = tradeoffs.paired(some.assign(embeddings=np.nan), other)
        rule = "keep" if str(name).startswith("custext") else "uniform"
        cell = {"vocabulary": "data", "defence": name, "epsilon": epsilon, "defence.oov": rule}
        line |= {"gain": gain, "task's list": _learnt(select(both, cell))}
        lines.append(line | {"chance": float(some.chance.max())})
    return lines


_DATA = "sst2", "stsb", "qnli"
ORDER = (
    ("original", "custext+"),
    ("original", "santext+"),
    ("custext+", "custext"),
    ("custext+", "santext"),
    ("santext+", "santext"),
    ("santext", "fbdd"),
    ("fbdd", "random"),
)
"""Texts of which the first is expected to leave at least as much of a task as the second, at one epsilon."""


def _grid(*datasets: str) -> pd.DataFrame:
    """Return the rows of the tables that draw; `defence` is "original" for that text."""
    rows = _rows(*(f"utility-{data}{kind}.csv" for data in datasets for kind in ("", "-original", "-noise")))
    return rows.assign(defence=rows.defence.where(rows["task.text"] != "original", "original"))


def _at(rows: pd.DataFrame, name: str, epsilon: float) -> pd.DataFrame:
    """Return a text's rows at an epsilon; the original text and random words have none."""
    without = name in ("original", "random")
    return select(rows, {"defence": name} | ({} if without else {"epsilon": epsilon}))


def grid(dataset: str) -> list[dict]:
    """Compute what is learnt of a task under six mechanisms that draw, frozen encoder, over the seeds.

    "sst2" and "qnli" have accuracy, "stsb" Pearson's r, "cola" Matthews' coefficient. A row for the original text
    and each mechanism: `text`, and columns `ε = 1`, `ε = 2`, `ε = 3`, three times the same where there is none.
    """
    rows, lines = _grid(dataset), []
    for name in ("original", "santext+", "custext+", "custext", "santext", "fbdd", "random"):
        learnt = {f"ε = {epsilon:g}": _learnt(_at(rows, name, epsilon)) for epsilon in (1.0, 2.0, 3.0)}
        lines.append({"text": _named(name)} | learnt)
    return lines


def _named(text: str) -> str:
    return text if text == "original" else called(text)


def _by_rule(rule: str) -> pd.DataFrame:
    """Return the rows of three tasks under "draw", "keep", or "task's list", which draws for what it lacks."""
    if rule == "draw":
        return _grid(*_DATA)
    parts = ("", "-between", "-words", "-words-all", "-stsb", "-qnli")
    rows = _released(*(f"utility-oov{part}.csv" for part in parts))
    kept = {"defence.oov": "keep", "vocabulary": 10_000}
    return select(rows, kept if rule == "keep" else {"defence.oov": "uniform", "vocabulary": "data"})


def steps(rule: str) -> list[dict]:
    """Test the expected order of texts under one rule for unlisted words, on three tasks, at epsilons of 1, 2, 3.

    The rule is "draw" or "keep" with 10,000 words, or "task's list", which draws for the few words that it lacks.
    A row for each task, pair of `ORDER` and epsilon that was run: `gap` of the utility on the same test examples,
    and `verdict`, "as expected", "undecided" or "the other way", by its interval.
    """
    rows, lines = _by_rule(rule), []
    for data, (above, below), epsilon in product(_DATA, ORDER, (1.0, 2.0, 3.0)):
        pair = [_at(rows[rows.dataset == data], name, epsilon) for name in (above, below)]
        if all(map(len, pair)):
            gap = tradeoffs.paired(*pair)
            verdict = "as expected" if gap.low > 0 else "the other way" if gap.high < 0 else "undecided"
            step = f"{_named(above)} ≥ {_named(below)}"
            lines.append({"data": data, "step": step, "ε": epsilon, "gap": gap, "verdict": verdict})
    return lines


def chosen_on_test() -> tuple[float, float]:
    """Compute what a choice among four heads on the test set would have added to `grid`: mean and largest."""
    rows = _grid(*_DATA, "cola")
    gains = rows.best_on_test - rows.utility
    return float(gains.mean()), float(gains.max())


def divided_pairs() -> list[dict]:
    """Compute what is learnt of two tasks on pairs of texts at an epsilon of 1, 2, 3 over the largest distance.

    A row a task and mechanism: `learnt`, over seeds and epsilons, and `chance`.
    """
    names, lines = {"stsb": "STS-B, r", "qnli": "QNLI, accuracy"}, []
    rows = _rows("rescaled-stsb.csv", "rescaled-qnli.csv")
    for (data, name), some in rows.groupby(["dataset", "defence"], sort=False):
        line = {"task": names[str(data)], "text": called(str(name)), "learnt": _learnt(some)}
        lines.append(line | {"chance": float(some.chance.mean())})
    return lines


def neighbours() -> list[dict]:
    """Compare GloVe's vectors before and after the fitting with the published ones and with rated similarity."""
    rows = _rows("counter-fitted.csv")
    return [
        {"what": what} | {row.vectors: Estimate(row.value, row.low, row.high) for row in some.itertuples()}
        for what, some in rows.groupby("what", sort=False)
    ]


def fitted_vectors() -> list[dict]:
    """Compute what counter-fitted vectors change for CusText on SST-2, over the seeds, a row an epsilon.

    Differences of the accuracy to GloVe's vectors, `drawn` and, where both keep unlisted words, `gain`, and the
    `printed` one; exposures of a phrase where both keep, `fitted` and `GloVe`, and the shares of words that are
    `unlisted` under either, fitted first.
    """
    kept = _released("utility-oov-vectors.csv"), _released(*_KEPT)
    drawn = _released("utility-sst2-vectors.csv"), _released(*_DRAWN)
    accuracy, lines = _printed(_CUSTEXT, "Table 2"), []
    for epsilon in (1.0, 2.0, 3.0, 8.0):
        cell: dict = {"defence": "custext", "epsilon": epsilon}
        line: dict = {"ε": epsilon}
        for name, pair in (("drawn", drawn), ("gain", kept)):
            line[name] = tradeoffs.paired(*(select(rows, cell) for rows in pair))
        printed = accuracy.xs(f"epsilon={epsilon:g}; K=20", level="setting")
        line["printed"] = float(printed["CusText (Counter-Fitting)"] - printed["CusText (GloVe)"])
        shares = [select(_rows(table), cell | {"oov": "keep"}) for table in _FITTED.values()]
        line |= {vectors: float(some.exposure.mean()) for vectors, some in zip(_FITTED, shares, strict=True)}
        lines.append(line | {"unlisted": tuple(float(some.unlisted.mean()) for some in shares)})
    return lines


_FITTED = {"fitted": "utility-oov-vectors-exposure.csv", "GloVe": "utility-oov-all-exposure.csv"}


def fitted_at_equal_exposure(points: int = 5) -> list[dict]:
    """Compare counter-fitted vectors with GloVe's for CusText that keeps, at equal exposure of a phrase of SST-2.

    A row for each of so many values of `exposure`, evenly spaced over what both reach: `gap` of the accuracy, and
    `better`, "fitted", "GloVe" or "undecided".
    """
    key, sides = ["defence", "epsilon", "seed"], []
    learnt = _released("utility-oov-vectors.csv"), _released(*_KEPT)
    for rows, (vectors, table) in zip(learnt, _FITTED.items(), strict=True):
        shares = select(_rows(table), {"defence": "custext", "oov": "keep"})
        sides.append(rows.merge(shares[[*key, "exposure"]], on=key).assign(defence=vectors))
    found = tradeoffs.matches(pd.concat(sides), "exposure", [tuple(_FITTED)], points)
    return [{"exposure": row["at"], "gap": row["difference"], "better": row["better"]} for row in found]


def draw_rules(axes: Sequence) -> dict[str, list[Estimate]]:
    """Draw the accuracy on SST-2 by mechanism and by what becomes of unlisted words, a panel a size.

    The first of two axes is for 1,000 phrases with a frozen encoder, the second for 60,000 with a fine-tuned one.
    Returned are the points of each label of the legend, those of the first panel first.
    """
    labels = "10,000 words, others random", "10,000 words, others kept", "words of the task"
    small = [_released(*names) for names in (_DRAWN, _KEPT, _LISTED)]
    large = [tradeoffs.by_protocol(_rows(_LARGE[rule]))["fine-tuned"] for rule in ("10,000 words", "papers")]
    whole = [select(_rows("utility-sst2-original.csv"), {"task.text": "original"})]
    whole.append(tradeoffs.by_protocol(_rows(_WHOLE))["fine-tuned"])
    cells = [(name, 3.0) for name in ("custext+", "custext", "santext+", "santext")], SETTINGS
    by_rule = dict(zip(labels, small, strict=True)), dict(zip(labels[::2], large, strict=True))
    drawn: dict[str, list[Estimate]] = {label: [] for label in labels}
    for ax, settings, rules, original in zip(axes, cells, by_rule, whole, strict=True):
        plotting.points(ax, [_learnt(original)], [[0.0] * 3], role="bound", label="original text")
        for number, label in enumerate(labels):
            rows = rules.get(label, original.iloc[:0])
            for place, (name, epsilon) in enumerate(settings, 1):
                some = select(rows, {"defence": name, "epsilon": epsilon})
                if len(some):
                    drawn[label].append(found := _learnt(some))
                    plotting.points(ax, [found], [[place + (number - 1) / 5] * 3], series=number, label=label)
        ax.axvline(original.chance.mean(), color=plotting.look(role="chance").colour, ls="--")
        names = [called(name) if ax is axes[0] else called(name, epsilon) for name, epsilon in settings]
        ax.set_yticks(range(len(settings) + 1), ["original", *names])
        ax.set(xlabel="accuracy", ylim=(len(settings) + 0.5, -0.5))
        ax.grid(visible=False, axis="y")
    return drawn


def prepared(name: str = "utility-preparation.csv") -> list[dict]:
    """Compute what filling blanks of sanitized text gives an encoder over filling blanks of raw text, over seeds.

    `utility-preparation-oov.csv` has the same over the words of the task, at epsilon 4. A row an epsilon of
    SanText (4, 5): `learner`, the difference of the fine-tuned accuracy on SST-2, and `mask inference`, that of
    the attack's success on the same words; the success `bare` of the attack with the encoder that read raw text,
    and its `chance`.
    """
    lines = []
    for epsilon, some in _rows(name).groupby("epsilon"):
        ready, bare = (select(some, {"model": model}) for model in ("prepared", "bare"))
        line = {"ε": epsilon, "learner": _learnt(ready, "over_bare")}
        line |= {"mask inference": _learnt(ready, "mask_over_bare"), "bare": _learnt(bare, "mask")}
        lines.append(line | {"chance": float(ready.mask_chance.mean())})
    return lines


def printed_gains() -> dict[str, list[float]]:
    """Return the changes by pretraining that Table 3 of Yue et al. 2021 prints, SST-2 and then QNLI.

    `learner` has six differences of the accuracy; `mask inference` those of the attack's success: the printed
    change of its defence rate with the other sign.
    """
    rows = stored.printed(paper=_SANTEXT, table_or_figure="Table 3")
    values = rows.assign(value=pd.to_numeric(rows.value, errors="coerce"))
    accuracy = values[values.metric == "accuracy"]
    before = accuracy.mechanism_or_method.str.startswith("bert")
    changes = values[values.metric == "change of defense rate"].value
    gains = accuracy[~before].value.to_numpy() - accuracy[before].value.to_numpy()
    return {"learner": gains.tolist(), "mask inference": (-changes).tolist()}


def readers() -> list[dict]:
    """Compute what a model prepared on sanitized text adds to an attacker with bigrams and channel, over seeds.

    A row a corpus, mechanism and epsilon; `gain` is in success on the same words.
    """
    rows = _rows("contextual.csv", "contextual-amazon.csv")
    rows = select(rows, {"attack": "noisy channel", "attack.epochs": 0})
    names, lines = {"rt": "film reviews", "amazon": "product reviews"}, []
    for (corpus, name, epsilon), some in rows.groupby(["dataset", "defence", "epsilon"], sort=False):
        gains = [gain for row in some.to_dict("records") if (gain := over(row, "markov"))]
        line = {"corpus": names[str(corpus)], "mechanism": called(str(name)), "ε": epsilon}
        lines.append(line | {"gain": pooled(gains)})
    return lines


def encoder_space(dataset: str = "sst2") -> list[dict]:
    """Compute attacks and accuracy for SanText on the input vectors of the learner's own encoder, over the seeds.

    A row an epsilon: `V(X | Y)`, the share `unchanged` of the attacked words, the success of `mask inference` and
    of the `noisy channel`, the `accuracy` on "sst2" or "qnli" and its `chance`.
    """
    suffix = "" if dataset == "sst2" else f"-{dataset}"
    masked = f"mask-public-pieces{suffix}.csv"
    rows = stored.table(f"utility-pieces{suffix}.csv", masked)
    rows = rows[(rows.attack != "mask inference") | (rows.table == masked)]
    lines = []
    for epsilon, some in rows.groupby("epsilon"):
        line = {
            "ε": epsilon,
            "V(X | Y)": float(some.vulnerability.mean()),
            "unchanged": float(some.unchanged.mean()),
        }
        for attack in ("mask inference", "noisy channel"):
            line[attack] = stored.mean(select(some, {"attack": attack}))
        task = some[some.task.notna()]
        lines.append(line | {"accuracy": _learnt(task), "chance": float(task.chance.mean())})
    return lines


def draw_prepared(ax) -> dict[str, list[Estimate]]:
    """Draw what a model prepared on sanitized text adds for a learner and for two attackers, with printed changes.

    Returned are the points of each lane, in the order of epsilon.
    """
    lines = prepared()
    lanes = {f"{name}, SanText": [line[name] for line in lines] for name in ("learner", "mask inference")}
    for row in readers():
        if row["mechanism"] == "CusText+":
            lanes.setdefault(f"noisy channel, CusText+,\n{row['corpus']}", []).append(row["gain"])
    for place, found in enumerate(lanes.values()):
        heights = place + 0.12 * (np.arange(len(found)) - (len(found) - 1) / 2)
        plotting.points(ax, found, [[height] * 3 for height in heights], series=place, label="")
    for place, changes in enumerate(printed_gains().values()):
        mark = plotting.look(role="published")
        label = "" if place else "printed"
        ax.plot(changes, [place + 0.3] * len(changes), mark.marker, color=mark.colour, label=label)
    ax.axvline(0, color=plotting.look(role="chance").colour, ls="--")
    ax.set_yticks(range(len(lanes)), lanes)
    ax.set(xlabel="prepared minus bare", ylim=(len(lanes) - 0.5, -0.5))
    ax.grid(visible=False, axis="y")
    return lanes
