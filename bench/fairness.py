#!/usr/bin/python3
"""What one agent notices of another that does its worst, within the limits of the default config.

    bench/fairness.py [--build build/package] [--rounds 3]

One agent opens tunnels one after the other and times each, from connect to the first byte of the
origin; alone first, then beside each kind of abuse and all kinds together. The proxy has a core of its
own. The measured client and its origin share the other one with the abuser, before whom they have
priority, so that what they wait for is the proxy. Tunnels in which the host of a virtual machine took
a core away are left out. Writes bench/results/DATE-fairness.json.
"""

import argparse
import os
import pathlib
import shutil
import socket
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

from runner import contenders, machine, stile_config  # noqa: E402
from runner.load import record_hello  # noqa: E402
from runner.results import Result  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parent.parent
ABUSED, OWN = "127.0.0.2", "127.0.0.3"  # the origins of the abuser and of the other agent
ABUSER, OTHER = "127.0.1.1", "127.0.1.2"
PORT = contenders.TLS_PORT
PAUSE_SECONDS = 0.002
TUNNELS = 8  # of the abuser's bulk, in each direction
SLOW = 560  # heads that come byte by byte; all kinds together stay just below the limit of 1,024


class Abuse:
    """Context manager: programs that load the proxy as the abuser until it ends."""

    def __init__(self, bench, *kinds):
        self.commands = [command for kind in kinds for command in getattr(self, kind)(bench)]
        self.running = []

    @staticmethod
    def _load(bench, command, *flags):
        return [bench.loadgen, command, "--proxy", f"127.0.0.1:{bench.port}", "--sources", 1,
                "--hello", bench.abuser_hello, "--target", f"origin.test:{PORT}", "--seconds", 600,
                *flags]

    def flood(self, bench):
        """As many CONNECTs as it gets answered, half of them to a host that it may not reach."""
        many = ["--count", 10**9, "--concurrency", 200]
        return [self._load(bench, "connect", *many),
                self._load(bench, "connect", *many, "--refused", "--target", f"denied.test:{PORT}")]

    def bulk(self, bench):
        size = ["--bytes", 10**13, "--concurrency", TUNNELS]
        return [self._load(bench, "bulk", *size), self._load(bench, "bulk", *size, "--up")]

    def slowloris(self, bench):
        return [[sys.executable, __file__, "--slowloris", bench.port]]

    def __enter__(self):
        for command in self.commands:
            self.running.append(subprocess.Popen(
                ["nice", "-n", "19", *machine.pinned(machine.LOAD_CORE, command)],
                stdin=subprocess.PIPE, stdout=subprocess.DEVNULL))
        time.sleep(1)  # the flood is at its height before the clock runs
        return self

    def __exit__(self, *_):
        for process in self.running:
            process.kill()
            process.wait()


def send_slowly(port):
    """A child: heads that never end, a byte each half second, begun again when they are cut."""
    sockets = []
    while True:
        while len(sockets) < SLOW:
            made = socket.create_connection(("127.0.0.1", port), 30, (ABUSER, 0))
            made.sendall(b"CONNECT origin.test:9443 HTTP/1.1\r\nX: ")
            sockets.append(made)
        kept = []
        for sock in sockets:
            try:
                sock.sendall(b"x")
                kept.append(sock)
            except OSError:
                sock.close()
        sockets = kept
        time.sleep(0.5)


