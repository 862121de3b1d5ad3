"""`stile mcp` on standard input, without a spawner: the protocol, its errors, and bytes that are no messages."""

import json

import pytest
from harness.cli import environment, stile
from harness.mcp import SESSION, STATELESS, StdioClient, meta

TOOLS = ["spawn_worker", "list_workers", "get_worker_status", "terminate_worker", "send_task", "read_output",
         "cancel_task", "list_files", "read_file", "explain_access", "request_access", "containment_status"]


@pytest.fixture(params=[SESSION, STATELESS])
def client(request, tmp_path):
    env = environment(STILE_SPAWNER=str(tmp_path / "none.sock"), STILE_SOCKET=str(tmp_path / "none.sock"))
    with StdioClient(era=request.param, env=env) as one:
        yield one


def test_it_says_what_it_is(client):
    if client.era == SESSION:
        said = client.greeting
        assert said["protocolVersion"] == SESSION and said["serverInfo"]["name"] == "stile"
        assert client.ask("ping")["result"] == {}
    else:
        said = client.ask("server/discover")["result"]
        assert STATELESS in said["supportedVersions"] and SESSION in said["supportedVersions"]
        assert said["_meta"]["io.modelcontextprotocol/serverInfo"]["name"] == "stile"
        assert client.ask("ping")["error"]["code"] == -32601
    assert said["capabilities"] == {"tools": {}} and "spawn_worker" in said["instructions"]


def test_it_lists_its_tools(client):
    tools = client.ask("tools/list")["result"]["tools"]
    assert [tool["name"] for tool in tools] == TOOLS
    for tool in tools:
        assert tool["inputSchema"]["additionalProperties"] is False and tool["outputSchema"]["type"] == "object"
    hints = {tool["name"]: tool["annotations"] for tool in tools}
    assert hints["list_workers"]["readOnlyHint"] and not hints["spawn_worker"]["readOnlyHint"]
    assert hints["terminate_worker"]["destructiveHint"] and not hints["request_access"]["destructiveHint"]


def test_its_errors_say_what_to_do(client):
    assert "no spawner at" in client.problem("list_workers")
    assert "systemctl enable --now stile-spawner.socket" in client.problem("list_workers")
    assert client.problem("send_task", worker="a") == "invalid arguments: message is missing"
    assert "did you mean 'worker'?" in client.problem("read_file", wroker="a", worker="a", path="x")
    assert client.ask("tools/call", {"name": "allow", "arguments": {}})["error"]["code"] == -32602


@pytest.mark.hostile_bytes
def test_bytes_that_are_no_messages(client):
    for data in (b"\n", b"  \r\n"):
        client.send_bytes(data)  # no answer
    for data, code in [(b"\x00\xff\n", -32700), (b"{\n", -32700), (b"[" * 100000 + b"\n", -32700),
                       (b'{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}\n', -32700), (b"[]\n", -32600),
                       (b"x" * 300000 + b"\n", -32600), (b'{"jsonrpc":"2.0","id":{},"method":"x"}\n', -32600)]:
        client.send_bytes(data)
        answer = client.answer()
        assert answer["error"]["code"] == code and "id" not in answer, data[:40]
    assert client.ask("tools/list")["result"]["tools"]  # and it goes on


def test_a_last_message_without_an_end_is_not_served(client):
    client.send_bytes(json.dumps({"jsonrpc": "2.0", "id": 99, "method": "tools/list", "params": {"_meta": meta()}}).encode())
    client.close()
    assert client.answer() is None


def test_nothing_works_before_the_handshake(tmp_path):
    message = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/list"})
    done = stile("mcp", data=message + "\n", env=environment(STILE_SOCKET="/nonexistent"))
    assert done.code == 0 and json.loads(done.out)["error"]["code"] == -32602


def test_options(tmp_path):
    assert stile("mcp", "--token-file", "x").code == 2
    assert "is not a loopback address" in stile("mcp", "--http", "0.0.0.0:0").err
    token = tmp_path / "token"
    token.write_text("0123456789abcdef\n")
    token.chmod(0o644)
    done = stile("mcp", "--http", "127.0.0.1:0", "--token-file", token)
    assert done.code == 1 and "other users can read" in done.err and "chmod 600" in done.err
    token.chmod(0o600)
    token.write_text("short")
    assert "16 to 512" in stile("mcp", "--http", "127.0.0.1:0", "--token-file", token).err
    assert "cannot read" in stile("mcp", "--http", "127.0.0.1:0", "--token-file", tmp_path / "none").err
