"""Bayes with a language model for the source: a beam over words, and a posterior for each of them.

For a source q the posterior of a whole sentence is Pr(x_1 .. x_n | y) proportional to q(x_1 .. x_n) prod_t
Pr(y_t | x_t). A beam keeps the best prefixes at each position. A prefix that it drops is not lost where another
one with the same last word is kept: it joins that one, as if the source remembered the last word only. So what is
left is a graph, and forward and backward sums over it give Pr(x_t | y) of every position. This is exact with a
beam as wide as all sentences; for a Markov chain, with one as wide as the candidates of a position.

A released word that the mechanism keeps is taken for itself, or every "the" would split the beam among rare words
that could have become it. The one exception is a position that is asked about: an attacker who is told which words
are under attack knows that one of them stands there. A branch of the beam looks for it, and reads the next few
words, so that no other position gains by the question.
"""

from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

import numpy as np
import scipy

from textsan.attacks.base import Attack, Position, filled
from textsan.attacks.knowledge import Knowledge
from textsan.attacks.training_text import attacked_windows
from textsan.base import checks
from textsan.channel import Channel, Posterior
from textsan.models.causal import CAUSAL
from textsan.priors import LanguageModel, MarkovModel, Prior, good_turing

BEAM = 8
TEMPERATURE, COUNTS = 0.7, 0.5
"""Weights of the language model and of the attacker's word frequencies, if any: stated, first tried on `nyt`."""

_ROWS = 192  # prefixes that are read together
_AHEAD = 4  # words after a kept one that a branch reads
_REMEMBERED = 4096  # sentences whose posteriors are kept: those of one problem, for the next attack on it


