#!/usr/bin/env python3
"""What two open pages cost: CPU time of the workers for each decision, at 5,000 decisions a second.

    STILE_BUILD=build/package bench/web.py [--rounds 5]

The same load with and without the pages, in turn. Each decision is a GET that is allowed, with two audit lines.
Writes bench/results/DATE-web.json.
"""

import argparse
import pathlib
import subprocess
import sys
import tempfile
import threading

ROOT = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(ROOT), str(ROOT.parent / "tests" / "e2e")]

from harness.certs import Certificates  # noqa: E402
from harness.stiled import build_folder  # noqa: E402
from harness.web import StileWeb  # noqa: E402
from harness.world import World  # noqa: E402
from runner.results import Result  # noqa: E402

RATE, SECONDS = 5000, 6
STEADY = ROOT.parent / "tests/e2e/harness/steady.py"


def worker_ns(pid):
    """CPU time of all threads but the first, which serves the control socket."""
    return sum(int((task / "schedstat").read_text().split()[0])
               for task in pathlib.Path(f"/proc/{pid}/task").iterdir() if task.name != str(pid))


class Bench:
    def __init__(self, folder):
        self.world = World(folder, Certificates(folder / "certificates"))
        self.place = self.world.new_address()
        self.world.dns.host("steady.test", self.place)
        self.world.open_address(self.place)
        self.world.agent("alpha", allow=["steady.test"], requests_per_second=100000, connections_per_agent=1000)
        self.proxy = self.world.start()

    def load(self):
        host, _, port = self.proxy.listen.rpartition(":")
        begin = worker_ns(self.proxy.process.pid)
        done = subprocess.run(
            [sys.executable, STEADY, self.place, str(self.world.http_port), host, port,
             self.world.addresses["alpha"], "steady.test", str(RATE), str(SECONDS)],
            capture_output=True, text=True, timeout=60, check=True)
        answers, seconds = done.stdout.split()
        used = worker_ns(self.proxy.process.pid) - begin
        return {"cpu": used / int(answers) / 1000, "per_second": int(answers) / float(seconds)}

    def watched(self):
        (pathlib.Path(self.world.folder) / "stile-web.log").unlink(missing_ok=True)  # says when it is ready
        web, seen = StileWeb(self.world, self.proxy), []
        pages = [web.browser().events() for _ in range(2)]
        for page in pages:
            threading.Thread(target=page.count_lines, args=(seen,), daemon=True).start()
        entry = self.load()
        entry.update(mib=web.most_memory_kib() / 1024, lines=sum(seen))
        for page in pages:
            page.made.close()
        self.world._closing.remove(web)
        web.close()
        return entry


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--results", type=pathlib.Path, default=ROOT / "results")
    options = parser.parse_args()
    result = Result("web", f"{RATE} decisions a second, with and without two pages", "cpu",
                    "µs of CPU of the workers per decision", floor="no page",
                    columns={"per second": "per_second", "stile-web MiB": "mib", "lines seen": "lines"})
    with tempfile.TemporaryDirectory(dir=build_folder()) as folder:  # config in /tmp is refused
        bench = Bench(pathlib.Path(folder))
        bench.load()  # what is done once only
        ways = {"no page": bench.load, "two pages": bench.watched}
        for number in range(options.rounds):
            for name in list(ways) if number % 2 == 0 else reversed(ways):
                result.add(name, ways[name]())
        bench.world.close()
    print(f"\n{result.table()}\n{result.save(options.results)}", flush=True)


if __name__ == "__main__":
    main()
