"""A request over plain HTTP through the daemon of a machine, whose answer begins and waits until the input ends.

Says `ready` when the answer has begun, and `whole` when all of it has arrived.
"""

import http.client
import socket
import sys
import threading

from tunnels_inside import PROXY, SOURCE

ORIGIN = ("127.0.0.2", 8080)
FIRST, LAST = b"a" * 1000, b"b" * 1000
go_on = threading.Event()


def answer(listener):
    conn, _ = listener.accept()
    while not conn.recv(65536).endswith(b"\r\n\r\n"):
        pass
    conn.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2000\r\n\r\n" + FIRST)
    go_on.wait()
    conn.sendall(LAST)
    conn.close()


def main():
    threading.Thread(target=answer, args=(socket.create_server(ORIGIN),), daemon=True).start()
    client = http.client.HTTPConnection(*PROXY, timeout=60, source_address=(SOURCE, 0))
    client.request("GET", f"http://origin.test:{ORIGIN[1]}/")
    response = client.getresponse()
    got = response.read(len(FIRST))
    print("ready" if response.status == 200 else response.status, flush=True)
    sys.stdin.read()
    go_on.set()
    print("whole" if got + response.read() == FIRST + LAST else "not whole", flush=True)


main()
