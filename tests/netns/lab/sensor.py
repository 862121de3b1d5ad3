"""Listens in a network namespace and writes down, line by line, whatever arrives there.

sensor.py LOG (tcp|udp):ADDRESS:PORT… [packets]
"""

import contextlib
import json
import selectors
import socket
import sys

IP_FREEBIND = 15
log = open(sys.argv[1], "w", buffering=1)


def note(kind, peer, data, **more):
    log.write(json.dumps({"kind": kind, "peer": peer, "data": data.decode("latin-1"), **more}) + "\n")


def open_socket(kind, address, port):
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    sock = socket.socket(family, socket.SOCK_STREAM if kind == "tcp" else socket.SOCK_DGRAM)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    if family == socket.AF_INET6:
        sock.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
    sock.setsockopt(socket.IPPROTO_IP, IP_FREEBIND, 1)
    sock.bind((address, port))
    if kind == "tcp":
        sock.listen(128)
    return sock


def is_of_agents(frame):
    """Our mark, or an IPv4 packet from or to the subnet of the agents."""
    subnet = bytes([10, 200])
    return b"ESCAPE" in frame or (frame[12:14] == b"\x08\x00" and subnet in (frame[26:28], frame[30:32]))


def handle(selector, sock, kind, port):
    if kind == "tcp":
        conn, peer = sock.accept()
        note("tcp", peer[0], b"", port=port)
        conn.setblocking(False)
        selector.register(conn, selectors.EVENT_READ, ("conn", port))
        with contextlib.suppress(OSError):  # gone again: `create` only knocks
            conn.send(f"you are {peer[0]}\n".encode())
    elif kind == "conn":
        try:
            data = sock.recv(4096)
            if data:
                note("data", sock.getpeername()[0], data, port=port)
        except OSError as problem:
            note("reset", "", str(problem).encode(), port=port)
            data = b""
        if not data:
            selector.unregister(sock)
            sock.close()
    elif kind == "udp":
        data, peer = sock.recvfrom(4096)
        note("udp", peer[0], data, port=port)
        sock.sendto(b"heard you\n", peer)
    else:
        frame, where = sock.recvfrom(4096)
        if is_of_agents(frame):
            note("packet", where[0], frame, outgoing=where[2] == socket.PACKET_OUTGOING)


def main():
    selector = selectors.DefaultSelector()
    selector.register(sys.stdin, selectors.EVENT_READ, ("stdin", 0))
    for word in sys.argv[2:]:
        if word == "packets":
            sock = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
            selector.register(sock, selectors.EVENT_READ, ("packet", 0))
            continue
        kind, rest = word.split(":", 1)
        address, port = rest.rsplit(":", 1)
        selector.register(open_socket(kind, address, int(port)), selectors.EVENT_READ, (kind, int(port)))
    print("ready", flush=True)
    while True:
        ready = [(key.fileobj, *key.data) for key, _ in selector.select()]
        rest = [one for one in ready if one[1] != "stdin"]
        for one in rest:
            handle(selector, *one)
        if not rest:  # a line on standard input asks: is all that has come written down?
            if not sys.stdin.readline():
                return
            print("written", flush=True)


main()
