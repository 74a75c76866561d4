"""The effect of each departure of released code from its paper, as far as channels and counts decide it.

Success is computed, not sampled: for each attacked word x the sum of Pr(y | x) over the outputs y for which the
attack answers x. So nothing depends on the draws of a sanitizer, and the 95 % intervals are those of the
sentences, resampled, both sides together. `rt` stands in for SST-2; where lines of one sentence are in question,
it is SST-2 itself, and intervals are over draws of shadow lines.
"""

from dataclasses import replace
from functools import partial
from typing import NamedTuple

import numpy as np
from scipy import sparse

from textsan.attacks import ContextFreeBayes
from textsan.base import checks
from textsan.channel import Channel
from textsan.evaluation import bootstrap_difference
from textsan.mechanisms import CusText
from textsan.sweeps import problems
from textsan.text.corpora import load_dataset
from textsan.text.loading import load_embeddings
from textsan.text.vocabulary import STOP_WORDS, count_words, tokenize_v1

VOCABULARY = 10_000
"""So many of the most frequent words of the embeddings; of SST-2 the words of the data."""

_CORPUS, _N_PRIVATE, _N_SHADOW, _SEED = "rt", 1000, 1000, 0
_EPSILONS = {"custext+": (1.0, 2.0, 4.0, 8.0), "santext+": (2.0, 2.4, 2.8, 3.2)}
_GIVEN: dict[str, dict] = {"custext+": {"mapping": "overlapping", "normalise": "group"}}
_GIVEN |= {"santext+": {"w": 0.999, "p": 0.0}}
_ATTACKED = {"custext+": 3000, "santext+": 1000}  # positions of Tong et al. 2024
_TYPES, _REPEATS = 1000, 20  # its sanitized types under attack; draws of shadow lines from SST-2
_K = 20


class Score(NamedTuple):
    """Expected hits and attacked words of each sentence."""

    hits: np.ndarray
    words: np.ndarray

    @property
    def rate(self) -> float:
        return float(self.hits.sum() / self.words.sum())


# --- expected success -----------------------------------------------------------------------------------------


def _answers(attack: ContextFreeBayes) -> np.ndarray:
    """Row number of the input that the attack answers to each output."""
    channel = attack.channel
    best = attack.tabulated().numbers[:, 0]
    own = np.array([channel.input_index.get(word, -1) for word in channel.outputs])
    return np.where(best >= 0, best, own)


def _equal(channel: Channel, guesses: np.ndarray) -> sparse.csr_array:
    """1 where the answer to an output is the input, (n_in, n_out)."""
    known = np.flatnonzero(guesses >= 0)
    return sparse.csr_array((np.ones(len(known)), (guesses[known], known)), shape=channel.shape)


def _contained(channel: Channel, guesses: np.ndarray) -> sparse.csr_array:
    """1 where the answer to an output contains the input."""
    rows, columns = [], []
    for column, guess in enumerate(guesses):
        word = channel.inputs[guess]
        parts = {word[i:j] for i in range(len(word)) for j in range(i + 1, len(word) + 1)}
        found = [channel.input_index[part] for part in parts if part in channel.input_index]
        rows += found
        columns += [column] * len(found)
    return sparse.csr_array((np.ones(len(rows)), (rows, columns)), shape=channel.shape)


def _expected(channel: Channel, hit: sparse.csr_array | None, outputs=None) -> np.ndarray:
    """Sum of Pr(y | x) over the outputs that are a hit for x (None: all are), over some of them if given."""
    success = np.zeros(channel.shape[0])
    for at in range(0, len(success), 256):
        rows = np.arange(at, min(at + 256, len(success)))
        weights = np.ones((len(rows), channel.shape[1])) if hit is None else hit[rows].toarray()
        if outputs is not None:
            weights *= outputs
        success[rows] = (channel.rows(rows) * weights).sum(axis=1)
    return success


def _score(problem, by_word: np.ndarray, weight: np.ndarray | None = None) -> Score:
    """Hits and words by sentence, from what each input of the channel contributes."""
    documents = np.array([document for document, _ in problem.positions])
    rows = np.array([problem.mechanism.channel.input_index[word] for word in problem.truth.words])
    size = len(problem.split.private)
    counted = np.bincount(documents, None if weight is None else weight[rows], size)
    return Score(np.bincount(documents, by_word[rows], size), counted.astype(float))


