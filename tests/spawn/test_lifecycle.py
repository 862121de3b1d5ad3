"""Workers under a real systemd: how they begin, what they are, and that nothing of them is left."""

import json
import os

from machine import wait_for

UNIT = "sandboxed-agent@{}.service"


def namespaces(machine):
    return machine.run("ip", "netns", "list").stdout.split()


def test_a_worker_is_a_unit_behind_the_fence(machine, spawn):
    answer = spawn("alpha", tags=["nightly"])
    assert answer.get("status") == "spawned", (answer, machine.journal(UNIT.format("alpha")))
    assert answer["workspace"] == "/mnt/agents/alpha"
    assert len(answer["auth_token"]) == 64
    assert machine.is_active(UNIT.format("alpha"))
    assert "agent-alpha" in namespaces(machine)
    check = machine.run("/opt/stile/stile-netns", "check", "alpha", check=False)
    assert check.returncode == 0, check.stdout
    listed = machine.ask({"action": "list"})["workers"]
    assert [(one["task_id"], one["tags"], one["status"]) for one in listed] == [("alpha", ["nightly"], "running")]
    status = machine.ask({"action": "status", "task_id": "alpha"})
    assert status["runs"] == [] and status["expires_at"] == status["started_at"] + 3600
    show = machine.run("systemctl", "show", UNIT.format("alpha"), "-p", "MemoryMax,TasksMax,RuntimeMaxUSec").stdout
    assert {"MemoryMax=268435456", "TasksMax=66", "RuntimeMaxUSec=1h"} <= set(show.split("\n"))

    assert machine.ask({"action": "terminate", "task_id": "alpha"}) == {"task_id": "alpha", "status": "terminated"}
    assert not machine.is_active(UNIT.format("alpha"))
    assert "agent-alpha" not in namespaces(machine)
    assert machine.ask({"action": "list"}) == {"workers": []}
    assert not machine.path("/run/agent-spawner/workers/alpha").exists()
    # The name is free again at once, and the workspace is still there.
    assert spawn("alpha").get("status") == "spawned"


def test_a_worker_outlives_a_reload_of_systemd(machine, spawn):
    """systemd says then of every unit that it is removed, and that it is new."""
    spawn("alpha")
    for _ in range(3):
        machine.run("systemctl", "daemon-reload")
    # The spawner has heard of it when it has answered, and has done a task after that.
    for _ in range(2):
        answer = machine.ask({"action": "run", "task_id": "alpha", "message": "echo here"})
        assert answer.get("status") == "running", answer
        assert wait_until_over(machine, "alpha")["text"] == "here\n"
    assert machine.is_active(UNIT.format("alpha")) and "agent-alpha" in namespaces(machine)
    assert [one["task_id"] for one in machine.ask({"action": "list"})["workers"]] == ["alpha"]


def test_tokens(machine, spawn):
    token = spawn("alpha")["auth_token"]
    ask = {"action": "validate_token", "task_id": "alpha"}
    assert machine.ask({**ask, "token": token}) == {"valid": True}
    assert machine.ask({**ask, "token": token[:-1] + "x"}) == {"valid": False}
    assert machine.ask({**ask, "task_id": "other", "token": token}) == {"valid": False, "error": "Worker not found"}
    init = machine.command("true")[2]
    record = open(f"/proc/{init}/root/run/agent-spawner/workers/alpha/record.json").read()
    assert token not in record


def test_a_task_runs_as_an_ordinary_user_in_its_workspace(machine, spawn):
    spawn("alpha")
    run = {"action": "run", "task_id": "alpha", "message":
           "id -u; pwd; echo $HOME $GREETING $AGENT_ID; cat /proc/self/status | grep -E 'CapEff|NoNewPrivs';"
           " echo made >file; ls /mnt/agents /etc/stile /run/agent-spawner 2>&1 | wc -l; echo to-stderr >/dev/stderr"}
    answer = machine.ask(run)
    assert (answer["run"], answer["status"]) == (1, "running")
    end = wait_until_over(machine, "alpha")
    assert end["status"] == "completed" and end["exit_status"] == 0
    lines = end["text"].splitlines()
    assert lines[:3] == ["1000", "/workspace", "/home/agent hello alpha"]
    assert "CapEff:\t0000000000000000" in lines and "NoNewPrivs:\t1" in lines
    assert lines[-1] == "to-stderr"
    files = machine.ask({"action": "files", "task_id": "alpha"})["files"]
    assert [(one["name"], one["size"]) for one in files] == [("file", 5)]
    assert machine.ask({"action": "read_file", "task_id": "alpha", "path": "file"})["content"] == "made\n"


