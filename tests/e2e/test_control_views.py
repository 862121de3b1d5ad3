"""explain, tail, connections and lent listeners."""

import json
import os
import select
import socket

import pytest
from harness.client import Client
from harness.hello import hello_for
from harness.origin import echo
from harness.wait import until


def open_echo(proxy, world, host, agent="alpha"):
    client = proxy.open_tunnel(host, world.port, agent)
    client.recv_exactly(len(client.hello))
    return client


@pytest.fixture
def proxy(world):
    world.tcp_origin("a.test", handler=echo)
    world.tcp_origin("b.test", handler=echo, opened=False)
    world.agent("alpha", allow=["a.test", "b.test", ".s.test", f"p.test:{world.port + 1}"],
                deny=["no.s.test"])
    world.agent("beta", mode="observe")
    world.agent("gamma", allow=["a.test"], mode="offline")
    world.agent("old", allow=["a.test"], expires="2020-01-01T00:00:00Z")
    return world.start()


HOSTS = ["a.test", "A.TEST.", "x.s.test", "no.s.test", "none.test", "a..test", "-a.test",
         "a_b.test", "127.0.0.1", "0x7f.1", "p.test", "xn--a.test", "a.test%00"]


@pytest.mark.parametrize("agent", ["alpha", "beta", "gamma", "old", "stranger"])
@pytest.mark.parametrize("host", HOSTS)
def test_explain_says_what_the_live_request_gets(world, proxy, agent, host):
    who = {"source": world.addresses[agent]}
    for port in (world.port, world.port + 1, 0):
        told = proxy.control().do("explain", host=host, port=port, **who)
        answer = proxy.connect(host, port, agent)
        late = {"dns-failure", "address-forbidden", "origin-unreachable", "origin-timeout"}
        live = None if answer.status == 200 or answer.reason in late else answer.reason
        expected = None if told["verdict"] != "deny" else told["reason"]
        assert live == expected, (told, answer)


def test_explain_reads_like_an_explanation(world, proxy):
    with proxy.control() as control:
        told = control.do("explain", agent="alpha", host="no.s.test", port=world.port)
        assert (told["verdict"], told["reason"]) == ("deny", "host-denied")
        assert "no.s.test" in told["rule"] and "stile.toml:" in told["rule"]
        assert [step["step"] for step in told["steps"]] == [
            "agent", "mode", "ip-literal", "host-syntax", "port", "host", "address", "origin",
            "hello"]
        assert [step["result"] for step in told["steps"]][-4:] == [
            "host-denied", "not-run", "not-run", "not-run"]
        slip = control.do("explain", agent="alpha", host="x.test", port=world.port)
        assert slip["reason"] == "host-not-allowed" and "a.test" in slip["steps"][5]["detail"]


def test_explain_resolves_when_asked(world, proxy):
    with proxy.control() as control:
        told = control.do("explain", agent="alpha", host="a.test", port=world.port, resolve=True)
        assert told["verdict"] == "allow"
        assert [s["result"] for s in told["steps"] if s["step"] == "address"] == ["pass"]
        told = control.do("explain", agent="alpha", host="b.test", port=world.port, resolve=True)
        assert told["reason"] == "address-forbidden"
        told = control.do("explain", agent="alpha", host="y.s.test", port=world.port, resolve=True)
        assert told["reason"] == "dns-failure"
    assert not proxy.audit.entries(event="deny")


def test_explain_consumes_nothing(world, proxy):
    with proxy.control() as control:
        control.do("allow", agent="alpha", hosts=["q.test"], max_requests=1)
        for _ in range(3):
            told = control.do("explain", agent="alpha", host="q.test", port=world.port)
            assert told["verdict"] == "allow" and "grant" in told["rule"]


def test_explain_of_an_unknown_agent_is_an_error(proxy):
    assert proxy.control().refused("explain", agent="nobody", url="https://a/")["code"] == (
        "unknown-agent")


def test_connections_are_listed_with_their_bytes(world, proxy):
    tunnel = open_echo(proxy, world, "a.test")
    with proxy.control() as control:
        shown = control.do("connections", agent="alpha")["connections"]
        assert control.do("connections", agent="beta")["connections"] == []
    assert len(shown) == 1
    assert (shown[0]["agent"], shown[0]["host"], shown[0]["port"]) == (
        "alpha", "a.test", world.port)
    assert shown[0]["bytes_up"] == shown[0]["bytes_down"] == len(tunnel.hello)
    assert shown[0]["age_seconds"] >= 0 and shown[0]["origin"]