class LanguageModelBayes(Attack):
    """Guesses the mode of Pr(x_t | y_1 .. y_n) for sentences that a language model is taken to have written.

    A prefix weighs prod_t Pr(y_t | x_t)^likelihood q(x_t | x_1 .. x_{t-1})^temperature Pr(x_t)^counts: with
    exponents 1, 1 and 0 it is Bayes' rule for the source q, which needs no text of the attacker's own.

    Args:
        model: the source: a `LanguageModel`, or a `MarkovModel` with a state for every word; a sentence that it
            rules out is answered as released.
        prior: word frequencies of the attacker's own text; None is all words alike.
        beam: prefixes that are kept a sentence.
        k: candidates a position, those of most Pr(y | x) Pr(x): so many of the words under attack, and of the
            others.
        mass: candidates are listed up to this share of their sum, those under attack and the others apart.
        temperature: exponent of the source, at least 0; above 0 for a chain with impossible steps.
        counts: exponent of `prior`, at least 0.
        likelihood: exponent of the channel, at least 0; with 0 it only says which words are candidates.

    >>> channel = Channel.from_matrix([[0.5, 0.5], [0.5, 0.5]], inputs=["a", "b"], outputs=["u", "v"])
    >>> model = MarkovModel.from_arrays(["a", "b", "the"], [0, 0, 1], [[0, 1, 0], [1, 0, 0], [0.75, 0.25, 0]])
    >>> LanguageModelBayes(channel, model).reconstruct([["the", "v", "u"]], [(0, 1), (0, 2)])
    ['a', 'b']
    """

    def __init__(
        self,
        channel: Channel,
        model: LanguageModel | MarkovModel,
        *,
        prior: Prior | None = None,
        beam: int = BEAM,
        k: int = 20,
        mass: float = 1.0,
        temperature: float = 1.0,
        counts: float = 0.0,
        likelihood: float = 1.0,
        attacked: Collection[str] | None = None,
    ):
        self.channel = channel
        self.source: Any = _Chain(model) if isinstance(model, MarkovModel) else model
        self.beam, self.k = checks.whole("beam", beam, low=1), checks.whole("k", k, low=1)
        self.mass = checks.number("mass", mass, low=0, high=1)
        self.temperature = checks.number("temperature", temperature, low=0)
        self.counts = checks.number("counts", counts, low=0)
        self.likelihood = checks.number("likelihood", likelihood, low=0)
        n = len(channel.inputs)
        probabilities = np.full(n, 1 / n) if prior is None else channel.prior_array(prior)
        with np.errstate(divide="ignore"):
            self._log_prior = np.log(probabilities)
        self.attacked = frozenset(channel.inputs if attacked is None else attacked)
        self._attackable = np.array([word in self.attacked for word in channel.inputs])
        self._listed: dict[str, _Candidates] = {}
        self._asked: dict[str, _Candidates] = {}  # kept words alone: of the word that is asked about
        self._pieces = 0

    @classmethod
    def against(
        cls,
        knowledge: Knowledge,
        *,
        model: str = CAUSAL,
        beam: int = BEAM,
        k: int = 20,
        mass: float = 0.99,
        temperature: float | None = None,
        counts: float | None = None,
        likelihood: float = 1.0,
    ) -> "LanguageModelBayes":
        """Make the attack with a model by name, or the resource "language model" where one is granted.

        Args:
            knowledge: a channel; shadow text or a prior tells how frequent words are, but need not be there.
            temperature, counts: as for the constructor; None is 1 and 0 without shadow text or a prior, else
                `TEMPERATURE` and `COUNTS`. With counts of 0 the shadow text is not looked at.
        """
        source = knowledge.resources.get("language model") or LanguageModel.named(model)
        informed = knowledge.prior is not None or bool(knowledge.shadow)
        if temperature is None:
            temperature = TEMPERATURE if informed else 1.0
        if counts is None:
            counts = COUNTS if informed else 0.0
        # Who counts nothing has no frequencies to list candidates by, either.
        prior = unseen_prior(knowledge, knowledge.shadow or ()) if informed and counts else None
        weights: dict[str, Any] = {"temperature": temperature, "counts": counts, "likelihood": likelihood}
        searched: dict[str, Any] = {"beam": beam, "k": k, "mass": mass, "attacked": knowledge.attacked}
        return cls(knowledge.channel, source, prior=prior, **searched, **weights)

    _reads_with = "source"

    @property
    def details(self) -> dict[str, float]:
        return {"pieces": self._pieces}

    def _posteriors(self, docs, positions, k):
        released = [docs[d][i] for d, i in positions]
        return Posterior.from_scores(
            positions, released, self.channel.inputs, *filled(self.read(docs, positions)), k
        )

    def read(self, docs: Sequence[Sequence[str]], positions: Sequence[Position]) -> list[tuple]:
        """List the inputs that each position can hold, with log Pr(x | y_1 .. y_n); none where all is known."""
        asked: dict[int, set[int]] = {}
        for d, i in positions:
            asked.setdefault(d, set()).add(i)
        found, parts = {}, attacked_windows(docs, positions)
        self._list({docs[d][i] for d, a, b in parts for i in range(a, b)})
        sentences = [self._sentence(docs[d], a, b, asked[d]) for d, a, b in parts]
        searched = zip(parts, sentences, self._search(sentences), strict=True)
        for (d, a, b), sentence, (pieces, posteriors) in searched:
            self._pieces += pieces
            for i in asked[d].intersection(range(a, b)):
                words = sentence.asked.get(i - a, sentence.candidates[i - a])
                found[d, i] = words.numbers[words.attackable], posteriors[i - a][words.attackable]
        return [found[position] for position in positions]

    def _sentence(self, doc: Sequence[str], a: int, b: int, asked: Collection[int]) -> "_Sentence":
        kept = {i - a: self._asked[doc[i]] for i in range(a, b) if i in asked and doc[i] in self._asked}
        return _Sentence([self._listed[y] for y in doc[a:b]], kept, b == len(doc))

    def _search(self, sentences: list["_Sentence"]) -> list[tuple[int, list[np.ndarray]]]:
        """Return the results of `_beams`, now or before; as many sentences are read together as there are rows."""
        keys = [(self.beam, self.temperature, *sentence.key()) for sentence in sentences]
        batches: list[dict[tuple, _Sentence]] = []
        memory, rows = self.source.memory, _ROWS
        for key, sentence in dict(zip(keys, sentences, strict=True)).items():
            if key not in memory:
                if rows >= _ROWS:
                    batches.append({})
                    rows = 0
                batches[-1][key] = sentence
                rows += self.beam * sentence.width()
        for batch in batches:
            memory.update(zip(batch, self._beams(list(batch.values())), strict=True))
        result = [memory[key] for key in keys]
        while len(memory) > _REMEMBERED:
            del memory[next(iter(memory))]
        return result

    def _list(self, tokens: Collection[str]) -> None:
        """The candidates of each released word that has none yet."""
        new = sorted(token for token in tokens if token not in self._listed)
        outputs = [y for y in new if y in self.channel.output_index]
        observed = self.channel.kept - self.attacked
        attackable, others = (self._best(outputs, group) for group in (self._attackable, ~self._attackable))
        for y in new:
            mine = attackable.get(y, [])
            if y in observed and mine:
                self._asked[y] = self._candidates(y, mine)
            scored = [] if y in self.channel.kept else mine + others.get(y, [])
            self._listed[y] = self._candidates(y, scored)

    def _best(self, outputs: list[str], group: np.ndarray) -> dict[str, list[tuple[int, float]]]:
        """For each released word the inputs of a group that explain it best, with log Pr(x, y), best first."""
        if not outputs or not group.any():
            return {}
        log_prior = np.where(group, self._log_prior, -np.inf)
        numbers, joint = self.channel.best_inputs(log_prior, outputs, min(self.k, int(group.sum())))
        result = {}
        for y, line, scores in zip(outputs, numbers, joint, strict=True):
            line, scores = line[scores > -np.inf], scores[scores > -np.inf]
            share = np.cumsum(scipy.special.softmax(scores)) if len(scores) else scores
            enough = int(np.searchsorted(share, self.mass - 1e-12)) + 1
            result[y] = list(zip(line[:enough], scores[:enough], strict=True))
        return result

    def _candidates(self, y: str, scored: list[tuple[int, float]]) -> "_Candidates":
        if not scored:  # kept, or explained by nothing: its own original
            return _Candidates([y], np.array([-1]), np.zeros(1), np.zeros(1, dtype=bool))
        numbers, joint = map(np.array, zip(*sorted(scored, key=lambda pair: -pair[1]), strict=True))
        frequencies = self._log_prior[numbers]
        logs = self.likelihood * (joint - frequencies) + self.counts * frequencies
        words = [self.channel.inputs[n] for n in numbers]
        return _Candidates(words, numbers, logs - logs.max(), self._attackable[numbers])

    def _beams(self, sentences: list["_Sentence"]) -> list[tuple[int, list[np.ndarray]]]:
        """For some sentences, read together: pieces that were read, and log posteriors of every position."""
        runs = [run for n, sentence in enumerate(sentences) for run in sentence.runs(n)]
        runs.sort(key=lambda run: run.branch)  # so that the run of a sentence has its number
        graphs, pieces = [_Graph() for _ in runs], [0] * len(sentences)
        owners = np.arange(len(sentences))  # of each prefix the number of its run
        prefixes = self.source.begin(len(sentences))
        for t in range(max(run.stop for run in runs)):
            live = [r for r, run in enumerate(runs) if run.start <= t < run.stop]
            chosen, words, next_owners = [], [], []
            for r in live:
                s, owner = runs[r].sentence, r
                if runs[r].branches_at(t):
                    owner, graphs[r] = s, graphs[s].branch()
                mine, candidates = np.flatnonzero(owners == owner), sentences[s].at(t, runs[r])
                logs = self.temperature * self.source.log_first(prefixes, mine, candidates.words)
                parents, columns = graphs[r].grow(logs + candidates.logs, self.beam)
                chosen += mine[parents].tolist()
                words += (kept := [candidates.words[c] for c in columns])
                pieces[s] += sum(map(len, self.source.pieces(kept)))
                next_owners += [r] * len(parents)
            prefixes, exact = self.source.advance(prefixes, chosen, words)
            owners, scores = np.array(next_owners), self.temperature * exact
            done = np.zeros(len(owners), dtype=bool)
            for r in live:
                mine, run = np.flatnonzero(owners == r), runs[r]
                sentence = sentences[run.sentence]
                graphs[r].settle(scores[mine], sentence.at(t, run).logs)
                if t == run.stop - 1:
                    over = sentence.stops and run.stop == len(sentence.candidates)
                    end = self.source.log_stop if over else self.source.log_end
                    graphs[r].finish(self.temperature * end(prefixes)[mine])
                    done[mine] = True
            if done.any() and not done.all():
                prefixes = self.source.select(prefixes, np.flatnonzero(~done))
                owners = owners[~done]
        posteriors = [graph.posteriors() for graph in graphs]
        for run, posterior in zip(runs[len(sentences) :], posteriors[len(sentences) :], strict=True):
            posteriors[run.sentence][run.start] = posterior[0]
        return list(zip(pieces, posteriors[: len(sentences)], strict=True))


