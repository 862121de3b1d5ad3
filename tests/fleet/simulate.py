#!/usr/bin/python3
"""Simulates many hosts of a fleet with their watches alone: how long etcd needs to send a policy to all of
them, and what they cost it. Not a test: python3 tests/fleet/simulate.py [HOSTS] [POLICY_BYTES]
"""

import asyncio
import base64
import json
import resource
import shutil
import ssl
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "e2e"))

from harness.etcd import Cluster, missing  # noqa: E402


def encoded(text):
    return base64.b64encode(text.encode()).decode()


WATCH = "".join(json.dumps({"create_request": {"key": encoded(first), **({"range_end": encoded(end)} if end else {})}})
                for first, end in (("/stile/switch", ""), ("/stile/policy/", "/stile/policy0"),
                                   ("/stile/try/", "/stile/try0")))


class Watches:
    def __init__(self, port, context):
        self.port, self.context = port, context
        self.arrived = []
        self.writers, self.tasks = [], []  # kept, or the connections would end
        self.gate = asyncio.Semaphore(50)

    async def open(self):
        async with self.gate:
            reader, writer = await asyncio.open_connection("127.0.0.1", self.port, ssl=self.context)
            writer.write(f"POST /v3/watch HTTP/1.1\r\nHost: x\r\nContent-Length: {len(WATCH)}\r\n\r\n{WATCH}".encode())
            created = 0
            while created < 3:
                created += (await reader.readline()).count(b'"created":true')
        self.writers.append(writer)
        self.tasks.append(asyncio.get_running_loop().create_task(self.follow(reader)))

    async def follow(self, reader):
        seen = 0
        while data := await reader.read(1 << 20):
            seen += data.count(b'"events"')
            if seen:
                self.arrived.append(time.monotonic())
                seen = 0


async def simulate(cluster, hosts, size):
    node = cluster.nodes[0]
    context = ssl.create_default_context(cafile=cluster.certificates.ca)
    watches = Watches(node.port, context)
    start = time.monotonic()
    await asyncio.gather(*(watches.open() for _ in range(hosts)))
    print(f"{hosts} watches opened in {time.monotonic() - start:.1f} s", flush=True)
    for key, value in (("/stile/policy/base", "x" * size), ("/stile/switch", "x" * 400)):
        watches.arrived.clear()
        start = time.monotonic()
        await asyncio.get_running_loop().run_in_executor(None, cluster.put, key, value)
        while len(watches.arrived) < hosts:
            await asyncio.sleep(0.01)
        times = sorted(at - start for at in watches.arrived)
        print(f"{key}, {len(value)} bytes: first {times[0]:.2f} s, half {times[len(times) // 2]:.2f} s, "
              f"all {times[hosts - 1]:.2f} s after the start of the write", flush=True)
    for line in Path(f"/proc/{node.process.pid}/status").read_text().splitlines():
        if line.startswith("VmRSS"):
            print(f"etcd: {int(line.split()[1]) / 1024:.0f} MiB resident")
    for task in watches.tasks:
        task.cancel()
    await asyncio.gather(*watches.tasks, return_exceptions=True)


def main():
    if missing():
        sys.exit(missing())
    hosts = int(sys.argv[1]) if len(sys.argv) > 1 else 2000
    size = int(sys.argv[2]) if len(sys.argv) > 2 else 5000
    resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
    folder = Path(tempfile.mkdtemp(prefix="stile-simulate-", dir=Path.home()))
    cluster = Cluster(folder / "etcd")
    try:
        asyncio.run(simulate(cluster, hosts, size))
    finally:
        cluster.close()
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
