"""What tests of several files share."""

import pytest
from click.testing import CliRunner

from textsan.cli.main import main


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
