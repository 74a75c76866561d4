"""Does a denoiser pay: a language model with low-rank updates that is shown the whole sanitized sentence first?

    TEXTSAN_DATA=FOLDER python benchmarks/denoiser.py [--seeds 0] [--steps 440] [--out data/results/denoiser.csv]

The prompt is "Replaced: y_1 .. y_n", a new line and "Original:"; what follows are the original words, so that each
is rated with all released words in sight, those to its right included. Trained by the attacker, who knows the
mechanism with its public vocabulary, on the public corpora without the attacked one, `rt`, sanitized with noise of
the attacker's own. Then Pr(x_t | y, x_1 .. x_{t-1}) stands in the beam of `LanguageModelBayes` where Pr(x_t | x_1
.. x_{t-1}) stood. How much the beam also weighs channel and counts is one of `EXPONENTS`, chosen like all weights
of the mixture on the attacker's shadow sentences of `rt`; of the attacked ones only the final scores are seen.

Measured are: nats a protected word on public sentences that were held out, true words before it given, without a
prompt, with it, and after training; success at the attacked positions of a language model, an untrained prompt
(first seed alone) and the denoiser: alone, with channel and frequencies, and in the mixture. Paired differences
are to the same with the language model; that of "mixture with language model and denoiser" is what it adds.

The state of training and what each model says lie in the cache: a run that is killed goes on where it was.
"""

import argparse
import json
import os
import platform
import time
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
import scipy
import torch
import yaml
from denoiser_model import BATCH, RANK, RATE, Denoiser, texts, train

from textsan.attacks import mixture
from textsan.attacks.language_model import BEAM, COUNTS, TEMPERATURE, LanguageModelBayes, _Sentence
from textsan.attacks.mixture import Factors, Mixture, _aligned, _Maker
from textsan.attacks.shadow import folds, held_out_split, whole_sentences
from textsan.channel import Posterior
from textsan.evaluation import bootstrap_mean, bootstrap_rate, paired_difference
from textsan.experiments.problems import prepare
from textsan.priors import LanguageModel
from textsan.text.assets import cache_folder

K, SENTENCES, AT_ONCE = 20, 60, 16  # candidates; shadow sentences for weights; sentences that are read together
PROBLEM = {"dataset": "rt", "n_private": 100, "n_shadow": 1000, "mechanism": "custext+", "epsilon": 4.0, "k": K}
EXPONENTS = {
    "as a posterior": (1.0, 0.0, 0.0),
    "as a prior": (TEMPERATURE, COUNTS, 1.0),
}
"""Of the denoiser, the counts and the channel within the beam; the last ones are those of the language model."""

mixture.STATED |= {"denoiser": 0.3}  # where the weight of a denoiser beside a language model starts from


def nats(model, pairs, protected):
    """Of a protected word, the mean of each pair as often as it has one: values, and numbers of pairs."""
    sums, words = np.zeros(len(pairs)), [sum(x in protected for x in doc) for _, doc in pairs]
    with torch.inference_mode():
        for at in range(0, len(pairs), BATCH):
            loss, owner = (part.numpy() for part in model.losses(pairs[at : at + BATCH], protected))
            np.add.at(sums, at + owner[owner >= 0], loss[owner >= 0])
    return np.repeat(sums / np.maximum(words, 1), words), np.repeat(np.arange(len(pairs)), words)


def learnt(mechanism, prompted, denoiser):
    """Rows: what the models expect of held-out words."""
    _, held = texts(mechanism)
    alone = [(None, doc) for _, doc in held]
    cases = {
        "language model": (prompted, alone),
        "untrained prompt": (prompted, held),
        "denoiser": (denoiser, held),
    }
    found = {name: nats(model, pairs, mechanism.protected) for name, (model, pairs) in cases.items()}
    plain = found["untrained prompt"][0]
    for name, (values, groups) in found.items():
        over = bootstrap_mean(values - plain, groups, seed=0)
        value = bootstrap_mean(values, groups, seed=0)
        yield row("nats a held-out word", name, value, over, "untrained prompt", len(values))


class Search(LanguageModelBayes):
    """The beam of a language model whose source is shown the released sentence, too."""

    def read(self, docs, positions):
        wanted = sorted({d for d, _ in positions}, key=lambda d: len(docs[d]))
        self._list({y for d in wanted for y in docs[d]})
        found = {}
        for at in range(0, len(wanted), AT_ONCE):
            some = wanted[at : at + AT_ONCE]
            self.source.prompts = [docs[d] for d in some]
            sentences = [_Sentence([self._listed[y] for y in docs[d]], True) for d in some]
            for d, sentence, (_, posteriors) in zip(some, sentences, self._beams(sentences), strict=True):
                for t, (one, logs) in enumerate(zip(sentence.candidates, posteriors, strict=True)):
                    found[d, t] = one.numbers[one.attackable], logs[one.attackable]
        return [found[position] for position in positions]