def _success(problem, channel=None, counts=None, constant=None, hit=_equal) -> Score:
    """Score the context-free attack, or with the counts of the truth and no constant its bound."""
    channel = problem.mechanism.channel if channel is None else channel
    counts = count_words(problem.split.shadow) if counts is None else counts
    attack = ContextFreeBayes(channel, counts, constant, attacked=problem.knowledge.attacked)
    return _score(problem, _expected(channel, hit(channel, _answers(attack))))


def _prepare(defence: str, epsilon: float, **other):
    drawn = _CORPUS, _N_PRIVATE, _N_SHADOW, None, _SEED
    return problems.prepare(*drawn, defence, epsilon=epsilon, vocabulary=VOCABULARY, **_GIVEN[defence] | other)


def _each(*defences: str):
    for defence in defences or _EPSILONS:
        for epsilon in _EPSILONS[defence]:
            yield defence, epsilon, _prepare(defence, epsilon)


# --- the departures: each yields (defence, epsilon, described, released) ------------------------------------


def _settings(defence: str, described: dict, released: dict):
    """Compare two settings of a mechanism."""
    for epsilon in _EPSILONS[defence]:
        yield defence, epsilon, *(_success(_prepare(defence, epsilon, **given)) for given in (described, released))


def _substring():
    for defence, epsilon, problem in _each():
        yield defence, epsilon, _success(problem), _success(problem, hit=_contained)


def _counters():
    """Compute what a baseline as good as the context-free attack prints: its mean over all smaller epsilons."""
    seen = []
    for epsilon in range(1, 9):
        seen.append(_success(_prepare("custext+", float(epsilon))))
        if epsilon in _EPSILONS["custext+"]:
            mean = Score(np.mean([score.hits for score in seen], axis=0), seen[-1].words)
            yield "custext+", float(epsilon), seen[-1], mean


def _output_space():
    """Each word's neighbours among all 400,000 words of GloVe 6B, not among those of the data."""
    options = {"k": _K, "mapping": "overlapping", "normalise": "row", "outputs": load_embeddings()}
    wide = CusText(_prepare("custext+", 1.0).split.embeddings, 1.0, keep=STOP_WORDS, **options)
    for defence, epsilon, problem in _each("custext+"):
        yield defence, epsilon, _success(problem), _success(problem, wide.with_(epsilon=epsilon).channel)


def _kept_unknown():
    """Compare words without a vector in all of GloVe, which count as attacked: drawn, or released as they are.

    Words that have one and are not of the vocabulary are no part of it: the released code has them in its list.
    """
    glove = load_embeddings()
    for defence, epsilon, problem in _each("santext+"):
        known = _success(problem)
        unknown = np.array([sum(word not in glove for word in doc) for doc in problem.split.private])
        words = known.words + unknown
        yield defence, epsilon, Score(known.hits, words), Score(known.hits + unknown, words)


def _bound_of_sentences():
    """The bound's prior: the attacked words, or all protected words of the sentences that they stand in."""
    for defence, epsilon, problem in _each():
        chosen = np.random.default_rng(_SEED).choice(len(problem.positions), _ATTACKED[defence], replace=False)
        positions = [problem.positions[i] for i in sorted(chosen)]
        few = replace(problem, truth=replace(problem.truth, positions=positions))
        sentences = count_words(problem.split.private[d] for d in sorted({d for d, _ in few.positions}))
        sides = (_success(few, counts=one, constant=0) for one in (count_words([few.truth.words]), sentences))
        yield defence, epsilon, *sides


def _frequent_types():
    """Attacked are the places whose released word is one of 1,000 that a sanitization at epsilon 8 contained."""
    high = _prepare("custext+", 8.0)
    released = sorted({high.released[d][i] for d, i in high.positions})
    types = set(np.random.default_rng(_SEED).permutation(released)[:_TYPES])
    for defence, epsilon, problem in _each("custext+"):
        channel, counts = problem.mechanism.channel, count_words(problem.split.shadow)
        among = np.array([word in types for word in channel.outputs], dtype=float)
        attack = ContextFreeBayes(channel, counts, attacked=problem.knowledge.attacked)
        hits, reached = (
            _expected(channel, _equal(channel, _answers(attack)), among),
            _expected(channel, None, among),
        )
        yield defence, epsilon, _success(problem), _score(problem, hits, reached)


