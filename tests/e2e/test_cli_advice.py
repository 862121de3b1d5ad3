"""The "next:" line after a refusal is typed into a shell as it stands; then the request passes, or the
"note:" says what else has to be done."""

import json
import os
import subprocess
from pathlib import Path

import pytest
from harness import hello
from harness.cli import Operator, stile
from harness.config import Bare
from harness.stiled import binary
from harness.wait import until


class Place:
    """One agent, one origin that it may reach, one that it may not, and an operator with a shell."""

    def __init__(self, world, proxy):
        self.world, self.proxy, self.stile = world, proxy, Operator(proxy)
        self.env = {**self.stile.env, "PATH": f"{Path(binary('stile')).parent}:{os.environ['PATH']}"}

    def says(self, *command):
        """What `stile` says comes next: the lines behind "next:" and "note:"."""
        done = self.stile(*command)
        lines = [line.strip() for line in (done.out + done.err).splitlines()]
        return {key: [line[6:] for line in lines if line.startswith(key + ": ")]
                for key in ("next", "note")}

    def advice(self, host, port):
        """Of `explain` and of the log, which must not differ where both know the reason."""
        logged = self.says("audit", "show", "--denied", self.proxy.audit.path)
        explained = self.stile("explain", "alpha", f"{host}:{port}")
        if explained.code == 1:
            assert logged == self.says("explain", "alpha", f"{host}:{port}")
        return logged

    def type(self, command):
        done = subprocess.run(["sh", "-c", command], env=self.env, text=True, capture_output=True,
                              stdin=subprocess.DEVNULL, timeout=30, check=False)
        assert done.returncode == 0, (command, done)
        return done.stdout

    def change_agent(self, **keys):
        """What a note asks for: keys in the agent's entry, then the command at its end."""
        self.proxy.settings["agent"][0].update(keys)
        self.proxy.write_config()
        self.type("stile reload")

    def reason(self, host, port):
        """Why a tunnel is refused, at once or after its hello; None: it passes."""
        answer = self.proxy.connect(host, port)
        return None if answer.status == 200 else answer.reason

    def late_reason(self, host, port, first_bytes):
        before = len(self.proxy.audit.entries(event="deny"))
        opened = len(self.proxy.audit.entries(event="open"))
        with self.proxy.client() as client:
            assert client.connect_to(host, port).status == 200
            if first_bytes:
                client.send(first_bytes)

            def decided():
                audit = self.proxy.audit
                return (len(audit.entries(event="deny")) > before
                        or len(audit.entries(event="open")) > opened)
            until(decided, 20, "a decision about the hello")
        denied = self.proxy.audit.entries(event="deny")
        return denied[-1]["reason"] if len(denied) > before else None


@pytest.fixture
def place(world, request):
    world.tls_origin("known.test")
    world.tls_origin("fresh.test")
    agent = {"allow": ["known.test"], **getattr(request, "param", {}).get("agent", {})}
    world.agent("alpha", **agent)
    sections = getattr(request, "param", {}).get("sections", {})
    return Place(world, world.start(**sections))


def with_agent(**keys):
    return pytest.mark.parametrize("place", [{"agent": keys}], indirect=True)


def with_sections(**sections):
    return pytest.mark.parametrize("place", [{"sections": sections}], indirect=True)


def assert_next_lets_it_through(place, reason, host, port):
    assert place.reason(host, port) == reason
    advice = place.advice(host, port)
    command, = advice["next"]
    place.type(command)
    assert place.reason(host, port) is None, advice


def test_host_not_allowed(place):
    assert_next_lets_it_through(place, "host-not-allowed", "fresh.test", place.world.port)


def test_port_not_allowed(place):
    port = place.world.http_port
    place.world.tls_origin("other.test", port=port)
    place.world.dns.host("fresh.test", place.world.new_address())
    assert place.reason("fresh.test", port) == "port-not-allowed"
    command, = place.advice("fresh.test", port)["next"]
    assert command == f"stile allow alpha fresh.test:{port} --for 10m"
    place.type(command)
    assert place.reason("fresh.test", port) != "port-not-allowed"


def test_bare_name_would_not_help_where_443_is_not_listed(place):
    assert_next_lets_it_through_the_port(place, "known.test", 443, "known.test:443")
    assert_next_lets_it_through_the_port(place, "known.test", 5432, "tcp://known.test:5432")


