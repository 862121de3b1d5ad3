"""Look-ups: what is asked, what is believed, what is remembered and for how long."""

import os
import threading
import time

import pytest
from harness import dns as scripts
from harness import dns_wire as wire
from harness.checks import assert_denied, assert_refusal, assert_untouched
from harness.dns import DnsServer
from harness.wait import SOON, until

pytestmark = pytest.mark.hostile_bytes


def passes(proxy, origin, name, world):
    """A tunnel to that name reaches this origin."""
    number = len(origin.connections)
    client = proxy.open_tunnel(name, world.port)
    origin.wait_connection(number).wait_received(client.hello)
    client.close()


# Failures.

@pytest.mark.parametrize("script", [
    scripts.no_such_name(), scripts.fails(wire.SERVFAIL), scripts.fails(wire.REFUSED),
    scripts.fails(wire.FORMERR), scripts.addresses_script([])],
    ids=["nxdomain", "servfail", "refused", "formerr", "no data"])
def test_failed_lookup_is_a_dns_failure(world, script):
    world.dns.script("x.test", script)
    world.agent("alpha", allow=["x.test"])
    proxy = world.start()
    started = time.monotonic()
    answer = proxy.connect("x.test", world.port)
    assert_denied(proxy, answer, "dns-failure", host="x.test")
    assert "error=dns_error" in answer.value("Proxy-Status")
    assert time.monotonic() - started < SOON


def test_silent_server_is_a_dns_failure_after_the_time_limit(world):
    world.dns.script("x.test", scripts.silent())
    world.agent("alpha", allow=["x.test"])
    proxy = world.start(dns={"timeout_ms": 500})
    started = time.monotonic()
    assert_denied(proxy, proxy.connect("x.test", world.port), "dns-failure")
    assert 0.4 < time.monotonic() - started < SOON, "the limit is for the whole look-up"


def test_server_that_is_not_there_is_a_dns_failure(world):
    world.agent("alpha", allow=["x.test"])
    proxy = world.start(dns={"servers": [f"{world.site.address(9)}:9"], "timeout_ms": 800})
    started = time.monotonic()
    assert_refusal(proxy.connect("x.test", world.port), "dns-failure")
    assert time.monotonic() - started < SOON


def test_slow_half_of_the_answer_does_not_hold_up_the_other_for_ever(world):
    """AAAA is never answered; A is: the tunnel opens within the look-up's time limit."""
    origin = world.tcp_origin()
    addresses = scripts.addresses_script([origin.address])
    world.dns.script("x.test", lambda question, transport, number: (
        [] if question.rtype == wire.AAAA else addresses(question, transport, number)))
    world.agent("alpha", allow=["x.test"])
    proxy = world.start(dns={"timeout_ms": 1500})
    passes(proxy, origin, "x.test", world)


def test_garbage_is_not_an_answer(world):
    world.dns.script("x.test", lambda question, *_: [b"", b"\xff" * 5, question.raw[:2] + b"\x80",
                                                     os.urandom(512), question.raw])
    world.agent("alpha", allow=["x.test", "o.test"])
    origin = world.tcp_origin("o.test")
    proxy = world.start(dns={"timeout_ms": 500})
    assert_refusal(proxy.connect("x.test", world.port), "dns-failure")
    passes(proxy, origin, "o.test", world)


def test_second_server_is_asked_when_the_first_is_dead(world):
    origin = world.tcp_origin("o.test")
    world.agent("alpha", allow=["o.test"])
    proxy = world.start(dns={"servers": [f"{world.site.address(9)}:9",
                                         f"{world.dns.address}:{world.dns.port}"]})
    passes(proxy, origin, "o.test", world)


def test_second_server_is_asked_when_the_first_is_silent(world):
    origin = world.tcp_origin("o.test")
    mute = DnsServer(world.site.address(9), world.site.dns_port)
    mute.script("o.test", scripts.silent())
    world.agent("alpha", allow=["o.test"])
    proxy = world.start(dns={"servers": [f"{mute.address}:{mute.port}",
                                         f"{world.dns.address}:{world.dns.port}"],
                             "timeout_ms": 4000})
    passes(proxy, origin, "o.test", world)
    assert mute.questions("o.test")
    mute.close()


# What is asked.

