"""StileWeb: the real stile-web in front of a daemon, and browsers of the plainest kind."""

import http.client
import json
import signal
import socket
import subprocess
from dataclasses import dataclass
from pathlib import Path

from .cli import environment
from .stiled import SANITIZER_WORDS, Stiled, binary
from .wait import until


@dataclass
class Reply:
    status: int
    headers: dict  # names in lower case
    body: bytes

    @property
    def json(self):
        return json.loads(self.body)

    @property
    def code(self):
        return self.json["error"]["code"]


class Browser:
    """One that logged in, or not. Every header can be replaced or, with None, left out."""

    def __init__(self, web, cookie=None, csrf=None):
        self.web, self.cookie, self.csrf = web, cookie, csrf

    def headers(self, changes):
        made = {"Host": self.web.authority, "Origin": self.web.origin}
        if self.cookie:
            made["Cookie"] = f"stile-web={self.cookie}"
        if self.csrf:
            made["X-Stile-CSRF"] = self.csrf
        made.update(changes)
        return {name: value for name, value in made.items() if value is not None}

    def request(self, method, path, body=None, **changes):
        headers = self.headers({name.replace("_", "-"): value for name, value in changes.items()})
        made = self.web.connection()
        try:
            made.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
            if body is not None:
                headers = {"Content-Type": "application/json", "Content-Length": str(len(body)), **headers}
            for name, value in headers.items():
                made.putheader(name, value)
            made.endheaders(body)
            answer = made.getresponse()
            return Reply(answer.status, {name.lower(): value for name, value in answer.getheaders()},
                         answer.read())
        finally:
            made.close()

    def get(self, path, **changes):
        return self.request("GET", path, **changes)

    def post(self, path, body=None, **changes):
        return self.request("POST", path, json.dumps(body or {}).encode(), **changes)

    def events(self, query="", **changes):
        return Events(self, query, changes)


class Events:
    """The stream of events of one page."""

    def __init__(self, browser, query, changes):
        self.made = browser.web.connection()
        self.made.request("GET", f"/api/v1/events?{query}", headers=browser.headers(changes))
        self.answer = self.made.getresponse()
        self.seen = []
        self.latest = {}  # of events that tell a state: one may come before the test waits for it

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.made.close()
        self.answer.close()

    def next(self):
        """(name, value) of the next event."""
        name, data = "message", []
        while True:
            line = self.answer.readline().decode()
            assert line, "the stream has ended"
            line = line.rstrip("\n")
            if line.startswith("event: "):
                name = line[7:]
            elif line.startswith("data: "):
                data.append(line[6:])
            elif not line and data:
                self.seen.append(name)
                return name, json.loads("".join(data))

    def wait(self, wanted, condition=lambda value: True):
        """A value of that event which fulfils the condition: the last one, or the next; the socket has a time limit."""
        if wanted in self.latest and condition(self.latest[wanted]):
            return self.latest.pop(wanted)
        while True:
            name, value = self.next()
            if name == wanted and condition(value):
                self.latest.pop(name, None)
                return value
            if name != "lines":
                self.latest[name] = value

    def wait_line(self, **fields):
        while True:
            for line in self.wait("lines")["lines"]:
                if all(line.get(key) == value for key, value in fields.items()):
                    return line

    def count_lines(self, seen):
        """Appends to `seen` how many lines each event has, until the page is closed; for a thread of its own."""
        try:
            while True:
                name, value = self.next()
                if name == "lines":
                    seen.append(len(value["lines"]) + value["skipped"])
        except (AssertionError, OSError, ValueError):
            pass


class StileWeb:
    def __init__(self, world, proxy, *arguments, listen=None):
        self.address = world.new_address()
        self.listen = listen or f"{self.address}:9129"
        self.authority = f"{self.address}:9129"
        self.origin = f"http://{self.authority}"
        self.login_path = world.short_path("login.sock")
        self.log = Path(world.folder) / "stile-web.log"
        command = [binary("stile-web"), "--listen", self.listen, "--login", self.login_path,
                   "--socket", proxy.settings["server"]["control"],
                   "--spawner", world.short_path("no-spawner.sock"), *arguments]
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                            env=environment(**Stiled._environment()))
        world._closing.append(self)
        until(self.is_ready, 20, "readiness of stile-web")
        if not self.listen.startswith("unix:"):
            self.wait_for_daemon()

    def is_ready(self):
        assert self.process.poll() is None, self.log_text()
        return "the page is at" in self.log_text()

    def wait_for_daemon(self):
        """Until lines arrive: the request for them goes out before the one for the status."""
        with self.browser().events() as events:
            events.wait("status", lambda value: value["connected"])

    def log_text(self):
        return self.log.read_text(errors="replace")

    def most_memory_kib(self):
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(next(line for line in status.splitlines() if line.startswith("VmHWM")).split()[1])

    def connection(self):
        if not self.listen.startswith("unix:"):
            return http.client.HTTPConnection(self.address, 9129, timeout=30)
        made = http.client.HTTPConnection("localhost", timeout=30)
        made.sock = socket.socket(socket.AF_UNIX)
        made.sock.settimeout(30)
        made.sock.connect(self.listen.removeprefix("unix:"))
        return made

    def url(self):
        """A new link, as `stile web` gets it."""
        with socket.socket(socket.AF_UNIX) as sock:
            sock.settimeout(10)
            sock.connect(self.login_path)
            return json.loads(sock.makefile().readline())["url"]

    def token(self):
        return self.url().partition("#token=")[2]

    def stranger(self):
        return Browser(self)

    def browser(self):
        """One that used a link."""
        reply = self.stranger().post("/api/v1/login", {"token": self.token()})
        assert reply.status == 200, reply
        cookie = reply.headers["set-cookie"].partition("=")[2].partition(";")[0]
        return Browser(self, cookie, reply.json["csrf"])

    def close(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        self.process.wait(20)
        text = self.log_text()
        assert not [word for word in SANITIZER_WORDS if word in text], text
        assert self.process.returncode == 0, text
