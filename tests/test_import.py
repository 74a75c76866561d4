"""Importing is cheap: names load when they are used, heavy libraries when something is computed with them."""

import subprocess
import sys

HEAVY = (*(f"scipy.{part}" for part in ("sparse", "spatial", "special", "stats")), "pandas", "arro3", "torch")
HEAVY += ("transformers", "matplotlib", "IPython")
ASKED = f"print([name for name in {HEAVY} if name in sys.modules])"


def loaded(*lines: str) -> str:
    """Run lines in a fresh process, and return which heavy modules it has loaded."""
    program = "\n".join(["import sys, textsan", *lines, ASKED])
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return done.stdout.strip()


def test_the_package_and_its_public_names_load_nothing_heavy():
    assert loaded() == loaded("for name in dir(textsan): getattr(textsan, name)") == "[]"


def test_attacks_of_matrices_load_nothing_heavy():
    names = ("Knowledge", "ContextFreeBayes", "MarkovBayes", "EmbeddingInversion", "Unchanged")
    assert loaded(*(f"textsan.attacks.{name}" for name in names)) == "[]"
    assert loaded("textsan.release.release_series") == "[]"


def test_statistics_load_when_they_are_needed():
    assert "scipy.stats" in loaded("textsan.evaluation.hit_rate([True])")


def test_a_command_of_the_package_loads_nothing_of_the_book():
    run = "from textsan.cli.main import main; main(['data', 'list'], standalone_mode=False)"
    asked = "print(any(name.startswith('textsan_book') for name in sys.modules))"
    assert loaded(run, asked).splitlines()[-2] == "False"


def test_the_version_is_that_of_the_metadata():
    done = "import importlib.metadata; assert textsan.__version__ == importlib.metadata.version('textsan')"
    assert loaded("assert 'importlib.metadata' not in sys.modules", done) == "[]"
