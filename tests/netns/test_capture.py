"""Programs that know nothing of a proxy, behind the fence, with the real daemon and an Internet that the test runs."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from lab.host import BUILD, PATIENCE_SECONDS, PYTHON, TOOL, wait_until
from lab.street import CA_FILE, CONFIG, NAMES, ORIGIN, PROXY_ONLY, Street

ALPHA = ["a.test", "c.test", ".example.test", "tcp://ssh.test:22"]

# What the programs below have in common. `address(name)` is what a resolver makes of a name.
LIBRARY = f"""
import os, socket, ssl, struct, sys, time
def address(name, port=443):
    return socket.getaddrinfo(name, port, socket.AF_INET, socket.SOCK_STREAM)[0][4][0]
def connect(to, port=443, seconds={PATIENCE_SECONDS}):
    return socket.create_connection((to, port), seconds)
def tls(conn, name):
    return ssl.create_default_context(cafile={CA_FILE!r}).wrap_socket(conn, server_hostname=name)
def get(conn, name, path="/"):
    conn.sendall(f"GET {{path}} HTTP/1.1\\r\\nHost: {{name}}\\r\\nConnection: close\\r\\n\\r\\n".encode())
    return conn.recv(1000).split(b"\\r\\n")[0].decode()
def error_of(action):
    try:
        return repr(action())
    except Exception as problem:
        return type(problem).__name__
def question(name, kind=1, number=7):
    labels = b"".join(bytes([len(label)]) + label.encode() for label in name.split("."))
    return struct.pack("!6H", number, 0x100, 1, 0, 0, 0) + labels + struct.pack("!BHH", 0, kind, 1)
def ask(name, kind=1, server="10.200.0.1", seconds={PATIENCE_SECONDS}):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        sock.settimeout(seconds)
        sock.connect((server, 53))
        sock.send(question(name, kind))
        answer = sock.recv(600)
    return answer[3] & 15, struct.unpack("!H", answer[6:8])[0]
"""


@pytest.fixture(scope="module")
def street():
    place = Street()
    try:
        place.create("alpha", "--allow", *ALPHA)
        place.start_daemon()
        place.create("beta", "--allow", "b.test", "a.test")
        yield place
    finally:
        place.close()


def python(street, agent, code, *arguments):
    """What a program prints as that agent, without any proxy variable."""
    done = street.host.tool("exec", agent, "--", "env", "-i", "PATH=/usr/bin:/bin", PYTHON, "-I", "-", *arguments,
                            input=LIBRARY + code)
    return done.stdout.strip()


def denials(street, **fields):
    return [line for line in street.audit() if line["event"] == "deny" and fields.items() <= line.items()]


def no_proxy(street, agent, *arguments):
    return street.curl(agent, "--noproxy", "*", *arguments)


def test_curl_without_a_proxy_reaches_an_allowed_host(street):
    assert no_proxy(street, "alpha", "https://a.test/one") == (0, "200 000")
    assert {"sni": "a.test", "path": "/one"}.items() <= street.events("request")[-1].items()
    wait_until(lambda: street.audit()[-1]["event"] == "close", "the end in the log")
    opened, closed = street.audit()[-2:]
    for line in (opened, closed):
        assert {"agent": "alpha", "method": "TCP", "scheme": "connect", "host": "a.test", "port": 443, "verdict": "allow",
                "origin": f"{ORIGIN}:443"}.items() <= line.items()
    assert opened["sni"] == "a.test" and closed["bytes_down"] > 0


def test_a_program_with_sockets_of_its_own_does(street):
    said = python(street, "alpha", "print(get(tls(connect(address('c.test')), 'c.test'), 'c.test'))")
    assert said == "HTTP/1.1 200 OK"


def test_nodes_fetch_does(street):
    if not shutil.which("node"):
        pytest.skip("node is missing")
    done = street.host.tool("exec", "alpha", "--", "env", "-i", "PATH=/usr/bin:/bin", f"NODE_EXTRA_CA_CERTS={CA_FILE}",
                            "node", "-e", "fetch('https://a.test/node').then(r => console.log(r.status))")
    assert done.stdout == "200\n"
    assert street.events("request")[-1]["path"] == "/node"


def test_ip_netns_exec_has_the_name_server_as_well(street):
    done = street.host.run("ip", "netns", "exec", "agent-alpha",
                           *street.curl_command("--noproxy", "*", "https://a.test/"))
    assert done.stdout == "200 000"


@pytest.mark.parametrize("way", ["exec", "ip netns exec"])
def test_names_of_the_hosts_own_file_are_asked_for(way):
    """An address of that file leads nowhere inside; what means the program itself stays."""
    place = Street()
    try:
        place.host.write("/etc/hosts", "127.0.0.1 localhost\n127.0.1.1 here.test\n10.9.9.9 a.test\n")
        place.create("alpha", "--allow", *ALPHA)
        place.start_daemon()
        enter = [TOOL, "exec", "alpha", "--"] if way == "exec" else ["ip", "netns", "exec", "agent-alpha"]
        done = place.host.run(*enter, "getent", "ahostsv4", "a.test")
        assert done.stdout.startswith("198.1"), done
        assert place.host.run(*enter, "getent", "ahostsv4", "here.test").stdout.startswith("127.0.1.1")
    finally:
        place.close()


def test_a_refused_name_does_not_exist_and_is_in_the_log_once(street):
    before = len(street.events("dns", "request"))
    for _ in range(3):
        assert no_proxy(street, "alpha", "https://secret.attacker.test/")[0] == 6  # no such name
    lines = denials(street, host="secret.attacker.test")
    assert len(lines) == 1
    assert {"agent": "alpha", "method": "DNS", "reason": "host-not-allowed"}.items() <= lines[0].items()
    assert lines[0]["src"].startswith("10.200.0.2:")
    assert len(street.events("dns", "request")) == before  # nobody else was asked


def test_the_real_names_are_asked_for_only_when_the_connection_was_allowed(street):
    said = python(street, "alpha", """
