"""The programs that are compared: how each is configured, started and stopped."""

import ctypes
import dataclasses
import os
import pathlib
import resource
import shutil
import signal
import socket
import subprocess
import time

from . import machine, stile_config

ORIGIN = "127.0.0.2"
TLS_PORT = 9443
HTTP_PORT = 9080
HAPROXY = os.environ.get("STILE_BENCH_HAPROXY", "/usr/sbin/haproxy")
AGENTS = 8  # 127.0.1.1 and on
HOSTS = {f"h{n}.origin.test": ORIGIN for n in range(100)}


@dataclasses.dataclass
class Setup:
    """What a scenario wants of a contender."""
    kind: str = "tunnel"  # tunnel | refuse | forward | hosts
    rules: pathlib.Path | None = None  # allowlist, one pattern a line; it holds origin.test
    one_agent: bool = False
    agents: int = 0  # one for each of so many source addresses; 0: AGENTS


class Running:
    """A started contender: `pid` does the work, `port` takes the clients."""

    def __init__(self, command, port, work):
        self.port = port
        self.began = time.monotonic()
        self.log = open(work / "output.log", "ab")
        self.process = subprocess.Popen(
            machine.pinned(machine.PROXY_CORE, command), stdin=subprocess.DEVNULL,
            stdout=self.log, stderr=self.log, cwd=work,
            preexec_fn=prepare_child)
        self.pid = self.process.pid  # taskset becomes the command

    def pids(self):
        """Of all processes that do its work: a helper that writes the log is part of the cost."""
        return machine.family(self.pid)

    def wait_ready(self, seconds=120):
        """Until a CONNECT is answered, whatever the answer; returns the seconds since the start."""
        ask = b"CONNECT nobody.test:9443 HTTP/1.1\r\nHost: nobody.test:9443\r\n\r\n"
        while time.monotonic() < self.began + seconds:
            if self.process.poll() is not None:
                raise RuntimeError(f"{self.process.args[3]} ended, see {self.log.name}")
            try:
                with socket.create_connection(("127.0.0.1", self.port), 5,
                                              ("127.0.1.1", 0)) as client:
                    client.sendall(ask)
                    client.recv(1)
                    return time.monotonic() - self.began
            except OSError:
                time.sleep(0.001)
        raise RuntimeError(f"{self.process.args[3]} is not ready after {seconds} s")

    def stop(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()
        self.log.close()


def prepare_child():
    """All descriptors that it may have, and no life after that of the runner."""
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard_limit(),) * 2)
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG


def hard_limit():
    return resource.getrlimit(resource.RLIMIT_NOFILE)[1]


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Contender:
    """`target` is what clients ask for: a name where the contender can be given a hosts file."""
    target = f"origin.test:{TLS_PORT}"
    http_target = f"origin.test:{HTTP_PORT}"
    origin_form = False
    has_rules = False
    kinds = ("tunnel", "refuse", "forward")
    version_command = None

    def __init__(self, name, program):
        self.name = name
        self.program = program

    def missing(self):
        return None if shutil.which(str(self.program)) else f"{self.program} is not there"

    def version(self):
        if not self.version_command:
            return ""
        run = subprocess.run([self.program, *self.version_command], capture_output=True, text=True,
                             check=False)
        return (run.stdout or run.stderr).splitlines()[0]

    def start(self, work, setup):
        work.mkdir(parents=True, exist_ok=True)
        port = free_port()
        return Running(self.command(work, port, setup), port, work)

    def command(self, work, port, setup):
        raise NotImplementedError


class Floor(Contender):
    def __init__(self, name, program, *flags):
        super().__init__(name, program)
        self.flags = flags
        self.kinds = ("tunnel",) if flags else (*self.kinds, "hosts")  # variants differ in the relay

    def command(self, work, port, setup):
        mode = {"tunnel": [], "refuse": ["--refuse"], "forward": ["--forward"],
                "hosts": ["--forward"]}[setup.kind]
        origin = HTTP_PORT if setup.kind in ("forward", "hosts") else TLS_PORT
        return [self.program, "--listen", f"127.0.0.1:{port}", "--origin", f"{ORIGIN}:{origin}",
                *mode, *self.flags]


class AsioFloor(Contender):
    """The floor that copies, on Boost.Asio."""
    kinds = ("tunnel",)

    def __init__(self, name, program, *flags):
        super().__init__(name, program)
        self.flags = flags

    def command(self, work, port, setup):
        return [self.program, "--listen", f"127.0.0.1:{port}", "--origin", f"{ORIGIN}:{TLS_PORT}",
                *self.flags]


