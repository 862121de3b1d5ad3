"""A2A for workers: stile-web as its unit runs it, in front of the real spawner."""

import json
import re
import shutil
import subprocess
import time
from pathlib import Path

import pytest
from harness.stiled import build_folder
from machine import wait_for
from spawner_config import spawner_toml
from web_inside import Events, Web

HERE = Path(__file__).resolve().parent
ASKING = """
[templates.asking]
task = ["bash"]
unlisted = "ask"
private_exceptions = ["127.0.0.9/32"]
"""
ORIGIN = "python3 -m http.server --bind 127.0.0.9 80"


@pytest.fixture(scope="module")
def web(machine):
    machine.path("/etc/stile/spawner.toml").write_text(spawner_toml() + ASKING)
    machine.run("systemctl", "reload-or-restart", "stile-spawner")
    return Web(machine)


class Caller:
    """One that has the token of a worker."""

    def __init__(self, web, worker, token):
        self.web, self.base = web, f"/agents/{worker}"
        self.headers = {"Authorization": f"Bearer {token}", "A2A-Version": "1.0"}

    def rest(self, method, path, body=None, **more):
        return self.web.call(method, self.base + path, body, **{**self.headers, **more})

    def rpc(self, method, params=None, **more):
        request = {"jsonrpc": "2.0", "id": 7, "method": method, "params": params or {}}
        status, answer, _ = self.web.call("POST", f"{self.base}/rpc", request, **{**self.headers, **more})
        assert answer["jsonrpc"] == "2.0" and answer["id"] == 7, answer
        return answer

    def stream(self, path, body=None, method="POST", **more):
        return Events(self.web.open(method, self.base + path, body, **{**self.headers, **more}))


@pytest.fixture
def caller(web, spawn):
    return Caller(web, "alpha", spawn("alpha")["auth_token"])


def message(text, **more):
    return {"message": {"messageId": "m1", "role": "ROLE_USER", "parts": [{"text": text}], **more}}


def output(task):
    return "".join(part["text"] for artifact in task.get("artifacts", []) if artifact["artifactId"] == "output"
                   for part in artifact["parts"])


def run_task(caller, text):
    task = caller.rest("POST", "/message:send", {**message(text), "configuration": {"returnImmediately": True}})[1]["task"]
    return task["id"]


def test_the_card_needs_no_token_and_says_where_to_go(web, spawn):
    assert web.call("GET", "/agents/alpha/.well-known/agent-card.json")[0] == 404
    spawn("alpha")
    status, card, headers = web.call("GET", "/agents/alpha/.well-known/agent-card.json")
    assert status == 200 and card["name"] == "alpha" and "max-age" in headers["cache-control"]
    assert [(one["protocolBinding"], one["protocolVersion"]) for one in card["supportedInterfaces"]] == [
        ("JSONRPC", "1.0"), ("HTTP+JSON", "1.0"), ("JSONRPC", "0.3")]
    assert all(one["url"].startswith("http://127.0.0.1:9129/agents/alpha") for one in card["supportedInterfaces"])
    assert card["capabilities"] == {"streaming": True, "pushNotifications": False, "extendedAgentCard": False}
    again = web.call("GET", "/agents/alpha/.well-known/agent-card.json", If_None_Match=headers["etag"])
    assert again[0] == 304
    old = web.call("GET", "/agents/alpha/.well-known/agent.json")[1]
    assert old["url"] == "http://127.0.0.1:9129/agents/alpha/rpc" and old["protocolVersion"] == "0.3.0"
    # Another site's name for this address, and another site's page.
    assert web.call("GET", "/agents/alpha/.well-known/agent-card.json", Host="evil.example:9129")[0] == 421
    assert web.call("GET", "/agents/alpha/.well-known/agent-card.json", Origin="http://evil.example")[0] == 403


