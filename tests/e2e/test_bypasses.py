"""Ways round the log and the budget that were found once; each stays shut."""

import pytest
from harness import hello
from harness.wait import until

pytestmark = pytest.mark.hostile_bytes

NAME = "o.test"


def test_tunnel_whose_client_leaves_at_once_has_its_line(world):
    """A reset right after CONNECT still asked the DNS and dialled: names under a wildcard leak."""
    origin = world.tcp_origin(NAME)
    for number in range(5):
        world.dns.host(f"secret{number}.{NAME}", origin.address)
    world.agent("alpha", allow=[f".{NAME}"])
    proxy = world.start()
    for number in range(5):
        client = proxy.client()
        client.send(f"CONNECT secret{number}.{NAME}:{world.port} HTTP/1.1\r\n\r\n".encode())
        client.reset()
    until(lambda: proxy.metrics().total("stile_connections_open") == 0)
    asked = {name.lower() for name in world.dns.names_asked()}
    told = {line["host"] for line in proxy.audit.entries(event="deny")}
    assert {name for name in asked if name.startswith("secret")} <= told


def test_bytes_that_wait_for_the_server_are_paid_for(world):
    """Handshake records behind the hello are held back, and count against the budget all the same."""
    origin = world.tcp_origin(NAME)
    world.agent("alpha", allow=[NAME], bytes_up="2000")
    proxy = world.start()
    client = proxy.tunnel(NAME, world.port)
    client.try_send(hello.hello_for(NAME) + hello.record(b"S" * 16000) * 3)
    line = proxy.audit.wait_one(event="close")
    assert line["reason"] == "budget-exhausted"
    assert line["bytes_up"] <= 2000
    assert sum(len(conn.received) for conn in origin.connections) <= 2000
