#!/usr/bin/env python3
"""How long a revocation takes with many tunnels open, and what the others notice of it.

    bench/revoke.py [--build build/package] [--tunnels 9500]

Opens the tunnels of one agent to one host, and one tunnel of another agent that plays ping-pong all
the time. Then revokes the host, and prints the time from the request to the last close that a client
sees and to the last line in the log, what the daemon's threads have computed for it, and the round trips
of the other agent before and meanwhile. Clients and origin do as little as they can: what is measured is
the proxy.
"""

import argparse
import json
import multiprocessing
import os
import pathlib
import resource
import select
import socket
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

from runner import stile_config  # noqa: E402

PROXY, ORIGIN = ("127.0.0.1", 23128), ("127.0.0.2", 29443)
MANY, OTHER = "127.0.1.1", "127.0.1.2"


def raise_limit():
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    return hard


def serve_origin():
    """A child: accepts everything and sends back what it gets; what was reset it leaves alone."""
    raise_limit()
    listener = socket.create_server(ORIGIN, backlog=4096)
    poll, sockets = select.epoll(), {}
    poll.register(listener, select.EPOLLIN)
    while True:
        for number, events in poll.poll():
            if number == listener.fileno():
                made, _ = listener.accept()
                made.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                sockets[made.fileno()] = made
                poll.register(made, select.EPOLLIN | select.EPOLLET)
            elif not events & (select.EPOLLHUP | select.EPOLLERR):
                sockets[number].sendall(sockets[number].recv(65536))


def tunnel(source):
    sock = socket.create_connection(PROXY, 30, (source, 0))
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    sock.sendall(b"CONNECT origin.test:29443 HTTP/1.1\r\n\r\n")
    answer = sock.recv(4096)
    assert answer.startswith(b"HTTP/1.1 200"), answer
    sock.sendall(b"x")
    assert sock.recv(1) == b"x"
    return sock


class PingPong:
    """A process of its own, so that what it sees is the proxy's doing."""

    def __init__(self):
        self.trips = multiprocessing.Value("L", 0)
        self.slowest = multiprocessing.Value("d", 0.0)
        self.began = multiprocessing.Value("d", 0.0)  # the trip that is under way
        self.process = multiprocessing.Process(target=self.play, daemon=True)
        self.process.start()

    def play(self):
        sock = tunnel(OTHER)
        while True:
            began = self.began.value = time.monotonic()
            sock.sendall(b"ping")
            sock.recv(4)
            self.slowest.value = max(self.slowest.value, time.monotonic() - began)
            self.trips.value += 1

    def rate(self, action):
        """Round trips a second while action() runs, and the slowest of them."""
        self.slowest.value, before, began = 0.0, self.trips.value, time.monotonic()
        value = action()
        ended = time.monotonic()
        trips = self.trips.value - before
        while self.began.value < ended:  # the one that is under way counts too
            time.sleep(0.001)
        return value, trips / (ended - began), self.slowest.value


def cpu_seconds(pid):
    with open(f"/proc/{pid}/stat") as stat:
        fields = stat.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def revoke(folder, sockets):
    """Seconds from the request to its answer, to the last close, and to the last line."""
    poll = select.epoll()
    for sock in sockets:
        poll.register(sock, select.EPOLLIN | select.EPOLLET)
    log = open(f"{folder}/audit.jsonl")
    log.seek(0, os.SEEK_END)
    control = socket.socket(socket.AF_UNIX)
    control.connect(f"{folder}/control.sock")
    began = time.monotonic()
    control.sendall(b'{"action":"revoke","agent":"many","hosts":["origin.test"]}\n')
    closed, answered = set(), []
    threading.Thread(target=lambda: (control.recv(4096), answered.append(time.monotonic()))).start()
    while len(closed) < len(sockets):
        closed.update(number for number, _ in poll.poll(60, 4096))
    last = time.monotonic() - began
    lines, begun = 0, ""
    while lines < len(sockets) or not answered:
        whole, _, begun = (begun + log.read()).rpartition("\n")
        lines += whole.count('"reason":"revoked"')
        time.sleep(0.001)
    return answered[0] - began, last, time.monotonic() - began


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", default="build/package")
    parser.add_argument("--tunnels", type=int, default=9500)
    parser.add_argument("--workers", type=int, default=1)
    flags = parser.parse_args()
    count = min(flags.tunnels, raise_limit() // 2 - 500)
    with tempfile.TemporaryDirectory(dir=flags.build) as folder:
        folder = pathlib.Path(folder).resolve()
        allow = 'allow = ["origin.test"]'
        config = stile_config.write(
            folder, ":".join(map(str, PROXY)), {"origin.test": ORIGIN[0]},
            [("many", MANY, allow), ("other", OTHER, allow)],
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
            others = PingPong()
            sockets = [tunnel(MANY) for _ in range(count)]
            _, before, slowest_before = others.rate(lambda: time.sleep(1))
            cpu = cpu_seconds(daemon.pid)
            times, during, slowest = others.rate(lambda: revoke(folder, sockets))
            cpu = cpu_seconds(daemon.pid) - cpu
            others.process.kill()
        finally:
            daemon.kill()
            os.kill(origin, 9)
            daemon.wait()
            os.waitpid(origin, 0)
    answered, last, logged = (round(seconds * 1e3, 1) for seconds in times)
    print(json.dumps({"tunnels": count, "answered_ms": answered, "last_close_ms": last,
                      "last_line_ms": logged, "daemon_cpu_ms": round(cpu * 1e3),
                      "other_trips_per_second_before": round(before), "meanwhile": round(during),
                      "slowest_trip_ms_before": round(slowest_before * 1e3, 1),
                      "slowest_meanwhile": round(slowest * 1e3, 1)}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