to = address("quiet.example.test")
print(error_of(lambda: connect(to, 8443).recv(1)))
with connect(to) as conn:
    conn.sendall(b"not tls")
    print(error_of(lambda: conn.recv(1)))
""")
    assert said.split() == ["ConnectionResetError", "ConnectionResetError"]
    assert [line["reason"] for line in denials(street, host="quiet.example.test")] == ["port-not-allowed", "not-tls"]
    assert "quiet.example.test" not in {event["name"] for event in street.events("dns")}


def test_another_name_in_the_hello_is_refused_before_anything_is_dialled(street):
    before = len(street.events("dns", "request"))
    said = python(street, "alpha", "print(error_of(lambda: tls(connect(address('fresh.example.test')), 'c.test')))")
    assert "SSL" in said  # an alert
    assert [line["reason"] for line in denials(street, host="fresh.example.test")] == ["sni-mismatch"]
    assert len(street.events("dns", "request")) == before


def test_plain_http_goes_by_its_host(street):
    assert no_proxy(street, "alpha", "http://a.test/plain?q=1") == (0, "200 000")
    event = street.events("request")[-1]
    assert event["path"] == "/plain?q=1" and "\r\nHost: a.test\r\n" in event["head"]
    line = [line for line in street.audit() if line["event"] == "open"][-1]
    assert {"method": "GET", "scheme": "http", "host": "a.test", "path": "/plain"}.items() <= line.items()


@pytest.mark.parametrize("head", [
    "GET / HTTP/1.1\\r\\nHost: c.test\\r\\n\\r\\n", "GET http://c.test/ HTTP/1.1\\r\\nHost: c.test\\r\\n\\r\\n",
    "GET / HTTP/1.1\\r\\nHost: a.test:81\\r\\n\\r\\n", "CONNECT c.test:443 HTTP/1.1\\r\\nHost: c.test:443\\r\\n\\r\\n",
    "GET / HTTP/1.1\\r\\n\\r\\n"])
def test_plain_http_to_another_host_than_the_one_connected_to_is_refused(street, head):
    before = len(street.events("dns", "request"))
    said = python(street, "alpha", f"""
conn = connect(address("a.test"), 80)
conn.sendall(b"{head}")
print(conn.recv(1000).split(b"\\r\\n")[0].decode())
""")
    assert said == "HTTP/1.1 400 bad-request"
    assert len(street.events("dns", "request")) == before


def test_a_server_that_speaks_first_is_reached_by_its_tcp_pattern(street):
    said = python(street, "alpha", """
