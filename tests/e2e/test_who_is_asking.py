"""Identity: the source address or the listener says who asks, and nothing that is sent does."""

import datetime
import grp
import os
import socket
import stat
import subprocess
import sys

import pytest
from harness.checks import assert_denied, assert_refusal, assert_untouched
from harness.config import Bare
from harness.wait import until


def timestamp(seconds_from_now):
    moment = datetime.datetime.utcnow() + datetime.timedelta(seconds=seconds_from_now)
    return Bare(moment.strftime("%Y-%m-%dT%H:%M:%S.%fZ"))


def test_source_without_agent_is_refused(world):
    origin = world.tls_origin("o.test")
    world.agent("alpha", allow=["*"])
    proxy = world.start()
    answer = proxy.connect("o.test", world.port, agent="stranger")
    line = assert_denied(proxy, answer, "unknown-agent")
    assert line["src"].startswith(world.site.stranger + ":")
    assert line.get("agent", "-") == "-"
    assert_untouched(origin)
    assert world.dns.seen == []


def test_source_without_agent_is_refused_for_plain_http(world):
    origin = world.http_origin("h.test")
    world.agent("alpha", allow=["*"])
    proxy = world.start()
    answer = proxy.get(f"http://h.test:{world.http_port}/", agent="stranger")
    assert_denied(proxy, answer, "unknown-agent")
    assert_untouched(origin)


def test_without_any_agent_everybody_is_unknown(world):
    origin = world.tls_origin("o.test")
    proxy = world.start()
    assert_refusal(proxy.connect("o.test", world.port, agent="stranger"), "unknown-agent")
    assert_untouched(origin)


def test_agent_with_an_empty_allowlist_reaches_nothing(world):
    origin = world.tls_origin("o.test")
    world.agent("alpha", allow=[])
    proxy = world.start()
    assert_denied(proxy, proxy.connect("o.test", world.port), "host-not-allowed", agent="alpha")
    assert_untouched(origin)
    assert world.dns.seen == []


def test_longest_prefix_decides_whose_policy_holds(world):
    origin = world.tls_origin("o.test")
    world.agent("wide", source=[f"{world.site.network}.0/24"], allow=[])
    world.agent("narrow", source=[f"{world.site.address(120)}/30"], allow=["o.test"])
    world.agent("narrowest", source=[world.site.address(121)], allow=[])
    proxy = world.start()
    for last, agent, status in [(119, "wide", 403), (120, "narrow", 200), (121, "narrowest", 403),
                                (122, "narrow", 200), (124, "wide", 403)]:
        with proxy.client(world.site.address(last)) as client:
            assert client.connect_to("o.test", world.port).status == status, last
            if status == 200:
                client.start_tls("o.test", proxy.ca_file)
        assert proxy.audit.entries(event="open" if status == 200 else "deny", agent=agent)
    until(lambda: len(origin.connections) == 2)


def test_expired_agent_is_refused(world):
    origin = world.tls_origin("o.test")
    world.agent("alpha", allow=["o.test"], expires=timestamp(-3600))
    proxy = world.start()
    assert_denied(proxy, proxy.connect("o.test", world.port), "agent-expired", agent="alpha")
    assert_untouched(origin)


def test_agent_expires_while_the_daemon_runs(world):
    world.tls_origin("o.test")
    world.agent("alpha", allow=["o.test"], expires=timestamp(2))
    proxy = world.start()
    assert proxy.connect("o.test", world.port).status == 200
    until(lambda: proxy.connect("o.test", world.port).reason == "agent-expired")


def test_listener_of_an_agent_makes_every_source_that_agent(world):
    origin = world.tls_origin("o.test")
    listener = (world.site.address(3), world.site.proxy_port)
    world.agent("own", source=[], allow=["o.test"], listen=[f"{listener[0]}:{listener[1]}"])
    proxy = world.start()
    with proxy.client("stranger", to=listener) as client:
        assert client.connect_to("o.test", world.port).status == 200
        client.start_tls("o.test", proxy.ca_file)
    assert proxy.audit.wait_one(event="open")["agent"] == "own"
    assert origin.names() == ["o.test"]


def test_listener_of_an_agent_refuses_a_source_of_another_agent(world):
    origin = world.tls_origin("o.test")
    listener = (world.site.address(3), world.site.proxy_port)
    world.agent("own", source=[], allow=["o.test"], listen=[f"{listener[0]}:{listener[1]}"])
    world.agent("alpha", allow=["o.test"])
    proxy = world.start()
    with proxy.client("alpha", to=listener) as client:
        answer = client.connect_to("o.test", world.port)
    assert_denied(proxy, answer, "unknown-agent")
    assert_untouched(origin)


def test_unix_listener_belongs_to_its_agent(world):
    origin = world.tls_origin("o.test")
    path = world.short_path("alpha.sock")
    world.agent("boxed", source=[], allow=["o.test"], listen=[f"unix:{path}"])
    proxy = world.start()
    with proxy.client(to=path) as client:
        assert client.connect_to("o.test", world.port).status == 200
        client.start_tls("o.test", proxy.ca_file)
        client.send(b"GET /unix HTTP/1.1\r\nHost: o.test\r\n\r\n")
        assert client.read_response().body == b"ok"
    assert proxy.audit.only(event="open")["agent"] == "boxed"
    assert origin.paths() == ["/unix"]
    with proxy.client(to=path) as client:
        assert_refusal(client.connect_to("p.test", world.port), "host-not-allowed")


def unix_listener(world, **keys):
    path = world.short_path("alpha.sock")
    os.chmod(os.path.dirname(path), 0o755)
    world.agent("boxed", source=[], listen=[f"unix:{path}"], **keys)
    return path


