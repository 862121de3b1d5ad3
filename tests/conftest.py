"""Fixtures of the end-to-end tests: a world per test, and a clock that ends a test that hangs."""

import os
import shutil
import signal
import sys
import tempfile
from pathlib import Path

import pytest

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent / "e2e"))

from harness.certs import Certificates  # noqa: E402
from harness.stiled import build_folder  # noqa: E402
from harness.world import World  # noqa: E402

# A shell starts what it puts into the background with SIGINT ignored, nohup ignores SIGHUP, and children would
# inherit both.
signal.signal(signal.SIGINT, signal.default_int_handler)
if signal.getsignal(signal.SIGHUP) == signal.SIG_IGN:
    signal.signal(signal.SIGHUP, lambda _number, _frame: None)  # a program that is started gets the default

LONGEST_TEST_SECONDS = int(os.environ.get("STILE_TEST_SECONDS", "60"))


@pytest.fixture(scope="session")
def run_folder():
    """Below the build, not in /tmp: config in a folder that everybody can write is refused."""
    build_folder().mkdir(parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(prefix="e2e-", dir=build_folder()))
    yield folder
    if not os.environ.get("STILE_KEEP"):
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="session")
def certificates(run_folder):
    return Certificates(run_folder / "certs")


def pytest_make_parametrize_id(config, val, argname):
    """Bytes are no part of a test's name: packed ones hold the time, and pytest-xdist compares the names."""
    return argname if isinstance(val, bytes) else None


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    report = (yield).get_result()
    if report.when == "call":
        item.stile_failed = report.failed


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_call(item):
    """A test that hangs fails with a traceback of where it hung."""
    limit = item.get_closest_marker("time_limit")
    seconds = limit.args[0] if limit else LONGEST_TEST_SECONDS
    if item.get_closest_marker("long"):
        seconds *= 3

    def on_alarm(_number, _frame):
        raise TimeoutError(f"the test took more than {seconds} s")
    old = signal.signal(signal.SIGALRM, on_alarm)
    signal.alarm(seconds)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, old)


def make_world(request, run_folder, certificates):
    folder = Path(tempfile.mkdtemp(prefix="t", dir=run_folder))
    world = World(folder, certificates)
    yield world
    try:
        world.close()
    except BaseException:
        _show(world)
        raise
    if getattr(request.node, "stile_failed", False):
        _show(world)


def _show(world):
    for proxy in world.proxies:
        print(f"---- {proxy.log}\n{proxy.log_text()[-8000:]}")
        print(f"---- {proxy.audit.path}\n{proxy.audit.tail(40)}")


@pytest.fixture
def world(request, run_folder, certificates):
    yield from make_world(request, run_folder, certificates)


@pytest.fixture(scope="module")
def shared_world(request, run_folder, certificates):
    """One world for a whole file: for tables whose rows need nothing of their own."""
    yield from make_world(request, run_folder, certificates)
