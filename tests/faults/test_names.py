"""DNS that is down, or answers with rubbish: refusals in time, and service when it is back."""

import random

import pytest
from harness import dns_wire
from harness.dns import fails, silent
from harness.wait import until
from invariants import Invariants
from scene import Scene


def rubbish(chance):
    """Random bytes, one cut short, one of another question, one with bytes changed before its address."""
    def script(question, _transport, _number):
        answer = dns_wire.Reply([dns_wire.address_record(question.name, "127.0.0.1", 60)]).encode(question)
        spoilt = bytearray(answer)
        for _ in range(3):
            spoilt[chance.randrange(2, len(spoilt) - 16)] = chance.randrange(256)
        header = answer[:2]
        return [chance.randbytes(chance.randrange(1, 600)), header + chance.randbytes(60),
                answer[:chance.randrange(3, len(answer))], bytes([answer[0] ^ 1]) + answer[1:],
                header + b"\x81\x80\0\1\0\1\0\0\0\0" + b"\xc0\x0c" * 100, bytes(spoilt)]
    return script


@pytest.mark.parametrize("kind", ["down", "failing", "rubbish"])
def test_names_that_cannot_be_looked_up(world, kind):
    scene = Scene(world, inject=False, dns={"timeout_ms": 600})
    invariants = Invariants(scene)
    script = {"down": silent(), "failing": fails(), "rubbish": rubbish(random.Random(5))}[kind]
    usual = world.dns.host
    world.dns.host = lambda name, *_addresses, **_options: world.dns.script(name, script)
    world.dns.host("plain.test")
    outcomes = scene.round(42, threads=14)
    tunnels = [key for key in scene.asked if key.endswith(".w.test")]
    world.dns.host = usual
    world.dns.host("plain.test", scene.plain.address, ttl=1)
    assert outcomes["refused: dns-failure"] > 0, outcomes
    assert len(tunnels) > 0
    invariants.hold()


def test_answer_is_read_although_epoll_had_no_room_for_the_socket(world):
    """Else all names fail for as long as there is always a query under way."""
    scene = Scene(world, dns={"timeout_ms": 20000})
    invariants = Invariants(scene)
    client = scene.proxy.client()
    until(lambda: scene.proxy.metrics().total("stile_connections_open") == 1, 20)
    scene.faults.on("epoll_add", "ENOSPC", threads="workers")
    world.dns.host("fresh.w.test", scene.tunnels.address)
    client.send(f"CONNECT fresh.w.test:{world.port} HTTP/1.1\r\n\r\n".encode())
    until(lambda: scene.faults.injected("epoll_add") >= 1, 20, "the refusal")
    scene.faults.off()
    assert client.read_response("CONNECT").status == 200
    client.close()
    invariants.hold()