class _Candidates(NamedTuple):
    """Original words of one released word."""

    words: list[str]
    numbers: np.ndarray  # of inputs of the channel, -1 for a word that is none
    logs: np.ndarray  # likelihood * log Pr(y | x) + counts * log Pr(x), up to a constant
    attackable: np.ndarray  # which can stand at an attacked position


class _Sentence(NamedTuple):
    """The candidates of a sentence, position by position."""

    candidates: list[_Candidates]
    asked: dict[int, _Candidates]  # what was under attack, where a kept word was released that is asked about
    stops: bool  # whether the sentence ends where the candidates do

    def key(self) -> tuple:
        """Equal for sentences that have the same posterior."""
        listed = [*enumerate(self.candidates), *self.asked.items()]
        return (self.stops, *((t, *one.words, one.logs.tobytes()) for t, one in listed))

    def at(self, t: int, run: "_Run") -> _Candidates:
        """Candidates of a position as a run of this sentence sees it."""
        return self.asked[t] if run.branches_at(t) else self.candidates[t]

    def runs(self, number: int) -> list["_Run"]:
        """The beam over the whole sentence, and its branches."""
        n = len(self.candidates)
        branches = [_Run(number, t, min(n, t + 1 + _AHEAD), True) for t in self.asked]
        return [_Run(number, 0, n, False), *branches]

    def width(self) -> int:
        """The largest number of beams at once."""
        return 1 + max((sum(t <= u <= t + _AHEAD for t in self.asked) for u in self.asked), default=0)


