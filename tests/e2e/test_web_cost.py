"""What two open pages cost at 5,000 decisions a second: processor time of the workers, memory of stile-web."""

import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from harness.web import StileWeb

RATE, SECONDS = 5000, 6
MOST_MEMORY_KIB = 30 * 1024
STEADY = Path(__file__).parent / "harness/steady.py"


def worker_seconds(pid):
    """Processor time of all threads but the first, which serves the control socket."""
    ticks = 0
    for task in Path(f"/proc/{pid}/task").iterdir():
        if task.name != str(pid):
            fields = (task / "stat").read_text().rpartition(")")[2].split()
            ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")


def memory_kib(pid):
    return int(next(line for line in Path(f"/proc/{pid}/status").read_text().splitlines() if line.startswith("VmHWM")).split()[1])


@pytest.mark.long
def test_two_pages_add_nothing_to_the_workers(world, record_property):
    place = world.new_address()
    world.dns.host("steady.test", place)
    world.open_address(place)
    world.agent("alpha", allow=["steady.test"], requests_per_second=100000, connections_per_agent=1000)
    proxy = world.start()
    host, _, port = proxy.listen.rpartition(":")

    def measure():
        begin = worker_seconds(proxy.process.pid)
        done = subprocess.run([sys.executable, STEADY, place, str(world.http_port), host, port, world.addresses["alpha"],
                               "steady.test", str(RATE), str(SECONDS)], capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, done.stderr
        answers, seconds = done.stdout.split()
        assert int(answers) == RATE * SECONDS
        # A busy machine may be slower; the figure is per decision.
        return (worker_seconds(proxy.process.pid) - begin) / int(answers) * 1e6, int(answers) / float(seconds)
    measure()  # what is done once only
    alone, rate_alone = measure()
    web = StileWeb(world, proxy)
    seen = []

    def look(events):
        try:
            while True:
                name, value = events.next()
                if name == "lines":
                    seen.append(len(value["lines"]) + value["skipped"])
        except (AssertionError, OSError, ValueError):
            pass
    pages = [web.browser().events() for _ in range(2)]
    threads = [threading.Thread(target=look, args=(page,), daemon=True) for page in pages]
    for thread in threads:
        thread.start()
    watched, rate_watched = measure()
    memory = memory_kib(web.process.pid)
    print(f"\nworkers: {alone:.1f} µs a decision at {rate_alone:.0f}/s alone, {watched:.1f} µs at {rate_watched:.0f}/s with two "
          f"pages; stile-web: {memory / 1024:.1f} MiB")
    assert sum(seen) > RATE * SECONDS, "the pages saw what happened"
    assert memory < MOST_MEMORY_KIB
    assert watched < alone * 1.25 + 5, (alone, watched)
    for page in pages:
        page.made.close()
