"""The audit log: every decision has its line, in time, true, and beyond the agent's reach."""

import json
import random
import signal
import threading

import pytest
from harness import hello
from harness.audit import ZEROS, verify_lines
from harness.checks import assert_refusal
from harness.origin import echo
from harness.wait import until


def test_life_of_a_tunnel_in_lines(world):
    origin = world.tcp_origin("o.test", handler=echo)
    world.agent("alpha", allow=["o.test"])
    proxy = world.start()
    client = proxy.open_tunnel("o.test", world.port)
    client.recv_exactly(len(client.hello))
    client.close()
    close = proxy.audit.wait_one(event="close")
    start, opened = proxy.audit.entries()[:2]
    assert start["event"] == "start" and start["prev"] == ZEROS
    assert {key: opened[key] for key in ("event", "agent", "method", "host", "port", "verdict",
                                         "sni")} == {
        "event": "open", "agent": "alpha", "method": "CONNECT", "host": "o.test",
        "port": world.port, "verdict": "allow", "sni": "o.test"}
    assert opened["src"] == f"{proxy.addresses['alpha']}:{client.local_port}"
    assert opened["origin"] == f"{origin.address}:{world.port}"
    assert opened["policy"] >= 1 and "o.test" in opened["rule"]
    assert close["conn"] == opened["conn"]
    assert close["bytes_up"] == close["bytes_down"] == len(client.hello)
    assert [line["seq"] for line in proxy.audit.entries()] == list(range(
        start["seq"], start["seq"] + 3))


def test_start_line_tells_version_and_config(world):
    proxy = world.start()
    line = proxy.audit.entries()[0]
    text = json.dumps(line)
    assert line["event"] == "start"
    assert "version" in text and any(len(str(value)) == 64 and key != "prev"
                                     for key, value in line.items()), line


def test_refusal_is_in_the_log_before_the_client_reads_it(world):
    world.agent("alpha")
    proxy = world.start(server={"workers": 2})
    for number in range(100):
        assert_refusal(proxy.connect(f"h{number}.test", world.port), "host-not-allowed")
        assert proxy.audit.entries(event="deny")[-1]["host"] == f"h{number}.test"


def test_tunnel_is_in_the_log_before_its_first_byte_arrives(world):
    origin, missing = world.tcp_origin(handler=echo), []
    world.agent("alpha", allow=[".w.test"])
    proxy = world.start(server={"workers": 2})

    def look(conn):
        """Which hosts have their line at the moment in which the first byte is here."""
        conn.hosts = {line.get("host") for line in proxy.audit.entries(event="open")}
    origin.on_first_byte = look

    def run(thread):
        for number in range(6):
            name = f"h{thread}-{number}.w.test"
            world.dns.host(name, origin.address)
            client = proxy.open_tunnel(name, world.port)
            client.recv_exactly(len(client.hello))
            client.close()
    run_threads(run, 16)
    for conn in origin.connections:
        name = bytes(conn.received).split(b".w.test")[0].rsplit(b"\0", 1)[-1]
        host = name[1:].decode() if name[:1] < b"-" else name.decode()
        if not any(seen and seen.startswith(host) for seen in conn.hosts):
            missing.append((host, conn.hosts))
    assert len(origin.connections) == 96
    assert not missing


