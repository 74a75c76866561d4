"""One protocol for defences of a gradient: the same sentences, in batches of one size, are read and learnt from.

The attacker knows defence and setting, and so tries them on sentences of the attacker's own: this says where to
cut the spectrum, how much a residual weighs, and below which residual a piece is said to be in the batch. So
residuals are a likelihood of each piece at each place, and a language model reads along the likeliest ones.

The noise model: off the span that is found, the input of a true piece is Gaussian. A residual tells the piece far
better than its place, since the input of a piece at another place differs in the position alone: a piece of the
sentence is near everywhere. So the likelihood has a part for the piece, Student's of its residual r0 where it is
smallest, as if the variance differed from piece to piece, and a part for the place: log Pr(what is sent | piece,
place) is -weight log(1 + (r0 / scale)^2) - place (r^2 - r0^2) up to a constant. The three numbers are those that,
with the frequencies of pieces in public text as prior, make the true pieces of the attacker's own sentences
likeliest.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
import torch

from textsan.attacks import LanguageModelBayes
from textsan.channel import Channel
from textsan.gradient_leakage import cases, spans, victims
from textsan.models.encoders import load_tokenizer
from textsan.priors import LanguageModel, Prior
from textsan.text.corpora import load_dataset
from textsan_book.studies.experiments import takes_settings
from textsan_book.studies.gradient_defences import Client
from textsan_book.studies.gradients import PUBLIC, training_records

CUTS = (1e-6, 0.03, 0.1, 0.3)
"""Shares of the largest singular value below which an attacker may take the spectrum for noise."""
LISTED = 50
"""Candidates of a place for each sentence of a batch; of all together at most 400."""
FALSE_ALARMS = 0.01
"""Wanted: share of pieces that are not in the batch, and that the attacker says are."""

_SCALES = (1.0, 0.1, 0.01, 0.001)
_WEIGHTS = (0.0, *(2.0**k for k in range(-1, 10)))
_PLACES = (0.0, *(2.0**k for k in range(3, 16, 2)))
_STRANGERS = 64  # sentences that are not in any batch
_SAID_AT_MOST = 400
_ATTACHED = tuple(".,;:!?)'-%/")  # marks that follow a word without a blank


@takes_settings
def gradient_reading(client: Client, *, B: int, sentences: int, own: int, width: int) -> list[dict]:
    """Read the gradients of the first batches that a client sends with two attacks; a row a sentence.

    Where n sentences of a batch have a piece at a place, every attacker says n pieces for it; a piece of a
    sentence is read if it is among those said for its place. The sentences are the same for every B, a divisor of
    their number; `own` are batches of the attacker's; `width` is that of the language model's beam for each
    sentence of a batch. Of each sentence its pieces; how many of them are the nearest ones, are read by the beam,
    and by a beam without the gradient; how many are listed; how many pass the test, pieces of other sentences that
    were tried, and those of them that pass. Of each batch the rank of the undefended span by theory, and whether
    that is full.
    """
    seed, change = client.seed, client.change()
    victim = victims.load_victim(seed=seed)
    sending, public = map(client.short, (training_records(client.dataset, seed), _public_records()))
    known = Attacker.calibrated(victim, *_drawn(public, B, own, seed), change, seed)
    batches, strangers = _drawn(sending, B, sentences // B, seed)
    sent = [cases.make_case(victim, *one, defence=change, seed=seed + at) for at, one in enumerate(batches)]
    tables = [residual_tables(case, [known.cut])[0] for case in sent]
    likelihoods = [known.likelihood(table) for table in tables]
    lengths = [case.shared.lengths for case in sent]
    model = PieceModel.against(victim.name)
    answers = {"beam": read(victim, likelihoods, lengths, width, model)}
    answers["blind"] = read(victim, [0 * table for table in tables], lengths, width, model)
    answers["nearest"] = [_first(-table, most, victim) for table, most in zip(tables, lengths, strict=True)]
    joint = [_joint(likelihood, victim) for likelihood in likelihoods]
    listed = [_first(scores, most, victim, LISTED) for scores, most in zip(joint, lengths, strict=True)]
    rows, others = [], _by_place(victim, strangers)
    for at, (case, table) in enumerate(zip(sent, tables, strict=True)):
        theory, whole = spans.closure(_pairs(case)).rank, victim.words.shape[1]
        given = {"batch": at, "rank": min(theory, whole), "full": theory >= whole, **vars(known)}
        for sentence in case.sentences:
            places = [*enumerate(sentence)][1:-1]
            row = given | {"pieces": len(places)}
            row |= {name: sum(w in one[at][p] for p, w in places) for name, one in answers.items()}
            row["listed"] = sum(w in listed[at][p] for p, w in places)
            row["passed"] = sum(bool(table[w, p] < known.threshold) for p, w in places)
            tried = _strange(table, _pairs(case), others, [p for p, _ in places])
            rows.append(row | {"tried": len(tried), "alarms": int((tried < known.threshold).sum())})
    return [{"sentence": i} | row for i, row in enumerate(rows)]


# --- the attacker -----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Attacker:
    """Settings that an attacker has learnt from gradients of own sentences under the client's defence.

    They are the cut of the spectrum (of `CUTS`), the three numbers of the likelihood of residuals, and the
    threshold below which the residual of a piece says that it is in the batch.
    """

    cut: float
    scale: float
    weight: float
    place: float
    threshold: float

    def likelihood(self, residuals: np.ndarray) -> np.ndarray:
        """Compute log Pr(what is sent | piece, place) up to a constant, (pieces, places)."""
        least, further = _parts(residuals)
        return -self.weight * np.log1p(least[:, None] / self.scale**2) - self.place * further

    @classmethod
    def calibrated(cls, victim, batches: Sequence, strangers: Sequence[str], change: Callable | None, seed: int):
        """Choose cut, scale and weight of the largest likelihood, and the threshold of the wanted false alarms.

        `batches` are texts and labels of own batches, `strangers` own sentences that are in none of them.
        """
        numbered = enumerate(batches, seed + 500)  # seeds that are not those of the client
        sent = [cases.make_case(victim, *batch, defence=change, seed=k) for k, batch in numbered]
        prior = _public_pieces(victim.name).probabilities
        others, best = _by_place(victim, strangers), (-np.inf, cls(CUTS[0], 1.0, 0.0, 0.0, 0.0))
        pairs, by_cut = [*map(_pairs, sent)], zip(*(residual_tables(case, CUTS) for case in sent), strict=True)
        for cut, tables in zip(CUTS, by_cut, strict=True):
            logs = np.sum([_log_posteriors(*batch, prior) for batch in zip(tables, pairs, strict=True)], axis=0)
            if logs.max() > best[0]:
                both = zip(tables, pairs, strict=True)
                false = np.concatenate([_strange(batch, own, others, _inside(batch)) for batch, own in both])
                threshold = float(np.quantile(false, FALSE_ALARMS))
                scale, weight, place = np.unravel_index(logs.argmax(), logs.shape)
                best = logs.max(), cls(cut, _SCALES[scale], _WEIGHTS[weight], _PLACES[place], threshold)
        return best[1]


def residual_tables(case: cases.Case, cuts: Sequence[float]) -> list[np.ndarray]:
    """Compute the residual of every piece at every place of the longest sentence, (pieces, places), for each cut.

    They are those of `spans.residuals`, from lengths along the basis, and from one decomposition for all cuts,
    shares of the largest singular value, the smallest one first. All ones where the span is full: nothing is off
    it, and what rounding leaves says nothing.
    """
    victim, places = case.shared.victim, max(case.shared.lengths)
    span = spans.span(spans.stacked(case.shared), cuts[0])
    part = victim.encoder.embeddings
    with torch.no_grad():
        words = victim.words.double()
        where = (part.position_embeddings.weight[:places] + part.token_type_embeddings.weight[0]).double()
        words, where = (one - one.mean(1, keepdim=True) for one in (words, where))
        norm = part.LayerNorm
        weight, bias = norm.weight.double(), norm.bias.double()
        scale = (_squares(words, where) / words.shape[1] + norm.eps).sqrt()
        words, where = words * weight, where * weight
        whole = _squares(words, where, bias, scale)
        along = [one @ span.basis.T for one in (words, where, bias)]
    tables = []
    for cut in cuts:
        rank = int((span.values > span.values[0] * cut).sum())
        if rank >= span.basis.shape[1]:
            tables.append(np.ones((len(words), places)))
            continue
        inside = _squares(*(one[..., :rank] for one in along), scale)
        tables.append((1 - inside / whole).clamp(min=0).sqrt().numpy())
    return tables


def _squares(words: torch.Tensor, places: torch.Tensor, bias: torch.Tensor | None = None, scale=1.0):
    """Squared length of (word + place) / scale + bias, of each of both."""
    sums = (words**2).sum(1)[:, None] + (places**2).sum(1) + 2 * words @ places.T
    if bias is None:
        return sums
    return sums / scale**2 + 2 * ((words @ bias)[:, None] + places @ bias) / scale + bias @ bias


def read(
    victim, likelihoods: Sequence[np.ndarray], lengths: Sequence[Sequence[int]], beam: int, source
) -> list[list[set]]:
    """Find the pieces of largest posterior at each place of each batch, with the beam of `LanguageModelBayes`.

    What is sent is a channel's output at each place, with log Pr(what is sent | piece, place), (pieces, places),
    up to a constant a place; and what reads is Bayes' rule for a source of sentences. Several sentences of a batch
    are one line of places to it. The sets are empty at both ends.
    """
    pieces, size = _vocabulary(victim.name), len(lengths[0])
    docs = [[f"{b} {p}" for p in range(1, max(sizes) - 1)] for b, sizes in enumerate(lengths)]
    inside = np.concatenate([one[:, 1:-1] for one in likelihoods], axis=1)
    matrix = np.exp(inside - inside.max(axis=0)) / inside.shape[1]
    matrix = np.hstack([matrix, np.maximum(1 - matrix.sum(axis=1, keepdims=True), 0)])
    channel = Channel.from_matrix(matrix, pieces, [*sum(docs, []), "elsewhere"])
    given = {"beam": beam * size, "k": min(LISTED * size, _SAID_AT_MOST)}
    attack = LanguageModelBayes(channel, source, prior=_public_pieces(victim.name), **given)
    positions = [(d, i) for d, doc in enumerate(docs) for i in range(len(doc))]
    answers = [[set() for _ in range(max(length))] for length in lengths]
    for (d, i), (numbers, logs) in zip(positions, attack.read(docs, positions), strict=True):
        best = np.argsort(-logs, kind="stable")[: _said_at(lengths[d], i + 1)]
        answers[d][i + 1] = set(numbers[best].tolist())
    return answers


class PieceModel(LanguageModel):
    """A source of the victim's pieces: half a causal language model, half frequencies, at every place anew.

    So no piece is much less likely than its frequency says, whatever was read before it. No blank stands before a
    piece that goes on a word, or before a mark. What the model makes of a word in several pieces is its own
    writing of it piece by piece, which it has seldom read.
    """

    frequencies: dict[str, float]

    @classmethod
    @cache
    def against(cls, encoder: str) -> "PieceModel":
        """Load the default causal model over the pieces of an encoder, once a process."""
        model, prior = cls.named(), _public_pieces(encoder)
        model.frequencies = dict(zip(prior.words, prior.probabilities, strict=True))
        return model

    def pieces(self, words: Iterable[str]) -> list[tuple[int, ...]]:
        words = list(words)
        new = [word for word in dict.fromkeys(words) if word not in self._pieces]
        if new:
            ids_of_new = self.tokenizer([*map(_written, new)], add_special_tokens=False).input_ids
            self._pieces |= {word: tuple(ids) or (self._start,) for word, ids in zip(new, ids_of_new, strict=True)}
        return [self._pieces[word] for word in words]

    def log_first(self, prefixes, rows, words) -> np.ndarray:
        return self._mixed(super().log_first(prefixes, rows, words), words)

    def advance(self, prefixes, rows, words):
        after, logs = super().advance(prefixes, rows, words)
        return after, self._mixed(logs, words)

    def _mixed(self, logs: np.ndarray, words: Sequence[str]) -> np.ndarray:
        return np.logaddexp(logs, np.log([self.frequencies[word] for word in words])) - np.log(2)


def _written(piece: str) -> str:
    """Write a piece as it stands in a text.

    >>> _written("##ness"), _written(","), _written("film")
    ('ness', ',', ' film')
    """
    if piece.startswith("##") and len(piece) > 2:
        return piece[2:]
    return piece if piece in _ATTACHED else " " + piece


# --- pieces and places ------------------------------------------------------------------------------------------


def _log_posteriors(table: np.ndarray, pairs: set, prior: np.ndarray) -> np.ndarray:
    """Sum up the log-posteriors of the true (piece, place) pairs of a table, (scales, weights, places)."""
    weights, places = np.array(_WEIGHTS)[:, None], np.array(_PLACES)
    least, further = _parts(table)
    logs = np.zeros((len(_SCALES), len(_WEIGHTS), len(_PLACES)))
    offs = [np.log1p(least / scale**2) for scale in _SCALES]
    ahead = [np.exp(-weights * (off - off.min())) * prior for off in offs]
    for place in _inside(table):
        true = [piece for piece, where in pairs if where == place and prior[piece]]
        behind = np.exp(-further[:, place, None] * places)
        for at, off in enumerate(offs):
            every = np.log(np.maximum(ahead[at] @ behind, 1e-300))
            own = weights * (off[true] - off.min()).sum() + places * further[true, place].sum()
            logs[at] += np.log(prior[true]).sum() - own - len(true) * every
    return logs


def _parts(table: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Squared residual of each piece where it is smallest, (pieces,), and how much it is larger elsewhere."""
    squares = table**2
    least = squares[:, _inside(table)].min(axis=1)
    return least, np.maximum(squares - least[:, None], 0)


