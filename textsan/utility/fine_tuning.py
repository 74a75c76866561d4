"""The fine-tuned protocol: an encoder with a fresh head on its pooled output, all of it trained.

As in both papers; theirs is bert-base-uncased, 3 epochs, 128 pieces, batches of 64 and a rate of 2e-5.
"""

import numpy as np

from textsan.models import encoders
from textsan.utility.examples import Examples, Pieces
from textsan.utility.scores import Outcome, check_classes, chosen

_AT_ONCE = 64  # texts a forward, where nothing is learnt
_WARM_UP = 0.1  # share of the steps over which the rate rises


def learn(
    train: Examples,
    validation: Examples,
    test: Examples,
    metric: str,
    *,
    pieces: Pieces | None = None,
    model=None,
    epochs: int = 3,
    batch: int = 32,
    learning_rate: float = 1e-4,
    seed: int = 0,
) -> Outcome:
    """Train encoder and head with AdamW, and take the epoch that is best on the validation part.

    Args:
        train, validation, test, metric, pieces: as for `frozen.learn`.
        model: an encoder whose weights start it; it stays as it is. None is as published.
        epochs: after each of which the model is a candidate.
        learning_rate: the highest; it rises for a tenth of the steps, then falls to 0.
    """
    import torch

    pieces = pieces or Pieces()
    numbers = metric == "Pearson r"
    check_classes(metric, train)
    parts = [_read(part, pieces) for part in (train, validation, test)]
    generator = np.random.default_rng(seed)
    with encoders.seeded(seed):
        whole = encoders.load_encoder(pieces.encoder, classes=1 if numbers else 2).to(encoders.pick_device())
        if model is not None:
            whole.base_model.load_state_dict(model.state_dict(), strict=False)
        optimizer = torch.optim.AdamW(whole.parameters(), lr=learning_rate, weight_decay=0.01)
        steps = epochs * -(-len(train) // batch)
        rate = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: _rate(step, steps))
        answers = []
        for _ in range(epochs):
            _epoch(whole, parts[0], train.labels, numbers, batch, generator, optimizer, rate)
            answers.append([_answers(whole, part, numbers) for part in parts[1:]])
    return chosen(metric, validation, test, answers, [f"epoch {epoch + 1}" for epoch in range(epochs)])


def _rate(step: int, steps: int) -> float:
    rising = max(1, round(_WARM_UP * steps))
    return (step + 1) / rising if step < rising else (steps - step) / max(1, steps - rising)


def _read(examples: Examples, pieces: Pieces) -> list[tuple[list[int], int]]:
    """Frame the pieces of each example, and count those of the first text's side."""
    first = pieces.of(examples.first)
    if examples.second is None:
        return [([pieces.first, *text[: pieces.longest - 2], pieces.last], pieces.longest) for text in first]
    room = pieces.longest - 3
    framed = []
    for one, two in zip(first, pieces.of(examples.second), strict=True):
        cut = max(room // 2, room - len(two))  # the longer text gives way first
        one, two = one[:cut], two[: room - min(len(one), cut)]
        framed.append(([pieces.first, *one, pieces.last, *two, pieces.last], len(one) + 2))
    return framed


def _inputs(examples, device):
    import torch

    ids = torch.nn.utils.rnn.pad_sequence([torch.tensor(pieces) for pieces, _ in examples], batch_first=True)
    at = torch.arange(ids.shape[1])
    attended = at < torch.tensor([[len(pieces)] for pieces, _ in examples])
    second = (at >= torch.tensor([[first] for _, first in examples])) & attended
    inputs = {"input_ids": ids, "attention_mask": attended.long(), "token_type_ids": second.long()}
    return {name: value.to(device) for name, value in inputs.items()}


def _epoch(model, examples, labels, numbers, batch, generator, optimizer, rate) -> None:
    import torch

    model.train()
    lengths = np.array([len(one) for one, _ in examples]) * generator.uniform(1, 1.2, len(examples))
    order = np.argsort(lengths, kind="stable")
    for start in generator.permutation(range(0, len(order), batch)):
        some = order[start : start + batch]
        logits = model(**_inputs([examples[i] for i in some], model.device)).logits
        wanted = torch.tensor(labels[some], device=model.device)
        if numbers:
            loss = torch.nn.functional.mse_loss(logits[:, 0], wanted.float())
        else:
            loss = torch.nn.functional.cross_entropy(logits, wanted.long())
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        rate.step()
        optimizer.zero_grad()
    model.eval()


def _answers(model, examples, numbers) -> np.ndarray:
    import torch

    order = np.argsort([len(one) for one, _ in examples], kind="stable")
    answers = np.empty(len(examples))
    for start in range(0, len(order), _AT_ONCE):
        some = order[start : start + _AT_ONCE]
        with torch.inference_mode():
            logits = model(**_inputs([examples[i] for i in some], model.device)).logits
        answers[some] = (logits[:, 0] if numbers else logits.argmax(dim=1)).cpu().numpy()
    return answers
