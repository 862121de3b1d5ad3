"""Every key of the reference: a reload applies it, or is refused and names it."""

import json
import re
from pathlib import Path

import pytest
from harness.checks import verdict
from harness.config import Bare
from harness.origin import echo
from harness.stiled import REPOSITORY
from harness.wait import until

# Another value for each key than the one that the daemon of these tests starts with.
OTHER = {
    "server.workers": 2, "server.listen": ["127.0.0.1:1"], "server.metrics": "",
    "server.control": "/elsewhere/control.sock", "server.control_group": "root",
    "server.read_only_group": "root", "server.user": "root", "server.state_dir": "/elsewhere",
    "egress.mode": "observe", "egress.ports": [8443], "egress.http_ports": [8080],
    "egress.sni": "off", "egress.ech": "allow", "egress.private_exceptions": ["10.9.0.0/16"],
    "egress.strip_request_headers": ["X-One"], "egress.deny": ["denied.test"],
    "egress.deny_files": ["denied.txt"], "egress.forbid_addresses": ["192.0.2.0/24"],
    "egress.contact": "ops@example.com", "egress.unlisted": "ask",
    "dns.servers": ["192.0.2.53"], "dns.hosts_file": "/dev/null", "dns.timeout_ms": 1500,
    "dns.max_ttl_seconds": 7, "dns.cache_entries": 100, "dns.in_flight_per_agent": 3,
    "limits.connections_per_agent": 7, "limits.requests_per_second": 70,
    "limits.connections": 700, "limits.header_bytes": 7000, "limits.header_timeout_ms": 7001,
    "limits.client_hello_timeout_ms": 7002, "limits.connect_timeout_ms": 7003,
    "limits.idle_timeout_ms": 7004, "limits.drain_timeout_ms": 701, "limits.ask_hold_ms": 7005,
    "audit.path": "-", "audit.format": "squid", "audit.on_failure": "continue",
    "audit.chain": False, "audit.max_bytes": 7_000_000, "audit.keep": 7,
    "agents.directories": ["/elsewhere"], "agents.watch": True,
    "netns.subnet": "10.77.0.0/16", "netns.gateway": "10.200.0.7", "netns.port": 77,
    "netns.capture": False, "netns.capture_subnet": "100.70.0.0/16",
    "agent.id": "omega", "agent.source": ["192.0.2.7"], "agent.listen": ["127.0.0.1:7"],
    "agent.listen_mode": "0600", "agent.listen_group": "root",
    "agent.allow": ["other.test"], "agent.allow_files": ["denied.txt"],
    "agent.deny": ["denied.test"], "agent.deny_files": ["denied.txt"],
    "agent.allow_ip": ["192.0.2.8"], "agent.forbid_addresses": ["192.0.2.0/24"],
    "agent.expires": Bare("2040-01-01T00:00:00Z"), "agent.bytes_up": "7MiB",
    "agent.bytes_down": "7MiB", "agent.mode": "observe", "agent.ports": [8443],
    "agent.http_ports": [8080], "agent.sni": "off", "agent.ech": "allow", "agent.unlisted": "ask",
    "agent.private_exceptions": ["10.9.0.0/16"], "agent.strip_request_headers": ["X-One"],
    "agent.contact": "ops@example.com", "agent.connections_per_agent": 7,
    "agent.requests_per_second": 70, "agent.secrets": ["key"],
    "agent.request": [{"host": "a.test"}], "agent.can": ["git:fetch a.test/acme/app"],
    "agent.budget": [{"host": "a.test", "max_requests": 7}],
    "intercept.ca": "/elsewhere/ca", "intercept.trust": [],
    "fleet.endpoints": ["https://etcd:2379"], "fleet.prefix": "/other", "fleet.ca": "ca.pem",
    "fleet.cert": "c.pem", "fleet.key": "k.pem", "fleet.user": "u", "fleet.password_file": "pw",
    "fleet.signers": ["other.pub"], "fleet.host": "other", "fleet.labels": ["other"],
    "secret.name": "other", "secret.file": "other.key", "secret.credential": "other",
    "secret.command": ["/bin/echo", "other-value"], "secret.refresh_seconds": 60,
    "secret.hosts": ["b.test"],
    "secret.paths": ["/v2"], "secret.header": "X-Two", "secret.format": "Bearer {}",
    "secret.basic_user": "x", "secret.own": "refuse", "secret.agent_env": "OTHER",
    "secret.placeholder": "another-placeholder",
    "egress.scan": ["tokens"], "agent.scan": ["own"], "scan.name": "other", "scan.pattern": "other",
    "scan.action": "log",
}
# Keys that cannot change alone.
ALONG = {"netns.subnet": {"netns.gateway": "10.77.0.1"}, "agent.budget": {"agent.request": [{"host": "a.test"}]}}


