"""A wire that delays, cuts into bytes, stalls and resets, on either side of the proxy."""

import bad_wire
import pytest
from bad_wire import BadWire
from invariants import Invariants
from scene import Scene

SHORT_LIMITS = {"header_timeout_ms": 2000, "client_hello_timeout_ms": 2000, "idle_timeout_ms": 2000}


class Wires:
    """Puts the scene's agents, or its origins, behind wires; off() takes the wires out."""

    def __init__(self, scene, side, play):
        self.scene, self.side, world = scene, side, scene.world
        self.before = scene.proxy_address, scene.tunnels_at
        address = world.site.address(3)
        if side == "agents":
            # An answer that the wire swallows is not the daemon's to end.
            self.wires = [BadWire(address, 0, scene.proxy_address, play, world.addresses["alpha"],
                                  both_ways=play is not bad_wire.stalls)]
            scene.proxy_address = self.wires[0].address
        else:
            self.wires = [BadWire(address, origin.port, (origin.address, origin.port), play)
                          for origin in (scene.plain, scene.tunnels)]
            scene.tunnels_at = address
            world.dns.host("plain.test", address)

    def off(self):
        self.scene.proxy_address, self.scene.tunnels_at = self.before
        self.scene.world.dns.host("plain.test", self.scene.plain.address)
        for wire in self.wires:
            wire.close()


def behind_wires(world, side, play, **sections):
    world.open_address(world.site.address(3))
    scene = Scene(world, inject=False, **sections)
    return scene, Invariants(scene), Wires(scene, side, play)


@pytest.mark.parametrize("side", ["agents", "origins"])
@pytest.mark.parametrize("play", [bad_wire.byte_by_byte, bad_wire.late], ids=lambda play: play.__name__)
def test_slow_wire_changes_no_answer(world, side, play):
    scene, invariants, wires = behind_wires(world, side, play)
    outcomes = scene.round(28)
    wires.off()
    assert set(outcomes) == {"served", "refused"}, outcomes
    invariants.hold()


@pytest.mark.parametrize("side", ["agents", "origins"])
@pytest.mark.parametrize("play", [bad_wire.resets, bad_wire.stalls], ids=lambda play: play.__name__)
def test_broken_wire_leaves_nothing_behind(world, side, play):
    scene, invariants, wires = behind_wires(world, side, play, limits=SHORT_LIMITS)
    outcomes = scene.round(56, threads=14)
    wires.off()
    assert outcomes["cut"] > 0 and outcomes["served"] > 0, outcomes
    invariants.hold()
