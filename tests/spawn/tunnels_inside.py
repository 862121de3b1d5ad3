"""Echoing tunnels through the daemon of a machine, with checksums at both ends: HELLO COUNT.

HELLO is a ClientHello in hex. Says `ready` once all tunnels are open. Each of them sends and receives until the input
ends; then the result follows, as JSON.
"""

import hashlib
import json
import os
import socket
import sys
import threading

PROXY, SOURCE, ORIGIN, NAME = ("127.0.0.1", 3128), "127.0.0.9", ("127.0.0.2", 443), "origin.test"
over = threading.Event()


def receive(conn, size):
    data = b""
    while len(data) < size:
        part = conn.recv(size - len(data))
        if not part:
            raise EOFError(f"ended after {len(data)} of {size} bytes")
        data += part
    return data


class Origin:
    """Sends back what it gets, and remembers the checksum of each connection."""

    def __init__(self):
        self.digests, self.listener = [], socket.create_server(ORIGIN, backlog=1024)
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        while True:
            threading.Thread(target=self._echo, args=(self.listener.accept()[0],), daemon=True).start()

    def _echo(self, conn):
        digest = hashlib.sha256()
        while data := conn.recv(65536):
            digest.update(data)
            conn.sendall(data)
        self.digests.append(digest.hexdigest())
        conn.close()


class Tunnel:
    def __init__(self, hello):
        self.sent, self.got, self.bytes, self.problem = hashlib.sha256(), hashlib.sha256(), 0, None
        self.conn = socket.create_connection(PROXY, 20, (SOURCE, 0))
        self.conn.sendall(f"CONNECT {NAME}:443 HTTP/1.1\r\nHost: {NAME}:443\r\n\r\n".encode())
        head = b""
        while not head.endswith(b"\r\n\r\n"):
            head += receive(self.conn, 1)
        assert b" 200 " in head, head
        self.echo(hello)
        self.thread = threading.Thread(target=self._run, daemon=True)

    def echo(self, data):
        self.sent.update(data)
        self.conn.sendall(data)
        self.got.update(receive(self.conn, len(data)))
        self.bytes += len(data)

    def _run(self):
        try:
            while not over.is_set():
                self.echo(os.urandom(16384))
            self.conn.shutdown(socket.SHUT_WR)
            assert self.conn.recv(1) == b""
        except Exception as problem:
            self.problem = repr(problem)


def main():
    hello, count = bytes.fromhex(sys.argv[1]), int(sys.argv[2])
    origin = Origin()
    tunnels = [Tunnel(hello) for _ in range(count)]
    for tunnel in tunnels:
        tunnel.thread.start()
    print("ready", flush=True)
    sys.stdin.read()
    over.set()
    for tunnel in tunnels:
        tunnel.thread.join(30)
    print(json.dumps({"problems": [one.problem for one in tunnels if one.problem],
                      "bytes": sum(one.bytes for one in tunnels),
                      "same": [one.sent.digest() == one.got.digest() for one in tunnels].count(True),
                      "at_origin": sorted(one.sent.hexdigest() for one in tunnels) == sorted(origin.digests)}))


if __name__ == "__main__":
    main()