def changed(machine, worker, run):
    answer = machine.ask({"action": "files", "task_id": worker, "run": run})
    assert answer["truncated"] is False, answer
    return [one["name"] for one in answer["files"]]


def test_the_files_that_a_task_changed(machine, spawn):
    machine.shell("install -d -o 0 /mnt/agents/changes && echo before >/mnt/agents/changes/kept")
    spawn("changes")
    run = {"action": "run", "task_id": "changes"}
    machine.ask({**run, "message": "mkdir -p d .git; echo 1 >d/one; echo 1 >.git/x; ln -s /etc out; ln -s /etc/passwd p;"
                                   " touch -d 1999-01-01 old; echo done; until [ -e go ]; do sleep 0.05; done"})
    wait_for(lambda: changed(machine, "changes", 1) == ["d/one", "old"], "the task has begun")
    machine.path("/mnt/agents/changes/go").write_text("")
    end = wait_until_over(machine, "changes")
    assert [one["name"] for one in end["files"]] == ["d/one", "go", "old"] and end["truncated"] is False
    assert end["files"][0] == {"name": "d/one", "size": 2, "is_dir": False, "modified_at": end["files"][0]["modified_at"]}
    # What a later task changes is not the earlier one's.
    machine.ask({**run, "message": "echo 22 >d/one"})
    assert [one["name"] for one in wait_until_over(machine, "changes")["files"]] == ["d/one"]
    assert changed(machine, "changes", 1) == ["d/one", "go", "old"]
    assert "no such task" in machine.ask({"action": "files", "task_id": "changes", "run": 9})["error"]
    assert "not both" in machine.ask({"action": "files", "task_id": "changes", "run": 1, "path": "d"})["error"]


def test_a_token_counts_if_there_is_one(machine, spawn):
    token = spawn("alpha")["auth_token"]
    for request in ({"action": "status"}, {"action": "files"}, {"action": "run", "message": "true"},
                    {"action": "output"}, {"action": "terminate"}):
        answer = machine.ask({**request, "task_id": "alpha", "token": "0" * 64})
        assert answer == {"error": "The token is not valid"}, request
    assert machine.ask({"action": "status", "task_id": "alpha", "token": token})["status"] == "running"


def wait_until_over(machine, worker, run=None):
    """All output of a task, and how it ended."""
    request = {"action": "output", "task_id": worker, "wait_seconds": 20, "cursor": 0}
    if run is not None:
        request["run"] = run
    text = ""
    while True:
        answer = machine.ask(request)
        assert "error" not in answer, answer
        text += answer["output"]
        request["cursor"] = answer["cursor"]
        if answer["status"] != "running" and not answer["output"]:
            return {**answer, "text": text}


def test_one_task_at_a_time_and_cancel(machine, spawn):
    spawn("alpha")
    run = {"action": "run", "task_id": "alpha"}
    machine.ask({**run, "message": "trap '' TERM; echo ready; while :; do sleep 0.1; done"})
    wait_for(lambda: "ready" in machine.ask({"action": "output", "task_id": "alpha", "wait_seconds": 5})["output"],
             "the task is ready")
    assert "busy" in machine.ask({**run, "message": "true"})["error"]
    assert machine.ask({"action": "cancel", "task_id": "alpha"})["status"] == "running"  # it ignores SIGTERM
    end = wait_until_over(machine, "alpha", 1)
    assert (end["status"], end["exit_status"]) == ("canceled", 137)
    assert machine.ask({**run, "message": "exit 7"})["run"] == 2
    end = wait_until_over(machine, "alpha")
    assert (end["status"], end["exit_status"]) == ("failed", 7)
    assert machine.ask({"action": "cancel", "task_id": "alpha", "run": 9})["error"] == "there is no such task"


