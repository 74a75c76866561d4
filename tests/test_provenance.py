"""What made a result: names followed through planted packages, planted changes, and results that are kept."""

import json
import logging
import os
import re
import shutil
import sys
import threading
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import yaml
from click.testing import CliRunner

import textsan
from textsan import Embeddings, Split
from textsan.attacks import ATTACKS
from textsan.base import kernels
from textsan.base.registry import Entry
from textsan.cli import main
from textsan.sweeps import hits, problems, provenance, specification, sweep
from textsan_book.chapters import stored_tables
from textsan_book.studies import recertification, stored_cells

# --- following names --------------------------------------------------------------------------------------------

PLANTED = {
    "__init__.py": """
        import lazy_loader
        __getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
    """,
    "__init__.pyi": """
        from . import tools as tools
        from .shapes.round import Circle as Circle
    """,
    "start.py": """
        import numpy
        from {name} import Circle, shapes, tools
        from {name}.one import step
        import {name}.unused

        def through_a_door(): return Circle()
        def through_a_folder(): return shapes.Square()
        def through_a_module(): return tools.cut(1)
        def within():
            from {name}.inner import deep
            return deep
        def three_away(): return step()
        def dotted(): import {name}.aside.far as f; return f.x
        def relative(): from .inner import deep; return deep
        def handed_on(): return [shapes]
        class Child(Circle): pass
        TABLE = {{"a": three_away}}
        def by_table(): return TABLE["a"]()
    """,
    "one.py": """
        from {name}.two import step as further
        from {name}.unused import never

        def step(): return further()
        def other(): return never()
    """,
    "two.py": """
        from {name} import three
        step = three.step
    """,
    "three.py": """
        import {name}.always
        def step(): pass
        if {name}.always.on: pass
    """,
    "always.py": "on = True",
    "inner.py": "deep = 1",
    "unused.py": "def never(): pass",
    "tools.py": "def cut(x): return x",
    "aside/__init__.py": "",
    "aside/far.py": "x = 1",
    "shapes/__init__.py": """
        import lazy_loader
        __getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
    """,
    "shapes/__init__.pyi": """
        from .round import Circle as Circle
        from .straight import Square as Square
    """,
    "shapes/round.py": "class Circle: pass",
    "shapes/straight.py": "class Square: pass",
}


@pytest.fixture
def planted(tmp_path, monkeypatch, request):
    """A package of files that are there for this test alone."""
    name = f"planted_{abs(hash(request.node.name)) % 10**9}"
    for path, text in PLANTED.items():
        file = tmp_path / name / path
        file.parent.mkdir(parents=True, exist_ok=True)
        lines = text.replace("{name}", name).replace("{{", "{").replace("}}", "}").splitlines()
        file.write_text("\n".join(line.removeprefix(" " * 8) for line in lines) + "\n")
    monkeypatch.syspath_prepend(tmp_path)
    return name


@pytest.mark.parametrize(
    "start, wanted",
    [
        ("through_a_door", ["shapes/round"]),
        ("through_a_folder", ["shapes/straight"]),
        ("through_a_module", ["tools"]),
        ("within", ["inner"]),
        ("three_away", ["one", "two", "three", "always"]),
        ("dotted", ["aside/far"]),
        ("relative", ["inner"]),
        ("handed_on", ["shapes/round", "shapes/straight"]),
        ("Child", ["shapes/round"]),
        ("by_table", ["one", "two", "three", "always"]),
    ],
)
def test_names_are_followed_to_where_they_are_defined(planted, start, wanted):
    found = provenance.code_from([(f"{planted}.start", start)])
    assert sorted(found) == sorted(f"{planted}/{module}.py" for module in ["start", *wanted])


@pytest.mark.parametrize("unpinned, gpu", [(False, False), (True, False), (False, True)])
def test_the_hardware_says_what_models_are_computed_on(monkeypatch, unpinned, gpu):
    monkeypatch.setattr(kernels, "held", lambda: "not as pinned: MKL_CBWR" * unpinned)
    cuda = SimpleNamespace(is_available=lambda: gpu, get_device_name=lambda: "a GPU")
    monkeypatch.setitem(sys.modules, "torch", SimpleNamespace(cuda=cuda))
    assert provenance.hardware().endswith("cores" + ", not as pinned: MKL_CBWR" * unpinned + ", a GPU" * gpu)


