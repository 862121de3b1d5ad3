"""Two open pages at 5,000 decisions a second: they see what happens, and stile-web stays small.

What they cost the workers is measured by bench/web.py.
"""

import subprocess
import sys
import threading
from pathlib import Path

import pytest
from harness.web import StileWeb

RATE, SECONDS = 5000, 6
MOST_MEMORY_KIB = 30 * 1024
STEADY = Path(__file__).parent / "harness/steady.py"


def memory_kib(pid):
    status = Path(f"/proc/{pid}/status").read_text()
    return int(next(line for line in status.splitlines() if line.startswith("VmHWM")).split()[1])


@pytest.mark.long
def test_two_pages_see_all_and_stay_small(world):
    place = world.new_address()
    world.dns.host("steady.test", place)
    world.open_address(place)
    world.agent("alpha", allow=["steady.test"], requests_per_second=100000, connections_per_agent=1000)
    proxy = world.start()
    host, _, port = proxy.listen.rpartition(":")
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
    done = subprocess.run([sys.executable, STEADY, place, str(world.http_port), host, port, world.addresses["alpha"],
                           "steady.test", str(RATE), str(SECONDS)], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout.split()[0]) == RATE * SECONDS
    assert sum(seen) > RATE * SECONDS, "the pages saw what happened"
    assert memory_kib(web.process.pid) < MOST_MEMORY_KIB
    for page in pages:
        page.made.close()