def assert_next_lets_it_through_the_port(place, host, port, pattern):
    """Of the operator's advice and of the agent's hint, which must not differ."""
    answer = place.proxy.connect(host, port)
    assert answer.reason == "port-not-allowed"
    assert json.loads(answer.body)["hint"] == f"stile allow alpha {pattern}"
    command, = place.says("explain", "alpha", f"{host}:{port}")["next"]
    assert command == f"stile allow alpha {pattern} --for 10m"
    place.type(command)
    assert place.reason(host, port) != "port-not-allowed"


@with_agent(deny=["fresh.test"])
def test_port_of_a_denied_host_gets_no_grant(place):
    answer = place.proxy.connect("fresh.test", 8443)
    assert answer.reason == "port-not-allowed" and "hint" not in json.loads(answer.body)
    advice = place.advice("fresh.test", 8443)
    assert advice["next"] == [] and "deny rule" in advice["note"][0]


def test_underscore(place):
    place.world.tcp_origin("a_b.test")
    place.change_agent(private_exceptions=list(place.world.exceptions))
    assert_next_lets_it_through(place, "bad-request", "a_b.test", place.world.port)


def test_commands_name_the_socket_that_was_named(place):
    socket, plain = place.stile.socket, {k: v for k, v in place.stile.env.items() if k != "STILE_SOCKET"}
    done = stile("explain", "alpha", f"fresh.test:{place.world.port}", "--socket", socket, env=plain)
    command, = [line[6:] for line in done.out.splitlines() if line.startswith("next: ")]
    assert command.endswith(f"--socket {socket}")
    del place.env["STILE_SOCKET"]
    taken = place.type(command)
    place.type(taken.partition("undo: ")[2])
    undone = place.type(f"stile revoke alpha known.test --socket {socket}")
    place.type(undone.partition("undo: ")[2].splitlines()[0])
    assert place.reason("known.test", place.world.port) is None


def test_undo_of_a_wide_revocation_can_be_pasted(place):
    undone = place.stile.does("revoke", "alpha", "*")
    place.type(undone.partition("undo: ")[2].splitlines()[0])
    assert place.reason("known.test", place.world.port) is None


def test_grant_below_a_wider_revocation(place):
    place.stile.does("revoke", "alpha", ".test")
    advice = place.says("allow", "alpha", "known.test")
    assert advice["next"] == ["stile allow alpha .test"]
    place.type(advice["next"][0])
    assert place.reason("known.test", place.world.port) is None


def test_port_of_ssh_is_a_tunnel_without_tls(place):
    assert place.reason("known.test", 22) == "port-not-allowed"
    command, = place.advice("known.test", 22)["next"]
    assert command == "stile allow alpha tcp://known.test:22 --for 10m"
    place.type(command)
    assert place.reason("known.test", 22) != "port-not-allowed"


def test_revoked_host(place):
    place.stile.does("revoke", "alpha", "known.test")
    assert_next_lets_it_through(place, "host-denied", "known.test", place.world.port)


@with_agent(deny=["fresh.test"])
def test_deny_rule_is_named_and_nothing_is_suggested(place):
    assert place.reason("fresh.test", place.world.port) == "host-denied"
    advice = place.advice("fresh.test", place.world.port)
    assert advice["next"] == [] and f"{place.proxy.config}:" in advice["note"][0]
    place.change_agent(deny=[])
    assert place.reason("fresh.test", place.world.port) == "host-not-allowed"


def test_offline_agent(place):
    place.stile.does("mode", "offline", "alpha")
    assert_next_lets_it_through(place, "offline", "known.test", place.world.port)


def test_everybody_offline(place):
    place.stile.does("mode", "offline")
    assert_next_lets_it_through(place, "offline", "known.test", place.world.port)


def test_offline_twice_takes_two_steps(place):
    place.stile.does("mode", "offline")
    place.stile.does("mode", "offline", "alpha")
    for _ in range(2):
        command, = place.says("explain", "alpha", f"known.test:{place.world.port}")["next"]
        place.type(command)
    assert place.reason("known.test", place.world.port) is None


@with_agent(expires=Bare("2020-01-01T00:00:00Z"))
def test_expired_agent_of_the_config(place):
    assert place.reason("known.test", place.world.port) == "agent-expired"
    note, = place.advice("known.test", place.world.port)["note"]
    assert f"{place.proxy.config}:" in note and note.endswith("stile reload")
    place.change_agent(expires=Bare("2099-01-01T00:00:00Z"))
    assert place.reason("known.test", place.world.port) is None


