"""A revocation reaches thousands of tunnels, each with its line, and nobody else notices."""

import os
import socket
import threading

import pytest
from harness.origin import echo
from harness.wait import until


class SilentOrigin:
    """Takes every connection and says nothing: no thread for each."""

    def __init__(self, address, port):
        self.address, self.sockets = address, []
        self._listener = socket.create_server((address, port), backlog=1024)
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        try:
            while True:
                self.sockets.append(self._listener.accept()[0])
        except OSError:
            return

    def close(self):
        self._listener.shutdown(socket.SHUT_RDWR)
        for sock in [self._listener, *self.sockets]:
            sock.close()


@pytest.mark.parametrize("many", [500, pytest.param(9500, marks=pytest.mark.long)])
def test_all_tunnels_end_although_the_policy_keeps_changing(world, many):
    tunnels = min(many, os.sysconf("SC_OPEN_MAX") // 2 - 500)  # both ends of each are here
    silent = SilentOrigin(world.new_address(), world.port)
    world.dns.host("cut.test", silent.address)
    world.open_address(silent.address)
    world.tcp_origin("kept.test", handler=echo)
    world.agent("alpha", allow=["cut.test"], connections_per_agent=20000)
    world.agent("beta", allow=["kept.test"])
    world.agent("gamma", allow=["kept.test"])
    proxy = world.start(server={"workers": 2})
    kept = proxy.open_tunnel("kept.test", world.port, "beta")
    kept.recv_exactly(len(kept.hello))
    cut = [proxy.open_tunnel("cut.test", world.port) for _ in range(tunnels)]
    until(lambda: len(proxy.audit.entries(event="open", host="cut.test")) == tunnels, 60)

    stop, failures = threading.Event(), []

    def change():
        """Another agent's policy, again and again."""
        try:
            with proxy.control() as control:
                while not stop.is_set():
                    for mode in ("offline", "enforce"):
                        control.do("mode", mode=mode, agent="gamma")
        except Exception as error:  # shown below: it must not vanish in a thread
            failures.append(error)
    changing = threading.Thread(target=change)
    changing.start()
    try:
        proxy.control().do("revoke", agent="alpha", hosts=["cut.test"])
        assert all(client.is_closed(30) for client in cut)
        until(lambda: len(proxy.audit.entries(event="close", reason="revoked")) == tunnels, 60)
    finally:
        stop.set()
        changing.join(30)
    assert not failures, failures[0]
    kept.send(b"here")
    assert kept.recv_exactly(4) == b"here"
    assert not proxy.audit.entries(event="close", agent="beta")
    ended = [line["conn"] for line in proxy.audit.entries(event="close", agent="alpha")]
    assert len(set(ended)) == len(ended) == tunnels
    silent.close()
