"""A captain with `stile mcp`, as an ordinary user: workers, tasks, files, and access that a person grants."""

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from harness import stand_in_api
from harness.mcp import SESSION, STATELESS, StdioClient, meta
from harness.npm_programs import CLAUDE, OPENCODE, installed
from harness.wait import until
from machine import STILE_TOML, Machine
from spawner_config import spawner_toml

DOCS = Path(__file__).resolve().parents[2] / "docs/mcp.md"
STILE = "/opt/stile/stile"
TOKEN = "0123456789abcdef0123456789abcdef"
ASKING = """
[templates.asking]
task = ["bash"]
allowed_hosts = ["allowed.test"]
private_exceptions = ["127.0.0.9/32"]
unlisted = "ask"
narrow = ["allowed_hosts", "ttl_seconds", "tags"]

[templates.opencode]
task = ["/opt/opencode/opencode", "run"]
read = ["/opt/opencode"]
allowed_hosts = ["http://model.test:8300"]
denied_hosts = ["never.test"]
private_exceptions = ["127.0.0.9/32"]
unlisted = "ask"
[templates.opencode.environment]
OPENCODE_CONFIG = "/opt/opencode/opencode.json"
OPENCODE_DISABLE_AUTOUPDATE = "1"
OPENCODE_DISABLE_MODELS_FETCH = "1"
"""
ORIGIN = """
import http.server, ssl
class Answer(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200); self.send_header("Content-Length", "3"); self.end_headers(); self.wfile.write(b"ok\\n")
server = http.server.ThreadingHTTPServer(("127.0.0.9", 443), Answer)
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER); context.load_cert_chain("/srv/cert.pem", "/srv/key.pem")
server.socket = context.wrap_socket(server.socket, server_side=True)
server.serve_forever()
"""


def unit_of_docs(name):
    return DOCS.read_text().split(f"<!-- {name} -->\n```ini\n")[1].split("```")[0]


@pytest.fixture(scope="module")
def machine(run_folder):
    folder = run_folder / "machine-mcp"
    folder.mkdir()
    try:
        place = Machine(folder, spawner_toml() + ASKING)
    except AssertionError as problem:
        pytest.skip(f"systemd-nspawn does not boot here: {problem}")
    # As docs/mcp.md says.
    place.path("/etc/systemd/system/stiled-read.socket").write_text(unit_of_docs("stiled-read.socket"))
    text = STILE_TOML.replace("[server]\n", '[server]\nread_only_group = "agent-users"\n')
    place.path("/etc/stile/stile.toml").write_text(text + "[limits]\nask_hold_ms = 30000\n")
    place.shell("useradd -M -U -G agent-users captain; systemctl stop stiled; systemctl daemon-reload;"
                "systemctl start stiled-read.socket && systemctl start stiled")
    yield place
    place.close()


@pytest.fixture(scope="module")
def origin(machine):
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
                    "-days", "2", "-subj", "/CN=origin", "-addext", "subjectAltName=DNS:allowed.test,DNS:wanted.test",
                    "-keyout", machine.path("/srv/key.pem"), "-out", machine.path("/srv/cert.pem")],
                   check=True, capture_output=True)
    machine.path("/srv/origin.py").write_text(ORIGIN)
    machine.shell("cat /srv/cert.pem >>/etc/ssl/certs/ca-certificates.crt;"
                  "echo '127.0.0.9 allowed.test wanted.test' >>/etc/hosts;"
                  "systemd-run --quiet --unit=origin python3 /srv/origin.py; systemctl reload stiled;"
                  "until curl -sf https://allowed.test/ >/dev/null; do sleep 0.1; done")


@pytest.fixture(autouse=True)
def empty(machine):
    yield
    machine.run(STILE, "stop", "--all")


@pytest.fixture
def captain(machine):
    clients = []

    def start(**options):
        command = machine.command("setpriv", "--reuid=captain", "--regid=captain", "--init-groups", STILE, "mcp")
        clients.append(StdioClient(command, **options))
        return clients[-1]
    yield start
    for client in clients:
        client.close()