def test_code_that_is_in_no_file_is_never_the_same(monkeypatch):
    monkeypatch.setattr(sys.modules["__main__"], "__file__", None, raising=False)
    monkeypatch.setattr(provenance, "_file", provenance._file.__wrapped__)
    monkeypatch.setattr(provenance, "_source", provenance._source.__wrapped__)
    code = provenance.code_from([("__main__", "attack")])
    assert code == {"__main__": "no file"} and provenance.changed(code, code) == ["__main__"]


# --- sweeps -----------------------------------------------------------------------------------------------------

SPEC = {
    "dataset": "rt",
    "n_private": 40,
    "n_shadow": 30,
    "defence": [{"name": "custext+", "epsilon": 1, "k": 5}, {"name": "santext+", "epsilon": 2}],
    "attack": ["unchanged", "context-free", {"name": "markov", "k": 5}],
}
SIZE = 2 * 3


@pytest.fixture
def world(monkeypatch):
    """Sentences of a made-up corpus; nothing is read or downloaded."""
    generator = np.random.default_rng(9)
    words = ["the", *(f"w{i}" for i in range(60))]
    docs = generator.choice(words, size=(70, 8), p=generator.dirichlet(np.full(61, 0.5))).tolist()
    setting = Split(docs[:40], docs[40:], Embeddings(words, generator.normal(size=(61, 4))))
    monkeypatch.setattr(problems, "_split", lambda *given, **more: setting)
    monkeypatch.setattr(sweep.corpora, "load_dataset", lambda name: [])


@pytest.fixture
def spec(tmp_path):
    path = tmp_path / "spec.yml"
    path.write_text(yaml.safe_dump(SPEC))
    return path


@pytest.fixture
def done(world, spec, tmp_path):
    """The cells of the sweep, computed in a folder."""
    cells = specification.read_spec(spec)
    assert sweep.run(cells, tmp_path / "out", workers=1) == []
    return cells, tmp_path / "out"


@pytest.fixture
def change(monkeypatch):
    """Plants a change of code in a module: another fingerprint."""
    real = provenance._fingerprint

    def plant(end):
        def changed(path):
            return "changed" if path and path.as_posix().endswith(end) else real(path)

        monkeypatch.setattr(provenance, "_fingerprint", changed)

    return plant


def call(*arguments):
    return CliRunner().invoke(main.main, ["sweep", "-j", "1", *map(str, arguments)])


def of(cells, defence):
    return [cell for cell in cells if cell["defence"]["name"] == defence]


def written(cells, folder):
    return {specification.cell_name(c): sweep._result(c, folder).stat().st_mtime_ns for c in cells}


def test_no_function_outside_of_the_recorded_code_is_called(default_data, tmp_path):
    """Cells are run under a profiler: all that it sees of the package was followed, but for the sweep's own."""
    package, seen = Path(textsan.__file__).parent, set()

    def profile(frame, event, argument):
        if event == "call" and frame.f_code.co_name != "<module>":
            seen.add(frame.f_code.co_filename)

    attacks = [
        "unchanged",
        "context-free",
        {"name": "markov", "k": 5},
        "embedding inversion",
        "empirical inversion",
    ]
    path = tmp_path / "spec.yml"
    path.write_text(yaml.safe_dump(SPEC | {"attack": attacks}))
    (tmp_path / "cells").mkdir()
    for cell in specification.read_spec(path):
        seen.clear()
        threading.setprofile(profile)
        sys.setprofile(profile)
        try:
            family = sweep.Family([cell], [provenance.code_of(cell)], sweep.plugged_in(), {})
            assert sweep._run_family(family, tmp_path / "cells") == (1, [])
        finally:
            sys.setprofile(None)
            threading.setprofile(None)
        called = {
            Path(file).relative_to(package.parent).as_posix() for file in seen if file.startswith(str(package))
        }
        tooling = {
            f"textsan/sweeps/{name}.py"
            for name in ("sweep", "provenance", "sanitized", "specification", "studies")
        }
        # What looks names up: the constructors that it finds are where the following starts.
        tooling |= {f"textsan/base/{name}.py" for name in ("fingerprints", "kernels", "plugins", "registry")}
        doors = {file for file in called if file.endswith("__init__.py")}
        assert called - tooling - doors <= provenance.code_of(cell).keys()