def _inside(table: np.ndarray) -> range:
    """The places of a batch between [CLS] and the last [SEP]."""
    return range(1, table.shape[1] - 1)


def _joint(likelihood: np.ndarray, victim) -> np.ndarray:
    """Log-likelihood and log-frequency of every piece at every place."""
    with np.errstate(divide="ignore"):
        return likelihood + np.log(_public_pieces(victim.name).probabilities)[:, None]


def _first(scores: np.ndarray, lengths: Sequence[int], victim, times: int = 1) -> list[set]:
    """The pieces of largest score at each place, as many as sentences reach there, `times` as many if asked."""
    scores = scores.copy()
    scores[[*victim.special.values()]] = -np.inf
    answers: list[set] = [set() for _ in range(max(lengths))]
    for place in range(1, max(lengths) - 1):
        most = min(times * _said_at(lengths, place), _SAID_AT_MOST)
        answers[place] = set(np.argsort(-scores[:, place], kind="stable")[:most].tolist())
    return answers


def _said_at(lengths: Sequence[int], place: int) -> int:
    """Count the sentences that have a piece at a place, [SEP] apart."""
    return sum(place < length - 1 for length in lengths)


def _pairs(case: cases.Case) -> set[tuple[int, int]]:
    return {(piece, place) for row in case.sentences for place, piece in enumerate(row)}