@pytest.mark.parametrize("era", [SESSION, STATELESS])
def test_from_spawn_to_terminate(machine, captain, era):
    client = captain(era=era)
    spawned = client.call("spawn_worker", worker="alpha", tags=["x"], ttl_seconds=600)
    assert spawned["workspace"] == "/mnt/agents/alpha" and spawned["status"] == "spawned"
    assert "token" not in json.dumps(spawned)
    chosen = client.call("spawn_worker")["worker"]
    assert re.fullmatch("worker-[0-9a-f]{6}", chosen)
    assert [one["worker"] for one in client.call("list_workers", tag="x")["workers"]] == ["alpha"]
    done = client.call("send_task", worker="alpha", message="echo made it; mkdir -p sub; echo data > sub/file; exit 3")
    assert (done["output"], done["status"], done["exit_status"]) == ("made it\n", "failed", 3)
    assert [one["name"] for one in client.call("list_files", worker="alpha", path="sub")["files"]] == ["file"]
    assert client.call("read_file", worker="alpha", path="sub/file")["content"] == "data\n"
    assert client.problem("get_worker_status", worker="beta") == "Worker beta not found"
    assert client.problem("read_file", worker="alpha", path="../../../etc/passwd")
    status = client.call("get_worker_status", worker="alpha")
    assert [(one["task"], one["status"]) for one in status["tasks"]] == [(1, "failed")]
    contained = client.call("containment_status")
    assert contained["contained"] and {one["worker"] for one in contained["workers"]} == {"alpha", chosen}
    assert all(one["mode"] == "enforce" for one in contained["workers"])
    assert client.call("terminate_worker", worker="alpha")["status"] == "terminated"
    assert [one["worker"] for one in client.call("list_workers")["workers"]] == [chosen]


def test_progress_and_the_rest_of_the_output(captain):
    client = captain()
    client.call("spawn_worker", worker="alpha")
    script = "for i in 1 2 3; do echo line $i; sleep 0.6; done"
    done = client.call("send_task", {"progressToken": "p"}, worker="alpha", message=script)
    assert done["output"] == "line 1\nline 2\nline 3\n" and done["status"] == "completed"
    notes = []
    while not client.notes.empty():
        notes.append(client.notes.get()["params"])
    assert len(notes) >= 2 and {note["progressToken"] for note in notes} == {"p"}
    assert [note["progress"] for note in notes] == sorted({note["progress"] for note in notes})
    assert "line 1" in [note["message"] for note in notes]
    running = client.call("send_task", worker="alpha", message="echo begin; sleep 1; echo end", wait_seconds=0)
    assert running["status"] == "running"
    text, cursor = running["output"], running["cursor"]
    while "end" not in text:
        more = client.call("read_output", worker="alpha", task=running["task"], cursor=cursor, wait_seconds=20)
        text, cursor = text + more["output"], more["cursor"]
    assert text == "begin\nend\n"


@pytest.mark.parametrize("era", [SESSION, STATELESS])
def test_canceling_the_call_cancels_the_task(captain, era):
    client = captain(era=era)
    client.call("spawn_worker", worker="alpha")
    number = client.start("tools/call", {"name": "send_task", "arguments": {
        "worker": "alpha", "message": "echo started; exec sleep 100", "wait_seconds": 60}}, progressToken=1)
    assert client.notes.get(timeout=20)["params"]["progressToken"] == 1
    client.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": number}})
    until(lambda: client.call("get_worker_status", worker="alpha")["tasks"][0]["status"] == "canceled", 20)
    # The call itself is not answered: the answers above were those to get_worker_status.
    assert client.answers.empty()
    client.call("send_task", worker="alpha", message="exec sleep 100", wait_seconds=0)
    assert client.call("cancel_task", worker="alpha")["worker"] == "alpha"
    until(lambda: client.call("get_worker_status", worker="alpha")["tasks"][-1]["status"] == "canceled", 20)


