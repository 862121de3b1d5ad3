"""stile-web in the machine, and clients outside that use the machine's network."""

import ctypes
import http.client
import json
import os
import socket
import threading

from machine import wait_for

ADDRESS = ("127.0.0.1", 9129)
ORIGIN = "http://127.0.0.1:9129"
CLONE_NEWNET = 0x40000000


def connect(machine):
    """A connection in the machine's network: a socket keeps the namespace of the thread that made it."""
    made = []

    def inside():
        place = os.open(f"/proc/{machine.init}/ns/net", os.O_RDONLY)
        try:
            if ctypes.CDLL(None, use_errno=True).setns(place, CLONE_NEWNET) == 0:
                made.append(socket.create_connection(ADDRESS, timeout=30))
        except OSError as problem:
            made.append(problem)
        finally:
            os.close(place)
    thread = threading.Thread(target=inside)
    thread.start()
    thread.join()
    if not made or isinstance(made[0], OSError):
        raise ConnectionError(made[0] if made else "no way into the namespace")
    return made[0]


class Web:
    def __init__(self, machine):
        self.machine = machine
        machine.run("systemctl", "start", "stile-web")
        try:
            wait_for(self.is_up, "the page", 20)
        except AssertionError:
            raise AssertionError(machine.journal("stile-web")) from None

    def is_up(self):
        try:
            connect(self.machine).close()
            return True
        except OSError:
            return False

    def open(self, method, path, body=None, **headers):
        """The answer, whose body is not read yet."""
        made = http.client.HTTPConnection(*ADDRESS, timeout=30)
        made.sock = connect(self.machine)
        sent = {name.replace("_", "-"): value for name, value in headers.items() if value is not None}
        if body is not None and "Content-Type" not in sent:
            sent["Content-Type"] = "application/json"
        data = body if body is None or isinstance(body, (bytes, str)) else json.dumps(body)
        made.request(method, path, data, sent)
        return made.getresponse()

    def call(self, method, path, body=None, **headers):
        answer = self.open(method, path, body, **headers)
        text = answer.read()
        return answer.status, (json.loads(text) if text else None), answer.headers

    def log_in(self):
        """Headers of a page that used a link."""
        url = self.machine.run("/opt/stile/stile", "web").stdout.strip()
        status, answer, headers = self.call("POST", "/api/v1/login", {"token": url.partition("#token=")[2]}, Origin=ORIGIN)
        assert status == 200, answer
        cookie = headers["set-cookie"].partition(";")[0]
        return {"Cookie": cookie, "X_Stile_CSRF": answer["csrf"], "Origin": ORIGIN}


class Events:
    """Server-sent events of an answer."""

    def __init__(self, answer):
        assert answer.status == 200, answer.read()
        assert answer.headers["content-type"] == "text/event-stream"
        self.answer = answer
        self.last_id = None

    def __iter__(self):
        name, data = "", []
        while line := self.answer.readline().decode():
            line = line.rstrip("\n")
            if line.startswith("event: "):
                name = line[7:]
            elif line.startswith("id: "):
                self.last_id = line[4:]
            elif line.startswith("data: "):
                data.append(line[6:])
            elif not line and data:
                yield name, "\n".join(data)
                name, data = "", []

    def json(self):
        return [json.loads(data) for _, data in self]
