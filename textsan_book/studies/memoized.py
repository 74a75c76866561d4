"""Fresh noise at each place of a word against one draw for all of them, under attackers who use what each shows.

The attacker scores a word x for all c places of a scope that are seen, or told, to hold one word,

    log Pr(x) + log P(ys | x) + a log Poisson(c - 1; n Pr(x)) + b sum over the places of log m(x) / Pr(x),

ys what was drawn for it (one word, or c words under fresh noise of which the attacker is told that they are of
one), n the words of the scope, and m what a bigram model expects at a place: the forward-backward message, without
what the place itself emits. Messages and scores take turns, each place being sent what the others say (belief
propagation). a and b are chosen on text of the attacker's own, sanitized in the same way. Under fresh noise of
which nothing is told each place is by itself: c = 1, and a plays no part.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.special import gammaln, xlogy

from textsan.attacks.forward_backward import Sparse, Transitions, smooth
from textsan.evaluation import clustered_difference, clustered_rate
from textsan.mechanisms import Mechanism, Memoized, make_mechanism
from textsan.priors import InterpolatedModel
from textsan.text.corpora import load_dataset, private_and_shadow
from textsan.text.loading import load_embeddings
from textsan.text.vocabulary import count_words
from textsan_book.studies.experiments import Release, columns, takes_settings
from textsan_book.studies.writer import content_words

Docs = Sequence[Sequence[str]]

SCOPES = ("document", "file")
OCCURRENCES = {"all": (1, 10**9), "1": (1, 1), "2-3": (2, 3), "4-9": (4, 9), "10+": (10, 10**9)}
"""Places of a word in the scope: bounds of each group of positions."""

_COUNTS, _CONTEXT = (0.0, 0.25, 0.5, 1.0), (0.0, 0.5, 1.0)  # a and b that are tried
_CANDIDATES = 20  # of a released word
_TURNS = 1  # of messages after the first
_PIECE, _PIECES = 20, 256  # tokens of a piece that messages run through, and pieces at a time
_TYPES = 256  # whose scores over all words are held at a time
_IMPOSSIBLE = -1e9


class Places(NamedTuple):
    """The places of a text, one after the other, (n,) each; attacked are content words of the vocabulary.

    Which places these are the attacker is given.
    """

    document: np.ndarray
    truth: np.ndarray
    released: np.ndarray
    attacked: np.ndarray

    def keys(self, scope: str, words: np.ndarray) -> np.ndarray:
        """Number, (n,), all places of a scope with the same word alike, attacked ones apart from others."""
        of = self.document if scope == "document" else np.zeros_like(self.document)
        number = np.unique(words, return_inverse=True)[1]
        return np.unique(np.column_stack([of, number, self.attacked]), axis=0, return_inverse=True)[1].ravel()


class Evidence(NamedTuple):
    """The likelihoods of each place by its releases alone.

    `keys` (n,) are equal where one word is known to stand, `size` (n,) the words of the scope. `inputs` (n, k) are
    numbers of candidates, the same for equal keys and -1 where there are fewer, with `logs`, their log Pr(releases
    | candidate). `chains` are numbers of places, (pieces, length), and the candidate states there.
    """

    places: Places
    keys: np.ndarray
    size: np.ndarray
    inputs: np.ndarray
    logs: np.ndarray
    chains: list[tuple[np.ndarray, Sparse]]


@takes_settings
def memoized_attacks(release: Release, *, n_released: int, n_shadow: int, vocabulary: int = 5_000) -> list[dict]:
    """Attack content words under fresh noise and under one draw for all places in a document or in the file.

    A file has `n_released` documents; as many more of the attacker's own choose a and b, and `n_shadow` have the
    attacker's bigrams counted in, with the public table. Rows have scope ("document", "file"), attack, occurrences
    (of the word in the scope), n, asr with ends, gain with ends, over the attack by context on fresh noise, and a
    (counts) and b (context) as chosen. Attacks are on "fresh" noise, on it "told" which places hold the same word,
    and on one draw ("once"); by the word alone, by counts, by context. Intervals are over documents.
    """
    records, seed = load_dataset(release.dataset, "all"), release.seed
    private, shadow = private_and_shadow(records, n_released, n_shadow + n_released, seed)
    docs, own = ([list(record.tokens) for record in part] for part in (private, shadow))
    known = load_embeddings().frequent(vocabulary)
    counts = count_words(own[n_released:])
    mechanism = make_mechanism(release.defence, known, counts=counts, epsilon=release.epsilon)
    attacker = Attacker(mechanism, own[n_released:])
    learnt, attacked = _released(attacker, mechanism, own[:n_released], docs, seed)
    a_b, fresh = _guesses(attacker, attacker.alone(learnt), attacker.alone(attacked), counts=False)
    rows = []
    for scope in SCOPES:
        noised = [attacker.shared(places, scope, once=False) for places in (learnt, attacked)]
        told = _guesses(attacker, *noised, counts=False)
        shown = _released(attacker, Memoized(mechanism, scope), own[:n_released], docs, seed)
        once = _guesses(attacker, *(attacker.shared(places, scope, once=True) for places in shown), counts=True)
        hits, chosen = {}, {}
        for name, (weights, guesses) in {"fresh": (a_b, fresh), "told": told, "once": once}.items():
            hits |= {f"{name}{by}": attacker.hits(attacked, guess) for by, guess in guesses.items()}
            chosen |= {f"{name}{by}": weights[by] for by in guesses}
        rows += _rows(scope, hits, chosen, attacked)
    return rows


class Attacker:
    """An attacker who knows the mechanism, owns other text, and is given which places hold content words."""

    def __init__(self, mechanism: Mechanism, shadow: Docs):
        self.channel, self.content = mechanism.channel, content_words(mechanism)
        self.model = InterpolatedModel.fit(shadow, self.channel.inputs)
        self.states = np.array([self.model.index[word] for word in self.channel.inputs])
        self.is_content = np.array([word in self.content for word in self.channel.inputs])
        self.log_prior = np.log(np.maximum(self.model.unigram[self.states], 1e-12))
        self._transitions = Transitions(self.model, 1.0)

    def places(self, docs: Docs, released: Docs) -> Places:
        """Lay out documents and what became of them."""
        truth, out = (np.array([word for doc in text for word in doc]) for text in (docs, released))
        attacked = np.array([word in self.content for word in truth])
        return Places(np.repeat(np.arange(len(docs)), [len(doc) for doc in docs]), truth, out, attacked)

    def hits(self, places: Places, guesses: np.ndarray) -> np.ndarray:
        """Tell which attacked places are guessed right, (attacked places,)."""
        index = self.channel.input_index
        return guesses[places.attacked] == [index[word] for word in places.truth[places.attacked]]

    def alone(self, places: Places) -> Evidence:
        """Collect the evidence of each place by itself."""
        return self._evidence(places, np.arange(len(places.truth)), "document", *self._candidates(places))

    def shared(self, places: Places, scope: str, *, once: bool) -> Evidence:
        """Collect what places of a scope show that hold the same word, drawn once, or at each and told.

        Half of the candidates are likely by what was drawn, half by the count as well.
        """
        inputs, logs = self._candidates(places)
        keys = places.keys(scope, places.released if once else places.truth)
        keys = np.where(places.attacked, keys, keys.max() + 1 + np.arange(len(keys)))
        order = np.flatnonzero(places.attacked)
        order = order[np.argsort(keys[order], kind="stable")]
        starts = np.append(np.unique(keys[order], return_index=True)[1], len(order))
        size, log_prior = self._size(places, scope), np.where(self.is_content, self.log_prior, _IMPOSSIBLE)
        for at in range(0, len(starts) - 1, _TYPES):
            part = order[starts[at] : starts[min(at + _TYPES, len(starts) - 1)]]
            outputs, column = np.unique(places.released[part], return_inverse=True)
            _, first, row, count = np.unique(
                keys[part], return_index=True, return_inverse=True, return_counts=True
            )
            drawn = np.zeros((len(first), len(outputs)))
            np.add.at(drawn, (row, column), 1.0)
            drawn = np.minimum(drawn, 1.0) if once else drawn
            summed = drawn @ np.maximum(self.channel.log_columns(outputs.tolist()), _IMPOSSIBLE)
            scores = summed + log_prior
            best = _best(scores, _CANDIDATES // 2)
            counted = scores + _log_count(count[:, None], size[part[first], None], self.log_prior)
            np.put_along_axis(counted, best, -np.inf, axis=1)
            best = np.hstack([best, _best(counted, _CANDIDATES // 2)])
            likely = np.take_along_axis(summed, best, axis=1)
            best[np.take_along_axis(scores, best, axis=1) < _IMPOSSIBLE / 2] = -1
            inputs[part], logs[part] = best[row], likely[row]
        return self._evidence(places, np.unique(keys, return_inverse=True)[1], scope, inputs, logs)

    def guess(self, evidence: Evidence, a: float, b: float) -> np.ndarray:
        """Guess (n,) numbers of the inputs with weights of counts (a) and of context (b)."""
        _, keys, size, inputs, logs, _ = evidence
        log_prior = np.where(inputs >= 0, self.log_prior[inputs], 0.0)
        count = np.bincount(keys)[keys, None]
        scores = np.where(inputs >= 0, logs + a * _log_count(count, size[:, None], log_prior), _IMPOSSIBLE)
        own = context = np.zeros_like(scores)
        for _ in range(bool(b) * (1 + _TURNS * bool((count > 1).any()))):
            own = self._messages(evidence, scores + b * (context - own)) - log_prior
            total = np.zeros((keys.max() + 1, scores.shape[1]))
            np.add.at(total, keys, own)
            context = total[keys]
        best = (scores + log_prior + b * context).argmax(axis=1)
        return inputs[np.arange(len(inputs)), best]

    def _evidence(self, places: Places, keys, scope: str, inputs, logs) -> Evidence:
        states = np.where(inputs < 0, len(self.model.words), self.states[inputs])
        chains = []
        for piece in _pieces(places):
            listed, empty = list(states[piece].swapaxes(0, 1)), [np.zeros(0)] * piece.shape[1]
            chains.append((piece, Sparse(self._transitions, listed, empty)))
        return Evidence(places, keys, self._size(places, scope), inputs, logs, chains)

    def _size(self, places: Places, scope: str) -> np.ndarray:
        """(n,) words of the scope of each place."""
        lengths = np.bincount(places.document)
        return lengths[places.document] if scope == "document" else np.full(len(places.document), lengths.sum())

    def _candidates(self, places: Places) -> tuple[np.ndarray, np.ndarray]:
        """(n, k) inputs, -1 where there are fewer, with log P(y | x)."""
        inputs = np.full((len(places.released), _CANDIDATES), -1)
        logs = np.zeros(inputs.shape)
        for group, there in ((self.is_content, places.attacked), (~self.is_content, ~places.attacked)):
            outputs, which = np.unique(places.released[there], return_inverse=True)
            known = np.array([word in self.channel.output_index for word in outputs], dtype=bool)
            best, joint = np.full((len(outputs), _CANDIDATES), -1), np.full((len(outputs), _CANDIDATES), -np.inf)
            log_prior = np.where(group, self.log_prior, -np.inf)
            best[known], joint[known] = self.channel.best_inputs(log_prior, outputs[known].tolist(), _CANDIDATES)
            best[joint == -np.inf] = -1
            inputs[there], logs[there] = best[which], np.where(best >= 0, joint - self.log_prior[best], 0.0)[which]
        return inputs, logs

    def _messages(self, evidence: Evidence, scores: np.ndarray) -> np.ndarray:
        """(n, k) log of what the model expects at each place, up to a constant, without its scores."""
        listed = evidence.inputs >= 0
        emissions = np.where(listed, np.maximum(np.exp(scores - scores.max(axis=1, keepdims=True)), 1e-30), 0.0)
        emissions[~listed.any(axis=1), 0] = 1.0  # a word without a row, or one that is no input
        messages = np.zeros(scores.shape)
        for piece, chain in evidence.chains:
            chain.emissions = list(emissions[piece].swapaxes(0, 1))
            for at, posterior in zip(piece.T, smooth(chain, self._transitions), strict=True):
                messages[at] = np.log(np.maximum(posterior, 1e-300))
        messages = np.where(listed, messages - np.log(np.maximum(emissions, 1e-300)), 0.0)
        return messages - messages.max(axis=1, keepdims=True)


def _log_count(count, size, log_prior) -> np.ndarray:
    """log Poisson(c - 1; n Pr(x))."""
    mean = size * np.exp(log_prior)
    return xlogy(count - 1, mean) - mean - gammaln(count)


def _best(scores: np.ndarray, k: int) -> np.ndarray:
    """The k columns of largest score, a row each, in any order."""
    return np.argpartition(scores, -k, axis=1)[:, -k:]


def _released(attacker: Attacker, mechanism: Mechanism, own: Docs, docs: Docs, seed: int) -> list[Places]:
    """The attacker's text and the attacked one, with what the mechanism makes of them."""
    return [
        attacker.places(text, mechanism.sanitize(text, np.random.default_rng([seed, number])))
        for number, text in enumerate((own, docs))
    ]


