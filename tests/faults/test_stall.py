"""A worker that stands still for seconds: the others serve, and no change passes it by."""

from harness.wait import until
from invariants import Invariants
from scene import Scene


def test_worker_that_stalls_holds_up_only_its_own(world):
    scene = Scene(world, server={"workers": 3})
    invariants = Invariants(scene)
    scene.faults.on("epoll_wait", "goes on", threads="workers", delay_ms=4000, most=1)
    # One of them has it; what falls to that one waits, what falls to the others does not.
    until(lambda: scene.ask(next(scene.numbers)) and scene.faults.injected("epoll_wait") == 1, 20)
    with scene.proxy.control() as control:
        assert control.do("ping")["ok"]
    outcomes = scene.round(28, threads=14)
    scene.faults.off()
    assert set(outcomes) == {"served", "refused"}, outcomes
    invariants.hold()


def test_worker_that_stalls_wakes_up_under_the_new_policy(world):
    scene = Scene(world, server={"workers": 1})
    invariants = Invariants(scene)
    tunnel = scene.open_tunnel()
    scene.faults.on("epoll_wait", "goes on", threads="workers", delay_ms=2000, most=1)
    tunnel.send(b"before")  # wakes it, and the next wait is the long one
    until(lambda: scene.faults.injected("epoll_wait") == 1, 20)
    with scene.proxy.control() as control:
        control.do("revoke", agent="alpha", hosts=[tunnel.host])
    tunnel.try_send(b"after the revocation")
    tunnel.recv_to_end()
    conn = next(conn for conn in scene.tunnels.connections if tunnel.host.encode() in conn.received)
    conn.wait_ended(20)
    assert b"after" not in conn.received
    assert scene.proxy.audit.wait_one(event="close", host=tunnel.host)["reason"] == "revoked"
    scene.faults.off()
    invariants.hold()
