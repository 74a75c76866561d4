"""What tests of several files share."""

import pytest


def refused(message, call, error=ValueError):
    """Assert that a call is refused in one line, which the message matches."""
    with pytest.raises(error, match=message) as caught:
        call()
    assert "\n" not in str(caught.value)
