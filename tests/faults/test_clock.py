"""The wall clock jumps by hours; the steady one does not, and nothing that was measured by it ends."""

import pytest
from harness.checks import assert_refusal
from harness.wait import until
from invariants import Invariants
from scene import Scene

HOUR = 3600


@pytest.mark.parametrize("jumps", [(5 * HOUR,), (-5 * HOUR,), (HOUR, -2 * HOUR, 48 * HOUR, 0)], ids=str)
def test_clock_that_jumps_cuts_nothing(world, jumps):
    scene = Scene(world)
    invariants = Invariants(scene)
    tunnel = scene.open_tunnel()
    for jump in jumps:
        scene.faults.jump(jump)
        outcomes = scene.round(14)
        assert set(outcomes) == {"served", "refused"}, outcomes
        tunnel.send(b"still here")
        assert tunnel.recv_exactly(10) == b"still here"
    tunnel.close()
    invariants.hold()


def test_grant_that_ran_out_does_not_come_back_when_the_clock_is_set_back(world):
    origin = world.tcp_origin("granted.test")
    scene = Scene(world)
    invariants = Invariants(scene)
    with scene.proxy.control() as control:
        control.do("allow", agent="alpha", hosts=["granted.test"], ttl_seconds=HOUR)
        assert scene.proxy.connect("granted.test", world.port).status == 200
        tunnel = scene.proxy.open_tunnel("granted.test", world.port)
        scene.asked.add("granted.test")
        origin.wait_connection(1).wait_received(tunnel.hello, 20)
        scene.faults.jump(2 * HOUR)
        assert_refusal(scene.proxy.connect("granted.test", world.port), "host-not-allowed")
        # A change that comes before anybody has looked at the clock hides nothing.
        control.do("allow", agent="alpha", hosts=["other.test"])
        assert tunnel.is_closed(20)
        until(lambda: len(control.do("agent", agent="alpha")["agent"]["grants"]) == 1, 20, "the expiry")
        scene.faults.jump(0)
        assert_refusal(scene.proxy.connect("granted.test", world.port), "host-not-allowed")
    invariants.hold()
