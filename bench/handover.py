#!/usr/bin/env python3
"""What a take-over costs with many tunnels open: its duration, the longest pause of a tunnel, memory.

    bench/handover.py [--build build/package] [--tunnels 9500] [--talking 64] [--workers 1]

Opens the tunnels of one agent. Some of them play ping-pong all the time, the others have sent a byte. Then a
second daemon takes over. The pause is the slowest round trip of the tunnels that talk while they move; that of
one second before is printed beside it. In the end a byte goes through every tunnel, both ways.
"""

import argparse
import json
import multiprocessing
import os
import pathlib
import select
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

from revoke import MANY, ORIGIN, PROXY, raise_limit, serve_origin, tunnel  # noqa: E402
from runner import stile_config  # noqa: E402


class Talk:
    """Ping-pong on several tunnels, in a process of its own."""

    def __init__(self, count):
        self.ready = multiprocessing.Event()
        self.slowest = multiprocessing.Value("d", 0.0)
        self.trips = multiprocessing.Value("L", 0)
        self.process = multiprocessing.Process(target=self.play, args=(count,), daemon=True)
        self.process.start()
        assert self.ready.wait(60)

    def play(self, count):
        sockets = {sock.fileno(): sock for sock in (tunnel(MANY) for _ in range(count))}
        poll = select.epoll()
        began = {}
        for number, sock in sockets.items():
            poll.register(sock, select.EPOLLIN)
            began[number] = time.monotonic()
            sock.sendall(b"ping")
        self.ready.set()
        while True:
            for number, _ in poll.poll():
                if len(sockets[number].recv(64)) == 0:
                    os._exit(1)  # a tunnel was cut
                now = time.monotonic()
                self.slowest.value = max(self.slowest.value, now - began[number])
                self.trips.value += 1
                began[number] = now
                sockets[number].sendall(b"ping")

    def slowest_of(self, action):
        self.slowest.value = 0.0
        value = action()
        time.sleep(0.2)  # a trip that is under way ends
        assert self.process.is_alive(), "a tunnel that talks was cut"
        return value, self.slowest.value


def memory(pid, key):
    with open(f"/proc/{pid}/status") as status:
        for line in status:
            if line.startswith(key):
                return int(line.split()[1]) // 1024
    return 0


def take_over(flags, config, old):
    """Seconds until the old process has ended; memory of both while they run."""
    began = time.monotonic()
    fresh = subprocess.Popen([f"{flags.build}/cmd/stiled", "-c", config, "--take-over"])
    most = 0
    while old.poll() is None:
        try:
            most = max(most, memory(old.pid, "VmRSS") + memory(fresh.pid, "VmRSS"))
        except OSError:
            break
        assert fresh.poll() is None, "the new process has ended"
        time.sleep(0.002)
    old.wait()
    return fresh, time.monotonic() - began, most


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", default="build/package")
    parser.add_argument("--tunnels", type=int, default=9500)
    parser.add_argument("--talking", type=int, default=64)
    parser.add_argument("--workers", type=int, default=1)
    flags = parser.parse_args()
    count = min(flags.tunnels, raise_limit() // 2 - 500) - flags.talking
    with tempfile.TemporaryDirectory(dir=flags.build) as folder:
        folder = pathlib.Path(folder).resolve()
        config = stile_config.write(
            folder, ":".join(map(str, PROXY)), {"origin.test": ORIGIN[0]},
            [("many", MANY, 'allow = ["origin.test"]')],
            egress=f'ports = [{ORIGIN[1]}]\nsni = "off"', limits=stile_config.UNLIMITED,
            workers=flags.workers)
        origin = os.fork()
        if origin == 0:
            serve_origin()
        daemon = subprocess.Popen([f"{flags.build}/cmd/stiled", "-c", config])
        try:
            while not os.path.exists(f"{folder}/control.sock"):
                time.sleep(0.01)
            time.sleep(0.2)
            sockets = [tunnel(MANY) for _ in range(count)]
            talk = Talk(flags.talking)
            _, before = talk.slowest_of(lambda: time.sleep(1))
            alone = memory(daemon.pid, "VmRSS")
            (daemon, seconds, most), pause = talk.slowest_of(
                lambda: take_over(flags, config, daemon))
            talk.process.kill()
            for sock in sockets:
                sock.sendall(b"y")
            assert all(sock.recv(1) == b"y" for sock in sockets)
        finally:
            daemon.kill()
            os.kill(origin, 9)
            daemon.wait()
            os.waitpid(origin, 0)
    print(json.dumps({"tunnels": count + flags.talking, "duration_ms": round(seconds * 1e3),
                      "longest_pause_ms": round(pause * 1e3, 1),
                      "slowest_trip_ms_before": round(before * 1e3, 1),
                      "memory_mib_before": alone, "memory_mib_of_both": most}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
