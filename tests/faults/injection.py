"""Injection: tells the preloaded library which calls of the daemon fail, and counts those that did."""

import errno
import mmap
import struct

import pytest
from harness.stiled import Stiled, build_folder

# As in inject/board.h.
CALLS = ["accept", "connect", "socket", "pipe", "recv", "send", "splice", "epoll_wait", "epoll_add",
         "open", "read", "write", "fsync", "rename", "allocate"]
RULE = struct.Struct("=6I12i2Q")
HEAD = struct.Struct("=Qq")
OUTCOMES = {"goes on": 0, "short": -1}
THREADS = {"all": 0, "workers": 1}


def library():
    return build_folder() / "tests/faults/libstile_faults.so"


def is_sanitized():
    return build_folder().name in ("asan", "tsan")


def outcome(name):
    return OUTCOMES[name] if name in OUTCOMES else getattr(errno, name)


class Injection:
    """Off at first, so that the start is clean; on() and off() while the daemon runs."""

    def __init__(self, path, seed=1):
        self.path = path
        path.write_bytes(bytes(HEAD.size + RULE.size * len(CALLS)))
        with open(path, "r+b") as file:
            self._memory = mmap.mmap(file.fileno(), 0)
        HEAD.pack_into(self._memory, 0, seed, 0)

    def environment(self):
        """For the daemon's start."""
        if not library().exists():
            pytest.fail(f"{library()} is not built")
        return {"STILE_FAULTS": str(self.path), "LD_PRELOAD": str(library()),
                "ASAN_OPTIONS": Stiled._environment()["ASAN_OPTIONS"] + ":verify_asan_link_order=0"}

    def on(self, call, *outcomes, rate=1.0, threads="all", delay_ms=0, most=0):
        """`outcomes`: names of errnos, "short" for half a count, "goes on" for a delay alone."""
        numbers = [outcome(name) for name in outcomes]
        RULE.pack_into(self._memory, self._at(call), 0, THREADS[threads], len(numbers), delay_ms, most, 0,
                       *numbers, *[0] * (12 - len(numbers)), 0, 0)
        struct.pack_into("=I", self._memory, self._at(call), int(rate * 1_000_000))

    def off(self):
        for call in CALLS:
            struct.pack_into("=I", self._memory, self._at(call), 0)

    def injected(self, call):
        return RULE.unpack_from(self._memory, self._at(call))[-1]

    def jump(self, seconds):
        """The wall clock is that much ahead (or behind) of what it would be."""
        struct.pack_into("=q", self._memory, 8, int(seconds * 1e9))

    def _at(self, call):
        return HEAD.size + RULE.size * CALLS.index(call)
