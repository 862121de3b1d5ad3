"""check: proven by taking the fence away piece by piece and seeing each probe fail."""

import json

import pytest


def rows(host, *arguments):
    done = host.tool("check", *arguments, "--json", check=False)
    report = json.loads(done.stdout)
    assert done.returncode == (0 if report["ok"] else 1)
    assert report["ok"] == all(row["ok"] for row in report["rows"])
    found = {(row["agent"], row["probe"]): row for row in report["rows"]}
    found.pop(("-", "daemon"))  # there is none here
    return found


def failures(host):
    return {key: row["got"] for key, row in rows(host, "alpha").items() if not row["ok"]}


def open_wide(host):
    """No table, and the host forwards and believes every source."""
    host.nft("delete table inet stile")
    host.sysctl("net.ipv4.ip_forward", 1)
    for name in ("all", "up0", host.device("alpha"), host.device("beta")):
        host.sysctl(f"net.ipv4.conf.{name}.rp_filter", 0)


def test_everything_is_as_expected_behind_a_whole_fence(shared_world):
    report = rows(shared_world.host)
    assert len(report) > 60 and all(row["ok"] for row in report.values())
    assert {agent for agent, _ in report} == {"-", "alpha", "beta"}
    assert report[("alpha", "proxy-port")]["got"] == "passes"
    shared_world.heard()


def test_table_names_probe_expected_and_got(shared_world):
    lines = shared_world.host.tool("check", "alpha", check=False).stdout.splitlines()
    assert lines[0].split() == ["AGENT", "PROBE", "EXPECTED", "GOT"]
    assert "metadata-tcp-80" in " ".join(lines) and all(line.endswith(" ok") for line in lines[1:-3])
    assert lines[-3].split()[:2] == ["-", "daemon"] and lines[-3].endswith("FAILED")
    assert lines[-2:] == [f"1 of {len(lines) - 3} checks FAILED", "  next: stile doctor"]


def test_a_daemon_that_is_not_there_is_told_with_what_to_type(shared_world):
    done = shared_world.host.tool("check", "--json", check=False)
    (row,) = [row for row in json.loads(done.stdout)["rows"] if row["probe"] == "daemon"]
    assert done.returncode == 1 and not row["ok"]
    assert "no daemon at /run/stile/control.sock" in row["got"]
    assert "systemctl start stiled" in row["got"]


def test_metrics_are_what_prometheus_reads(shared_world):
    host = shared_world.host
    host.tool("check", "--metrics", "/run/stile.prom", check=False)
    text = host.read("/run/stile.prom")
    assert "stile_fence_whole 1\n" in text and 'stile_fence_probe_ok{agent="alpha",probe="gateway-icmp"} 1\n' in text
    if host.run("which", "promtool", check=False).returncode == 0:
        host.run("promtool", "check", "metrics", input=text)
    assert host.run("stat", "-c", "%a", "/run/stile.prom").stdout == "644\n"


def test_unknown_agent_is_an_error(shared_world):
    done = shared_world.host.tool("check", "nobody", check=False)
    assert done.returncode == 1 and "nobody" in done.stderr


def test_leaves_no_trace_in_the_agents_namespace(shared_world):
    look = "ip -o addr; ip route; ip neigh; ip -o link | sed 's/stats.*//'"
    before = shared_world.host.run("ip", "netns", "exec", "agent-alpha", "sh", "-c", look).stdout
    shared_world.host.fence_is_whole()
    assert shared_world.host.run("ip", "netns", "exec", "agent-alpha", "sh", "-c", look).stdout == before


# Where each probe ends when nothing stops it.
WITHOUT_FENCE = {
    "raw-address-tcp-443": "left through up0",
    "raw-address-udp-443": "left through up0",
    "raw-address-icmp": "left through up0",
    "dns-outside-udp-53": "left through up0",
    "dns-gateway-udp-53": "reached the host",
    "dns-gateway-tcp-53": "reached the host",
    "metadata-tcp-80": "left through up0",
    "gateway-other-port": "reached the host",
    "gateway-proxy-port-udp": "reached the host",
    "gateway-icmp": "reached the host",
    "gateway-sctp": "reached the host",
    "host-address": "reached the host",
    "other-agent-tcp": "left through DEVICE",
    "other-agent-icmp": "left through DEVICE",
    "as-other-agent": "reached the host",
    "as-outsider": "reached the host",
    "broadcast-udp": "reached the host",
}


def test_each_probe_fails_where_there_is_no_fence(world):
    open_wide(world.host)
    found = failures(world.host)
    device = world.host.device("beta")
    for probe, got in WITHOUT_FENCE.items():
        assert found[("alpha", probe)] == got.replace("DEVICE", device), probe
    assert found[("-", "table")] == "missing or changed"
    assert found[("alpha", "elements")] == "missing"
    # Not delivered even so, because the kernel itself refuses such packets; but nobody counted them.
    for probe in ("host-loopback", "as-gateway", "multicast-udp"):
        assert found[("alpha", probe)] in ("not counted", "reached the host"), probe
    # And what passes is not known to be let pass.
    assert ("alpha", "proxy-port") in found