def _guesses(attacker: Attacker, learnt: Evidence, attacked: Evidence, *, counts: bool) -> tuple[dict, dict]:
    """The weights that hit most of the attacker's own text, and the guesses, by what is used."""

    def right(a: float, b: float) -> int:
        return int(attacker.hits(learnt.places, attacker.guess(learnt, a, b)).sum())

    a = max(_COUNTS, key=lambda a: right(a, 0.0)) if counts else 0.0
    weights = {"": (0.0, 0.0)} | ({", counts": (a, 0.0)} if counts else {})
    weights[", counts, context" if counts else ", context"] = a, max(_CONTEXT, key=lambda b: right(a, b))
    return weights, {name: attacker.guess(attacked, *pair) for name, pair in weights.items()}


def _pieces(places: Places) -> list[np.ndarray]:
    """(pieces, length) numbers of places that follow each other in a document, pieces of one length together."""
    by_length: dict[int, list[np.ndarray]] = {}
    for document in np.split(np.arange(len(places.document)), np.flatnonzero(np.diff(places.document)) + 1):
        for at in range(0, len(document), _PIECE):
            piece = document[at : at + _PIECE]
            by_length.setdefault(len(piece), []).append(piece)
    batches = [pieces[at : at + _PIECES] for pieces in by_length.values() for at in range(0, len(pieces), _PIECES)]
    return list(map(np.array, batches))


def _rows(scope: str, hits: dict[str, np.ndarray], chosen: dict, places: Places) -> list[dict]:
    keys = places.keys(scope, places.truth)
    times, documents, rows = np.bincount(keys)[keys][places.attacked], places.document[places.attacked], []
    for name, (low, high) in OCCURRENCES.items():
        group = (low <= times) & (times <= high)
        for attack, right in hits.items() if group.any() else ():
            a, b = chosen[attack]
            row = {"scope": scope, "attack": attack, "occurrences": name, "n": int(group.sum())}
            gains = right[group].astype(float) - hits["fresh, context"][group]
            row |= columns(clustered_rate(right[group], documents[group]))
            row |= columns(clustered_difference(gains, documents[group]), "gain_")
            rows.append(row | {"counts": a, "context": b})
    return rows
