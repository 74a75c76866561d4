"""Texts that `textsan new` starts from: a mechanism, an attack, a chapter, and tests of the first two.

`CLASS`, `MODULE`, `NAME` and `TITLE` are replaced; all of it runs and passes the tests as it is.
"""

MECHANISM = '''"""NAME: SanText with vectors of length one, so that no two words are further apart than 2."""

from functools import cached_property

import numpy as np

from textsan.base import checks
from textsan.channel import Channel
from textsan.mechanisms.base import Mechanism, Oov
from textsan.privacy import Adjacency, Guarantee
from textsan.text.embeddings import Embeddings


class CLASS(Mechanism):
    """Pr(y | x) proportional to exp(-epsilon d(x, y) / 2), d the distance of vectors of length one.

    Args:
        embeddings: the vocabulary, inputs and outputs alike.
        epsilon: privacy parameter per unit of distance, at least 0.
        oov: the rule for words without a vector: "uniform" replaces them by uniform random words, "keep" releases
            them unchanged, "error" refuses them.

    >>> words = Embeddings(["the", "a"], [[0.0, 2.0], [3.0, 0.0]])
    >>> CLASS(words, epsilon=1.0).channel.rows(["the"]).round(2)
    array([[0.67, 0.33]])
    """

    def __init__(self, embeddings: Embeddings, epsilon: float, *, oov: Oov = "uniform"):
        super().__init__(checks.has_words("embeddings", embeddings).words, oov=oov)
        self.embeddings, self.epsilon = embeddings, checks.epsilon(epsilon)
        lengths = np.linalg.norm(embeddings.vectors, axis=1, keepdims=True)
        self._unit = Embeddings(embeddings.words, embeddings.vectors / np.where(lengths > 0, lengths, 1))

    @cached_property
    def channel(self) -> Channel:
        """Build the channel, its rows computed on demand."""
        words, unit = self._unit.words, self._unit.vectors
        return Channel.exponential(words, words, unit, unit, scale=self.epsilon / 2)

    @property
    def guarantee(self) -> Guarantee:
        """Promise metric DP: the exponential mechanism, as for SanText."""
        adjacent = Adjacency(distance=self._unit, distance_name="unit distance")
        return Guarantee("metric DP", self.epsilon, adjacent, self._outside())
'''

MECHANISM_TEST = '''"""NAME: its rows by the formula, and its promise held against its channel."""

import numpy as np
import pytest

from textsan import Embeddings
from textsan.mechanisms import make_mechanism

WORDS = Embeddings([f"w{i}" for i in range(12)], np.random.default_rng(0).normal(size=(12, 3)))


@pytest.mark.parametrize("epsilon", [0.0, 0.5, 4.0])
def test_rows_are_those_of_the_formula(epsilon):
    unit = WORDS.vectors / np.linalg.norm(WORDS.vectors, axis=1, keepdims=True)
    weights = np.exp(-epsilon / 2 * np.linalg.norm(unit[:, None] - unit, axis=2))
    rows = make_mechanism("NAME", WORDS, epsilon=epsilon).channel.rows(WORDS.words)
    np.testing.assert_allclose(rows, weights / weights.sum(axis=1, keepdims=True), rtol=1e-6)


def test_the_promise_is_kept_and_a_smaller_one_would_be_broken():
    mechanism = make_mechanism("NAME", WORDS, epsilon=4.0)
    assert 4.0 / 2 < mechanism.guarantee.tight(mechanism.channel) <= 4.0 + 1e-9
    smaller = make_mechanism("NAME", WORDS, epsilon=1.0).guarantee
    assert smaller.tight(mechanism.channel) > smaller.epsilon
'''

