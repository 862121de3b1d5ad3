"""What callers cannot do: others' names, other places, more than the template, floods."""

from pathlib import Path

import pytest
from harness import lingering


@pytest.mark.parametrize("name", ["../etc", "a\n", "", "A", "-a", "a" * 65, "a/b", "sandboxed-agent@x", None, 7])
def test_bad_ids(machine, name):
    answer = machine.ask({"action": "spawn", "task_id": name, "workspace": "/mnt/agents"})
    assert set(answer) == {"error"}


@pytest.mark.parametrize("workspace", ["/etc", "/", "", "/mnt/agents/../../etc", "mnt/agents", "/mnt/agents2",
                                       "/mnt/agents/missing", None])
def test_bad_workspaces(machine, workspace):
    answer = machine.ask({"action": "spawn", "task_id": "alpha", "workspace": workspace})
    assert set(answer) == {"error"}
    assert machine.ask({"action": "list"}) == {"workers": []}


def test_links_in_the_workspace_are_refused(machine):
    machine.shell("mkdir -p /mnt/agents/dir && ln -sfn /etc /mnt/agents/link && ln -sfn /etc /mnt/agents/dir/alpha")
    for workspace, name in (("/mnt/agents/link", "alpha"), ("/mnt/agents/dir", "alpha"), ("/mnt/agents", "link")):
        answer = machine.ask({"action": "spawn", "task_id": name, "workspace": workspace})
        assert "error" in answer and "auth_token" not in answer, answer
    assert machine.ask({"action": "list"}) == {"workers": []}


def test_a_workspace_of_another_user_is_refused(machine):
    machine.shell("install -d -o 4242 -m 755 /mnt/agents/foreign")
    answer = machine.ask({"action": "spawn", "task_id": "foreign", "workspace": "/mnt/agents"})
    assert "error" in answer
    assert machine.run("stat", "-c", "%u", "/mnt/agents/foreign").stdout.strip() == "4242"


def test_only_the_files_of_the_caller_become_the_workers(machine, spawn):
    machine.shell("install -d /mnt/agents/adopt && cd /mnt/agents/adopt && touch mine shared && chown 4242 shared && "
                  "touch /mnt/agents/elsewhere && ln /mnt/agents/elsewhere twice && ln -s /etc/hosts link && mkdir sub")
    assert spawn("adopt").get("status") == "spawned"
    owners = dict(line.split() for line in machine.shell(
        "cd /mnt/agents/adopt && stat -c '%n %u' mine shared twice sub /etc/hosts /mnt/agents/elsewhere").splitlines())
    assert int(owners["mine"]) > 0x78000000 and int(owners["sub"]) > 0x78000000
    assert owners["shared"] == "4242"
    assert owners["twice"] == owners["/mnt/agents/elsewhere"] == owners["/etc/hosts"] == "0"


@pytest.mark.parametrize("card", [
    {"allowed_hosts": ["evil.example"]}, {"allowed_hosts": ["*"]}, {"ttl_seconds": 7200}, {"command": ["sh"]},
    {"resource_limits": {"memory_mb": 512}}, {"environment": {"LD_PRELOAD": "/x"}}, {"workspace": "/etc"},
    {"read": ["/etc/shadow"]}, {"secrets": ["x"]}, {"mode": "observe"}])
def test_a_card_never_widens(machine, card):
    answer = machine.ask({"action": "spawn", "task_id": "widened", "workspace": "/mnt/agents", "card": card})
    assert set(answer) == {"error"}
    assert machine.ask({"action": "list"}) == {"workers": []}
    assert not machine.path("/mnt/agents/widened").exists()


def run_task(machine, worker, text):
    answer = machine.ask({"action": "run", "task_id": worker, "message": text})
    assert "error" not in answer, answer
    output = ""
    while answer["status"] == "running" or answer.get("output"):
        answer = machine.ask({"action": "output", "task_id": worker, "wait_seconds": 20, "cursor": answer.get("cursor", 0)})
        output += answer["output"]
    return output