def test_plain_http_is_listed_with_its_bytes_while_it_runs(world):
    origin = world.http_origin("h.test")
    world.agent("alpha", allow=["h.test"])
    proxy = world.start()
    authority = f"h.test:{world.http_port}"
    with proxy.client() as client, proxy.control() as control:
        client.send(f"POST http://{authority}/ HTTP/1.1\r\nHost: {authority}\r\n"
                    "Content-Length: 100000\r\n\r\n".encode() + bytes(99999))
        conn = origin.wait_connection()
        until(lambda: conn.received.endswith(bytes(99999)))
        shown = control.do("connections", agent="alpha")["connections"]
        assert [one["bytes_up"] for one in shown] == [len(conn.received)]
        assert control.do("status")["bytes_up"] == len(conn.received)
        client.send(b"x")
        assert client.read_response().status == 200
        assert control.do("status")["bytes_up"] == len(conn.received)


def test_tail_shows_lines_as_they_are_written(world, proxy):
    tail, denied, other = proxy.control(), proxy.control(), proxy.control()
    assert tail.do("tail") and denied.do("tail", agent="alpha", verdict="deny")
    assert other.do("tail", agent="beta")
    open_echo(proxy, world, "a.test")
    proxy.connect("none.test", world.port)
    lines = [tail.read_line(), tail.read_line()]
    assert lines == [line for line in proxy.audit.raw_lines() if b"CONNECT" in line][:2]
    assert json.loads(denied.read_line())["host"] == "none.test"
    proxy.connect("none.test", world.port, "beta")
    assert json.loads(other.read_line())["agent"] == "beta"


def test_an_answer_comes_after_the_lines_written_before_its_request(world, proxy):
    """Lines are passed on together, and yet `stile run --connect` sees its last ones."""
    tail = proxy.control()
    assert tail.do("tail", agent="alpha")
    for count in range(1, 21):
        proxy.connect(f"none{count}.test", world.port)
        assert proxy.control().do("ping")
        tail.sock.setblocking(False)
        assert json.loads(tail.read_line())["host"] == f"none{count}.test"
        tail.sock.setblocking(True)


@pytest.fixture
def overrun(world):
    """A proxy and a reader of its tail that has missed lines, and has not read any yet."""
    world.http_origin("h.test")
    world.agent("alpha", allow=["h.test"], requests_per_second=0)
    proxy = world.start()
    slow = proxy.control()
    slow.do("tail", agent="alpha")
    # Two lines of a kilobyte each time, far more than is kept for a reader. Not refusals: of those
    # an agent may write only so many.
    url = f"http://h.test:{world.http_port}/{'p' * 900}"
    with proxy.client() as client:
        for _ in range(1500):
            assert client.get(url).status == 200
    assert proxy.control().do("ping")
    return proxy, slow


def test_tail_that_does_not_read_is_told_what_it_missed(world, overrun):
    proxy, slow = overrun
    line = before = json.loads(slow.read_line())
    while line["event"] != "missed":
        before = line
        if b"\n" not in slow.buffer:
            proxy.connect("none.test", world.port)  # the next line brings the count
        line = json.loads(slow.read_line())
    after = json.loads(slow.read_line())
    assert line["count"] > 0
    assert after["seq"] == before["seq"] + line["count"] + 1


def test_tail_that_hangs_up_before_it_is_told(world, overrun):
    proxy, slow = overrun
    quick = proxy.control()
    slow.sock.setblocking(False)
    while True:
        try:
            slow.sock.recv(1 << 20)
        except BlockingIOError:
            quick.do("ping")  # its turn to write more
            if not select.select([slow.sock], [], [], 0)[0]:
                break
    slow.sock.shutdown(socket.SHUT_RD)
    hang_up = select.poll()
    hang_up.register(slow.sock, 0)
    proxy.connect("none.test", world.port)
    until(lambda: hang_up.poll(0), what="the proxy to let the reader go")
    assert quick.do("ping")


# Listeners that others lend.

@pytest.fixture
def listener(world):
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        sock.listen()
        yield sock


def through(listener, target):
    client = Client(listener.getsockname())
    return client, client.connect_to(*target)


def test_lent_listener_is_that_agent_until_the_connection_closes(world, proxy, listener):
    proxy.control().do("put-agent", card={"agent_id": "lent", "allowed_hosts": ["a.test"]})
    control = proxy.control()
    control.send("adopt-listener", descriptor=listener.fileno(), agent="lent")
    assert control.read() == {"ok": True, "agent": "lent"}
    client, answer = through(listener, ("a.test", world.port))
    assert answer.status == 200
    client.send(hello_for("a.test"))
    client.recv_exactly(len(hello_for("a.test")))
    own = open_echo(proxy, world, "a.test")
    assert through(listener, ("none.test", world.port))[1].reason == "host-not-allowed"
    assert proxy.audit.wait_one(20, event="open", agent="lent")
    control.close()
    assert client.is_closed(20)
    assert client.was_reset
    own.send(b"here")
    assert own.recv_exactly(4) == b"here"