class InsideHttp:
    """`stile mcp --http` in the machine; curl is its client."""

    def __init__(self, machine):
        self.machine = machine
        machine.shell(f"systemd-run --quiet --unit=captain --setenv=STILE_MCP_TOKEN={TOKEN} {STILE} mcp --http 127.0.0.1:8129;"
                      "until curl -s http://127.0.0.1:8129/ >/dev/null; do sleep 0.1; done")

    def words(self, message, headers):
        common = {"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json",
                  "Accept": "application/json, text/event-stream", **headers}
        return ["curl", "-sSN", "-D", "-", "http://127.0.0.1:8129/mcp", "--data", json.dumps({"jsonrpc": "2.0", **message}),
                *(word for name, value in common.items() for word in ("-H", f"{name}: {value}"))]

    def post(self, message, headers):
        return self.machine.run(*self.words(message, headers)).stdout

    def start(self, message, headers):
        """Returns when the first progress has come. The client hangs up after a few seconds."""
        command = self.machine.command(*self.words(message, headers), "--max-time", "4")
        curl = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        for line in curl.stdout:
            if "notifications/progress" in line:
                return curl
        raise AssertionError("there was no progress")

    def close(self):
        self.machine.run("systemctl", "stop", "captain")
        assert not self.machine.is_active("captain")


@pytest.fixture
def inside_http(machine):
    server = InsideHttp(machine)
    yield server
    server.close()


SLEEPS = {"id": 7, "method": "tools/call", "params": {"name": "send_task", "arguments": {
    "worker": "alpha", "message": "echo started; exec sleep 100", "wait_seconds": 60}}}


def test_over_http_the_end_of_the_connection_cancels(machine, captain, inside_http):
    client = captain()
    client.call("spawn_worker", worker="alpha")
    message = {**SLEEPS, "params": {**SLEEPS["params"], "_meta": meta(progressToken=1)}}
    curl = inside_http.start(message, {"MCP-Protocol-Version": STATELESS, "Mcp-Method": "tools/call", "Mcp-Name": "send_task"})
    assert client.call("get_worker_status", worker="alpha")["tasks"][0]["status"] == "running"
    assert curl.wait(20) == 28  # timed out
    until(lambda: client.call("get_worker_status", worker="alpha")["tasks"][0]["status"] == "canceled", 20)


def test_over_http_a_client_with_a_session_says_that_it_cancels(machine, captain, inside_http):
    client = captain()
    client.call("spawn_worker", worker="alpha")
    greeting = {"id": 1, "method": "initialize", "params": {"protocolVersion": SESSION, "capabilities": {}}}
    session = [re.search("Mcp-Session-Id: ([0-9a-f]+)", inside_http.post(greeting, {}))[1] for _ in range(2)]
    message = {**SLEEPS, "params": {**SLEEPS["params"], "_meta": {"progressToken": 1}}}
    curl = inside_http.start(message, {"Mcp-Session-Id": session[0]})
    assert curl.wait(20) == 28  # it may come back, so the task goes on
    cancel = {"method": "notifications/cancelled", "params": {"requestId": 7}}
    # Another client has no call of this id.
    assert "202 Accepted" in inside_http.post(cancel, {"Mcp-Session-Id": session[1]})
    assert client.call("read_output", worker="alpha", cursor=8, wait_seconds=2)["status"] == "running"
    assert "202 Accepted" in inside_http.post(cancel, {"Mcp-Session-Id": session[0]})
    until(lambda: client.call("get_worker_status", worker="alpha")["tasks"][0]["status"] == "canceled", 20)


def test_tasks_go_on_without_the_captain(machine, captain):
    client = captain()
    client.call("spawn_worker", worker="alpha")
    client.start("tools/call", {"name": "send_task", "arguments": {
        "worker": "alpha", "message": "echo started; sleep 2; echo done > result"}}, progressToken=1)
    client.notes.get(timeout=20)
    client.close()
    result = machine.path("/mnt/agents/alpha/result")
    until(result.exists, 20)


def test_a_captain_cannot_widen_its_template(machine, captain):
    client = captain()
    assert "evil.example would be more" in client.problem("spawn_worker", allowed_hosts=["evil.example"])
    assert client.problem("spawn_worker", ttl_seconds=7200)
    assert "memory_mb" in client.problem("spawn_worker", resource_limits={"memory_mb": 100000})
    assert "Unknown template" in client.problem("spawn_worker", template="root")
    assert client.problem("spawn_worker", workspace="/etc")
    assert client.call("list_workers")["workers"] == []
    # The sockets that could grant something are closed to it.
    denied = machine.run("setpriv", "--reuid=captain", "--regid=captain", "--init-groups", STILE, "allow", "alpha",
                         "evil.example", check=False)
    assert denied.returncode != 0 and "no permission" in denied.stderr
    line = json.dumps({"action": "allow", "agent": "alpha", "hosts": ["evil.example"]})
    answer = machine.run("setpriv", "--reuid=captain", "--regid=captain", "--init-groups", "socat", "-t", "10", "-",
                         "UNIX-CONNECT:/run/stile/read.sock", input=line + "\n").stdout
    assert json.loads(answer)["error"]["code"] == "forbidden"


