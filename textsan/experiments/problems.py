"""One cell of a sweep: a data set, a defence, an attack and a seed; what was hit, position by position.

`DEFENCES` and `ATTACKS` are the names that a sweep knows, each with a function and a check of every parameter. A
new attack is a function of a `Case` that answers with a guess a position, and one line of `ATTACKS`.
"""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, lru_cache, partial
from typing import NamedTuple

import numpy as np

from textsan import attacks
from textsan.attacks.released_code import DEPARTURES, ReleasedContextual
from textsan.evaluation import sensitive_positions, words_at
from textsan.experiments import training
from textsan.experiments.splits import Setting, load_setting
from textsan.mechanisms import CusText, Mechanism, SanText, SanTextPlus, least_frequent
from textsan.text import checks
from textsan.text.embeddings import load_embeddings
from textsan.text.names import find_names
from textsan.text.vocabulary import STOP_WORDS, count_words


@dataclass(frozen=True)
class Case:
    """A sanitized private text and what an attacker may know of it.

    Attributes:
        dataset: name of the private documents' corpus.
        setting: private and shadow documents, and the vocabulary.
        mechanism: the defence; its channel is public.
        released: the private documents, sanitized.
        positions: those under attack.
        population: all positions that could be; `positions` are drawn from them.
        spared: inputs of the channel that stand at none of them: kept words, and of SanText+ the words that are
            not sensitive. The attacker is told, as in Tong et al. 2024, whose candidates are sensitive words.
        seed: of all that is drawn, attacks included.
    """

    dataset: str
    setting: Setting
    mechanism: Mechanism
    released: list[list[str]]
    positions: list[tuple[int, int]]
    population: list[tuple[int, int]]
    spared: frozenset[str]
    seed: int

    @cached_property
    def truths(self) -> list[str]:
        """The original words at the attacked positions: for scores only."""
        return words_at(self.setting.private, self.positions)

    @cached_property
    def true_counts(self) -> Counter:
        """How often each word stands at a position that could be attacked: the true prior, for bounds only.

        The prior of the attacked words themselves would know each one that is scored, and bound too high.
        """
        return count_words([words_at(self.setting.private, self.population)])

    @cached_property
    def shadow_released(self) -> list[list[str]]:
        """The shadow documents, sanitized by the attacker, with draws of their own."""
        return self.mechanism.sanitize(self.setting.shadow, seed=self.seed, first=len(self.setting.private))


class Answer(NamedTuple):
    """What an attack says.

    Attributes:
        guesses: a word a position.
        details: further columns of the results: `encoded`, the sentences or pairs that went through an encoder,
            training included, and what else is known of the run.
    """

    guesses: list[str]
    details: dict[str, float] = {}


# --- defences: functions of a setting -----------------------------------------------------------------------


def _santext(setting: Setting, *, epsilon):
    return SanText(setting.embeddings, epsilon)


def _santext_plus(setting: Setting, *, epsilon, w=0.9, p=0.3):
    # Which words are sensitive is public: it follows from text that nobody protects.
    sensitive = least_frequent(count_words(setting.shadow), setting.embeddings.words, share=w)
    return SanTextPlus(setting.embeddings, epsilon, sensitive=sensitive, p=p)


def _custext_plus(setting: Setting, *, epsilon, k=20, mapping="disjoint", normalise="group"):
    options = {"k": k, "mapping": mapping, "normalise": normalise}
    return CusText(setting.embeddings, epsilon, keep=STOP_WORDS, **options)


def _released_custext_plus(setting, *, epsilon, k=20):
    # As the released code of Tong et al. 2024 builds it: neighbours are any words of the file of vectors.
    options = {"k": k, "mapping": "overlapping", "normalise": "row", "outputs": load_embeddings()}
    return CusText(setting.embeddings, epsilon, keep=STOP_WORDS, **options)


# --- attacks: functions of a case ---------------------------------------------------------------------------


def _unchanged(case: Case):
    return Answer(words_at(case.released, case.positions))


def _inversion(case: Case, *, exclude_itself=False):
    attack = attacks.EmbeddingInversion(case.setting.embeddings, exclude_itself)
    return Answer(attack.reconstruct(case.released, case.positions))


def _context_free(case: Case, *, multiple=1.0):
    # The constant is a multiple of the paper's 1/alpha, alpha being the number of shadow tokens (its Table 4).
    counts = count_words(case.setting.shadow)
    constant = multiple / sum(counts.values())
    attack = attacks.ContextFreeBayes(case.mechanism.channel, counts, constant, keep=case.spared)
    return Answer(attack.reconstruct(case.released, case.positions))


def _context_free_bound(case: Case):
    # The true prior, under which no context-free rule is better in expectation (Theorem 1).
    attack = attacks.ContextFreeBayes(case.mechanism.channel, case.true_counts, alpha_inverse=0)
    return Answer(attack.reconstruct(case.released, case.positions))


