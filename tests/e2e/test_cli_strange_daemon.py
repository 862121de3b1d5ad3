"""stile against a socket where no daemon is, or one that does not behave."""

import json
import os
import pty
import socket
import threading

import pytest
from harness.cli import environment, stile, stile_as_nobody


class Scripted:
    """A control socket that answers each request line with the next of its lines."""

    def __init__(self, path, *answers):
        self.requests = []
        self._answers = [answer if isinstance(answer, bytes) else json.dumps(answer).encode() + b"\n"
                         for answer in answers]
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(str(path))
        self._listener.listen()
        self.path = str(path)
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self):
        connection, _ = self._listener.accept()
        with connection, connection.makefile("rb") as lines:
            for answer in self._answers:
                self.requests.append(json.loads(lines.readline()))
                connection.sendall(answer)
        self._listener.close()


@pytest.fixture
def socket_path(world):
    return world.short_path("control.sock")


LOOKING = ["status", "agents", "connections", "tail"]
CHANGING = [["allow", "alpha", "a.test"], ["revoke", "alpha", "a.test"], ["mode", "offline"],
            ["remove-agent", "alpha"], ["budget", "reset", "alpha"], ["reload"], ["rotate"], ["drain"]]


@pytest.mark.parametrize("arguments", [*([name] for name in LOOKING), *CHANGING,
                                       ["explain", "alpha", "https://a.test/"]])
def test_no_daemon_is_status_3_and_names_the_socket(arguments):
    done = stile(*arguments, "--socket", "/nonexistent/control.sock")
    assert done.code == 3
    assert "/nonexistent/control.sock" in done.err and "next: systemctl" in done.err


def test_socket_is_taken_from_the_environment():
    done = stile(env=environment(STILE_SOCKET="/nonexistent/from-environment.sock"))
    assert done.code == 3 and "/nonexistent/from-environment.sock" in done.err


def test_stale_socket_is_no_daemon(socket_path):
    with socket.socket(socket.AF_UNIX) as stale:
        stale.bind(socket_path)
    assert stile("status", "--socket", socket_path).code == 3


def test_no_daemon_as_json():
    done = stile("status", "--json", "--socket", "/nonexistent/control.sock")
    assert json.loads(done.out)["error"]["code"] == "no-daemon"


@pytest.mark.skipif(os.geteuid() != 0, reason="becoming somebody else needs root")
def test_missing_permission_names_the_group_unless_it_is_roots(socket_path):
    with socket.socket(socket.AF_UNIX) as closed:
        closed.bind(socket_path)
        closed.listen()
        os.chmod(socket_path, 0o660)
        folder = os.path.dirname(socket_path)
        roots = stile_as_nobody(folder, "status", "--socket", socket_path)
        os.chown(socket_path, 0, 1)
        daemons = stile_as_nobody(folder, "status", "--socket", socket_path)
    assert roots.code == daemons.code == 1
    assert "only root may" in roots.err and "usermod" not in roots.err
    assert "group daemon" in daemons.err and "usermod -aG daemon" in daemons.err


@pytest.mark.parametrize("answer, said", [
    (b"", "hung up"), (b"garbage\n", "not a JSON object"), (b"[]\n", "not a JSON object"),
    (b'{"ok":tr', "hung up"), (b"{}\n", "stile:")])
def test_answer_that_cannot_be_read_is_a_failure(socket_path, answer, said):
    Scripted(socket_path, answer)
    done = stile("status", "--socket", socket_path)
    assert done.code == 1 and said in done.err


EVIL = "a\x1b]0;owned\x07\x1b[2J\r\n\u009b31m\u202e.test"


def answers_with_evil():
    row = {"id": EVIL, "agent": EVIL, "host": EVIL, "port": 443, "origin": EVIL, "mode": EVIL, "source": [EVIL],
           "reason": EVIL, "rule": EVIL, "grants": [{"id": EVIL, "hosts": [EVIL], "reason": EVIL}],
           "allow": [EVIL]}
    return [
        (["status"], {"version": EVIL, "mode": EVIL, "rejected_cards": [{"file": EVIL, "problem": EVIL}]}),
        (["agents"], {"agents": [row]}),
        (["agents", "alpha"], {"agent": row}),
        (["connections"], {"connections": [row]}),
        (["allow", "alpha", "a.test"], {"grant": EVIL}),
        (["revoke", "alpha", "a.test"], {"ended": [EVIL], "denied": [EVIL]}),
        (["reload"], {"changed": [{"agent": EVIL, "added": EVIL, "removed": 1}]}),
        (["explain", "alpha", "https://a.test/"],
         {"verdict": EVIL, "reason": EVIL, "message": EVIL,
          "steps": [{"number": 1, "step": EVIL, "result": EVIL, "detail": EVIL}]}),
    ]


def assert_harmless(text):
    assert all(char == "\n" or 0x20 <= ord(char) <= 0x7E for char in text), repr(text)


@pytest.mark.parametrize("arguments, answer", answers_with_evil(), ids=lambda value: str(value)[:20])
def test_agents_bytes_do_not_reach_the_terminal(world, socket_path, arguments, answer):
    for number, options in enumerate([[], ["--json"]]):
        path = f"{socket_path}{number}"
        asks_first = arguments[0] == "allow"  # what the agent may reach already
        Scripted(path, *[{"ok": True, **answer}] * (2 if asks_first else 1))
        done = stile(*arguments, *options, "--socket", path)
        assert_harmless(done.out.replace("\xe2\x80\xa6", ""))
        assert_harmless(done.err.replace("\xe2\x80\xa6", ""))
        assert "owned" in done.out


def test_messages_of_the_daemon_are_escaped(socket_path):
    Scripted(socket_path, {"ok": False, "error": {"code": "conflict", "message": EVIL}})
    done = stile("reload", "--socket", socket_path)
    assert done.code == 1
    assert_harmless(done.err)


def on_a_terminal(arguments, columns, env):
    """What `stile` writes to a terminal of that many columns."""
    import fcntl
    import struct
    import termios
    child, terminal = pty.fork()
    if child == 0:
        from harness.stiled import binary
        os.execve(binary("stile"), ["stile", *arguments], env)
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    text = b""
    while True:
        try:
            part = os.read(terminal, 65536)
        except OSError:
            break
        if not part:
            break
        text += part
    os.close(terminal)
    os.waitpid(child, 0)
    return text.decode()



def test_colour_only_without_no_color(world, socket_path):
    rows = {"ok": True, "agents": [{"id": "alpha", "mode": "offline", "source": ["10.0.0.1"]}]}
    for number, (env, coloured) in enumerate([({"TERM": "xterm"}, True),
                                              ({"TERM": "xterm", "NO_COLOR": "1"}, False),
                                              ({"TERM": "dumb"}, False)]):
        path = f"{socket_path}{number}"
        Scripted(path, rows)
        text = on_a_terminal(["agents", "--socket", path], 80, environment(**env))
        assert ("\x1b[" in text) == coloured, (env, text)
        assert "alpha" in text
