"""The control socket: lines, bounds, permissions, and clients that behave badly."""

import os
import socket
import stat
import subprocess
import sys

import pytest
from harness.control import Control
from harness.wait import until

pytestmark = pytest.mark.hostile_bytes

LIMIT = 64 * 1024


@pytest.fixture
def proxy(world):
    world.agent("alpha", allow=["o.test"])
    return world.start()


def test_socket_has_mode_0660(proxy):
    assert stat.S_IMODE(os.stat(proxy.settings["server"]["control"]).st_mode) == 0o660


def test_ping_and_status_tell_of_the_daemon(proxy):
    with proxy.control() as control:
        for action in ("ping", "status"):
            answer = control.do(action)
            assert answer["mode"] == "enforce" and answer["workers"] == 1
            assert answer["generation"] >= 1 and answer["uptime_seconds"] >= 0
            assert answer["version"] and answer["rejected_cards"] == []
        assert answer["agents"] == 1 and answer["grants"] == 0


def test_several_requests_in_one_write_are_answered_in_order(proxy):
    with proxy.control() as control:
        lines = [b'{"action":"ping"}', b'{"action":"agents"}', b'{"action":"nonsense"}',
                 b'{"action":"agent","agent":"alpha"}']
        control.sock.sendall(b"\n".join(lines) + b"\n")
        answers = [control.read() for _ in lines]
    assert [answer["ok"] for answer in answers] == [True, True, False, True]
    assert answers[1]["agents"][0]["id"] == "alpha" and answers[3]["agent"]["id"] == "alpha"


def test_request_without_newline_is_served_at_the_end(proxy):
    with proxy.control() as control:
        control.sock.sendall(b'{"action":"ping"}')
        control.sock.shutdown(socket.SHUT_WR)
        assert control.read()["ok"] is True
        assert control.read_line() is None


def test_request_byte_by_byte_is_one_request(proxy):
    with proxy.control() as control:
        for byte in b'\n \r\n{"action":"ping"}\n':
            control.sock.sendall(bytes([byte]))
        assert control.read()["ok"] is True


@pytest.mark.parametrize("line, code, words", [
    (b"garbage", "bad-request", "not a request"),
    (b"\x00\xff\xfe", "bad-request", "not a request"),
    (b"[]", "bad-request", "object"),
    (b'{"action":"ping"} trailing', "bad-request", "not a request"),
    (b'{"agent":"alpha"}', "bad-request", "action"),
    (b'{"action":7}', "bad-request", "action"),
    (b'{"action":"pign"}', "unknown-action", "'ping'"),
    (b'{"action":"ping","ping":1}', "bad-request", "'ping'"),
    (b'{"action":"agent","agnet":"alpha"}', "bad-request", "'agent'"),
    (b'{"action":"agent"}', "bad-request", "'agent'"),
    (b'{"action":"agent","agent":"nobody"}', "unknown-agent", "'nobody'"),
    (b'{"action":"agent","agent":"NOT AN ID"}', "bad-request", "agent"),
    (b'{"action":"agent","agent":"alpha","agent":"beta"}', "bad-request", "twice"),
    (b'{"action":"allow","agent":"alpha","hosts":[]}', "bad-request", "hosts"),
    (b'{"action":"allow","agent":"alpha","hosts":"x.test"}', "bad-request", "hosts"),
    (b'{"action":"allow","agent":"alpha","hosts":["10.0.0.1"]}', "bad-request", "hosts"),
    (b'{"action":"allow","agent":"alpha","hosts":["x.test"],"ttl_seconds":0}', "bad-request", "ttl"),
    (b'{"action":"allow","agent":"alpha","hosts":["x.test"],"bytes_up":"5M"}', "bad-request",
     "bytes_up"),
    (b'{"action":"revoke","agent":"alpha"}', "bad-request", "'hosts' or 'grant'"),
    (b'{"action":"mode","mode":"off"}', "bad-request", "mode"),
    (b'{"action":"explain","agent":"alpha"}', "bad-request", "url"),
    (b'{"action":"adopt-listener","agent":"alpha"}', "bad-request", "SCM_RIGHTS"),
    (b'{"action":"adopt-capture","agent":"alpha"}', "bad-request", "SCM_RIGHTS"),
    (b'{"action":"adopt-capture"}', "bad-request", "SCM_RIGHTS"),
    (b'{"action":"put-agent","card":"alpha"}', "bad-request", "card"),
])
def test_bad_request_is_refused_and_the_connection_goes_on(proxy, line, code, words):
    with proxy.control() as control:
        answer = control.raw(line + b"\n")
        assert answer["ok"] is False and answer["error"]["code"] == code
        assert words in answer["error"]["message"]
        assert control.do("ping")