def test_everything_else_needs_the_token_of_that_worker(web, spawn):
    token = spawn("alpha")["auth_token"]
    other = spawn("beta")["auth_token"]
    for given in (None, "", "Bearer", "Bearer ", f"Basic {token}", f"Bearer {token[:-1]}", f"Bearer {other}",
                  f"Bearer {token}x", "Bearer " + "a" * 5000, f"Bearer {token} {token}"):
        for method, path in (("GET", "/tasks"), ("POST", "/rpc"), ("POST", "/message:send"), ("GET", "/files"),
                             ("GET", "/nothing"), ("POST", "/tasks/send"), ("GET", "/stream")):
            status, answer, headers = web.call(method, f"/agents/alpha{path}", {} if method == "POST" else None,
                                               Authorization=given, A2A_Version="1.0")
            assert status == 401 and headers["www-authenticate"] == 'Bearer realm="stile"', (given, path, answer)
    # A worker that does not exist looks the same.
    assert web.call("GET", "/agents/gone/tasks", Authorization=f"Bearer {token}", A2A_Version="1.0")[0] == 401
    assert web.call("GET", "/agents/alpha/tasks", Authorization=f"bearer {token}", A2A_Version="1.0")[0] == 200


def test_a_message_becomes_a_task_and_its_output_an_artifact(caller):
    status, answer, headers = caller.rest("POST", "/message:send", message("echo made it; echo made >file"))
    assert status == 200 and headers["content-type"] == "application/a2a+json"
    task = answer["task"]
    assert task["status"]["state"] == "TASK_STATE_COMPLETED" and output(task) == "made it\n"
    assert task["contextId"] == "alpha" and task["artifacts"][0]["artifactId"] == "output"
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", task["status"]["timestamp"])
    assert caller.rest("GET", f"/tasks/{task['id']}")[1] == task
    assert caller.rpc("GetTask", {"id": task["id"]})["result"] == task
    failed = caller.rpc("SendMessage", message("echo no; exit 7"))["result"]["task"]
    assert failed["status"]["state"] == "TASK_STATE_FAILED" and output(failed) == "no\n"
    assert "exit status 7" in failed["status"]["message"]["parts"][0]["text"]
    listed = caller.rpc("ListTasks", {"pageSize": 1})["result"]
    assert (listed["totalSize"], listed["pageSize"], len(listed["tasks"])) == (2, 1, 1)
    assert "artifacts" not in listed["tasks"][0]
    rest = caller.rest("GET", f"/tasks?pageSize=1&includeArtifacts=true&pageToken={listed['nextPageToken']}")[1]
    assert rest["nextPageToken"] == ""
    assert {listed["tasks"][0]["id"], rest["tasks"][0]["id"]} == {task["id"], failed["id"]}
    assert output(rest["tasks"][0]) in ("made it\n", "no\n")
    assert caller.rest("GET", "/tasks?status=TASK_STATE_WORKING")[1]["tasks"] == []
    changed = task["artifacts"][1]
    assert changed["artifactId"] == "files" and changed["parts"][0]["mediaType"] == "application/json"
    assert [one["name"] for one in changed["parts"][0]["data"]["files"]] == ["file"]
    # Files, as the older routes name them.
    assert [one["name"] for one in caller.rest("GET", "/files")[1]["files"]] == ["file"]
    assert caller.rest("GET", "/files/content?path=file")[1]["content"] == "made\n"
    assert caller.rest("GET", "/files/content?path=../../etc/passwd")[0] == 400


