"""Sanitization-aware pretraining: blanks in sanitized text, filled in with the original words.

Yue et al. 2021, section 3.4: a masked language model goes on learning on public text that the defender sanitizes,
and predicts the *original* word where it sees a blank. The default encoder has no head that fills in blanks and
gets a fresh one, tied to its input embeddings, which stay as they are, so that a fair bare model is the same
encoder taught on text that nobody sanitized.
"""

from collections.abc import Callable, Sequence

import numpy as np

from textsan.base import checks
from textsan.mechanisms import Mechanism
from textsan.models import encoders
from textsan.utility.examples import Pieces

HIDDEN = 0.15
"""Share of the words that are to be predicted; of those 80 % are blanks, 10 % another piece, 10 % as they are
(section 5.1)."""

LONGEST = 32  # words of a sentence that are read
RATE = 5e-4  # highest learning rate


def masked_model():
    """Give the encoder, a transformers model, a fresh head that fills in blanks, tied to its input embeddings."""
    from transformers import BertForMaskedLM

    bare = encoders.load_encoder()
    with encoders.seeded(0):
        model = BertForMaskedLM(bare.config)
    model.base_model.load_state_dict(bare.state_dict(), strict=False)  # it has no place for the pooler
    return model.eval()


def pretrain(
    model,
    docs: Sequence[Sequence[str]],
    mechanism: Mechanism | None,
    *,
    steps: int,
    batch: int = 16,
    after: Callable[[int, float], None] | None = None,
) -> None:
    """Teach a `masked_model`, in place, to fill in blanks of sanitized text with the original words by AdamW.

    The learning rate rises for a twentieth of the steps, then falls to 0. Text is sanitized anew for each pass
    over it, by no mechanism for the bare model. A word is predicted where the original one is a single piece.
    `after` is called with each step's number and its loss in nats a blank.
    """
    import torch

    checks.whole("steps", steps, low=1)
    docs = [list(doc[:LONGEST]) for doc in docs if len(doc)]
    if len(docs) < checks.whole("batch", batch, low=1):
        raise ValueError(f"docs: {len(docs)} sentences make no batch of {batch}; pass more")
    blanks = _Blanks()
    model.to(encoders.pick_device())
    model.requires_grad_(True).get_input_embeddings().requires_grad_(False)
    learnt = [parameter for parameter in model.parameters() if parameter.requires_grad]
    optimizer = torch.optim.AdamW(learnt, lr=RATE, weight_decay=0.01)
    model.train()
    with encoders.seeded(0):
        for step, (originals, released) in enumerate(_batches(docs, mechanism, steps, batch)):
            warm = min(1.0, (step + 1) / max(1, 0.05 * steps))
            for group in optimizer.param_groups:
                group["lr"] = RATE * warm * (1 - step / steps)
            read = blanks.of(originals, released, np.random.default_rng([0, 2, step]))
            ids, attended, where, truths = (part.to(model.device) for part in read)
            hidden = model.base_model(input_ids=ids, attention_mask=attended).last_hidden_state
            logits = model.cls(hidden[where[:, 0], where[:, 1]])
            loss = torch.nn.functional.cross_entropy(logits, truths, reduction="sum") / max(1, len(truths))
            optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(learnt, 1.0)
            optimizer.step()
            if after:
                after(step, float(loss.detach()))
    model.eval()


def _batches(docs, mechanism, steps, batch):
    """The original and the released sentences of each step; within one pass no sentence comes twice."""
    a_pass = len(docs) // batch
    for step in range(steps):
        number, at = divmod(step, a_pass)
        if at == 0:
            order = np.random.default_rng([0, 0, number]).permutation(len(docs))
        originals = [docs[i] for i in order[at * batch : (at + 1) * batch]]
        if mechanism is None:
            yield originals, originals
        else:
            yield originals, mechanism.sanitize(originals, seed=0, first=step * batch)


class _Blanks:
    """Sentences as pieces, with blanks; of each blank the piece that the original word is."""

    def __init__(self):
        self.pieces = Pieces(encoders.ENCODER)
        [[self.mask]] = encoders.word_pieces([encoders.MASK])
        self.size = encoders.load_tokenizer().get_vocab_size()

    def of(self, originals, released, generator):
        import torch

        sequences, where, truths = [], [], []
        for number, (true, seen) in enumerate(zip(originals, released, strict=True)):
            sequence = [self.pieces.first]
            wanted, shown = ([self.pieces.of([[word]])[0] for word in words] for words in (true, seen))
            hidden, fates = generator.random((2, len(true)))
            for want, show, hides, fate in zip(wanted, shown, hidden < HIDDEN, fates, strict=True):
                if hides and len(want) == 1:
                    where.append((number, len(sequence)))
                    truths += want
                    if fate < 0.9:
                        show = [self.mask if fate < 0.8 else int(generator.integers(self.size))]
                sequence += show
            sequences.append(torch.tensor([*sequence, self.pieces.last]))
        ids = torch.nn.utils.rnn.pad_sequence(sequences, batch_first=True)
        attended = torch.arange(ids.shape[1]) < torch.tensor([[len(sequence)] for sequence in sequences])
        where = torch.tensor(where, dtype=torch.long).reshape(-1, 2)
        return ids, attended.long(), where, torch.tensor(truths, dtype=torch.long)
