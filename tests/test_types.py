"""A type checker accepts programs that use the package; `make test` runs it on the package itself."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FITTING = """
import numpy as np
import textsan
from textsan.attacks import Attack, Knowledge
from textsan.evaluation import bootstrap_mean

words = textsan.load_embeddings()
mechanism = textsan.CusText(words, epsilon=1.0, k=20)
mechanism.channel.rows(np.arange(3))
mechanism.channel.rows(["a"])
bootstrap_mean([True, False], np.arange(2), seed=0)


class Own(Attack):
    @classmethod
    def against(cls, knowledge: Knowledge, *, power: float = 0.5) -> "Own":
        return cls()


Own.against(Knowledge(mechanism.channel), power=1.0)
"""


def said_of(program: Path) -> str:
    command = [sys.executable, "-m", "mypy", "--no-error-summary", "--hide-error-context", str(program)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    assert done.returncode in (0, 1) and not done.stderr, done.stderr
    return "\n".join(line for line in done.stdout.splitlines() if ": error: " in line)


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    """Of a program that is right, and of one with three mistakes, a line each."""
    folder = tmp_path_factory.mktemp("programs")
    mistakes = (
        "textsan.CusText(words, epsilon=1.0, kk=20)",
        "textsan.SanTxt",
        "Own.against(Knowledge(mechanism.channel), powr=1.0)",
    )
    for name, program in (("right", FITTING), ("wrong", "\n".join([FITTING, *mistakes]))):
        (folder / f"{name}.py").write_text(program)
    return said_of(folder / "right.py"), said_of(folder / "wrong.py").splitlines()


def test_a_program_that_fits_passes(found):
    assert found[0] == ""


def test_misspelt_names_are_errors_through_the_doors(found):
    parameter, name, setting = found[1]
    assert 'Unexpected keyword argument "kk" for "CusText"' in parameter
    assert 'Module has no attribute "SanTxt"' in name
    assert 'Unexpected keyword argument "powr" for "against" of "Own"' in setting
