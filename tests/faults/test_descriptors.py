"""A daemon that runs out of descriptors: it says so once, serves whom it can, and recovers."""

import resource

from harness.wait import until
from invariants import Invariants
from scene import Scene


def test_daemon_without_descriptors_recovers(world):
    scene = Scene(world, inject=False, preexec=few_descriptors, server={"workers": 1},
                  limits={"header_timeout_ms": 3000})
    invariants = Invariants(scene)
    idle = [scene.client() for _ in range(60)]
    until(lambda: "cannot accept" in scene.proxy.log_text(), 20, "the end of the descriptors")
    scene.round(28)
    for client in idle:
        client.close()
    invariants.hold()
    assert scene.proxy.log_text().count("cannot accept") < 10


def few_descriptors():
    resource.setrlimit(resource.RLIMIT_NOFILE, (48, 48))