def test_agents_that_are_no_workers_are_not_its_business(machine, captain):
    card = {"agent_id": "other", "source": ["10.200.9.9"], "allowed_hosts": [], "unlisted": "ask"}
    machine.path("/etc/stile/agents.d/other.json").write_text(json.dumps(card))
    machine.run("systemctl", "reload", "stiled")
    client = captain()
    for tool in ("explain_access", "request_access"):
        assert "not found" in client.problem(tool, worker="other", url="https://wanted.test")
    assert json.loads(machine.run(STILE, "asks", "--json").stdout)["asks"] == []


def test_an_ask_about_what_no_person_decides(captain):
    client = captain()
    client.call("spawn_worker", worker="alpha")  # its template does not ask
    explained = client.call("explain_access", worker="alpha", url="https://wanted.test/x")
    assert (explained["verdict"], explained["reason"], explained["asks"]) == ("deny", "host-not-allowed", False)
    assert "host-not-allowed" in client.problem("request_access", worker="alpha", url="https://wanted.test/x")
    assert client.call("request_access", worker="alpha", url="https://api.anthropic.com")["state"] == "allowed"


@pytest.mark.parametrize("era", [SESSION, STATELESS])
def test_the_user_is_asked_for_a_reason(machine, captain, era):
    client = captain(era=era, capabilities={"elicitation": {}})
    client.call("spawn_worker", worker="alpha", template="asking")
    request = {"name": "request_access", "arguments": {"worker": "alpha", "url": "https://wanted.test"}}
    result = client.ask("tools/call", request)["result"]
    if era == STATELESS:
        assert result["resultType"] == "input_required"
        assert "wanted.test" in result["inputRequests"]["reason"]["params"]["message"]
        said = {"reason": {"action": "accept", "content": {"reason": "the wheels are there"}}}
        result = client.ask("tools/call", {**request, "inputResponses": said})["result"]
    assert result["structuredContent"]["state"] == "open"
    asks = json.loads(machine.run(STILE, "asks", "--json").stdout)["asks"]
    assert [one.get("agent_reason", "") for one in asks] == ["the wheels are there" if era == STATELESS else ""]
    machine.run(STILE, "refuse", asks[0]["id"])
    assert client.call("request_access", worker="alpha", url="https://wanted.test", reason="please")["state"] == "refused"


@pytest.fixture
def told(machine):
    """What the logs of daemon and spawner say from here on, whose chains are whole."""
    logs = ["/var/log/stile/audit.jsonl", "/var/log/agent-spawner/audit.jsonl"]

    def lines(log):
        return [json.loads(line) for line in machine.path(log).read_text().splitlines()]
    machine.ask({"action": "list"})  # which makes the second log
    begin = [len(lines(log)) for log in logs]

    def tell():
        for log in logs:
            machine.run(STILE, "audit", "verify", log)
        return [lines(log)[start:] for log, start in zip(logs, begin)]
    return tell


def about(host, lines):
    return [(line["event"], line["agent"]) for line in lines
            if line.get("host") == host and line["event"] in ("ask", "answer", "open", "deny")]


def done_by_captain(machine, spawners):
    """What the spawner did for the captain: action and worker."""
    user = machine.run("id", "-u", "captain").stdout.strip()
    return [(line["method"], line["agent"]) for line in spawners if line.get("actor", "").startswith(f"uid {user},")
            and line["event"] in ("grant", "policy")]


