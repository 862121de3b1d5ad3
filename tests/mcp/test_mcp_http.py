"""`stile mcp --http`: who may connect, sessions, streams of progress, and what ends a call."""

import errno
import re
import socket
import subprocess

import pytest
from harness.cli import environment
from harness.mcp import SESSION, STATELESS, HttpClient, HttpServer
from harness.stiled import binary, build_folder
from harness.wait import until

TOKEN = "0123456789abcdef0123456789abcdef"
AUTHORIZED = {"Authorization": f"Bearer {TOKEN}"}
INITIALIZE = {"jsonrpc": "2.0", "id": 1, "method": "initialize",
              "params": {"protocolVersion": SESSION, "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}}


@pytest.fixture
def server(tmp_path):
    token = tmp_path / "token"
    token.touch(mode=0o600)
    token.write_text(TOKEN + "\n")
    env = environment(STILE_SPAWNER=str(tmp_path / "none.sock"), STILE_SOCKET=str(tmp_path / "none.sock"))
    with HttpServer([binary("stile"), "mcp", "--http", "127.0.0.1:0", "--token-file", token], env) as one:
        yield one


@pytest.fixture
def suite_server():
    """The same server with the tools of the official suite."""
    with HttpServer([build_folder() / "tests/mcp/mcp_conformance_server", TOKEN]) as one:
        yield one


@pytest.mark.parametrize("era", [SESSION, STATELESS])
def test_both_eras_on_one_endpoint(server, era):
    client = HttpClient(server, TOKEN, era)
    reply = client.post("tools/list")
    assert reply.status == 200 and len(reply.json["result"]["tools"]) == 12
    assert reply.headers["content-type"] == "application/json" and reply.headers["cache-control"] == "no-store"
    failed = client.post("tools/call", {"name": "list_workers", "arguments": {}}).json["result"]
    assert failed["isError"] and "no spawner at" in failed["content"][0]["text"]
    unknown = client.post("prompts/list")
    assert unknown.json["error"]["code"] == -32601 and unknown.status == (404 if era == STATELESS else 200)


def test_only_with_the_token_and_under_its_own_name(server):
    assert server.request("POST", INITIALIZE, **AUTHORIZED).status == 200
    no_token = server.request("POST", INITIALIZE)
    assert no_token.status == 401 and no_token.headers["www-authenticate"] == "Bearer"
    assert server.request("POST", INITIALIZE, Authorization=f"Bearer {TOKEN}x").status == 401
    for changes in ({"Host": "evil.example"}, {"Host": "evil.example:80"}, {"Origin": "http://evil.example"},
                    {"Origin": "null"}):
        assert server.request("POST", INITIALIZE, **AUTHORIZED, **changes).status == 403, changes
    port = server.host.rpartition(":")[2]
    assert server.request("POST", INITIALIZE, **AUTHORIZED, Host=f"localhost:{port}").status == 200
    assert server.request("POST", INITIALIZE, **AUTHORIZED, Origin=f"http://{server.host}").status == 200


def test_idle_clients_keep_nobody_out(server):
    known = HttpClient(server, TOKEN, STATELESS)
    kept = server.connection()
    assert server.request("POST", INITIALIZE, connection=kept, **AUTHORIZED).status == 200
    host, port = server.host.rsplit(":", 1)
    held = [socket.create_connection((host, int(port)), timeout=30) for _ in range(200)]
    try:
        for sock in held[::2]:
            sock.sendall(b"POST /mcp HTTP/1.1\r\nHo")
        for _ in range(20):
            assert known.post("tools/list").status == 200
        assert held[1].recv(10) == b""  # one of the oldest gave way
        # One that has sent the token stays.
        assert server.request("POST", INITIALIZE, connection=kept, **AUTHORIZED).status == 200
    finally:
        for sock in held:
            sock.close()


def test_only_posted_json(server):
    got = server.request("GET", **AUTHORIZED)
    assert got.status == 405 and got.headers["allow"] == "POST, DELETE"
    assert server.request("POST", INITIALIZE, path="/", **AUTHORIZED).status == 404
    # A form of a foreign page cannot have this type.
    assert server.request("POST", INITIALIZE, **AUTHORIZED, Content_Type="text/plain").status == 415
    bad = server.request("POST", b"{", **AUTHORIZED)
    assert bad.status == 400 and bad.json["error"]["code"] == -32700


def test_a_session_has_a_beginning_and_an_end(server):
    lists = {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}
    assert server.request("POST", lists, **AUTHORIZED).status == 400
    assert server.request("POST", lists, **AUTHORIZED, Mcp_Session_Id="0" * 32).status == 404
    client = HttpClient(server, TOKEN)
    assert re.fullmatch("[0-9a-f]{32}", client.headers["Mcp-Session-Id"])
    assert client.post("tools/list").status == 200
    assert server.request("DELETE", **client.headers).status == 204
    assert client.post("tools/list").status == 404
    assert server.request("DELETE", **client.headers).status == 404


@pytest.mark.hostile_bytes
def test_bytes_that_are_no_requests(server):
    large = server.request("POST", b"x" * 300000, **AUTHORIZED)
    assert large.status == 413
    for data in (b"\x00" * 100, b"GET\r\n\r\n", b"POST /mcp HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n",
                 b"A" * 9000):
        with socket.create_connection(server.host.split(":"), 10) as sock:
            answer = b""
            try:
                sock.sendall(data)
                sock.shutdown(socket.SHUT_WR)
                while piece := sock.recv(4096):
                    answer += piece
            except OSError as problem:  # the server has closed it already
                assert problem.errno in (errno.ECONNRESET, errno.ENOTCONN, errno.EPIPE), problem
            assert answer.startswith((b"HTTP/1.1 400 ", b"HTTP/1.1 431 "))
    assert HttpClient(server, TOKEN).post("tools/list").status == 200


@pytest.mark.parametrize("era", [SESSION, STATELESS])
def test_progress_comes_on_a_stream_with_the_result(suite_server, era):
    client = HttpClient(suite_server, TOKEN, era)
    reply = client.post("tools/call", {"name": "test_tool_with_progress", "arguments": {}}, progressToken="p")
    assert reply.is_stream
    notes = [message["params"] for message in reply.messages[:-1]]
    assert [note["progress"] for note in notes] == [0, 50, 100]
    assert {note["progressToken"] for note in notes} == {"p"}
    assert reply.json["result"]["content"][0]["text"] == "done"
    # A client that wants no stream, or no progress, gets one answer.
    assert not client.post("tools/call", {"name": "test_tool_with_progress", "arguments": {}}).is_stream
    plain = client.post("tools/call", {"name": "test_tool_with_progress", "arguments": {}}, progressToken="p",
                        changes={"Accept": "application/json"})
    assert not plain.is_stream and plain.json["result"]


def test_a_connection_serves_many_requests(suite_server):
    client, connection = HttpClient(suite_server, TOKEN, STATELESS), suite_server.connection()
    for _ in range(20):
        reply = client.post("tools/call", {"name": "test_simple_text", "arguments": {}}, connection=connection)
        assert reply.json["result"]["isError"] is False
    connection.close()


def test_a_token_is_made_if_none_is_given():
    process = subprocess.Popen([binary("stile"), "mcp", "--http", "127.0.0.1:0"], stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True, env=environment())
    try:
        url = process.stdout.readline().strip()
        token = until(lambda: re.search("Bearer ([0-9a-f]{64})", process.stderr.readline()))[1]
        server = HttpServer.__new__(HttpServer)
        server.host = url.removeprefix("http://").removesuffix("/mcp")
        assert server.request("POST", INITIALIZE, Authorization=f"Bearer {token}").status == 200
        assert server.request("POST", INITIALIZE, Authorization=f"Bearer {token[:-1]}").status == 401
    finally:
        process.terminate()
        assert process.wait(10) == 0
