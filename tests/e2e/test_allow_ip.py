"""allow_ip: the addresses that an agent may name, and only those, without any server name."""

import pytest
from harness import hello
from harness.checks import assert_denied, assert_refusal, assert_untouched


def test_named_address_is_dialled_without_dns(world):
    origin = world.tcp_origin(opened=False)
    world.agent("alpha", allow_ip=[origin.address])
    proxy = world.start()
    client = proxy.tunnel(origin.address, world.port)
    greeting = hello.hello_for(None)
    client.send(greeting)
    origin.wait_connection().wait_received(greeting)
    line = proxy.audit.only(event="open")
    assert line["host"] == origin.address
    assert line["origin"].startswith(origin.address)
    assert world.dns.seen == []


def test_real_tls_to_a_named_address(world):
    origin = world.tls_origin(opened=False)
    world.agent("alpha", allow_ip=[origin.address])
    proxy = world.start()
    run = proxy.curl("-k", f"https://{origin.address}:{world.port}/ip")
    assert run.out == b"ok", run.err
    assert origin.names() == [None]


@pytest.mark.parametrize("name", ["o.test", "{address}", ""])
def test_hello_to_a_named_address_must_carry_no_name(world, name):
    origin = world.tcp_origin(opened=False)
    world.agent("alpha", allow_ip=[origin.address])
    proxy = world.start()
    client = proxy.tunnel(origin.address, world.port)
    client.send(hello.hello_for(name.format(address=origin.address)))
    assert client.recv_to_end() == hello.ACCESS_DENIED
    assert proxy.audit.only(event="deny")["reason"] in {"sni-mismatch", "not-tls"}
    assert origin.received == b""


def test_port_of_a_named_address_is_still_checked(world):
    origin = world.tcp_origin(opened=False, port=world.port + 1)
    world.agent("alpha", allow_ip=[origin.address])
    proxy = world.start()
    assert_refusal(proxy.connect(origin.address, world.port + 1), "port-not-allowed")
    assert_untouched(origin)


def test_other_addresses_stay_refused(world):
    origin, other = world.tcp_origin(opened=False), world.tcp_origin()
    world.agent("alpha", allow_ip=[origin.address], allow=["*"])
    world.agent("beta", allow=["*"])
    proxy = world.start()
    assert_denied(proxy, proxy.connect(other.address, world.port), "ip-literal", agent="alpha")
    answer = proxy.connect(origin.address, world.port, agent="beta")
    assert_denied(proxy, answer, "ip-literal", agent="beta")
    assert_untouched(origin, other)


def test_name_that_resolves_to_a_named_address_is_still_checked(world):
    """allow_ip opens the literal; a name's answer has to pass the address check as ever."""
    origin = world.tcp_origin("sneaky.test", opened=False)
    world.agent("alpha", allow_ip=[origin.address], allow=["sneaky.test"])
    proxy = world.start()
    assert_refusal(proxy.connect("sneaky.test", world.port), "address-forbidden")
    assert_untouched(origin)


def test_plain_http_to_a_named_address(world):
    origin = world.http_origin(opened=False)
    world.agent("alpha", allow_ip=[origin.address])
    proxy = world.start()
    assert proxy.get(f"http://{origin.address}:{world.http_port}/lit").status == 200
    assert origin.requests[0].value("host") == f"{origin.address}:{world.http_port}"


def test_named_ipv6_address(world):
    origin = world.tcp_origin(address="::1", opened=False)
    world.agent("alpha", allow_ip=["::1"])
    proxy = world.start()
    client = proxy.tunnel("[::1]", world.port)
    greeting = hello.hello_for(None)
    client.send(greeting)
    origin.wait_connection().wait_received(greeting)


def test_deny_rule_for_another_name_does_not_matter_but_offline_does(world):
    origin = world.tcp_origin(opened=False)
    world.agent("alpha", allow_ip=[origin.address], mode="offline")
    proxy = world.start()
    assert_refusal(proxy.connect(origin.address, world.port), "offline")
    assert_untouched(origin)
