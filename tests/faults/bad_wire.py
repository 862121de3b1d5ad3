"""BadWire: a relay that delays, cuts, stalls and resets what goes through it."""

import itertools
import random
import socket
import struct
import threading

AT_ONCE = struct.pack("ii", 1, 0)


class Cut(Exception):
    """Both ends see a reset."""


class BadWire:
    """`play(chance, data, wait)` yields the pieces to pass on; it may wait(seconds), and raise Cut.

    Each connection has a generator of its own, so that a run can be repeated. What comes back from
    the target is left alone unless `both_ways`.
    """

    def __init__(self, address, port, target, play, source=None, both_ways=True, seed=1):
        self._target, self._source, self._seed = target, source, seed
        self._plays = [play, play if both_ways else whole]
        self._numbers = itertools.count()
        self._end = threading.Event()
        self._listener = socket.create_server((address, port), backlog=256)
        self.address = self._listener.getsockname()
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        while True:
            try:
                near, _ = self._listener.accept()
                far = socket.create_connection(
                    self._target, source_address=(self._source, 0) if self._source else None)
            except OSError:
                if self._end.is_set():
                    return
                near.close()
                continue
            number = next(self._numbers)
            for way, (source, sink) in enumerate([(near, far), (far, near)]):
                chance = random.Random(f"{self._seed} {number} {way}")
                threading.Thread(target=self._pump, args=(source, sink, self._plays[way], chance),
                                 daemon=True).start()

    def _pump(self, source, sink, play, chance):
        try:
            sink.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            while data := source.recv(4096):
                for piece in play(chance, data, self._end.wait):
                    sink.sendall(piece)
            sink.shutdown(socket.SHUT_WR)
        except (Cut, OSError):
            for sock in (source, sink):
                try:
                    sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, AT_ONCE)
                    sock.shutdown(socket.SHUT_RDWR)
                except OSError:
                    pass  # it went first
                sock.close()

    def close(self):
        self._end.set()
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()


# Plays.

def whole(_chance, data, _wait):
    yield data


def byte_by_byte(_chance, data, _wait):
    """The first of each piece alone, where the heads and hellos are; the rest in small segments."""
    for at in range(min(len(data), 300)):
        yield data[at:at + 1]
    for at in range(300, len(data), 700):
        yield data[at:at + 700]


def late(chance, data, wait):
    """Each piece after a while, so that the two directions overtake each other."""
    wait(chance.uniform(0, 0.02))
    yield data


def resets(chance, data, _wait):
    """Half of a piece, then sometimes the end."""
    is_last, cut = chance.random() < 0.2, chance.randrange(len(data) + 1)
    yield data[:cut]
    if is_last:
        raise Cut
    yield data[cut:]


def stalls(chance, data, wait):
    """Sometimes nothing any more, and no end either: the daemon has to make one."""
    is_last, cut = chance.random() < 0.2, chance.randrange(len(data) + 1)
    yield data[:cut]
    if is_last:
        wait(60)
        raise Cut
    yield data[cut:]
