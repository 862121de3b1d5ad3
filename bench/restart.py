#!/usr/bin/env python3
"""What `systemctl restart stiled` costs an open tunnel: the longest pause, and the duration. As root.

    bench/restart.py [--build build/package] [--tunnels 1000] [--talking 16] [--runs 5]

Boots a machine with a real systemd, as tests/spawn does, with the units of the package. Some tunnels play ping-pong all
the time, the others have sent a byte. Then the service is restarted. The pause is the slowest round trip from the
command to a second after it; that of the seconds before is printed beside it. In the end a byte goes through every
tunnel. The new daemon and all else that the start needs share the processors with the old one.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "tests" / "e2e"), str(HERE.parent / "tests" / "spawn")]

INSIDE = r"""
import json, os, select, socket, subprocess, sys, time
sys.path.insert(0, "/opt/stile")
from tunnels_inside import NAME, ORIGIN, PROXY, SOURCE, receive

hello, count, talking, runs = bytes.fromhex(sys.argv[1]), *map(int, sys.argv[2:])

def echo():
    listener, poll, open_ones = socket.create_server(ORIGIN, backlog=4096), select.epoll(), {}
    poll.register(listener, select.EPOLLIN)
    while True:
        for number, _ in poll.poll():
            if number == listener.fileno():
                sock = listener.accept()[0]
                open_ones[sock.fileno()] = sock
                poll.register(sock, select.EPOLLIN)
            elif data := open_ones[number].recv(65536):
                open_ones[number].sendall(data)
            else:
                poll.unregister(number)
                open_ones.pop(number).close()

if os.fork() == 0:
    echo()

def tunnel():
    sock = socket.create_connection(PROXY, 20, (SOURCE, 0))
    sock.sendall(f"CONNECT {NAME}:443 HTTP/1.1\r\nHost: {NAME}:443\r\n\r\n".encode())
    head = b""
    while not head.endswith(b"\r\n\r\n"):
        head += receive(sock, 1)
    assert b" 200 " in head, head
    sock.sendall(hello)
    assert receive(sock, len(hello)) == hello
    return sock

time.sleep(0.5)
tunnels = [tunnel() for _ in range(count)]
talkers = {sock.fileno(): sock for sock in tunnels[:talking]}
began, poll = {}, select.epoll()
for number, sock in talkers.items():
    poll.register(number, select.EPOLLIN)
    began[number] = time.monotonic()
    sock.sendall(b"ping")

def slowest(is_over):
    slow, end = 0.0, None
    while end is None or time.monotonic() < end:
        if end is None and is_over():
            end = time.monotonic() + 1
        for number, _ in poll.poll(0.05):
            assert talkers[number].recv(64), "a tunnel was cut"
            now = time.monotonic()
            slow = max(slow, now - began[number])
            began[number] = now
            talkers[number].sendall(b"ping")
    return round(slow * 1000, 1)

for _ in range(runs):
    start = time.monotonic()
    before = slowest(lambda: time.monotonic() > start + 2)
    start = time.monotonic()
    restart = subprocess.Popen(["systemctl", "restart", "stiled"])
    took = []
    def is_over():
        if restart.poll() is None:
            return False
        took or took.append(round((time.monotonic() - start) * 1000))
        return True
    during = slowest(is_over)
    assert restart.returncode == 0
    print(json.dumps({"pause_ms": during, "before_ms": before, "restart_ms": took[0]}), flush=True)
for sock in tunnels[talking:]:
    sock.sendall(b"x")
    assert receive(sock, 1) == b"x"
for number in talkers:
    assert receive(talkers[number], 4) == b"ping"
print(json.dumps({"tunnels_alive": len(tunnels)}), flush=True)
os.kill(0, 15)
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", default="build/package")
    parser.add_argument("--tunnels", type=int, default=1000)
    parser.add_argument("--talking", type=int, default=16)
    parser.add_argument("--runs", type=int, default=5)
    flags = parser.parse_args()
    os.environ["STILE_BUILD"] = flags.build
    from harness.hello import hello_for
    from machine import Machine
    from spawner_config import spawner_toml
    from upgrades import CARD, SCRIPTS

    with tempfile.TemporaryDirectory(prefix="stile-bench-") as folder:
        machine = Machine(folder, spawner_toml())
        try:
            for script in SCRIPTS:
                (machine.path("/opt/stile") / script).write_text((HERE.parent / "tests" / "spawn" / script).read_text())
            machine.path("/opt/stile/restart_inside.py").write_text(INSIDE)
            with machine.path("/etc/hosts").open("a") as hosts:
                hosts.write("127.0.0.2 origin.test\n")
            machine.path("/etc/stile/agents.d/alpha.json").write_text(json.dumps(CARD))
            machine.run("systemctl", "restart", "stiled")
            words = ["setsid", "python3", "/opt/stile/restart_inside.py",
                     hello_for("origin.test").hex(), str(flags.tunnels), str(flags.talking), str(flags.runs)]
            subprocess.run(machine.command(*words), check=False, timeout=600)
            machine.run("/opt/stile/stile", "audit", "verify", "/var/log/stile/audit.jsonl")
        finally:
            machine.close()


if __name__ == "__main__":
    main()