def test_exactly_the_canonical_name_is_asked(world):
    """No search domain, no second form of the name, no other type than A and AAAA."""
    world.agent("alpha", allow=["short.test", "o.test"])
    proxy = world.start()
    assert_refusal(proxy.connect("Short.TEST.", world.port), "dns-failure")
    assert world.dns.names_asked() == {"short.test"}
    assert {q.rtype for q in world.dns.seen} == {wire.A, wire.AAAA}


def test_questions_are_hard_to_guess(world):
    """Random ids and letter case, and EDNS."""
    names = [f"quite-a-long-name-{number}.test" for number in range(12)]
    world.agent("alpha", allow=[".test"])
    proxy = world.start()
    for name in names:
        assert_refusal(proxy.connect(name, world.port), "dns-failure")
    seen = [q for q in world.dns.seen if q.transport == "udp"]
    assert len({q.id for q in seen}) > len(seen) // 2
    steps = {abs(b.id - a.id) for a, b in zip(seen, seen[1:])}
    assert len(steps) > len(seen) // 2, "ids do not count up"
    assert len([q for q in seen if q.name not in (q.name.lower(), q.name.upper())]) > len(seen) // 2
    assert all(q.has_edns for q in seen)


def test_refused_host_is_never_looked_up(world):
    """DNS is a way out too: a refused name must not carry data to somebody's name server."""
    world.agent("alpha", allow=["o.test"])
    proxy = world.start()
    for number in range(20):
        assert_refusal(proxy.connect(f"secret-{number}.evil.test", world.port), "host-not-allowed")
        assert_refusal(proxy.get(f"http://secret-{number}.evil.test:{world.http_port}/"),
                       "host-not-allowed")
    assert world.dns.seen == []


# What is believed.

def test_alias_is_followed_within_the_answer(world):
    origin = world.tcp_origin()
    world.dns.alias("x.test", "elsewhere.other", origin.address)
    world.agent("alpha", allow=["x.test"])
    proxy = world.start()
    passes(proxy, origin, "x.test", world)


@pytest.mark.parametrize("length, reason", [(1, None), (16, None), (17, "dns-failure"),
                                            (40, "dns-failure")])
def test_alias_chain_has_at_most_16_links(world, length, reason):
    origin = world.tcp_origin()
    targets = [f"c{number}.test" for number in range(length)]
    world.dns.script("x.test", scripts.chain_script(targets, [origin.address]))
    world.agent("alpha", allow=["x.test"])
    proxy = world.start()
    if reason:
        assert_refusal(proxy.connect("x.test", world.port), reason)
        assert_untouched(origin)
    else:
        passes(proxy, origin, "x.test", world)


def test_alias_that_leads_in_a_circle_is_a_dns_failure(world):
    world.dns.script("x.test", lambda question, *_: [wire.Reply([
        wire.cname_record(question.name, "y.test"), wire.cname_record("y.test", "x.test"),
    ]).encode(question)])
    world.agent("alpha", allow=["x.test"])
    proxy = world.start(dns={"timeout_ms": 1000})
    assert_refusal(proxy.connect("x.test", world.port), "dns-failure")


def test_answer_that_is_too_large_for_udp_comes_over_tcp(world):
    origin = world.tcp_origin()
    real = scripts.addresses_script([origin.address] + [f"10.0.0.{n}" for n in range(1, 200)])
    world.dns.script("x.test", scripts.truncated_over_udp(real))
    world.agent("alpha", allow=["x.test"])
    proxy = world.start()
    passes(proxy, origin, "x.test", world)
    assert "tcp" in {q.transport for q in world.dns.questions("x.test")}


# What is remembered.

def test_answer_is_remembered_for_its_ttl(world):
    origin = world.tcp_origin("x.test", ttl=60)
    world.agent("alpha", allow=["x.test"])
    proxy = world.start()
    for _ in range(5):
        passes(proxy, origin, "x.test", world)
    assert len(world.dns.questions("x.test", wire.A)) == 1
    metrics = proxy.metrics()
    assert metrics.total("stile_dns_cache_total") >= 5


@pytest.mark.parametrize("ttl, most", [(1, 300), (600, 1)])
def test_answer_is_forgotten_after_its_ttl_or_the_configured_most(world, ttl, most):
    origin = world.tcp_origin("x.test", ttl=ttl)
    world.agent("alpha", allow=["x.test"])
    proxy = world.start(dns={"max_ttl_seconds": most})
    passes(proxy, origin, "x.test", world)
    first = world.dns.questions("x.test", wire.A)[0].time

    def asked_again():
        passes(proxy, origin, "x.test", world)
        return len(world.dns.questions("x.test", wire.A)) > 1
    until(asked_again)
    assert 0.8 < world.dns.questions("x.test", wire.A)[1].time - first < SOON


