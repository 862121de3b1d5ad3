"""TcpOrigin: a server on loopback that remembers every connection and every byte it was sent."""

import socket
import struct
import threading
import time

from .wait import until


class Connection:
    """One accepted connection. recv() records; what came is in `received` for ever."""

    def __init__(self, sock, peer, origin):
        self.sock, self.peer, self.origin = sock, peer, origin
        self.received = bytearray()
        self.opened = time.monotonic()
        self.ended = False  # the peer's FIN or RST was seen
        self.error = None
        self.closed = threading.Event()  # the handler is through
        self.sni, self.raw_start = None, b""  # of TLS: the name, and the bytes before decryption
        self.sent = 0
        self.release = threading.Event()  # for handlers that wait for the test

    def recv(self, size=65536):
        try:
            data = self.sock.recv(size)
        except OSError as error:
            self.error, self.ended = error, True
            return b""
        if not data:
            self.ended = True
            return b""
        if not self.received and self.origin.on_first_byte:
            self.origin.on_first_byte(self)
        self.received += data
        return data

    def recv_to_end(self):
        while self.recv():
            pass
        return bytes(self.received)

    def send(self, data):
        self.sock.sendall(data)
        self.sent += len(data)

    def half_close(self):
        self.sock.shutdown(socket.SHUT_WR)

    def reset(self):
        """Closes with RST."""
        self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.sock.close()

    def wait_received(self, wanted, seconds=10):
        """Until `wanted` bytes (a number) or that byte string have come."""
        if isinstance(wanted, int):
            until(lambda: len(self.received) >= wanted, seconds, f"{wanted} bytes at the origin")
        else:
            until(lambda: wanted in self.received, seconds, f"{wanted!r} at the origin")
        return bytes(self.received)

    def wait_ended(self, seconds=10):
        until(lambda: self.ended, seconds, "the end of the connection at the origin")


def read_to_end(conn):
    conn.recv_to_end()


def echo(conn):
    while data := conn.recv():
        conn.send(data)


class TcpOrigin:
    def __init__(self, address, port, handler=read_to_end):
        self.address, self.port = address, port
        self.handler = handler
        self.connections = []
        self.failures = []  # exceptions of handlers that are a bug of the test
        self.on_first_byte = None
        self._closing = False
        family = socket.AF_INET6 if ":" in address else socket.AF_INET
        self._listener = socket.socket(family)
        self._listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self._listener.bind((address, port))
        self._listener.listen(512)
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        while True:
            try:
                sock, peer = self._listener.accept()
            except OSError:
                return
            # An answer that waits for an acknowledgement is lost if the origin closes with input left.
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            conn = Connection(sock, peer, self)
            self.connections.append(conn)
            threading.Thread(target=self._run, args=(conn,), daemon=True).start()

    def _run(self, conn):
        try:
            self.serve(conn)
        except OSError as error:
            conn.error, conn.ended = error, True
        except Exception as error:  # shown by close(): it must not vanish in a thread
            self.failures.append(error)
        finally:
            conn.sock.close()
            conn.closed.set()

    def serve(self, conn):
        self.handler(conn)

    @property
    def received(self):
        """Everything that any connection has brought."""
        return b"".join(bytes(conn.received) for conn in self.connections)

    def wait_connection(self, number=0, seconds=10):
        until(lambda: len(self.connections) > number, seconds, "a connection at the origin")
        return self.connections[number]

    def hang_up(self):
        """Closes every connection, as a server does with idle ones; new ones are accepted."""
        for conn in self.connections:
            conn.release.set()
            try:
                conn.sock.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def close(self):
        self._closing = True
        try:
            self._listener.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
        self._listener.close()
        self.hang_up()
        if self.failures:
            raise self.failures[0]


class Blackhole:
    """An address that answers nothing: a listener whose accept queue is full drops every SYN."""

    def __init__(self, address, port):
        self.address, self.port = address, port
        self._listener = socket.socket()
        self._listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self._listener.bind((address, port))
        self._listener.listen(0)
        self._fillers = []
        while self._accepts():
            pass

    def _accepts(self):
        sock = socket.socket()
        sock.settimeout(0.3)
        try:
            sock.connect((self.address, self.port))
        except TimeoutError:
            sock.close()
            return False
        self._fillers.append(sock)
        return True

    def close(self):
        for sock in self._fillers:
            sock.close()
        self._listener.close()
