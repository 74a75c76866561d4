"""Intervals of a sweep resample sources: the phrases of one sentence are not so many sentences."""

import numpy as np
import pytest
import yaml

from textsan import Embeddings
from textsan.evaluation import clustered_difference, clustered_rate
from textsan.sweeps import problems, specification, sweep
from textsan.sweeps.splits import Split

SOURCES, PHRASES = 40, 20


@pytest.fixture
def phrases(monkeypatch):
    """Each private sentence is there twenty times, as its phrases are in SST-2; nothing is read or downloaded."""

    def split(dataset, n_private, n_shadow, *, seed, **given):
        generator = np.random.default_rng(seed)
        words = [f"w{i}" for i in range(60)]
        embeddings = Embeddings(words, generator.normal(size=(60, 4)))
        sentences = generator.choice(words, size=(SOURCES, 6)).tolist()
        private = [sentence for sentence in sentences for _ in range(PHRASES)]
        shadow = generator.choice(words, size=(n_shadow, 6)).tolist()
        return Split(private, shadow, embeddings, (), [i // PHRASES for i in range(len(private))])

    monkeypatch.setattr(problems, "_split", split)
    monkeypatch.setattr(sweep.corpora, "load_dataset", lambda name: [])


def test_intervals_are_by_source_sentence_and_not_by_line(phrases, tmp_path):
    spec = {
        "dataset": "rt",
        "n_private": SOURCES * PHRASES,
        "n_shadow": 50,
        "attack": ["unchanged", "context-free"],
    }
    spec["defence"] = {"name": "custext+", "epsilon": 4, "k": 4}
    (tmp_path / "spec.yml").write_text(yaml.safe_dump(spec))
    cells = specification.read_spec(tmp_path / "spec.yml")
    assert sweep.run(cells, tmp_path, workers=1, baselines=["unchanged"]) == []
    table = sweep.table(cells, tmp_path, ["unchanged"])
    hits = [sweep.load_hits(cell, tmp_path) for cell in cells]
    for found, row in zip(hits, table.itertuples(), strict=True):
        assert set(found["source"]) == set(range(SOURCES)) and len(set(found["document"])) == SOURCES * PHRASES
        by_source = clustered_rate(found["hit"], found["source"])
        assert (row.asr, row.low, row.high) == by_source
    # Guesses depend on the released word, so what is hit is much the same in all phrases of a sentence.
    guesses = hits[1]
    by_line = clustered_rate(guesses["hit"], guesses["document"])
    by_source = clustered_rate(guesses["hit"], guesses["source"])
    assert by_source.high - by_source.low > 1.3 * (by_line.high - by_line.low)
    gain = clustered_difference(guesses["hit"].astype(float) - hits[0]["hit"], guesses["source"])
    over = table[["over unchanged", "over unchanged low", "over unchanged high"]].to_numpy()[1]
    assert tuple(over) == pytest.approx(gain)
