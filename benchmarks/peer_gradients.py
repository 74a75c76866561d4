"""The attacks on gradients beside the same ones of `breaching`: distances, paths, readings, recovered text.

    pip install --no-deps breaching==0.1.2 hydra-core==1.3.8 omegaconf==2.4.0 antlr4-python3-runtime==4.9.3
    python benchmarks/peer_gradients.py [--out data/results/gradients-peer.csv]

breaching imports torchvision for its image models; text needs none of it, and an empty module stands in. The
case goes through its own text mode; [CLS], [SEP], labels and lengths are known. "Same settings" are ours, given
to breaching, from our start, or from a tenth of it, which is about as far out as the embeddings of words are.
"""

import argparse
import copy
import sys
import warnings
from collections import defaultdict
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import MagicMock

from textsan.base import kernels

kernels.pin()  # a table is made of what comes out: before anything loads NumPy

import pandas as pd
import torch
import transformers  # noqa: F401  (asks for a torchvision, and has to before there seems to be one)
from recorded import store

from textsan.gradient_leakage import cases, matching, scores, victims
from textsan.gradient_leakage.factors import Factors
from textsan.gradient_leakage.matching import ATTACKS, Matching
from textsan.text.corpora import load_dataset

sys.modules["torchvision"] = sys.modules["torchvision.transforms"] = MagicMock()
import breaching  # noqa: E402

SHARE, SEEDS, CANDIDATES, LBFGS = 0.15, 3, 20, 20  # share of the published steps; ...; gradients a step
PLAIN = ["token_recovery=from-embedding", "optim.boxed=False", "regularization=null"]  # what images have, off
ADAM = [*PLAIN, "init=randn", "optim.optimizer=adam", "optim.step_size=0.1", "optim.warmup=0"]
ADAM += [f"optim.{name}=null" for name in ("step_size_decay", "grad_clip", "signed")]
TWICE = ["objective.scale=2.0"]  # its sums of differences are half of ours
TAG = ["objective.tag_scale=0.01", "objective.scale_scheme=none", *TWICE]
PEERS = {  # our settings, the name of breaching's, and what makes them ours
    "DLG": (ATTACKS["DLG"], "deepleakage", ADAM + TWICE),
    "TAG": (ATTACKS["TAG"], "tag", ADAM + TAG),
    "cosine": (replace(ATTACKS["DLG"], distance="cosine"), "invertinggradients", ADAM),
}
COLUMNS = "check attack side case seed value low high n".split()


class Bare(torch.nn.Module):
    """A victim whose parameters are the word embeddings, which breaching cuts off, and what is sent."""

    def __init__(self, ours: Matching):
        super().__init__()
        victim, self.known = ours.victim, torch.nn.Buffer(ours.words[ours.fixed])
        self.free, self.mask = torch.nn.Buffer(ours.free[:, :, None]), torch.nn.Buffer(ours.mask)
        self.word_embeddings = torch.nn.Embedding.from_pretrained(ours.words, freeze=False)
        self.encoder, self.pooler, self.classifier = copy.deepcopy(
            (victim.encoder, victim.pooler, victim.classifier)
        )
        for name in ("word_embeddings", "position_embeddings"):
            layer = getattr(self.encoder.embeddings, name)
            weight = layer.weight.detach()
            del layer.weight
            layer.weight = torch.nn.Buffer(weight)

    def forward(self, x):
        embedded = torch.where(self.free, self.word_embeddings(x), self.known)
        hidden = self.encoder(inputs_embeds=embedded, attention_mask=self.mask.long()).last_hidden_state
        return self.classifier(torch.tanh(self.pooler(hidden[:, 0])))


class Peer:
    """breaching's attack on the case of one of ours; without changes its settings, but for known labels."""

    def __init__(self, ours: Matching, name: str, changes=()):
        self.ours, model = ours, Bare(ours)
        steps = ours.settings.steps // (LBFGS if name == "deepleakage" and not changes else 1)
        always = ["attack_type=optimization", "impl.dtype=double", f"optim.max_iterations={steps}"]
        settings = breaching.get_attack_config(name, [*always, *(changes or PLAIN)])
        setup = {"dtype": torch.double, "device": ours.words.device}
        self.attacker = breaching.attacks.prepare_attack(model, torch.nn.CrossEntropyLoss(), settings, setup)
        labels, (size, length) = ours.shared.labels, ours.mask.shape
        weights = {"parameters": list(model.parameters()), "buffers": list(model.buffers())}
        payload = [{**weights, "metadata": SimpleNamespace(shape=[length], modality="text")}]
        # It takes the word embeddings' gradient out; zeros stand in, since none is sent.
        sent = [torch.zeros_like(ours.words), *ours.shared.gradient.values()]
        known = {"num_data_points": size, "labels": labels, "local_hyperparams": None}
        self.data = [{"gradients": sent, "buffers": None, "metadata": known}]
        self.models, self.labels, _ = self.attacker.prepare_attack(payload, self.data)
        self.objective, self.sent = self.attacker.objective, self.data[0]["gradients"]
        self.objective.initialize(self.attacker.loss_fn, settings.impl)

    def ratio(self, x):
        """Its distance over ours."""
        return float(self.objective(self.models[0], self.sent, x, self.labels)[0] / self.ours.distance(x))

    def ratio_as_one(self, x):
        """Run both where ours is given all tensors as one vector."""
        found = self.objective._grad_fn(self.models[0], x, self.labels)[0]
        one, two = (torch.cat([part.flatten() for part in parts]) for parts in (found, self.sent))
        mine = matching.distance([Factors(one[None, None, None])], [two[None]], self.ours.settings)
        return float(self.objective.gradient_based_loss(found, self.sent) / mine)

    def read(self, x):
        """Pieces of one sentence by its own reading, the known ones put in."""
        found = self.attacker._postprocess_text_data({"data": x})["data"]
        return torch.where(self.ours.free, found, self.ours.fixed).tolist()

    def run(self, start):
        """Embeddings at the end, and its distance at each step."""
        stats = defaultdict(list)
        x = self.attacker._run_trial(self.models, self.data, self.labels, stats, 0, start)
        return x, stats["Trial_0_Val"]