def test_a_change_makes_the_cells_that_use_it_stale_and_no_other(done, change):
    cells, folder = done
    assert sweep.state(cells, folder) == (cells, [], [], [])
    for end, stale in (
        ("mechanisms/custext.py", of(cells, "custext+")),
        ("mechanisms/santext.py", of(cells, "santext+")),
        ("attacks/markov.py", [cell for cell in cells if cell["attack"]["name"] == "markov"]),
        ("channel/channel.py", cells),  # three imports away
        ("attacks/mask_inference.py", []),
        ("cli/sweep.py", []),
        ("sweeps/tables.py", []),
    ):
        change(end)
        now = sweep.state(cells, folder)
        assert now.stale == stale and now.changed == ([f"textsan/{end}"] if stale else [])
        assert len(now.fresh) == SIZE - len(stale)


def test_stale_cells_are_computed_anew_and_a_line_says_so(done, change, caplog):
    cells, folder = done
    before = written(cells, folder)
    change("mechanisms/custext.py")
    with caplog.at_level(logging.WARNING):
        assert sweep.run(cells, folder, workers=1) == []
    (said,) = [message for message in caplog.messages if "cells" in message]
    assert said.startswith("3 cells were made by other code: textsan/mechanisms/custext.py; computing them anew")
    after = written(cells, folder)
    moved = {name for name in before if before[name] != after[name]}
    assert moved == {specification.cell_name(cell) for cell in of(cells, "custext+")}
    assert sweep.state(cells, folder).stale == []


def test_the_status_says_which_and_why_and_runs_nothing(done, change, spec, tmp_path):
    cells, folder = done
    sweep._result(cells[-1], folder).unlink()
    change("attacks/context_free.py")
    before = written(cells[:-1], folder)
    result = call(spec, "-o", folder, "--status")
    assert result.exit_code == 0 and written(cells[:-1], folder) == before
    why = "2 stale (made by other code: textsan/attacks/context_free.py)"
    assert result.stdout == f"{folder}: 3 fresh, {why}, 1 missing\n"


def test_cells_that_agree_are_kept_with_the_code_as_it_is(done, change, spec):
    cells, folder = done
    change("mechanisms/custext.py")
    result = call(spec, "-o", folder, "--recertify", 2)
    assert result.exit_code == 0 and "2 of 3 stale cells" in result.stdout
    assert sweep.state(cells, folder).stale == []
    kept = [sweep.load_result(cell, folder) for cell in cells]
    assert sum("recertified" in one for one in kept) == 3
    made = yaml.safe_load((folder / "results.yml").read_text())
    assert made["modules"]["textsan/mechanisms/custext.py"] == "changed"
    assert "2 of 3 cells" in made["recertified"][0]
    assert sorted(path.name for path in folder.iterdir()) == [
        ".lock",
        "cells",
        "results.csv",
        "results.npz",
        "results.yml",
    ]
    assert "nothing is stale" in call(spec, "-o", folder, "--recertify", 2).stdout


def test_one_position_that_comes_out_otherwise_is_found_and_nothing_is_kept(done, change, spec):
    cells, folder = done
    change("mechanisms/custext.py")
    wrong = of(cells, "custext+")[1]
    hits = sweep.load_hits(wrong, folder)
    hits["hit"][[0, 1]] = ~hits["hit"][[0, 1]]
    np.savez_compressed(folder / "cells" / f"{specification.cell_name(wrong)}.npz", **hits)
    result = call(spec, "-o", folder, "--recertify", 3)
    assert result.exit_code == 1 and "Traceback" not in result.stderr
    assert f"{specification.cell_name(wrong)}: 2 of " in result.stderr
    assert len(sweep.state(cells, folder).stale) == 3


