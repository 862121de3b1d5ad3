"""Pair: Debian's squid and stile-squid with the same squid.conf, and the same questions to both."""

import os
import signal
import socket
import subprocess
import threading
from dataclasses import dataclass
from pathlib import Path

from harness.site import Site
from harness.stiled import SANITIZER_WORDS, Stiled, binary
from harness.wait import until

SQUID = "/usr/sbin/squid"

# What squid needs to start quickly and keep to itself. Stile reads it too.
QUIET = """
cache_mem 8 MB
pinger_enable off
netdb_filename none
coredump_dir none
logfile_rotate 0
shutdown_lifetime 0 seconds
dns_timeout 2 seconds
visible_hostname proxy.test
"""

NAMES = ("example.com", "www.example.com", "a.b.example.com", "notexample.com", "api.test",
         "x.api.test", "my-api7.test", "evil.test", "telemetry.example.com")


@dataclass(frozen=True)
class Asked:
    source: str
    method: str
    host: str
    port: int
    path: str = "/"

    def bytes(self):
        if self.method == "CONNECT":
            head = f"CONNECT {self.host}:{self.port} HTTP/1.1\r\nHost: {self.host}:{self.port}\r\n"
        else:
            port = "" if self.port == 80 else f":{self.port}"
            head = (f"{self.method} http://{self.host}{port}{self.path} HTTP/1.1\r\n"
                    f"Host: {self.host}{port}\r\nContent-Length: 0\r\nConnection: close\r\n")
        return head.encode() + b"\r\n"


@dataclass(frozen=True)
class Answer:
    status: int
    reason: str = ""  # Stile's

    @property
    def allowed(self):
        """Nobody listens at the origins: what is let through fails behind the rules."""
        return self.status not in (400, 403)


def ask(proxy, asked):
    with socket.socket() as client:
        client.settimeout(20)
        client.bind((asked.source, 0))
        client.connect(proxy)
        client.sendall(asked.bytes())
        head = b""
        while b"\r\n\r\n" not in head:
            part = client.recv(65536)
            if not part:
                break
            head += part
    lines = head.split(b"\r\n\r\n")[0].decode("latin-1").split("\r\n")
    fields = dict(line.lower().split(": ", 1) for line in lines[1:] if ": " in line)
    return Answer(int(lines[0].split()[1]), fields.get("x-stile-reason", ""))


class NoNames(threading.Thread):
    """A DNS server on port 53 that knows no name: squid looks up addresses, and waits for it."""

    def __init__(self, address):
        super().__init__(daemon=True)
        self.socket = socket.socket(type=socket.SOCK_DGRAM)
        self.socket.bind((address, 53))
        self.socket.settimeout(0.1)
        self.ends = False

    def run(self):
        while not self.ends:
            try:
                query, client = self.socket.recvfrom(4096)
            except TimeoutError:
                continue
            self.socket.sendto(query[:2] + b"\x81\x83" + query[4:6] + b"\0" * 6 + query[12:], client)
        self.socket.close()

    def close(self):
        self.ends = True
        self.join()


