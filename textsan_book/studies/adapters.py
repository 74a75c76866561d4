"""Training the adapters under `textsan/data/models/`: readers of public text, without the corpus that is attacked.

Beside each adapter is its recipe: the settings, and the hashes of encoder, text and result.
"""

import hashlib
import json
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import numpy as np

from textsan.attacks.expected_embeddings import ExpectedEmbeddings
from textsan.attacks.training_text import WINDOW, batches_by_length
from textsan.base import assets
from textsan.base.cache import write_whole
from textsan.mechanisms import CusText, SanTextPlus, least_frequent
from textsan.models import checkpoints, encoders
from textsan.sweeps.problems import CORPORA
from textsan.text.corpora import load_dataset, normalised
from textsan.text.loading import load_embeddings
from textsan.text.vocabulary import STOP_WORDS, count_words

BATCH, RATE = 32, 1e-3  # sentences of a step, highest learning rate
ROUND = 64  # batches sanitized with one mechanism, and steps between checkpoints
SANITIZERS = (
    ("custext+", 1.0),
    ("santext+", 2.0),
    ("custext+", 4.0),
    ("custext+", 8.0),
    ("custext+", 2.0),
    ("santext+", 4.0),
)
"""Mechanisms with which the attacker sanitizes the public text: names and epsilons, one a round."""
MASKED = 0.1  # share of attacked positions whose own slot is hidden
K = 20  # candidates


def public_sentences(without: str) -> list[list[str]]:
    """Read the tokens of the default corpora but one, less every sentence that this one has too."""
    if without not in CORPORA:
        raise KeyError(f"without: {without!r} is not a default corpus; known: {', '.join(CORPORA)}")
    attacked = {normalised(record.text) for record in load_dataset(without, split="all")}
    public = [record for name in CORPORA if name != without for record in load_dataset(name, split="all")]
    return [
        record.tokens[:WINDOW] for record in public if record.tokens and normalised(record.text) not in attacked
    ]


def text_sha256(docs: Iterable[Sequence[str]]) -> str:
    """Hash token lists, to name text that is not stored."""
    return hashlib.sha256("\n".join(map(" ".join, docs)).encode()).hexdigest()


def train_adapter(
    without: str,
    folder: Path = encoders.ADAPTERS,
    *,
    steps: int = 1536,
    seed: int = 0,
    checkpoint: Path | None = None,
    say: Callable[[str], None] = lambda line: None,
) -> Path:
    """Train the adapter `without-CORPUS`, with a seed for everything, and write it with its recipe into a folder.

    Each round the attacker sanitizes some public text with the next of `SANITIZERS`, over the vocabulary in a new
    order so that CusText forms new groups, and the reader learns to predict the original words, in batches of 32
    sentences. The file `checkpoint` keeps the state of a run that is killed, for the next one to go on from.
    """
    import torch

    from textsan.models.context_model import RANK, Reader, train

    docs = public_sentences(without)
    reader = Reader(seed=seed)
    losses: list[float] = []

    def after(step, loss, optimizer):
        losses.append(loss)
        if (step + 1) % ROUND == 0:
            if checkpoint:
                checkpoints.save(checkpoint, reader.trained(), optimizer, step + 1)
            say(f"without-{without}: step {step + 1} of {steps}, {np.mean(losses):.3f} nats a word")
            losses.clear()

    state = checkpoints.load(checkpoint, reader.trained())
    rounds = _Rounds(docs, reader, seed)
    train(reader, rounds, steps=steps, learning_rate=RATE, seed=seed, state=state, after=after)
    files = {file["path"]: file["sha256"] for file in assets.registry()["assets"][encoders.ENCODER]["files"]}
    recipe = {
        "command": f"textsan train-mlm {without} --steps {steps} --seed {seed}",
        "encoder": encoders.ENCODER,
        "encoder_sha256": files["model.safetensors"],
        "rank": RANK,
        "corpora": [name for name in CORPORA if name != without],
        "sentences": len(docs),
        "tokens": sum(map(len, docs)),
        "text_sha256": text_sha256(docs),
        "sanitizers": [f"{name} {epsilon:g}" for name, epsilon in SANITIZERS],
        "steps": steps,
        "sentences_a_step": BATCH,
        "learning_rate": RATE,
        "masked": MASKED,
        "candidates": K,
        "seed": seed,
        "torch": torch.__version__,
    }
    return _write(reader, recipe, folder / f"without-{without}.safetensors")


class _Rounds:
    """The batch of each step: public text, sanitized anew for every round; a function of seed and step alone."""

    def __init__(self, docs, reader, seed):
        self.docs, self.reader, self.seed = docs, reader, seed
        self.counts = count_words(docs)
        self.vectors = load_embeddings().restrict(sorted(self.counts))
        self.number = None

    def __call__(self, step: int):
        number, at = divmod(step, ROUND)
        if number != self.number:
            self._sanitize(number)
        part = self.batches[at]
        positions = [
            (n, i) for n, d in enumerate(part) for i, x in enumerate(self.originals[d]) if x in self.secret
        ]
        truths = [self.originals[part[n]][i] for n, i in positions]
        masked = np.random.default_rng([self.seed, 2, step]).random(len(positions)) < MASKED
        return self.slots.batch([self.released[d] for d in part], positions, truths, masked)[0]

    def _sanitize(self, number: int) -> None:
        size = ROUND * BATCH
        epoch, start = divmod(number * size, len(self.docs))
        epochs = range(epoch, epoch + 2 + size // len(self.docs))
        order = np.concatenate(
            [np.random.default_rng([self.seed, 0, e]).permutation(len(self.docs)) for e in epochs]
        )
        generator = np.random.default_rng([self.seed, 1, number])
        self.originals = [self.docs[d] for d in order[start : start + size]]
        mechanism = self._mechanism(*SANITIZERS[number % len(SANITIZERS)], generator)
        self.released = mechanism.sanitize(self.originals, seed=generator)
        self.slots = ExpectedEmbeddings(mechanism.channel, self.counts, self.reader, k=K, attacked=self.secret)
        self.batches = batches_by_length([len(doc) for doc in self.originals], BATCH, generator)
        self.number = number

    def _mechanism(self, name: str, epsilon: float, generator):
        words = generator.permutation(np.array(self.vectors.words, dtype=object)).tolist()
        vocabulary = self.vectors.restrict(words)
        if name == "custext+":
            self.secret = set(words) - STOP_WORDS
            return CusText(vocabulary, epsilon, keep=STOP_WORDS)
        self.secret = least_frequent(self.counts, words)
        return SanTextPlus(vocabulary, epsilon, sensitive=self.secret)


def _write(reader, recipe: dict, file: Path) -> Path:
    """The adapter in half precision, its recipe beside it; the recipe, with the hash, comes last."""
    import torch
    from safetensors.torch import save

    content = save({name: value.detach().to(torch.float16) for name, value in reader.trained().items()})
    recipe = recipe | {"sha256": hashlib.sha256(content).hexdigest(), "bytes": len(content)}
    file.parent.mkdir(parents=True, exist_ok=True)
    write_whole(file, content)
    write_whole(file.with_suffix(".json"), (json.dumps(recipe, indent=2) + "\n").encode())
    return file
