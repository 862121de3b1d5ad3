"""A steady load of plain HTTP requests: PLACE PORT PROXY-HOST PROXY-PORT SOURCE NAME RATE SECONDS.

Run as a program of its own, so that what it costs is not the test's time. Serves the origin and sends
the requests, in pieces of a tenth of a second on 20 connections. Prints how many answers came.
"""

import os
import selectors
import socket
import sys
import time

ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
CONNECTIONS = 20
PIECES_A_SECOND = 10


def serve(listener):
    chosen = selectors.DefaultSelector()
    chosen.register(listener, selectors.EVENT_READ)
    while True:
        for key, _ in chosen.select():
            if key.fileobj is listener:
                chosen.register(listener.accept()[0], selectors.EVENT_READ)
                continue
            data = key.fileobj.recv(65536)
            if data:
                key.fileobj.sendall(ANSWER * data.count(b"\r\n\r\n"))
            else:
                chosen.unregister(key.fileobj)
                key.fileobj.close()


def send(proxy, source, url, rate, seconds):
    request = f"GET {url} HTTP/1.1\r\nHost: {url.split('/')[2]}\r\n\r\n".encode()
    piece = request * (rate // CONNECTIONS // PIECES_A_SECOND)
    sockets = [socket.create_connection(proxy, source_address=(source, 0), timeout=20) for _ in range(CONNECTIONS)]
    begin, received = time.monotonic(), [b""] * CONNECTIONS
    answers = 0
    for number in range(int(seconds * PIECES_A_SECOND)):
        time.sleep(max(0, begin + number / PIECES_A_SECOND - time.monotonic()))
        for one in sockets:
            one.sendall(piece)
        wanted = rate // CONNECTIONS // PIECES_A_SECOND
        for index, one in enumerate(sockets):
            count = 0
            while count < wanted:
                received[index] += one.recv(65536)
                count = received[index].count(b"HTTP/1.1 200")
            received[index] = b""
            answers += count
    return answers, time.monotonic() - begin


def main():
    place, port, host, proxy_port, source, name, rate, seconds = sys.argv[1:]
    listener = socket.create_server((place, int(port)), backlog=256)
    child = os.fork()
    if child == 0:
        serve(listener)
    try:
        print(*send((host, int(proxy_port)), source, f"http://{name}:{port}/x", int(rate), float(seconds)))
    finally:
        os.kill(child, 9)


if __name__ == "__main__":
    main()