conn = connect(address("ssh.test", 22), 22)
print(conn.recv(100).decode().strip())
conn.sendall(b"hello")
print(conn.recv(100).decode())
""")
    assert said.splitlines() == ["SSH-2.0-origin", "hello"]


def test_an_ssh_client_reaches_it(street):
    if not shutil.which("ssh"):
        pytest.skip("ssh is missing")
    done = street.host.tool("exec", "alpha", "--", "ssh", "-v", "-o", "BatchMode=yes", "nobody@ssh.test", check=False)
    assert "remote software version origin" in done.stderr


def test_addresses_mean_nothing_to_another_agent(street):
    mine = python(street, "alpha", "print(address('c.test'))")
    before = len(street.events("dns", "request"))
    assert python(street, "beta", "print(error_of(lambda: connect(sys.argv[1]).recv(1)))", mine) == "ConnectionResetError"
    wait_until(lambda: denials(street, agent="beta", host=mine, reason="ip-literal", method="TCP"), "its line")
    assert len(street.events("dns", "request")) == before


def test_addresses_that_stand_for_nothing_are_reset(street):
    said = python(street, "alpha", """
for last in ("198.18.0.0", "198.18.0.1", "198.19.255.254", "198.19.255.255"):
    print(error_of(lambda: connect(last).recv(1)))
""")
    assert set(said.split()) == {"ConnectionResetError"}


def test_all_else_is_refused_at_once(street):
    said = python(street, "alpha", f"""
def datagram(to, port):
    sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    sock.settimeout({PATIENCE_SECONDS})
    sock.connect((to, port)), sock.send(b"x")
    return sock.recv(10)
for to, port in (("{ORIGIN}", 443), ("10.200.0.1", 3129), ("10.200.0.1", 22), ("10.200.0.3", 80), ("169.254.169.254", 80)):
    print(error_of(lambda: connect(to, port)))
for to, port in (("{ORIGIN}", 443), ("198.18.0.9", 443), ("{NAMES}", 53), ("10.200.0.1", 3129), ("10.200.0.1", 3128)):
    print(error_of(lambda: datagram(to, port)))
""")
    assert said.split() == ["ConnectionRefusedError"] * 10


def test_other_kinds_of_questions_have_no_data(street):
    said = python(street, "alpha", """
for kind in (1, 28, 65, 64, 15, 16, 255):  # A, AAAA, HTTPS, SVCB, MX, TXT, any
    print(ask("a.test", kind), ask("other.test", kind))
""")
    assert said.splitlines() == ["(0, 1) (3, 0)"] + ["(0, 0) (3, 0)"] * 6


def test_names_are_served_over_tcp(street):
    said = python(street, "alpha", """
conn = connect("10.200.0.1", 53)
both = b"".join(struct.pack("!H", len(one)) + one for one in (question("a.test"), question("other.test", number=8)))
for byte in both: conn.send(bytes([byte]))
got = b""
while len(got) < 2 or len(got) < 2 + got[1] + 2: got += conn.recv(500)
print(got[5] & 15, address("a.test") == socket.inet_ntoa(got[2 + got[1] - 4:2 + got[1]]))
""")
    assert said == "0 True"


def test_a_program_of_the_host_gets_no_names(street):
    done = street.host.run(PYTHON, "-c", LIBRARY + "print(ask('a.test'))", check=False)
    assert done.returncode != 0 or done.stdout.strip() == "(5, 0)"  # refused


def test_addresses_keep_their_names_when_the_daemon_is_killed(street):
    mine = python(street, "alpha", "print(address('kept.example.test'))")
    street.kill_daemon()
    assert python(street, "alpha", "print(error_of(lambda: connect(sys.argv[1])))", mine) == "ConnectionRefusedError"
    assert python(street, "alpha", "print(error_of(lambda: ask('a.test')))") == "ConnectionRefusedError"
    street.start_daemon()
    code = "print(get(tls(connect(sys.argv[1]), 'kept.example.test'), 'kept.example.test'))"
    assert python(street, "alpha", code, mine) == "HTTP/1.1 200 OK"
    assert python(street, "alpha", "print(address('kept.example.test'))") == mine


GOES_ON = LIBRARY + """
early = address("early.example.test")
plain, sealed = connect(address("ssh.test", 22), 22), tls(connect(address("a.test")), "a.test")
print(plain.recv(100), flush=True)
sys.stdin.readline()
plain.sendall(b"ping")
print(plain.recv(100), get(sealed, "a.test", "/later"))
print(get(tls(connect(early), "early.example.test"), "early.example.test"), address("early.example.test") == early)
"""


def test_captured_connections_names_and_sockets_go_to_another_process(street):
    program = street.host.start_tool("exec", "alpha", "--", PYTHON, "-I", "-c", GOES_ON, stdin=subprocess.PIPE,
                                     stdout=subprocess.PIPE, text=True)
    assert program.stdout.readline() == "b'SSH-2.0-origin\\r\\n'\n"
    assert street.take_over().wait(PATIENCE_SECONDS) == 0
    said = program.communicate("go on\n", timeout=PATIENCE_SECONDS)[0].splitlines()
    assert said == ["b'ping' HTTP/1.1 200 OK", "HTTP/1.1 200 OK True"]
    wait_until(lambda: sum(line["event"] == "close" and line.get("host") in ("a.test", "ssh.test")
                           for line in street.audit()[-6:]) >= 2, "their ends in the log")
    closed = [line for line in street.audit() if line["event"] == "close" and line["host"] == "ssh.test"][-1]
    assert {"method": "TCP", "agent": "alpha", "bytes_up": 4, "verdict": "allow"}.items() <= closed.items()
    assert "reason" not in closed
    assert json.loads(street.host.tool("check", "--json").stdout)["ok"]


ASKS_ON = LIBRARY + """
def ask_on(conn, name):
    one = question(name)
    conn.sendall(struct.pack("!H", len(one)) + one)
    return socket.inet_ntoa(conn.recv(600)[-4:])
