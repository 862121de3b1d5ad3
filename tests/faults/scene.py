"""Scene: a daemon whose calls can be made to fail, origins that look into its log, and traffic."""

import itertools
import json
import threading
from collections import Counter

from harness.client import Client
from harness.hello import hello_for
from harness.http_origin import response
from injection import Injection

BULK = bytes(range(256)) * 1024
BODY = b"b" * 20_000
# Whatever fails ends a request well before the client loses patience: nothing may hang.
PATIENCE_SECONDS = 50
TIMEOUTS = {"header_timeout_ms": 15000, "client_hello_timeout_ms": 15000, "connect_timeout_ms": 10000,
            "idle_timeout_ms": 15000, "drain_timeout_ms": 500}


class OpenLines:
    """The names and paths that have an `open` line by now, read as the log grows."""

    def __init__(self, path):
        self._path, self._size = path, 0
        self._ends = {}  # of each line, in bytes from the beginning
        self._lock = threading.Lock()

    def size(self):
        return self._path.stat().st_size

    def had(self, key, size):
        """Whether it had that line when it was so large."""
        with self._lock:
            if key not in self._ends:
                self._read_on()
            return key in self._ends and self._ends[key] <= size

    def _read_on(self):
        with open(self._path, "rb") as file:
            file.seek(self._size)
            data = file.read()
        for line in data.splitlines(keepends=True):
            # A line counts from its last byte on, also while its newline is still missing.
            if b'"event":"open"' in line and (entry := entry_of(line)):
                self._ends[key_of(entry)] = self._size + len(line.rstrip(b"\n"))
            if line.endswith(b"\n"):
                self._size += len(line)


def entry_of(line):
    """None: torn by a kill or a full disk. Whoever checks the chain looks for the gap after it."""
    try:
        return json.loads(line)
    except ValueError:
        return None


def key_of(entry):
    return entry["host"] if entry["method"] == "CONNECT" else entry["path"]


