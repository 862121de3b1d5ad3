"""HttpOrigin: an HTTP server that keeps the raw bytes of each request and answers by script."""

from dataclasses import dataclass, field

from .origin import TcpOrigin


@dataclass
class Request:
    raw_head: bytes
    method: str
    target: str
    version: str
    headers: list  # of (name, value), both str, as sent
    raw_body: bytes = b""
    body: bytes = b""
    trailers: bytes = b""
    complete: bool = None  # whether the whole body came; None until it has been read
    extra: dict = field(default_factory=dict)

    def values(self, name):
        return [v for n, v in self.headers if n.lower() == name.lower()]

    def value(self, name):
        values = self.values(name)
        return values[0] if len(values) == 1 else None

    def names(self):
        return [n.lower() for n, _ in self.headers]


class Exchange:
    """One request on a connection, with the body still to be read."""

    def __init__(self, conn, request, reader):
        self.conn, self.request, self._reader = conn, request, reader

    def read_body(self):
        request = self.request
        if "chunked" in (request.value("transfer-encoding") or ""):
            self._read_chunked()
        else:
            size = int(request.value("content-length") or 0)
            request.raw_body = request.body = self._reader.exactly(size)
            request.complete = len(request.body) == size
        return request.body

    def _read_chunked(self):
        request, body, raw = self.request, bytearray(), bytearray()
        is_whole = False
        while True:
            line = self._reader.line()
            raw += line
            if not line.endswith(b"\r\n"):
                break
            size = int(line.split(b";")[0], 16)
            if size == 0:
                while (line := self._reader.line()) not in (b"\r\n", b""):
                    request.trailers += line
                is_whole = line == b"\r\n"
                raw += request.trailers + line
                break
            data = self._reader.exactly(size + 2)
            raw += data
            body += data[:-2]
        request.body, request.raw_body = bytes(body), bytes(raw)
        request.complete = is_whole

    def read(self, size):
        """So many bytes of what follows the head; fewer at the end."""
        return self._reader.exactly(size)

    def send(self, *parts):
        for part in parts:
            self.conn.send(part)


class Reader:
    """Buffered reading on top of Connection.recv."""

    def __init__(self, conn):
        self._conn, self._buffer = conn, bytearray()

    def _take(self, size):
        data = bytes(self._buffer[:size])
        del self._buffer[:size]
        return data

    def until(self, marker):
        """Up to and with the marker; empty if the connection ends before."""
        while (at := self._buffer.find(marker)) < 0:
            data = self._conn.recv()
            if not data:
                return b""
            self._buffer += data
        return self._take(at + len(marker))

    def line(self):
        return self.until(b"\n")

    def exactly(self, size):
        while len(self._buffer) < size:
            data = self._conn.recv()
            if not data:
                break
            self._buffer += data
        return self._take(size)


def parse_head(raw):
    lines = raw.decode("latin-1").split("\r\n")
    method, target, version = lines[0].split(" ", 2)
    headers = [tuple(part.strip(" \t") for part in line.split(":", 1))
               for line in lines[1:] if line]
    return Request(raw, method, target, version, headers)


def response(body=b"ok", status="200 OK", headers=(), version="HTTP/1.1"):
    lines = [f"{version} {status}", f"Content-Length: {len(body)}", *headers]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


def reply(*parts, close=False):
    """A responder that reads the whole request, then sends these bytes."""
    def responder(exchange):
        exchange.read_body()
        exchange.send(*parts)
        return not close
    return responder


def polite(body):
    """A responder that does what it should, also for HEAD."""
    def responder(exchange):
        exchange.read_body()
        answer = response(body)
        exchange.send(answer[:-len(body)] if exchange.request.method == "HEAD" else answer)
    return responder


class HttpOrigin(TcpOrigin):
    """Responders are functions (Exchange) -> keep the connection? They are chosen by path."""

    def __init__(self, address, port, body=b"ok"):
        self.requests = []
        self._responders = {}
        self.default = polite(body)
        super().__init__(address, port)

    def on(self, path, responder):
        """Sets the responder for a path (without the query); bytes mean: send these."""
        self._responders[path] = reply(responder) if isinstance(responder, bytes) else responder

    def serve(self, conn):
        reader = Reader(conn)
        while head := reader.until(b"\r\n\r\n"):
            request = parse_head(head)
            request.extra["conn"] = conn
            self.requests.append(request)
            responder = self._responders.get(request.target.split("?")[0], self.default)
            if responder(Exchange(conn, request, reader)) is False:
                return

    def paths(self):
        return [request.target for request in self.requests]
