"""stile run: what it tells at the end."""

import os
import re
import subprocess
from pathlib import Path

import pytest
from harness import hello
from harness.wait import until


def summary(done):
    return [line[len("stile: "):] for line in done.err.splitlines() if line.startswith("stile: ")]


def test_a_command_that_asks_for_nothing_gets_no_summary(fence):
    assert fence.run(command=["true"]).err == ""


def test_requests_and_bytes_are_counted(fence):
    fence.world.tls_origin("o.test")
    url = f"https://o.test:{fence.world.port}/"
    done = fence.shell("--allow", "o.test", script=f"""
        for i in 1 2 3; do curl -q -s -o /dev/null --cacert ca.pem {url}; done""")
    assert re.fullmatch(r"3 requests, [0-9.]+ (B|KiB) up, [0-9.]+ (B|KiB) down; 0 refused",
                        summary(done)[0]), done.err
    assert " 0 B" not in done.err and len(summary(done)) == 1


def at_the_end(done):
    """The summary without what was told while the command ran."""
    lines = summary(done)
    first = next(i for i, line in enumerate(lines) if re.match(r"\d+ requests?, ", line))
    return lines[first:]


def flags_of(done):
    """The line to paste."""
    return re.search(r"^stile: to allow (?:it|them): (.*)$", done.err, re.M).group(1).split()


def test_refused_hosts_and_one_line_of_flags_that_would_allow_them(fence):
    config = fence.write("plain.toml", "")
    done = fence.shell(config=config, script="""
        for i in 1 2; do curl -q -s https://a.test/; done
        curl -q -s https://b.test:8443/
        curl -q -s http://c.test/
        curl -q -s http://d.test:8080/
        true""")
    lines = at_the_end(done)
    assert lines[0].startswith("5 requests, 0 B up, 0 B down; 5 refused")
    assert lines[1] == "refused a.test:443 (host-not-allowed), 2 times"
    assert set(lines[2:-1]) == {
        "refused b.test:8443 (port-not-allowed)", "refused c.test:80 (port-not-allowed)",
        "refused d.test:8080 (port-not-allowed)"}, done.err
    flags = flags_of(done)
    assert flags[:2] == ["--allow", "a.test"] and flags[::2] == ["--allow"] * 4
    assert set(flags[1::2]) == {"a.test", "b.test:8443", "http://c.test", "http://d.test:8080"}


def test_the_flags_do_what_they_say(fence):
    fence.world.tls_origin("o.test")
    fence.world.http_origin("h.test")
    config = fence.config(egress={"ports": [443], "http_ports": []})
    script = f"""
        curl -q -s -o /dev/null --cacert ca.pem https://o.test:{fence.world.port}/ || exit 1
        curl -q -sf -o /dev/null http://h.test:{fence.world.http_port}/ || exit 2"""
    first = fence.shell(config=config, script=script.replace("|| exit 1", ""))
    assert first.code == 2
    flags = flags_of(first)
    assert len(flags) == 4
    done = fence.shell(*flags, config=config, script=script)
    assert done.code == 0 and "0 refused" in done.err, done.err


def test_a_deny_rule_and_an_address_have_no_flag(fence):
    config = fence.write("plain.toml", "")
    done = fence.shell("--allow", ".test", "--deny", "a.test", config=config, script="""
        curl -q -s https://a.test/; curl -q -s https://192.0.2.1/; true""")
    assert "(host-denied): a deny rule names it" in done.err and "(ip-literal): " in done.err
    assert "--allow" not in done.err and "stile allow" not in done.err


def test_what_the_command_sends_cannot_draw_on_the_terminal_or_be_pasted(fence):
    done = fence.python(script=r"""
import socket
for host in (b"a.test\x1b[2J", b"$(id).test", b"a;b.test", b"-rf.test"):
    sock = socket.create_connection(("127.0.0.1", 3128))
    sock.sendall(b"CONNECT " + host + b":443 HTTP/1.1\r\n\r\n")
    sock.recv(4096)
""")
    assert "4 refused" in done.err and "\x1b" not in done.err
    assert "--allow" not in done.err and "stile allow" not in done.err


def test_the_summary_stays_short_whatever_the_command_asks_for(fence):
    done = fence.python(script="""
import socket
for number in range(400):
    sock = socket.create_connection(("127.0.0.1", 3128))
    sock.sendall(b"CONNECT n%d.test:443 HTTP/1.1\\r\\n\\r\\n" % number)
    sock.recv(4096)
""")
    lines = at_the_end(done)
    assert lines[0].startswith("400 requests") and len(lines) == 23
    assert lines[-2] == "and 380 more"
    assert len(lines[-1]) < 5000 and len(done.err) < 10000


def test_a_failed_command_that_knows_no_proxy_is_told_so(fence):
    for script in ("import socket; socket.create_connection(('192.0.2.1', 443))",
                   "import socket; socket.getaddrinfo('example.test', 443)"):
        done = fence.python("--no-capture", script=script)
        assert done.code == 1 and "no request reached the proxy" in done.err, (script, done)
        assert "$HTTPS_PROXY" in done.err


def test_a_failed_command_that_went_to_an_address_is_told_so(fence):
    done = fence.python(script="import socket; socket.create_connection(('192.0.2.1', 443))")
    assert done.code == 1 and "only allowed names resolve" in done.err, done


def test_a_command_that_fails_for_another_reason_is_not_lectured(fence):
    assert fence.run(command=["false"]).err == ""
    done = fence.shell(script="curl -q -s https://a.test/; exit 3")
    assert done.code == 3 and "no request reached" not in done.err


def test_a_browser_that_is_refused_for_its_hello_gets_the_flag_that_allows_it(fence):
    """Chromium sends the ECH extension in every hello."""
    fence.world.tcp_origin("o.test", handler=lambda conn: [conn.recv(), conn.send(b"pong")])
    sent = hello.records(hello.client_hello("o.test", extra=[hello.ech_extension()]))
    script = f"""if True:
        import socket
        proxy = socket.create_connection(("127.0.0.1", 3128), 20)
        proxy.sendall(b"CONNECT o.test:{fence.world.port} HTTP/1.1\\r\\n\\r\\n")
        proxy.recv(4096)
        proxy.sendall(bytes.fromhex("{sent.hex()}"))
        print(proxy.recv(4096))"""
    first = fence.python("--allow", "o.test", script=script)
    flags = flags_of(first)
    assert flags == ["--ech", f"o.test:{fence.world.port}"], first.err
    done = fence.python("--allow", "o.test", *flags, script=script)
    assert done.out == "b'pong'\n" and "0 refused" in done.err, done.err


@pytest.mark.skipif(os.geteuid() != 0, reason="only root sees what `stile` waits for")
def test_a_command_that_stops_the_writers_of_standard_error_does_not_suppress_it(fence):
    """The descriptor is shared: non-blocking for one is non-blocking for all, and a full pipe takes nothing more."""
    process = fence.start(command=["/usr/bin/python3", "-c", """
import os, urllib.request
try:
    urllib.request.urlopen("http://refused.test/")
except OSError:
    pass
os.set_blocking(2, False)
try:
    while True:
        os.write(2, bytes(4096))
except BlockingIOError:
    pass
"""], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    def writes_to_it():
        """The call that it is in, and its first argument."""
        return Path(f"/proc/{process.pid}/syscall").read_text().split()[1:2] == ["0x2"]
    until(lambda: process.poll() is not None or writes_to_it(), 30, "it writes the summary, or has given up")
    err = process.communicate(timeout=50)[1]
    assert b"refused refused.test:80" in err.replace(bytes(1), b""), err[-300:]