class Bench:
    """Context manager: the proxy and both origins run inside."""

    def __init__(self, build, loadgen):
        self.loadgen = loadgen
        self.work = build / "fairness-work"
        shutil.rmtree(self.work, ignore_errors=True)
        self.port = contenders.free_port()
        self.config = stile_config.write(
            self.work, f"127.0.0.1:{self.port}", {"origin.test": ABUSED, "own.test": OWN},
            [("abuser", ABUSER, 'allow = ["origin.test"]'), ("other", OTHER, 'allow = ["own.test"]')],
            egress=f"ports = [{PORT}]")
        self.abuser_hello = self.work / "abuser.bin"
        record_hello(self.abuser_hello)
        record_hello(self.work / "own.bin", "own.test")
        self.hello = (self.work / "own.bin").read_bytes()
        self.stiled = build / "cmd/stiled"
        self.origins = []

    def __enter__(self):
        os.sched_setaffinity(0, {machine.LOAD_CORE})
        for address, nice in ((ABUSED, "19"), (OWN, "-10")):
            command = [self.loadgen, "origin", "--tls", f"{address}:{PORT}", "--http",
                       f"{address}:{contenders.HTTP_PORT}"]
            self.origins.append(subprocess.Popen(["nice", "-n", nice, *command],
                                                 stdin=subprocess.PIPE, stdout=subprocess.PIPE))
            self.origins[-1].stdout.readline()
        self.proxy = contenders.Running([self.stiled, "-c", self.config], self.port, self.work)
        self.proxy.wait_ready()
        os.nice(-10)
        return self

    def __exit__(self, *_):
        self.proxy.stop()
        for origin in self.origins:
            origin.kill()
            origin.wait()
        shutil.rmtree(self.work, ignore_errors=True)

    def one_tunnel(self):
        """Seconds from connect to the origin's first byte."""
        began = time.perf_counter()
        with socket.socket() as sock:
            sock.settimeout(30)
            sock.bind((OTHER, 0))
            sock.connect(("127.0.0.1", self.port))
            sock.sendall(b"CONNECT own.test:%d HTTP/1.1\r\n\r\n" % PORT)
            answer = sock.recv(4096)
            if not answer.startswith(b"HTTP/1.1 200"):
                raise RuntimeError(f"not let through: {answer!r}")
            sock.sendall(self.hello)
            if not sock.recv(4096):
                raise RuntimeError("the tunnel was cut")
            return time.perf_counter() - began

    def measure(self, count):
        """p50 and p99 in µs of `count` tunnels in which no core was stolen, and the share of others.

        The clock of stolen time runs late by a tick, so a theft within the next two tunnels counts too.
        """
        taken, thefts, kept = [], [], []
        while len(kept) < count and len(taken) < 10 * count:
            thefts.append(machine.stolen_ticks())
            taken.append(self.one_tunnel() * 1e6)
            time.sleep(PAUSE_SECONDS)
            if len(taken) > 2 and thefts[-3] == thefts[-1]:
                kept.append(taken[-3])
        kept.sort()
        return kept[len(kept) // 2], kept[len(kept) * 99 // 100], 1 - len(kept) / len(taken)


KINDS = {"flood": ["flood"], "slowloris": ["slowloris"], "bulk both ways": ["bulk"],
         "all at once": ["flood", "slowloris", "bulk"]}


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/package")
    parser.add_argument("--loadgen", type=pathlib.Path, help="default: that of the build")
    parser.add_argument("--results", type=pathlib.Path, default=ROOT / "bench/results")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--count", type=int, default=1000, help="tunnels of one measurement")
    parser.add_argument("--slowloris", type=int, metavar="PORT", help=argparse.SUPPRESS)
    flags = parser.parse_args()
    if flags.slowloris:
        return send_slowly(flags.slowloris)
    result = Result("fairness", "CONNECT of one agent beside another's abuse", "ratio",
                    "p99 ÷ quiet p99", columns={"quiet p99 µs": "quiet_p99_us", "p50 µs": "p50_us",
                                                "p99 µs": "p99_us", "dropped": "dropped"})
    build = flags.build.resolve()
    with Bench(build, flags.loadgen or build / "bench/loadgen") as bench:
        bench.measure(200)
        for _ in range(flags.rounds):
            for name, kinds in KINDS.items():
                quiet50, quiet99, _ = bench.measure(flags.count)
                time_of_cores = machine.CoreTime()
                with Abuse(bench, *kinds):
                    p50, p99, dropped = bench.measure(flags.count)
                result.add(name, {"quiet_p50_us": quiet50, "quiet_p99_us": quiet99, "p50_us": p50,
                                  "p99_us": p99, "ratio": p99 / quiet99, "dropped": dropped,
                                  "steal": time_of_cores.shares()["steal"]})
    print(f"\n{result.table()}\n{result.save(flags.results)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
