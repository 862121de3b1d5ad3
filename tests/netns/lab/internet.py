"""Origins and a name server in a network namespace; writes down who came and what was asked.

internet.py LOG CHAIN KEY ADDRESS NAME_SERVER
"""

import json
import socket
import ssl
import struct
import sys
import threading

log_lock = threading.Lock()
log_path, chain, key, address, name_server = sys.argv[1:]
log = open(log_path, "w", buffering=1)
# Names that lead to where no agent may go. All others below .test are at our address.
INSIDE = {"metadata.test": "169.254.169.254", "loopback.test": "127.0.0.1", "gateway.test": "10.200.0.1",
          "neighbour.test": "10.200.0.3", "host.test": "198.51.100.2"}


def note(**event):
    with log_lock:
        log.write(json.dumps(event) + "\n")


def name_in(query):
    labels, at = [], 12
    while query[at]:
        labels.append(query[at + 1:at + 1 + query[at]].decode("latin-1"))
        at += 1 + query[at]
    return ".".join(labels).lower(), at + 5


def answer(query):
    name, end = name_in(query)
    kind = struct.unpack("!H", query[end - 4:end - 2])[0]
    note(kind="dns", name=name)
    head = query[:2] + struct.pack("!5H", 0x8180 if name.endswith(".test") else 0x8183, 1, int(kind == 1), 0, 0)
    if kind != 1 or not name.endswith(".test"):
        return head[:6] + bytes(6) + query[12:end]
    record = struct.pack("!3HIH", 0xc00c, 1, 1, 60, 4) + socket.inet_aton(INSIDE.get(name, address))
    return head + query[12:end] + record


def serve_names(sock):
    while True:
        query, peer = sock.recvfrom(4096)
        sock.sendto(answer(query), peer)


PAGE = b"""<html><body>the page<script>
fetch("/part").then(answer => answer.text()).then(text => { document.body.append(text) })
</script></body></html>"""
# A parent POM, as a child of it looks for.
POM = """<project><modelVersion>4.0.0</modelVersion><groupId>test.example</groupId><artifactId>parent</artifactId>
<version>1.0</version><packaging>pom</packaging></project>"""


def answer_to(path):
    """The whole answer; that of a page offers QUIC, which is not there."""
    more, body = "", b"hello\n"
    if path == "/page":
        more, body = 'Content-Type: text/html\r\nAlt-Svc: h3=":443"; ma=3600\r\n', PAGE
    elif path == "/part":
        body = b", and its part"
    elif path.endswith(".pom"):
        body = POM.encode()
    elif path.endswith((".sha1", ".md5")):
        return b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
    head = f"HTTP/1.1 200 OK\r\n{more}Content-Length: {len(body)}\r\nConnection: close\r\n\r\n"
    return head.encode() + body


def serve(conn, is_tls):
    """One request; /hold keeps the connection open until the other side ends it."""
    names, path = [], None
    try:
        if is_tls:
            tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            tls.load_cert_chain(chain, key)
            tls.sni_callback = lambda _socket, name, _context: names.append(name)
            conn = tls.wrap_socket(conn, server_side=True)
        head = b""
        while b"\r\n\r\n" not in head:
            data = conn.recv(4096)
            if not data:
                return
            head += data
        path = head.split(b" ")[1].decode()
        note(kind="request", sni=names[0] if names else None, path=path, head=head.decode("latin-1"))
        if path == "/hold":
            conn.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nhere")
            while conn.recv(100):
                pass
        else:
            conn.sendall(answer_to(path))
    except OSError as problem:
        note(kind="problem", text=str(problem))
    finally:
        note(kind="closed", path=path)
        conn.close()


def accept(listener, is_tls):
    while True:
        conn, _ = listener.accept()
        threading.Thread(target=serve, args=(conn, is_tls), daemon=True).start()


def greet(listener):
    """A protocol whose server speaks first, then repeats what it hears."""
    while True:
        conn, _ = listener.accept()
        note(kind="greeting")
        conn.sendall(b"SSH-2.0-origin\r\n")
        try:
            conn.sendall(conn.recv(100))
        except OSError:
            pass
        conn.close()


def main():
    names = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    names.bind((name_server, 53))
    threading.Thread(target=serve_names, args=(names,), daemon=True).start()
    for port in (443, 80):
        listener = socket.create_server(("0.0.0.0", port), backlog=128)
        threading.Thread(target=accept, args=(listener, port == 443), daemon=True).start()
    threading.Thread(target=greet, args=(socket.create_server(("0.0.0.0", 22)),), daemon=True).start()
    print("ready", flush=True)
    sys.stdin.read()


main()