_ONE_EACH = {"mapping": "disjoint"}
DEPARTURES = {
    "hits are counted by substring": _substring,
    "counters are never reset between epsilons": _counters,
    "each word has neighbours of its own": partial(_settings, "custext+", _ONE_EACH, {}),
    "neighbours come from all of GloVe": _output_space,
    "scores are normalised for each word": partial(
        _settings, "custext+", _ONE_EACH, _ONE_EACH | {"normalise": "row"}
    ),
    "w = 0.999 and p = 0 in place of 0.9 and 0.3": partial(_settings, "santext+", {"w": 0.9, "p": 0.3}, {}),
    "words without a vector are kept": _kept_unknown,
    "the bound's prior counts whole sentences": _bound_of_sentences,
    "attacked are 1,000 words that are released at epsilon 8": _frequent_types,
}


# --- two that are about draws -----------------------------------------------------------------------------------


def _other_positions():
    """An attack minus itself on two draws of as many words as the paper attacks: what comparisons may be off."""
    for defence, epsilon, problem in _each():
        rate, generator = _success(problem).rate, np.random.default_rng(_SEED)
        n, total = _ATTACKED[defence], len(problem.positions)
        hits = generator.random(total) < rate  # the order of the words does not matter here
        draws = [hits[generator.choice(total, 2 * n, replace=False)] for _ in range(1000)]
        differences = [draw[:n].mean() - draw[n:].mean() for draw in draws]
        yield defence, epsilon, rate, rate, 0.0, *np.quantile(differences, [0.025, 0.975]), total


def _by_line():
    """SST-2: shadow lines of sentences that private lines are of, or of other sentences; 20,000 private lines."""
    records = load_dataset("sst2")
    generator = np.random.default_rng(_SEED)
    source = np.array([record.fields["part_of"] for record in records])
    sentences = generator.permutation(np.unique(source))
    inside = np.isin(source, sentences[: 2 * len(sentences) // 3])
    lines = generator.permutation(np.flatnonzero(inside))
    private, left = lines[:20_000], lines[20_000:]
    pools = {"line": left, "sentence": np.flatnonzero(~inside)}
    tokens = [tokenize_v1(record.text) for record in records]
    words, glove = {word for line in tokens for word in line}, load_embeddings()
    known = glove.restrict(word for word in glove.words if word in words)
    mechanism = CusText(known, 4.0, mapping="overlapping", keep=STOP_WORDS)
    channel, spared = mechanism.channel, STOP_WORDS & set(mechanism.inputs)
    attacked = count_words(tokens[i] for i in private)
    true = np.array([0 if word in spared else attacked[word] for word in channel.inputs], dtype=float)
    true /= true.sum()
    rates = {name: [] for name in pools}
    for _ in range(_REPEATS):
        for name, pool in pools.items():
            counts = count_words(tokens[i] for i in generator.choice(pool, 1000, replace=False))
            guesses = _answers(ContextFreeBayes(channel, counts, attacked=set(channel.inputs) - spared))
            rates[name].append(true @ _expected(channel, _equal(channel, guesses)))
    shared = {name: float(np.isin(source[pool], source[private]).mean()) for name, pool in pools.items()}
    difference = np.array(rates["line"]) - rates["sentence"]
    mean, half = difference.mean(), 1.96 * difference.std(ddof=1) / np.sqrt(_REPEATS)
    note = f"{shared['line']:.3f} of the shadow lines are of private sentences; "
    note += f"{shared['sentence']:.3f} by sentence"
    sides = np.mean(rates["sentence"]), np.mean(rates["line"])
    return "custext+", 4.0, *sides, mean, mean - half, mean + half, int(attacked.total()), note


_POSITIONS = "attacks are compared on different words"
_LINES = "shadow and private text are disjoint by line only"


def departures(*, departure: str) -> list[dict]:
    """Measure the effect of one departure of `data/sweeps/departures.yml`, a row a setting.

    `described` is the success as the paper has it, `released` as the code does it, `effect` the second minus the
    first with its interval; a note names the data.
    """
    checks.choice("departure", departure, (*DEPARTURES, _POSITIONS, _LINES))
    if departure == _POSITIONS:
        rows = [(*row, _CORPUS) for row in _other_positions()]
    elif departure == _LINES:
        rows = [_by_line()]
    else:
        rows = [_effect(*sides) for sides in DEPARTURES[departure]()]
    columns = "defence epsilon described released effect low high n_positions note".split()
    return [dict(zip(columns, row, strict=True)) for row in rows]


def _effect(defence: str, epsilon: float, described: Score, released: Score) -> tuple:
    gain = bootstrap_difference(released, described, seed=_SEED)
    return defence, epsilon, described.rate, released.rate, *gain, round(described.words.sum()), _CORPUS