def test_a_caller_narrows_the_files(machine, spawn):
    machine.shell("mkdir -p /srv/data/a /mnt/agents/narrow/src && echo a >/srv/data/a/file && echo b >/srv/data/b &&"
                  "echo code >/mnt/agents/narrow/src/code")
    look = "cat /srv/data/b src/code 2>&1; touch x src/y out/z 2>&1; ls"
    assert spawn("wide", template="files").get("status") == "spawned"
    assert run_task(machine, "wide", "mkdir src out; cp /srv/data/b src/code;" + look).splitlines() == ["b", "b", "out", "src", "x"]
    card = {"read": ["src", "/srv/data/a"], "write": ["out/deep"]}
    assert spawn("narrow", template="files", card=card).get("status") == "spawned", machine.journal("sandboxed-agent@narrow")
    said = run_task(machine, "narrow", "cat /srv/data/a/file; echo made >out/deep/made; cat /srv/data/b 2>&1; cat src/code;"
                                       "touch src/y 2>&1; ls; ls /workspace/..")
    assert said.startswith("a\ncat: /srv/data/b: No such file") and "code\ntouch: cannot touch 'src/y': Read-only" in said
    assert machine.path("/mnt/agents/narrow/out/deep/made").read_text() == "made\n"
    machine.ask({"action": "terminate", "task_id": "narrow"})
    # What was made for it belongs to the next one, too.
    assert spawn("narrow", template="files", card={"read": ["."], "write": []}).get("status") == "spawned"
    said = run_task(machine, "narrow", "cat out/deep/made; touch out/deep/x out/x x 2>&1")
    assert said.startswith("made\n") and said.count("Read-only") == 3
    machine.ask({"action": "terminate", "task_id": "narrow"})
    machine.shell("ln -s /etc /mnt/agents/narrow/etc; ln -s /etc/passwd /mnt/agents/narrow/src/passwd")
    for card in ({"read": ["etc"]}, {"write": ["etc/deep"]}, {"read": ["src/passwd"]}):
        answer = spawn("narrow", template="files", card=card)
        assert set(answer) == {"error"}, answer
    assert not machine.path("/etc/deep").exists()
    machine.shell("echo TOKEN >/srv/data/.env; mkdir /srv/data/.ssh; echo key >/srv/data/.ssh/id")
    for card in ({"read": ["/srv"]}, {"write": ["/srv/data/a"]}, {"read": ["../wide"]}, {"read": ["/srv/data/.env"]},
                 {"read": ["/srv/data/.ssh"]}, {"read": ["/srv/data/.ssh/id"]}):
        assert set(spawn("narrow", template="files", card=card)) == {"error"}, card


def test_templates_and_numbers(machine, spawn):
    assert spawn("alpha", template="../x")["error"] == \
        "Unknown template: '../x'; there are: default, command, files, incapable, broken"
    for name in ("w1", "w2", "w3", "w4"):
        assert spawn(name).get("status") == "spawned"
    assert "Maximum workers (4)" in spawn("w5")["error"]
    assert "already exists" in spawn("w1")["error"]


def test_a_workspace_inside_another_workers_is_refused(machine, spawn):
    assert spawn("outer").get("status") == "spawned"
    answer = machine.ask({"action": "spawn", "task_id": "inner", "workspace": "/mnt/agents/outer"})
    assert "in use" in answer["error"]


def test_only_the_group_may_connect(machine):
    machine.shell("getent passwd member >/dev/null || (useradd -M -U -G agent-users member; useradd -M -U stranger)")
    assert machine.ask({"action": "list"}, user="member") == {"workers": []}
    answer = machine.ask({"action": "list"}, user="stranger")
    assert "refused" in answer and "Permission denied" in answer["error"]