class Stile(Contender):
    has_rules = True
    kinds = (*Contender.kinds, "hosts")
    version_command = ["--version"]

    def command(self, work, port, setup):
        rules = (f'allow_files = ["{setup.rules}"]' if setup.rules
                 else 'allow = [".anthropic.com", "api.github.com", ".origin.test"]')
        sources = ["127.0.1.0/24"] if setup.one_agent else [
            f"127.0.{1 + n // 256}.{n % 256}" for n in range(1, (setup.agents or AGENTS) + 1)]
        config = stile_config.write(
            work, f"127.0.0.1:{port}", {"origin.test": ORIGIN, **HOSTS},
            [(f"agent-{n}", source, rules) for n, source in enumerate(sources, 1)],
            egress=f"ports = [{TLS_PORT}]\nhttp_ports = [{HTTP_PORT}]",
            limits=stile_config.UNLIMITED)
        return [self.program, "-c", config]


class Squid(Contender):
    """Debian's squid.conf, with an allowlist and the ports of the bench in their places."""
    has_rules = True
    kinds = (*Contender.kinds, "hosts")
    version_command = ["-v"]

    def command(self, work, port, setup):
        os.chmod(work, 0o777)  # started as root it becomes another user
        (work / "hosts").write_text("".join(f"{ORIGIN} {name}\n" for name in ["origin.test", *HOSTS]))
        allowed = f'"{setup.rules}"' if setup.rules else ".anthropic.com api.github.com .origin.test"
        (work / "squid.conf").write_text(f"""\
acl localnet src 127.0.1.0/24
acl SSL_ports port {TLS_PORT}
acl Safe_ports port 80
acl Safe_ports port 21
acl Safe_ports port 443
acl Safe_ports port 70
acl Safe_ports port 210
acl Safe_ports port 1025-65535
acl Safe_ports port 280
acl Safe_ports port 488
acl Safe_ports port 591
acl Safe_ports port 777
acl allowed dstdomain {allowed}
http_access deny !Safe_ports
http_access deny CONNECT !SSL_ports
http_access allow localhost manager
http_access deny manager
http_access allow localnet allowed
http_access deny all
refresh_pattern ^ftp: 1440 20% 10080
refresh_pattern ^gopher: 1440 0% 1440
refresh_pattern -i (/cgi-bin/|\\?) 0 0% 0
refresh_pattern . 0 20% 4320
http_port 127.0.0.1:{port}
hosts_file {work}/hosts
access_log daemon:{work}/access.log squid
cache_log {work}/cache.log
pid_filename {work}/squid.pid
coredump_dir {work}
visible_hostname bench
pinger_enable off
max_filedescriptors {hard_limit()}
""")
        return [self.program, "-N", "-n", f"bench{os.getpid()}", "-f", work / "squid.conf"]


class Tinyproxy(Contender):
    """Has no hosts file of its own, so it is asked for the address and spared the look-up."""
    target = f"{ORIGIN}:{TLS_PORT}"
    http_target = f"{ORIGIN}:{HTTP_PORT}"
    version_command = ["-v"]

    def command(self, work, port, setup):
        (work / "filter").write_text(f"^{ORIGIN}$\n^api.github.com$\n".replace(".", r"\."))
        (work / "tinyproxy.conf").write_text(f"""\
Port {port}
Listen 127.0.0.1
Timeout 600
MaxClients {hard_limit()}
Allow 127.0.1.0/24
ConnectPort {TLS_PORT}
Filter "{work}/filter"
FilterDefaultDeny Yes
LogFile "{work}/tinyproxy.log"
LogLevel Connect
PidFile "{work}/tinyproxy.pid"
""")
        return [self.program, "-d", "-c", work / "tinyproxy.conf"]


def haproxy_config(bind, server):
    return f"""\
global
  nbthread 1
  maxconn 9000
  log stdout format raw local0
defaults
  mode http
  log global
  option httplog
  timeout connect 10s
  timeout client 600s
  timeout server 600s
listen bench
  bind {bind}
  server origin {server}
"""


class Haproxy(Contender):
    """Is no forward proxy; as a reverse one it shows what a good HTTP proxy pays for a GET."""
    origin_form = True
    kinds = ("forward",)
    version_command = ["-v"]

    def command(self, work, port, setup):
        (work / "haproxy.cfg").write_text(haproxy_config(f"127.0.0.1:{port}", f"{ORIGIN}:{HTTP_PORT}"))
        return [self.program, "-db", "-f", work / "haproxy.cfg"]


def all_contenders(build):
    floor = build / "bench/floor"
    return [
        Stile("stile", build / "cmd/stiled"),
        Floor("floor-copy", floor),
        Floor("floor-splice", floor, "--splice"),
        Floor("floor-half-close", floor, "--half-close"),
        AsioFloor("asio-callbacks", build / "bench/asio_floor"),
        AsioFloor("asio-coroutines", build / "bench/asio_floor", "--coroutines"),
        Squid("squid", "/usr/sbin/squid"),
        Tinyproxy("tinyproxy", "/usr/bin/tinyproxy"),
        Haproxy("haproxy", HAPROXY),
    ]