def test_requests_at_the_same_moment(machine):
    """Two terminates, a terminate while it starts, a second spawn of the same id: each gets one clear answer."""
    script = """
import json, socket, threading, time
def send(**request):
    made = socket.socket(socket.AF_UNIX); made.settimeout(60); made.connect("/run/agent-spawner/spawner.sock")
    made.sendall(json.dumps({"task_id": "alpha", **request}).encode() + b"\\n")
    return made
def answer(made):
    with made.makefile() as lines:
        return json.loads(lines.readline())
spawn = dict(action="spawn", workspace="/mnt/agents")
for round in range(6):
    first, second = send(**spawn), send(**spawn)
    both = [answer(first), answer(second)]
    assert sorted("auth_token" in one for one in both) == [False, True], both
    ends = [send(action="terminate") for _ in range(3)]
    assert [answer(one) for one in ends] == [{"task_id": "alpha", "status": "terminated"}] * 3
    assert "not found" in answer(send(action="terminate"))["error"]
    # While it starts, at another moment each time.
    start = send(**spawn); time.sleep(0.03 * round); end = send(action="terminate")
    assert answer(end) == {"task_id": "alpha", "status": "terminated"}
    said = answer(start)
    assert "auth_token" in said or "error" in said, said
    assert answer(send(action="status")) == {"error": "Worker alpha not found"}
print("held")
"""
    assert machine.run("python3", "-c", script).stdout == "held\n"
    assert "agent-alpha" not in namespaces(machine)
    assert not machine.path("/run/agent-spawner/workers/alpha").exists()


def test_a_task_can_be_canceled_at_once(machine, spawn):
    """Also before its program has begun: it need not be killed five seconds later."""
    spawn("alpha")
    script = """
import json, socket
made = socket.socket(socket.AF_UNIX); made.connect("/run/agent-spawner/spawner.sock")
lines = made.makefile("rw")
def ask(**request):
    lines.write(json.dumps({"task_id": "alpha", **request}) + "\\n"); lines.flush()
    return json.loads(lines.readline())
for _ in range(40):
    run = ask(action="run", message="sleep infinity")["run"]
    ask(action="cancel", run=run)
    while (end := ask(action="output", run=run, wait_seconds=20))["status"] == "running":
        pass
    print(end["status"], end["exit_status"])
"""
    assert set(machine.run("python3", "-c", script).stdout.splitlines()) == {"canceled 143"}


def test_a_command_runs_all_the_time_and_its_words_are_in_the_journal(machine, spawn):
    spawn("alpha", template="command")
    answer = machine.ask({"action": "output", "task_id": "alpha", "run": 0, "wait_seconds": 20})
    assert answer["output"] == "<0>started as 1000\n"
    wait_for(lambda: "<0>started as 1000" in machine.journal(UNIT.format("alpha")), "the line in the journal")
    assert machine.run("journalctl", "-q", "-p", "emerg", "--no-pager").stdout == ""
    assert "no task command" in machine.ask({"action": "run", "task_id": "alpha", "message": "x"})["error"]


def test_a_worker_that_ends_by_itself_is_gone(machine, spawn):
    answer = spawn("alpha", template="broken")
    # Whether the program's end is seen before or after the start of the unit does not matter.
    assert answer.get("status") == "spawned" or "journalctl" in answer["error"]
    wait_for(lambda: machine.ask({"action": "list"}) == {"workers": []}, "the list is empty")
    wait_for(lambda: "agent-alpha" not in namespaces(machine), "the namespace is gone")
    spawn("beta", template="command", card={"ttl_seconds": 1})
    wait_for(lambda: machine.ask({"action": "list"}) == {"workers": []}, "the time of beta is over")
    wait_for(lambda: "agent-beta" not in namespaces(machine), "its namespace is gone")


def test_a_worker_whose_card_the_daemon_refuses_does_not_start(machine, spawn):
    """Its caller would believe that it works, and every request would be refused."""
    answer = spawn("alpha", template="incapable")
    assert "journalctl -u sandboxed-agent@alpha" in answer["error"], answer
    assert "the daemon refused the card of alpha" in machine.journal(UNIT.format("alpha"))
    wait_for(lambda: "agent-alpha" not in namespaces(machine), "the namespace is gone")
    assert machine.ask({"action": "list"}) == {"workers": []}