class Pair:
    def __init__(self, folder):
        self.folder = folder
        # Two squids of one name share memory, and what one that was killed has left is in the way.
        self.service = "".join(filter(str.isalnum, folder.name))
        self.site = Site()
        self.sources = [self.site.address(last) for last in (100, 101, 102, 150)]
        self.hosts = {name: self.site.address(10 + i) for i, name in enumerate(NAMES)}
        self.hosts["own.test"] = self.site.address(1)  # no private exception for it
        self.logs = folder / "log"
        self.logs.mkdir()
        if os.geteuid() == 0:
            subprocess.run(["chown", "proxy", str(self.logs)], check=True)
        hosts = folder / "hosts"
        hosts.write_text("".join(f"{a} {n}\n" for n, a in self.hosts.items()))
        self.dns = None
        if os.geteuid() == 0:
            self.dns = NoNames(self.site.address(2))
            self.dns.start()
        self.processes = {}

    def conf(self, name, text):
        exceptions = ", ".join(a + "/32" for n, a in self.hosts.items() if n != "own.test")
        port = self.site.proxy_port if name == "squid" else self.site.metrics_port
        path = self.folder / f"{name}.conf"
        path.write_text(f"{text}\n{QUIET}\n"
                        f"http_port {self.site.address(1)}:{port}\n"
                        f"hosts_file {self.folder}/hosts\n"
                        f"dns_nameservers {self.site.address(2)}\n"
                        f"pid_filename {self.logs}/{name}.pid\n"
                        f"cache_log {self.logs}/{name}-cache.log\n"
                        f"access_log stdio:{self.logs}/{name}-access.log squid\n"
                        f"{'cache_effective_user proxy' if os.geteuid() == 0 else ''}\n"
                        f"# stile: private_exceptions = {exceptions}\n")
        return path, (self.site.address(1), port)

    def start(self, text):
        self.run("squid", text, lambda path: [SQUID, "-N", "-n", self.service, "-f", path])
        self.run("stile", text, lambda path: [binary("stile-squid"), "-N", "-f", path])
        return self.wait()

    def start_imported(self, text):
        """The other is stiled, with what import-squid makes of the same squid.conf."""
        self.run("squid", text, lambda path: [SQUID, "-N", "-n", self.service, "-f", path])
        self.run("stile", text, lambda path: [binary("stiled"), "-c", self.imported(path)])
        return self.wait()

    def imported(self, path):
        done = subprocess.run([binary("stile"), "import-squid", path], capture_output=True,
                              text=True, timeout=30)
        assert done.returncode == 0, done.stderr
        toml = self.folder / "imported.toml"
        # What squid.conf does not speak of, and other tests have too.
        toml.write_text(done.stdout.replace("[server]\n", "[server]\ncontrol_group = \"\"\n"
                                            f"control = \"{self.logs}/control.sock\"\n"
                                            f"state_dir = \"{self.logs}\"\n", 1))
        check = subprocess.run([binary("stiled"), "-c", str(toml), "--check"], capture_output=True,
                               text=True, timeout=30)
        assert check.returncode == 0, f"{check.stderr}\n{done.stdout}"
        return str(toml)

    def run(self, name, text, command):
        path, address = self.conf(name, text)
        with open(self.folder / f"{name}.log", "ab") as log:
            process = subprocess.Popen(command(str(path)), stdin=subprocess.DEVNULL, stdout=log,
                                       stderr=log, env=Stiled._environment())
        self.processes[name] = (process, address)

    def wait(self):
        for name, (process, address) in self.processes.items():
            until(lambda: self._listens(name, process, address), 30, f"readiness of {name}")
        return self

    def _listens(self, name, process, address):
        assert process.poll() is None, f"{name} ended:\n{self.log(name)}"
        with socket.socket() as probe:
            return probe.connect_ex(address) == 0

    def log(self, name):
        files = (self.folder / f"{name}.log", self.logs / f"{name}-cache.log")
        return "\n".join(f.read_text(errors="replace") for f in files if f.exists())

    def differences(self, questions, additions=("ip-literal", "address-forbidden", "bad-request")):
        """Where the two disagree, but for what Stile adds and says so."""
        found = []
        for asked in questions:
            squid = ask(self.processes["squid"][1], asked)
            stile = ask(self.processes["stile"][1], asked)
            if squid.allowed == stile.allowed or (squid.allowed and stile.reason in additions):
                continue
            found.append((asked, squid, stile))
        return found

    def stop(self):
        for name, (process, _) in self.processes.items():
            # squid takes a second to end, and how it does is not what is tested here.
            process.send_signal(signal.SIGKILL if name == "squid" else signal.SIGTERM)
        for name, (process, _) in self.processes.items():
            status = process.wait(30)
            text = self.log(name)
            assert name == "squid" or status == 0, f"exit status {status}:\n{text}"
            assert not [word for word in SANITIZER_WORDS if word in text], text
        self.processes = {}

    def close(self):
        try:
            self.stop()
        finally:
            if self.dns:
                self.dns.close()
            self.site.close()
            for left in Path("/dev/shm").glob(f"{self.service}-*"):
                left.unlink()