def test_loopback_probe_fails_where_the_host_routes_loopback(world):
    open_wide(world.host)
    for name in ("all", world.host.device("alpha")):
        world.host.sysctl(f"net.ipv4.conf.{name}.route_localnet", 1)
    assert failures(world.host)[("alpha", "host-loopback")] == "reached the host"


def test_ipv6_probes_fail_where_ipv6_is_on_and_the_table_gone(world):
    host = world.host
    device = host.device("alpha")
    host.nft("delete table inet stile")
    host.sysctl(f"net.ipv6.conf.{device}.disable_ipv6", 0)
    host.run("ip", "-6", "addr", "add", "fe80::1/64", "dev", device, "nodad")
    host.sysctl("net.ipv6.conf.all.forwarding", 1)
    host.run("ip", "-6", "addr", "add", "2001:db8:1::2/64", "dev", "up0", "nodad")
    host.run("ip", "-6", "route", "add", "default", "via", "2001:db8:1::1")
    found = failures(host)
    assert found[("alpha", "ipv6-link-local")] == "reached the host"
    assert found[("alpha", "ipv6-icmp")] == "reached the host"
    assert "sysctls" in {probe for _, probe in found}


def test_ipv6_is_refused_by_the_table_where_only_the_sysctl_is_lost(world):
    device = world.host.device("alpha")
    world.host.sysctl(f"net.ipv6.conf.{device}.disable_ipv6", 0)
    report = rows(world.host, "alpha")
    assert report[("alpha", "ipv6-link-local")]["got"] == "refused"
    assert not report[("alpha", "sysctls")]["ok"]


def test_arp_probe_fails_where_the_device_answers(world):
    host = world.host
    device = host.device("alpha")
    host.run("ip", "link", "set", device, "arp", "on")
    host.sysctl(f"net.ipv4.conf.{device}.arp_ignore", 0)
    found = failures(host)
    # An answer does not carry the token, but the device is known not to be as it should.
    assert ("alpha", "route-and-neighbour") in found and ("alpha", "sysctls") in found


DAMAGE = [
    (["nft", "flush", "chain", "inet", "stile", "arriving"], {("-", "table"), ("alpha", "gateway-other-port")}),
    (["nft", "flush", "chain", "inet", "stile", "passing"], {("-", "table")}),
    (["nft", "flush", "chain", "inet", "stile", "leaving"], {("-", "table")}),
    (["nft", "insert", "rule", "inet", "stile", "arriving", "udp", "dport", "53", "accept"],
     {("-", "table"), ("alpha", "dns-gateway-udp-53")}),
    (["nft", "insert", "rule", "inet", "stile", "arriving", "meta", "l4proto", "icmp", "accept"],
     {("-", "table"), ("alpha", "gateway-icmp")}),
    (["nft", "flush", "set", "inet", "stile", "agents"], {("alpha", "elements"), ("alpha", "proxy-port")}),
    (["nft", "flush", "set", "inet", "stile", "refused"], {("alpha", "elements")}),
    (["ip", "addr", "del", "10.200.0.1/32", "dev", "lo"], {("-", "gateway"), ("alpha", "proxy-port")}),
    (["ip", "route", "del", "unreachable", "10.200.0.0/16", "metric", "4294967295"], {("-", "unreachable-route")}),
    (["ip", "route", "del", "10.200.0.2"], {("alpha", "route-and-neighbour")}),
    (["ip", "netns", "del", "agent-alpha"], {("alpha", "namespace"), ("alpha", "gateway-icmp")}),
    (["rm", "/run/stile/agents.d/alpha.json"], {("alpha", "card")}),
    (["ip", "netns", "exec", "agent-alpha", "ip", "link", "set", "eth0", "down"],
     {("alpha", "inside"), ("alpha", "gateway-icmp")}),
]


@pytest.mark.parametrize("damage, expected", DAMAGE, ids=[" ".join(words[:6]) for words, _ in DAMAGE])
def test_each_piece_that_is_missing_is_named(shared_world, damage, expected):
    host = shared_world.host
    host.run(*damage)
    found = failures(host)
    assert expected <= set(found), found
    host.tool("repair")
    assert failures(host) == {}


def test_a_rule_of_the_host_in_the_proxys_way_is_named(world):
    world.host.nft("table inet filter { chain input { type filter hook input priority filter; policy drop; }; }")
    assert failures(world.host) == {("alpha", "proxy-port"): "dropped by another rule of the host"}
