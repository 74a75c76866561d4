"""One cell of a sweep: a data set, a defence, an attack and a seed; what was hit, position by position.

`DEFENCES` and `ATTACKS` are the names that a sweep knows, each with a function and a check of every parameter. A
new attack is a function of a `Case` that answers with a guess a position, and one line of `ATTACKS`.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, lru_cache, partial

import numpy as np

from textsan import attacks, checks
from textsan.attacks.released_code import DEPARTURES, ReleasedContextual
from textsan.evaluation import sensitive_positions, words_at
from textsan.mechanisms import CusText, Mechanism, SanText, SanTextPlus, least_frequent
from textsan.setting import Setting, load_setting
from textsan.vocabulary import STOP_WORDS, count_words


@dataclass(frozen=True)
class Case:
    """A sanitized private text and what an attacker may know of it.

    Attributes:
        setting: private and shadow documents, and the vocabulary.
        mechanism: the defence; its channel is public.
        released: the private documents, sanitized.
        positions: those under attack.
        spared: inputs of the channel that stand at none of them: kept words, and of SanText+ the words that are
            not sensitive. The attacker is told, as in Tong et al. 2024, whose candidates are sensitive words.
        seed: of all that is drawn, attacks included.
    """

    setting: Setting
    mechanism: Mechanism
    released: list[list[str]]
    positions: list[tuple[int, int]]
    spared: frozenset[str]
    seed: int

    @cached_property
    def truths(self) -> list[str]:
        """The original words at the attacked positions: for scores and bounds only."""
        return words_at(self.setting.private, self.positions)

    @cached_property
    def shadow_released(self) -> list[list[str]]:
        """The shadow documents, sanitized by the attacker, with draws of their own."""
        return self.mechanism.sanitize(self.setting.shadow, seed=self.seed, first=len(self.setting.private))


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


# --- attacks: functions of a case ---------------------------------------------------------------------------


def _unchanged(case: Case):
    return words_at(case.released, case.positions)


def _inversion(case: Case, *, exclude_itself=False):
    attack = attacks.EmbeddingInversion(case.setting.embeddings, exclude_itself)
    return attack.reconstruct(case.released, case.positions)


def _context_free(case: Case, *, alpha_inverse=None):
    counts = count_words(case.setting.shadow)
    attack = attacks.ContextFreeBayes(case.mechanism.channel, counts, alpha_inverse, keep=case.spared)
    return attack.reconstruct(case.released, case.positions)


def _context_free_bound(case: Case):
    # The prior of the attacked words themselves, under which no context-free rule is better (Theorem 1).
    counts = count_words([case.truths])
    attack = attacks.ContextFreeBayes(case.mechanism.channel, counts, alpha_inverse=0)
    return attack.reconstruct(case.released, case.positions)


def _markov(case: Case, *, k=None):
    channel, sensitive = case.mechanism.channel, set(case.mechanism.inputs) - case.spared
    attack = attacks.MarkovBayes(channel, k=k, keep=case.mechanism.keep, sensitive=sensitive)
    attack.fit(case.setting.shadow, case.shadow_released)
    return attack.reconstruct(case.released, case.positions)


def _shadow_copies(case: Case, copies: int):
    """Shadow sentences `copies` times over, and as often sanitized by the attacker."""
    shadow = case.setting.shadow * copies
    return shadow, case.mechanism.sanitize(shadow, seed=case.seed, first=len(case.setting.private))


def _contextual(
    case: Case, *, k=10, copies=100, pairs=None, epochs=3.0, departure=None, kind=attacks.ContextualBayes
):
    counts, sensitive = count_words(case.setting.shadow), set(case.mechanism.inputs) - case.spared
    if departure:
        kind = partial(ReleasedContextual, departures=[departure])
    attack = kind(case.mechanism.channel, counts, k=k, sensitive=sensitive, seed=case.seed)
    attack.fit(*_shadow_copies(case, copies), pairs=pairs, epochs=epochs, seed=case.seed)
    return attack.reconstruct(case.released, case.positions)


def _density_ratio(case: Case, *, k=10, copies=100, pairs=None, epochs=3.0):
    return _contextual(case, k=k, copies=copies, pairs=pairs, epochs=epochs, kind=attacks.DensityRatio)


def _contextual_bound(case: Case, *, k=10, copies=30, pairs=None, epochs=3.0, departure=None):
    # Definition 2: the prior of the attacked words, a detector of further sanitizations of their sentences.
    # The departure, of the released code: a detector of the very text that is attacked.
    sensitive = set(case.mechanism.inputs) - case.spared
    settings = {"k": k, "alpha_inverse": 0, "sensitive": sensitive, "seed": case.seed}
    attack = attacks.ContextualBayes(case.mechanism.channel, count_words([case.truths]), **settings)
    private, first = case.setting.private * copies, len(case.setting.private) + copies * len(case.setting.shadow)
    released = case.mechanism.sanitize(private, seed=case.seed, first=first)
    if departure:
        private, released = case.setting.private, case.released
    attack.fit(private, released, pairs=pairs, epochs=epochs, seed=case.seed)
    return attack.reconstruct(case.released, case.positions)


def _noisy_channel(case: Case, *, adapter, k=20, copies=4, epochs=1.0, bigrams=True):
    counts, sensitive = count_words(case.setting.shadow), set(case.mechanism.inputs) - case.spared
    settings = {
        "adapter": adapter,
        "k": k,
        "bigrams": bigrams,
        "keep": case.mechanism.keep,
        "sensitive": sensitive,
    }
    attack = attacks.NoisyChannel(case.mechanism.channel, counts, **settings)
    attack.fit(*_shadow_copies(case, copies), epochs=epochs, seed=case.seed)
    return attack.reconstruct(case.released, case.positions)


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
    "santext": (_santext, {"epsilon": _positive}),
    "santext+": (_santext_plus, {"epsilon": _positive, "w": _share, "p": _share}),
}

_DETECTOR = {"k": _count, "copies": _count, "pairs": _count, "epochs": _positive}

ATTACKS: dict[str, tuple[Callable, dict[str, Callable]]] = {
    "context-free": (_context_free, {"alpha_inverse": _positive}),
    "context-free bound": (_context_free_bound, {}),
    "contextual": (_contextual, {**_DETECTOR, "departure": partial(checks.choice, known=(None, *DEPARTURES))}),
    "contextual bound": (
        _contextual_bound,
        {**_DETECTOR, "departure": partial(checks.choice, known=(None, "attacked pairs"))},
    ),
    "density ratio": (_density_ratio, _DETECTOR),
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


def prepare(
    dataset: str, n_private: int, n_shadow: int, n_positions: int | None, seed: int, defence: str, **given
):
    """The case that all attacks of a family share: sentences, positions and draws follow from the seed alone.

    Under attack are the positions whose original word the defence protects: no kept word, of SanText+ only the
    sensitive ones. They do not depend on epsilon.

    Args:
        dataset: name of a data set.
        n_private, n_shadow: numbers of sentences.
        n_positions: how many positions are attacked, drawn at random; None is all of them.
        seed: int of at least 0.
        defence: a name in `DEFENCES`.
        **given: its parameters.

    Returns:
        a `Case`.

    Raises:
        KeyError, ValueError: as `load_setting`, or there are fewer positions than asked for.
    """
    setting = _setting(dataset, n_private, n_shadow, seed=seed)
    mechanism = DEFENCES[defence][0](setting, **given)
    protected = set(getattr(mechanism, "sensitive", mechanism.inputs)) - mechanism.keep
    positions = sensitive_positions(setting.private, protected)
    if n_positions is not None:
        if n_positions > len(positions):
            raise ValueError(
                f"n_positions: {n_positions} of {len(positions)}; ask for fewer, or for more sentences"
            )
        chosen = np.random.default_rng(seed).choice(len(positions), n_positions, replace=False)
        positions = [positions[i] for i in sorted(chosen)]
    spared = frozenset(mechanism.inputs) - protected
    return Case(setting, mechanism, mechanism.sanitize(setting.private, seed=seed), positions, spared, seed)
