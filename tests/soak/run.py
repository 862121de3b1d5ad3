"""Runs a soak: starts the town, lets its people act for a time, and judges what came of it."""

import threading
import time

from harness.cli import stile
from harness.stiled import build_folder
from harness.wait import until

from .idle import Idlers
from .operator import Operator, every
from .samples import Samples, held_files
from .tally import Tally
from .town import AGENTS, Town
from .traffic import Traffic
from .verdict import Lines, compare, nothing_got_out

THREADS = 12
SETTLED_SECONDS = 60
FILES_SLACK = 4  # sockets of the resolver, which it closes when it likes


class Soak:
    """`rate`: activities of agents a second, all together."""

    def __init__(self, world, seconds, rate):
        self.seconds, self.rate = seconds, rate
        self.place = Town(world)
        self.proxy = self.place.proxy
        self.tally = Tally()
        self.samples = Samples(self.proxy)
        self.problems = []

    def run(self):
        """A dict with the figures; its `problems` is empty if all went well."""
        self._warm_up()
        files = held_files(self.proxy)
        cpu = self._cpu_seconds()
        stop = threading.Event()
        threads = [threading.Thread(target=every, args=(pace, stop, action))
                   for pace, action in self._actors()]
        for thread in threads:
            thread.start()
        stop.wait(self.seconds)
        stop.set()
        for thread in threads:
            thread.join()
        cpu = self._cpu_seconds() - cpu
        self.tally.run("idle", self.idlers.close)
        self._wait_settled(files)
        return self._judge(files, cpu)

    def _warm_up(self):
        """What is made once at first use is there before the descriptors are counted."""
        traffic = Traffic(self.place, self.tally, "warm-up")
        for _, action in traffic.activities:
            self.tally.run(action.__name__, action)
        self._wait_settled(None)

    def _actors(self):
        operator = Operator(self.place, self.tally, "operator")
        self.operator = operator
        reloader = Operator(self.place, self.tally, "reloads")
        self.idlers = Idlers(Traffic(self.place, self.tally, "idle"), min(AGENTS, self.seconds * 2))
        actors = [(1.0, lambda: self.tally.run("reload", reloader.reload)),
                  (0.2, operator.change), (2.0, self.samples.take),
                  (0.2, lambda: self.tally.run("idle", self.idlers.turn))]
        for number in range(THREADS):
            actors.append((THREADS / self.rate, Traffic(self.place, self.tally, number).do_one))
        return actors

    def _wait_settled(self, files):
        def is_settled():
            if self.proxy.metrics().total("stile_connections_open"):
                return False
            return files is None or held_files(self.proxy) <= files + FILES_SLACK
        try:
            until(is_settled, SETTLED_SECONDS, "the end of all connections")
        except AssertionError as error:
            self.problems.append(f"{error}: {held_files(self.proxy)} descriptors, {files} before")

    def _cpu_seconds(self):
        return time.clock_gettime((~self.proxy.process.pid << 3) | 2)

    def _judge(self, files, cpu):
        files_after = held_files(self.proxy)
        self.proxy.stop()  # raises what a sanitizer has to say
        lines = Lines(self.proxy.audit.path)
        verified = stile("audit", "verify", self.proxy.audit.path, seconds=600)
        self.problems += [f"{sum(self.tally.errors.values())} errors"] * bool(self.tally.errors)
        self.problems += self.tally.first_errors
        self.problems += compare(self.place, self.tally, lines)
        self.problems += nothing_got_out(self.place)
        if verified.code != 0:
            self.problems.append(f"stile audit verify: {verified.out}{verified.err}")
        if self.samples.is_judged():
            self.problems += self.samples.grown()
        outcomes = sum(lines.outcomes.values(), start=type(self.tally.done)())
        return {
            "build": build_folder().name, "seconds": self.seconds, "agents": AGENTS,
            "requests": self.tally.total(), "request_lines": sum(outcomes.values()),
            "errors": sum(self.tally.errors.values()), "lines": dict(lines.events),
            "outcomes": dict(outcomes.most_common()), "done": dict(self.tally.done.most_common()),
            "files_before": files, "files_after": files_after, **self.samples.summary(),
            "memory_judged": self.samples.is_judged(), "cpu_share": round(cpu / self.seconds, 3),
            "audit_bytes": self.proxy.audit.path.stat().st_size, "problems": self.problems}

    def close(self):
        self.place.close()
