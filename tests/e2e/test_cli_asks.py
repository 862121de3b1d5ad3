"""stile asks, approve, refuse: what a person sees and types; --watch on a real terminal."""

import json
import os
import pty
import select
import signal
import struct
import subprocess
import termios
import time
from fcntl import ioctl

import pytest
from harness.asks import find, hold, own_page
from harness.cli import Operator
from harness.origin import echo
from harness.stiled import binary
from harness.wait import until

LONG = {"limits": {"ask_hold_ms": 60000, "drain_timeout_ms": 500}}


@pytest.fixture
def proxy(world):
    for name in ("b.test", "c.test"):
        world.tcp_origin(name, handler=echo)
    world.agent("alpha", allow=["a.test"], unlisted="ask")
    return world.start(**LONG)


@pytest.fixture
def control(proxy):
    with proxy.control() as connection:
        yield connection


@pytest.fixture
def operator(proxy):
    return Operator(proxy)


def test_asks_lists_what_waits_and_what_to_type(world, proxy, control, operator):
    assert operator.does("asks") == "no request waits for an answer\n"
    _, ask = hold(proxy, control, "b.test", world.port)
    own_page(proxy, method="POST", body={"host": "b.test", "port": world.port,
                                         "reason": "please\u001b[31m"})
    out = operator.does("asks")
    assert ask["id"] in out and "alpha" in out and f"b.test:{world.port}" in out
    assert '"please\\x1b[31m"' in out and "\x1b" not in out
    assert f"stile approve {ask['id']}" in out and f"stile refuse {ask['id']}" in out
    assert json.loads(operator.does("asks", "--json"))["asks"][0]["id"] == ask["id"]
    assert "no request waits" not in operator.does("asks", "--agent", "alpha")
    assert "1 question" in operator.does("status")
    assert "\n  unlisted    ask\n" in operator.does("agents", "alpha")


def test_approve(world, proxy, control, operator):
    client, ask = hold(proxy, control, "b.test", world.port)
    out = operator.does("approve", ask["id"], "--for", "1h", "--reason", "ticket 7")
    assert f"alpha may reach b.test:{world.port} for 1h" in out and "stile revoke alpha --grant" in out
    assert client.read_response("CONNECT").status == 200
    assert 3500 < control.do("agent", agent="alpha")["agent"]["grants"][0]["seconds_left"] <= 3600
    assert "ticket 7" in proxy.audit.only(event="answer")["detail"]


def test_approve_wider(world, proxy, control, operator):
    _, ask = hold(proxy, control, "b.test", world.port)
    narrow = operator("approve", ask["id"], "--as", ".other.test")
    assert narrow.code == 1 and "next: stile approve --help" in narrow.err, narrow
    operator.does("approve", ask["id"], "--as", ".test")
    assert proxy.connect("c.test", world.port).status == 200


def test_refuse(world, proxy, control, operator):
    client, ask = hold(proxy, control, "b.test", world.port)
    assert "does not ask again for 10m" in operator.does("refuse", ask["id"])
    assert client.read_response("CONNECT").reason == "host-not-allowed"
    gone = operator("refuse", ask["id"])
    assert gone.code == 1 and "no longer open" in gone.err and "next: stile asks\n" in gone.err, gone
    unknown = operator("approve", "nonsense")
    assert unknown.code == 1 and "stile asks" in unknown.err


def test_explain_and_tail_tell_of_asks(world, proxy, control, operator):
    hold(proxy, control, "c.test", world.port)
    done = operator("explain", "alpha", f"https://b.test:{world.port}/")
    assert done.code == 1 and "person is asked" in done.out
    shown = operator.does("audit", "show", proxy.audit.path)
    assert " ask " in shown and "c.test" in shown


def test_tail_says_at_once_how_to_answer(world, proxy, control, operator):
    tail = operator.start("tail", stdout=subprocess.PIPE)
    os.set_blocking(tail.stdout.fileno(), False)
    shown = ""

    def shows(words):
        nonlocal shown
        try:
            shown += os.read(tail.stdout.fileno(), 65536).decode()
        except BlockingIOError:
            pass
        return words in shown

    def is_watching():
        proxy.connect("192.0.2.1", world.port)
        return shows("ip-literal")
    try:
        until(is_watching, 20, "a tail that watches")
        _, ask = hold(proxy, control, "c.test", world.port)
        until(lambda: shows(f"next: stile approve {ask['id']} --for 1h"), 20, "the way to answer")
    finally:
        tail.kill()
        tail.stdout.close()
        tail.wait()


