"""stile run: what it tells while the command runs."""

import re
import subprocess

import pytest
from harness.wait import until
from screen import Screen

# Asks for each host of its arguments, then waits for a line.
ASK = r"""
import socket, sys
for host in sys.argv[1:]:
    sock = socket.create_connection(("127.0.0.1", 3128))
    sock.sendall(b"CONNECT %s:443 HTTP/1.1\r\n\r\n" % host.encode())
    sock.recv(4096)
print("asked", flush=True)
input()
"""

RAW = r"""
import os, socket, termios, tty
before = termios.tcgetattr(2)
tty.setraw(2)
sock = socket.create_connection(("127.0.0.1", 3128))
sock.sendall(b"CONNECT a.test:443 HTTP/1.1\r\n\r\n")
sock.recv(4096)
os.write(1, b"asked\r\n")
os.read(0, 1)
os.write(1, b"restoring\r\n")
termios.tcsetattr(2, termios.TCSANOW, before)
input()
"""


class Running:
    """A command with its standard error in a file, so that it can be looked at meanwhile."""

    def __init__(self, fence, *flags, command):
        self.err = open(fence.folder / "stderr", "w+b")  # noqa: SIM115
        self.process = fence.start(*flags, command=command, stdin=subprocess.PIPE,
                                   stdout=subprocess.PIPE, stderr=self.err)

    def text(self):
        self.err.seek(0)
        return self.err.read().decode()

    def lines(self):
        """Without the one that tells root that its command cannot write in root's directory."""
        return [line for line in self.text().splitlines()
                if line.startswith("stile: ") and "host root is never passed on" not in line]

    def end(self):
        self.process.communicate(b"\n", timeout=40)
        return self.process.returncode


@pytest.fixture
def ask(fence):
    opened = []

    def start(*hosts, flags=()):
        opened.append(Running(fence, *flags, command=["/usr/bin/python3", "-c", ASK, *hosts]))
        assert opened[-1].process.stdout.readline() == b"asked\n", opened[-1].text()
        return opened[-1]
    yield start
    for one in opened:
        one.process.kill()
        one.process.wait()
        one.err.close()


def test_the_first_refusal_of_a_host_is_told_at_once_and_once(ask):
    run = ask("a.test", "a.test", "b.test", "a.test")
    until(lambda: "refused b.test" in run.text(), 20, "a line about the second host")
    live = run.lines()
    assert len(live) == 2, live
    assert re.match(r"stile: refused a\.test:443 \((host|port)-not-allowed\); to allow it", live[0])
    assert "a.test" in live[0].partition("to allow it")[2]
    run.end()
    assert any(line.endswith(", 3 times") for line in run.lines()), run.text()


def test_what_no_flag_allows_is_told_with_its_cause(ask):
    run = ask("192.0.2.1")
    until(lambda: "192.0.2.1" in run.text(), 20, "a line about the address")
    assert "(ip-literal): the destination is an IP address" in run.lines()[0]


def test_what_is_only_observed_is_told_once_at_the_end(fence):
    fence.world.tls_origin("o.test")
    done = fence.curl("--observe", url=f"https://o.test:{fence.world.port}/")
    assert done.out == "200 200" and done.err.startswith("stile: 1 request, "), done
    assert done.err.count("would refuse o.test") == 1


def test_a_command_that_asks_for_everything_gets_a_few_lines(ask):
    run = ask(*(f"n{number}.test" for number in range(100)))
    until(lambda: "at the end" in run.text(), 20, "the last line")
    assert len(run.lines()) == 21


def test_a_full_screen_program_is_not_drawn_over(fence):
    screen = Screen(fence.line("--no-ask", command=["/usr/bin/python3", "-c", RAW]), fence.folder)
    try:
        screen.wait_for(b"asked")
        screen.type(b"x")
        screen.wait_for(b"restoring")  # what was before it is cut off
        assert b"refused" not in screen.seen.partition(b"restoring")[0]
        screen.wait_for(b"stile: refused a.test:443")
        screen.type(b"\n")
        screen.wait_for(b"ended 0")
    finally:
        screen.close()
