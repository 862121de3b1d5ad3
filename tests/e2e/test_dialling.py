"""Dialling: several addresses, dead ones, silent ones, and a client that does not wait."""

import time

from harness.checks import assert_denied, assert_refusal
from harness.wait import SOON, until


def test_dead_address_is_skipped(world):
    dead, origin = world.dead_address(), world.tcp_origin()
    world.dns.host("x.test", dead, origin.address)
    world.agent("alpha", allow=["x.test"])
    proxy = world.start()
    client = proxy.open_tunnel("x.test", world.port)
    origin.wait_connection().wait_received(client.hello)
    assert proxy.audit.only(event="open")["origin"].startswith(origin.address)


def test_silent_address_does_not_hold_up_the_next(world):
    """Happy Eyeballs: the next attempt starts after a moment, not after the time limit."""
    hole, origin = world.blackhole(), world.tcp_origin()
    world.dns.host("x.test", hole.address, origin.address)
    world.agent("alpha", allow=["x.test"])
    proxy = world.start()
    started = time.monotonic()
    client = proxy.open_tunnel("x.test", world.port)
    origin.wait_connection().wait_received(client.hello)
    assert time.monotonic() - started < SOON


def test_ipv6_that_is_dead_falls_back_to_ipv4(world):
    origin = world.tcp_origin()
    world.open_address("::1")
    world.dns.host("x.test", "::1", origin.address)
    world.agent("alpha", allow=["x.test"])
    proxy = world.start()
    client = proxy.open_tunnel("x.test", world.port)
    origin.wait_connection().wait_received(client.hello)


def test_ipv6_only_name(world):
    origin = world.tcp_origin("x.test", address="::1")
    world.agent("alpha", allow=["x.test"])
    proxy = world.start()
    client = proxy.open_tunnel("x.test", world.port)
    origin.wait_connection().wait_received(client.hello)
    assert proxy.audit.only(event="open")["origin"].startswith("[::1]")


def test_only_one_connection_is_used(world):
    """Attempts that lost the race carry no byte."""
    origins = [world.tcp_origin() for _ in range(3)]
    world.dns.host("x.test", *[origin.address for origin in origins])
    world.agent("alpha", allow=["x.test"])
    proxy = world.start()
    client = proxy.open_tunnel("x.test", world.port)
    until(lambda: any(client.hello in origin.received for origin in origins))
    assert sum(client.hello in origin.received for origin in origins) == 1


def test_origin_that_refuses_is_unreachable(world):
    world.dns.host("x.test", world.dead_address(), world.dead_address())
    world.agent("alpha", allow=["x.test"])
    proxy = world.start()
    answer = proxy.connect("x.test", world.port)
    assert_denied(proxy, answer, "origin-unreachable", host="x.test")
    assert "error=connection_refused" in answer.value("Proxy-Status")
    assert proxy.audit.entries(event="open") == []


def test_plain_http_origin_that_refuses_is_unreachable(world):
    world.dns.host("x.test", world.dead_address())
    world.agent("alpha", allow=["x.test"])
    proxy = world.start()
    assert_refusal(proxy.get(f"http://x.test:{world.http_port}/"), "origin-unreachable")


def test_origin_that_is_silent_is_a_timeout(world):
    world.dns.host("x.test", world.blackhole().address)
    world.agent("alpha", allow=["x.test"])
    proxy = world.start(limits={"connect_timeout_ms": 600})
    started = time.monotonic()
    answer = proxy.connect("x.test", world.port)
    assert_denied(proxy, answer, "origin-timeout", host="x.test")
    assert "error=connection_timeout" in answer.value("Proxy-Status")
    assert 0.5 < time.monotonic() - started < SOON
    assert proxy.audit.entries(event="open") == []


def test_client_that_leaves_while_dialling_frees_its_place(world):
    world.dns.host("x.test", world.blackhole().address)
    world.agent("alpha", allow=["x.test"])
    proxy = world.start(limits={"connect_timeout_ms": 60000, "connections_per_agent": 1})
    client = proxy.client()
    client.send(f"CONNECT x.test:{world.port} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
    world.dns.wait_question("x.test")
    client.reset()
    until(lambda: proxy.metrics().total("stile_connections_open") == 0)
    assert_refusal(proxy.connect("y.test", world.port), "host-not-allowed")
