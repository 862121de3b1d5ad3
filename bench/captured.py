#!/usr/bin/python3
"""What a captured connection costs beside a CONNECT, and what an answer about a name costs. Needs root.

    bench/captured.py [--build build/package] [--rounds 7] [--scale 1.0]

Runs in a network namespace of its own, where the addresses that stand for names are handed to the daemon
as the fence does it (TPROXY). One daemon serves both ways in turn, round by round: CONNECT and first exchange
through the proxy, and the first exchange of a captured connection. Then 200 agents ask for names, over UDP:
names that they know, and new ones. Writes bench/results/DATE-captured.json.
"""

import argparse
import os
import pathlib
import socket
import struct
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

from runner import contenders, load, machine, scenarios, stile_config  # noqa: E402
from runner.results import Result  # noqa: E402

GATEWAY = "10.200.0.1"
PROXY_PORT = 3128
ASKING = 200  # agents; each may ask 500 times a second
INSIDE = "STILE_BENCH_NAMESPACE"
NETWORK = f"""
ip link set lo up
ip addr add {GATEWAY}/32 dev lo
ip route add local 198.18.0.0/15 dev lo
nft -f - <<'END'
table ip bench {{
  chain prerouting {{
    type filter hook prerouting priority mangle
    ip daddr 198.18.0.0/15 meta l4proto tcp tproxy to {GATEWAY}:{PROXY_PORT + 1} accept
  }}
}}
END
"""


def question(name):
    labels = b"".join(bytes([len(label)]) + label.encode() for label in name.split("."))
    return struct.pack("!6H", 7, 0x100, 1, 0, 0, 0) + labels + struct.pack("!BHH", 0, 1, 1)


def asker(source):
    sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    sock.settimeout(10)
    sock.bind((source, 0))
    sock.connect((GATEWAY, 53))
    return sock


def address_of(source, name):
    with asker(source) as sock:
        sock.send(question(name))
        answer = sock.recv(600)
    assert answer[3] & 15 == 0 and answer[7] == 1, answer
    return socket.inet_ntoa(answer[-4:])


class Daemon(contenders.Running):
    """Listens on the gateway, as behind the fence."""

    def __init__(self, build, work):
        allow = 'allow = [".origin.test"]'
        agents = [("agent", "127.0.1.0/24", allow)]
        agents += [(f"asks-{n}", f"127.0.2.{n}", allow) for n in range(1, ASKING + 1)]
        config = stile_config.write(
            work, f"{GATEWAY}:{PROXY_PORT}", {"origin.test": contenders.ORIGIN, **contenders.HOSTS}, agents,
            egress=f"ports = [{contenders.TLS_PORT}]", limits=stile_config.UNLIMITED)
        super().__init__([build / "cmd" / "stiled", "-c", config], PROXY_PORT, work)

    def wait_ready(self, seconds=60):
        while time.monotonic() < self.began + seconds:
            if self.process.poll() is not None:
                raise RuntimeError(f"stiled ended, see {self.log.name}")
            try:
                socket.create_connection((GATEWAY, PROXY_PORT), 5, ("127.0.1.1", 0)).close()
                return
            except OSError:
                time.sleep(0.01)
        raise RuntimeError("stiled is not ready")


def connections(bench, generator, daemon):
    result = Result("captured", "first exchange over a captured connection, 64 at a time; the floor is a CONNECT",
                    "cpu", "µs of CPU per connection", floor="CONNECT")
    captured = address_of("127.0.1.1", "origin.test")
    common = ["--sources", contenders.AGENTS, "--hello", generator.hello, "--pids",
              ",".join(map(str, daemon.pids())), "--count", bench.count(8000), "--warm-up", 500]
    ways = {
        "CONNECT": ["--proxy", f"{GATEWAY}:{PROXY_PORT}", "--target", f"origin.test:{contenders.TLS_PORT}"],
        "captured": ["--proxy", f"{captured}:{contenders.TLS_PORT}", "--direct"],
    }

    def one_round(flags):
        report = generator.run_with("connect", *flags, *common)
        return scenarios.entry_of(report, report["operations"], 1e6)
    for number in range(bench.rounds):
        names = list(ways) if number % 2 == 0 else list(reversed(ways))
        for name in names:
            result.add(name, bench.undisturbed(lambda: one_round(ways[name])))
    return result


def names(bench, daemon):
    result = Result("captured-names", f"answers about names over UDP, {ASKING} agents in turn", "cpu",
                    "µs of CPU per answer", floor="known name", columns={"per second": "per_second"})
    sockets = [asker(f"127.0.2.{n}") for n in range(1, ASKING + 1)]
    turns = max(int(100 * bench.scale), 5)

    def one_round(name_of):
        cpu, began, failed = machine.cpu_seconds(daemon.pids()), time.monotonic(), 0
        for turn in range(turns):
            packet = question(name_of(turn))
            for sock in sockets:
                sock.send(packet)
            failed += sum(sock.recv(600)[7] != 1 for sock in sockets)
        cpu, seconds = machine.cpu_seconds(daemon.pids()) - cpu, time.monotonic() - began
        count = turns * len(sockets)
        return {"cpu": cpu / count * 1e6, "per_second": count / seconds, "failed": failed, "used": 2 * seconds}
    for number in range(bench.rounds):
        result.add("known name", bench.undisturbed(lambda: one_round(lambda _: "origin.test")))
        # No agent may have more than 4,096 of them.
        fresh = iter(range(number * 500, number * 500 + 5 * turns + 1))
        result.add("new name", bench.undisturbed(lambda: one_round(lambda _: f"n{next(fresh)}.origin.test")))
    return result


def main():
    root = pathlib.Path(__file__).resolve().parent.parent
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=root / "build/package")
    parser.add_argument("--results", type=pathlib.Path, default=root / "bench/results")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--scale", type=float, default=1.0, help="size of a round; 0.1 is quick")
    flags = parser.parse_args()
    if INSIDE not in os.environ:
        os.environ[INSIDE] = "1"
        os.execvp("unshare", ["unshare", "--net", sys.executable, *sys.argv])
    subprocess.run(["sh", "-e", "-c", NETWORK], check=True)
    build = flags.build.resolve()
    with tempfile.TemporaryDirectory(prefix="captured-", dir=build) as folder:
        work = pathlib.Path(folder)
        with load.Load(build / "bench/loadgen", work) as generator:
            bench = scenarios.Bench(generator, [], work, flags.rounds, flags.scale)
            daemon = Daemon(build, work)
            try:
                daemon.wait_ready()
                for measure in (lambda: connections(bench, generator, daemon), lambda: names(bench, daemon)):
                    result = measure()
                    print(f"\n{result.table()}\n{result.save(flags.results)}", flush=True)
            finally:
                daemon.stop()


if __name__ == "__main__":
    main()
