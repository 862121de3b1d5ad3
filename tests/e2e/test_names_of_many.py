"""A thousand agents that ask for a hundred names each: each has its own, also after a kill of the daemon."""

import os
import socket
import struct

import pytest
from harness.wait import until

AGENTS, NAMES = 1000, 100
PORT = 53


def question(name, number):
    labels = b"".join(bytes([len(label)]) + label.encode() for label in name.split("."))
    return struct.pack("!6H", number, 0x100, 1, 0, 0, 0) + labels + struct.pack("!BHH", 0, 1, 1)


class Asker:
    """One agent's questions over UDP, in batches."""

    def __init__(self, source, server):
        self.sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.sock.settimeout(20)
        self.sock.bind((source, 0))
        self.sock.connect((server, PORT))

    def ask(self, names):
        """{name: address}; the limit is 500 a second, so a hundred at once are answered."""
        for number, name in enumerate(names):
            self.sock.send(question(name, number))
        found = {}
        for _ in names:
            answer = self.sock.recv(600)
            number, flags, _, count = struct.unpack("!4H", answer[:8])
            assert (flags & 15, count) == (0, 1), answer
            found[names[number]] = socket.inet_ntoa(answer[-4:])
        return found


@pytest.fixture
def crowd(world):
    if os.geteuid() != 0:
        pytest.skip("the sockets of captured traffic need root")
    gateway = world.site.address(1)
    _, second, third = map(int, world.site.network.split("."))
    sources = [f"127.{second}.{(third + 1 + n // 250) % 256}.{n % 250 + 1}" for n in range(AGENTS)]
    for n, source in enumerate(sources):
        world.agent(f"agent-{n}", source=[source], allow=[".example.test"])
    proxy = world.proxy(netns={"gateway": gateway, "subnet": f"{world.site.network}.0/24"})
    proxy.start()
    return proxy, [Asker(source, gateway) for source in sources]


@pytest.mark.long
def test_each_of_a_thousand_agents_has_a_hundred_names_of_its_own(crowd):
    proxy, askers = crowd
    names = [f"n{n}.example.test" for n in range(NAMES)]
    given = [asker.ask(names) for asker in askers]
    assert all(len(set(mine.values())) == NAMES for mine in given)
    assert len({tuple(mine.values()) for mine in given}) > AGENTS * 0.9  # each begins elsewhere
    assert proxy.resident_bytes() < 200 << 20
    proxy.kill()
    proxy.start()
    until(proxy.is_ready)
    for asker, before in list(zip(askers, given))[::50]:
        assert asker.ask(names) == before
