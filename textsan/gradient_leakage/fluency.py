"""Fluency of a text to an auxiliary language model: nats a token, of decoded strings.

Strings, so that the victim's vocabulary need not be the model's. A bigram model of public text costs nothing; a
causal language model is LAMP's way.
"""

from collections.abc import Callable, Sequence

import numpy as np

from textsan.models import causal
from textsan.text.vocabulary import count_words, tokenize_v1

_AT_ONCE = 32  # texts a forward


def bigram_fluency(docs: Sequence[Sequence[str]]) -> Callable[[list[str]], np.ndarray]:
    """Fit a bigram model with back-off to add-one word frequencies, from token lists of public text.

    >>> score = bigram_fluency([["a", "good", "film"]] * 3)
    >>> score(["a good film"])[0] < score(["film a good"])[0]
    np.True_
    """
    pairs: dict[tuple[str, str], int] = {}
    words = count_words(docs)
    for doc in docs:
        for pair in zip(["<s>", *doc], doc, strict=False):
            pairs[pair] = pairs.get(pair, 0) + 1
    firsts, total = {**words, "<s>": len(docs)}, sum(words.values()) + len(words) + 1

    def nats(text: str) -> float:
        tokens = tokenize_v1(text) or [""]
        losses = []
        for before, word in zip(["<s>", *tokens], tokens, strict=False):
            back, seen = (words.get(word, 0) + 1) / total, firsts.get(before, 0)
            losses.append(-np.log((pairs.get((before, word), 0) + 2 * back) / (seen + 2)))
        return float(np.mean(losses))

    return lambda texts: np.array([nats(text) for text in texts])


def causal_fluency(name: str = causal.CAUSAL) -> Callable[[list[str]], np.ndarray]:
    """Load a causal language model by name that gives mean nats a token; gpt2 is LAMP's."""
    import torch

    model, tokenizer = causal.load_causal(name), causal.load_causal_tokenizer(name)
    start = tokenizer.bos_token_id if tokenizer.bos_token_id is not None else tokenizer.eos_token_id

    def nats(texts: list[str]) -> np.ndarray:
        once = list(dict.fromkeys(texts))  # orders of a short sentence often agree
        nats_of = dict(zip(once, read(once), strict=True))
        return np.array([nats_of[text] for text in texts])

    def read(texts: list[str]) -> np.ndarray:
        rows = [[start, *tokenizer(text)["input_ids"]] for text in texts]
        means = np.zeros(len(rows))
        for at in range(0, len(rows), _AT_ONCE):
            part = rows[at : at + _AT_ONCE]
            longest = max(map(len, part))
            ids = torch.tensor([row + [start] * (longest - len(row)) for row in part])
            mask = torch.tensor([[1] * len(row) + [0] * (longest - len(row)) for row in part])
            ids, mask = ids.to(model.device), mask.to(model.device)
            with torch.no_grad():
                logs = model(input_ids=ids, attention_mask=mask).logits.float().log_softmax(-1)
            scores = logs[:, :-1].gather(2, ids[:, 1:, None])[:, :, 0] * mask[:, 1:]
            means[at : at + _AT_ONCE] = (-scores.sum(1) / mask[:, 1:].sum(1).clamp(min=1)).cpu().numpy()
        return means

    return nats