def _markov(case: Case, *, k=None):
    attack = attacks.MarkovBayes(case.mechanism.channel, k=k, keep=case.mechanism.keep, sensitive=_sensitive(case))
    attack.fit(case.setting.shadow, case.shadow_released)
    return Answer(attack.reconstruct(case.released, case.positions))


def _sensitive(case: Case) -> set[str]:
    return set(case.mechanism.inputs) - case.spared


def _shadow_copies(case: Case, copies: int):
    """Shadow sentences `copies` times over, and as often sanitized by the attacker."""
    shadow = case.setting.shadow * copies
    return shadow, case.mechanism.sanitize(shadow, seed=case.seed, first=len(case.setting.private))


def _contextual(
    case: Case,
    *,
    k=10,
    copies=100,
    pairs=None,
    epochs=3.0,
    span=100,
    widen=False,
    learning_rate=5e-5,
    tests=None,
    departure=None,
    kind=attacks.ContextualBayes,
):
    if departure:
        kind = partial(ReleasedContextual, departures=[departure])
    settings = {"k": k, "span": span, "sensitive": _sensitive(case), "seed": case.seed}
    attack = kind(case.mechanism.channel, count_words(case.setting.shadow), **settings)
    training = {"pairs": pairs, "epochs": epochs, "widen": widen, "learning_rate": learning_rate}
    return _detected(case, attack, *_shadow_copies(case, copies), training, tests)


def _detected(case: Case, attack, docs, released, training, tests=None):
    """Trains a detector and attacks with it; on `tests` pairs of the private text its accuracy is measured."""
    details = {}

    def measure(when):
        if tests:
            encoded = attack.detector.encoded
            accuracy = attack.accuracy(case.setting.private, case.released, pairs=tests, seed=case.seed)
            for name, value in zip(("", "_low", "_high"), accuracy, strict=True):
                details[f"accuracy_{when}{name}"] = value
            attack.detector.encoded = encoded  # what is measured is no part of the attack

    measure("before")
    attack.fit(docs, released, **training, seed=case.seed)
    guesses = attack.reconstruct(case.released, case.positions)
    measure("after")
    return Answer(guesses, {"encoded": attack.detector.encoded, **details})


def _density_ratio(
    case: Case, *, k=10, copies=100, pairs=None, epochs=3.0, span=100, widen=False, learning_rate=5e-5, tests=None
):
    training = {"pairs": pairs, "epochs": epochs, "widen": widen, "learning_rate": learning_rate}
    return _contextual(case, k=k, copies=copies, span=span, tests=tests, **training, kind=attacks.DensityRatio)


def _contextual_bound(
    case: Case,
    *,
    k=10,
    copies=30,
    pairs=None,
    epochs=3.0,
    span=100,
    widen=False,
    learning_rate=5e-5,
    departure=None,
):
    # Definition 2: the true prior, a detector of further sanitizations of their sentences.
    # The departure, of the released code: a detector of the very text that is attacked.
    settings = {"k": k, "span": span, "alpha_inverse": 0, "sensitive": _sensitive(case), "seed": case.seed}
    attack = attacks.ContextualBayes(case.mechanism.channel, case.true_counts, **settings)
    private, first = case.setting.private * copies, len(case.setting.private) + copies * len(case.setting.shadow)
    released = case.mechanism.sanitize(private, seed=case.seed, first=first)
    if departure:
        private, released = case.setting.private, case.released
    training = {"pairs": pairs, "epochs": epochs, "widen": widen, "learning_rate": learning_rate}
    return _detected(case, attack, private, released, training)


def _noisy_channel(case: Case, *, adapter=None, k=20, copies=4, epochs=1.0, bigrams=True):
    attack = attacks.NoisyChannel(
        case.mechanism.channel,
        count_words(case.setting.shadow),
        adapter=adapter or training.leaving_out(case.dataset),
        k=k,
        bigrams=bigrams,
        keep=case.mechanism.keep,
        sensitive=_sensitive(case),
    )
    attack.fit(*_shadow_copies(case, copies), epochs=epochs, seed=case.seed)
    guesses = attack.reconstruct(case.released, case.positions)
    reader, bigram = attack.weights
    return Answer(guesses, {"encoded": attack.reader.encoded, "reader_weight": reader, "bigram_weight": bigram})


def _inversion_bert(case: Case, *, copies=3, epochs=3.0):
    attack = attacks.InversionBert(sorted(_sensitive(case)), seed=case.seed)
    attack.fit(*_shadow_copies(case, copies), epochs=epochs, seed=case.seed)
    guesses = attack.reconstruct(case.released, case.positions)
    return Answer(guesses, {"encoded": attack.encoded})


def _empirical_inversion(case: Case, *, copies=100):
    attack = attacks.EmpiricalInversion(sensitive=_sensitive(case)).fit(*_shadow_copies(case, copies))
    return Answer(attack.reconstruct(case.released, case.positions))


