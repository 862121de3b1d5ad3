"""Traffic: what the agents of a soak do, and what each of them has to be told."""

import random
import struct

from harness.client import Client
from harness.hello import ACCESS_DENIED, hello_for

from . import town
from .town import AGENTS, MOODY, own_name

PATIENCE_SECONDS = 90  # of a client: so that a machine that is busy with others makes no error
BULK_SIZES = (10_000, 300_000, 2_000_000)
MAY_REFUSE = {"host-not-allowed", "host-denied", "offline", "revoked", "unknown-agent",
              "agent-expired"}


class Traffic:
    """One activity per method; do_one() draws one. The instance belongs to one thread."""

    def __init__(self, place, tally, seed):
        self.place, self.tally = place, tally
        self.port, self.http_port = place.world.port, place.world.http_port
        self.dice = random.Random(seed)
        host, port = place.proxy.listen.rsplit(":", 1)
        self.target = (host, int(port))
        self.activities = [
            (12, self.fetch), (12, self.refused), (6, self.wrong_hello), (8, self.move_bytes),
            (12, self.keep_alive), (8, self.churn), (10, self.volatile), (4, self.moody),
            (4, self.guest)]

    def do_one(self):
        weights, actions = zip(*self.activities)
        action = self.dice.choices(actions, weights)[0]
        self.tally.run(action.__name__, action)

    # Parts.

    def someone(self):
        """An agent that nobody troubles: (number, source)."""
        number = self.dice.randrange(AGENTS - MOODY)
        return number, self.place.sources[number]

    def dial(self, source):
        return Client(self.target, source, PATIENCE_SECONDS)

    def connect(self, client, source, host, port=None):
        """One CONNECT, told to the tally unless it was answered with 200; the answer."""
        answer = client.connect_to(host, port or self.port)
        if answer is None:
            self.tally.request(source, host, "lost")
        elif answer.status != 200:
            self.tally.request(source, host, answer.reason)
        return answer

    def open_tunnel(self, source, host):
        """A tunnel that has to open, its hello sent."""
        client = self.dial(source)
        answer = self.connect(client, source, host)
        assert answer is not None and answer.status == 200, (source, host, answer)
        self.tally.request(source, host, "open")
        client.hello = hello_for(host)
        return client.send(client.hello)

    # Activities.

    def fetch(self):
        """TLS through a tunnel to the name that is this agent's alone."""
        number, source = self.someone()
        host = own_name(number)
        with self.dial(source) as client:
            assert self.connect(client, source, host).status == 200
            self.tally.request(source, host, "open")
            client.start_tls(host, self.place.world.certificates.ca_file)
            for _ in range(self.dice.randint(1, 3)):
                answer = client.get(f"//{host}/", [f"X-Agent: agent-{number}"])
                assert (answer.status, answer.body) == (200, b"ok"), answer

    def refused(self):
        """Several refusals on one connection, each with its own reason."""
        number, source = self.someone()
        other = (number + 1 + self.dice.randrange(AGENTS - 1)) % AGENTS
        cases = [(town.UNLISTED, self.port, "host-not-allowed"),
                 (own_name(other), self.port, "host-not-allowed"),
                 (town.DENIED, self.port, "host-denied"),
                 (town.ECHO, 22, "port-not-allowed"),
                 ("127.0.0.1", self.port, "ip-literal"),
                 ("2130706433", self.port, "ip-literal"),
                 ("under_score.test", self.port, "bad-request")]
        host, port, reason = self.dice.choice(cases)
        with self.dial(source) as client:
            answer = self.connect(client, source, host, port)
            assert answer.reason == reason, (host, port, answer)

    def wrong_hello(self):
        """A tunnel that is let through up to its hello."""
        _, source = self.someone()
        hello, reason = self.dice.choice([
            (hello_for(town.UNLISTED), "sni-mismatch"), (hello_for(None), "sni-missing"),
            (b"GET / HTTP/1.1\r\n\r\n", "not-tls"), (b"", "not-tls")])
        with self.dial(source) as client:
            assert self.connect(client, source, town.ECHO).status == 200
            self.tally.request(source, town.ECHO, reason)
            client.send(hello)
            if not hello:
                client.half_close()
            end = client.recv_to_end()
            assert end in (ACCESS_DENIED, b""), end

    def move_bytes(self):
        """Bulk, in one direction or the other."""
        _, source = self.someone()
        size, direction = self.dice.choice(BULK_SIZES), self.dice.choice([b"U", b"D"])
        with self.open_tunnel(source, town.BULK) as client:
            head = client.recv_exactly(5)
            client.recv_exactly(struct.unpack("!H", head[3:])[0])
            client.send(struct.pack("!cI", direction, size))
            if direction == b"U":
                for begin in range(0, size, len(town.CHUNK)):
                    client.send(town.CHUNK[:size - begin])
                assert client.recv_exactly(1) == b"!"
            else:
                got = 0
                while part := client.recv(262144):
                    got += len(part)
                assert got == size, f"{got} of {size} bytes"

    def keep_alive(self):
        """Plain HTTP: GETs and a POST on one connection, one of them refused."""
        number, source = self.someone()
        host, agent = own_name(number), [f"X-Agent: agent-{number}"]
        with self.dial(source) as client:
            for turn in range(self.dice.randint(2, 6)):
                if turn == 1:
                    answer = client.get(f"http://{town.UNLISTED}:{self.http_port}/")
                    self.tally.request(source, town.UNLISTED, answer.reason)
                    assert answer.reason == "host-not-allowed", answer
                    continue
                body = None if turn % 2 == 0 else self.dice.randbytes(self.dice.randrange(1, 9000))
                answer = client.get(f"http://{host}:{self.http_port}/x?y", agent,
                                    "POST" if body else "GET", body)
                self.tally.request(source, host, "open")
                assert (answer.status, answer.body) == (200, body or b"ok"), answer

    def churn(self):
        """Connections that come to nothing."""
        _, source = self.someone()
        client = self.dial(source)
        kind = self.dice.randrange(3)
        if kind == 0:
            client.reset()
        elif kind == 1:
            client.close()
        else:  # a whole tunnel, reset with its hello under way
            answer = self.connect(client, source, town.RESET)
            assert answer.status == 200, answer
            self.tally.request(source, town.RESET, "open")
            client.send(hello_for(town.RESET)).reset()

    def volatile(self):
        """A host that is being granted and taken away: any answer is right, silence is not."""
        _, source = self.someone()
        self.try_volatile(source, self.dice.choice([town.LEASED, town.REVOKED, town.RELOADED]))

    def moody(self):
        """An agent that is offline at times."""
        number = self.dice.randrange(AGENTS - MOODY, AGENTS)
        self.try_volatile(self.place.sources[number], town.ECHO)

    def guest(self):
        """An agent that is there at times; what it has open is reset when it goes."""
        source = self.dice.choice(self.place.guests)
        try:
            self.try_volatile(source, town.ECHO)
        except OSError:
            pass  # counted already, or reset before it had asked

    def try_volatile(self, source, host):
        with self.dial(source) as client:
            try:
                answer = self.connect(client, source, host)
            except OSError:
                self.tally.request(source, host, "lost")
                raise
            if answer is None:
                return
            if answer.status != 200:
                assert answer.reason in MAY_REFUSE, answer
                return
            self.tally.request(source, host, "open")
            hello = hello_for(host)
            if client.try_send(hello) and client.recv_exactly(len(hello)) == hello:
                client.try_send(b"ping")