@pytest.mark.parametrize("keys, mode", [({}, 0o660), ({"listen_mode": "0600"}, 0o600),
                                        ({"listen_mode": "666"}, 0o666)])
def test_unix_listener_has_the_mode_of_its_agent(world, keys, mode):
    path = unix_listener(world, **keys)
    world.start()
    assert stat.S_IMODE(os.stat(path).st_mode) == mode


@pytest.mark.skipif(os.geteuid() != 0, reason="being somebody else needs root")
def test_members_of_the_listeners_group_can_connect_and_others_cannot(world):
    path = unix_listener(world, listen_group="daemon")
    world.start()
    assert os.stat(path).st_gid == grp.getgrnam("daemon").gr_gid

    def connects(group):
        code = f"import socket; socket.socket(socket.AF_UNIX).connect({path!r})"
        return subprocess.run([sys.executable, "-c", code], user="nobody", group=group,
                              extra_groups=[], stderr=subprocess.DEVNULL).returncode == 0
    assert connects("daemon")
    assert not connects("nogroup")


def test_listener_of_a_group_that_is_not_there_stops_the_start(world):
    unix_listener(world, listen_group="no-such-group")
    proxy = world.proxy().start(wait=False)
    assert proxy.wait_exit() == 1
    proxy.expected_exit = {1}
    assert "there is no group no-such-group; create it (groupadd" in proxy.log_text()


@pytest.mark.skipif(os.geteuid() != 0, reason="root is whom a link would lead astray")
def test_socket_of_a_group_changes_nothing_that_a_link_leads_to(world):
    """Whoever owns the folder puts a link there: the start fails, and the link's end is as it was."""
    path = unix_listener(world, listen_group="daemon")
    victim = world.write("victim", "x")
    os.chmod(victim, 0o600)
    os.symlink(victim, path)
    proxy = world.proxy().start(wait=False)
    assert proxy.wait_exit() == 1
    proxy.expected_exit = {1}
    status = os.stat(victim)
    assert stat.S_IMODE(status.st_mode) == 0o600 and status.st_gid == 0


def test_nothing_in_a_request_changes_who_asks(world):
    origin = world.tls_origin("o.test")
    world.agent("alpha", allow=[])
    world.agent("beta", allow=["o.test"])
    proxy = world.start()
    beta = proxy.addresses["beta"]
    for header in [f"X-Forwarded-For: {beta}", f"Forwarded: for={beta}", f"X-Real-IP: {beta}",
                   "Proxy-Authorization: Basic YmV0YTpiZXRh", "X-Agent: beta", "Via: 1.1 beta",
                   f"Client-IP: {beta}", "X-Stile-Agent: beta"]:
        assert_refusal(proxy.connect("o.test", world.port, headers=[header]), "host-not-allowed")
    assert {line["agent"] for line in proxy.audit.entries(event="deny")} == {"alpha"}
    assert_untouched(origin)


def test_proxy_protocol_header_is_not_believed(world):
    origin = world.tls_origin("o.test")
    world.agent("alpha", allow=[])
    world.agent("beta", allow=["o.test"])
    proxy = world.start()
    with proxy.client("alpha") as client:
        client.send(f"PROXY TCP4 {proxy.addresses['beta']} 1.1.1.1 1 2\r\n".encode()
                    + f"CONNECT o.test:{world.port} HTTP/1.1\r\nHost: o.test\r\n\r\n".encode())
        assert_refusal(client.read_response("CONNECT"), "bad-request")
    assert_untouched(origin)


def test_ipv6_listener_and_source(world):
    origin = world.tls_origin("o.test")
    world.agent("six", source=["::1"], allow=["o.test"])
    world.addresses["six"] = "::1"
    port = world.site.proxy_port
    proxy = world.start(server={"listen": [f"[::1]:{port}"]})
    with proxy.client("six") as client:
        assert client.connect_to("o.test", world.port).status == 200
        client.start_tls("o.test", proxy.ca_file)
    assert proxy.audit.wait_one(event="open")["agent"] == "six"
    assert proxy.audit.only(event="open")["src"].startswith("[::1]:")
    assert origin.names() == ["o.test"]


def test_mapped_source_is_its_ipv4_address(world):
    world.tls_origin("o.test")
    world.agent("alpha", allow=["o.test"])
    port = world.site.port_free_everywhere()
    proxy = world.start(server={"listen": [f"[::]:{port}"]})
    for family, target, source in [
            (socket.AF_INET, world.site.address(1), proxy.addresses["alpha"]),
            (socket.AF_INET6, f"::ffff:{world.site.address(1)}",
             f"::ffff:{proxy.addresses['alpha']}")]:
        with proxy.client(source, to=(target, port)) as client:
            assert client.sock.family == family
            assert client.connect_to("o.test", world.port).status == 200
            client.send(b"not a hello")
    lines = proxy.audit.wait_count(2, event="deny")
    assert {line["agent"] for line in lines} == {"alpha"}
    assert all(line["src"].startswith(proxy.addresses["alpha"] + ":") for line in lines)


def test_agents_see_only_their_own_policy(world):
    one, two = world.tls_origin("a.test"), world.tls_origin("b.test")
    world.agent("alpha", allow=["a.test"])
    world.agent("beta", allow=["b.test"])
    proxy = world.start(server={"workers": 2})
    for agent, mine, other in [("alpha", "a.test", "b.test"), ("beta", "b.test", "a.test")]:
        assert proxy.curl(f"https://{mine}:{world.port}/", agent=agent).out == b"ok"
        assert proxy.curl(f"https://{other}:{world.port}/", agent=agent).connect_status == 403
    assert (one.names(), two.names()) == (["a.test"], ["b.test"])