def reference():
    """{section.key: what applies it}, from the page that is made from the table of keys."""
    found, section = {}, None
    for line in (REPOSITORY / "docs" / "configuration.md").read_text().splitlines():
        heading = re.fullmatch(r"## \[+([a-z]+)\]+", line)
        if line.startswith("## "):
            section = heading and heading[1]
        row = re.match(r"\| `([a-z_]+)` \|", line)
        if section and row:
            found[f"{section}.{row[1]}"] = re.split(r"(?<!\\)\|", line)[4].strip()
    return found


APPLIED_BY = reference()


def change(proxy, settings, name, value):
    section, key = name.split(".")
    if section in ("agent", "scan", "secret"):
        entries = list(settings[section])
        at = 1 if key in ("command", "refresh_seconds") else 0  # the secret of a command
        entry = entries[at] = {**entries[at], key: value}
        if name == "secret.credential":
            del entry["file"]  # a secret has one source of its value
        settings[section] = entries
    else:
        settings[section] = {**settings.get(section, {}), key: value}


def test_every_key_has_another_value_here():
    assert set(APPLIED_BY) == set(OTHER)
    assert set(APPLIED_BY.values()) == {"reload", "restart"}


def test_every_key_is_applied_or_refused_by_name(world):
    world.agent("alpha", allow=["a.test"])
    world.write("denied.txt", "denied.test\n")
    world.write("other.key", "another-value\n").chmod(0o600)
    world.write("other", "a-credential\n").chmod(0o600)
    world.scans.append({"name": "own", "pattern": "some-text"})
    world.secret("key", "some-value", ["a.test"], header="X-One")
    world.secrets.append({"name": "printed", "command": ["/bin/echo", "some-value"], "hosts": ["b.test"],
                          "header": "X-Two"})
    proxy = world.proxy()
    proxy.start(environment={"CREDENTIALS_DIRECTORY": str(world.folder)})
    before = dict(proxy.settings)
    with proxy.control() as control:
        for name, applied_by in APPLIED_BY.items():
            proxy.settings = dict(before)
            change(proxy, proxy.settings, name, OTHER[name])
            for other, value in ALONG.get(name, {}).items():
                change(proxy, proxy.settings, other, value)
            proxy.write_config()
            answer = control.ask("reload")
            if applied_by == "reload":
                assert answer["ok"], (name, answer)
            else:
                assert not answer["ok"], name
                assert answer["error"]["code"] == "config-error"
                assert f"{name}: changed, but only a restart applies this" in \
                    answer["error"]["message"]
                assert str(proxy.config) in answer["error"]["message"]
        proxy.settings = dict(before)
        proxy.write_config()
        control.do("reload")


# Keys that were once read and not applied.

def hang(question, transport, number):
    return []


@pytest.fixture
def named(world):
    for name in ("a.test", "b.test"):
        world.tcp_origin(name, handler=echo)
    world.dns.script("hangs.test", hang)
    world.agent("alpha", allow=["a.test", "b.test", "hangs.test"])
    return world


def reload(proxy, section, **keys):
    proxy.settings[section] = {**proxy.settings[section], **keys}
    proxy.write_config()
    with proxy.control() as control:
        control.do("reload")