def test_agent_with_its_listener_lives_as_long_as_the_connection(world, proxy, listener):
    control = proxy.control()
    card = {"agent_id": "brief", "allowed_hosts": ["a.test"]}
    control.send("adopt-listener", descriptor=listener.fileno(), card=card)
    assert control.read() == {"ok": True, "agent": "brief"}
    assert through(listener, ("a.test", world.port))[1].status == 200
    with proxy.control() as other:
        assert other.do("agent", agent="brief")
        control.close()
        until(lambda: other.ask("agent", agent="brief")["ok"] is False, 20)
    state = json.loads((proxy.folder / "state" / "state.json").read_text())
    assert state["cards"] == []


def test_only_a_loopback_listener_is_taken(proxy):
    control = proxy.control()
    with socket.socket() as everywhere, socket.socket() as idle:
        everywhere.bind(("0.0.0.0", 0))
        everywhere.listen()
        for sock in (everywhere, idle):
            control.send("adopt-listener", descriptor=sock.fileno(), agent="alpha")
            assert control.read()["error"]["code"] == "bad-request"
    assert control.do("ping")


def test_only_sockets_of_another_namespace_are_taken_for_capture(proxy):
    control = proxy.control()
    with socket.create_server(("127.0.0.1", 0)) as here, socket.socket(type=socket.SOCK_DGRAM) as names, \
            socket.socket(socket.AF_UNIX) as other:
        names.bind(("127.0.0.1", 0))
        for sock, problem in ((here, "own network namespace"), (names, "own network namespace"), (other, "IPv4")):
            control.send("adopt-capture", descriptor=sock.fileno(), agent="alpha")
            answer = control.read()
            assert answer["error"]["code"] == "bad-request" and problem in answer["error"]["message"], answer
    assert control.do("ping")


def test_only_the_sockets_of_the_fence_are_taken_for_all_agents(world):
    """What arrives on them is who its source address says, so nothing else may."""
    if os.geteuid() != 0:
        pytest.skip("IP_TRANSPARENT needs root")
    world.agent("alpha")
    gateway, port = world.site.address(1), world.site.proxy_port
    subnet = gateway.rpartition(".")[0] + ".0/24"
    control = world.start(netns={"gateway": gateway, "subnet": subnet, "port": port}).control()

    def refused(sock):
        control.send("adopt-capture", descriptor=sock.fileno())
        return control.read()["error"]

    with socket.create_server(("127.0.0.1", 0)) as plain, socket.socket() as elsewhere, socket.socket() as idle:
        assert "IP_TRANSPARENT" in refused(plain)["message"]
        for sock in (elsewhere, idle):
            sock.setsockopt(socket.IPPROTO_IP, 19, 1)  # IP_TRANSPARENT
            sock.bind((gateway, 0))
        elsewhere.listen()
        assert "the fence captures to" in refused(elsewhere)["message"]
        assert "not a listening socket" in refused(idle)["message"]
    with socket.socket(type=socket.SOCK_DGRAM) as names:
        names.setsockopt(socket.IPPROTO_IP, 19, 1)
        names.bind(("127.0.0.1", 0))
        assert "the fence captures to" in refused(names)["message"]
    # A daemon that was started as root has its own.
    assert control.do("ping")["capture"] == "served"


def test_descriptor_with_another_request_is_closed(proxy, listener):
    before = proxy.open_files()
    control = proxy.control()
    for _ in range(50):
        control.send("ping", descriptor=listener.fileno())
        assert control.read()["ok"]
    assert proxy.open_files() <= before + 2


def test_a_noted_check_of_the_fence_is_shown_until_the_agent_is_another(world, proxy):
    control = proxy.control()
    assert "containment" not in control.do("agent", agent="alpha")["agent"]
    control.do("note-check", agent="alpha", holds=False, reason="tcp: expected refused, got answered")
    noted = control.do("agent", agent="alpha")["agent"]["containment"]
    assert (noted["holds"], noted["problem"]) == (False, "tcp: expected refused, got answered")
    control.do("note-check", agent="alpha", holds=True)
    listed = {one["id"]: one.get("containment") for one in control.do("agents")["agents"]}
    assert listed["alpha"]["holds"] is True and "problem" not in listed["alpha"] and listed["beta"] is None
    assert listed["alpha"]["checked"] >= noted["checked"]
    assert control.ask(action="note-check", agent="nobody", holds=True)["error"]["code"] == "unknown-agent"
    assert control.ask(action="note-check", agent="alpha")["error"]["code"] == "bad-request"
    assert control.ask(action="note-check", agent="alpha", holds="yes")["error"]["code"] == "bad-request"
    # An agent that was put again with another address is another agent.
    card = {"agent_id": "delta", "source": ["127.0.0.77"], "allowed_hosts": []}
    control.do("put-agent", card=card)
    control.do("note-check", agent="delta", holds=True)
    assert control.do("agent", agent="delta")["agent"]["containment"]["holds"]
    control.do("put-agent", card={**card, "source": ["127.0.0.78"]})
    assert "containment" not in control.do("agent", agent="delta")["agent"]