conn = connect("10.200.0.1", 53)
known = ask_on(conn, "known.example.test")
print("asked", flush=True)
sys.stdin.readline()
print(error_of(lambda: ask_on(conn, "unknown.example.test")))
print(address("known.example.test") == known, address("unknown.example.test") != known)
"""


def test_the_old_process_gives_no_name_an_address_that_the_new_one_does_not_know(street):
    program = street.host.start_tool("exec", "alpha", "--", PYTHON, "-I", "-c", ASKS_ON, stdin=subprocess.PIPE,
                                     stdout=subprocess.PIPE, text=True)
    assert program.stdout.readline() == "asked\n"
    old = street.take_over()
    said = program.communicate("go on\n", timeout=PATIENCE_SECONDS)[0].split()
    assert old.wait(PATIENCE_SECONDS) == 0
    assert said[0] in ("ConnectionResetError", "BrokenPipeError", "OSError") and said[1:] == ["True", "True"]


def test_questions_are_answered_all_the_time_while_processes_change(street):
    asker = street.host.start_tool("exec", "alpha", "--", PYTHON, "-I", "-c", LIBRARY + """
import select
number, wrong = 0, []
while not select.select([sys.stdin], [], [], 0)[0]:
    name = f"name-{number % 500}.example.test"
    number += 1
    if "200 OK" not in (said := error_of(lambda: get(tls(connect(address(name)), name), name))): wrong.append(said)
    if number == 1: print("begun", flush=True)
print(number > 1, wrong)
""", stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert asker.stdout.readline() == "begun\n"
    for _ in range(3):
        assert street.take_over().wait(PATIENCE_SECONDS) == 0
    assert asker.communicate("", timeout=PATIENCE_SECONDS)[0] == "True []\n"


HOLD = LIBRARY + """
conn = tls(connect(address("a.test")), "a.test")
conn.sendall(b"GET /hold HTTP/1.1\\r\\nHost: a.test\\r\\n\\r\\n")
print("open" if b"200 OK" in conn.recv(1000) else "refused", flush=True)
try: conn.recv(10)
except OSError: pass
print("ended")
"""


def test_a_captured_tunnel_is_cut_when_its_host_is_revoked(street):
    street.create("gamma", "--allow", "a.test")
    holder = street.host.start_tool("exec", "gamma", "--", PYTHON, "-I", "-c", HOLD, stdout=subprocess.PIPE, text=True)
    assert holder.stdout.readline() == "open\n"
    stile = BUILD / "cmd" / "stile"
    listed = json.loads(street.host.run(stile, "connections", "--json").stdout)
    assert any(one["agent"] == "gamma" and one["host"] == "a.test" for one in listed["connections"])
    street.host.run(stile, "revoke", "gamma", "a.test")
    assert holder.communicate(timeout=PATIENCE_SECONDS)[0] == "ended\n"
    wait_until(lambda: any(line["event"] == "close" and line["agent"] == "gamma" and line.get("reason") == "revoked" and
                           line["method"] == "TCP" for line in street.audit()), "its end in the log")
    assert no_proxy(street, "gamma", "https://a.test/")[0] == 6
    street.delete("gamma", "--kill")


def test_more_questions_than_the_limit_are_dropped_and_counted(street):
    street.create("delta", "--allow", "a.test")
    said = python(street, "delta", """
