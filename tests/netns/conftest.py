"""Fixtures of the fence's tests. They need root: namespaces, devices and nftables are the subject."""

import functools
import os
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))

from lab.host import BUILD, TOOL, Host  # noqa: E402
from lab.world import World  # noqa: E402

# What a container for builds often may not do.
NEEDED = """set -e
mount -t tmpfs tmpfs /mnt
mkdir /mnt/upper /mnt/work
mount -t overlay overlay -o lowerdir=/etc,upperdir=/mnt/upper,workdir=/mnt/work /etc
ip link add probe0 type veth peer name probe1
nft add table inet probe
unshare --user --net true
"""


@functools.cache
def reason_to_skip():
    if os.geteuid() != 0:
        return "the fence is tested as root only"
    if BUILD.name == "tsan":
        return "the thread sanitizer has a thread of its own, with which no user namespace can be made"
    if not TOOL.exists():
        return f"{TOOL} is not built"
    done = subprocess.run(["unshare", "--net", "--mount", "--propagation", "private", "sh", "-c", NEEDED],
                          capture_output=True, text=True)
    return f"no namespaces, devices or nftables here: {done.stderr.strip()}" if done.returncode else None


def pytest_collection_modifyitems(items):
    here = [item for item in items if Path(__file__).parent in item.path.parents]
    if here and (reason := reason_to_skip()):
        for item in here:
            item.add_marker(pytest.mark.skip(reason=reason))


@pytest.fixture
def host():
    place = Host()
    yield place
    place.close()


@pytest.fixture
def world():
    place = World()
    yield place
    place.close()


@pytest.fixture(scope="module")
def shared_world():
    """For tests that leave the fence as it was."""
    place = World()
    yield place
    place.close()