def _mask_inference(case: Case, *, adapter=None):
    adapter = adapter or training.leaving_out(case.dataset)
    model = attacks.MaskedReader(sorted(_sensitive(case)), count_words(case.setting.shadow), adapter)
    attack = attacks.MaskInference(model)
    guesses = attack.reconstruct(case.released, case.positions)
    return Answer(guesses, {"encoded": attack.encoded})


_positive, _share = partial(checks.number, low=0), partial(checks.number, low=0, high=1)
_count = partial(checks.whole, low=1)


def _name(parameter: str, value):
    if not isinstance(value, str):
        raise ValueError(f"{parameter}: {value!r} is no name; pass one like without-rt")
    return value


DEFENCES: dict[str, tuple[Callable, dict[str, Callable]]] = {
    "custext+": (
        _custext_plus,
        {
            "epsilon": _positive,
            "k": _count,
            "mapping": partial(checks.choice, known=("disjoint", "overlapping")),
            "normalise": partial(checks.choice, known=("group", "row")),
        },
    ),
    "released custext+": (_released_custext_plus, {"epsilon": _positive, "k": _count}),
    "santext": (_santext, {"epsilon": _positive}),
    "santext+": (_santext_plus, {"epsilon": _positive, "w": _share, "p": _share}),
}

_DETECTOR = {
    **dict.fromkeys(("k", "copies", "pairs", "span", "tests"), _count),
    **dict.fromkeys(("epochs", "learning_rate"), _positive),
    "widen": partial(checks.choice, known=(False, True)),
}

ATTACKS: dict[str, tuple[Callable, dict[str, Callable]]] = {
    "context-free": (_context_free, {"multiple": _positive}),
    "context-free bound": (_context_free_bound, {}),
    "contextual": (_contextual, {**_DETECTOR, "departure": partial(checks.choice, known=(None, *DEPARTURES))}),
    "contextual bound": (
        _contextual_bound,
        {
            **{name: check for name, check in _DETECTOR.items() if name != "tests"},
            "departure": partial(checks.choice, known=(None, "attacked pairs")),
        },
    ),
    "density ratio": (_density_ratio, _DETECTOR),
    "empirical inversion": (_empirical_inversion, {"copies": _count}),
    "inversion BERT": (_inversion_bert, {"copies": _count, "epochs": _positive}),
    "mask inference": (_mask_inference, {"adapter": _name}),
    "embedding inversion": (_inversion, {"exclude_itself": partial(checks.choice, known=(False, True))}),
    "markov": (_markov, {"k": _count}),
    "noisy channel": (
        _noisy_channel,
        {
            "adapter": _name,
            "k": _count,
            "copies": _count,
            "epochs": _positive,
            "bigrams": partial(checks.choice, known=(False, True)),
        },
    ),
    "unchanged": (_unchanged, {}),
}

_setting = lru_cache(maxsize=2)(load_setting)  # a worker meets the same few settings again and again


TARGETS = ("protected", "census", "presidio")
"""What is attacked: every protected word, or the personal names among them that one of the finders finds."""


def prepare(
    dataset: str,
    n_private: int,
    n_shadow: int,
    n_positions: int | None,
    seed: int,
    defence: str,
    *,
    shadow_dataset: str | None = None,
    targets: str = "protected",
    **given,
):
    """The case that all attacks of a family share: sentences, positions and draws follow from the seed alone.

    Under attack are the positions whose original word the defence protects: no kept word, of SanText+ only the
    sensitive ones; or the personal names among them. They do not depend on epsilon.

    Args:
        dataset: name of a data set.
        n_private, n_shadow: numbers of sentences.
        n_positions: how many positions are attacked, drawn at random; None is all of them.
        seed: int of at least 0.
        defence: a name in `DEFENCES`.
        shadow_dataset: data set that the shadow sentences are of; None is the same one.
        targets: one of `TARGETS`.
        **given: the defence's parameters.

    Returns:
        a `Case`.

    Raises:
        KeyError, ValueError: as `load_setting`, or there are fewer positions than asked for.
    """
    setting = _setting(dataset, n_private, n_shadow, seed=seed, shadow_dataset=shadow_dataset)
    mechanism = DEFENCES[defence][0](setting, **given)
    protected = set(getattr(mechanism, "sensitive", mechanism.inputs)) - mechanism.keep
    positions = sensitive_positions(setting.private, protected)
    if targets != "protected":
        found = set(find_names(setting.records, targets))
        positions = [position for position in positions if position in found]
    population = positions
    if n_positions is not None:
        if n_positions > len(positions):
            raise ValueError(
                f"n_positions: {n_positions} of {len(positions)}; ask for fewer, or for more sentences"
            )
        chosen = np.random.default_rng(seed).choice(len(positions), n_positions, replace=False)
        positions = [positions[i] for i in sorted(chosen)]
    spared = frozenset(mechanism.inputs) - protected
    released = mechanism.sanitize(setting.private, seed=seed)
    return Case(dataset, setting, mechanism, released, positions, population, spared, seed)