def test_a_cell_that_no_longer_computes_is_a_difference(done, change, spec, monkeypatch):
    cells, folder = done
    change("mechanisms/custext.py")

    def breaks(case):
        raise RuntimeError("out of luck")

    monkeypatch.setitem(ATTACKS._entries, "unchanged", Entry("unchanged", breaks, "unchanged"))
    result = call(spec, "-o", folder, "--recertify", 9)
    assert result.exit_code == 1 and "out of luck" in result.stderr


def test_a_folder_without_results_is_not_said_to_be_good(spec, tmp_path):
    said = call(spec, "-o", tmp_path, "--recertify", 2).stdout
    assert "nothing is stale" in said and "0 fresh" in said and "missing" in said
    both = call(spec, "-o", tmp_path, "--recertify", 2, "--status")
    assert both.exit_code == 2 and "pass one of them" in both.stderr
    (tmp_path / "a file").write_text("")
    wrong = call(spec, "-o", tmp_path / "a file")
    assert wrong.exit_code == 2 and len(wrong.stderr.splitlines()) == 1 and "a file" in wrong.stderr


def test_what_the_command_itself_does_not_know_gets_one_line():
    wrong = CliRunner().invoke(main.main, ["--plugin", "x.py", "sweep"])
    assert wrong.exit_code == 2 and len(wrong.stderr.splitlines()) == 1 and "--plugin" in wrong.stderr


def test_a_stored_rate_that_its_hits_do_not_give_is_a_difference(done, change):
    """As where the code of a score or an interval has changed: the hits are as they were."""
    cells, folder = done
    change("mechanisms/custext.py")
    for cell in sweep.state(cells, folder).stale:
        stored = sweep.load_result(cell, folder)
        stored["rows"][0]["low"] -= 0.01
        sweep._result(cell, folder).write_text(json.dumps(stored))
    verdict = recertification.recertify(cells, folder, 1, workers=1)
    assert len(verdict.differing) == 1 and "low come out otherwise" in verdict.differing[0]
    assert sweep.state(cells, folder).stale


@pytest.mark.parametrize("number", [0, -1])
def test_to_compute_no_cell_is_no_proof(done, change, number):
    cells, folder = done
    change("mechanisms/custext.py")
    with pytest.raises(ValueError, match="number: "):
        recertification.recertify(cells, folder, number, workers=1)
    assert sweep.state(cells, folder).stale


def test_trained_attacks_agree_within_their_interval(done, change):
    cells, folder = done
    change("mechanisms/custext.py")
    for cell in of(cells, "custext+"):
        stored = sweep.load_result(cell, folder)
        stored["rows"][0]["encoded"] = 10
        sweep._result(cell, folder).write_text(json.dumps(stored))
        hits = sweep.load_hits(cell, folder)
        hits["hit"][0] = ~hits["hit"][0]
        np.savez_compressed(folder / "cells" / f"{specification.cell_name(cell)}.npz", **hits)
    assert recertification.recertify(cells, folder, 3, workers=1) == (3, 3, [])
    change("mechanisms/base.py")
    for cell in cells:
        stored = sweep.load_result(cell, folder)
        width = stored["rows"][0]["high"] - stored["rows"][0]["low"]
        stored["rows"][0] |= {name: stored["rows"][0][name] + 2 * width + 0.01 for name in ("asr", "low", "high")}
        sweep._result(cell, folder).write_text(json.dumps(stored))
    assert len(recertification.recertify(of(cells, "custext+"), folder, 3, workers=1).differing) == 3


def test_the_draw_of_cells_follows_from_the_seed(done, change, monkeypatch):
    cells, folder = done
    change("channel/channel.py")
    drawn = []
    monkeypatch.setattr(sweep, "compute", lambda chosen, *given, **means: drawn.append(chosen) or ["none"])
    for seed in (0, 0, 1):
        recertification.recertify(cells, folder, 3, seed=seed)
    assert drawn[0] == drawn[1] != drawn[2] and all(len(chosen) == 3 for chosen in drawn)


def test_cells_whose_code_was_never_recorded_are_stale(done, spec):
    cells, folder = done
    stored = sweep.load_result(cells[0], folder)
    del stored["code"]
    sweep._result(cells[0], folder).write_text(json.dumps(stored))
    assert sweep.state(cells, folder)[1:] == ([cells[0]], [], [provenance.UNRECORDED])
    assert "1 stale (made by code that is not recorded)" in call(spec, "-o", folder, "--status").stdout
    assert sweep.record(cells, folder)["code"] == "not recorded"


