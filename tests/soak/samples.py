"""Samples: memory, descriptors and CPU time of the daemon, again and again."""

import os
import statistics
import time
from pathlib import Path

MIB = 1 << 20
SLACK_BYTES = 4 * MIB  # pages that a heap takes now and then; a leak takes more in ten minutes
JUDGED_FROM_SECONDS = 600  # before, tables and caches are still filling


def held_files(proxy):
    """Descriptors, without the pipes: the relay keeps some, empty, for the next bulk."""
    folder = f"/proc/{proxy.process.pid}/fd"
    kinds = []
    for number in os.listdir(folder):
        try:
            kinds.append(os.readlink(f"{folder}/{number}"))
        except FileNotFoundError:
            pass  # closed since
    return sum(not kind.startswith("pipe:") for kind in kinds)


class Samples:
    def __init__(self, proxy):
        self.proxy = proxy
        self.began = time.monotonic()
        self.taken = []  # of (seconds, resident, proportional, files)

    def take(self):
        self.taken.append((round(time.monotonic() - self.began, 1), self.proxy.resident_bytes(),
                           self._proportional_bytes(), held_files(self.proxy)))

    def _proportional_bytes(self):
        rollup = Path(f"/proc/{self.proxy.process.pid}/smaps_rollup").read_text()
        return next(int(line.split()[1]) * 1024 for line in rollup.splitlines()
                    if line.startswith("Pss:"))

    def median_of_third(self, third, column):
        size = len(self.taken) // 3
        part = self.taken[third * size:(third + 1) * size]
        return statistics.median(sample[column] for sample in part) if part else 0

    def is_judged(self):
        return bool(self.taken) and self.taken[-1][0] >= JUDGED_FROM_SECONDS

    def grown(self):
        """What is wrong with the memory, as a list of sentences."""
        problems = []
        for name, column in (("resident", 1), ("proportional", 2)):
            before, after = self.median_of_third(1, column), self.median_of_third(2, column)
            if after > before * 1.1 + SLACK_BYTES:
                problems.append(f"{name} memory grew from {before / MIB:.1f} to {after / MIB:.1f} "
                                "MiB, median of the second and of the last third")
        return problems

    def summary(self):
        thirds = range(3) if len(self.taken) >= 3 else []
        mib = {column: [round(self.median_of_third(third, column) / MIB, 1) for third in thirds]
               for column in (1, 2)}
        return {"resident_mib_by_third": mib[1], "proportional_mib_by_third": mib[2],
                "most_files": max((sample[3] for sample in self.taken), default=0)}
