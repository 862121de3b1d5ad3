"""Signals: draining, ending at once, reloading."""

import signal
import threading
import time

import pytest
from harness.checks import assert_refusal
from harness.dns import addresses_script
from harness.metrics import http_get
from harness.origin import echo
from harness.wait import SOON, until


@pytest.fixture
def running(world):
    world.tcp_origin("o.test", handler=echo)
    world.agent("alpha", allow=["o.test"])
    proxy = world.start(limits={"drain_timeout_ms": 30000})
    client = proxy.open_tunnel("o.test", world.port)
    client.recv_exactly(len(client.hello))
    return proxy, client


def draining(proxy):
    try:
        return http_get(proxy.metrics_address, "/readyz")[0] == 503
    except OSError:
        return True


def test_sigterm_without_connections_ends_at_once(world):
    world.agent("alpha")
    proxy = world.start(limits={"drain_timeout_ms": 30000})
    proxy.signal(signal.SIGTERM)
    assert proxy.wait_exit(5) == 0
    assert proxy.audit.entries()[0]["event"] == "start"
    assert proxy.audit.entries()[-1]["event"] == "stop"


def test_sigint_ends_too(world):
    proxy = world.start()
    proxy.signal(signal.SIGINT)
    assert proxy.wait_exit(5) == 0


def test_sigterm_lets_an_open_tunnel_finish(running):
    proxy, client = running
    proxy.signal(signal.SIGTERM)
    until(lambda: draining(proxy))
    for number in range(20):
        client.send(b"still here %d" % number)
        assert client.recv_exactly(len(b"still here %d" % number)) == b"still here %d" % number
    assert proxy.process.poll() is None
    client.half_close()
    client.recv_to_end()
    client.close()
    assert proxy.wait_exit(5) == 0
    line = proxy.audit.only(event="close")
    assert "reason" not in line


def test_sigterm_refuses_what_is_new(world, running):
    proxy, client = running
    waiting = proxy.client()
    until(lambda: proxy.metrics().total("stile_connections_open") == 2)
    proxy.signal(signal.SIGTERM)
    until(lambda: draining(proxy))
    waiting.try_send(f"CONNECT o.test:{world.port} HTTP/1.1\r\n\r\n".encode())
    answer = waiting.read_response("CONNECT")
    if answer is not None:
        assert_refusal(answer, "draining")
    try:
        answer = proxy.connect("o.test", world.port)
    except ConnectionError:
        answer = None
    if answer is not None:
        assert_refusal(answer, "draining")
    assert len(proxy.audit.entries(event="open")) == 1
    client.close()
    assert proxy.wait_exit(5) == 0


def test_second_sigterm_ends_at_once(running):
    proxy, client = running
    proxy.signal(signal.SIGTERM)
    until(lambda: draining(proxy))
    started = time.monotonic()
    proxy.signal(signal.SIGTERM)
    assert proxy.wait_exit(5) == 0
    assert time.monotonic() - started < SOON
    client.recv_to_end(5)
    assert len(proxy.audit.entries(event="close")) == 1


def test_sigterm_after_drain_still_waits_and_the_second_one_ends(running):
    proxy, client = running
    with proxy.control() as control:
        assert control.do("status")["draining"] is False
        control.do("drain")
        status = control.do("status")
        assert status["draining"] is True and 0 < status["drain_seconds_left"] <= 30
        proxy.signal(signal.SIGTERM)
        control.do("drain")  # once more changes nothing
        # Served after the signal was: the tunnel has lived through it.
        assert control.do("status")["draining"] is True
    client.send(b"still here")
    assert client.recv_exactly(10) == b"still here"
    proxy.signal(signal.SIGTERM)
    assert proxy.wait_exit(15) == 0


def test_draining_has_a_time_limit(world):
    world.tcp_origin("o.test", handler=echo)
    world.agent("alpha", allow=["o.test"])
    proxy = world.start(limits={"drain_timeout_ms": 500})
    client = proxy.open_tunnel("o.test", world.port)
    client.recv_exactly(len(client.hello))
    started = time.monotonic()
    proxy.signal(signal.SIGTERM)
    assert proxy.wait_exit(5) == 0
    assert 0.4 < time.monotonic() - started < SOON
    line = proxy.audit.only(event="close")
    assert line["verdict"] == "deny" and line["reason"] == "draining"


