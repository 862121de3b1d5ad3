"""StrangeStore: speaks like etcd's gateway over TLS, and lies as it is told."""

import base64
import json
import socket
import ssl
import threading


def encoded(text):
    return base64.b64encode(text.encode() if isinstance(text, str) else text).decode()


def pair(key, value, revision=5):
    return {"key": encoded(key), "value": encoded(value), "mod_revision": str(revision)}


class StrangeStore:
    """`answers` maps a path such as "/kv/range" to a function of the request: bytes of a body, or None
    to say nothing. It may be changed while the store runs."""

    def __init__(self, certificates):
        self.objects = {}
        self.revision = 5
        self.answers = {}
        self.seen = []
        self.chunk_pause = threading.Event()
        self._context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self._context.load_cert_chain(certificates.cert, certificates.key)
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"https://127.0.0.1:{self.listener.getsockname()[1]}"
        self._sockets = []
        self._closing = threading.Event()
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            self._sockets.append(client)
            threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client):
        try:
            with self._context.wrap_socket(client, server_side=True) as tls:
                file = tls.makefile("rb")
                while line := file.readline():
                    path = line.split()[1].decode().removeprefix("/v3")
                    length = 0
                    while (header := file.readline().strip()):
                        name, _, value = header.partition(b":")
                        if name.lower() == b"content-length":
                            length = int(value)
                    body = file.read(length)
                    self.seen.append(path)
                    if not self._answer(tls, path, body):
                        return
        except (OSError, ValueError, IndexError):
            pass

    def _answer(self, tls, path, body):
        made = self.answers.get(path, self.honest)(path, body)
        if made is None:
            self._closing.wait()
            return False
        pieces = [made] if isinstance(made, bytes) else made
        tls.sendall(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
        for piece in pieces:
            tls.sendall(b"%x\r\n%s\r\n" % (len(piece), piece))
        if path == "/watch":
            self._closing.wait()
            return False
        tls.sendall(b"0\r\n\r\n")
        return True

    def honest(self, path, body):
        """As etcd answers."""
        header = {"header": {"revision": str(self.revision)}}
        if path == "/kv/range":
            asked = json.loads(body)
            first = base64.b64decode(asked["key"]).decode()
            end = base64.b64decode(asked.get("range_end", "")).decode()
            found = [pair(key, value, self.revision) for key, value in sorted(self.objects.items())
                     if key == first or (end and first <= key < end)]
            return json.dumps({**header, "kvs": found, "count": str(len(found))}).encode()
        if path == "/lease/grant":
            return json.dumps({**header, "ID": "7", "TTL": "15"}).encode()
        if path == "/lease/keepalive":
            return json.dumps({"result": {**header, "ID": "7", "TTL": "15"}}).encode() + b"\n"
        if path == "/watch":
            return json.dumps({"result": {**header, "created": True}}).encode() + b"\n"
        return json.dumps(header).encode()

    def close(self):
        self._closing.set()
        self.listener.close()
        for sock in self._sockets:
            sock.close()
