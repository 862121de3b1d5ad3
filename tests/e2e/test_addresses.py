"""Only checked addresses are dialled: forbidden ones never, and no second look-up slips in."""

import pytest
from harness import dns as scripts
from harness import dns_wire as wire
from harness.checks import assert_denied, assert_refusal, assert_untouched
from harness.wait import until

FORBIDDEN = [
    "0.0.0.0", "0.1.2.3", "10.0.0.1", "10.255.255.255", "100.64.0.1", "100.127.255.255",
    "127.0.0.1", "127.255.255.254", "169.254.0.1", "169.254.169.254", "172.16.0.1",
    "172.31.255.255", "192.0.0.1", "192.0.0.8", "192.0.0.9", "192.0.0.10", "192.0.0.170",
    "192.0.2.1", "192.31.196.1",
    "192.52.193.1", "192.88.99.1", "192.168.0.1", "192.175.48.1", "198.18.0.1", "198.19.255.255",
    "198.51.100.1", "203.0.113.1", "224.0.0.1", "239.255.255.255", "240.0.0.1", "255.255.255.255",
    "168.63.129.16",
    "::", "::1", "::7f00:1", "::ffff:8.8.8.8", "::ffff:127.0.0.1", "64:ff9b::808:808",
    "64:ff9b:1::1", "100::1", "2001::1", "2001:0:4136:e378:8000:63bf:3fff:fdd2", "2001:1::1",
    "2001:2::1", "2001:3::1", "2001:4:112::1", "2001:10::1", "2001:20::1", "2001:30::1",
    "2001:db8::1", "2002:808:808::1", "2620:4f:8000::1", "3fff::1", "4000::1", "5f00::1", "fc00::1",
    "fd00::1", "fe80::1", "fec0::1", "ff02::1", "ffff::1",
]


@pytest.fixture(scope="module")
def proxy(shared_world):
    world = shared_world
    for number, address in enumerate(FORBIDDEN):
        world.dns.host(f"f{number}.test", address)
    world.agent("alpha", allow=[".test"])
    return world.start(limits={"connect_timeout_ms": 1000})


@pytest.mark.parametrize("number", range(len(FORBIDDEN)), ids=FORBIDDEN)
def test_name_that_resolves_to_a_forbidden_address_is_refused(shared_world, proxy, number):
    name = f"f{number}.test"
    answer = proxy.connect(name, shared_world.port)
    assert_denied(proxy, answer, "address-forbidden", host=name)
    assert "error=destination_ip_prohibited" in answer.value("Proxy-Status")


def test_private_address_is_not_dialled(world):
    secret, plain = world.tcp_origin("s.test", opened=False), world.http_origin(opened=False)
    world.dns.host("h.test", plain.address)
    world.agent("alpha", allow=["s.test", "h.test"])
    proxy = world.start()
    assert_denied(proxy, proxy.connect("s.test", world.port), "address-forbidden", host="s.test")
    answer = proxy.get(f"http://h.test:{world.http_port}/")
    assert_denied(proxy, answer, "address-forbidden", host="h.test")
    assert_untouched(secret, plain)


def test_alias_to_a_private_address_is_refused(world):
    secret = world.tcp_origin(opened=False)
    world.dns.alias("x.test", "inside.test", secret.address)
    world.agent("alpha", allow=["x.test"])
    proxy = world.start()
    assert_refusal(proxy.connect("x.test", world.port), "address-forbidden")
    assert_untouched(secret)


@pytest.mark.parametrize("order", [[0, 1], [1, 0]], ids=["forbidden first", "forbidden last"])
def test_mixed_answer_is_dialled_only_where_it_may(world, order):
    secret, origin = world.tcp_origin(opened=False), world.tcp_origin()
    both = [secret.address, origin.address]
    world.dns.host("x.test", *[both[i] for i in order], "10.0.0.1", "::1", ttl=0)
    world.agent("alpha", allow=["x.test"])
    proxy = world.start()
    for number in range(5):
        client = proxy.open_tunnel("x.test", world.port)
        origin.wait_connection(number).wait_received(client.hello)
    assert_untouched(secret)
    assert {line["origin"].rsplit(":", 1)[0] for line in proxy.audit.entries(event="open")} == {
        origin.address}


