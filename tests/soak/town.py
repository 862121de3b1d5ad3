"""Town: the agents of a soak, the names they ask for, and the origins behind these names."""

import struct

from harness.hello import server_hello
from harness.http_origin import HttpOrigin, response
from harness.origin import TcpOrigin, echo
from harness.site import Site
from harness.tls_origin import TlsOrigin

AGENTS, MOODY, GUESTS = 200, 10, 10
# In everybody's policy, and nobody takes them away.
ECHO, BULK = "echo.test", "bulk.test"
# These come and go: by a lease, by a revocation, with a reload; the last is reset by its client.
LEASED, REVOKED, RELOADED, RESET = "leased.test", "revoked.test", "reloaded.test", "reset.test"
VOLATILE = (LEASED, REVOKED, RELOADED, RESET)
# Not allowed, or denied by a rule. They have an address, where nobody must ever arrive.
UNLISTED, DENIED = "unlisted.test", "denied.example.test"
CHUNK = bytes(65536)


def own_name(number):
    """The name that only this agent may reach."""
    return f"agent-{number}.example.test"


class Forgetful:
    """An origin that keeps no connection that has ended: a soak has very many."""

    def _run(self, conn):
        super()._run(conn)
        self.connections.remove(conn)


class ForgetfulTls(Forgetful, TlsOrigin):
    pass


class ForgetfulHttp(Forgetful, HttpOrigin):
    pass


class ForgetfulTcp(Forgetful, TcpOrigin):
    pass


def bulk(conn):
    """After the hello: a letter and a number; D sends that many bytes, U takes them and says so."""
    size = struct.unpack("!H", _exactly(conn, 5)[3:])[0]
    _exactly(conn, size)
    conn.send(server_hello())
    direction, left = struct.unpack("!cI", _exactly(conn, 5))
    if direction == b"D":
        while left > 0:
            conn.send(CHUNK[:left])
            left -= len(CHUNK)
        return
    while left > 0:
        left -= len(conn.sock.recv(min(left, 262144))) or left + 1
    conn.send(b"!" if left == 0 else b"?")


def _exactly(conn, size):
    data = b""
    while len(data) < size:
        part = conn.recv(size - len(data))
        if not part:
            raise ConnectionError("ended early")
        data += part
    return data


class Town:
    """Agents 0–199 are in the config, the last ten of them go offline at times; guests come and go."""

    def __init__(self, world):
        self.world = world
        self.trespasses = []  # requests at an origin whose name is another agent's
        self._quarter = Site()
        self.sources = [self._quarter.address(number + 1) for number in range(AGENTS)]
        self.guests = [self._quarter.address(AGENTS + 1 + number) for number in range(GUESTS)]
        self._open_origins()
        for number, source in enumerate(self.sources):
            world.agent(f"agent-{number}", source=[source], allow=self.allowed(number),
                        deny=[DENIED])
        # The DNS server is one thread of many here: on a busy machine it is slow at times.
        self.proxy = world.start(server={"workers": 2}, dns={"timeout_ms": 60000},
                                 limits={"drain_timeout_ms": 5000, "connect_timeout_ms": 60000})

    @staticmethod
    def allowed(number):
        return [own_name(number), ECHO, BULK, REVOKED, RESET]

    def _open_origins(self):
        world = self.world
        tls = ForgetfulTls(world.new_address(), world.port, world.certificates)
        http = ForgetfulHttp(tls.address, world.http_port)
        for origin in (tls, http):
            origin.default = self._answer
        talker = ForgetfulTcp(world.new_address(), world.port, echo)
        mover = ForgetfulTcp(world.new_address(), world.port, bulk)
        self.trap = world.tcp_origin(UNLISTED)
        self.http_trap = world.http_origin(address=self.trap.address)
        world.dns.host(DENIED, self.trap.address)
        for number in range(AGENTS):
            world.dns.host(own_name(number), tls.address, ttl=1 + number % 5)
        for name in (ECHO, *VOLATILE):
            world.dns.host(name, talker.address, ttl=2)
        world.dns.host(BULK, mover.address)
        self._origins = [tls, http, talker, mover]
        for origin in self._origins:
            world.open_address(origin.address)

    def _answer(self, exchange):
        """Says ok to the agent to whom the name belongs; whoever else gets here is noted."""
        request, conn = exchange.request, exchange.conn
        exchange.read_body()
        asked = conn.sni or request.value("Host").split(":")[0]
        agent = request.value("X-Agent")
        if asked != f"{agent}.example.test":
            self.trespasses.append(f"{agent} at {asked}")
        conn.origin.requests.clear()
        exchange.send(response(request.body or b"ok"))

    def close(self):
        for origin in self._origins:
            origin.close()
        self._quarter.close()
