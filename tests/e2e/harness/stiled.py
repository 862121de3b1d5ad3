"""Stiled: the real daemon under test, from its config file to its exit status."""

import os
import signal
import subprocess
from contextlib import contextmanager
from pathlib import Path

from . import curl as programs
from .audit import AuditLog
from .client import Client
from .config import toml
from .control import Control
from .hello import hello_for
from .metrics import Metrics, http_get
from .wait import until

REPOSITORY = Path(__file__).resolve().parents[3]
SANITIZER_WORDS = ("AddressSanitizer", "LeakSanitizer", "ThreadSanitizer", "runtime error:")


def build_folder():
    """STILE_BUILD (or STILE_BUILD_DIR), absolute or relative to the repository."""
    chosen = os.environ.get("STILE_BUILD") or os.environ.get("STILE_BUILD_DIR") or "build/dev"
    return REPOSITORY / chosen


def binary(name="stiled"):
    for folder in ("cmd", "bin", "."):
        path = build_folder() / folder / name
        if path.is_file():
            return str(path)
    raise FileNotFoundError(f"no {name} below {build_folder()}: build it, or set STILE_BUILD")


class Stiled:
    """`addresses` maps agents' names to their source addresses."""

    def __init__(self, folder, settings, addresses, ca_file):
        self.folder, self.settings, self.addresses = folder, settings, addresses
        self.ca_file = ca_file
        self.stile_ca = str(Path(settings["intercept"]["ca"]) / "ca.pem")
        self.config = folder / "stile.toml"
        self.log = folder / "stiled.log"
        self.stdout = folder / "stdout.txt"
        self.audit = AuditLog(folder / "audit.jsonl")
        self.metrics_address = settings["server"]["metrics"]
        listen = settings["server"]["listen"]
        self.listen = listen[0] if listen else None
        self.process = None
        self.before = []  # processes that were taken over from
        self.expected_exit = {0}
        self.clients = []

    # Its life.

    def write_config(self):
        text = toml(self.settings)
        fresh = self.config.with_suffix(".new")
        fresh.write_text(text)
        fresh.rename(self.config)

    def start(self, wait=True, wrapper=(), preexec=None, environment=None, pass_fds=()):
        self.write_config()
        self.expected_exit = {0}
        self.process = self._spawn(wrapper, preexec, environment, pass_fds)
        if wait:
            self.wait_ready()
        return self

    def _spawn(self, wrapper=(), preexec=None, environment=None, pass_fds=(), options=()):
        with open(self.log, "ab") as log, open(self.stdout, "ab") as stdout:
            return subprocess.Popen(
                [*wrapper, binary(), "-c", str(self.config), *options], stdin=subprocess.DEVNULL,
                stdout=stdout, stderr=log, cwd=self.folder, preexec_fn=preexec, pass_fds=pass_fds,
                env={**self._environment(), **(environment or {})})

    def taker(self, **options):
        """A second daemon that takes over from this one; the caller looks after it."""
        self.write_config()
        return self._spawn(options=["--take-over"], **options)

    def take_over(self, **options):
        """A new process serves from here on; returns the old one, which drains."""
        taken = self.log_text().count("taken over from")
        fresh, old = self.taker(**options), self.process
        def is_done():
            assert fresh.poll() is None, f"it ended with {fresh.returncode}:\n{self.log_text()}"
            return self.log_text().count("taken over from") > taken
        until(is_done, 20, "the new process to take over")
        self.process = fresh
        self.before.append(old)
        return old

    @staticmethod
    def _environment():
        kept = {key: os.environ[key] for key in ("PATH", "HOME", "LANG") if key in os.environ}
        # Without the small quarantine, freed memory counts as resident and memory tests fail.
        kept["STILE_CAPABILITIES"] = str(REPOSITORY / "capabilities")
        kept["ASAN_OPTIONS"] = ("detect_leaks=1:abort_on_error=0:exitcode=99:"
                                "quarantine_size_mb=1:thread_local_quarantine_size_kb=64")
        kept["UBSAN_OPTIONS"] = "print_stacktrace=1:halt_on_error=1:exitcode=98"
        kept["TSAN_OPTIONS"] = "halt_on_error=0:exitcode=97"
        return kept

    def is_ready(self):
        if self.process.poll() is not None:
            raise AssertionError(f"stiled ended with {self.process.returncode}:\n{self.log_text()}")
        try:
            return http_get(self.metrics_address, "/readyz")[0] == 200
        except OSError:
            return False

    def wait_ready(self):
        until(self.is_ready, 20, "readiness of stiled")

    def signal(self, number):
        self.process.send_signal(number)

    @contextmanager
    def stopped(self):
        """Within this the daemon does nothing; then it finds all that came at once."""
        self.signal(signal.SIGSTOP)
        stat = Path(f"/proc/{self.process.pid}/stat")
        until(lambda: stat.read_text().rsplit(")", 1)[1].split()[0] == "T")
        try:
            yield
        finally:
            self.signal(signal.SIGCONT)

    def kill(self):
        """kill -9, and waits for the end."""
        self.expected_exit = {-signal.SIGKILL}
        self.process.kill()
        self.process.wait(10)

    def wait_exit(self, seconds=15):
        return self.process.wait(seconds)

    def stop(self):
        """SIGTERM, a second one if it drains for long; then judges the way it ended."""
        for client in self.clients:
            client.close()
        self.clients.clear()
        if self.process is None:
            return
        if self.process.poll() is None:
            self.signal(signal.SIGTERM)
            try:
                self.process.wait(3)
            except subprocess.TimeoutExpired:
                self.signal(signal.SIGTERM)
                self._wait_or_kill()
        self.check_end()
        for old in self.before:
            assert old.wait(40) in {0, -signal.SIGKILL}, f"the old process ended with {old.returncode}"

    def _wait_or_kill(self):
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait(10)
            raise AssertionError(f"stiled did not end on SIGTERM:\n{self.log_text()}") from None

    def check_end(self):
        text = self.log_text()
        found = [word for word in SANITIZER_WORDS if word in text]
        assert not found, f"{found} in the log:\n{text}"
        assert self.process.returncode in self.expected_exit, (
            f"exit status {self.process.returncode}:\n{text}")

    def log_text(self):
        return self.log.read_text(errors="replace") if self.log.exists() else ""

    def reload(self):
        """Writes the settings anew and sends SIGHUP; does not wait."""
        self.write_config()
        self.signal(signal.SIGHUP)

    # What it does.

    def client(self, agent="alpha", seconds=15, to=None):
        """A raw connection from the agent's address (or from an address given as such)."""
        host, port = self.listen.rsplit(":", 1)
        target = to or (host.strip("[]"), int(port))
        made = Client(target, self.addresses.get(agent, agent), seconds)
        self.clients.append(made)
        return made

    def connect(self, host, port, agent="alpha", headers=()):
        """The answer to one CONNECT on a fresh connection."""
        with self.client(agent) as client:
            return client.connect_to(host, port, headers)

    def get(self, url, agent="alpha", headers=(), method="GET", body=None):
        with self.client(agent) as client:
            return client.get(url, headers, method, body)

    def tunnel(self, host, port, agent="alpha"):
        """A tunnel that has been answered with 200 and has said nothing yet."""
        client = self.client(agent)
        answer = client.connect_to(host, port)
        assert answer is not None and answer.status == 200, f"{answer}\n{self.audit.tail()}"
        return client

    def open_tunnel(self, host, port, agent="alpha"):
        """A tunnel whose hello has gone through: raw bytes flow from here on."""
        client = self.tunnel(host, port, agent)
        client.hello = hello_for(host)
        return client.send(client.hello)

    def curl(self, *arguments, agent="alpha", **options):
        return programs.curl(self.listen, self.addresses[agent], *arguments, ca_file=self.ca_file,
                             **options)

    def s_client(self, target, *arguments, agent="alpha", **options):
        return programs.s_client(self.listen, self.addresses[agent], target, *arguments, "-CAfile",
                                 self.ca_file, **options)

    # What it tells.

    def metrics(self):
        status, text, _ = http_get(self.metrics_address, "/metrics")
        assert status == 200
        return Metrics(text)

    def control(self, seconds=30):
        """A new connection to the control socket."""
        made = Control(self.settings["server"]["control"], seconds)
        self.clients.append(made)
        return made

    def resident_bytes(self):
        return self._status_bytes("VmRSS")

    def _status_bytes(self, key):
        for line in Path(f"/proc/{self.process.pid}/status").read_text().splitlines():
            if line.startswith(key + ":"):
                return int(line.split()[1]) * 1024
        raise AssertionError(f"no {key}")

    def open_files(self):
        return len(os.listdir(f"/proc/{self.process.pid}/fd"))
