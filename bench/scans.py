#!/usr/bin/env python3
"""What scans cost: the daemon's CPU time for uploads to an opened host, with and without them.

    STILE_BUILD=build/package bench/scans.py [--rounds 9]

Each variant has a daemon of its own; all are loaded in turn, round by round. The figure is the CPU time of the
daemon for each request, and its ratio to the daemon without scans in the same round (median). Client and
origin are written in Python and slow; that does not matter, since only the daemon's time counts.
"""

import argparse
import base64
import pathlib
import random
import statistics
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tests" / "e2e"))

from harness.certs import Certificates  # noqa: E402
from harness.inside import Inside  # noqa: E402
from harness.stiled import build_folder  # noqa: E402
from harness.world import World  # noqa: E402

MIB = 1 << 20
VARIANTS = {"off": [], "tokens": ["tokens"], "all sets": ["tokens", "private-keys", "payment", "wallets"],
            "one pattern": ["own"]}


def bodies():
    """As coding agents send them: files, compressed files, and to models conversations with code, and images."""
    part = (r'{"role":"user","content":[{"type":"tool_result","content":"#include <vector>\n\nint main() {\n'
            r'  std::vector<int> numbers{1, 2, 3};\n  for (const int n : numbers) std::printf(\"%d\\n\", n);\n}\n'
            r'// see https://example.com/docs/some/page?x=1 and commit 8f6e1f4a2b0c9d7e5f3a1b2c4d6e8f0a1b3c"}]},')
    conversation = (part * (MIB // len(part) + 1)).encode()
    image = base64.b64encode(random.Random(1).randbytes(MIB * 3 // 4))
    line = b"  for (const int n : numbers) std::printf(\"%d, \", n);  // see https://example.com/docs/some/page\n"
    return {"1 MiB source file": (line * (MIB // len(line)), 16),
            "1 MiB random bytes": (random.Random(2).randbytes(MIB), 16),
            "1 MiB conversation": (conversation[:MIB], 16), "1 MiB image in base64": (image[:MIB], 16),
            "1 KiB conversation": (conversation[:1024], 400)}


class Variant:
    def __init__(self, folder, certificates, scans):
        self.world = World(folder, certificates)
        self.world.tls_origin("a.test")
        self.world.scans.append({"name": "own", "pattern": r"corp\.example"})
        self.world.agent("alpha", scan=scans, request=[{"host": "a.test", "methods": ["*"]}])
        self.proxy = self.world.start()

    def cpu_ns(self):
        clock = (~self.proxy.process.pid << 3) | 2  # the CPU clock of a process, as in clock_getcpuclockid(3)
        return time.clock_gettime_ns(clock)

    def send(self, body, times):
        inside = Inside(self.world, self.proxy)  # an idle one would be closed meanwhile
        began = self.cpu_ns()
        for _ in range(times):
            assert inside.ask("POST", "/upload", body=body).status == 200
        return (self.cpu_ns() - began) / times


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=9)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=build_folder()) as folder:  # config in /tmp is refused
        certificates = Certificates(pathlib.Path(folder) / "certificates")
        variants = {}
        for name, scans in VARIANTS.items():
            (place := pathlib.Path(folder) / name.replace(" ", "-")).mkdir()
            variants[name] = Variant(place, certificates, scans)
        for title, (body, times) in bodies().items():
            for variant in variants.values():
                variant.send(body, 2)
            seen = {name: [] for name in variants}
            for number in range(options.rounds):
                names = list(variants)
                for name in names[number % len(names):] + names[:number % len(names)]:
                    seen[name].append(variants[name].send(body, times))
            for name, figures in seen.items():
                ratio = statistics.median(one / off for one, off in zip(figures, seen["off"]))
                print(f"{title:24} {name:12} {statistics.median(figures) / 1000:9.1f} µs  {ratio:5.2f} x")
        for variant in variants.values():
            variant.world.close()


if __name__ == "__main__":
    main()
