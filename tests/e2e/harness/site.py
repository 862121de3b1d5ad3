"""Site: a /24 of loopback that belongs to one test, so that tests never meet on a port."""

import random
import socket

LOCK_PORT = 20001


class Site:
    """Addresses: .1 proxy, .2 DNS, .10–.99 origins, .100–.199 agents, .250 a stranger."""

    def __init__(self):
        self._lock = None
        while self._lock is None:
            self.network = f"127.{random.randint(1, 254)}.{random.randint(0, 255)}"
            self._lock = self._try_lock()
        self._ports = set()
        self.proxy_port = self._free_port(self.address(1))
        self.metrics_port = self._free_port(self.address(1))
        self.dns_port = self._free_port(self.address(2))
        # One port for all TLS origins and one for all HTTP origins: they differ by address.
        self.port = self.port_free_everywhere()
        self.http_port = self.port_free_everywhere()
        self.stranger = self.address(250)
        self._next_origin = 10
        self._next_agent = 100

    def _try_lock(self):
        sock = socket.socket()
        try:
            sock.bind((self.address(254), LOCK_PORT))
            return sock
        except OSError:
            sock.close()
            return None

    def address(self, last):
        return f"{self.network}.{last}"

    def port_free_everywhere(self):
        """On the addresses of other tests, too."""
        return self._free_port("0.0.0.0")

    def _free_port(self, address):
        """Below the range from which the kernel hands out ports for outgoing connections."""
        while True:
            port = random.randint(10000, 32000)
            if port in self._ports:
                continue
            with socket.socket() as tcp, socket.socket(type=socket.SOCK_DGRAM) as udp:
                try:
                    tcp.bind((address, port))
                    udp.bind((address, port))
                    self._ports.add(port)
                    return port
                except OSError:
                    continue

    def new_origin_address(self):
        self._next_origin += 1
        return self.address(self._next_origin)

    def new_agent_address(self):
        self._next_agent += 1
        return self.address(self._next_agent)

    def close(self):
        self._lock.close()
