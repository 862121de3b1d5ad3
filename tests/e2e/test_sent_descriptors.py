"""Clients of unix sockets that send file descriptors, which take long to close."""

import os

import pytest
from harness import lingering

pytestmark = pytest.mark.hostile_bytes


@pytest.fixture(autouse=True)
def kernel():
    lingering.needs_refusal()


def test_a_descriptor_of_an_agent_keeps_no_worker_from_the_others(world):
    origin = world.http_origin("h.test")
    path = world.short_path("boxed.sock")
    world.agent("boxed", source=[], listen=[f"unix:{path}"])
    world.agent("alpha", allow=["h.test"], http_ports=[world.http_port])
    proxy = world.start(server={"workers": 1})
    with lingering.sent_to(path, b"CONNECT h.test:443 HTTP/1.1\r\n"):
        for _ in range(3):
            assert proxy.get(f"http://h.test:{world.http_port}/", agent="alpha").status == 200
    assert origin.paths() == ["/"] * 3


def test_a_descriptor_of_somebody_who_may_only_look_holds_up_no_operator(world):
    world.agent("alpha", allow=[])
    proxy = world.start(server={"read_only_group": "root"})
    path = os.path.join(os.path.dirname(proxy.settings["server"]["control"]), "read.sock")
    with lingering.sent_to(path, b'{"action":"ping"}\n'), proxy.control() as control:
        assert control.do("ping")
