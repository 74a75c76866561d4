"""Every contextual attack on the same positions: success, paired differences, sentences or pairs encoded.

    python benchmarks/contextual_attacks.py [--only rt] [--out data/results/contextual.csv] [--cells FOLDER]

Each result is a json file of its own, so that a run that was stopped goes on where it was; the table is written
anew from all of them at the end. A cell (two corpora, two defences, four epsilons) takes about half an hour on two
cores, nearly all of it the detectors'.
"""

import argparse
import json
import os
import platform
import time
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pandas as pd

from textsan import attacks, count_words, experiment
from textsan.attacks.released_code import ReleasedContextual
from textsan.evaluation import bootstrap_rate, paired_difference

N_PRIVATE, N_SHADOW, SEED = 200, 1000, 0
K = 10  # candidates of the detectors, the paper's
TESTS = 2000  # pairs of the attacked text on which a detector's accuracy is measured, the paper's Fig. 3
PAIRS = 24_000  # the detectors' training pairs: of three sanitizations of the shadow text, read once
DEFENCES = {"custext+": {}, "santext+": {"w": 0.999, "p": 0.0}}
EPSILONS = (1.0, 2.0, 4.0, 8.0)
CORPORA = ("rt", "nyt")


def shadow(case, copies):
    docs = case.setting.shadow * copies
    return docs, case.mechanism.sanitize(docs, seed=SEED, first=N_PRIVATE)


def knowledge(case):
    return {"keep": case.mechanism.keep, "sensitive": set(case.mechanism.inputs) - case.spared}


def unchanged(case, adapter):
    return [case.released[d][i] for d, i in case.positions], 0


def context_free(case, adapter):
    counts = count_words(case.setting.shadow)
    attack = attacks.ContextFreeBayes(case.mechanism.channel, counts, keep=case.spared)
    return attack.reconstruct(case.released, case.positions), 0


def markov(case, adapter):
    attack = attacks.MarkovBayes(case.mechanism.channel, **knowledge(case))
    attack.fit(case.setting.shadow, case.shadow_released)
    return attack.reconstruct(case.released, case.positions), 0


def detector(case, kind=attacks.ContextualBayes, **more):
    attack = kind(case.mechanism.channel, count_words(case.setting.shadow), k=K, **knowledge(case), **more)
    before = attack.accuracy(case.setting.private, case.released, pairs=TESTS)
    attack.detector.encoded = 0
    attack.fit(*shadow(case, 3), pairs=PAIRS, epochs=1)
    guesses, encoded = attack.reconstruct(case.released, case.positions), attack.detector.encoded
    after = attack.accuracy(case.setting.private, case.released, pairs=TESTS)
    return guesses, encoded, {"accuracy_before": before, "accuracy_after": after}


def contextual_bound(case, adapter, attacked=False):
    counts, private = count_words([case.truths]), case.setting.private * 30
    attack = attacks.ContextualBayes(case.mechanism.channel, counts, k=K, alpha_inverse=0, **knowledge(case))
    released = case.mechanism.sanitize(private, seed=SEED, first=N_PRIVATE + 30 * N_SHADOW)
    if attacked:
        private, released = case.setting.private, case.released
    attack.fit(private, released, pairs=PAIRS, epochs=1)
    return attack.reconstruct(case.released, case.positions), attack.detector.encoded


def noisy_channel(case, adapter, *, epochs=1.0, copies=8, **more):
    counts = count_words(case.setting.shadow)
    attack = attacks.NoisyChannel(case.mechanism.channel, counts, adapter=adapter, **knowledge(case), **more)
    attack.fit(*shadow(case, copies), epochs=epochs)
    return attack.reconstruct(case.released, case.positions), attack.reader.encoded


ATTACKS = {
    "unchanged": unchanged,
    "context-free": context_free,
    "Markov": markov,
    "noisy channel, adapter only": lambda case, adapter: noisy_channel(case, adapter, epochs=0, copies=2),
    "noisy channel": noisy_channel,
    "noisy channel, no bigrams": lambda case, adapter: noisy_channel(case, adapter, bigrams=False),
    "contextual": lambda case, adapter: detector(case),
    "density ratio": lambda case, adapter: detector(case, attacks.DensityRatio),
    "contextual bound": contextual_bound,
}
DEPARTURES = {
    "contextual, words fused": lambda case, adapter: detector(case, ReleasedContextual, departures=["fused"]),
    "contextual, words dropped": lambda case, adapter: detector(case, ReleasedContextual, departures=["dropped"]),
    "contextual bound, attacked pairs": lambda case, adapter: contextual_bound(case, adapter, attacked=True),
}


