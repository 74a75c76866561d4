"""The cache: what is kept is found again, and never behind other inputs, other code or other arithmetic."""

from types import SimpleNamespace

import numpy as np
import pytest

from textsan.base import assets, cache, kernels

MODULE = "textsan_book.studies.gradients"


@pytest.fixture(autouse=True)
def own_folder(monkeypatch, tmp_path):
    monkeypatch.setattr(assets, "cache_folder", lambda: tmp_path / "cache")
    yield tmp_path
    cache.code_of.cache_clear()
    cache.arithmetic.cache_clear()


def kept(inputs, value=1.0):
    return cache.arrays("t", inputs, lambda: {"a": np.array([value])}, code=MODULE)["a"].item()


def test_the_same_is_read_and_another_input_is_computed():
    assert kept([1, "a", np.arange(3)]) == 1.0
    assert kept([1, "a", np.arange(3)], 2.0) == 1.0
    three = np.arange(3)
    for other in ([2, "a", three], [1, "b", three], [1, "a", np.arange(4)], [1, "a", np.arange(3.0)]):
        assert kept(other, 2.0) == 2.0
    assert kept(["ab", "c"]) == 1.0
    assert kept(["a", "bc"], 2.0) == 2.0


@pytest.mark.parametrize(
    "module", [MODULE, "textsan.gradient_leakage.victims", "textsan.models.encoders", "textsan.text.corpora"]
)
def test_a_change_of_code_is_computed_anew_and_one_of_words_is_not(module, monkeypatch, own_folder):
    source = cache._file(module).read_text(encoding="utf8")
    assert kept([]) == 1.0
    file_of, edited = cache._file, own_folder / "edited.py"
    monkeypatch.setattr(cache, "_file", lambda name: edited if name == module else file_of(name))

    edited.write_text(source.replace('"""', '"""Other words. ', 1) + "# and a remark\n", encoding="utf8")
    cache.code_of.cache_clear()
    assert kept([], 2.0) == 1.0
    edited.write_text(source + "\nplanted = 1\n", encoding="utf8")
    cache.code_of.cache_clear()
    assert kept([], 2.0) == 2.0


def test_names_that_a_package_hands_on_lead_to_their_module(monkeypatch, own_folder):
    wheel = own_folder / "wheel.py"
    wheel.write_text(
        "def turn():\n    from textsan.mechanisms import SanText\n    return SanText\n", encoding="utf8"
    )
    file_of, read = cache._file, []

    def file(name):
        read.append(name)
        return wheel if name == "textsan.wheel" else file_of(name)

    monkeypatch.setattr(cache, "_file", file)
    cache.code_of("textsan.wheel")
    assert "textsan.mechanisms.santext" in read


def test_other_kernels_compute_anew(monkeypatch):
    assert kept([]) == 1.0
    monkeypatch.setattr(kernels, "held", lambda: "products by kernels Other")
    cache.arithmetic.cache_clear()
    assert kept([], 2.0) == 2.0


def test_recompute_neither_reads_nor_writes(monkeypatch):
    assert kept([]) == 1.0
    monkeypatch.setenv("TEXTSAN_RECOMPUTE", "1")
    assert kept([], 2.0) == 2.0
    monkeypatch.delenv("TEXTSAN_RECOMPUTE")
    assert kept([], 3.0) == 1.0


def test_what_fails_keeps_nothing(own_folder):
    def fail():
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        cache.arrays("t", [], fail, code=MODULE)
    assert not list(own_folder.rglob("*.npz")) and not list(own_folder.rglob("*.part"))


def test_a_victim_of_other_training_is_trained_anew(monkeypatch):
    torch = pytest.importorskip("torch")
    from textsan_book.studies import gradients

    trained, records = [], [SimpleNamespace(text="a fine film", label=1)] * 9

    def fine_tune(victim, records, *, epochs, seed):
        trained.append(len(records))
        return victim

    monkeypatch.setattr(gradients.victims, "load_victim", lambda seed: torch.nn.Linear(2, 2))
    monkeypatch.setattr(gradients.victims, "fine_tune", fine_tune)
    monkeypatch.setattr(gradients.sentence_vectors, "fingerprint", lambda encoder: "weights")
    monkeypatch.setattr(gradients, "training_records", lambda dataset, seed: records[:])
    first = gradients.trained_victim("rt")
    assert torch.equal(gradients.trained_victim("rt").weight, first.weight) and len(trained) == 1
    records.pop()
    gradients.trained_victim("rt")
    gradients.trained_victim("rt", epochs=1)
    gradients.trained_victim("rt", seed=1)
    assert trained == [9, 8, 8, 8]