def test_idle_kept_connection_does_not_hold_up_the_end(world):
    world.http_origin("h.test")
    world.agent("alpha", allow=["h.test"])
    proxy = world.start(limits={"drain_timeout_ms": 30000})
    client = proxy.client()
    assert client.get(f"http://h.test:{world.http_port}/").status == 200
    proxy.signal(signal.SIGTERM)
    assert proxy.wait_exit(5) == 0


def test_requests_that_wait_for_their_turn_are_not_waited_for(world):
    world.tcp_origin("o.test")
    world.agent("alpha", allow=["o.test"], requests_per_second=1)
    proxy = world.start(limits={"drain_timeout_ms": 300000})
    clients = [proxy.client(seconds=60) for _ in range(150)]
    for client in clients:
        client.send(f"CONNECT o.test:{world.port} HTTP/1.1\r\n\r\n".encode())
    until(lambda: proxy.metrics().total("stile_connections_open") == len(clients), 60)
    proxy.signal(signal.SIGTERM)
    # At one a second the last of them would have to wait for minutes.
    answers = [client.read_response("CONNECT") for client in clients]
    refused = [answer for answer in answers if answer and answer.status != 200]
    assert refused and {answer.reason for answer in refused} == {"draining"}
    for client in clients:
        client.close()
    assert proxy.wait_exit(60) == 0


# SIGHUP.

def reloads(proxy):
    return proxy.metrics().total("stile_policy_reloads_total", result="ok")


def generation(proxy):
    return proxy.metrics().total("stile_policy_generation")


def test_sighup_takes_a_changed_policy(world):
    origin = world.tcp_origin("o.test")
    agent = world.agent("alpha", allow=[])
    proxy = world.start()
    assert_refusal(proxy.connect("o.test", world.port), "host-not-allowed")
    before = generation(proxy)
    agent["allow"] = ["o.test"]
    proxy.reload()
    until(lambda: generation(proxy) > before)
    client = proxy.open_tunnel("o.test", world.port)
    origin.wait_connection().wait_received(client.hello)
    assert proxy.metrics().total("stile_policy_reloads_total", result="ok") == 1
    assert proxy.audit.only(event="open")["policy"] == generation(proxy)
    assert proxy.audit.entries(event="policy")


def test_sighup_takes_changed_list_files(world):
    world.dns.host("o.test", world.dead_address())
    listed = world.write("allowed.txt", "nothing.test\n")
    world.agent("alpha", allow_files=[str(listed)])
    proxy = world.start()
    assert_refusal(proxy.connect("o.test", world.port), "host-not-allowed")
    listed.write_text("o.test\n")
    proxy.signal(signal.SIGHUP)
    until(lambda: proxy.connect("o.test", world.port).reason == "origin-unreachable")


def test_sighup_takes_new_and_removed_agents(world):
    world.dns.host("o.test", world.dead_address())
    world.agent("alpha", allow=["o.test"])
    proxy = world.start()
    world.agents.clear()
    world.agent("beta", allow=["o.test"])
    proxy.reload()
    until(lambda: proxy.connect("o.test", world.port, agent="beta").reason == "origin-unreachable")
    assert_refusal(proxy.connect("o.test", world.port, agent=proxy.addresses["alpha"]),
                   "unknown-agent")


@pytest.mark.parametrize("broken", ["[egress\n", "[egress]\nno_such_key = 1\n",
                                    "[[agent]]\nid = \"UPPER\"\nsource = [\"127.0.0.1\"]\n",
                                    "[[agent]]\nid = \"a\"\nallow = [\"bad pattern!\"]\n"])