def test_errors_have_the_codes_of_the_specification(caller):
    def code(method, params=None, **more):
        return caller.rpc(method, params, **more)["error"]["code"]
    over = caller.rpc("SendMessage", message("true"))["result"]["task"]["id"]
    assert code("GetTask", {"id": "1-1"}) == -32001
    assert code("CancelTask", {"id": over}) == -32002
    assert code("CreateTaskPushNotificationConfig", {"taskId": over, "url": "http://x.test"}) == -32003
    assert code("SubscribeToTask", {"id": over}) == -32004
    assert code("SendMessage", message("x", taskId=over)) == -32004
    assert code("SendMessage", message("x", taskId="1-1")) == -32001
    assert code("SendMessage", message("x", contextId="other")) == -32602
    assert code("GetExtendedAgentCard") == -32004
    assert code("SendMessage", {"message": {"messageId": "m", "role": "ROLE_USER", "parts": [{"raw": "eA=="}]}}) == -32005
    assert code("GetTask", {"id": over}, A2A_Version="9.9") == -32009
    assert code("Nothing") == -32601
    assert code("GetTask") == -32602
    status, answer, _ = caller.web.call("POST", f"{caller.base}/rpc", b"{", **caller.headers)
    assert (status, answer["error"]["code"], answer["id"]) == (200, -32700, None)
    status, answer, _ = caller.rest("GET", "/tasks/1-1")
    assert status == 404 and answer["error"]["details"][0]["reason"] == "TASK_NOT_FOUND"
    assert caller.rest("POST", f"/tasks/{over}:cancel")[1]["error"]["details"][0]["reason"] == "TASK_NOT_CANCELABLE"
    assert caller.rest("GET", "/tasks", A2A_Version="0.5")[1]["error"]["details"][0]["reason"] == "VERSION_NOT_SUPPORTED"
    assert caller.rest("DELETE", f"/tasks/{over}/pushNotificationConfigs/c")[0] == 400
    assert caller.rest("POST", "/message:send", message("y" * 70000))[0] == 413
    # The spawner's request writes a newline with six bytes, and has the same limit.
    assert "too long" in caller.rest("POST", "/message:send", message("x" + "\n" * 12000))[1]["error"]["message"]
    assert caller.rest("POST", "/message:send", b"x", Content_Type="text/plain")[0] == 415


def test_a_stream_tells_the_output_as_it_comes(caller):
    events = caller.stream("/message:stream", message("echo one; mkdir d; echo x >d/made; read -t 2 x; echo two"))
    seen = events.json()
    assert seen[0]["task"]["status"]["state"] == "TASK_STATE_WORKING"
    *parts, files = [one["artifactUpdate"] for one in seen if "artifactUpdate" in one]
    assert [one["name"] for one in files["artifact"]["parts"][0]["data"]["files"]] == ["d/made"]
    assert "".join(one["artifact"]["parts"][0]["text"] for one in parts) == "one\ntwo\n"
    assert [one["append"] for one in parts] == [False] + [True] * (len(parts) - 1)
    assert seen[-1]["statusUpdate"]["status"]["state"] == "TASK_STATE_COMPLETED"
    assert {one["taskId"] for one in parts} == {seen[0]["task"]["id"]}


def test_a_stream_that_was_cut_goes_on_where_it_was(caller):
    events = caller.stream("/message:stream", message("echo one; until [ -e go ]; do read -t 0.1 x <><(:); done; echo two"))
    task = None
    for _, data in events:
        one = json.loads(data)
        task = task or one["task"]["id"]
        if "artifactUpdate" in one:
            break
    place = events.last_id
    events.answer.close()
    assert place == str(len("one\n"))
    resumed = caller.stream(f"/tasks/{task}:subscribe", Last_Event_ID=place)
    whole = caller.stream(f"/tasks/{task}:subscribe", method="GET")
    caller.web.machine.path("/mnt/agents/alpha/go").write_text("")
    seen = resumed.json()
    assert "artifacts" not in seen[0]["task"]
    assert [output({"artifacts": [one["artifactUpdate"]["artifact"]]}) for one in seen if "artifactUpdate" in one] == ["two\n", ""]
    seen = whole.json()
    assert output(seen[0]["task"]) == "one\n"
    assert [one["artifactUpdate"]["append"] for one in seen if "artifactUpdate" in one] == [True, False]  # then the files
    assert seen[-1]["statusUpdate"]["status"]["state"] == "TASK_STATE_COMPLETED"


def test_a_stream_ends_with_its_token(web, spawn, machine):
    """A new worker of the same name has another token, and its first task has the same number."""
    caller = Caller(web, "alpha", spawn("alpha")["auth_token"])
    begin = "echo begun; sleep infinity"
    streams = [caller.stream("/message:stream", message(begin)), caller.stream("/stream", method="GET", A2A_Version=None)]
    for events in streams:
        wait_for(lambda: b"begun" in events.answer.readline(), "the stream has begun")
    machine.ask({"action": "terminate", "task_id": "alpha"})
    fresh = Caller(web, "alpha", spawn("alpha")["auth_token"])
    run_task(fresh, "while :; do echo of the new worker; sleep 0.1; done")
    for events in streams:
        assert b"new worker" not in events.answer.read()  # until it is closed
    assert caller.rest("GET", "/tasks")[0] == 401