def test_dns_timeout(named):
    proxy = named.start(dns={"timeout_ms": 86_400_000})
    reload(proxy, "dns", timeout_ms=50)
    assert verdict(proxy, named, "hangs.test") == "dns-failure"


def test_dns_in_flight_per_agent(named):
    proxy = named.start(dns={"timeout_ms": 86_400_000, "in_flight_per_agent": 1})
    client = proxy.client()
    client.send(f"CONNECT hangs.test:{named.port} HTTP/1.1\r\n\r\n".encode())
    named.dns.wait_question("hangs.test")
    assert verdict(proxy, named, "a.test") == "rate-limited"
    reload(proxy, "dns", in_flight_per_agent=2)
    assert verdict(proxy, named, "a.test") is None


@pytest.mark.parametrize("key", ["cache_entries", "max_ttl_seconds"])
def test_dns_cache(named, key):
    proxy = named.start()
    for _ in range(3):
        assert verdict(proxy, named, "a.test") is None
    assert len(named.dns.questions("a.test", 1)) == 1
    reload(proxy, "dns", **{key: 0})
    for asked in (2, 3):
        assert verdict(proxy, named, "a.test") is None
        assert len(named.dns.questions("a.test", 1)) == asked


def test_audit_max_bytes_and_keep(named):
    proxy = named.start()
    log = Path(proxy.settings["audit"]["path"])
    first, second = (log.with_name(f"{log.name}.{number}") for number in (1, 2))
    reload(proxy, "audit", max_bytes=1500, keep=1)

    def rotated():
        verdict(proxy, named, "refused.test")
        return first.exists()
    until(rotated)
    inode = first.stat().st_ino
    until(lambda: rotated() and first.stat().st_ino != inode)
    assert not second.exists()
    reload(proxy, "audit", keep=2)
    until(lambda: rotated() and second.exists())
    reload(proxy, "audit", max_bytes=0)
    # The chain goes on over the files that are left; the oldest ones are gone on purpose.
    proxy.settings["audit"]["format"] = "squid"


def test_audit_rotation_of_a_link_is_refused(world):
    world.agent("alpha", allow=["a.test"])
    (world.folder / "audit.jsonl").symlink_to(world.folder / "elsewhere.jsonl")
    proxy = world.start()
    proxy.settings["audit"] = {**proxy.settings["audit"], "max_bytes": 1000}
    proxy.write_config()
    with proxy.control() as control:
        error = control.refused("reload")
    assert error["code"] == "config-error" and "symbolic link" in error["message"]


# A listener of an agent.

def test_agents_listener_of_a_removed_agent_serves_nobody_and_it_may_come_back(world):
    world.agent("alpha", allow=["a.test"])
    path = world.short_path("agent.sock")
    gamma = world.agent("gamma", source=[], listen=[f"unix:{path}"], allow=["a.test"])
    proxy = world.start()
    with proxy.control() as control:
        world.agents.remove(gamma)
        proxy.write_config()
        control.do("reload")
        world.agents.append(gamma)
        proxy.write_config()
        control.do("reload")
        gamma["listen"] = []
        proxy.write_config()
        error = control.refused("reload")
    assert "agent.listen: changed" in error["message"]


def test_card_that_changes_its_listener_is_refused_alone(world):
    world.agent("alpha", allow=["a.test"])
    world.tcp_origin("a.test", handler=echo)
    cards = world.folder / "cards"
    cards.mkdir()
    proxy = world.start(agents={"directories": [str(cards)]})
    card = {"agent_id": "gamma", "listen": ["127.0.0.1:7"], "allowed_hosts": ["a.test"]}
    (cards / "gamma.json").write_text(json.dumps(card))
    with proxy.control() as control:
        control.do("reload")
        (rejected,) = control.do("status")["rejected_cards"]
        assert rejected["agent"] == "gamma"
        assert "agent.listen: changed, but only a restart applies this" in rejected["problem"]
    assert verdict(proxy, world, "a.test") is None