def test_the_story_of_a_captain(machine, captain, origin, told):
    """Two workers; one is refused a host, a person approves, the task goes on; all of it is in the logs."""
    client = captain(era=STATELESS)
    for worker in ("alpha", "beta"):
        client.call("spawn_worker", worker=worker, template="asking", tags=["story"])
    assert client.call("send_task", worker="beta", message="curl -sS https://allowed.test/ | tee result")["output"] == "ok\n"
    assert client.call("read_file", worker="beta", path="result")["content"] == "ok\n"

    number = client.start("tools/call", {"name": "send_task", "arguments": {
        "worker": "alpha", "message": "curl -sS https://wanted.test/ > result; cat result"}})
    asks = until(lambda: json.loads(machine.run(STILE, "asks", "--json").stdout)["asks"], 30)
    assert [(one["agent"], one["host"]) for one in asks] == [("alpha", "wanted.test")]
    machine.run(STILE, "approve", asks[0]["id"], "--for", "10m")
    answer = client.answer()
    assert answer["id"] == number
    assert answer["result"]["structuredContent"]["output"] == "ok\n", answer
    assert client.call("explain_access", worker="alpha", url="https://wanted.test")["verdict"] == "allow"
    assert client.call("explain_access", worker="beta", url="https://wanted.test")["verdict"] == "deny"

    # Beta asks before it tries, and its captain waits for the person.
    number = client.start("tools/call", {"name": "request_access", "arguments": {
        "worker": "beta", "url": "https://wanted.test", "reason": "the same file", "wait_seconds": 40}}, progressToken=7)
    client.notes.get(timeout=20)
    asks = json.loads(machine.run(STILE, "asks", "--json").stdout)["asks"]
    assert [(one["agent"], one["agent_reason"]) for one in asks] == [("beta", "the same file")]
    machine.run(STILE, "approve", asks[0]["id"])
    answer = client.answer()
    assert answer["id"] == number and answer["result"]["structuredContent"]["state"] == "allowed"
    assert client.call("send_task", worker="beta", message="curl -sS https://wanted.test/")["output"] == "ok\n"
    for worker in ("alpha", "beta"):
        assert client.call("terminate_worker", worker=worker)["status"] == "terminated"

    lines, spawners = told()
    assert about("wanted.test", lines) == [(event, worker) for worker in ("alpha", "beta")
                                           for event in ("ask", "answer", "open")]
    by_captain = [line for line in lines if line["event"] == "ask" and line["agent"] == "beta"]
    assert "captain" in by_captain[0]["actor"]
    assert done_by_captain(machine, spawners) == [
        ("spawn", "alpha"), ("spawn", "beta"), ("run", "beta"), ("run", "alpha"), ("run", "beta"), ("terminate", "alpha"),
        ("terminate", "beta")]


CLAUDES_ORDERS = [
    ("spawn_worker", {"worker": "alpha", "template": "opencode"}),
    ("spawn_worker", {"worker": "beta", "template": "opencode"}),
    ("send_task", {"worker": "alpha", "message": "fetch the file"}),
    ("read_file", {"worker": "alpha", "path": "result"}),
    ("send_task", {"worker": "beta", "message": "say something"}),
    ("list_files", {"worker": "alpha"}),
    ("terminate_worker", {"worker": "alpha"}),
    ("terminate_worker", {"worker": "beta"}),
]
WORKERS_ORDERS = [["bash", {"command": "curl -sS https://never.test/ -o never; echo the first ended with $?",
                           "description": "fetch from elsewhere"}],
                  ["bash", {"command": "curl -sS https://wanted.test/ -o result && cat result", "description": "fetch"}],
                  "alpha has it", "beta has nothing to say"]
OPENCODE_CONFIG = {"model": "stand-in/m", "provider": {"stand-in": {
    "npm": "@ai-sdk/openai-compatible", "name": "stand-in", "models": {"m": {"name": "m"}},
    "options": {"baseURL": "http://model.test:8300/v1", "apiKey": "x"}}}}


@pytest.fixture
def models(machine, origin):
    """Stand-ins for the models of captain and workers, with the tools that they call."""
    shutil.copy(stand_in_api.__file__, machine.path("/srv/api.py"))
    captains = [[f"mcp__stile__{tool}", arguments] for tool, arguments in CLAUDES_ORDERS] + ["all done"]
    for unit, address, port, answers in (("captains-model", "127.0.0.1", 8200, captains),
                                         ("workers-model", "127.0.0.9", 8300, WORKERS_ORDERS)):
        machine.path(f"/srv/{unit}.json").write_text(json.dumps(answers))
        machine.shell(f"systemd-run --quiet --unit={unit} python3 /srv/api.py {address} {port} /srv/{unit}.json /srv/{unit}.log;"
                      f"until curl -sf http://{address}:{port}/ >/dev/null; do sleep 0.1; done")
    machine.shell("echo '127.0.0.9 model.test' >>/etc/hosts; systemctl reload stiled")
    yield
    machine.run("systemctl", "stop", "captains-model", "workers-model")