def test_request_of_64_kib_is_served_and_one_byte_more_is_not(proxy):
    padding = LIMIT - len(b'{"action":"ping"}')
    with proxy.control() as control:
        assert control.raw(b'{"action":"ping"}' + b" " * padding + b"\n")["ok"] is True
        answer = control.raw(b'{"action":"ping"}' + b" " * (padding + 1) + b"\n")
        assert answer["error"]["code"] == "too-large"
        assert control.do("ping")


def test_endless_line_is_refused_before_it_ends_and_then_skipped(proxy):
    with proxy.control() as control:
        assert control.raw(b"x" * (LIMIT + 1))["error"]["code"] == "too-large"
        control.sock.sendall(b"y" * 300_000 + b"\n")
        assert control.do("ping")


def test_client_that_sends_half_a_line_holds_up_nobody(proxy):
    with proxy.control() as half, proxy.control() as other:
        half.sock.sendall(b'{"action":')
        assert other.do("ping")
        assert half.raw(b'"ping"}\n')["ok"] is True


def test_client_that_never_reads_holds_up_nobody(proxy):
    stuck = proxy.control()
    stuck.sock.setblocking(False)
    line = b'{"action":"agents"}\n' * 1000
    sent = 0
    try:
        while sent < 64 << 20:  # the daemon stops reading long before
            sent += stuck.sock.send(line)
    except BlockingIOError:
        pass
    with proxy.control() as other:
        for _ in range(20):
            assert other.do("ping")
    stuck.close()


def test_many_clients_are_served_at_once(proxy):
    clients = [proxy.control() for _ in range(100)]
    for client in clients:
        client.send("ping")
    assert all(client.read()["ok"] for client in clients)


def test_clients_that_leave_free_their_place(proxy):
    before = proxy.open_files()
    for _ in range(300):
        with proxy.control() as control:
            control.sock.sendall(b'{"action":"pi')
    until(lambda: proxy.open_files() <= before + 2, 20)


def test_tails_that_leave_before_they_are_answered_are_forgotten(proxy):
    def leave(times):
        for _ in range(times):
            with proxy.control() as control:
                control.sock.sendall(b'{"action":"tail"}\n' + b"x" * 16000)
        with proxy.control() as control:
            assert control.ask("ping")["ok"]
    leave(300)
    before = proxy.resident_bytes()
    leave(2000)
    assert proxy.resident_bytes() - before < 10 << 20


def test_stale_socket_is_replaced(world):
    path = world.short_path("control.sock")
    with socket.socket(socket.AF_UNIX) as left_over:
        left_over.bind(path)
    proxy = world.start()
    assert proxy.control().do("ping")


def test_socket_of_a_running_daemon_is_not_taken_away(world, proxy):
    second = world.proxy(server={"listen": [], "metrics": ""}, audit={"path": "-"})
    second.config = second.folder / "second.toml"
    second.log = second.folder / "second.log"
    second.start(wait=False)
    second.expected_exit = {1}
    assert second.wait_exit(20) == 1
    assert "control" in second.log_text()
    assert proxy.control().do("ping")


def test_missing_group_is_an_error(world):
    proxy = world.proxy(server={"control_group": "no-such-group-here"})
    proxy.start(wait=False)
    proxy.expected_exit = {1}
    assert proxy.wait_exit(20) == 1
    assert "no-such-group-here" in proxy.log_text()


LOOKING = [("ping", {}), ("status", {}), ("agents", {}), ("agent", {"agent": "alpha"}),
           ("connections", {}), ("explain", {"agent": "alpha", "url": "https://o.test/"}),
           ("asks", {}), ("tail", {})]
