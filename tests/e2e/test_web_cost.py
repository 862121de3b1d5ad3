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
    pages = [web.browser().events() for _ in range(2)]
    threads = [threading.Thread(target=page.count_lines, args=(seen,), daemon=True) for page in pages]
    for thread in threads:
        thread.start()
    done = subprocess.run([sys.executable, STEADY, place, str(world.http_port), host, port, world.addresses["alpha"],
                           "steady.test", str(RATE), str(SECONDS)], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout.split()[0]) == RATE * SECONDS
    assert sum(seen) > RATE * SECONDS, "the pages saw what happened"
    assert web.most_memory_kib() < MOST_MEMORY_KIB
    for page in pages:
        page.made.close()