@with_agent(bytes_up=1)
def test_budget_exhausted(place):
    client = place.proxy.client()
    client.connect_to("known.test", place.world.port)
    client.send(hello.hello_for("known.test"))
    until(lambda: place.reason("known.test", place.world.port) == "budget-exhausted", 20, "its end")
    command, = place.says("explain", "alpha", f"known.test:{place.world.port}")["next"]
    place.type(command)
    assert place.reason("known.test", place.world.port) is None


def test_ip_literal(place):
    address = place.world.new_address()
    assert place.reason(address, place.world.port) == "ip-literal"
    note, = place.advice(address, place.world.port)["note"]
    assert "allow_ip" in note and note.endswith("stile reload")
    place.change_agent(allow_ip=[address])
    assert place.reason(address, place.world.port) != "ip-literal"


def test_look_alike_is_warned_of_and_not_suggested(place):
    assert place.reason("knwon.test", place.world.port) == "host-not-allowed"
    advice = place.advice("knwon.test", place.world.port)
    assert advice["next"] == [] and "looks like known.test" in advice["note"][0]
    body = json.loads(place.proxy.connect("knwon.test", place.world.port).body)
    assert "hint" not in body and "looks like known.test" in body["message"]


@pytest.mark.parametrize("first_bytes, reason", [(b"SSH-2.0-x\r\n", "not-tls"),
                                                 (b"", "client-hello-timeout")])
@with_sections(limits={"client_hello_timeout_ms": 300})
def test_tunnel_without_tls(place, first_bytes, reason):
    target = "known.test", place.world.port
    assert place.late_reason(*target, first_bytes) == reason
    command, = place.advice(*target)["next"]
    assert command == f"stile allow alpha tcp://known.test:{place.world.port} --for 10m"
    place.type(command)
    assert place.late_reason(*target, b"SSH-2.0-x\r\n") is None


def test_sni_missing(place):
    target = "known.test", place.world.port
    nameless = hello.records(hello.client_hello())
    assert place.late_reason(*target, nameless) == "sni-missing"
    note, = place.advice(*target)["note"]
    assert 'sni = "off"' in note and note.endswith("stile reload")
    place.change_agent(sni="off")
    assert place.late_reason(*target, nameless) is None


def test_sni_mismatch_is_told_why_it_stays_refused(place):
    target = "known.test", place.world.port
    assert place.late_reason(*target, hello.hello_for("other.test")) == "sni-mismatch"
    advice = place.advice(*target)
    assert advice["next"] == [] and "stays refused" in advice["note"][0]


def test_ech_refused(place):
    target = "known.test", place.world.port
    hidden = hello.hello_for("known.test", extra=[hello.ech_extension()])
    assert place.late_reason(*target, hidden) == "ech-refused"
    note, = place.advice(*target)["note"]
    assert 'ech = ["known.test"]' in note and note.endswith("stile reload")
    place.change_agent(ech=["known.test"])
    assert place.late_reason(*target, hidden) is None


@with_sections(limits={"connections_per_agent": 1})
def test_too_many_connections(place):
    busy = place.proxy.open_tunnel("known.test", place.world.port)
    assert place.reason("known.test", place.world.port) == "too-many-connections"
    place.proxy.audit.wait_one(reason="too-many-connections")  # counted, then written once a second
    advice = place.says("audit", "show", "--denied", place.proxy.audit.path)
    command, = advice["next"]
    assert "known.test" in place.type(command) and "connections_per_agent" in advice["note"][0]
    busy.close()
    until(lambda: place.reason("known.test", place.world.port) is None, 20, "a free place")


def denied_advice(place, reason, **fields):
    """What the log says comes next, once the refusal is in it."""
    place.proxy.audit.wait_one(20, reason=reason, **fields)
    return place.says("audit", "show", "--denied", place.proxy.audit.path)


def raise_setting(place, note, section, key, value):
    """What a note asks for: a bound in a section of the config, then the command at its end."""
    assert f"raise {key} in [{section}]" in note and note.endswith("then: stile reload")
    place.proxy.settings[section][key] = value
    place.proxy.write_config()
    place.type("stile reload")


@with_sections(limits={"header_bytes": 1024})
def test_header_too_large(place):
    def ask():
        return place.proxy.connect("known.test", place.world.port, headers=[f"X-Long: {'x' * 2000}"])
    assert ask().reason == "header-too-large"
    note, = denied_advice(place, "header-too-large")["note"]
    raise_setting(place, note, "limits", "header_bytes", 65536)
    assert ask().status == 200