def test_mixed_answer_whose_allowed_address_is_dead_does_not_fall_back(world):
    """The forbidden address must not become the second choice."""
    secret, dead = world.tcp_origin(opened=False), world.dead_address()
    world.dns.host("x.test", secret.address, dead)
    world.agent("alpha", allow=["x.test"])
    proxy = world.start()
    assert_refusal(proxy.connect("x.test", world.port), "origin-unreachable")
    assert_untouched(secret)


def test_rebinding_to_a_forbidden_address_is_refused(world):
    origin, secret = world.tcp_origin(), world.tcp_origin(opened=False)
    world.dns.script("x.test", scripts.in_turn(
        scripts.addresses_script([origin.address], ttl=0),
        scripts.addresses_script([secret.address], ttl=0)))
    world.agent("alpha", allow=["x.test"])
    proxy = world.start()
    client = proxy.open_tunnel("x.test", world.port)
    origin.wait_connection().wait_received(client.hello)
    assert len(world.dns.questions("x.test", wire.A)) == 1
    until(lambda: proxy.connect("x.test", world.port).reason == "address-forbidden")
    assert_untouched(secret)


def test_one_request_looks_up_once_and_dials_that_answer(world):
    """Between check and dial there is no second question whose answer could differ."""
    origin, second = world.tcp_origin(), world.tcp_origin()
    world.dns.script("x.test", scripts.in_turn(
        scripts.addresses_script([origin.address], ttl=0),
        scripts.addresses_script([second.address], ttl=0)))
    world.agent("alpha", allow=["x.test"])
    proxy = world.start()
    client = proxy.open_tunnel("x.test", world.port)
    origin.wait_connection().wait_received(client.hello)
    assert len(world.dns.questions("x.test", wire.A)) == 1
    assert len(world.dns.questions("x.test", wire.AAAA)) <= 1
    assert_untouched(second)


def test_listeners_of_the_daemon_are_forbidden(world):
    """The proxy is no way to its own metrics, nor to a loop through itself."""
    listener = world.site.address(1)
    world.dns.host("self.test", listener)
    ports = [world.site.proxy_port, world.site.metrics_port]
    world.agent("alpha", allow=["self.test"], ports=ports, http_ports=ports)
    proxy = world.start()
    for port in ports:
        assert_refusal(proxy.connect("self.test", port), "address-forbidden")
        assert_refusal(proxy.get(f"http://self.test:{port}/metrics"), "address-forbidden")


def test_exception_for_named_hosts_opens_no_other_host(world):
    origin = world.tcp_origin("in.test", opened=False)
    world.dns.host("out.test", origin.address)
    world.agent("alpha", allow=["in.test", "out.test"])
    exception = {"prefix": f"{origin.address}/32", "hosts": ["in.test"]}
    proxy = world.start(egress={"private_exceptions": [exception]})
    client = proxy.open_tunnel("in.test", world.port)
    origin.wait_connection().wait_received(client.hello)
    assert_refusal(proxy.connect("out.test", world.port), "address-forbidden")
    assert len(origin.connections) == 1


def test_exceptions_of_an_agent_replace_the_common_ones(world):
    origin, own = world.tcp_origin("a.test"), world.tcp_origin("b.test", opened=False)
    world.agent("alpha", allow=["*"], private_exceptions=[f"{own.address}/32"])
    proxy = world.start()
    client = proxy.open_tunnel("b.test", world.port)
    own.wait_connection().wait_received(client.hello)
    assert_refusal(proxy.connect("a.test", world.port), "address-forbidden")
    assert_untouched(origin)
