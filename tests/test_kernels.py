"""Pinned arithmetic: what runs here, in worker processes and under the command."""

import os
import platform
import subprocess
import sys

import joblib
import pytest
import torch
from click.testing import CliRunner
from threadpoolctl import threadpool_info

from textsan.base import kernels
from textsan.cli import main

X86 = platform.machine().lower() in ("x86_64", "amd64")


def python(program, *arguments, **variables):
    known = set().union(*kernels.KERNELS.values())
    environment = {key: value for key, value in os.environ.items() if key not in known} | variables
    command = [sys.executable, "-c", program, *map(str, arguments)]
    return subprocess.run(command, env=environment, capture_output=True, text=True)


def test_this_process_runs_with_pinned_kernels():
    wanted = kernels.variables()
    assert wanted.items() <= os.environ.items()
    libraries = threadpool_info()
    assert libraries and {library["num_threads"] for library in libraries} == {1}
    assert torch.get_num_threads() == 1
    if X86 and wanted == kernels.KERNELS[kernels.PINNED]:  # no OPENBLAS_CORETYPE was set before
        assert kernels.held() == ""
        assert {one["architecture"] for one in libraries if one["user_api"] == "blas"} == {"Haswell"}
        assert torch.backends.cpu.get_cpu_capability() == "AVX2"
    else:
        assert kernels.held()


def test_workers_run_as_the_process_that_starts_them():
    jobs = [joblib.delayed(look)() for look in (kernels.held, torch.get_num_threads, threadpool_info)]
    held, threads, libraries = joblib.Parallel(n_jobs=2)(jobs)
    assert (held, threads) == (kernels.held(), 1)
    assert libraries and {library["num_threads"] for library in libraries} == {1}


def test_the_command_loads_no_numpy():
    found = python("import sys, textsan.cli.main; print('numpy' in sys.modules)")
    assert found.stdout == "False\n", found.stderr


@pytest.mark.parametrize("given", [{}, {"OPENBLAS_CORETYPE": "Sandybridge", "MKL_CBWR": "AUTO"}])
def test_the_command_pins_before_a_plugin_loads_numpy(tmp_path, given):
    plugin, spec = tmp_path / "own.py", tmp_path / "one.yml"
    plugin.write_text("import numpy\nfrom textsan.base import kernels\nprint('held:', kernels.held())\n")
    spec.write_text(
        "{dataset: rt, n_private: 9, n_shadow: 9, defence: {name: santext, epsilon: 1}, attack: unchanged}"
    )
    program = "from textsan.cli.main import main; main()"
    found = python(program, "sweep", spec, "-o", tmp_path / "out", "--plugin", plugin, **given)
    assert found.returncode == 0, found.stderr
    held = found.stdout.splitlines()[0]
    if X86 and not given:
        assert held == "held: "
    elif X86:  # what was set before stays, and is said
        assert held == "held: products by kernels Sandybridge; not as pinned: OPENBLAS_CORETYPE"


def test_unpinned_pins_threads_alone():
    program = "from textsan.cli.main import main; from textsan.base import kernels\n"
    program += "main(standalone_mode=False)\nprint(kernels.held())"
    found = python(program, "--unpinned", "data", "list", MKL_CBWR="AUTO", OMP_NUM_THREADS="2")
    assert found.returncode == 0, found.stderr
    held = found.stdout.splitlines()[-1]
    assert ("MKL_CBWR" in held and "NPY_DISABLE_CPU_FEATURES" in held) == X86 and "THREADS" not in held


def test_sanitize_alone_keeps_its_threads(tmp_path):
    program = (
        "import os; from textsan.cli.main import main; main(standalone_mode=False); print(sorted(os.environ))"
    )
    for command, pinned in ((["sanitize", "--help"], False), (["data", "list"], True)):
        found = python(program, *command)
        assert found.returncode == 0, found.stderr
        assert ("'MKL_CBWR'" in found.stdout or not X86) == pinned
        assert ("'OMP_NUM_THREADS'" in found.stdout) == pinned


def test_kernels_are_not_changed_under_a_loaded_numpy(monkeypatch):
    kernels.pin()  # as they are
    monkeypatch.setenv("OMP_NUM_THREADS", "2")
    with pytest.raises(RuntimeError, match=r"^kernels: NumPy is loaded already; pin them first$"):
        kernels.pin()
    assert os.environ["OMP_NUM_THREADS"] == "2"
    assert "not as pinned: OMP_NUM_THREADS" in kernels.held() or not X86


def test_unknown_kernels_are_named_with_the_known_ones():
    with pytest.raises(KeyError, match="kernels: 'pentium' is unknown; known: haswell, sandybridge"):
        kernels.variables("pentium")
    result = CliRunner().invoke(main.main, ["check", "--as", "pentium"])
    assert result.exit_code == 2 and result.output.count("\n") == 1
    assert "'pentium' is not" in result.output and "sandybridge" in result.output


def test_what_a_machine_has_set_stays_unless_other_kernels_are_asked_for(monkeypatch):
    monkeypatch.setattr(platform, "machine", lambda: "x86_64")
    own = {"OPENBLAS_CORETYPE": "Zen", "MKL_CBWR": "AUTO"}
    assert kernels.variables(environment=own) == kernels.KERNELS["haswell"] | {"OPENBLAS_CORETYPE": "Zen"}
    assert kernels.variables("sandybridge", own) == kernels.KERNELS["sandybridge"]


def test_another_processor_has_its_threads_pinned_and_says_so(monkeypatch):
    monkeypatch.setattr(platform, "machine", lambda: "aarch64")
    threads = {"MKL_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    assert (
        kernels.variables("sandybridge", {})
        == kernels.variables(environment={"OPENBLAS_CORETYPE": "X"})
        == threads
    )
    assert kernels.held() == "kernels of aarch64"