@pytest.fixture
def claude(machine, models):
    """Claude Code, started by the captain's user; opencode is there for its workers."""
    shutil.copy(installed(CLAUDE) / ".bin/claude", machine.path("/opt/stile/claude"))
    machine.path("/opt/opencode").mkdir(exist_ok=True)
    shutil.copy(installed(OPENCODE) / ".bin/opencode", machine.path("/opt/opencode/opencode"))
    machine.path("/opt/opencode/opencode.json").write_text(json.dumps(OPENCODE_CONFIG))
    config = {"mcpServers": {"stile": {"type": "stdio", "command": STILE, "args": ["mcp"]}}}
    machine.path("/srv/mcp.json").write_text(json.dumps(config))
    machine.run("install", "-d", "-o", "captain", "/home/captain")
    tools = ",".join(sorted({f"mcp__stile__{tool}" for tool, _ in CLAUDES_ORDERS}))
    process = subprocess.Popen(machine.command(
        "setpriv", "--reuid=captain", "--regid=captain", "--init-groups", "env", "-C", "/home/captain", "HOME=/home/captain",
        "ANTHROPIC_API_KEY=sk-ant-stand-in", "ANTHROPIC_BASE_URL=http://127.0.0.1:8200", "DISABLE_AUTOUPDATER=1",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "/opt/stile/claude", "-p", "begin", "--output-format", "stream-json",
        "--verbose", "--mcp-config", "/srv/mcp.json", "--strict-mcp-config", "--allowedTools", tools),
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    yield process
    process.kill()
    process.wait()


@pytest.mark.long
def test_claude_code_is_the_captain_of_two_opencodes(machine, told, claude):
    """The real programs; only their models are replaced. One is refused a host that it may not reach; a person approves
    the host that it needs; all of it is in the logs."""
    def open_asks():
        assert claude.poll() is None, claude.stdout.read()[-3000:]
        return [ask for ask in json.loads(machine.run(STILE, "asks", "--json").stdout)["asks"] if ask["host"] == "wanted.test"]
    ask = until(open_asks, 90)[0]
    assert ask["agent"] == "alpha"
    machine.run(STILE, "approve", ask["id"])
    output, _ = claude.communicate(timeout=90)
    lines = [json.loads(line) for line in output.splitlines() if line.startswith("{")]
    assert lines[-1]["result"] == "all done", output[-3000:]
    results = [json.loads(part["text"]) for line in lines if line["type"] == "user"
               for block in line["message"]["content"] if block["type"] == "tool_result"
               for part in (block["content"] if isinstance(block["content"], list) else [{"text": block["content"]}])]
    assert [result["worker"] for result in results] == ["alpha", "beta", "alpha", "alpha", "beta", "alpha", "alpha", "beta"]
    assert results[2]["status"] == "completed" and "alpha has it" in results[2]["output"], results[2]
    assert results[3]["content"] == "ok\n"
    assert results[4]["status"] == "completed" and "beta has nothing to say" in results[4]["output"], results[4]
    assert "result" in [file["name"] for file in results[5]["files"]]
    assert [result["status"] for result in results[6:]] == ["terminated", "terminated"]
    assert "never" not in [file["name"] for file in results[5]["files"]]
    lines, spawners = told()
    assert about("never.test", lines) == [("deny", "alpha")]
    assert about("wanted.test", lines) == [("ask", "alpha"), ("answer", "alpha"), ("open", "alpha")]
    assert done_by_captain(machine, spawners) == [
        ("spawn", "alpha"), ("spawn", "beta"), ("run", "alpha"), ("run", "beta"), ("terminate", "alpha"), ("terminate", "beta")]
    # What the worker's shell saw is what its model was told.
    seen = machine.path("/srv/workers-model.log").read_text()
    assert "the first ended with 56" in seen and "response 403" in seen