def test_a_task_cannot_write_events_of_its_own(caller):
    """Whatever ends a line in an event stream becomes another line of data, or stays inside the JSON."""
    text = r"printf 'a\r\rdata: forged\n\nevent: task.status\ndata: {}\r\n\nid: 9\n'"
    lines = ["a", "data: forged", "event: task.status", "data: {}", "id: 9"]
    events = caller.stream("/message:stream", message(text)).json()
    parts = [one["artifactUpdate"]["artifact"]["parts"][0]["text"] for one in events if "artifactUpdate" in one]
    assert "".join(parts) == "a\r\rdata: forged\n\nevent: task.status\ndata: {}\r\n\nid: 9\n"
    raw = caller.stream("/stream", method="GET", A2A_Version=None).answer.read().decode()
    assert [line for line in raw.splitlines() if line.startswith(("event", "id"))] == []
    assert [line[6:] for line in raw.split("\n") if line.startswith("data: ") and line[6:]] == lines


def test_a_task_that_writes_for_ever_can_be_looked_at_and_canceled(caller):
    task = run_task(caller, "exec yes")
    full = 256 << 10
    wait_for(lambda: len(output(caller.rest("GET", f"/tasks/{task}")[1])) == full, "as much output as a worker keeps")
    assert caller.rest("POST", f"/tasks/{task}:cancel")[1]["status"]["state"] == "TASK_STATE_CANCELED"


def test_a_character_that_is_never_complete_makes_nobody_ask_again_and_again(caller, machine):
    task = run_task(caller, r"printf 'one\342\202'; read x <><(:)")
    ask = {"action": "output", "task_id": "alpha", "run": int(task.split("-")[1]), "wait_seconds": 1}
    wait_for(lambda: machine.ask({**ask, "wait_seconds": 0})["cursor"] == 3, "the first output")
    begin = time.monotonic()
    assert machine.ask({**ask, "cursor": 3})["output"] == ""
    assert time.monotonic() - begin >= 0.9
    caller.rest("POST", f"/tasks/{task}:cancel")
    ended = wait_for(lambda: (got := machine.ask({**ask, "cursor": 3}))["status"] == "canceled" and got, "the end")
    assert ended["output"] == "\ufffd\ufffd"


def test_cancel_ends_the_task(caller):
    task = run_task(caller, "echo begun; sleep infinity")
    wait_for(lambda: output(caller.rest("GET", f"/tasks/{task}")[1]) == "begun\n", "the task has begun")
    busy = caller.rpc("SendMessage", message("true"))["error"]
    assert busy["code"] == -32004 and "busy" in busy["message"]
    status, answer, _ = caller.rest("POST", f"/tasks/{task}:cancel")
    assert status == 200 and answer["status"]["state"] == "TASK_STATE_CANCELED"


def test_a_worker_that_waits_for_a_person_needs_authorisation(web, spawn, machine):
    machine.shell("echo '127.0.0.9 waits.test' >>/etc/hosts; echo hello >/srv/x; cd /srv;"
                  f"systemd-run --quiet --unit=waits -p WorkingDirectory=/srv {ORIGIN}; systemctl reload stiled;"
                  "until curl -sf http://127.0.0.9/x >/dev/null; do sleep 0.1; done")
    caller = Caller(web, "gamma", spawn("gamma", template="asking")["auth_token"])
    # A caller that does not stream gets the task back as soon as it is interrupted.
    task = caller.rpc("SendMessage", message("curl -sS http://waits.test/x; curl -sS http://waits.test/x"))["result"]["task"]
    assert task["status"]["state"] == "TASK_STATE_AUTH_REQUIRED"
    said = task["status"]["message"]["parts"][0]["text"]
    assert "waits.test:80" in said
    events = iter(caller.stream(f"/tasks/{task['id']}:subscribe"))
    assert json.loads(next(events)[1])["task"]["status"]["state"] == "TASK_STATE_AUTH_REQUIRED"
    machine.run("/opt/stile/stile", "approve", re.search(r"stile approve (\S+),", said)[1])
    states = [one["statusUpdate"]["status"]["state"] for one in (json.loads(data) for _, data in events)
              if "statusUpdate" in one]
    assert states[-1] == "TASK_STATE_COMPLETED" and states[:-1] in ([], ["TASK_STATE_WORKING"])
    assert output(caller.rest("GET", f"/tasks/{task['id']}")[1]) == "hello\nhello\n"