CHANGING = [("allow", {"agent": "alpha", "hosts": ["x.test"]}), ("mode", {"mode": "offline"}),
            ("revoke", {"agent": "alpha", "hosts": ["o.test"]}), ("reload", {}), ("drain", {}),
            ("rotate", {}), ("remove-agent", {"agent": "alpha"}),
            ("budget-reset", {"agent": "alpha"}), ("adopt-listener", {"agent": "alpha"}),
            ("adopt-capture", {"agent": "alpha"}),
            ("answer", {"ask": "x", "verdict": "deny"}),
            ("put-agent", {"card": {"agent_id": "beta", "allowed_hosts": []}})]


def test_read_socket_shows_and_changes_nothing(world):
    world.agent("alpha", allow=["o.test"])
    proxy = world.start(server={"read_only_group": "root"})
    path = os.path.join(os.path.dirname(proxy.settings["server"]["control"]), "read.sock")
    assert stat.S_IMODE(os.stat(path).st_mode) == 0o660
    for action, fields in CHANGING:
        with Control(path) as reader:
            assert reader.refused(action, **fields)["code"] == "forbidden"
    for action, fields in LOOKING:
        with Control(path) as reader:
            assert reader.do(action, **fields)
    assert proxy.control().do("status")["mode"] == "enforce"
    assert not proxy.audit.entries(event="policy") and not proxy.audit.entries(event="grant")


@pytest.mark.skipif(os.geteuid() != 0, reason="being many users needs root")
def test_users_who_may_only_look_lock_out_nobody_else(world):
    """However many they are: without the control socket nobody can stop an agent."""
    world.agent("alpha")
    proxy = world.start(server={"read_only_group": "root"})
    path = os.path.join(os.path.dirname(proxy.settings["server"]["control"]), "read.sock")
    os.chmod(os.path.dirname(path), 0o755)
    code = f"""
import socket, sys
held = []
for _ in range(600):
    held.append(socket.socket(socket.AF_UNIX))
    held[-1].connect({path!r})
    held[-1].sendall(b'{{"action":"ping"}}\\n')
served = 0
for one in held:
    try:
        served += one.recv(1) == b"{{"
    except ConnectionError:
        pass
print(served, flush=True)
sys.stdin.read()
"""
    users = [subprocess.Popen(["setpriv", f"--reuid={uid}", "--regid=0", "--clear-groups", "/usr/bin/prlimit", "-n1024", sys.executable,
                               "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) for uid in (61001, 61002, 61003)]
    try:
        served = [int(user.stdout.readline()) for user in users]
        assert max(served) <= 256 and 256 < sum(served) <= 512, served
        assert proxy.control().do("mode", mode="offline")
    finally:
        for user in users:
            user.communicate("")


def test_there_is_no_read_socket_unless_asked_for(proxy):
    folder = os.path.dirname(proxy.settings["server"]["control"])
    assert "read.sock" not in os.listdir(folder)


def test_socket_from_systemd_is_served(world):
    world.agent("alpha")
    path = world.short_path("passed.sock")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(path)
        listener.listen()
        proxy = world.proxy(server={"control": path})

        def pass_on():
            os.dup2(listener.fileno(), 3)
            os.environ["LISTEN_PID"] = str(os.getpid())
        # LISTEN_PID has to be the daemon's own, which only the shell in between knows.
        proxy.start(wrapper=["sh", "-c", "LISTEN_PID=$$ exec \"$@\"", "sh"], preexec=pass_on,
                    environment={"LISTEN_FDS": "1", "LISTEN_FDNAMES": "control"}, pass_fds=(3,))
    assert Control(path).do("ping")
    assert proxy.connect("o.test", world.port).reason == "host-not-allowed"


def test_what_a_client_says_is_no_second_line(proxy):
    with proxy.control() as control:
        error = control.refused("allow", agent="alpha", hosts=["x.test"], reason='a\n{"event":"open"}')
        assert error["code"] == "bad-request"
        reason = '"}\u2028 \u00fc {"event":"open"}'
        control.do("allow", agent="alpha", hosts=["x.test"], reason=reason)
        assert control.do("agent", agent="alpha")["agent"]["grants"][0]["reason"] == reason
    assert "x.test" in proxy.audit.only(event="grant")["detail"]
    assert not proxy.audit.entries(event="open")
