"""`stile spawn`, `workers`, `send`, `logs` and `stop`, as a member of the group types them."""

import json

import pytest

STILE = "/opt/stile/stile"


@pytest.fixture(autouse=True)
def empty(machine):
    yield
    machine.run(STILE, "stop", "--all")


def stile(machine, *words, check=True):
    return machine.run(STILE, *words, check=check)


def test_from_a_template_to_a_result(machine):
    said = stile(machine, "spawn", "default", "--id", "alpha", "--tag", "nightly", "--for", "10m").stdout
    assert said.startswith("alpha spawned: template default, workspace /mnt/agents/alpha\n")
    table = stile(machine, "workers").stdout
    assert table.splitlines()[0].split() == ["WORKER", "STATUS", "TEMPLATE", "TAGS", "AGE", "LEFT", "WORKSPACE"]
    assert table.splitlines()[1].split()[:4] == ["alpha", "running", "default", "nightly"]
    assert stile(machine, "send", "alpha", "echo", "made", "it;", "printf",
                 "'\\033[2Jx\\302\\233c\\303\\244'").stdout == "made it\n[2Jxcä"
    said = stile(machine, "send", "alpha", "touch", "one;", "touch", "$'two\\033[2J'").stderr
    assert said == "stile: changed one, two\\x1b[2J\n"
    done = stile(machine, "send", "alpha", "exit 3", check=False)
    assert done.returncode == 1 and "failed, exit status 3" in done.stderr
    assert stile(machine, "logs", "alpha", "--task", "1").stdout == "made it\n[2Jxcä"
    detail = stile(machine, "workers", "alpha").stdout
    assert "alpha: running" in detail and "completed" in detail and "failed" in detail
    assert stile(machine, "stop", "alpha").stdout == "alpha terminated\n"
    assert "there is no worker" in stile(machine, "workers").stdout


def test_a_card_narrows(machine):
    card = {"agent_id": "beta", "workspace": "/mnt/agents/beta", "allowed_hosts": ["api.anthropic.com"],
            "ttl_seconds": 60, "tags": ["x"]}
    machine.path("/srv/card.json").write_text(json.dumps(card))
    answer = json.loads(stile(machine, "spawn", "/srv/card.json", "--json").stdout)
    assert answer["workspace"] == "/mnt/agents/beta" and answer["status"] == "spawned"
    listed = json.loads(stile(machine, "workers", "--tag", "x", "--json").stdout)["workers"]
    assert listed[0]["expires_at"] == listed[0]["started_at"] + 60
    assert json.loads(stile(machine, "workers", "--tag", "y", "--json").stdout) == {"workers": []}
    machine.path("/srv/card.json").write_text(json.dumps({**card, "agent_id": "gamma", "workspace": "/mnt/agents",
                                                                  "allowed_hosts": ["evil.example"]}))
    done = stile(machine, "spawn", "/srv/card.json", check=False)
    assert done.returncode == 1 and "evil.example would be more" in done.stderr
    assert stile(machine, "stop", "--tag", "x").stdout == "beta terminated\n"


def test_a_card_names_its_template(machine):
    machine.path("/srv/card.json").write_text(json.dumps({"agent_id": "delta", "template": "command", "ttl_seconds": 60}))
    assert "delta spawned: template command, workspace /mnt/agents/delta\n" in stile(machine, "spawn", "/srv/card.json").stdout


def test_a_worker_may_have_the_name_of_the_directory(machine):
    for words in ([], ["--workspace", "/mnt/agents"]):
        said = stile(machine, "spawn", "default", "--id", "agents", *words).stdout
        assert said.startswith("agents spawned: template default, workspace /mnt/agents/agents\n")
        stile(machine, "stop", "agents")


def test_without_waiting(machine):
    stile(machine, "spawn", "default", "--id", "alpha")
    assert "runs task 1" in stile(machine, "send", "--no-wait", "alpha", "echo later").stdout
    assert stile(machine, "logs", "-f", "alpha").stdout == "later\n"
    stile(machine, "send", "--no-wait", "alpha", "exec yes")
    assert set(stile(machine, "logs", "alpha").stdout.split()) <= {"y"}  # ends, although the task does not


def test_clear_errors(machine):
    done = stile(machine, "workers", "--spawner", "/run/none.sock", check=False)
    assert done.returncode == 3 and "no spawner at /run/none.sock" in done.stderr
    done = stile(machine, "send", "nothing", "x", check=False)
    assert done.returncode == 1 and "Worker nothing not found\n  next: stile workers\n" in done.stderr
    assert stile(machine, "stop", check=False).returncode == 2
    assert stile(machine, "spawn", "unknown", check=False).returncode == 1