class Scene:
    """Each request has a name of its own, so that its line can be told from all others.

    `problems` gathers what no fault excuses: a byte without its line, a wrong byte, an answer that
    does not come.
    """

    def __init__(self, world, inject=True, warm_up=32, preexec=None, **sections):
        self.world, self.problems, self.asked = world, [], set()
        self.numbers = itertools.count()
        self.plain = world.http_origin("plain.test", ttl=1)
        self.plain.default = self._answer
        self.tunnels = world.tcp_origin(handler=self._echo)
        self.evil = world.http_origin("evil.test")
        self.evil_tls = world.tcp_origin(address=self.evil.address)
        world.agent("alpha", allow=["plain.test", ".w.test"])
        limits = {**TIMEOUTS, **sections.pop("limits", {})}
        dns = {"timeout_ms": 6000, **sections.pop("dns", {})}
        server = {"workers": 2, **sections.pop("server", {})}
        self.proxy = world.proxy(server=server, limits=limits, dns=dns, **sections)
        host, port = self.proxy.listen.rsplit(":", 1)
        # Where the agents and the daemon find each other and the origins; a wire can be between.
        self.proxy_address, self.tunnels_at = (host, int(port)), self.tunnels.address
        self.faults = Injection(world.folder / "faults") if inject else None
        self.start(preexec=preexec)
        self.log = OpenLines(self.proxy.audit.path)
        self.round(warm_up)  # whatever is made once is made now
        assert not self.problems, self.problems

    def start(self, preexec=None):
        self.proxy.start(environment=self.faults.environment() if self.faults else {}, preexec=preexec)

    # The origins' side.

    def _answer(self, exchange):
        self._look_for_line(exchange.request.target, self.log.size())
        body = exchange.read_body()
        if not exchange.request.complete:
            return False  # no answer to half a request
        exchange.send(response(exchange.request.target.encode() + b" " + body))
        return True

    def _echo(self, conn):
        data = conn.recv()
        size = self.log.size()  # at the first byte; the name may come with a later one
        is_named = False
        while data:
            if not is_named and (at := conn.received.find(b".w.test")) >= 0:
                is_named = True
                name = conn.received[:at].rpartition(b"r")[2].decode("latin-1")
                self._look_for_line(f"r{name}.w.test", size)
            conn.send(data)
            data = conn.recv()

    def _look_for_line(self, key, size):
        if not self.log.had(key, size):
            self.problems.append(f"{key}: at the origin, and not in the log")

    # The agents' side.

    def client(self):
        return Client(self.proxy_address, self.world.addresses["alpha"], PATIENCE_SECONDS)

    def round(self, count, threads=4):
        """So many requests of all kinds, beside each other; what became of them."""
        outcomes = Counter()
        numbers = iter([next(self.numbers) for _ in range(count)])
        lock = threading.Lock()

        def work():
            while True:
                with lock:
                    number = next(numbers, None)
                if number is None:
                    return
                outcome = self.ask(number)
                with lock:
                    outcomes[outcome] += 1
        crew = [threading.Thread(target=work, daemon=True) for _ in range(threads)]
        for thread in crew:
            thread.start()
        for thread in crew:
            thread.join()
        return outcomes

    def ask(self, number):
        """served, refused with its reason, or cut; what is served is complete and right."""
        kinds = [self.get, self.post, self.small_tunnel, self.bulk_tunnel, self.get_evil,
                 self.connect_evil, self.hide_evil]
        kind = kinds[number % len(kinds)]
        try:
            with self.client() as client:
                return kind(client, f"r{number}")
        except TimeoutError:
            self.problems.append(f"{kind.__name__} r{number}: no answer and no end")
            return "hung"
        except OSError:
            return "cut"

    def _judge(self, answer, key, expected):
        if answer is None or not answer.complete:
            return "cut"
        if answer.status != 200:
            return f"refused: {answer.reason}"
        if answer.body != expected:
            self.problems.append(f"{key}: not its own answer: {answer.body[:80]!r}")
        return "served"

    def get(self, client, name):
        self.asked.add("/" + name)
        answer = client.get(f"http://plain.test:{self.world.http_port}/{name}")
        return self._judge(answer, name, f"/{name} ".encode())

    def post(self, client, name):
        self.asked.add("/" + name)
        answer = client.get(f"http://plain.test:{self.world.http_port}/{name}", (), "POST", BODY)
        return self._judge(answer, name, f"/{name} ".encode() + BODY)

    def small_tunnel(self, client, name):
        return self._tunnel(client, name, b"")

    def bulk_tunnel(self, client, name):
        return self._tunnel(client, name, BULK)

    def _tunnel(self, client, name, more):
        host = f"{name}.w.test"
        self.asked.add(host)
        self.world.dns.host(host, self.tunnels_at)
        answer = client.connect_to(host, self.world.port)
        if answer is None or answer.status != 200:
            return "cut" if answer is None else f"refused: {answer.reason}"
        sent = hello_for(host) + more
        client.send(sent)
        got = client.recv_exactly(len(sent))
        if got == sent:
            return "served"
        if not sent.startswith(got) and not got.startswith(b"\x15"):  # a TLS alert of the proxy
            self.problems.append(f"{name}: other bytes than it sent: {got[:80]!r}")
        return "cut"

    def open_tunnel(self):
        """One that stays open; its `host` is its own."""
        host = f"r{next(self.numbers)}.w.test"
        self.asked.add(host)
        self.world.dns.host(host, self.tunnels_at)
        tunnel = self.proxy.open_tunnel(host, self.world.port)
        tunnel.host = host
        assert tunnel.recv_exactly(len(tunnel.hello)) == tunnel.hello
        return tunnel

    def get_evil(self, client, name):
        answer = client.get(f"http://evil.test:{self.world.http_port}/{name}")
        return self._refused(answer, name)

    def connect_evil(self, client, name):
        return self._refused(client.connect_to("evil.test", self.world.port), name)

    def _refused(self, answer, name):
        if answer is not None and answer.status == 200:
            self.problems.append(f"{name}: let through")
        return "refused" if answer is not None else "cut"

    def hide_evil(self, client, name):
        """An allowed name in CONNECT, and another one in the hello."""
        host = f"{name}.w.test"
        self.world.dns.host(host, self.tunnels_at)
        answer = client.connect_to(host, self.world.port)
        if answer is None or answer.status != 200:
            return "cut"
        client.send(hello_for("evil.test"))
        got = client.recv_to_end()
        if got and not got.startswith(b"\x15"):
            self.problems.append(f"{name}: a hello with another name was answered: {got[:80]!r}")
        return "refused"
