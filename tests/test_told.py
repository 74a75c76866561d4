"""Knowledge that attackers are given: the attacked positions, and the frequencies of words."""

import numpy as np
import pytest

from textsan import Channel, Embeddings, Knowledge
from textsan.attacks import ATTACKS
from textsan.sweeps import problems, specification

SPEC = """{{dataset: rt, n_private: 5, n_shadow: 20, defence: {{name: custext+, epsilon: 1}}, attack: {attack}}}"""


def cells(tmp_path, attack):
    path = tmp_path / "spec.yml"
    path.write_text(SPEC.format(attack=attack))
    return specification.read_spec(path)


def test_who_is_told_has_the_name_of_old(tmp_path):
    [plain] = cells(tmp_path, "markov")
    told, not_told = cells(tmp_path, "{name: markov, told: [true, false]}")
    names = [cell.name for cell in (plain, told, not_told)]
    assert names[0] == names[1] != names[2]


def test_told_is_yes_or_no(tmp_path):
    with pytest.raises(ValueError, match="told: 'maybe'"):
        cells(tmp_path, "{name: markov, told: maybe}")
    with pytest.raises(KeyError, match="'told' is unknown"):
        path = tmp_path / "task.yml"
        path.write_text(
            SPEC.format(attack="unchanged").replace("attack: unchanged", "task: {name: sentiment, told: true}")
        )
        specification.read_spec(path)


@pytest.fixture(scope="module")
def problem(default_data):
    return problems.prepare("rt", 40, 200, None, 0, "custext+", vocabulary=5000, epsilon=1.0)


@pytest.mark.parametrize(
    ("name", "many", "gain"),
    [
        ("context-free", 0.3, 0.03),
        ("public ranks", 0.3, 0.03),
        ("unseen mass", 0.3, 0.03),
        ("markov", 0.3, 0.03),
        ("mixture without language", 0.2, 0.01),  # its weights are those of who is told
    ],
)
def test_who_is_not_told_takes_many_kept_words_for_themselves(problem, name, many, gain):
    """At an attacked position a kept word is a fake, and only who is told the position knows."""
    kept, found = problem.mechanism.keep, {}
    released = [problem.released[d][i] for d, i in problem.positions]
    at = np.array([word in kept for word in released])
    assert at.mean() > 0.05
    for told in (True, False):
        guesses = problem.run(name, told=told).guesses
        found[told] = np.mean(np.array(guesses) == problem.truth.words)
        as_it_is = np.mean([guesses[n] == released[n] for n in np.flatnonzero(at)])
        assert as_it_is == 0 if told else as_it_is > many
    assert found[True] > found[False] + gain


def test_ranks_are_those_of_the_public_list():
    """Two words that a release cannot tell apart: the one that stands first in the list is guessed."""
    channel = Channel.from_matrix([[0.5, 0.5], [0.5, 0.5]], inputs=["rare", "common"], outputs=["u", "v"])
    listed = Embeddings(["the", "common", "and", "rare"], np.eye(4))
    known = Knowledge(channel, resources={"embeddings": listed})
    attack = ATTACKS["public ranks"].load()(known)
    assert attack.reconstruct([["u"]], [(0, 0)]) == ["common"]
    assert attack.prior["common"] / attack.prior["rare"] == pytest.approx(4 / 2)
    with pytest.raises(ValueError, match="no public list"):
        ATTACKS["public ranks"].load()(Knowledge(channel))
