"""A default that changes: specifications keep what they meant, and records know it."""

import pytest
import yaml

from textsan.sweeps import specification
from textsan_book.studies.keep_default import keep
from textsan_book.studies.records import specification_sha256

SPECS = {
    "flow": "dataset: rt\ndefence: {name: custext+, epsilon: [1, 4]}\nattack: [{name: markov}, markov, memory]\n",
    "block": "dataset: rt\ndefence:\n  - name: custext+  # theirs\n    epsilon: 1\n    k: 5\n"
    "  - epsilon: 2\n    name: custext+\nattack:\n  - markov\n",
    "other": "dataset: rt\ndefence: santext\nattack: unchanged\n",
    "study": "experiment: linkages\ngrids:\n  - {seed: 0}\n  - seed: 1\n    n_private: 9\n",
}
SIZES = "n_private: 9\nn_shadow: 9\n"


@pytest.fixture
def data(tmp_path):
    for folder in ("sweeps", "results"):
        (tmp_path / folder).mkdir()
    for name, text in SPECS.items():
        path = tmp_path / "sweeps" / f"{name}.yml"
        path.write_text(text)
        record = yaml.safe_dump(
            {"command": "x", "specification": specification_sha256(path), "csv": "0"}, sort_keys=False
        )
        (tmp_path / "results" / f"{name}.yml").write_text(record)
    return tmp_path


@pytest.mark.parametrize(
    ("asked", "key", "changed", "values"),
    [
        (("attack", "markov", "k", "20"), "attack", ["block", "flow"], {"block": [20], "flow": [20, 20, None]}),
        (("defence", "custext+", "k", "20"), "defence", ["block", "flow"], {"block": [5, 20], "flow": [20]}),
        (("experiment", "linkages", "n_private", "100"), "grids", ["study"], {"study": [100, 9]}),
        (("attack", "mixture", "beam", "8"), "attack", [], {}),
    ],
)
def test_the_old_value_is_written_where_it_was_left_out(data, asked, key, changed, values):
    before = {path: path.read_text() for path in data.rglob("*.yml")}
    assert [path.stem for path in keep(*asked, data=data)] == changed
    for name in SPECS:
        path, record = (data / folder / f"{name}.yml" for folder in ("sweeps", "results"))
        assert yaml.safe_load(record.read_text())["specification"] == specification_sha256(path)
        if name not in changed:
            assert (path.read_text(), record.read_text()) == (before[path], before[record])
            continue
        given = yaml.safe_load(path.read_text())[key]
        given = given if isinstance(given, list) else [given]
        assert [one.get(asked[2]) if isinstance(one, dict) else None for one in given] == values[name]
    assert keep(*asked, data=data) == []  # nothing relies on it any more


def test_cells_stay_what_they_were(data):
    path = data / "sweeps" / "flow.yml"
    path.write_text(SPECS["flow"] + SIZES)
    before = specification.read_spec(path)
    keep("defence", "custext+", "k", "20", data=data)
    assert specification.read_spec(path) == before and "k: 20" in path.read_text()