@with_sections(limits={"header_timeout_ms": 200})
def test_header_timeout(place):
    head = f"CONNECT known.test:{place.world.port} HTTP/1.1\r\n\r\n".encode()
    with place.proxy.client() as client:
        client.send(head[:10])
        assert client.read_response("CONNECT").reason == "header-timeout"
    note, = denied_advice(place, "header-timeout")["note"]
    raise_setting(place, note, "limits", "header_timeout_ms", 60_000)
    with place.proxy.client() as client:
        client.send(head[:10])
        with pytest.raises(TimeoutError):
            client.is_closed(0.4)  # twice the time that ended the first one
        client.send(head[10:])
        assert client.read_response("CONNECT").status == 200


@with_sections(limits={"idle_timeout_ms": 300})
def test_idle_timeout(place):
    client = place.proxy.open_tunnel("known.test", place.world.port)
    client.recv_to_end(20)
    note, = denied_advice(place, "idle-timeout")["note"]
    raise_setting(place, note, "limits", "idle_timeout_ms", 3_600_000)
    client = place.proxy.open_tunnel("known.test", place.world.port)
    place.proxy.audit.wait_count(2, 20, event="open")
    assert place.proxy.audit.entries(event="close", reason="idle-timeout")[1:] == []
    client.close()


@with_sections(dns={"timeout_ms": 86_400_000, "in_flight_per_agent": 1})
def test_rate_limited(place):
    place.stile.does("allow", "alpha", "hangs.test")
    place.world.dns.script("hangs.test", lambda question, transport, number: [])
    client = place.proxy.client()
    client.send(f"CONNECT hangs.test:{place.world.port} HTTP/1.1\r\n\r\n".encode())
    place.world.dns.wait_question("hangs.test")
    assert place.reason("known.test", place.world.port) == "rate-limited"
    note, = denied_advice(place, "rate-limited")["note"]
    raise_setting(place, note, "dns", "in_flight_per_agent", 64)
    assert place.reason("known.test", place.world.port) is None
    client.close()


def test_revoked_while_it_was_open(place):
    client = place.proxy.open_tunnel("known.test", place.world.port)
    place.proxy.audit.wait_one(20, event="open")
    place.stile.does("revoke", "alpha", "known.test")
    client.recv_to_end(20)
    command, = denied_advice(place, "revoked", event="close")["next"]
    assert command == f"stile explain alpha known.test:{place.world.port}"
    command, = place.says(*command.split()[1:])["next"]
    place.type(command)
    assert place.reason("known.test", place.world.port) is None


@with_sections(server={"workers": 1}, limits={"drain_timeout_ms": 20000})
def test_draining(place):
    client = place.proxy.open_tunnel("known.test", place.world.port)
    half = place.proxy.client()
    half.send(b"CONNECT known.test:")
    # The only worker has read that half when it answers what comes later.
    assert place.reason("fresh.test", place.world.port) == "host-not-allowed"
    place.stile.does("drain")
    half.send(f"{place.world.port} HTTP/1.1\r\n\r\n".encode())
    assert half.read_response("CONNECT").reason == "draining"
    advice = denied_advice(place, "draining")
    assert "stile status" in advice["next"] and "start it again" in advice["note"][-1]
    assert "draining" in place.type("stile status")
    client.close()
    assert place.proxy.wait_exit(20) == 0
    place.proxy.start()
    assert place.reason("known.test", place.world.port) is None


def test_address_forbidden(place):
    address = place.world.new_address()
    place.world.dns.host("inner.test", address)
    place.stile.does("allow", "alpha", "inner.test")
    assert place.reason("inner.test", place.world.port) == "address-forbidden"
    note, = place.advice("inner.test", place.world.port)["note"]
    assert "private_exceptions" in note and note.endswith("stile reload")
    opened = [*place.proxy.settings["egress"]["private_exceptions"], f"{address}/32"]
    place.change_agent(private_exceptions=opened)
    assert place.reason("inner.test", place.world.port) == "origin-unreachable"


@pytest.mark.parametrize("host, reason, said", [("nowhere.test", "dns-failure", "does not resolve"),
                                                ("bad..test", "bad-request", "malformed")])
