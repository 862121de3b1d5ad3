"""Client: a raw connection of an agent to the proxy, byte by byte under the test's control."""

import errno
import itertools
import random
import socket
import ssl
import struct
import time
from dataclasses import dataclass


@dataclass
class Response:
    status: int
    phrase: str
    version: str
    headers: list  # of (name, value)
    body: bytes
    raw_head: bytes
    complete: bool  # the framing was satisfied

    def values(self, name):
        return [v for n, v in self.headers if n.lower() == name.lower()]

    def value(self, name):
        values = self.values(name)
        assert len(values) <= 1, f"{name} stands {len(values)} times: {values}"
        return values[0] if values else None

    @property
    def reason(self):
        return self.value("X-Stile-Reason")


# Lines of the audit log are found by their source: no port is used twice by one run.
PORTS = itertools.cycle(range(20000, 60000))
for _ in range(random.randrange(40000)):
    next(PORTS)


def bind_fresh(sock, source):
    for port in PORTS:
        try:
            return sock.bind((source, port))
        except OSError as error:
            if error.errno != errno.EADDRINUSE:
                raise


class Client:
    def __init__(self, proxy, source=None, seconds=15):
        if isinstance(proxy, str):
            self.sock = socket.socket(socket.AF_UNIX)
        else:
            family = socket.AF_INET6 if ":" in proxy[0] else socket.AF_INET
            self.sock = socket.socket(family)
            self.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            if source:
                bind_fresh(self.sock, source)
        self.sock.settimeout(seconds)
        self.sock.connect(proxy)
        # Kept, so that a test can name this connection's audit lines when it is closed.
        self.local_port = None if isinstance(proxy, str) else self.sock.getsockname()[1]
        self.buffer = bytearray()
        self.was_reset = False
        self._tls = None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def send(self, data):
        self.sock.sendall(data)
        return self

    def try_send(self, data):
        """Sends and does not mind that the proxy has closed already."""
        try:
            self.sock.sendall(data)
            return True
        except OSError:
            return False

    def send_split(self, data, *points):
        """Sends in pieces that end at these offsets, each in a segment of its own."""
        edges = [0, *points, len(data)]
        for start, end in zip(edges, edges[1:]):
            self.send(data[start:end])
            _wait_sent(self.sock)
        return self

    def recv(self, size=65536):
        if self.buffer:
            data = bytes(self.buffer[:size])
            del self.buffer[:size]
            return data
        try:
            return self.sock.recv(size)
        except ConnectionResetError:
            self.was_reset = True
            return b""

    def recv_exactly(self, size):
        data = bytearray()
        while len(data) < size and (part := self.recv(size - len(data))):
            data += part
        return bytes(data)

    def recv_to_end(self, seconds=None):
        """Everything until FIN or RST."""
        if seconds is not None:
            self.sock.settimeout(seconds)
        data = bytearray()
        while part := self.recv():
            data += part
        return bytes(data)

    def is_closed(self, seconds=10):
        """True if the proxy closes within that time without another byte."""
        self.sock.settimeout(seconds)
        return self.recv() == b""

    def _until(self, marker):
        while (at := self.buffer.find(marker)) < 0:
            held, self.buffer = self.buffer, bytearray()
            part = self.recv()
            self.buffer = held
            if not part:
                return None
            self.buffer += part
        end = at + len(marker)
        data = bytes(self.buffer[:end])
        del self.buffer[:end]
        return data

    def read_head(self):
        """(status, phrase, version, headers, raw) of the next response head, or None at the end."""
        raw = self._until(b"\r\n\r\n")
        if raw is None:
            return None
        lines = raw.decode("latin-1").split("\r\n")
        version, status, *phrase = lines[0].split(" ", 2)
        headers = [tuple(part.strip(" \t") for part in line.split(":", 1))
                   for line in lines[1:] if line]
        return int(status), phrase[0] if phrase else "", version, headers, raw

    def read_response(self, method="GET", skip_interim=True):
        """The next whole response; None if the connection ends before its head."""
        while True:
            head = self.read_head()
            if head is None:
                return None
            status, phrase, version, headers, raw = head
            if not (skip_interim and 100 <= status < 200):
                break
        body, complete = self.read_body(method, status, headers)
        return Response(status, phrase, version, headers, body, raw, complete)

    def read_body(self, method, status, headers):
        """(body, whether its framing was satisfied) of the response whose head was just read."""
        names = {n.lower(): v for n, v in headers}
        if method == "HEAD" or status in (204, 304) or status < 200:
            return b"", True
        if method == "CONNECT" and status == 200:
            return b"", True
        if names.get("transfer-encoding", "").lower() == "chunked":
            return self._read_chunked()
        if "content-length" in names:
            size = int(names["content-length"])
            body = self.recv_exactly(size)
            return body, len(body) == size
        return self.recv_to_end(), not self.was_reset

    def _read_chunked(self):
        body = bytearray()
        while line := self._until(b"\r\n"):
            size = int(line.split(b";")[0], 16)
            if size == 0:
                while (line := self._until(b"\r\n")) not in (b"\r\n", None):
                    pass
                return bytes(body), line is not None
            part = self.recv_exactly(size + 2)
            body += part[:size]
            if len(part) < size + 2:
                break
        return bytes(body), False

    # Requests.

    def connect_to(self, host, port, headers=()):
        lines = [f"CONNECT {host}:{port} HTTP/1.1", f"Host: {host}:{port}", *headers]
        self.send("\r\n".join(lines).encode("latin-1") + b"\r\n\r\n")
        return self.read_response("CONNECT")

    def get(self, url, headers=(), method="GET", body=None):
        host = url.split("//", 1)[1].split("/", 1)[0].split("?", 1)[0]
        lines = [f"{method} {url} HTTP/1.1", f"Host: {host}", *headers]
        if body is not None:
            lines.append(f"Content-Length: {len(body)}")
        self.send("\r\n".join(lines).encode("latin-1") + b"\r\n\r\n" + (body or b""))
        return self.read_response(method)

    def start_tls(self, name, ca_file, curves=None):
        """TLS inside the tunnel. Returns self; recv and send go through it from now on."""
        context = ssl.create_default_context(cafile=ca_file)
        if curves:
            context.set_ecdh_curve(curves)
        assert not self.buffer, "bytes before the handshake"
        self.sock = context.wrap_socket(self.sock, server_hostname=name)
        return self

    # Ends.

    def half_close(self):
        self.sock.shutdown(socket.SHUT_WR)
        return self

    def reset(self):
        self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.sock.close()

    def close(self):
        self.sock.close()


def _wait_sent(sock):
    """Until the kernel has no unacknowledged byte: the next write is then a segment of its own."""
    if sock.family == socket.AF_UNIX:
        return
    deadline = time.monotonic() + 5
    while time.monotonic() < deadline:
        # struct tcp_info: tcpi_unacked is the 32-bit field at offset 24.
        info = sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 104)
        if struct.unpack_from("I", info, 24)[0] == 0:
            return
        time.sleep(0.0005)
