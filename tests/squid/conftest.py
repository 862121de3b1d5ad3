"""Fixtures of the tests beside squid."""

import os
import tempfile
from pathlib import Path

import pytest

from pair import Pair


@pytest.fixture
def open_folder():
    """Not below the build: squid's own user has to get there too."""
    with tempfile.TemporaryDirectory(prefix="stile-squid-") as folder:
        os.chmod(folder, 0o755)
        yield Path(folder)


@pytest.fixture
def pair(open_folder):
    pair = Pair(open_folder)
    yield pair
    pair.close()