def test_an_ask_that_was_refused_is_not_to_be_approved(world, proxy, control, operator):
    client, ask = hold(proxy, control, "c.test", world.port)
    operator.does("refuse", ask["id"])
    assert client.read_response("CONNECT").status == 403
    advice = operator("audit", "show", "--denied", proxy.audit.path).err
    assert "next: stile allow alpha c.test:" in advice and "stile approve" not in advice, advice
    assert "note: the question to the operator is no longer open" in advice


class Screen:
    """`stile asks --watch` on a pseudo-terminal."""

    def __init__(self, operator, *arguments):
        self.text = ""
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.execve(binary("stile"), ["stile", "asks", "--watch", *arguments],
                      {**operator.env, "TERM": "xterm"})
        ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 100, 0, 0))

    def read(self, seconds=0.05):
        while select.select([self.fd], [], [], seconds)[0]:
            try:
                data = os.read(self.fd, 65536)
            except OSError:
                data = b""
            if not data:
                return
            self.text += data.decode()
            seconds = 0

    def shows(self, words, seconds=20):
        def found():
            self.read()
            return words in self.now()
        until(found, seconds, f"{words!r} on the screen")

    def now(self):
        """The last picture."""
        return self.text[self.text.rfind("\x1b[H"):]

    def press(self, keys):
        os.write(self.fd, keys.encode())

    def end(self):
        deadline = time.monotonic() + 20
        while time.monotonic() < deadline:
            self.read()
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                os.close(self.fd)
                return os.waitstatus_to_exitcode(status)
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        raise AssertionError("stile asks --watch did not end")


def test_watch_answers_with_one_key(world, proxy, control, operator):
    client, ask = hold(proxy, control, "b.test", world.port)
    screen = Screen(operator)
    screen.shows("1 open ask\x1b")
    screen.shows(f"b.test:{world.port}")
    screen.shows("requests allowed")
    # A new one comes below, and the selection stays.
    _, second = hold(proxy, control, "c.test", world.port)
    screen.shows(f"c.test:{world.port}")
    picture = screen.now()
    assert picture.index("b.test:") < picture.index("c.test:")
    screen.press("h")
    assert client.read_response("CONNECT").status == 200
    screen.shows("approved")
    screen.shows("allowed  alpha")
    assert find(control, "c.test")["id"] == second["id"]
    screen.press("j")
    screen.press("n")
    until(lambda: not control.do("asks")["asks"], 20)
    screen.press("q")
    assert screen.end() == 0
    # The terminal is as it was: back from the other screen, the cursor visible.
    assert "\x1b[?1049h" in screen.text and screen.text.rstrip().endswith("\x1b[?1049l")
    assert ask["id"] in screen.text


def test_watch_chooses_how_long_and_how_wide(world, proxy, control, operator):
    hold(proxy, control, "b.test", world.port)
    screen = Screen(operator)
    screen.shows("1 open ask\x1b")
    screen.press("e")
    screen.shows("how long? 10m_")
    screen.press("\x7f\x7f\x7f2h\r")
    screen.shows("as which pattern?")
    screen.press(".test\r")
    screen.shows("approved")
    grant = control.do("agent", agent="alpha")["agent"]["grants"][0]
    assert grant["hosts"] == [".test"] and 7100 < grant["seconds_left"] <= 7200
    screen.press("\x03")
    assert screen.end() == 0


def test_watch_needs_a_terminal(operator):
    done = operator("asks", "--watch")
    assert done.code == 1 and "terminal" in done.err


def test_watch_ends_with_the_daemon(world, proxy, control, operator):
    screen = Screen(operator)
    screen.shows("0 open asks")
    proxy.stop()
    assert screen.end() == 3
    assert "the connection to the daemon has ended" in screen.text
