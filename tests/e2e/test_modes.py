"""observe lets through what policy refuses and says so; offline lets nothing through."""

import pytest
from harness import hello
from harness.checks import assert_denied, assert_refusal, assert_untouched
from harness.wait import until


def observed(proxy, reason, **fields):
    line = proxy.audit.only(event="open", **fields)
    assert (line["verdict"], line["reason"]) == ("would-deny", reason), line
    return line


@pytest.mark.parametrize("place", ["egress", "agent"])
def test_observe_lets_a_refused_host_through_and_logs_it(world, place):
    origin = world.tls_origin("o.test")
    world.agent("alpha", allow=[], **({"mode": "observe"} if place == "agent" else {}))
    proxy = world.start(egress={"mode": "observe"} if place == "egress" else {})
    assert proxy.curl(f"https://o.test:{world.port}/").out == b"ok"
    assert origin.names() == ["o.test"]
    observed(proxy, "host-not-allowed")


def test_observe_leaves_an_allowed_host_a_plain_allow(world):
    world.tls_origin("o.test")
    world.agent("alpha", allow=["o.test"], mode="observe")
    proxy = world.start()
    assert proxy.curl(f"https://o.test:{world.port}/").out == b"ok"
    line = proxy.audit.only(event="open")
    assert line["verdict"] == "allow" and "reason" not in line


def test_observe_of_one_agent_does_not_loosen_another(world):
    origin = world.tls_origin("o.test")
    world.agent("alpha", allow=[], mode="observe")
    world.agent("beta", allow=[])
    proxy = world.start()
    assert_refusal(proxy.connect("o.test", world.port, agent="beta"), "host-not-allowed")
    assert_untouched(origin)


def test_observe_of_a_denied_host(world):
    world.tls_origin("o.test")
    world.agent("alpha", allow=["o.test"], deny=["o.test"], mode="observe")
    proxy = world.start()
    assert proxy.curl(f"https://o.test:{world.port}/").out == b"ok"
    observed(proxy, "host-denied")


def test_observe_of_a_port(world):
    origin = world.tcp_origin("o.test", port=world.port + 1)
    world.agent("alpha", allow=["o.test"], mode="observe")
    proxy = world.start()
    client = proxy.open_tunnel("o.test", world.port + 1)
    origin.wait_connection().wait_received(client.hello)
    observed(proxy, "port-not-allowed")


def test_observe_of_an_address(world):
    origin = world.tcp_origin()
    world.agent("alpha", allow=[], mode="observe")
    proxy = world.start()
    client = proxy.tunnel(origin.address, world.port)
    greeting = hello.hello_for(None)
    client.send(greeting)
    origin.wait_connection().wait_received(greeting)
    observed(proxy, "ip-literal")


def test_observe_of_plain_http(world):
    origin = world.http_origin("h.test")
    world.agent("alpha", allow=[], mode="observe")
    proxy = world.start()
    assert proxy.get(f"http://h.test:{world.http_port}/o").status == 200
    assert origin.paths() == ["/o"]
    observed(proxy, "host-not-allowed")


@pytest.mark.parametrize("kind", ["tunnel", "http"])
def test_observe_says_the_same_at_the_end(world, kind):
    world.tls_origin("o.test")
    world.http_origin("h.test")
    world.agent("alpha", allow=[], mode="observe")
    proxy = world.start()
    if kind == "tunnel":
        assert proxy.curl(f"https://o.test:{world.port}/").out == b"ok"
    else:
        assert proxy.get(f"http://h.test:{world.http_port}/o").status == 200
    line = proxy.audit.wait_one(event="close")
    assert (line["verdict"], line["reason"]) == ("would-deny", "host-not-allowed"), line