conn = connect("10.200.0.1", 53)
one = question("a.test")
try:
    conn.sendall((struct.pack("!H", len(one)) + one) * 10000)
    while conn.recv(65536): pass
except OSError: pass
print("ended")
""")
    assert said == "ended"
    labels = ('agent="delta"', 'method="DNS"', 'reason="rate-limited"')

    def dropped():
        page = street.curl_host("http://127.0.0.1:9128/metrics").stdout
        return any(all(label in line for label in labels) for line in page.splitlines())
    wait_until(dropped, "the count of dropped questions")
    assert python(street, "alpha", "print(ask('a.test'))") == "(0, 1)"  # others are served
    street.delete("delta", "--kill")


def test_agents_without_capture_have_neither_names_nor_routes(street):
    made = street.create("plain", "--allow", "a.test", "--no-capture")
    assert made["captured"] is False
    assert street.curl("plain", "https://a.test/") == (0, "200 200")  # through the proxy
    assert no_proxy(street, "plain", "--resolve", "a.test:443:198.18.0.9", "https://a.test/")[0] == 7
    said = python(street, "plain", "print(error_of(lambda: ask('a.test', seconds=0.3)))")
    assert said == "TimeoutError"  # dropped, as without capture
    assert not street.host.exists("/etc/netns/agent-plain")
    street.delete("plain", "--kill")


def test_observe_mode_resolves_everything_and_logs_it(street):
    street.host.write("/etc/cards/omega.json", json.dumps({"agent_id": "omega", "allowed_hosts": [], "mode": "observe"}))
    street.create("omega", "--card", "/etc/cards/omega.json")
    assert no_proxy(street, "omega", "https://b.test/") == (0, "200 000")
    line = [line for line in street.audit() if line["event"] == "open"][-1]
    assert {"agent": "omega", "host": "b.test", "verdict": "would-deny", "reason": "host-not-allowed"}.items() <= line.items()
    assert no_proxy(street, "omega", "http://plain-b.test/") == (0, "200 000")
    done = street.host.run(BUILD / "cmd" / "stile", "suggest", "--audit", "/var/log/stile/audit.jsonl", "--agent", "omega")
    assert '"b.test"' in done.stdout and '"plain-b.test"' in done.stdout, done
    street.delete("omega", "--kill")


FULL = LIBRARY + """
def new_names(word):
    return [ask(f"{word}{n}.example.test") for n in range(252)]
