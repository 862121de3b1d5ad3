"""stile run: its own control socket: looked at and changed from another terminal."""

import json
import os
import shutil
import socket
import subprocess
import tempfile
from pathlib import Path

import pytest
from fence import USER
from harness.cli import StileRun, environment, without_daemon
from harness.wait import until

# For each line that it reads, asks the proxy for that host; prints the status.
ASK = r"""
import socket, sys
print("ready", flush=True)
for line in sys.stdin:
    sock = socket.create_connection(("127.0.0.1", 3128))
    sock.sendall(b"CONNECT %s HTTP/1.1\r\n\r\n" % line.strip().encode())
    print(sock.recv(4096).split(b" ")[1].decode(), flush=True)
    sock.close()
"""


class Shell:
    """A user with a runtime directory, commands that run, and another terminal."""

    def __init__(self, fence):
        self.fence, self.started = fence, []
        self.runtime = Path(tempfile.mkdtemp(prefix="stile-xdg-"))
        if os.geteuid() == 0:
            os.chown(self.runtime, USER, USER)
        self.env = environment(XDG_RUNTIME_DIR=str(self.runtime))

    def sockets(self):
        return sorted((self.runtime / "stile").glob("run-*.sock"))

    def start(self, *flags):
        process = self.fence.start(*flags, command=["/usr/bin/python3", "-c", ASK], env=self.env,
                                   stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE)
        self.started.append(process)
        assert process.stdout.readline() == b"ready\n"
        return process

    def stile(self, *words):
        done = subprocess.run([*without_daemon(), *self.fence.drop(), self.fence.binary, *map(str, words)],
                              env=self.env, capture_output=True, text=True, timeout=30,
                              stdin=subprocess.DEVNULL, check=False, cwd=self.fence.folder)
        return StileRun(done.returncode, done.stdout, done.stderr)

    def end(self, process):
        _, err = process.communicate(timeout=40)
        return err.decode()

    def close(self):
        for process in self.started:
            process.kill()
            process.wait()
        shutil.rmtree(self.runtime)


@pytest.fixture
def shell(user_fence):
    made = Shell(user_fence)
    yield made
    made.close()


def ask(process, host, port):
    process.stdin.write(f"{host}:{port}\n".encode())
    process.stdin.flush()
    return process.stdout.readline().decode().strip()


def test_a_host_is_allowed_while_the_command_runs(shell):
    world = shell.fence.world
    world.tcp_origin("o.test")
    run = shell.start("--allow", "other.test")
    assert ask(run, "o.test", world.port) == "403"
    done = shell.stile("allow", "run", f"o.test:{world.port}", "--for", "10m")
    assert done.code == 0 and "run may reach" in done.out, done
    assert "no daemon; asking stile run" in done.err
    assert ask(run, "o.test", world.port) == "200"
    assert shell.stile("revoke", "run", f"o.test:{world.port}").code == 0
    assert ask(run, "o.test", world.port) == "403"


def test_the_line_that_is_told_can_be_pasted(shell):
    world = shell.fence.world
    world.tcp_origin("o.test")
    run = shell.start()
    assert ask(run, "o.test", world.port) == "403"
    line = run.stderr.readline().decode()
    command = line.partition("to allow it now: ")[2].split()
    assert command[:3] == ["stile", "allow", "run"] and command[-2:] == ["--run", str(run.pid)], line
    shell.start()  # another one: it does not have to be alone
    assert shell.stile(*command[1:]).code == 0
    assert ask(run, "o.test", world.port) == "200"