def spawner_pid(machine):
    return machine.run("systemctl", "show", "--value", "-p", "MainPID", "stile-spawner.service").stdout.strip()


def test_workers_outlive_the_spawner(machine, spawn):
    token = spawn("alpha")["auth_token"]
    machine.ask({"action": "run", "task_id": "alpha", "message": "echo before; sleep 1000"})
    before = spawner_pid(machine)
    machine.run("kill", "-KILL", before)
    wait_for(lambda: spawner_pid(machine) not in ("0", before), "the spawner is back")
    assert [one["task_id"] for one in machine.ask({"action": "list"})["workers"]] == ["alpha"]
    assert machine.ask({"action": "validate_token", "task_id": "alpha", "token": token}) == {"valid": True}
    assert machine.ask({"action": "output", "task_id": "alpha", "wait_seconds": 5})["output"] == "before\n"
    # Now it ends while no spawner is there to see it.
    machine.run("systemctl", "stop", "stile-spawner.socket", "stile-spawner.service")
    assert machine.is_active(UNIT.format("alpha"))
    machine.run("systemctl", "kill", "--signal=KILL", UNIT.format("alpha"))
    wait_for(lambda: not machine.is_active(UNIT.format("alpha")), "the unit ends")
    machine.run("systemctl", "start", "stile-spawner.socket")
    wait_for(lambda: machine.ask({"action": "list"}) == {"workers": []}, "the list is empty")
    wait_for(lambda: "agent-alpha" not in namespaces(machine), "the namespace is gone")
    wait_for(lambda: not machine.path("/run/agent-spawner/workers/alpha").exists(), "its record is gone")


def test_a_unit_without_a_record_is_stopped(machine, spawn):
    spawn("alpha")
    machine.run("systemctl", "stop", "stile-spawner.socket", "stile-spawner.service")
    machine.run("systemd-run", "--quiet", f"--unit={UNIT.format('orphan')}", "sleep", "infinity")
    machine.run("systemctl", "start", "stile-spawner.socket")
    assert [one["task_id"] for one in machine.ask({"action": "list"})["workers"]] == ["alpha"]
    wait_for(lambda: not machine.is_active(UNIT.format("orphan")), "the orphan is stopped")


def test_another_agent_of_that_id_is_left_alone(machine, spawn):
    machine.run("/opt/stile/stile-netns", "create", "operators", "--allow", "example.com")
    try:
        assert "already exists" in spawn("operators")["error"]
        assert "agent-operators" in namespaces(machine)
        # Even if the spawner were wrong: the fence tool itself looks at the instance.
        assert machine.run("/opt/stile/stile-netns", "create", "operators", "--allow", "example.com", "--new", "00",
                           check=False).returncode == 1
        machine.run("/opt/stile/stile-netns", "delete", "operators", "--kill", "--instance", "00")
        assert "agent-operators" in namespaces(machine)
    finally:
        machine.run("/opt/stile/stile-netns", "delete", "operators", "--kill")


def test_everything_is_in_the_audit_log(machine, spawn):
    spawn("audited")
    machine.ask({"action": "run", "task_id": "audited", "message": "a secret message"})
    machine.ask({"action": "terminate", "task_id": "audited"})
    log = machine.path("/var/log/agent-spawner/audit.jsonl")
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    mine = [(line["event"], line["method"], line.get("actor", "")[:6]) for line in lines if line.get("agent") == "audited"]
    assert mine == [("grant", "spawn", "uid 0,"), ("grant", "run", "uid 0,"), ("policy", "terminate", "uid 0,"),
                    ("policy", "end", "")]
    assert "secret message" not in log.read_text() and "hello" not in log.read_text()
    granted = next(line["detail"] for line in lines if line.get("agent") == "audited")
    assert '"allowed_hosts":["api.anthropic.com"]' in granted and '"ttl_seconds":3600' in granted
    assert machine.run("/opt/stile/stile", "audit", "verify", "/var/log/agent-spawner/audit.jsonl").returncode == 0
    assert os.stat(log).st_mode & 0o007 == 0