def _by_place(victim, texts: Sequence[str]) -> dict[int, list[int]]:
    """The pieces of some sentences at each place, special ones apart."""
    ids, mask = victim.encode(texts)
    by_place: dict[int, list[int]] = {}
    for row, keep in zip(ids.tolist(), mask.sum(1).tolist(), strict=True):
        for place in range(1, keep - 1):
            by_place.setdefault(place, []).append(row[place])
    return by_place


def _strange(table: np.ndarray, pairs: set, others: dict, places: Iterable[int]) -> np.ndarray:
    """Residuals of pieces of other sentences, at places where the batch does not have them."""
    return np.array([table[w, p] for p in places for w in others.get(p, ()) if (w, p) not in pairs])


def _drawn(records, B: int, number: int, seed: int) -> tuple[list, list[str]]:
    """The first batches, and texts of sentences that are in none; the same sentences for every B."""
    alone = cases.batches(records, 1, number * B + _STRANGERS, seed=seed)
    return cases.batches(records, B, number, seed=seed), [texts[0] for texts, _ in alone[number * B :]]


def _public_records() -> list:
    return [record for name in PUBLIC for record in load_dataset(name)]


@cache
def _vocabulary(encoder: str) -> list[str]:
    tokenizer = load_tokenizer(encoder)
    return [tokenizer.id_to_token(number) for number in range(tokenizer.get_vocab_size())]


@cache
def _public_pieces(encoder: str) -> Prior:
    """Frequencies of pieces in public text, one more counted of each; never a special or an unused one."""
    tokenizer, pieces = load_tokenizer(encoder), _vocabulary(encoder)
    read = tokenizer.encode_batch([record.text for record in _public_records()], add_special_tokens=False)
    counts = Counter(i for encoding in read for i in encoding.ids)
    special = [piece.startswith("[") and piece.endswith("]") and len(piece) > 2 for piece in pieces]
    weights = np.array([0 if out else counts[i] + 1 for i, out in enumerate(special)], dtype=float)
    return Prior(pieces, weights / weights.sum())