def run(folder, only):
    for corpus in CORPORA:
        for defence, given in DEFENCES.items():
            for epsilon in EPSILONS:
                here = ATTACKS | (DEPARTURES if (corpus, defence, epsilon) == ("rt", "custext+", 4.0) else {})
                files = {name: folder / f"{corpus}-{defence}-{epsilon:g}-{name}.json" for name in here}
                missing = [name for name in here if not files[name].exists()]
                if not missing or (only and only != corpus):
                    continue
                case = experiment.prepare(
                    corpus, N_PRIVATE, N_SHADOW, None, SEED, defence, epsilon=epsilon, **given
                )
                for name in missing:
                    start = time.perf_counter()
                    guesses, encoded, *more = here[name](case, f"without-{corpus}")
                    result = {
                        "cell": {"dataset": corpus, "defence": defence, "epsilon": epsilon, "attack": name},
                        "encoded": encoded,
                        "seconds": round(time.perf_counter() - start, 1),
                        "document": [d for d, _ in case.positions],
                        "hit": [int(guess == truth) for guess, truth in zip(guesses, case.truths, strict=True)],
                        "substring": [int(t in guess) for guess, t in zip(guesses, case.truths, strict=True)],
                    } | dict(*more)
                    part = files[name].with_suffix(".part")
                    part.write_text(json.dumps(result), encoding="utf8")
                    os.replace(part, files[name])
                    print(files[name].stem, f"{np.mean(result['hit']):.4f}", result["seconds"], flush=True)


def table(folder):
    results = [json.loads(file.read_text(encoding="utf8")) for file in sorted(folder.glob("*.json"))]
    hits = {tuple(result["cell"].values()): result["hit"] for result in results}
    rows = []
    for result in results:
        *where, attack = result["cell"].values()
        truths, document = [1] * len(result["hit"]), result["document"]
        row = result["cell"] | {"n_positions": len(truths)}
        row |= dict(
            zip(("asr", "low", "high"), bootstrap_rate(result["hit"], truths, document, seed=SEED), strict=True)
        )
        for name, baseline in (("gain", "context-free"), ("lead", "contextual")):
            other = hits.get((*where, baseline))
            gain = paired_difference(result["hit"], other, truths, document, seed=SEED) if other else (np.nan,) * 3
            row |= dict(zip((name, f"{name}_low", f"{name}_high"), gain, strict=True))
        row |= {"asr_substring": np.mean(result["substring"])}
        row |= {key: result[key] for key in ("encoded", "seconds")}
        for name in ("accuracy_before", "accuracy_after"):
            low, high = f"{name}_low", f"{name}_high"
            row |= dict(zip((name, low, high), result.get(name, (np.nan,) * 3), strict=True))
        rows.append(row)
    order = [*ATTACKS, *DEPARTURES]
    frame = pd.DataFrame(rows)
    frame["at"] = frame.attack.map(order.index)
    return frame.sort_values(["dataset", "defence", "epsilon", "at"]).drop(columns="at").round(4)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", choices=CORPORA, help="run the cells of one corpus")
    parser.add_argument("--out", type=Path, default=Path("data/results/contextual.csv"))
    parser.add_argument("--cells", type=Path, default=Path("runs/contextual"))
    arguments = parser.parse_args()
    arguments.cells.mkdir(parents=True, exist_ok=True)
    run(arguments.cells, arguments.only)
    versions = ", ".join(f"{name} {version(name)}" for name in ("textsan", "torch", "transformers", "numpy"))
    with arguments.out.open("w", encoding="utf8", newline="") as file:
        file.write("# python benchmarks/contextual_attacks.py\n")
        file.write(
            f"# {os.cpu_count()} cores, {platform.machine()}; Python {platform.python_version()}, {versions}\n"
        )
        file.write(f"# {N_PRIVATE} private, {N_SHADOW} shadow sentences; detectors: {PAIRS} pairs, K = {K}\n")
        table(arguments.cells).to_csv(file, index=False)


if __name__ == "__main__":
    main()
