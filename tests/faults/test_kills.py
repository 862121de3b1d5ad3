"""kill -9 at any moment: what an operator was told is done is there after the next start."""

import hashlib
import random
import threading

import pytest
from harness.audit import ZEROS, verify_lines
from invariants import Invariants
from scene import Scene


class Ledger:
    """Grants made and ended under the kills, and what each start has to know of them."""

    def __init__(self, scene):
        self.scene = scene
        self.held, self.ended = {}, set()  # id -> host; ids
        self.used = 0  # bytes of the budget, as far as anybody was told
        with scene.proxy.control() as control:
            control.do("put-agent", card={"agent_id": "beta", "source": [scene.world.site.address(180)],
                                          "allowed_hosts": ["plain.test"], "bytes_up": "8GiB"})
            self.held[control.do("allow", agent="alpha", hosts=["first.test"])["grant"]] = "first.test"

    def change(self, number):
        """One change, or a piece of one: the kill may come before its answer."""
        try:
            with self.scene.proxy.control(5) as control:
                if number % 3 == 2:
                    grant = next(iter(self.held))
                    del self.held[grant]  # without an answer, it may or may not be there
                    if control.ask("revoke", agent="alpha", grant=grant) is not None:
                        self.ended.add(grant)
                else:
                    host = f"g{number}.test"
                    answer = control.ask("allow", agent="alpha", hosts=[host], ttl_seconds=7200)
                    if answer is not None:
                        self.held[answer["grant"]] = host
        except OSError:
            pass  # killed

    def spend(self):
        """Some of beta's budget, and how much the daemon says is gone."""
        scene = self.scene
        answer = scene.proxy.get(f"http://plain.test:{scene.world.http_port}/beta", method="POST",
                                 body=b"x" * 1000, agent=scene.world.site.address(180))
        assert answer.status == 200, answer
        self.used = self._used()

    def _used(self):
        with self.scene.proxy.control() as control:
            return control.do("agent", agent="beta")["agent"]["budgets"]["bytes_up"]["used"]

    def check(self):
        with self.scene.proxy.control() as control:
            grants = {grant["id"] for grant in control.do("agent", agent="alpha")["agent"]["grants"]}
        assert set(self.held) <= grants, f"lost: {set(self.held) - grants}"
        assert not self.ended & grants, f"back again: {self.ended & grants}"
        assert self._used() >= self.used, "a budget is fuller than it was"


class Chain:
    """Checks the log as it grows, each line once."""

    def __init__(self, log):
        self._log, self._lines, self._last = log, 0, ZEROS

    def check(self):
        lines = self._log.raw_lines()
        fresh = lines[self._lines:]
        verify_lines(fresh, start=self._last)
        self._lines = len(lines)
        if fresh:
            self._last = hashlib.sha256(fresh[-1]).hexdigest()


class Agents:
    """Ask for everything, over and over, whether or not anybody answers."""

    def __init__(self, scene):
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._run, args=(scene,), daemon=True)
        self._thread.start()

    def _run(self, scene):
        while not self._end.wait(0.002):
            scene.round(7, threads=3)

    def stop(self):
        self._end.set()
        self._thread.join(60)
        assert not self._thread.is_alive()


def kill_and_look(world, kills, seed):
    chance = random.Random(seed)
    scene = Scene(world, inject=False)
    invariants = Invariants(scene)
    ledger, chain = Ledger(scene), Chain(scene.proxy.audit)
    scene.asked.add("/beta")
    agents = Agents(scene)
    try:
        for number in range(kills):
            ledger.spend()
            change = threading.Thread(target=ledger.change, args=(number,), daemon=True)
            change.start()
            threading.Event().wait(chance.uniform(0.0, 0.05))
            scene.proxy.kill()
            change.join(20)
            scene.start()  # ready: service is back
            ledger.check()
            chain.check()
    finally:
        agents.stop()
    invariants.hold()
    starts = scene.proxy.audit.entries(event="start")
    assert len(starts) == kills + 1


def test_killed_daemon_comes_back_with_its_log_its_agents_and_its_grants(world):
    kill_and_look(world, 20, seed=0)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(1, 11))
def test_five_hundred_kills(world, seed):
    kill_and_look(world, 50, seed)