def test_what_no_rule_can_change_is_told_of(place, host, reason, said):
    place.stile.does("allow", "alpha", "nowhere.test")
    assert place.reason(host, place.world.port) == reason
    advice = place.advice(host, place.world.port)
    assert advice["next"] == [] and said in advice["note"][0]


@pytest.mark.parametrize("request_line, said", [
    (b"CONNECT known.test HTTP/1.1", "has no port"), (b"CONNECT known.test:0 HTTP/1.1", "from 1 to 65535"),
    (b"CONNECT kn\xc3\xb6wn.test:443 HTTP/1.1", ""), (b"GET https://known.test/ HTTP/1.1", "through CONNECT"),
    (b"GET /path HTTP/1.1", "whole URL"), (b"GET http://u@known.test/ HTTP/1.1", "user info")])
def test_bad_request_says_what_is_wrong(place, request_line, said):
    with place.proxy.client() as client:
        client.send(request_line + b"\r\nHost: known.test\r\n\r\n")
        answer = client.read_response()
    assert answer.reason == "bad-request" and said in json.loads(answer.body)["message"]
    line = place.proxy.audit.only(event="deny", reason="bad-request")
    assert line["detail"] and line["detail"] in json.loads(answer.body)["message"]


def test_reload_that_needs_a_restart_says_so(place):
    place.proxy.settings["server"]["workers"] = 2
    place.proxy.write_config()
    assert place.says("reload")["next"][0].startswith("systemctl restart stiled")


def test_help_that_is_named_exists(place):
    command, = place.says("agents", "X!")["next"]
    assert "AGENT" in place.type(command).upper()


def test_origin_that_fails(place):
    place.world.dns.host("down.test", place.world.dead_address())
    place.stile.does("allow", "alpha", "down.test")
    place.change_agent(private_exceptions=[*place.world.exceptions])
    assert place.reason("down.test", place.world.port) == "origin-unreachable"
    advice = place.says("audit", "show", "--denied", place.proxy.audit.path)
    assert advice["next"] == [] and "the origin fails" in advice["note"][0]


@with_sections(limits={"connections": 1})
def test_overloaded(place):
    busy = place.proxy.open_tunnel("known.test", place.world.port)
    assert place.reason("known.test", place.world.port) == "overloaded"
    place.proxy.audit.wait_one(reason="overloaded")  # counted, then written once a second
    advice = place.says("audit", "show", "--denied", place.proxy.audit.path)
    command, = advice["next"]
    assert "1 connection" in place.type(command) and "`connections` in [limits]" in advice["note"][0]
    busy.close()
    until(lambda: place.reason("known.test", place.world.port) is None, 20, "a free place")


def test_unknown_agent(place):
    stranger = place.world.site.stranger
    advice = place.says("explain", stranger, "known.test")
    command, = advice["next"]
    assert "alpha" in place.type(command) and "`source`" in advice["note"][0]
    assert f"{stranger} belongs to no agent" in advice["note"][0]
    assert place.proxy.connect("known.test", place.world.port, agent="stranger").reason == "unknown-agent"
    shown = place.says("audit", "show", "--denied", place.proxy.audit.path)
    assert f"{stranger} belongs to no agent" in shown["note"][0]
    assert f"unknown-agent from {stranger}:" in place.stile.does("audit", "show", place.proxy.audit.path)
    place.change_agent(source=[*place.proxy.settings["agent"][0]["source"], stranger])
    answer = place.proxy.connect("known.test", place.world.port, agent="stranger")
    assert answer.status == 200


def test_explain_does_not_say_that_something_was_let_through(place):
    said = place.stile.does("explain", "alpha", f"known.test:{place.world.port}")
    assert "was let through" not in said
    assert "Nothing was sent; not looked at: address, origin, hello." in said
    answer = place.proxy.control().do("explain", agent="alpha", host="known.test", port=place.world.port)
    assert "was let through" not in answer["message"]


def test_tail_tells_it_once_of_each_kind(place):
    process = place.stile.start("tail", "--denied", stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        os.set_blocking(process.stdout.fileno(), False)
        text = ""

        def seen():
            nonlocal text
            place.reason("fresh.test", place.world.port)
            try:
                text += os.read(process.stdout.fileno(), 65536).decode()
            except BlockingIOError:
                pass
            return text.count("host-not-allowed") >= 3
        until(seen, 20, "three refusals")
        assert text.count(f"next: stile allow alpha fresh.test:{place.world.port} --for 10m") == 1
    finally:
        process.kill()
        process.communicate()
