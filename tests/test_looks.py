"""Colours and markers: readable on both pages, one for one thing, and no silent default."""

import itertools

import numpy as np
import pytest
from hypothesis import given, strategies as st

from textsan.attacks.registry import ATTACKS
from textsan.mechanisms.registry import MECHANISMS
from textsan.plotting import looks

PAGES = ("#ffffff", "#121212", "#14181e")  # the light page, the dark one, the theme's own dark
TABLES = {"mechanisms": MECHANISMS, "attacks": ATTACKS, "series": dict(enumerate(looks.SERIES))}
# Of deuteranopia, protanopia and tritanopia: Machado, Oliveira and Fernandes 2009, severity 1, in linear RGB.
BLINDNESS = {
    "none": np.eye(3),
    "protan": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "deutan": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
    "tritan": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]],
}


def linear(colour):
    parts = np.array([int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)])
    return np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)


def contrast(one, other):
    """WCAG 2 contrast ratio."""
    darker, lighter = sorted(float(linear(c) @ [0.2126, 0.7152, 0.0722]) for c in (one, other))
    return (lighter + 0.05) / (darker + 0.05)


def oklab(rgb):
    to_cones = [[0.41222, 0.53633, 0.05145], [0.21190, 0.68070, 0.10740], [0.08830, 0.28172, 0.62998]]
    to_lab = [[0.21045, 0.79362, -0.00407], [1.97800, -2.42859, 0.45059], [0.02590, 0.78277, -0.80868]]
    return np.array(to_lab) @ np.cbrt(np.array(to_cones) @ np.clip(rgb, 0, 1))


def test_contrast_is_the_known_one():
    assert contrast("#ffffff", "#000000") == pytest.approx(21)
    assert contrast("#ffffff", "#767676") == pytest.approx(4.54, abs=0.01)


@pytest.mark.parametrize("page", PAGES)
def test_every_colour_but_ink_is_seen_on_every_page(page):
    everything = [*MECHANISMS.values(), *ATTACKS.values(), *looks.ROLES.values(), *looks.SERIES]
    colours = {one.colour for one in everything} - {looks.INK}
    assert {colour for colour in colours if contrast(colour, page) < 3} == set()


def test_a_pale_colour_would_be_caught():
    assert contrast("#56B4E9", "#ffffff") < 3  # sky blue of Okabe and Ito, in which SanText+ used to be drawn


@pytest.mark.parametrize("kind", BLINDNESS)
@pytest.mark.parametrize("table", TABLES)
def test_colours_of_a_figure_stay_apart_for_colour_blind_readers(table, kind):
    colours = {one.colour for one in TABLES[table].values()} - {looks.INK}
    seen = {colour: oklab(np.array(BLINDNESS[kind]) @ linear(colour)) for colour in colours}
    near = [
        pair for pair in itertools.combinations(colours, 2) if np.linalg.norm(seen[pair[0]] - seen[pair[1]]) < 0.06
    ]
    assert not near


@pytest.mark.parametrize("table", TABLES)
def test_same_colour_has_another_marker_or_line(table):
    drawn = [(one.colour, one.marker, one.line) for one in TABLES[table].values()]
    assert len(set(drawn)) == len(drawn)


def test_bounds_have_one_colour_of_their_own():
    bounds = [one for one in ATTACKS.values() if one.is_bound] + [looks.ROLES["bound"]]
    others = [one for one in ATTACKS.values() if not one.is_bound]
    assert {one.colour for one in bounds} == {looks.INK}
    assert looks.INK not in {one.colour for one in [*others, *MECHANISMS.values(), *looks.SERIES]}


def test_no_mechanism_has_the_colour_of_an_attack():
    mechanisms, attacks = ({one.colour for one in table.values()} for table in (MECHANISMS, ATTACKS))
    assert mechanisms & attacks == {looks.GREY}


@pytest.mark.parametrize(
    "named", [{}, {"role": "chance", "attack": "markov"}, {"series": 0, "mechanism": "tem"}, {"series": 6}]
)
def test_nothing_two_things_or_too_many_are_refused(named):
    with pytest.raises(ValueError, match="^(look|series): "):
        looks.look(**named)


@given(st.sampled_from([*MECHANISMS]), st.sampled_from([*ATTACKS]))
def test_an_attack_on_a_mechanism_has_the_colour_of_one_and_the_marker_of_the_other(mechanism, attack):
    both = looks.look(mechanism, attack)
    assert both.colour == MECHANISMS[mechanism].colour and both.marker == ATTACKS[attack].marker