class _Run(NamedTuple):
    """A beam over positions `start` to `stop` of a sentence; a branch of another one, or not."""

    sentence: int
    start: int
    stop: int
    branch: bool

    def branches_at(self, t: int) -> bool:
        return self.branch and t == self.start


class _Graph:
    """Prefixes of one sentence: those that are kept are nodes; each continuation leads to a node or nowhere."""

    def __init__(self):
        self._weights = np.zeros(1)  # of the nodes, log
        self._steps: list[tuple] = []

    def branch(self) -> "_Graph":
        """One that goes on from the same prefixes."""
        graph = _Graph()
        graph._weights = self._weights
        return graph

    def grow(self, logs: np.ndarray, beam: int) -> tuple[np.ndarray, np.ndarray]:
        """Keep `beam` continuations by log weights (node, candidate): the best one of every last word first."""
        total = self._weights[:, None] + logs
        order = np.argsort(-total, axis=None, kind="stable")
        first = np.zeros(len(order), dtype=bool)
        first[np.unique(order % total.shape[1], return_index=True)[1]] = True
        order = order[np.sort(np.argsort(~first, kind="stable")[:beam])]
        self._parents, self._columns = np.unravel_index(order, total.shape)
        self._logs = logs
        return self._parents, self._columns

    def settle(self, exact: np.ndarray, emissions: np.ndarray) -> None:
        """Set the exact log weights of the words that were kept, and join the dropped ones to them."""
        parents, columns = self._parents, self._columns
        logs = self._logs
        logs[parents, columns] = exact + emissions[columns]
        total = self._weights[:, None] + logs
        # A dropped continuation goes to the best node with the same last word, to none (-1) where there is none.
        own = total[parents, columns]
        target = np.full(logs.shape, -1)
        for node in np.argsort(own, kind="stable"):  # the best one last
            target[:, columns[node]] = node
        target[parents, columns] = np.arange(len(parents))
        joined = target >= 0
        weights = np.full(len(parents), -np.inf)
        np.logaddexp.at(weights, target[joined], total[joined])
        self._steps.append((self._weights, logs, target, weights))
        self._weights = weights

    def finish(self, end: np.ndarray) -> None:
        """log weight of the end of the sentence after each node."""
        self._end = end

    def posteriors(self) -> list[np.ndarray]:
        """log Pr(x_t | y) of the candidates of each position, normalised.

        A continuation that leads nowhere is given the mean future of the nodes beside it: what it says of its own
        word is kept, what comes after says nothing.
        """
        future, result = self._end, []
        for before, logs, target, after in reversed(self._steps):
            reached = future[target]
            mean = scipy.special.logsumexp(future, b=scipy.special.softmax(after))
            ahead = logs + np.where(target >= 0, reached, mean)
            total = scipy.special.logsumexp(before[:, None] + ahead, axis=0)
            result.append(total - scipy.special.logsumexp(total))
            future = scipy.special.logsumexp(np.where(target >= 0, logs + reached, -np.inf), axis=1)
        return result[::-1]