conn = tls(connect(address("a.test")), "a.test")
conn.sendall(b"GET /hold HTTP/1.1\\r\\nHost: a.test\\r\\n\\r\\n")
assert b"200 OK" in conn.recv(1000)
mine = conn.getpeername()[0]
print(set(new_names("first")), ask("one-more.example.test"))
while ask("one-more.example.test") != (0, 1): time.sleep(1)
time.sleep(1)  # a second's questions
print({code for code, _ in new_names("second")}, address("a.test") == mine)
conn.sendall(b"still open")
print(get(tls(connect(mine), "a.test"), "a.test"))
"""


@pytest.mark.long
def test_an_address_in_use_gets_no_other_name_when_all_places_are_taken():
    """The smallest subnet has 253 places. After the TTL others are given away again, but not this one."""
    place = Street(CONFIG + '[netns]\ncapture_subnet = "198.18.7.0/24"\n')
    try:
        place.create("alpha", "--allow", *ALPHA)
        place.start_daemon()
        done = place.host.tool("exec", "alpha", "--", PYTHON, "-I", "-c", FULL)
        # 252 of 253 places were free, one of them has `one-more` now: the last name finds none.
        assert done.stdout.splitlines() == ["{(0, 1)} (2, 0)", "{0, 2} True", "HTTP/1.1 200 OK"], done
    finally:
        place.close()


def test_what_no_rule_names_is_asked_for(street):
    """The name resolves, and the connection is what a person is asked about."""
    street.host.write("/etc/cards/asker.json", json.dumps({"agent_id": "asker", "allowed_hosts": [], "unlisted": "ask"}))
    street.create("asker", "--card", "/etc/cards/asker.json")
    no_proxy(street, "asker", "https://b.test/", "--max-time", "2")
    wait_until(lambda: any(line["event"] == "ask" and line["agent"] == "asker" and line["host"] == "b.test"
                           for line in street.audit()), "the ask")
    street.delete("asker", "--kill")


def test_the_page_for_asks_is_served_to_programs_without_a_proxy(street):
    """In observe mode every name resolves, that of the page, too. Its target has no host then."""
    street.host.write("/etc/cards/viewer.json", json.dumps({"agent_id": "viewer", "allowed_hosts": [], "unlisted": "ask",
                                                            "mode": "observe"}))
    street.create("viewer", "--card", "/etc/cards/viewer.json")
    assert no_proxy(street, "viewer", "http://stile.internal/v1/asks") == (0, "200 000")
    assert no_proxy(street, "alpha", "https://a.test/") == (0, "200 000")  # the daemon lives
    street.delete("viewer", "--kill")


def test_list_and_check_are_content(street):
    agents = street.host.agents()
    assert all(one["state"] == "ok" and one["captured"] for one in agents.values())
    done = street.host.tool("check", "alpha", "--json")
    rows = {row["probe"]: row["got"] for row in json.loads(done.stdout)["rows"]}
    assert {rows[name] for name in ("dns-gateway-udp-53", "dns-gateway-tcp-53", "capture-tcp-443")} == {"captured"}
    assert rows["capture-listener"] == rows["capture-as-other-agent"] == rows["capture-udp-443"] == "refused"


def test_check_notices_a_daemon_that_does_not_capture():
    """As one that was started without the sockets: the proxy works, names do not."""
    place = Street()
    try:
        place.create("alpha", "--allow", "a.test")
        place.host.write("/etc/stile/stile.toml", PROXY_ONLY)
        place.start_daemon()
        place.host.write("/etc/stile/stile.toml", CONFIG)
        done = place.host.tool("check", "--json", check=False)
        wrong = {row["probe"]: row["got"] for row in json.loads(done.stdout)["rows"] if not row["ok"]}
        assert done.returncode == 1 and list(wrong) == ["names"], wrong
        assert "stile-netns repair" in wrong["names"]
    finally:
        place.close()


class Unprivileged(Street):
    """Its daemon is started by an ordinary user: it can open no socket of captured traffic."""

    def __init__(self):
        super().__init__(CONFIG.replace("[server]", '[server]\ncontrol = "/run/proxy/control.sock"\nstate_dir = "/var/lib/proxy"'))
        self.host.run("sh", "-c", "getent group stile || groupadd -r stile; useradd -M -g stile runner;"
                      " install -d -o runner -g stile -m 750 /run/proxy /var/lib/proxy /var/log/stile")

    def start_daemon(self):
        super().start_daemon(["setpriv", "--reuid=runner", "--regid=stile", "--clear-groups", "--bounding-set=-all",
                              "--inh-caps=-all", "--"])


def test_a_daemon_without_privileges_gets_its_sockets_from_stile_netns():
    place = Unprivileged()
    try:
        place.start_daemon()
        place.create("alpha", "--allow", "a.test")
        assert no_proxy(place, "alpha", "https://a.test/one") == (0, "200 000")
        said = python(place, "alpha", "print(address('a.test')); print(ask('b.test')[0])").split()
        assert said[1] == "3" and said[0].startswith("198.1")  # NXDOMAIN
        status = (Path("/proc") / str(place.daemon.pid) / "status").read_text()
        assert {line.split()[1] for line in status.splitlines() if line.startswith("Cap")} == {"0" * 16}
        assert json.loads(place.host.tool("check", "--json").stdout)["ok"]
        # Once is enough: another agent needs nothing, and neither does repair.
        place.create("beta", "--allow", "c.test")
        assert no_proxy(place, "beta", "https://c.test/") == (0, "200 000")
        assert place.host.tool("repair").stdout == "nothing to repair\n"
        # After a restart it has none, says so, and gets them again; addresses keep their names.
        place.kill_daemon()
        place.start_daemon()
        stile = [BUILD / "cmd" / "stile", "status", "--socket", "/run/proxy/control.sock"]
        assert "stile-netns repair" in place.host.run(*stile).stdout
        wrong = [row for row in json.loads(place.host.tool("check", "--json", check=False).stdout)["rows"] if not row["ok"]]
        assert {row["probe"] for row in wrong} == {"names"} and "stile-netns repair" in wrong[0]["got"]
        assert "gave the daemon the sockets of captured traffic" in place.host.tool("repair").stdout
        assert "capture" not in place.host.run(*stile).stdout
        assert python(place, "alpha", "print(address('a.test'))") == said[0]
        assert no_proxy(place, "alpha", "https://a.test/two") == (0, "200 000")
    finally:
        place.close()


def test_repair_restores_the_route_and_the_files(street):
    street.host.run("ip", "route", "del", "local", "198.18.0.0/15", "dev", "lo", "table", "local")
    street.host.run("rm", "/etc/netns/agent-alpha/resolv.conf")
    assert not street.host.fence_is_whole("alpha")
    said = street.host.tool("repair").stdout
    assert "added the local route for 198.18.0.0/15" in said and "alpha: write the resolv.conf" in said
    assert street.host.fence_is_whole("alpha")
    assert no_proxy(street, "alpha", "https://a.test/") == (0, "200 000")


def test_deleting_leaves_nothing(street):
    street.create("zeta", "--allow", "a.test")
    for name in ("resolv.conf", "hosts"):
        assert street.host.exists(f"/etc/netns/agent-zeta/{name}")
    street.delete("zeta", "--kill")
    assert not street.host.exists("/etc/netns/agent-zeta")
    assert "zeta" not in street.host.agents()


FLOOD = """
sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
sock.connect(("10.200.0.1", 53))
begun = time.monotonic()
for _ in range(30000):
    sock.send(question("a.test"))