def test_what_a_worker_puts_there_is_not_followed(machine, spawn):
    spawn("alpha")
    machine.ask({"action": "run", "task_id": "alpha", "message":
                 "ln -s /etc/shadow shadow; ln -s / root; mkfifo fifo; mkdir d; ln -s ../../.. d/up; echo done"})
    end = machine.ask({"action": "output", "task_id": "alpha", "wait_seconds": 20})
    while end["status"] == "running":
        end = machine.ask({"action": "output", "task_id": "alpha", "wait_seconds": 20, "cursor": end["cursor"]})
    for path in ("shadow", "root/etc/shadow", "fifo", "d/up/etc/shadow", "../../../etc/shadow", "/etc/shadow", "."):
        answer = machine.ask({"action": "read_file", "task_id": "alpha", "path": path})
        assert set(answer) == {"error"}, (path, answer)
    for path in ("root", "..", "/etc"):
        assert set(machine.ask({"action": "files", "task_id": "alpha", "path": path})) == {"error"}
    assert [one["name"] for one in machine.ask({"action": "files", "task_id": "alpha"})["files"]] == ["d"]


FLOOD = r"""
import json, socket, sys
def client():
    s = socket.socket(socket.AF_UNIX); s.connect("/run/agent-spawner/spawner.sock"); s.settimeout(60); return s
def answer(s):
    data = b""
    while not data.endswith(b"\n"):
        piece = s.recv(65536)
        if not piece: return data
        data += piece
    return data
# Ten thousand requests on one connection, sent without waiting.
s = client(); import threading
threading.Thread(target=lambda: s.sendall(b'{"action":"list"}\n' * 10000)).start()
data = b""
while data.count(b"\n") < 10000: data += s.recv(1 << 20)
assert set(data.splitlines()) == {b'{"workers":[]}'}, set(data.splitlines())
# Without a newline, as the seed's own client sends it.
s = client(); s.sendall(b'{"action":"list"}'); assert answer(s) == b'{"workers":[]}\n'
# Half a request, then nothing; and another caller is served meanwhile.
half = client(); half.sendall(b'{"action":')
s = client(); s.sendall(b'{"action":"list"}\n'); assert answer(s) == b'{"workers":[]}\n'
half.shutdown(socket.SHUT_WR); assert b"error" in answer(half)
# Ten megabytes.
s = client()
try:
    s.sendall(b'{"action":"run","task_id":"a","message":"' + b"x" * 10_000_000)
except (BrokenPipeError, ConnectionResetError):
    pass
try:
    assert b"64 KiB" in answer(s)
except ConnectionResetError:
    pass
# Nonsense.
for text in (b"\n\n{}\n", b"nonsense\n", b"[" * 1000 + b"]" * 1000, b'{"action":"list","action":"list"}\n', b"\xff\xfe\n"):
    s = client(); s.sendall(text); assert b"error" in answer(s), text
# Idle connections of one user do not use up all of them.
idle = [client() for _ in range(200)]
print("held")
"""


def test_floods(machine):
    assert machine.run("python3", "-c", FLOOD).stdout == "held\n"
    assert machine.ask({"action": "list"}) == {"workers": []}
    assert machine.run("systemctl", "show", "--value", "-p", "NRestarts", "stile-spawner.service").stdout == "0\n"


def test_the_spawner_itself_is_confined(machine):
    machine.ask({"action": "list"})
    pid = machine.run("systemctl", "show", "--value", "-p", "MainPID", "stile-spawner.service").stdout.strip()
    status = machine.shell(f"grep -E '^(CapBnd|CapEff|NoNewPrivs|Seccomp):' /proc/{pid}/status").split()
    dac = f"{(1 << 1) | (1 << 2):016x}"
    assert status[:6] == ["CapEff:", dac, "CapBnd:", dac, "NoNewPrivs:", "1"] and status[7] == "2"
    assert machine.shell(f"nsenter -t {pid} -n ip -o link | wc -l").strip() == "1"


def test_a_descriptor_holds_up_nobody(machine):
    lingering.needs_refusal()
    script = Path(lingering.__file__).read_text() + """
path = "/run/agent-spawner/spawner.sock"
with sent_to(path, b"{"), socket.socket(socket.AF_UNIX) as other:
    other.settimeout(20)
    other.connect(path)
    other.sendall(b'{"action": "list"}')
    print(other.recv(100)[:1])
"""
    assert machine.run("/usr/bin/python3", "-c", script).stdout == "b'{'\n"
