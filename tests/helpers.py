"""What tests of several files share: a dozen words with vectors, commands run on them, and refusals."""

import numpy as np
import pytest
from click.testing import CliRunner

import textsan
from textsan import Embeddings, Split
from textsan.cli.main import main
from textsan.mechanisms import make
from textsan.sweeps import problems, sweep

WORDS = ["the", ",", ".", "a", "film", "movie", "good", "bad", "great", "story", "actor", "plot"]
TOY = Embeddings(WORDS, np.random.default_rng(0).normal(size=(len(WORDS), 4)))
CUSTEXT = ("--mechanism", "custext", "--epsilon", "1", "--k", "4")
VERBATIM = ("--mechanism", "santext", "--epsilon", "1000")
"""Every word of the vocabulary comes out as it was."""


def toy_world(folder, patch, vectors=TOY):
    """Go to a folder, in which the word vectors are those of a few words."""
    patch.chdir(folder)
    for module in (textsan, make):
        patch.setattr(module, "load_embeddings", lambda name="": vectors)


def sanitize(*arguments, **options):
    return CliRunner().invoke(main, ["sanitize", *map(str, arguments)], **options)


def refusal(*arguments, status=2, **options):
    """The one line with which `textsan sanitize` refuses."""
    result = sanitize(*arguments, **options)
    assert result.exit_code == status and result.stderr.count("\n") == 1, result.output
    return result.stderr


def made_up_split(patch, words=82):
    """In place of every corpus: sentences of eight made-up words, drawn by a seed, and vectors of the words."""
    generator = np.random.default_rng(9)
    listed = ["the", "of", *(f"w{i}" for i in range(words - 2))]
    vectors = Embeddings(listed, generator.normal(size=(words, 4)))
    weights = generator.dirichlet(np.full(words, 0.5))

    def split(dataset, n_private, n_shadow, *, seed, **given):
        draws = np.random.default_rng(seed).choice(listed, size=(n_private + n_shadow, 8), p=weights).tolist()
        return Split(draws[:n_private], draws[n_private:], vectors)

    patch.setattr(problems, "_split", split)
    patch.setattr(sweep.corpora, "load_dataset", lambda name: [])


def refused(message, call, error=ValueError):
    """Assert that a call is refused in one line, which the message matches."""
    with pytest.raises(error, match=message) as caught:
        call()
    assert "\n" not in str(caught.value)


def command(name):
    """Make a fixture of a command that is run in a folder of the test's own."""

    @pytest.fixture
    def run(tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        return lambda *given, **options: CliRunner().invoke(main, [name, *map(str, given)], **options)

    return run