def distances(case, where):
    """Their distance over ours, of random embeddings: mean, smallest, largest."""
    for attack, (settings, name, changes) in PEERS.items():
        ours = Matching(case.shared, settings)
        same, its = Peer(ours, name, changes), Peer(ours, name)
        sides = {"same settings": same.ratio, "tensors as one": same.ratio_as_one, "its settings": its.ratio}
        xs = [Matching(case.shared, settings, seed=seed).start() for seed in range(CANDIDATES)]
        for side, ratio in sides.items():
            found = [ratio(x) for x in xs]
            value = sum(found) / len(found), min(found), max(found), len(found)
            yield "distance over ours", attack, side, where, None, *value


def reading(case):
    """Share of pieces that are read from their own embedding, of every tenth that a text may have."""
    ours = Matching(case.shared, ATTACKS["DLG"])
    for side, read in (("textsan", ours.read), ("its settings", Peer(ours, "deepleakage").read)):
        hits, ids = [], ours.fixed.clone()
        for pieces in torch.arange(999, len(ours.words), 10).split(int(ours.free.sum()))[:-1]:
            ids[ours.free] = pieces.to(ids)
            hits += (torch.tensor(read(ours.words[ids])).to(ids) == ids)[ours.free].tolist()
        share = sum(hits) / len(hits)
        yield "read from its own embedding", None, side, None, None, share, None, None, len(hits)


def runs(case, where, seed):
    """Paths from the same start with the same settings, and ROUGE-1 of what both recover."""

    def row(attack, side, sentences, steps):
        found = scores.score(case, sentences)[0]
        return "ROUGE-1", attack, side, where, seed, found["rouge1"], None, None, steps

    for attack, (settings, name, changes) in PEERS.items():
        ours, other = (Matching(case.shared, settings.quicker(SHARE), seed=seed) for _ in range(2))
        outcome, start = ours.run(), other.start()
        yield row(attack, "textsan", outcome.sentences, len(outcome.history))
        same, its = Peer(ours, name, changes), Peer(ours, name)
        torch.manual_seed(seed)
        found = {"its settings": its.run(None), "same settings": same.run(start)}
        for side, (x, history) in (found | {"same, a tenth": same.run(start / 10)}).items():
            yield row(attack, side, ours.read(x), len(history))
            yield row(attack, side + ", its reading", its.read(x), len(history))
        if attack != "cosine":
            pairs = zip(found["same settings"][1], outcome.history, strict=True)
            off = max(abs(one / two - 1) for one, two in pairs)
            check, n = "path, largest relative difference", len(outcome.history)
            yield check, attack, "same settings", where, seed, off, None, None, n
    outcome = matching.attack(case.shared, "LAMP cos", share=SHARE, seed=seed)
    yield row("LAMP cos", "textsan", outcome.sentences, len(outcome.history))


def rows():
    victim = victims.small_victim(seed=0).double()
    drawn = cases.batches(load_dataset("rt"), 1, 2, seed=3, longest=6)
    made = {f"sentence {i + 1}": cases.make_case(victim, *batch) for i, batch in enumerate(drawn)}
    both = cases.make_case(victim, *(drawn[0][part] + drawn[1][part] for part in (0, 1)))
    for where, case in (made | {"both, padded": both}).items():
        yield from distances(case, where)
    yield from reading(made["sentence 2"])
    for where, case in made.items():
        for seed in range(SEEDS):
            yield from runs(case, where, seed)


def main():
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=raw)
    parser.add_argument("--out", type=Path, default=Path("data/results/gradients-peer.csv"))
    out = parser.parse_args().out
    warnings.filterwarnings("ignore")  # torch's, about what breaching uses and is deprecated by now
    frame = pd.DataFrame(rows(), columns=COLUMNS).astype({"seed": "Int64"})
    made = {
        "data": "rt, two sentences of at most six words (seed 3); the small victim (seed 0) in float64",
        "steps": f"n; {SHARE} of the published ones; of L-BFGS a {LBFGS}th, so as many gradients",
        "language model": "none",
        "seed": f"0 to {SEEDS - 1}",
        "made elsewhere": "with the package breaching",
    }
    store(out, frame, ["textsan", "breaching", "hydra-core", "omegaconf", "torch", "transformers"], made, "%.6g")


if __name__ == "__main__":
    main()
