"""What holds after every fault, whichever it was."""

import os

from harness.checks import assert_untouched
from harness.cli import stile
from harness.wait import until
from injection import is_sanitized
from scene import key_of

# A worker keeps up to 64 pipes for the next bulk transfer.
KEPT_PIPES = 2 * 64
# A pool, a cache and the allocator's own pieces grow to their bounds; a leak does not stop there.
MOST_GROWTH_BYTES = 128 * 1024 * 1024
# Start, stop, and each repeated condition at most once in ten seconds.
MOST_WORDS = 60


class Invariants:
    """Taken before the first fault, while all is quiet."""

    def __init__(self, scene):
        self.scene = scene
        self.descriptors = descriptors(scene.proxy)
        self.memory = scene.proxy.resident_bytes()

    def hold(self):
        self.service_is_back()
        self.nothing_was_let_through()
        self.log_is_true()
        self.nothing_leaked()

    def service_is_back(self):
        """By itself, for every kind of request."""
        scene = self.scene
        assert scene.proxy.process.poll() is None, scene.proxy.log_text()
        for _ in range(7):
            until(lambda: scene.ask(next(scene.numbers)) in ("served", "refused"), 40,
                  "service after the fault")

    def nothing_was_let_through(self):
        scene = self.scene
        assert not scene.problems, scene.problems
        assert_untouched(scene.evil, scene.evil_tls)

    def log_is_true(self):
        """Its chain holds, it says little beside it, and no line tells of what nobody asked."""
        proxy = self.scene.proxy
        verified = stile("audit", "verify", proxy.audit.path)
        assert verified.code == 0, verified
        proxy.audit.verify()
        opened = {key_of(entry) for entry in proxy.audit.entries(event="open")}
        assert opened <= self.scene.asked, opened - self.scene.asked
        words = proxy.log_text().splitlines()
        assert len(words) <= MOST_WORDS, words[:MOST_WORDS]

    def nothing_leaked(self):
        proxy = self.scene.proxy
        self.scene.plain.hang_up()  # the daemon keeps idle connections to it for half a minute
        until(lambda: fits(descriptors(proxy), self.descriptors), 40,
              lambda: f"descriptors: {descriptors(proxy)}, before: {self.descriptors}")
        workers = proxy.settings["server"]["workers"]
        assert descriptors(proxy).get("pipe", 0) <= KEPT_PIPES * workers
        if not is_sanitized():
            assert proxy.resident_bytes() <= self.memory + MOST_GROWTH_BYTES


def descriptors(proxy):
    """How many of each kind the daemon has open."""
    kinds = {}
    folder = f"/proc/{proxy.process.pid}/fd"
    for name in os.listdir(folder):
        try:
            kind = os.readlink(f"{folder}/{name}").split(":")[0]
        except FileNotFoundError:
            continue
        kind = "file" if kind.startswith("/") else kind
        kinds[kind] = kinds.get(kind, 0) + 1
    return kinds


def fits(now, before):
    return all(count <= before.get(kind, 0) for kind, count in now.items() if kind != "pipe")