ATTACK = '''"""NAME: Bayes' rule with a prior between the attacker's counts and all words alike."""

from collections.abc import Sequence

from textsan.attacks.base import Attack, Position
from textsan.attacks.knowledge import Knowledge
from textsan.base import checks
from textsan.channel import Channel, Posterior
from textsan.priors import Prior


class CLASS(Attack):
    """Guess argmax_x Pr(y | x) Pr(x)^power.

    Args:
        channel: Pr(y | x), known to the attacker.
        prior: Pr(x) over its inputs.
        power: at least 0; with 0 all words are alike, with 1 this is the context-free attack.

    >>> channel = Channel.from_matrix([[0.6, 0.4], [0.4, 0.6]], ["a", "b"], ["u", "v"])
    >>> CLASS(channel, Prior(["a", "b"], [0.9, 0.1]), power=1.0).reconstruct([["v"]], [(0, 0)])
    ['a']
    """

    def __init__(self, channel: Channel, prior: Prior, power: float):
        weights = prior.probabilities ** checks.number("power", power, low=0)
        self.channel, self.prior = channel, Prior(prior.words, weights / weights.sum())

    @classmethod
    def against(cls, knowledge: Knowledge, *, power: float = 0.5) -> "CLASS":  # type: ignore[override]
        """Make the attack of somebody with this knowledge.

        Args:
            knowledge: what the threat model grants.
            power: of the prior, at least 0.
        """
        return cls(knowledge.channel, knowledge.unigram(), power)

    def _posteriors(
        self, docs: Sequence[Sequence[str]], positions: Sequence[Position], k: int | None
    ) -> Posterior:
        released = [docs[document][index] for document, index in positions]
        rows = {word: row for row, word in enumerate(dict.fromkeys(released))}
        size = k or len(self.prior)  # None is all words
        table = self.channel.posterior(self.prior, size, outputs=list(rows))
        at = [rows[word] for word in released]
        return Posterior(
            positions, self.prior.words, table.numbers[at], table.log_probabilities[at], released=released
        )
'''

ATTACK_TEST = '''"""NAME: against enumeration of a small world, and a planted error."""

import numpy as np
import pytest

from textsan import Channel, Prior
from textsan.attacks import CLASS

INPUTS, OUTPUTS = list("abcd"), list("uvwxyz")
GENERATOR = np.random.default_rng(1)
MATRIX, WEIGHTS = GENERATOR.dirichlet(np.ones(6), size=4), GENERATOR.dirichlet(np.full(4, 0.3))
CHANNEL, PRIOR = Channel.from_matrix(MATRIX, INPUTS, OUTPUTS), Prior(INPUTS, WEIGHTS)
PLACES = [(0, index) for index in range(len(OUTPUTS))]


def enumerated(power):
    return [INPUTS[x] for x in (MATRIX * WEIGHTS[:, None] ** power).argmax(axis=0)]


@pytest.mark.parametrize("power", [0.0, 0.5, 1.0, 3.0])
def test_guesses_are_those_of_the_enumeration(power):
    assert CLASS(CHANNEL, PRIOR, power).reconstruct([OUTPUTS], PLACES) == enumerated(power)


def test_a_prior_with_another_power_is_caught():
    assert enumerated(0.0) != enumerated(3.0)
'''

CHAPTER = """---
jupytext:
  text_representation:
    extension: .md
    format_name: myst
    format_version: 0.13
kernelspec:
  display_name: Python 3 (ipykernel)
  language: python
  name: python3
language_info:
  name: python
  pygments_lexer: ipython3
---

# TITLE

How often is the best guess of an answer right that a coin may have turned?

```{code-cell} ipython3
import textsan
```

```{code-cell} ipython3
:tags: [parameters]

share = 0.5  # of those whose answer is yes
turned = 0.25  # probability that the coin turns an answer
```

The coin is a channel with two inputs and two outputs.

```{code-cell} ipython3
answers = ["yes", "no"]
matrix = [[1 - turned, turned], [turned, 1 - turned]]
channel = textsan.Channel.from_matrix(matrix, answers, answers)
prior = textsan.Prior(answers, [share, 1 - share])
print(f"{textsan.leakage.bayes_vulnerability(prior, channel):.3f}")
```

With even answers the best guess is the answer itself, which is right unless the coin turned it.
"""
SETTINGS = "{share: 0.9, turned: 0.4}"  # other parameters of that chapter
