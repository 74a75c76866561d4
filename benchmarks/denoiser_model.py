"""The model of `benchmarks/denoiser.py`, which says what it is: a prompted language model, and its training."""

import json
import time

import numpy as np
import torch
from torch import nn

from textsan.attacks.shadow import batches_by_length
from textsan.experiments.training import public_sentences
from textsan.models import causal, checkpoints, encoders
from textsan.models.context_model import _LowRank
from textsan.priors import LanguageModel

RANK, LOWEST = 4, 10  # updates of every linear layer of blocks 10 to 29: 0.8 million numbers, 1.6 MB in float16
BATCH, RATE, LONGEST, EVERY = 16, 2e-3, 48, 25
HELD_OUT = 256  # public sentences


class Half(_LowRank):
    """An update in float32 of a layer of any precision."""

    def forward(self, x):
        y, low = self.linear(x), x.flatten(0, -2) @ self.down.to(x.dtype).T
        return torch.addmm(y.flatten(0, -2), low, self.up.to(x.dtype).T).view_as(y)


class Denoiser(LanguageModel):
    """A language model whose texts begin with prompts: `prompts`, one a text."""

    def __init__(self, rank=RANK, seed=0):
        super().__init__(causal.load_causal(), causal.load_causal_tokenizer())
        self.prompts = []
        with encoders.seeded(seed):
            for block in self.model.model.layers[LOWEST:] if rank else ():
                for parent in (block.self_attn, block.mlp):
                    for name, child in list(parent.named_children()):
                        if isinstance(child, nn.Linear):
                            setattr(parent, name, Half(child, rank))
        ask, answer, end = self.tokenizer(["Replaced:", "\nOriginal:", "\n"], add_special_tokens=False).input_ids
        self._ask, self._answer, self._newline = (self._start, *ask), answer, end[0]

    def trained(self):
        return {name: value for name, value in self.model.named_parameters() if value.requires_grad}

    def merge(self):
        """Adds the updates, as a file in float16 would have them, to the weights: reading is as fast as before."""
        for parent in list(self.model.modules()):
            for name, child in list(parent.named_children()):
                if isinstance(child, Half):
                    weight = child.linear.weight
                    with torch.no_grad():
                        weight.copy_(weight.float() + child.up.half().float() @ child.down.half().float())
                    setattr(parent, name, child.linear)
        return self

    def prompt(self, released):
        if released is None:
            return (self._start,)
        return (*self._ask, *(piece for one in self.pieces(released) for piece in one), *self._answer)

    def begin(self, n):
        assert n == len(self.prompts)
        return self._read(None, [self.prompt(released) for released in self.prompts])[0]

    def losses(self, pairs, protected):
        """Nats of each piece of the originals and of the end; its pair, or -1 where the word is not protected."""
        lines, targets = [], []
        for row, (released, original) in enumerate(pairs):
            ids = list(self.prompt(released))
            for word, pieces in zip(original, self.pieces(original), strict=True):
                for piece in pieces:
                    targets.append((row, len(ids) - 1, piece, row if word in protected else -1))
                    ids.append(piece)
            targets.append((row, len(ids) - 1, self._newline, -1))
            lines.append(ids)
        width = max(map(len, lines))
        ids = torch.tensor([one + [0] * (width - len(one)) for one in lines])
        there = torch.tensor([[1] * len(one) + [0] * (width - len(one)) for one in lines])
        targets = torch.tensor(targets)
        hidden = self.model.model(input_ids=ids, attention_mask=there, use_cache=False).last_hidden_state
        logits = self.model.get_output_embeddings()(hidden[targets[:, 0], targets[:, 1]]).float()
        return nn.functional.cross_entropy(logits, targets[:, 2], reduction="none"), targets[:, 3]


def texts(mechanism, seed=0):
    """Public sentences to train on, and pairs of a sanitized and an original one that are held out."""
    docs = [doc for doc in public_sentences("rt") if 3 <= len(doc) <= LONGEST]
    order = np.random.default_rng([seed, 0]).permutation(len(docs))
    held = [docs[d] for d in order[:HELD_OUT]]
    pairs = zip(mechanism.sanitize(held, seed=1_000_003), held, strict=True)
    seen = {" ".join(doc) for doc in held}
    left = [docs[d] for d in order[HELD_OUT:] if " ".join(docs[d]) not in seen]
    return left, sorted(pairs, key=lambda pair: len(pair[0]))


def train(model, mechanism, steps, checkpoint, seed=0):
    """By the likelihood of all original words; step i depends on i and the seed alone. Losses go into a file."""
    docs, _ = texts(mechanism, seed)
    model.model.set_attn_implementation("eager")  # its backward pass is the faster one for short sentences
    parameters, protected = model.trained(), mechanism.protected
    optimizer = torch.optim.AdamW(parameters.values(), lr=RATE, weight_decay=0.01)
    state = checkpoints.load(checkpoint, parameters)
    if state:
        optimizer.load_state_dict(optimizer.state_dict() | {"state": state["moments"]})
    number, a_round, shown, began = None, len(docs) // BATCH, [], time.time()
    for step in range(state["step"] if state else 0, steps):
        if step // a_round != number:
            number = step // a_round
            generator = np.random.default_rng([seed, 1, number])
            released = mechanism.sanitize(docs, seed=generator)
            batches = batches_by_length([len(doc) for doc in docs], BATCH, generator)
        pairs = [(released[d], docs[d]) for d in batches[step % a_round]]
        for group in optimizer.param_groups:
            group["lr"] = RATE * min(1.0, (step + 1) / (0.05 * steps)) * (1 - step / steps)
        loss, owner = model.losses(pairs, protected)
        optimizer.zero_grad()
        loss.mean().backward()
        nn.utils.clip_grad_norm_(parameters.values(), 1.0)
        optimizer.step()
        words = sum(x in protected for _, doc in pairs for x in doc)
        shown.append(float(loss[owner >= 0].detach().sum()) / max(1, words))
        if (step + 1) % EVERY == 0 or step + 1 == steps:
            checkpoints.save(checkpoint, parameters, optimizer, step + 1)
            line = {"step": step + 1, "nats": float(np.mean(shown)), "seconds": time.time() - began}
            with checkpoint.with_suffix(".jsonl").open("a") as file:
                file.write(json.dumps(line) + "\n")
            print(line, flush=True)
            shown, began = [], time.time()
    model.model.set_attn_implementation("sdpa")