def test_everything_that_looks_works(shell):
    run = shell.start("--allow", "o.test")
    assert ask(run, "x.test", 443) == "403"
    assert "run" in shell.stile("agents").out
    assert "1 denied" in shell.stile("status").out
    assert shell.stile("connections").code == 0
    explained = shell.stile("explain", "run", "https://x.test/")
    assert explained.code == 1 and "not-allowed" in explained.out
    tail = subprocess.Popen([*without_daemon(), *shell.fence.drop(), shell.fence.binary, "tail", "--json"], env=shell.env,
                            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    try:
        until(lambda: ask(run, "y.test", 443) == "403" and
              select_line(tail, "y.test"), 20, "a line of tail")
    finally:
        tail.kill()
        tail.wait()


def select_line(process, word):
    os.set_blocking(process.stdout.fileno(), False)
    text = process.stdout.read() or b""
    return word.encode() in text


def test_what_belongs_to_a_daemon_is_refused(shell):
    shell.start()
    for action in ("reload", "rotate", "drain"):
        done = shell.stile(action)
        assert done.code == 1 and "not a daemon" in done.err, done


def test_several_runs_have_to_be_named(shell):
    first, second = shell.start(), shell.start()
    done = shell.stile("status")
    assert done.code == 2 and "--run PID" in done.err, done
    named = [path.name[len("run-"):-len(".sock")] for path in shell.sockets()]
    assert len(named) == 2 and all(name in done.err for name in named)
    for name in named:
        assert shell.stile("status", "--run", name).code == 0
    done = shell.stile("status", "--run", "1")
    assert done.code == 3 and named[0] in done.err
    shell.end(first)
    shell.end(second)


def test_without_permission_for_the_daemon_the_own_runs_are_named(shell):
    run = shell.start()
    (own,) = shell.sockets()
    with socket.socket(socket.AF_UNIX) as daemon:
        daemon.bind(str(shell.runtime / "stile/control.sock"))
        daemon.listen()
        (shell.runtime / "stile/control.sock").chmod(0)
        done = shell.stile("status")
    name = own.name[len("run-"):-len(".sock")]
    assert done.code == 1 and "no permission" in done.err and f"--run {name}  " in done.err, done
    assert "next: sudo " in done.err, done
    shell.end(run)


def test_the_socket_goes_with_the_command(shell):
    run = shell.start()
    (path,) = shell.sockets()
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.parent.stat().st_mode & 0o777 == 0o700
    shell.end(run)
    assert shell.sockets() == []


def test_a_socket_that_a_killed_run_left_is_no_run(shell):
    run = shell.start()
    run.kill()
    run.wait()
    assert len(shell.sockets()) == 1
    done = shell.stile("status")
    assert done.code == 3 and "no daemon" in done.err, done
    assert shell.sockets() == []


def test_the_command_does_not_see_it(shell):
    folder = shell.runtime / "stile"
    shell.end(shell.start())  # so that there is a folder to name
    for flags in ((), ("--expose", shell.runtime), ("--expose", folder), ("--write", folder),
                  ("--files", "host"), ("--files", "host", "--expose", folder)):
        done = shell.fence.python(*flags, env=shell.env, script=f"""
import glob, os, socket
for path in glob.glob({str(shell.runtime)!r} + "/stile/*"):
    print("CONNECTED" if socket.socket(socket.AF_UNIX).connect_ex(path) == 0 else "hidden")
print("done")
""")
        assert "CONNECTED" not in done.out and done.out.endswith("done\n"), (flags, done)


def test_without_a_place_for_it_the_command_runs_all_the_same(user_fence):
    env = environment(XDG_RUNTIME_DIR="/proc/no/such/place")
    done = user_fence.shell(env=env, script="curl -q -s https://a.test/; echo ran")
    assert done.out == "ran\n" and "to allow it: --allow a.test" in done.err, done


def test_root_has_it_in_run_stile_and_leaves_nothing(root_fence):
    """The process that serves has given root up by then."""
    process = root_fence.start(command=["/usr/bin/python3", "-c", ASK], stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        assert process.stdout.readline() == b"ready\n"
        path = Path(f"/run/stile/run-{process.pid}.sock")
        assert path.stat().st_uid == 0 and path.stat().st_mode & 0o777 == 0o600
        with socket.socket(socket.AF_UNIX) as sock:
            sock.connect(str(path))
            sock.sendall(b'{"action":"agents"}\n')
            answer = json.loads(sock.makefile().readline())
        assert [agent["id"] for agent in answer["agents"]] == ["run"]
        process.communicate(timeout=40)
        until(lambda: not path.exists(), 20, "the end of the socket")
    finally:
        process.kill()
        process.wait()
