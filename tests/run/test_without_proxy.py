"""stile run: programs that know nothing of a proxy."""

import json

from harness.checks import assert_untouched

NO_PROXY = ("--noproxy", "*")


def test_a_program_without_a_proxy_reaches_an_allowed_name(fence):
    origin = fence.world.tls_origin("o.test")
    done = fence.curl("--allow", "o.test", url=f"https://o.test:{fence.world.port}/", more=NO_PROXY)
    assert (done.code, done.out) == (0, "000 200"), done.err
    assert origin.names() == ["o.test"]


def test_a_refused_name_does_not_exist_and_is_told(fence):
    origin = fence.world.tls_origin("o.test")
    done = fence.curl(url=f"https://o.test:{fence.world.port}/", more=NO_PROXY)
    assert done.code == 6, done  # could not resolve host
    assert "refused o.test (host-not-allowed)" in done.err and "--allow o.test" in done.err
    assert_untouched(origin)
    assert fence.world.dns.names_asked() == set()


def test_plain_http_goes_by_its_host(fence):
    fence.world.http_origin("h.test")
    url = f"http://h.test:{fence.world.http_port}/"
    assert fence.curl("--allow", "h.test", url=url, more=NO_PROXY).out == "000 200"
    assert fence.curl("--allow", "h.test", url=url, more=[*NO_PROXY, "-H", "Host: x.test"]).out == "000 400"


def test_another_name_in_the_hello_is_refused(fence):
    origin = fence.world.tls_origin("a.test")
    port = fence.world.port
    done = fence.curl("--allow", "a.test", "--allow", "b.test", url=f"https://b.test:{port}/",
                      more=[*NO_PROXY, "--connect-to", f"b.test:{port}:a.test:{port}"])
    assert done.code == 35, done  # TLS: an alert
    assert "sni-mismatch" in done.err
    assert_untouched(origin)


def test_addresses_lead_nowhere(fence):
    origin = fence.world.tls_origin("o.test")
    done = fence.python("--allow", "o.test", script=f"""
import socket
def outcome(to, port, kind):
    sock = socket.socket(socket.AF_INET, kind)
    sock.settimeout(20)
    try:
        sock.connect((to, port))
        sock.send(b"x")
        return sock.recv(1)
    except OSError as problem:
        return type(problem).__name__
for to in ("{origin.address}", "198.18.0.9", "198.18.0.1"):
    print(outcome(to, {fence.world.port}, socket.SOCK_STREAM))
print(outcome("198.18.0.9", 443, socket.SOCK_DGRAM), outcome("8.8.8.8", 53, socket.SOCK_DGRAM))
""")
    lines = done.out.split()
    assert set(lines[1:3]) == {"ConnectionResetError"} and "b'" not in done.out, done
    assert_untouched(origin)


def test_without_capture_there_are_no_names(fence):
    origin = fence.world.tls_origin("o.test")
    done = fence.curl("--allow", "o.test", "--no-capture", url=f"https://o.test:{fence.world.port}/", more=NO_PROXY)
    assert done.code == 6, done
    assert_untouched(origin)


def test_ports_of_patterns_are_captured(fence):
    """A server that speaks first, by its tcp:// pattern."""
    origin = fence.world.tcp_origin("s.test", handler=lambda conn: conn.send(b"hello"),
                                     port=fence.world.site.port_free_everywhere())
    done = fence.python("--allow", f"tcp://s.test:{origin.port}", script=f"""
import socket
print(socket.create_connection(("s.test", {origin.port}), 20).recv(10))
""")
    assert done.out == "b'hello'\n", done


def test_captured_requests_are_in_the_log(fence):
    fence.world.tls_origin("o.test")
    log = fence.folder / "audit.jsonl"
    fence.write("audit.jsonl", "")
    done = fence.curl("--allow", "o.test", "--audit", log, url=f"https://o.test:{fence.world.port}/", more=NO_PROXY)
    assert done.out == "000 200", done
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    assert [line["method"] for line in lines if line["event"] in ("open", "close")] == ["TCP", "TCP"]
