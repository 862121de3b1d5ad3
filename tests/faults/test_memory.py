"""Memory that is refused: connections end, the daemon does not, and nothing slips through."""

import pytest
from harness.wait import until
from injection import is_sanitized
from invariants import Invariants
from scene import Scene

# What is left undone for lack of memory ends with its deadline.
LIMITS = {"header_timeout_ms": 3000, "client_hello_timeout_ms": 3000, "connect_timeout_ms": 3000,
          "idle_timeout_ms": 3000}

pytestmark = pytest.mark.skipif(is_sanitized(), reason="a sanitizer brings its own allocator")


@pytest.mark.parametrize("rate, least", [(0.002, 50), (0.02, 100), (0.2, 400)])
def test_memory_that_is_refused_now_and_then(world, rate, least):
    scene = Scene(world, limits=LIMITS, dns={"timeout_ms": 1000})
    invariants = Invariants(scene)
    scene.faults.on("allocate", "ENOMEM", rate=rate, threads="workers")

    def enough():
        scene.round(28)
        return scene.faults.injected("allocate") >= least
    until(enough, 40, "so many refusals")
    scene.faults.off()
    invariants.hold()


def test_revocation_without_memory_cuts_all_the_same(world):
    """Whoever cannot be judged again is closed."""
    scene = Scene(world)
    invariants = Invariants(scene)
    tunnels = [scene.open_tunnel() for _ in range(8)]
    scene.faults.on("allocate", "ENOMEM", threads="workers")
    with scene.proxy.control() as control:
        control.ask("mode", mode="offline")
        scene.faults.off()
        for tunnel in tunnels:
            tunnel.try_send(b"after the end")
            tunnel.recv_to_end(20)
        until(lambda: all(conn.ended for conn in scene.tunnels.connections), 20, "the end of all")
        assert b"after the end" not in scene.tunnels.received
        control.do("mode", mode="enforce")
    invariants.hold()
