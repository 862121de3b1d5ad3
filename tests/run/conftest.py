"""Fixtures of `stile run`: who runs it, and a workspace to run it in."""

import os
import shutil
import sys
import tempfile
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))

from fence import USER, Fence, binary_for_all  # noqa: E402


@pytest.fixture(scope="session")
def stile_binary(tmp_path_factory):
    """The command, at a place where any user can run it."""
    folder = Path(tempfile.mkdtemp(prefix="stile-bin-"))
    yield binary_for_all(folder)
    shutil.rmtree(folder, ignore_errors=True)


def make_fence(world, stile_binary, is_user):
    folder = Path(tempfile.mkdtemp(prefix="stile-run-"))
    folder.chmod(0o755)
    if is_user and os.geteuid() == 0:
        os.chown(folder, USER, USER)
    try:
        yield Fence(world, folder, stile_binary, is_user)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(params=["root", "user"])
def fence(request, world, stile_binary):
    """`stile run` by root, and by an unprivileged user."""
    if request.param == "root" and os.geteuid() != 0:
        pytest.skip("needs root")
    yield from make_fence(world, stile_binary, request.param == "user")


@pytest.fixture
def user_fence(world, stile_binary):
    """By an unprivileged user only."""
    yield from make_fence(world, stile_binary, True)


@pytest.fixture
def root_fence(world, stile_binary):
    if os.geteuid() != 0:
        pytest.skip("needs root")
    yield from make_fence(world, stile_binary, False)
