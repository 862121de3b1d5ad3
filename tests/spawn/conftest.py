"""Fixtures of the spawner's tests: one booted machine for all tests of a file."""

import functools
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))

from harness.stiled import build_folder  # noqa: E402
from machine import PROGRAMS, Machine  # noqa: E402
from spawner_config import spawner_toml  # noqa: E402


@functools.cache
def reason_to_skip():
    if os.geteuid() != 0:
        return "a machine is booted as root only"
    for program in ("systemd-nspawn", "dbus-daemon", "socat"):
        if not shutil.which(program):
            return f"{program} is not installed"
    if build_folder().name in ("asan", "tsan"):
        return "a sanitizer needs what the spawner's unit takes away"
    if any(not (build_folder() / "cmd" / program).exists() for program in PROGRAMS):
        return "the programs are not built"
    done = subprocess.run(["unshare", "--net", "--mount", "--pid", "--fork", "--user", "true"], capture_output=True)
    return "no namespaces here" if done.returncode else None


def pytest_collection_modifyitems(items):
    here = [item for item in items if Path(__file__).parent in item.path.parents]
    if here and (reason := reason_to_skip()):
        for item in here:
            item.add_marker(pytest.mark.skip(reason=reason))


@pytest.fixture(scope="module")
def machine(run_folder, request):
    folder = run_folder / f"machine-{Path(request.node.name).stem}"
    folder.mkdir()
    try:
        place = Machine(folder, spawner_toml(), getattr(request.module, "GROUP_VERSION", None))
    except AssertionError as problem:
        pytest.skip(f"systemd-nspawn does not boot here: {problem}")
    yield place
    place.close()


@pytest.fixture
def spawn(machine):
    """Spawns a worker that is terminated after the test."""
    ids = []

    def start(name, **more):
        ids.append(name)
        return machine.ask({"action": "spawn", "task_id": name, "workspace": "/mnt/agents", **more})

    yield start
    for name in ids:
        machine.ask({"action": "terminate", "task_id": name})