def test_failure_is_remembered_for_its_ttl(world):
    world.dns.script("x.test", scripts.no_such_name(ttl=60))
    world.dns.script("y.test", scripts.no_such_name(ttl=1))
    world.agent("alpha", allow=["x.test", "y.test"])
    proxy = world.start()
    for _ in range(5):
        assert_refusal(proxy.connect("x.test", world.port), "dns-failure")
    assert len(world.dns.questions("x.test", wire.A)) == 1
    origin = world.tcp_origin()
    assert_refusal(proxy.connect("y.test", world.port), "dns-failure")
    world.dns.host("y.test", origin.address)
    # Not opened for this proxy, so that the address check tells that the new answer was seen.
    until(lambda: proxy.connect("y.test", world.port).reason == "address-forbidden")


def test_same_name_is_asked_once_while_it_is_in_flight(world):
    origin = world.tcp_origin()
    world.dns.script("x.test", scripts.delayed(0.4, scripts.addresses_script([origin.address])))
    world.agent("alpha", allow=["x.test"])
    proxy = world.start()
    answers = []

    def ask():
        answers.append(proxy.connect("x.test", world.port).status)
    threads = [threading.Thread(target=ask) for _ in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers == [200] * 20
    assert len(world.dns.questions("x.test", wire.A)) == 1


# Fairness.

def test_names_that_never_resolve_do_not_starve_another_agent(world):
    origin = world.tcp_origin("o.test", ttl=0)
    for number in range(40):
        world.dns.script(f"n{number}.test", scripts.silent())
    world.agent("alpha", allow=[".test"])
    world.agent("beta", allow=["o.test"])
    proxy = world.start(dns={"in_flight_per_agent": 4, "timeout_ms": 20000})
    flood = [proxy.client("alpha") for _ in range(40)]
    for number, client in enumerate(flood):
        client.send(f"CONNECT n{number}.test:{world.port} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
    until(lambda: len(world.dns.names_asked()) >= 4)
    started = time.monotonic()
    for number in range(5):
        client = proxy.open_tunnel("o.test", world.port, agent="beta")
        origin.wait_connection(number).wait_received(client.hello)
    assert time.monotonic() - started < SOON, "the other agent's look-ups do not queue behind these"
    early = {q.key for q in world.dns.seen if q.time < started} - {"o.test"}
    assert len(early) <= 4


# Other sources of names.

def test_hosts_file_answers_before_dns(world):
    origin = world.tcp_origin()
    world.agent("alpha", allow=["local.test"])
    hosts = world.write("hosts2", f"# mine\n{origin.address}\tother.test  local.test\n")
    proxy = world.start(dns={"hosts_file": str(hosts)})
    passes(proxy, origin, "local.test", world)
    assert world.dns.seen == []


def test_hosts_file_opens_no_forbidden_address(world):
    secret = world.tcp_origin(opened=False)
    world.agent("alpha", allow=["local.test", "localhost"])
    hosts = world.write("hosts2", f"{secret.address} local.test\n127.0.0.1 localhost\n")
    proxy = world.start(dns={"hosts_file": str(hosts)})
    assert_refusal(proxy.connect("local.test", world.port), "address-forbidden")
    assert_refusal(proxy.connect("localhost", world.port), "address-forbidden")
    assert_untouched(secret)


@pytest.mark.skipif(os.geteuid() != 0, reason="needs a mount namespace and port 53")
def test_servers_come_from_resolv_conf_without_search_domains(world):
    origin = world.tcp_origin()
    server = DnsServer(world.site.address(8), 53)
    server.host("o.test", origin.address)
    world.agent("alpha", allow=["o.test", "x.test"])
    resolv = world.write("resolv.conf", f"search evil.test\noptions ndots:5\n"
                                        f"nameserver {server.address}\n")
    proxy = world.proxy()
    del proxy.settings["dns"]["servers"]
    proxy.start(wrapper=["unshare", "-m", "sh", "-c",
                         f"mount --bind {resolv} /etc/resolv.conf && exec \"$@\"", "sh"])
    passes(proxy, origin, "o.test", world)
    assert_refusal(proxy.connect("x.test", world.port), "dns-failure")
    assert server.names_asked() == {"o.test", "x.test"}
    server.close()