def test_the_routes_of_older_callers(caller):
    events = list(caller.stream("/tasks/send", {"message": {"parts": [{"text": "echo old >made; cat made"}]}}, A2A_Version=None))
    assert [name for name, _ in events] == ["task.status", "task.message", "task.status"]
    assert json.loads(events[1][1]) == {"role": "assistant", "parts": [{"text": "old\n"}]}
    end = json.loads(events[2][1])
    assert (end["status"], end["artifacts"]) == ("completed", [{"name": "made"}])
    assert [data for _, data in caller.stream("/stream", method="GET", A2A_Version=None)] == ["old"]
    task = run_task(caller, "sleep infinity")
    again = {"message": {"parts": [{"text": "x"}]}}
    assert caller.rest("POST", f"/tasks/{task}/messages", again, A2A_Version=None)[0] == 400
    assert caller.rest("POST", f"/tasks/{task}/cancel", {}, A2A_Version=None)[1] == {"cancelled": True}


def test_callers_that_wait_are_bounded(web, caller):
    task = run_task(caller, "sleep infinity")
    streams = [caller.stream(f"/tasks/{task}:subscribe") for _ in range(16)]
    assert caller.rest("POST", f"/tasks/{task}:subscribe")[0] == 503
    # They use connections of their own: the page and other callers of A2A still get theirs.
    session = web.log_in()
    for _ in range(20):
        assert caller.rest("GET", f"/tasks/{task}")[0] == 200
        status, answer, _ = web.call("GET", "/api/v1/agents/active", **session)
        assert status == 200 and "alpha" in json.dumps(answer), answer
    for one in streams:
        one.answer.close()
    wait_for(lambda: web.open("POST", f"{caller.base}/tasks/{task}:subscribe", **caller.headers).status == 200,
             "a place is free again")
    caller.rest("POST", f"/tasks/{task}:cancel")


@pytest.fixture(scope="module")
def sdk():
    """The JavaScript client of the A2A project."""
    if not shutil.which("npm") or not shutil.which("node"):
        pytest.skip("npm and node are not installed")
    folder = build_folder() / "npm-a2a"
    if not (folder / "node_modules/@a2a-js/sdk").exists():
        done = subprocess.run(["npm", "install", "--prefix", folder, "--no-audit", "--no-fund", "@a2a-js/sdk@1.3.0"],
                              capture_output=True, text=True, timeout=300)
        if done.returncode:
            pytest.skip(f"npm has no @a2a-js/sdk here: {done.stderr[-200:]}")
    return folder


@pytest.mark.long
@pytest.mark.parametrize("way", ["JSONRPC", "HTTP+JSON", "0.3"])
def test_the_client_of_the_a2a_project(web, spawn, sdk, way):
    token = spawn("alpha")["auth_token"]
    script = sdk / "a2a_client.mjs"
    shutil.copy(HERE / "a2a_client.mjs", script)
    done = subprocess.run(["nsenter", "-t", str(web.machine.init), "-n", "node", script, way,
                           "http://127.0.0.1:9129/agents/alpha/", token],
                          capture_output=True, text=True, timeout=90)
    assert done.returncode == 0, done.stdout + done.stderr
    seen = json.loads(done.stdout)
    assert seen["card"] == "alpha" and seen["state"] == "TASK_STATE_COMPLETED" and seen["text"] == "from the task\n"
    assert seen["streamed"] == "one\ntwo\n" and seen["kinds"][0] == "task" and seen["kinds"][-1] == "statusUpdate"
    assert seen["canceled"] == "TASK_STATE_CANCELED"
    assert seen["notFound"] == "TaskNotFoundError"
    assert seen["refused"] == "refused"
    if way != "0.3":
        assert seen["listed"] >= 3
        assert seen["push"] == "PushNotificationNotSupportedError"