# --- stored tables ----------------------------------------------------------------------------------------------


@pytest.fixture
def stored(done, tmp_path):
    """A table as those of data/results: rounded, with its record, without cells."""
    _, folder = done
    table = tmp_path / "table.csv"
    pd.read_csv(folder / "results.csv").round(5).to_csv(table, index=False)
    made = yaml.safe_load((folder / "results.yml").read_text())
    table.with_suffix(".yml").write_text(yaml.safe_dump({"command": "textsan sweep", **made}))
    return table


def test_a_stored_table_knows_what_made_it(stored, change, spec):
    assert call(spec, "--status", "--table", stored).stdout == f"{stored}: fresh\n"
    change("attacks/markov.py")
    said = call(spec, "--status", "--table", stored).stdout
    assert said == f"{stored}: stale, made by other code: textsan/attacks/markov.py\n"


def test_a_stored_table_is_kept_if_rows_come_out_equal(stored, change, spec, tmp_path):
    change("attacks/markov.py")
    before = stored.read_bytes()
    result = call(spec, "--recertify", 4, "--table", stored)
    assert result.exit_code == 0 and "4 of 6 stale cells" in result.stdout
    assert stored_tables.table_changes(stored.with_suffix(".yml")) == [] and stored.read_bytes() == before
    assert yaml.safe_load(stored.with_suffix(".yml").read_text())["command"] == "textsan sweep"


def test_a_digit_of_a_stored_table_that_comes_out_otherwise_is_found(stored, change, spec):
    change("attacks/markov.py")
    rows = pd.read_csv(stored)
    rows.loc[2, "asr"] += 0.00002
    rows.to_csv(stored, index=False)
    result = call(spec, "--recertify", 6, "--table", stored)
    assert result.exit_code == 1 and "1 of 6 differ" in result.stderr and "asr come" in result.stderr
    assert stored_tables.table_changes(stored.with_suffix(".yml")) == ["textsan/attacks/markov.py"]


def test_a_table_of_another_specification_is_refused(stored, spec, change):
    change("attacks/markov.py")
    spec.write_text(yaml.safe_dump(SPEC | {"n_private": 41}))
    result = call(spec, "--recertify", 1, "--table", stored)
    assert result.exit_code == 2 and "6 rows" in result.stderr and len(result.stderr.splitlines()) == 1


def test_a_sweep_goes_on_from_a_stored_table(stored, done, spec, tmp_path):
    """Five of its six cells stand in the table: one is computed, and the table is what it would have been."""
    _, folder = done
    cells = specification.read_spec(spec)
    out = tmp_path / "partly"
    shutil.copytree(folder, out)
    for file in (out / "cells").glob(f"{specification.cell_name(cells[3])}.*"):
        file.unlink()
    sweep.write_table(cells, out)
    stored_tables.store(out, stored, "textsan sweep")
    assert (
        len(pd.read_csv(stored)) == 5
        and yaml.safe_load(stored.with_suffix(".yml").read_text())["cells"] == "5 of 6"
    )
    result = call(spec, "-o", tmp_path / "anew", "-j", 1, "--table", stored, "--extend")
    assert result.exit_code == 0 and "5 cells are taken from" in result.stdout
    assert (
        pd.read_csv(stored)
        .drop(columns="seconds")
        .equals(pd.read_csv(folder / "results.csv").drop(columns="seconds"))
    )
    ours, theirs = (hits.load_hits(one) for one in (stored, folder / "results.csv"))
    assert all(np.array_equal(ours[row][name], theirs[row][name]) for row in theirs for name in theirs[row])
    assert "6 of 6" in yaml.safe_load(stored.with_suffix(".yml").read_text())["cells"]


