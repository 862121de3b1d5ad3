"""What a canceled task leaves behind: nothing, where control groups are of version 2."""

import pytest
from machine import wait_for

GROUP_VERSION = 2


@pytest.fixture(autouse=True)
def groups(machine):
    if machine.shell("stat -fc %T /sys/fs/cgroup").strip() != "cgroup2fs":
        pytest.skip("the machine has no control groups of version 2")


def sleepers(machine, seconds):
    return machine.shell(f"pgrep -xf 'sleep {seconds}'", check=False).split()


def wait_until_over(machine, run):
    def state():
        return machine.ask({"action": "output", "task_id": "alpha", "run": run, "wait_seconds": 20})["status"]
    return wait_for(lambda: (now := state()) != "running" and now, f"the end of task {run}")


@pytest.mark.parametrize("on_term", ["exit", "true"])
def test_nothing_of_a_canceled_task_goes_on(machine, spawn, on_term):
    """Not in a session of its own, with another parent and without its environment; whether the task ends by itself or not."""
    spawn("alpha")
    # The one that may stay: its task was not canceled.
    machine.ask({"action": "run", "task_id": "alpha", "message": "setsid -f env -i sleep 4321 >/dev/null 2>&1"})
    wait_until_over(machine, 1)
    hide = "setsid -f env -i bash -c 'setsid -f sleep 1234; while :; do sleep 1234; done' >/dev/null 2>&1"
    machine.ask({"action": "run", "task_id": "alpha",
                 "message": f"{hide}; trap '{on_term}' TERM; echo ready; while :; do sleep 0.1; done"})
    wait_for(lambda: "ready" in machine.ask({"action": "output", "task_id": "alpha", "run": 2, "wait_seconds": 5})["output"],
             "the task is ready")
    wait_for(lambda: len(sleepers(machine, "1234")) == 2, "both processes sleep")
    machine.ask({"action": "cancel", "task_id": "alpha", "run": 2})
    assert wait_until_over(machine, 2) == "canceled"
    wait_for(lambda: sleepers(machine, "1234") == [], "all processes of the task have ended")
    assert len(sleepers(machine, "4321")) == 1
    machine.ask({"action": "run", "task_id": "alpha", "message": "pkill -f 'sleep 4321'; true"})
    wait_until_over(machine, 3)
    machine.ask({"action": "run", "task_id": "alpha", "message": "true"})
    wait_until_over(machine, 4)
    assert machine.shell("find /sys/fs/cgroup -type d -name 'task-*'") == ""