print(time.monotonic() - begun)
"""


def test_questions_beyond_the_rate_end_at_the_fence(street):
    """In the socket that all agents share they would take the place of others' questions."""
    def arrived():
        page = street.curl_host("http://127.0.0.1:9128/metrics").stdout
        return sum(float(line.split()[-1]) for line in page.splitlines()
                   if line.startswith("stile_requests_total") and 'agent="flooder"' in line and 'method="DNS"' in line)
    street.create("flooder", "--allow", "a.test")
    try:
        seconds = float(python(street, "flooder", FLOOD))
        wait_until(lambda: arrived() > 0, "the first questions")
        assert python(street, "beta", "print(ask('b.test'))") == "(0, 1)", "after those that came before"
        assert arrived() < 1000 + 1000 * (seconds + 1)
    finally:
        street.delete("flooder")


# Root inside puts a queue behind its device that sends a packet every few minutes.
KEEP_IN_A_QUEUE = """
import subprocess
for command in ("ip link add ifb0 type ifb", "ip link set ifb0 up",
                "tc qdisc add dev ifb0 root tbf rate 8bit burst 1600 limit 100mb", "tc qdisc add dev eth0 ingress",
                "tc filter add dev eth0 parent ffff: protocol all u32 match u32 0 0 action mirred egress redirect dev ifb0"):
    done = subprocess.run(command.split(), capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(print("cannot:", command, done.stderr))
sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
sock.connect(("10.200.0.1", 53))
for _ in range(20):  # within the agent's rate, and three times what the buffer of the name server holds
    for _ in range(50):
        sock.send(question("a.test"))
    time.sleep(0.1)
print("holds")
"""


def test_an_agent_that_holds_its_answers_in_a_queue_takes_none_from_others(street):
    """They count against the send buffer of the name server until they leave that queue."""
    street.create("holder", "--allow", "a.test")
    try:
        said = python(street, "holder", "os.environ['PATH'] += ':/usr/sbin:/sbin'\n" + KEEP_IN_A_QUEUE)
        if said.startswith("cannot:"):
            pytest.skip(said)
        assert said == "holds"
        assert python(street, "beta", "print([ask('b.test') for _ in range(20)])") == repr([(0, 1)] * 20)
    finally:
        street.delete("holder")