def test_bad_config_changes_nothing(world, broken):
    world.tcp_origin("o.test", handler=echo)
    world.agent("alpha", allow=["o.test"])
    proxy = world.start()
    client = proxy.open_tunnel("o.test", world.port)
    client.recv_exactly(len(client.hello))
    before = generation(proxy)
    proxy.config.write_text(broken)
    proxy.signal(signal.SIGHUP)
    until(lambda: proxy.metrics().total("stile_policy_reloads_total", result="error") == 1)
    assert generation(proxy) == before
    client.send(b"alive")
    assert client.recv_exactly(5) == b"alive"
    assert proxy.connect("o.test", world.port).status == 200
    assert_refusal(proxy.connect("x.test", world.port), "host-not-allowed")
    assert "stile.toml" in proxy.log_text()


def test_change_that_needs_a_restart_is_refused_as_a_whole(world):
    agent = world.agent("alpha", allow=[])
    proxy = world.start()
    proxy.settings["server"]["workers"] = 3
    agent["allow"] = ["o.test"]
    proxy.reload()
    until(lambda: proxy.metrics().total("stile_policy_reloads_total", result="error") == 1)
    assert_refusal(proxy.connect("o.test", world.port), "host-not-allowed")
    assert "workers" in proxy.log_text()


def test_request_that_waits_for_dns_is_stripped_by_the_new_list(world):
    origin = world.http_origin("h.test")
    gate = threading.Event()
    answer = addresses_script([origin.address])

    def held(question, transport, number):
        gate.wait(60)
        return answer(question, transport, number)
    world.dns.script("h.test", held)
    agent = world.agent("alpha", allow=["h.test"], strip_request_headers=[])
    proxy = world.start(dns={"timeout_ms": 60000})
    before = generation(proxy)
    client = proxy.client(seconds=60)
    try:
        client.send(f"GET http://h.test:{world.http_port}/ HTTP/1.1\r\n"
                    f"Host: h.test:{world.http_port}\r\nX-Mine: secret\r\n\r\n".encode())
        world.dns.wait_question("h.test", seconds=30)
        agent["strip_request_headers"] = ["X-Mine"]
        proxy.reload()
        until(lambda: generation(proxy) > before, 30)
    finally:
        gate.set()
    assert client.read_response().status == 200
    assert origin.requests[0].values("X-Mine") == []
    assert proxy.audit.only(event="open")["stripped"] == ["x-mine"]


def test_reload_disturbs_no_open_tunnel(world):
    world.tcp_origin("o.test", handler=echo)
    world.agent("alpha", allow=["o.test"])
    proxy = world.start()
    client = proxy.open_tunnel("o.test", world.port)
    client.recv_exactly(len(client.hello))
    for number in range(10):
        before = generation(proxy)
        proxy.signal(signal.SIGHUP)
        client.send(b"x" * 1000)
        assert client.recv_exactly(1000) == b"x" * 1000
        until(lambda: reloads(proxy) == number + 1)
        assert generation(proxy) >= before


def test_host_that_a_reload_removes_closes_its_tunnel(world):
    world.tcp_origin("o.test", handler=echo)
    world.tcp_origin("p.test", handler=echo)
    agent = world.agent("alpha", allow=["o.test", "p.test"])
    proxy = world.start()
    tunnels = {}
    for name in ("o.test", "p.test"):
        tunnels[name] = proxy.open_tunnel(name, world.port)
        tunnels[name].recv_exactly(len(tunnels[name].hello))
    agent["allow"] = ["p.test"]
    proxy.reload()
    assert tunnels["o.test"].recv_to_end(5) == b""
    line = proxy.audit.wait_one(event="close", host="o.test")
    assert (line["verdict"], line["reason"]) == ("deny", "revoked")
    tunnels["p.test"].send(b"alive")
    assert tunnels["p.test"].recv_exactly(5) == b"alive"


@pytest.mark.parametrize("number", [signal.SIGPIPE, signal.SIGXFSZ, signal.SIGWINCH])
def test_other_signals_do_not_end_it(world, number):
    world.agent("alpha")
    proxy = world.start()
    proxy.signal(number)
    assert_refusal(proxy.connect("x.test", world.port), "host-not-allowed")
    assert proxy.process.poll() is None