class Part(NamedTuple):
    """Some positions, and a mixture that has counted neither them nor their phrases."""

    name: str
    mixture: Mixture
    released: list
    positions: list
    truths: list


def parts(problem):
    """What `Mixture.against` fits its weights on, fold by fold, and last what is attacked."""
    knows = problem.knowledge
    given = {"bigrams": True, "reader": bool(knows.resources.get("adapter"))}
    make = _Maker(Mixture, knows, given, LanguageModel.named(), BEAM, K)
    shadow, released = knows.sanitized()
    chosen = held_out_split(shadow, SENTENCES / len(shadow), knows.seed)[1]
    source = whole_sentences(shadow)
    for number, fold in enumerate(folds([shadow[d] for d in chosen], 2, knows.seed)):
        mine = [chosen[i] for i in fold]
        own = set(source[mine])
        others = [doc for doc, s in zip(shadow, source, strict=True) if s not in own]
        positions = [(n, i) for n, d in enumerate(mine) for i, x in enumerate(shadow[d]) if x in make.attacked]
        truths = [shadow[mine[n]][i] for n, i in positions]
        yield Part(f"shadow-{number}", make(others), [released[d] for d in mine], positions, truths)
    yield Part("attacked", make(shadow), problem.released, problem.positions, problem.truth.words)


def kept(file, make):
    """Arrays by name from a file, which is made where there is none."""
    if not file.is_file():
        began, part = time.time(), file.with_suffix(".part.npz")
        file.parent.mkdir(parents=True, exist_ok=True)
        np.savez(part, **make())
        os.replace(part, file)
        print(file.name, f"{time.time() - began:.0f} s", flush=True)
    return dict(np.load(file))


def mixed(part):
    found = part.mixture.factors(part.released, part.positions)
    return found.values | {"numbers": found.numbers}


def free(values):
    """The context-free posterior, which the mixture takes off what others say."""
    joint = np.where(values["numbers"] >= 0, values["channel"] + values["frequencies"], -1e30)
    return np.where(values["numbers"] >= 0, joint - scipy.special.logsumexp(joint, axis=1, keepdims=True), 0.0)


def asked(part, source, exponents, values):
    """What a denoiser adds to the context-free posterior, as the mixture takes it of its language model."""
    plain = part.mixture._contexts["language"]
    given = dict(zip(("temperature", "counts", "likelihood"), exponents, strict=True))
    search = Search(plain.channel, source, k=K, mass=0.99, attacked=part.mixture.attacked, **given)
    search._log_prior = plain._log_prior  # the same candidates
    found = _aligned(search.read(part.released, part.positions), values["numbers"])
    return {"said": np.where(values["numbers"] >= 0, found - free(values), 0.0)}


def factors(values, used):
    """Parts of a mixture under the names of its weights."""
    return Factors(values["numbers"], {name: values[source] for name, source in used.items()})


def fitted(shadow, used):
    """Weights by shadow sentences, and what the right words then cost there, in nats."""
    found = [factors(values, used) for _, values in shadow]
    truths = [np.array([part.mixture.channel.input_index[x] for x in part.truths]) for part, _ in shadow]
    weights, costs = mixture.fit_weights(found, truths), []
    for one, true in zip(found, truths, strict=True):
        logs = scipy.special.log_softmax(np.maximum(one.scores(weights), -1e30), axis=1)
        costs += (-logs[(one.numbers == true[:, None]) & (one.numbers >= 0)]).tolist()
    return weights, float(np.mean(costs))


def guesses(part, numbers, scores):
    released, words = [part.released[d][i] for d, i in part.positions], part.mixture.channel.inputs
    return Posterior.from_scores(part.positions, released, words, numbers, scores, 1).mode()


def row(what, name, value, over, against, n, **further):
    columns = {"what": what, "name": name, "value": value.value, "low": value.low, "high": value.high}
    return (
        columns
        | {"against": against, "over": over[0], "over_low": over[1], "over_high": over[2], "n": n}
        | further
    )


