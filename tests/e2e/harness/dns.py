"""DnsServer: a name server whose every answer is a script, and which remembers every question."""

import ipaddress
import socket
import struct
import threading
import time
from dataclasses import dataclass

from . import dns_wire as wire
from .wait import until


@dataclass
class Seen:
    name: str  # as sent, with its letter case
    key: str
    rtype: int
    transport: str
    id: int
    has_edns: bool
    port: int
    time: float


class DnsServer:
    """A script is a function (question, transport, number) -> list of packets and pauses.

    A packet is bytes, a pause is seconds as a float; `number` counts this name's questions of this
    type from 0. A name without a script does not exist (NXDOMAIN).
    """

    def __init__(self, address, port):
        self.address, self.port = address, port
        self.seen = []
        self._scripts = {}
        self._counts = {}
        self._lock = threading.Lock()
        self._stopping = threading.Event()
        self._udp = socket.socket(type=socket.SOCK_DGRAM)
        self._udp.bind((address, port))
        self._tcp = socket.socket()
        self._tcp.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self._tcp.bind((address, port))
        self._tcp.listen(64)
        for loop in (self._serve_udp, self._serve_tcp):
            threading.Thread(target=loop, daemon=True).start()

    # What the test says.

    def script(self, name, script):
        with self._lock:
            self._scripts[name.lower()] = script

    def host(self, name, *addresses, ttl=60):
        """The usual case: these addresses, each under its own record type."""
        self.script(name, addresses_script(addresses, ttl))

    def alias(self, name, target, *addresses, ttl=60):
        """A CNAME whose target's addresses come in the same answer."""
        self.script(name, chain_script([target], addresses, ttl))

    # What the test asks afterwards.

    def questions(self, name, rtype=None):
        with self._lock:
            return [q for q in self.seen
                    if q.key == name.lower() and rtype in (None, q.rtype)]

    def names_asked(self):
        with self._lock:
            return {q.key for q in self.seen}

    def wait_question(self, name, rtype=None, seconds=10):
        return until(lambda: self.questions(name, rtype), seconds, f"a DNS question for {name}")

    # The server.

    def _packets_for(self, question, transport, port):
        with self._lock:
            self.seen.append(Seen(question.name, question.key, question.rtype, transport,
                                  question.id, question.has_edns, port, time.monotonic()))
            slot = (question.key, question.rtype)
            number = self._counts.get(slot, 0)
            self._counts[slot] = number + 1
            script = self._scripts.get(question.key, no_such_name())
        return script(question, transport, number)

    def _serve_udp(self):
        while not self._stopping.is_set():
            try:
                packet, peer = self._udp.recvfrom(4096)
                question = wire.parse_question(packet)
            except (ValueError, IndexError, struct.error):
                continue
            except OSError:
                return
            actions = self._packets_for(question, "udp", peer[1])
            if any(isinstance(action, float) for action in actions):
                threading.Thread(target=self._play, daemon=True, args=(
                    actions, lambda data, to=peer: self._udp.sendto(data, to))).start()
            else:
                self._play(actions, lambda data, to=peer: self._udp.sendto(data, to))

    def _serve_tcp(self):
        while not self._stopping.is_set():
            try:
                sock, peer = self._tcp.accept()
            except OSError:
                return
            threading.Thread(target=self._serve_stream, args=(sock, peer), daemon=True).start()

    def _serve_stream(self, sock, peer):
        with sock, sock.makefile("rb") as stream:
            try:
                while size := stream.read(2):
                    packet = stream.read(struct.unpack("!H", size)[0])
                    question = wire.parse_question(packet)
                    self._play(self._packets_for(question, "tcp", peer[1]),
                               lambda data: sock.sendall(struct.pack("!H", len(data)) + data))
            except (OSError, ValueError, IndexError, struct.error):
                return

    def _play(self, actions, send):
        for action in actions:
            if isinstance(action, float):
                if self._stopping.wait(action):
                    return
            else:
                try:
                    send(action)
                except OSError:
                    return

    def close(self):
        self._stopping.set()
        for sock in (self._udp, self._tcp):
            try:
                sock.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
            sock.close()


# Scripts. Each returns a function (question, transport, number) -> actions.


def _of_type(owner, addresses, rtype, ttl):
    version = {wire.A: 4, wire.AAAA: 6}.get(rtype)
    return [wire.address_record(owner, address, ttl) for address in addresses
            if ipaddress.ip_address(address).version == version]


def addresses_script(addresses, ttl=60):
    def script(question, _transport, _number):
        records = _of_type(question.name, addresses, question.rtype, ttl)
        authority = [] if records else [wire.soa_record("test", ttl, ttl)]
        return [wire.Reply(records, authority).encode(question)]
    return script


def chain_script(targets, addresses, ttl=60):
    """name -> targets[0] -> targets[1] … -> addresses, all in one answer."""
    def script(question, _transport, _number):
        owners = [question.name] + list(targets)
        records = [wire.cname_record(a, b, ttl) for a, b in zip(owners, owners[1:])]
        records += _of_type(owners[-1], addresses, question.rtype, ttl)
        return [wire.Reply(records).encode(question)]
    return script


def no_such_name(ttl=60):
    def script(question, _transport, _number):
        soa = [wire.soa_record("test", ttl, ttl)]
        return [wire.Reply([], soa, rcode=wire.NXDOMAIN).encode(question)]
    return script


def fails(rcode=wire.SERVFAIL):
    return lambda question, _transport, _number: [wire.Reply(rcode=rcode).encode(question)]


def silent():
    return lambda _question, _transport, _number: []


def delayed(seconds, script):
    return lambda q, transport, number: [float(seconds)] + list(script(q, transport, number))


def truncated_over_udp(script):
    """An empty answer with TC over UDP; the real one only over TCP."""
    def chosen(question, transport, number):
        if transport == "udp":
            return [wire.Reply(truncated=True).encode(question)]
        return script(question, transport, number)
    return chosen


def in_turn(*scripts):
    """The first question of a type gets the first script, and so on; the last one stays."""
    def chosen(question, transport, number):
        return scripts[min(number, len(scripts) - 1)](question, transport, number)
    return chosen


def swap_case(name):
    return name.swapcase()