@pytest.mark.parametrize("name, reason", [("p.test", "sni-mismatch"), (None, "sni-missing")])
def test_observe_does_not_cut_a_tunnel_for_its_hello(world, name, reason):
    origin = world.tcp_origin("o.test")
    world.agent("alpha", allow=["o.test"], mode="observe")
    proxy = world.start()
    client = proxy.tunnel("o.test", world.port)
    greeting = hello.hello_for(name)
    client.send(greeting)
    origin.wait_connection().wait_received(greeting)
    observed(proxy, reason)


def test_observe_relays_what_is_not_tls(world):
    origin = world.tcp_origin("o.test", handler=lambda conn: [conn.recv(), conn.send(b"pong")])
    world.agent("alpha", allow=["o.test"], mode="observe")
    proxy = world.start()
    client = proxy.tunnel("o.test", world.port)
    client.send(b"ping, no tls\r\n")
    assert client.recv_to_end() == b"pong"
    assert origin.received == b"ping, no tls\r\n"
    observed(proxy, "not-tls")


def test_observe_relays_a_server_that_speaks_first_after_the_time_limit(world):
    def greets(conn):
        conn.send(b"220 hello\r\n")
        conn.recv_to_end()
    origin = world.tcp_origin("o.test", handler=greets)
    world.agent("alpha", allow=["o.test"], mode="observe")
    proxy = world.start(limits={"client_hello_timeout_ms": 300})
    client = proxy.tunnel("o.test", world.port)
    assert client.recv_exactly(11) == b"220 hello\r\n"
    client.send(b"EHLO x\r\n")
    origin.wait_connection().wait_received(b"EHLO x\r\n")
    observed(proxy, "client-hello-timeout")


# What observe does not loosen.

def test_observe_still_refuses_unknown_agents(world):
    origin = world.tls_origin("o.test")
    world.agent("alpha")
    proxy = world.start(egress={"mode": "observe"})
    assert_refusal(proxy.connect("o.test", world.port, agent="stranger"), "unknown-agent")
    assert_untouched(origin)


def test_observe_still_refuses_malformed_hosts(world):
    world.agent("alpha")
    proxy = world.start(egress={"mode": "observe"})
    assert_refusal(proxy.connect("a_b.test", world.port), "bad-request")
    assert_refusal(proxy.connect("o.test", 0), "bad-request")


def test_observe_still_refuses_forbidden_addresses(world):
    secret = world.tcp_origin("secret.test", opened=False)
    world.agent("alpha")
    proxy = world.start(egress={"mode": "observe"})
    assert_denied(proxy, proxy.connect("secret.test", world.port), "address-forbidden")
    assert_refusal(proxy.connect(secret.address, world.port), "address-forbidden")
    assert_untouched(secret)


def test_observe_still_needs_dns(world):
    world.agent("alpha")
    proxy = world.start(egress={"mode": "observe"})
    assert_refusal(proxy.connect("nowhere.test", world.port), "dns-failure")


# offline.

@pytest.mark.parametrize("everywhere, here", [
    ("offline", None), ("offline", "enforce"), ("offline", "observe"), ("enforce", "offline"),
    ("observe", "offline")])
def test_offline_anywhere_wins(world, everywhere, here):
    origin, plain = world.tls_origin("o.test"), world.http_origin("h.test")
    world.agent("alpha", allow=["*"], **({"mode": here} if here else {}))
    proxy = world.start(egress={"mode": everywhere})
    assert_denied(proxy, proxy.connect("o.test", world.port), "offline", method="CONNECT")
    answer = proxy.get(f"http://h.test:{world.http_port}/")
    assert_denied(proxy, answer, "offline", method="GET")
    assert_untouched(origin, plain)
    assert world.dns.seen == []


def test_offline_agent_leaves_the_others_online(world):
    origin = world.tls_origin("o.test")
    world.agent("alpha", allow=["o.test"], mode="offline")
    world.agent("beta", allow=["o.test"])
    proxy = world.start()
    assert_refusal(proxy.connect("o.test", world.port), "offline")
    assert proxy.curl(f"https://o.test:{world.port}/", agent="beta").out == b"ok"
    until(lambda: len(origin.connections) == 1)