def attacked(seed, folder, sources):
    """Rows of one seed; exponents of the beam and all weights are those that suit the shadow sentences best."""
    problem = prepare(seed=seed, n_positions=None, **PROBLEM)
    both = [(part, kept(folder / f"{seed}-{part.name}.npz", lambda p=part: mixed(p))) for part in parts(problem)]
    *shadow, (target, values) = both
    few = {"channel": "channel", "frequencies": "frequencies"}
    base = few | {"bigrams": "bigrams", "reader": "reader"}
    mixtures = {"mixture without language": base}
    chosen = {"language model": ""}
    for name, (source, labels) in sources.items():

        def ask(part, known, label, name=name, source=source):
            file = folder / f"{seed}-{part.name}-{name}-{label}.npz".replace(" ", "-")
            known[name] = kept(file, lambda: asked(part, source, EXPONENTS[label], known))["said"]

        costs = {}
        for label in labels:
            for part, known in shadow:
                ask(part, known, label)
            costs[label] = fitted(shadow, base | {"language": name})[1]
            yield {"what": "nats a shadow word", "name": f"{name}, {label}", "value": costs[label], "seed": seed}
        chosen[name] = min(costs, key=costs.get)
        for part, known in both:
            ask(part, known, chosen[name])
    for _, known in both:
        known["language model"] = known["language"]
    for name in chosen:
        mixtures[f"{name}, channel and frequencies"] = few | {"language": name}
        mixtures[f"mixture with {name}"] = base | {"language": name}
    mixtures["mixture with language model and denoiser"] = base | {"language": "language", "denoiser": "denoiser"}
    numbers, found, notes = values["numbers"], {}, {}
    for name in chosen:
        alone = np.where(numbers >= 0, free(values) + values[name], -np.inf)
        alone[alone.max(axis=1) < mixture._FLOOR + 1e-6] = -np.inf  # a kept word was released: taken for itself
        found[name] = guesses(target, numbers, alone)
    for name, used in mixtures.items():
        weights, cost = fitted(shadow, used)
        found[name] = guesses(target, numbers, factors(values, used).scores(weights))
        notes[name] = {"shadow_nats": cost, "weights": json.dumps({at: round(w, 3) for at, w in weights.items()})}
    for name, guess in found.items():
        against = "mixture with language model" if name.startswith("mixture") else "language model"
        if name.endswith("frequencies"):
            against += ", channel and frequencies"
        rate = bootstrap_rate(guess, target.truths, problem.sentences, seed=seed)
        over = paired_difference(guess, found[against], target.truths, problem.sentences, seed=seed)
        further = {
            "seed": seed,
            "exponents": chosen.get(name.removeprefix("mixture with ")),
            **notes.get(name, {}),
        }
        yield row("success", name, rate, over, against, len(guess), **further)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0])
    parser.add_argument("--steps", type=int, default=440)
    parser.add_argument("--out", type=Path, default=Path("data/results/denoiser.csv"))
    given = parser.parse_args()
    folder = cache_folder() / "denoiser"
    checkpoint = folder / f"{given.steps}.safetensors"
    mechanism = prepare(seed=0, n_positions=None, **PROBLEM).mechanism  # the same for all seeds: it is public
    denoiser, plain = Denoiser(), Denoiser(rank=0)
    train(denoiser, mechanism, given.steps, checkpoint)
    numbers = sum(value.numel() for value in denoiser.trained().values())
    denoiser.merge()
    rows = list(learnt(mechanism, plain, denoiser))
    lines = [json.loads(line) for line in checkpoint.with_suffix(".jsonl").read_text().splitlines()]
    sources = {"denoiser": (denoiser, list(EXPONENTS)), "untrained prompt": (plain, ["as a prior"])}
    for seed in given.seeds:
        rows += attacked(seed, folder / str(given.steps), sources)
        sources.pop("untrained prompt", None)  # for the first seed alone
        pd.DataFrame(rows).to_csv(given.out, index=False, lineterminator="\n", float_format="%.6g")
    made = {
        "command": "TEXTSAN_DATA=FOLDER python benchmarks/denoiser.py --seeds "
        f"{' '.join(map(str, given.seeds))} --steps {given.steps}",
        "problem": PROBLEM | {"seeds": given.seeds},
        "training": {
            "text": "amazon, nyt and tweets without what rt has too, sanitized by the same mechanism",
            "steps": given.steps,
            "sentences": given.steps * BATCH,
            "rate": RATE,
            "rank": RANK,
            "numbers": numbers,
            "seconds": round(sum(line["seconds"] for line in lines)),
            "nats a protected word, sentences not seen before": {x["step"]: round(x["nats"], 3) for x in lines},
        },
        "intervals": "95 %, sentences resampled; differences are paired",
        "hardware": f"one thread of {os.cpu_count()} cores, {platform.machine()}, shared with other work",
        "versions": {name: version(name) for name in ("textsan", "numpy", "scipy", "torch", "transformers")}
        | {"python": platform.python_version()},
    }
    given.out.with_suffix(".yml").write_text(yaml.safe_dump(made, sort_keys=False, width=110), encoding="utf-8")


if __name__ == "__main__":
    main()
