"""The frozen protocol: an encoder's vectors, never trained, and a logistic or ridge head on them.

It costs one reading of every text, so that a cell of a grid takes seconds. It measures what a fixed reader still
finds in sanitized text; a fine-tuned encoder may adapt to the noise, and does so in `fine_tuning`.
"""

import warnings

import numpy as np

from textsan.models import encoders
from textsan.utility.examples import Docs, Examples, Pieces
from textsan.utility.scores import Outcome, check_classes, chosen

STRENGTHS = (0.1, 1.0, 10.0, 100.0)
"""Inverse weights of the head's penalty, of which the validation part chooses."""
_AT_ONCE = 16  # texts a forward: sorted by length, and filled up to the longest


def sentence_vectors(docs: Docs, pieces: Pieces, model=None) -> np.ndarray:
    """Average an encoder's last layer over the pieces of each text, scaled to length 1; (n, d) float32.

    The default encoder was trained to be read so (Reimers and Gurevych 2019).

    Args:
        model: an encoder; None is the one that the pieces are of, as it was published.
    """
    import torch

    model = model or encoders.load_encoder(pieces.encoder).to(encoders.pick_device())
    room = pieces.longest - 2
    ids = [[pieces.first, *doc[:room], pieces.last] for doc in pieces.of(docs)]
    order = np.argsort([len(row) for row in ids], kind="stable")
    vectors = np.empty((len(ids), model.config.hidden_size), dtype=np.float32)
    for start in range(0, len(order), _AT_ONCE):
        batch = order[start : start + _AT_ONCE]
        parts = [torch.tensor(ids[i]) for i in batch]
        read = torch.nn.utils.rnn.pad_sequence(parts, batch_first=True).to(model.device)
        lengths = torch.tensor([[len(part)] for part in parts], device=model.device)
        attended = torch.arange(read.shape[1], device=model.device) < lengths
        with torch.inference_mode():
            hidden = model(input_ids=read, attention_mask=attended.long()).last_hidden_state
        mean = (hidden * attended[:, :, None]).sum(1) / attended.sum(1, keepdim=True)
        vectors[batch] = torch.nn.functional.normalize(mean, dim=1).cpu().numpy()
    return vectors


def features(examples: Examples, pieces: Pieces, model=None) -> np.ndarray:
    """Compute the inputs of the head: u of a text; u, v, |u - v| and u v of a pair (Conneau et al. 2017)."""
    u = sentence_vectors(examples.first, pieces, model)
    if examples.second is None:
        return u
    v = sentence_vectors(examples.second, pieces, model)
    return np.hstack([u, v, np.abs(u - v), u * v])


def learn(
    train: Examples,
    validation: Examples,
    test: Examples,
    metric: str,
    *,
    pieces: Pieces | None = None,
    model=None,
) -> Outcome:
    """Fit a head on frozen vectors: logistic for classes, ridge for numbers.

    The penalty is chosen on the validation part, of equals the strongest.

    Args:
        train, validation, test: as they are to be read, sanitized or not.
        metric: one of `scores.METRICS`; "Pearson r" asks for numbers, the others for classes.
        pieces: how words are cut; None is the default encoder's way.
        model: as for `sentence_vectors`.
    """
    pieces = pieces or Pieces()
    check_classes(metric, train)
    model = model or encoders.load_encoder(pieces.encoder).to(encoders.pick_device())
    seen = [features(part, pieces, model) for part in (train, validation, test)]
    centre, scale = seen[0].mean(axis=0), seen[0].std(axis=0) + 1e-6
    seen = [(part - centre) / scale / np.sqrt(part.shape[1]) for part in seen]
    answers = [_fitted(metric, strength, seen[0], train.labels, seen[1:]) for strength in STRENGTHS]
    return chosen(metric, validation, test, answers, [f"strength {strength:g}" for strength in STRENGTHS])


def _fitted(metric, strength, seen, labels, others) -> list[np.ndarray]:
    """Answers of a head that was fitted with one penalty."""
    from sklearn.linear_model import LogisticRegression, Ridge

    if metric == "Pearson r":
        head = Ridge(alpha=len(seen) / (1000 * strength))
    else:
        head = LogisticRegression(C=strength, max_iter=300, tol=1e-3)
    with warnings.catch_warnings():  # a head that has not converged is worse on the validation part
        warnings.simplefilter("ignore")
        head.fit(seen, labels)
    return [head.predict(other).astype(float) for other in others]
