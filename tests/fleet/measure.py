#!/usr/bin/python3
"""Measures a fleet: how long a publish and the switch take to be in force everywhere, and what an
idle host costs. Not a test: python3 tests/fleet/measure.py [HOSTS]
"""

import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "e2e"))

from harness.control import Control  # noqa: E402
from harness.etcd import Cluster, missing  # noqa: E402
from harness.fleet import Fleet  # noqa: E402
from harness.wait import until  # noqa: E402

POLICY = '[[agent]]\nid = "alpha"\nsource = ["127.0.0.11"]\nallow = ["h{}.test"]\n'


def processor_seconds(pid):
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def resident_mib(pid):
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS"):
            return int(line.split()[1]) / 1024
    return 0


class Watcher:
    """One kept connection per host: a question costs the daemon next to nothing."""

    def __init__(self, hosts):
        self.controls = [Control(host.socket) for host in hosts]

    def times(self, start, is_done):
        left, done = list(self.controls), []
        while left:
            for control in list(left):
                if is_done(control.do("status")):
                    left.remove(control)
                    done.append(time.monotonic() - start)
        return sorted(done)


def show(what, times):
    print(f"{what}: in force, from the start of the command: "
          f"first {times[0]:.2f} s, half {times[len(times) // 2]:.2f} s, all {times[-1]:.2f} s", flush=True)


def main():
    if missing():
        sys.exit(missing())
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 50
    folder = Path(tempfile.mkdtemp(prefix="stile-measure-", dir=Path.home()))
    cluster = Cluster(folder / "etcd")
    fleet = Fleet(folder, cluster)
    try:
        start = time.monotonic()
        hosts = [fleet.host(f"h{i}") for i in range(count)]
        for host in hosts:
            host.daemon.start(wait=False)
        for host in hosts:
            host.daemon.wait_ready()
            host.join()
        for host in hosts:
            host.is_connected(True, 60)
        print(f"{count} hosts joined after {time.monotonic() - start:.1f} s", flush=True)
        watcher = Watcher(hosts)
        for turn in range(1, 6):
            start = time.monotonic()
            process = subprocess.Popen(publish_command(fleet, turn), stdout=subprocess.DEVNULL)
            times = watcher.times(start, lambda status, n=turn: status["fleet"]["serials"].get("policy/base") == n)
            process.wait()
            show("publish", times)
        for mode in ("offline", "online", "offline", "online"):
            start = time.monotonic()
            process = subprocess.Popen([str(stile_path()), "fleet", mode, "-c", str(fleet.config), "--key",
                                        str(fleet.key), "--json"], stdout=subprocess.DEVNULL)
            wanted = mode == "offline"
            times = watcher.times(start, lambda status, w=wanted: (status["mode"] == "offline") is w)
            process.wait()
            show(mode, times)
        until(lambda: all(not one["behind"] for one in fleet.status()["hosts"]), 60, "all entries")
        before = [processor_seconds(host.process.pid) for host in hosts]
        node = processor_seconds(cluster.nodes[0].process.pid)
        begin = time.monotonic()
        while time.monotonic() < begin + 30:
            time.sleep(1)
        spent = time.monotonic() - begin
        used = [processor_seconds(host.process.pid) - old for host, old in zip(hosts, before)]
        print(f"idle stile-fleet: {1000 * sum(used) / count / spent:.2f} ms of processor time a second, "
              f"{sum(resident_mib(host.process.pid) for host in hosts) / count:.1f} MiB resident; "
              f"etcd with {count} hosts: "
              f"{1000 * (processor_seconds(cluster.nodes[0].process.pid) - node) / spent:.1f} ms a second")
        print("an entry: " + str(len(cluster.get("/stile/hosts/h0"))) + " bytes")
    finally:
        fleet.close()
        cluster.close()
        shutil.rmtree(folder, ignore_errors=True)


def stile_path():
    from harness.stiled import binary
    return binary("stile")


def publish_command(fleet, turn):
    file = fleet.policy(POLICY.format(turn))
    return [str(stile_path()), "fleet", "publish", "base", str(file), "-c", str(fleet.config), "--key",
            str(fleet.key), "--json"]


if __name__ == "__main__":
    main()