def run_threads(run, count):
    failures = []

    def guarded(number):
        try:
            run(number)
        except BaseException as error:
            failures.append(error)
    threads = [threading.Thread(target=guarded, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]


def test_request_is_in_the_log_before_it_arrives(world):
    origin, missing = world.http_origin("h.test"), []

    def look(exchange):
        paths = {line["path"] for line in proxy.audit.entries(event="open")}
        if exchange.request.target not in paths:
            missing.append(exchange.request.target)
        exchange.send(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
    origin.default = look
    world.agent("alpha", allow=["h.test"])
    proxy = world.start(server={"workers": 2})

    def run(thread):
        with proxy.client() as client:
            for number in range(8):
                url = f"http://h.test:{world.http_port}/{thread}-{number}"
                assert client.get(url).status == 200
    run_threads(run, 16)
    assert len(origin.requests) == 128
    assert not missing


def test_lines_equal_requests_under_load(world):
    """32 threads, all kinds of requests: as many lines as decisions, none lost, none twice."""
    world.tcp_origin("o.test", handler=echo)
    world.http_origin("h.test")
    world.agent("alpha", allow=["o.test", "h.test", "gone.test"])
    world.agent("beta", allow=["o.test"])
    proxy = world.start(server={"workers": 2})
    expected, lock = {}, threading.Lock()

    def count(what):
        with lock:
            expected[what] = expected.get(what, 0) + 1

    def tunnel(agent):
        client = proxy.open_tunnel("o.test", world.port, agent)
        client.recv_exactly(len(client.hello))
        client.close()
        count("open"), count("close")

    def fetch(agent):
        answer = proxy.get(f"http://h.test:{world.http_port}/", agent)
        count("open" if answer.status == 200 else answer.reason)
        if answer.status == 200:
            count("close")

    def refused(agent):
        count(proxy.connect("evil.test", world.port, agent).reason)

    def literal(agent):
        count(proxy.connect("127.0.0.1", world.port, agent).reason)

    def malformed(agent):
        with proxy.client(agent) as client:
            client.send(b"GET / HTTP/1.1\r\n\n\r\n")
            count(client.read_response().reason)

    def late(agent):
        client = proxy.tunnel("o.test", world.port, agent)
        client.send(hello.hello_for("p.test"))
        client.recv_to_end()
        client.close()
        count("sni-mismatch")

    def stranger(_):
        count(proxy.connect("o.test", world.port, "stranger").reason)

    def run(number):
        chooser = random.Random(number)
        for _ in range(25):
            chooser.choice([tunnel, fetch, refused, literal, malformed, late, stranger])(
                chooser.choice(["alpha", "beta"]))
    run_threads(run, 32)
    opened = expected.pop("open")
    assert len(proxy.audit.entries(event="open")) == opened
    proxy.audit.wait_count(expected.pop("close"), event="close")
    assert len(proxy.audit.entries(event="close")) == opened
    for reason, number in expected.items():
        assert len(proxy.audit.entries(event="deny", reason=reason)) == number, reason
    conns = [line["conn"] for line in proxy.audit.entries(event="close")]
    assert len(proxy.audit.entries()) == 1 + 2 * opened + sum(expected.values())
    assert set(conns) == {line["conn"] for line in proxy.audit.entries(event="open")}


# Injection.

EVIL = b"\"}\n{\"event\":\"open\",\"agent\":\"beta\"}\\\x00\x01\x7f\x1b[2J\xff\xe2\x80\xa8"
INJECTIONS = {
    "method": b"GE\"T" + EVIL + b" http://h.test/ HTTP/1.1\r\nHost: h.test\r\n\r\n",
    "target": b"GET http://h.test/" + EVIL + b" HTTP/1.1\r\nHost: h.test\r\n\r\n",
    "host": b"CONNECT " + EVIL + b":443 HTTP/1.1\r\nHost: h.test\r\n\r\n",
    "host that is quoted": b"CONNECT a\"b,\"verdict\":\"allow.test:443 HTTP/1.1\r\n\r\n",
    "port": b"CONNECT h.test:4\"3 HTTP/1.1\r\n\r\n",
    "header name": b"GET http://h.test/ HTTP/1.1\r\nHost: h.test\r\n" + EVIL + b": x\r\n\r\n",
    "header value": b"GET http://h.test/ HTTP/1.1\r\nHost: h.test\r\nX: " + EVIL + b"\r\n\r\n",
    "version": b"GET http://h.test/ HTTP/" + EVIL + b"\r\nHost: h.test\r\n\r\n",
    "newline in the path": b"GET http://h.test/a\n{\"event\":\"stop\"} HTTP/1.1\r\n"
    b"Host: h.test\r\n\r\n",
    "binary": bytes(range(256)) + b"\r\n\r\n",
}


@pytest.mark.parametrize("name", INJECTIONS)
def test_nothing_that_is_sent_makes_a_second_line(world, name):
    world.agent("alpha", allow=["h.test"])
    world.agent("beta", allow=["h.test"])
    proxy = world.start()
    before = len(proxy.audit.raw_lines())
    with proxy.client() as client:
        client.send(INJECTIONS[name])
        assert client.read_response().status in (400, 403)
        client.recv_to_end()
    assert len(proxy.audit.raw_lines()) == before + 1, proxy.audit.tail()
    line = proxy.audit.entries()[-1]
    assert (line["event"], line["agent"], line["verdict"]) == ("deny", "alpha", "deny")


def test_path_is_escaped_and_cut(world):
    origin = world.http_origin("h.test")
    world.agent("alpha", allow=["h.test"])
    proxy = world.start()
    base = f"http://h.test:{world.http_port}"
    path = "/quote\"back'tick`<>{}|^" + "a" * 5000
    assert proxy.get(base + path).status == 200
    line = proxy.audit.only(event="open")
    assert line["path"] == path[:len(line["path"])]
    assert 900 <= len(line["path"]) <= 1024
    assert origin.paths() == [path]


def test_server_name_is_escaped_and_cut(world):
    world.tcp_origin("o.test")
    world.agent("alpha", allow=["o.test"])
    proxy = world.start()
    client = proxy.tunnel("o.test", world.port)
    client.send(hello.hello_for(EVIL + b"x" * 3000))
    client.recv_to_end()
    line = proxy.audit.only(event="deny")
    assert line["agent"] == "alpha"
    assert len(line.get("sni", "")) <= 1024


SECRETS = [
    "GET http://user:hunter2@h.test:{p}/ HTTP/1.1\r\nHost: h.test:{p}\r\n\r\n",
    "GET http://h.test:{p}/?key=hunter2 HTTP/1.1\r\nHost: h.test:{p}\r\n\r\n",
    "GET http://h.test:{p}/#hunter2 HTTP/1.1\r\nHost: h.test:{p}\r\n\r\n",
    "GET http://evil.test:{p}/?key=hunter2 HTTP/1.1\r\nHost: evil.test:{p}\r\n\r\n",
    "GET http://h.test:{p}/ HTTP/1.1\r\nHost: h.test:{p}\r\nAuthorization: hunter2\r\n\r\n",
    "GET http://h.test:{p}/ HTTP/1.1\r\nHost: h.test:{p}\r\nX-Anything: hunter2\r\n\r\n",
    "CONNECT evil.test:443 HTTP/1.1\r\nProxy-Authorization: hunter2\r\n\r\n",
    "CONNECT user:hunter2@h.test:443 HTTP/1.1\r\n\r\n",
    "CONNECT hunter2@h.test:443 HTTP/1.1\r\n\r\n",
    "GET /?hunter2 HTTP/1.1\r\nHost: h.test\r\n\r\n",
    "POST http://h.test:{p}/ HTTP/1.1\r\nHost: h.test:{p}\r\nContent-Length: 7\r\n\r\nhunter2",
    "GET http://h.test:{p}/ HTTP/1.1\r\nHost: hunter2\r\n\r\n",
    "GET http://h.test:{p}/ HTTP/1.1\r\nHost: h.test:{p}\r\nX: hunter2\x00\r\n\r\n",
]


@pytest.mark.parametrize("number", range(len(SECRETS)))
def test_secret_is_never_written(world, number):
    world.http_origin("h.test")
    world.agent("alpha", allow=["h.test"])
    proxy = world.start()
    with proxy.client() as client:
        client.send(SECRETS[number].format(p=world.http_port).encode())
        answer = client.read_response()
    assert b"hunter2" not in answer.raw_head + answer.body
    until(lambda: len(proxy.audit.entries()) > 1)
    assert "hunter2" not in proxy.audit.path.read_text()
    assert "hunter2" not in proxy.log_text()
    assert "hunter2" not in proxy.metrics().text


# Files.

def test_chain_goes_on_over_restarts(world):
    world.agent("alpha")
    proxy = world.start()
    proxy.connect("x.test", world.port)
    proxy.stop()
    count = len(proxy.audit.raw_lines())
    proxy.start()
    proxy.connect("y.test", world.port)
    proxy.audit.verify()
    lines = proxy.audit.entries()
    assert lines[count]["event"] == "start" and lines[count]["prev"] != ZEROS
    seqs = [line["seq"] for line in lines]
    assert seqs == sorted(set(seqs))


def test_torn_last_line_is_ended_and_named(world):
    world.agent("alpha")
    proxy = world.start()
    proxy.connect("x.test", world.port)
    proxy.stop()
    whole = proxy.audit.path.read_bytes()
    torn = b'{"ts":"2026-11-16T00:00:00.000000Z","seq":99,"event":"op'
    proxy.audit.path.write_bytes(whole + torn)
    proxy.start()
    proxy.connect("y.test", world.port)
    data = proxy.audit.path.read_bytes()
    assert data.startswith(whole + torn + b"\n")
    after = json.loads(data[len(whole + torn) + 1:].split(b"\n")[0])
    assert after["event"] == "audit-gap"
    proxy.audit.verify()


def test_sigusr1_reopens_the_file(world):
    world.agent("alpha")
    proxy = world.start()
    proxy.connect("x.test", world.port)
    old = proxy.audit.path.rename(proxy.folder / "audit.old")
    proxy.connect("y.test", world.port)
    assert len(old.read_bytes().splitlines()) == 3, "still the old file"
    proxy.signal(signal.SIGUSR1)
    until(proxy.audit.path.exists)
    proxy.connect("z.test", world.port)
    assert proxy.audit.entries(host="z.test")
    lines = old.read_bytes().split(b"\n")[:-1] + proxy.audit.raw_lines()
    verify_lines(lines)
    assert {json.loads(line).get("host") for line in lines} >= {"x.test", "y.test", "z.test"}
    proxy.stop()
    proxy.audit.path.write_bytes(b"\n".join(
        old.read_bytes().split(b"\n")[:-1] + proxy.audit.raw_lines()) + b"\n")


def test_log_rotates_by_itself_at_its_size(world):
    world.agent("alpha")
    proxy = world.start(audit={"max_bytes": "8KiB", "keep": 20})
    for number in range(100):
        assert_refusal(proxy.connect(f"h{number}.test", world.port), "host-not-allowed")
    files = sorted(proxy.folder.glob("audit.jsonl.*"), key=lambda path: -int(path.suffix[1:]))
    assert len(files) >= 2
    proxy.stop()
    parts = [path.read_bytes() for path in [*files, proxy.audit.path]]
    assert all(len(part) <= 10000 and part.endswith(b"\n") for part in parts)
    lines = b"".join(parts).split(b"\n")[:-1]
    verify_lines(lines)
    hosts = [json.loads(line).get("host") for line in lines]
    assert [host for host in hosts if host] == [f"h{number}.test" for number in range(100)]
    proxy.audit.path.write_bytes(b"".join(parts))


def test_log_can_go_to_standard_output(world):
    world.agent("alpha")
    proxy = world.start(audit={"path": "-"})
    proxy.connect("x.test", world.port)
    lines = proxy.stdout.read_bytes().split(b"\n")[:-1]
    verify_lines(lines)
    assert json.loads(lines[-1])["host"] == "x.test"


def test_chain_can_be_turned_off(world):
    world.agent("alpha")
    proxy = world.start(audit={"chain": False})
    proxy.connect("x.test", world.port)
    assert all("prev" not in line for line in proxy.audit.entries())


def test_log_is_not_readable_by_everybody(world):
    world.agent("alpha")
    proxy = world.start()
    assert proxy.audit.path.stat().st_mode & 0o007 == 0


# squid's format.

def test_squid_format_has_one_line_per_finished_request(world):
    origin = world.tcp_origin("o.test", handler=echo)
    plain = world.http_origin("h.test")
    world.agent("alpha", allow=["o.test", "h.test"])
    proxy = world.start(audit={"format": "squid"})
    client = proxy.open_tunnel("o.test", world.port)
    client.recv_exactly(len(client.hello))
    assert proxy.audit.raw_lines() == []
    client.close()
    until(lambda: len(proxy.audit.raw_lines()) == 1)
    proxy.get(f"http://h.test:{world.http_port}/path?query=hunter2")
    proxy.connect("evil.test", world.port)
    until(lambda: len(proxy.audit.raw_lines()) == 3)
    source = proxy.addresses["alpha"]
    lines = [line.decode().split() for line in proxy.audit.raw_lines()]
    assert all(len(line) == 10 and line[2] == source for line in lines), lines
    assert [line[3] for line in lines] == ["TCP_TUNNEL/200", "TCP_MISS/200", "TCP_DENIED/403"]
    assert [line[5] for line in lines] == ["CONNECT", "GET", "CONNECT"]
    assert lines[0][6] == f"o.test:{world.port}"
    assert lines[1][6] == f"http://h.test:{world.http_port}/path"
    assert [line[8] for line in lines] == [f"HIER_DIRECT/{origin.address}",
                                           f"HIER_DIRECT/{plain.address}", "HIER_NONE/-"]
    assert int(lines[0][4]) == len(client.hello)
    assert float(lines[0][0]) > 1.7e9


def test_squid_format_cannot_be_injected_into(world):
    world.agent("alpha")
    proxy = world.start(audit={"format": "squid"})
    for data in INJECTIONS.values():
        with proxy.client() as client:
            client.send(data)
            client.recv_to_end()
    lines = proxy.audit.raw_lines()
    assert len(lines) == len(INJECTIONS)
    assert all(len(line.split()) == 10 for line in lines), lines
    assert all(0x20 <= byte < 0x7F for line in lines for byte in line)
