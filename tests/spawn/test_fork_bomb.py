"""A worker that forks without end: its limit is that of its card, and all others go on."""

from machine import wait_for

MOST = 32
# Each process wants two more and tries until it has them. In case no limit holds, there are at most 1,023 of them
# for a minute.
BOMB = """exec python3 -c '
import os, time
depth, end = 0, time.monotonic() + 60
children = 0
while time.monotonic() < end:
    try:
        if depth < 9 and children < 2:
            children += 1
            if os.fork() == 0:
                depth, children = depth + 1, 0
    except OSError:
        children -= 1
        time.sleep(0.01)
    else:
        time.sleep(0.01 if children < 2 else 0.2)
'"""


def bombs(machine):
    return [int(word) for word in machine.run("pgrep", "-f", "depth < 9", check=False).stdout.split()]


def output_of(machine, worker, message):
    run = machine.ask({"action": "run", "task_id": worker, "message": message})
    assert run.get("status") == "running", run
    text, cursor = "", 0
    while True:
        answer = machine.ask({"action": "output", "task_id": worker, "run": run["run"], "wait_seconds": 20,
                              "cursor": cursor})
        text, cursor = text + answer["output"], answer["cursor"]
        if answer["status"] != "running" and not answer["output"]:
            return text


def test_a_fork_bomb_ends_at_the_limit_of_its_worker(machine, spawn):
    assert spawn("bomber", card={"resource_limits": {"max_processes": MOST}}).get("status") == "spawned"
    assert spawn("beta").get("status") == "spawned"
    machine.ask({"action": "run", "task_id": "bomber", "message": BOMB})
    # The first process inside counts too; the shell became the bomb.
    wait_for(lambda: len(bombs(machine)) == MOST, "the bomb has filled its limit")
    limits = machine.run("cat", f"/proc/{bombs(machine)[0]}/limits").stdout
    assert f"Max processes             {MOST + 1} " in limits, limits

    # While it goes on: another worker works, a new one can be spawned, and the spawner answers.
    for _ in range(3):
        assert output_of(machine, "beta", "for i in 1 2 3 4 5; do (true) && echo $i; done") == "1\n2\n3\n4\n5\n"
        assert len(bombs(machine)) <= MOST
    assert spawn("gamma").get("status") == "spawned"
    assert output_of(machine, "gamma", "echo here") == "here\n"
    assert machine.ask({"action": "status", "task_id": "bomber"})["status"] == "running"
    # The limit is that of a user: another worker's is not used up by it.
    assert bombs(machine) and output_of(machine, "beta", "ulimit -u") == "65\n"

    assert machine.ask({"action": "terminate", "task_id": "bomber"})["status"] == "terminated"
    assert bombs(machine) == []
