"""Idlers: tunnels in which nothing happens for a long time, until somebody asks for an echo."""

import collections

from harness.hello import hello_for

from . import town
from .town import AGENTS


class Idlers:
    """Holds a tunnel of each agent; turn() wakes the oldest of them and opens a new one."""

    def __init__(self, traffic, most=AGENTS):
        self.traffic, self.most = traffic, most
        self.held = collections.deque()
        self.next = 0

    def turn(self):
        if len(self.held) >= self.most:
            self.wake(self.held.popleft())
        # An agent in ten holds one that is cut when its host is revoked.
        number = self.next % (AGENTS - town.MOODY)
        self.next += 1
        source = self.traffic.place.sources[number]
        if number % 10 == 0:
            self.hold_volatile(source)
        else:
            client = self.traffic.open_tunnel(source, town.ECHO)
            assert client.recv_exactly(len(client.hello)) == client.hello
            self.held.append((client, True))

    def hold_volatile(self, source):
        client = self.traffic.dial(source)
        answer = self.traffic.connect(client, source, town.REVOKED)
        if answer.status != 200:
            return client.close()
        self.traffic.tally.request(source, town.REVOKED, "open")
        client.try_send(hello_for(town.REVOKED))
        self.held.append((client, False))

    @staticmethod
    def wake(entry):
        client, is_steady = entry
        with client:
            if is_steady:
                client.send(b"are you there?")
                assert client.recv_exactly(14) == b"are you there?", "an idle tunnel was cut"

    def close(self):
        while self.held:
            self.wake(self.held.popleft())
