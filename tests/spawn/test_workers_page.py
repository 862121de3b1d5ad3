"""The page Workers in a real browser, in front of real workers. Only in `make web-test`."""

import os
import subprocess

import pytest
from machine import wait_for
from web_inside import ORIGIN, Web

if not os.environ.get("STILE_BROWSER"):
    pytest.skip("only in `make web-test`, which installs a browser", allow_module_level=True)

from harness.browser import accessibility_problems, dark, drive, press, screenshot, shows  # noqa: E402


@pytest.fixture(scope="module")
def web(machine):
    made = Web(machine)
    inside = f"nsenter -t {machine.init} -n socat - TCP\\:127.0.0.1\\:9129"
    way_in = subprocess.Popen(["socat", "TCP-LISTEN:9129,bind=127.0.0.1,reuseaddr,fork", f"EXEC:{inside}"])
    yield made
    way_in.terminate()
    way_in.wait(10)


@pytest.fixture
def driver(run_folder):
    yield from drive(run_folder / "workers-page")


@pytest.mark.long
def test_workers_are_shown_with_their_tasks_and_stopped(driver, machine, web, spawn):
    for name in ("alpha", "beta"):
        assert spawn(name, tags=["nightly"])["status"] == "spawned"
    machine.ask({"action": "run", "task_id": "alpha", "message": "exit 3"})
    wait_for(lambda: machine.ask({"action": "output", "task_id": "alpha"})["status"] == "failed", "the end of the task")
    machine.ask({"action": "run", "task_id": "alpha", "message": "sleep infinity"})
    driver.get(machine.run("/opt/stile/stile", "web").stdout.strip())
    shows(driver, "Decisions", "mode enforce")
    driver.get(f"{ORIGIN}/#/workers")
    shows(driver, "Workers (2)", "alpha", "beta", "nightly", "task 1", "failed", "exit status 3", "task 2", "running")
    screenshot(driver, "workers")
    for is_dark in (False, True):
        dark(driver, is_dark)
        assert accessibility_problems(driver) == []
    press(driver, "Stop beta")
    shows(driver, "Workers (1)")
    assert [one["task_id"] for one in machine.ask({"action": "list"})["workers"]] == ["alpha"]
    press(driver, "Stop all workers")
    press(driver, "End all workers now")
    shows(driver, "No workers")
    assert machine.ask({"action": "list"}) == {"workers": []}
