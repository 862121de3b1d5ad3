"""Operator: what people and scripts do to a running proxy: reloads, leases, revocations, modes."""

import random
import time

from . import town
from .town import AGENTS, GUESTS, MOODY


class Operator:
    """reload() is meant to be called every second, change() all the time."""

    def __init__(self, place, tally, seed):
        self.place, self.tally = place, tally
        self.proxy = place.proxy
        self.control = place.proxy.control(120)
        self.dice = random.Random(seed)
        self.reloads = 0
        self.leases = []
        self.changes = [
            (6, self.lease), (4, self.end_lease), (4, self.revoke), (3, self.allow_again),
            (3, self.mode), (3, self.put_guest), (2, self.remove_guest), (6, self.look)]

    def change(self):
        weights, actions = zip(*self.changes)
        action = self.dice.choices(actions, weights)[0]
        self.tally.run(action.__name__, action)

    def reload(self):
        """Half of the agents get a host, or lose it; one reload in ten cannot be read."""
        self.reloads += 1
        if self.reloads % 10 == 0:
            self.proxy.config.write_text("[server]\nworkers = nonsense\n")
            assert self.control.refused("reload")["code"] == "config-error"
        for number, entry in enumerate(self.proxy.settings["agent"]):
            allowed = self.place.allowed(number)
            entry["allow"] = allowed + [town.RELOADED] * (self.reloads % 2 and number % 2)
        if self.reloads % 3 == 0:
            self.proxy.reload()
        else:
            self.proxy.write_config()
            self.control.do("reload")

    def look(self):
        """Scripts that only look."""
        kind = self.dice.randrange(5)
        if kind == 0:
            self.control.do("agents")
        elif kind == 1:
            self.control.do("connections")
        elif kind == 2:
            self.control.do("explain", agent=self.somebody(), host=town.ECHO,
                            port=self.place.world.port)
        elif kind == 3:
            self.control.do("agent", agent=self.somebody())
        else:
            assert self.proxy.metrics().total("stile_audit_gaps_total") == 0

    # Changes of the policy of agents whose hosts come and go.

    def somebody(self):
        return f"agent-{self.dice.randrange(AGENTS)}"

    def lease(self):
        limit = self.dice.choice([{"ttl_seconds": self.dice.randint(1, 5)}, {"max_requests": 3},
                                  {"bytes_up": "2KiB"}, {"ttl_seconds": 3, "max_requests": 2}])
        agent = self.somebody()
        grant = self.control.do("allow", agent=agent, hosts=[town.LEASED], **limit)["grant"]
        self.leases.append((agent, grant))

    def end_lease(self):
        """It may have ended by itself: then there is no such grant."""
        if not self.leases:
            return
        agent, grant = self.leases.pop(self.dice.randrange(len(self.leases)))
        answer = self.control.ask("revoke", agent=agent, grant=grant)
        assert answer["ok"] or answer["error"]["code"] == "bad-request", answer

    def revoke(self):
        self.control.do("revoke", agent=self.somebody(), hosts=[town.REVOKED])

    def allow_again(self):
        self.control.do("allow", agent=self.somebody(), hosts=[town.REVOKED], ttl_seconds=5)

    def mode(self):
        agent = f"agent-{self.dice.randrange(AGENTS - MOODY, AGENTS)}"
        self.control.do("mode", agent=agent, mode=self.dice.choice(["offline", "enforce"]))

    def put_guest(self):
        number = self.dice.randrange(GUESTS)
        self.control.do("put-agent", card={
            "agent_id": f"guest-{number}", "source": [self.place.guests[number]],
            "allowed_hosts": [town.ECHO], "instance": f"{self.dice.randrange(3)}",
            "ttl_seconds": self.dice.choice([0, 5, 60])})

    def remove_guest(self):
        answer = self.control.ask("remove-agent", agent=f"guest-{self.dice.randrange(GUESTS)}")
        assert answer["ok"] or answer["error"]["code"] == "unknown-agent", answer


def every(seconds, stop, action):
    """Calls action() at that pace until the event; a late one is not made up for."""
    while not stop.is_set():
        began = time.monotonic()
        action()
        stop.wait(max(0.0, began + seconds - time.monotonic()))
