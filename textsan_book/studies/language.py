"""Obstacles of a language model that reads a sentence back: its search, the noise around a word, or the word.

An attacker reads words among other sanitized words. Here the same model is also told the true words before, as
nobody who attacks can be: what it gains by that is what the noise around the word costs the attacker.
"""

from collections.abc import Sequence

import numpy as np

from textsan.attacks.language_model import COUNTS, TEMPERATURE, unseen_prior
from textsan.evaluation import clustered_rate, paired_difference
from textsan.priors import LanguageModel
from textsan.sweeps.problems import Problem
from textsan_book.studies.experiments import Attacked, columns, takes_settings


@takes_settings
def known_neighbours(release: Attacked, *, vocabulary: int, beams: str, candidates: int) -> list[dict]:
    """Measure a language model under a channel: alone, mixed, and told the true words before the attacked one.

    `beams` are widths of the search, with blanks between; the model chooses from so many candidates a position.
    Rows have an attack or what the model is told, its success, the paired difference to the context-free attack.
    """
    problem = release.problem(vocabulary=vocabulary)
    truths, groups = problem.truth.words, problem.sentences
    guesses = {name: problem.guesses(name) for name in ("context-free", "unseen mass")}
    guesses["markov"] = problem.guesses("markov", public=False)
    for beam in map(int, beams.split()):
        guesses[f"language model, beam {beam}"] = problem.guesses("language model", beam=beam, k=candidates)
    listed = listed_words(problem, candidates)
    guesses["told the words before"] = told(problem, listed)
    among = [x if x in line else None for x, (line, _) in zip(truths, listed, strict=True)]
    guesses["told which of the candidates"] = among
    for name in ("mixture without language", "mixture"):
        guesses[name] = problem.guesses(name, public=False)
    rows = []
    for name, guess in guesses.items():
        row = {"attack": name, "n": len(truths), "vulnerability": problem.vulnerability}
        rate = clustered_rate(np.equal(guess, truths), groups)
        over = paired_difference(guess, guesses["context-free"], truths, groups)
        rows.append(row | columns(rate) | {f"over_{end}": value for end, value in columns(over).items()})
    return rows


def listed_words(problem: Problem, k: int) -> list[tuple[list[str], np.ndarray]]:
    """List for each attacked position the k words of largest Pr(y | x) Pr(x)^COUNTS, with its logarithm.

    Counts are those of the shadow text.
    """
    knows, channel = problem.knowledge, problem.knowledge.channel
    log_prior = np.full(len(channel.inputs), -np.inf)
    prior = channel.prior_array(unseen_prior(knows, knows.shadow))
    inside = np.array([x in knows.attacked and prior[i] > 0 for i, x in enumerate(channel.inputs)])
    log_prior[inside] = np.log(prior[inside])
    released = [problem.released[d][i] for d, i in problem.positions]
    tokens = sorted(set(released))
    numbers, joint = channel.best_inputs(log_prior, tokens, k)
    lists = {}
    for y, line, logs in zip(tokens, numbers, joint, strict=True):
        line, logs = line[logs > -np.inf], logs[logs > -np.inf]
        lists[y] = [channel.inputs[n] for n in line], logs + (COUNTS - 1) * log_prior[line]
    return [lists[y] for y in released]


def told(problem: Problem, listed: Sequence[tuple[list[str], np.ndarray]]) -> list[str]:
    """Guess by the language model where all words before the attacked one are the true ones.

    No attack: it is shown the truth.
    """
    model, private, guesses = LanguageModel.named(), problem.truth.docs, {}
    lists = dict(zip(problem.positions, listed, strict=True))
    for d in sorted({d for d, _ in problem.positions}):
        before = model.begin(1)
        for i, word in enumerate(private[d]):
            if (d, i) in lists:
                words, logs = lists[d, i]
                after, pieces = model.advance(before, [0] * len(words), words)
                weights = logs + TEMPERATURE * (pieces + model.log_end(after))
                guesses[d, i] = words[int(np.argmax(weights))]
            before, _ = model.advance(before, [0], [word])
    return [guesses[position] for position in problem.positions]