class _Chain:
    """A Markov model as a source of words, one piece each; sentences go on for as long as they are."""

    def __init__(self, model: MarkovModel):
        self.model = model
        self.memory: dict[tuple, tuple] = {}
        with np.errstate(divide="ignore"):
            self._initial = np.log(model.initial)

    def begin(self, n: int) -> np.ndarray:
        return np.full(n, -1)

    def pieces(self, words) -> list[tuple[int]]:
        return [(self.model.index[word],) for word in words]

    def select(self, prefixes: np.ndarray, rows) -> np.ndarray:
        return prefixes[rows]

    def log_first(self, prefixes, rows, words) -> np.ndarray:
        states = np.array([self.model.index[word] for word in words])
        return np.array([self._log_row(state, states) for state in np.asarray(prefixes)[rows]])

    def advance(self, prefixes, rows, words) -> tuple[np.ndarray, np.ndarray]:
        states = np.array([self.model.index[word] for word in words])
        logs = [self._log_row(prefixes[row], np.array([x]))[0] for row, x in zip(rows, states, strict=True)]
        return states, np.array(logs)

    def log_end(self, prefixes) -> np.ndarray:
        return np.zeros(len(prefixes))

    log_stop = log_end

    def _log_row(self, state: int, to: np.ndarray) -> np.ndarray:
        if state < 0:
            return self._initial[to]
        row = self.model.seen[[state]].toarray()[0][to] + self.model.backoff_weight[state] * self.model.backoff[to]
        with np.errstate(divide="ignore"):
            return np.log(row)


def unseen_prior(knowledge: Knowledge, docs: Sequence[Sequence[str]]) -> Prior:
    """Word frequencies with a share for unseen words, see `textsan.priors.good_turing`; all alike without text.

    A prior that is granted comes before the shadow documents that are counted. Words under attack share theirs,
    the unseen mass included; of the others each has what it has in the text.
    """
    if knowledge.prior is not None:
        return knowledge.unigram()
    inputs = knowledge.channel.inputs
    attacked = knowledge.candidates.difference(knowledge.kept)
    inside = np.array([word in attacked for word in inputs])
    if not any(word in attacked for doc in docs for word in doc):
        return Prior(inputs, np.full(len(inputs), 1 / len(inputs)))
    weights = np.where(inside, 0.0, good_turing(docs, inputs).probabilities)
    own = good_turing(docs, [word for word in inputs if word in attacked])
    weights[inside] = own.probabilities * (1 - weights.sum())
    return Prior(inputs, weights / weights.sum())
