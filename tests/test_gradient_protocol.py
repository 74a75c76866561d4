"""The beam that reads defended gradients, and the promise of the test for a piece."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from textsan.gradient_leakage import cases, defences, spans, victims
from textsan.priors import MarkovModel
from textsan.text.corpora import load_dataset
from textsan_book.studies import gradient_defences as learning, gradient_protocol as study

CLIENT = learning.Client("rt", "none", 0.0, 8, 0)


@pytest.fixture(scope="module")
def small(default_data):
    return victims.small_victim(seed=0)


@pytest.fixture(scope="module")
def bigrams(small):
    """Pieces of public text as a Markov source: it stands for the causal model, and costs nothing."""
    pieces = study._vocabulary(small.name)
    texts = [record.text for record in study._public_records()[:2000]]
    rows = study.load_tokenizer(small.name).encode_batch(texts, add_special_tokens=False)
    return MarkovModel.fit([[pieces[i] for i in row.ids] for row in rows], pieces)


@pytest.fixture(scope="module")
def texts(default_data):
    return study._drawn(CLIENT.short(load_dataset("rt")), 2, 3, 1)


@pytest.fixture(scope="module")
def own(default_data):
    return study._drawn(CLIENT.short(study._public_records()), 2, 3, 1)


@pytest.fixture(scope="module")
def alone(default_data):
    return study._drawn(CLIENT.short(load_dataset("rt")), 1, 6, 1)


@pytest.fixture(scope="module")
def own_alone(default_data):
    return study._drawn(CLIENT.short(study._public_records()), 1, 6, 1)


def told(small, bigrams, texts, own, defence):
    """The attacker's knowledge, the cases, their tables; and shares that are nearest, in the beam, and blind."""
    known = study.Attacker.calibrated(small, *own, defence, 0)
    sent = [cases.make_case(small, *one, defence=defence, seed=at) for at, one in enumerate(texts[0])]
    tables = [study.residual_tables(case, [known.cut])[0] for case in sent]
    lengths = [case.shared.lengths for case in sent]
    said = {"nearest": [study._first(-t, n, small) for t, n in zip(tables, lengths, strict=True)]}
    for name, sure in (("beam", known), ("blind", replace(known, weight=0.0, place=0.0))):
        said[name] = study.read(small, [sure.likelihood(table) for table in tables], lengths, 4, bigrams)
    true = [
        (at, piece, place)
        for at, case in enumerate(sent)
        for row in case.sentences
        for place, piece in [*enumerate(row)][1:-1]
    ]
    shares = {name: np.mean([w in one[at][p] for at, w, p in true]) for name, one in said.items()}
    return known, sent, tables, shares


def test_without_noise_the_beam_reads_everything(small, bigrams, alone, own_alone):
    known, _, _, shares = told(small, bigrams, alone, own_alone, None)
    assert shares["nearest"] == shares["beam"] == 1 > shares["blind"]
    assert known.cut == study.CUTS[0] and known.threshold > 0.01


def test_under_endless_noise_the_beam_is_no_better_than_without_a_gradient(small, bigrams, texts, own):
    _, _, _, shares = told(small, bigrams, texts, own, defences.noise(1e4))
    assert shares["beam"] <= shares["blind"] + 0.05


def test_under_pruning_the_beam_reads_more_than_without_a_gradient(small, bigrams, alone, own_alone):
    _, _, _, shares = told(small, bigrams, alone, own_alone, defences.prune(0.5))
    assert shares["beam"] > shares["blind"] + 0.1


@pytest.mark.parametrize("defence", [None, defences.noise(0.03), defences.prune(0.5)])
def test_false_alarms_on_sentences_that_were_not_in_the_batch_are_as_wanted(small, texts, own, defence):
    known = study.Attacker.calibrated(small, *own, defence, 0)
    alarms, passed = [], []
    for at, one in enumerate(texts[0]):
        case = cases.make_case(small, *one, defence=defence, seed=at)
        [table], pairs = study.residual_tables(case, [known.cut]), study._pairs(case)
        others = study._by_place(small, texts[1])
        alarms += (study._strange(table, pairs, others, study._inside(table)) < known.threshold).tolist()
        passed += [bool(table[w, p] < known.threshold) for w, p in pairs if p in study._inside(table)]
    assert len(alarms) > 1000 and abs(np.mean(alarms) - study.FALSE_ALARMS) < 0.015
    assert defence or all(passed)


def test_residuals_are_those_of_the_spans(small, texts):
    case = cases.make_case(small, *texts[0][0], defence=defences.noise(0.1))
    cuts = (0.05, 0.2)
    for cut, table in zip(cuts, study.residual_tables(case, cuts), strict=True):
        found = spans.span(spans.stacked(case.shared), cut)
        assert np.allclose(table, spans.residuals(small, found, table.shape[1]).numpy(), atol=1e-6)


def test_a_full_span_says_nothing(small, texts):
    """Noise fills the space at the finest cut: all pieces have one residual there."""
    case = cases.make_case(small, *texts[0][0], defence=defences.noise(1.0))
    [table] = study.residual_tables(case, [1e-6])
    assert (table == 1).all()
    assert not np.ptp(
        study._log_posteriors(table, study._pairs(case), study._public_pieces(small.name).probabilities)
    )


def test_every_batch_size_has_the_same_sentences():
    records = CLIENT.short(load_dataset("rt"))
    sums = [sum((texts for texts, _ in study._drawn(records, B, 8 // B, 3)[0]), []) for B in (1, 4, 8)]
    assert sums[0] == sums[1] == sums[2]
    assert not set(sums[0]) & set(study._drawn(records, 8, 1, 3)[1])


def test_no_piece_is_much_less_likely_than_its_frequency():
    model = study.PieceModel(None, None)
    model.frequencies = {"a": 0.5, "b": 0.1}
    assert np.allclose(
        np.exp(model._mixed(np.log([[0.1, 0.1], [1e-9, 0.3]]), ["a", "b"])), [[0.3, 0.1], [0.25, 0.2]]
    )


def test_a_piece_that_goes_on_a_word_and_a_mark_have_no_blank_before_them():
    def tokenizer(texts, add_special_tokens):
        return SimpleNamespace(input_ids=[[len(text)] for text in texts])

    model = study.PieceModel(None, tokenizer)
    assert model.pieces(["good", "##ness", "##", ","]) == [(5,), (4,), (3,), (1,)]