def test_a_table_that_cannot_be_gone_on_from_is_refused(stored, change, spec, tmp_path):
    said = call(spec, "-o", tmp_path / "anew", "--table", stored, "--extend").stderr
    assert "row 0" in said and "has no hits" in said and len(said.splitlines()) == 1
    change("attacks/markov.py")
    said = call(spec, "-o", tmp_path / "anew", "--table", stored, "--extend").stderr
    assert "other code: textsan/attacks/markov.py; recertify it first" in said
    both = call(spec, "--extend")
    assert both.exit_code == 2 and "--table" in both.stderr


def test_no_committed_table_pretends_to_be_fresh():
    records = sorted((Path(__file__).parents[1] / "data" / "results").glob("*.yml"))
    assert records
    for record in records:
        said = yaml.safe_load(record.read_text())
        named = re.findall(r"data/\S+\.yml", said.get("command", ""))
        assert all((record.parents[2] / path).is_file() for path in named), record.name
        assert (stored_tables.table_changes(record) == [provenance.UNRECORDED]) == ("modules" not in said)


def test_every_committed_table_has_a_record():
    said = CliRunner().invoke(main.main, ["sweep", "--status", "--all"])
    assert said.exit_code == 0 and said.stdout.splitlines()[-1].endswith(", 0 unrecorded")


def test_what_an_experiment_makes_by_a_name_is_part_of_its_code():
    """An argument names the mechanism; the module itself names its attacks; exposures are of specifications."""
    wanted = {"experiment": "found_words", "dataset": "rt", "defence": "fbdd"}
    one, other = (provenance.code_of(wanted | {"defence": name}) for name in ("fbdd", "tem"))
    assert one.keys() - other.keys() == {"textsan/mechanisms/fbdd.py"} and "textsan/mechanisms/tem.py" in other
    assert "textsan/attacks/mixture.py" in one and "textsan/attacks/inversion_bert.py" not in one
    assert "textsan/mechanisms/random.py" in provenance.code_of(
        {"experiment": "exposures", "sweeps": "utility-sst2"}
    )
    assert not any("/attacks/" in path for path in provenance.code_of({"experiment": "scoreboard"}))


def test_every_row_of_a_committed_table_is_of_one_cell_of_its_specification():
    data, faults = Path(__file__).parents[1] / "data", []
    for spec in sorted((data / "sweeps").glob("*.yml")):
        table = data / "results" / spec.name.replace(".yml", ".csv")
        # A corpus of one's own files has no name where these are not.
        own = "needs TEXTSAN_DATA" in spec.read_text(encoding="utf-8") and "TEXTSAN_DATA" not in os.environ
        if table.is_file() and not own:
            places = stored_cells.places(specification.read_spec(spec), table).values()
            every = sorted(row for rows in places for row in rows)
            said = yaml.safe_load(table.with_suffix(".yml").read_text(encoding="utf-8"))
            partly = " of " in str(said.get("cells"))  # "62 of 144": more are added as they are computed
            if every != list(range(len(pd.read_csv(table)))) or not (partly or all(places)):
                faults.append(spec.stem)
    assert faults == []


@pytest.mark.parametrize(
    "changed, stale", [("scoreboard.yml", {"scoreboard", "claims"}), ("results/claims.csv", set())]
)
def test_derived_tables_are_stale_where_what_they_read_changes(tmp_path, monkeypatch, changed, stale):
    shutil.copytree(Path(__file__).parents[1] / "data", tmp_path / "data")
    (tmp_path / "book").mkdir()
    (tmp_path / "_toc.yml").touch()
    monkeypatch.chdir(tmp_path)
    for name in ("scoreboard", "claims"):
        record = Path("data", "results", f"{name}.yml")
        [cell] = specification.read_spec(Path("data", "sweeps", f"{name}.yml"))
        record.write_text(yaml.safe_dump(provenance.describe([provenance.code_of(cell)])))
    with Path("data", changed).open("a") as file:
        file.write("# another\n")
    provenance._fingerprint.cache_clear()
    lines = CliRunner().invoke(main.main, ["sweep", "--status", "--all"]).stdout.splitlines()
    verdicts = {name: said for name, _, said in (line.partition(": ") for line in lines)}
    found = {name for name in ("scoreboard", "claims") if verdicts[name] == f"stale: data/{changed}"}
    assert found == stale and all(verdicts[name] == "fresh" for name in {"scoreboard", "claims"} - stale)
