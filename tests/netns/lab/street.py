"""Agents, the real daemon on the gateway, and an Internet with origins and names."""

import json
import signal
import subprocess
import tempfile
from pathlib import Path

from harness.certs import Certificates
from lab.host import BUILD, PATIENCE_SECONDS, PYTHON, Host, Namespace, wait_until
from lab.world import connect

INTERNET = Path(__file__).parent / "internet.py"
ORIGIN, NAMES = "93.184.215.14", "9.9.9.9"  # ours: these namespaces have no way to the real ones
PROXY = "http://10.200.0.1:3128"
CA_FILE = "/etc/origins.pem"  # where agents can read it

CONFIG = f"""
[server]
listen = ["10.200.0.1:3128"]
workers = 1
control_group = ""
[egress]
http_ports = [80]
[dns]
servers = ["{NAMES}"]
[audit]
path = "/var/log/stile/audit.jsonl"
[agents]
directories = ["/run/stile/agents.d"]
"""


PROXY_ONLY = CONFIG + "[netns]\ncapture = false\n"


class Street:
    def __init__(self, config=CONFIG):
        self.folder = tempfile.TemporaryDirectory(prefix="street-", dir=BUILD)
        self.log = Path(self.folder.name) / "internet.log"
        self.certificates = Certificates(Path(self.folder.name))
        self.host = Host()
        self.outside = Namespace(["--net"], "ip link set lo up; echo ready; exec setpriv --pdeathsig KILL sleep infinity")
        connect(self.host, self.outside)
        for address in (ORIGIN, NAMES):
            self.outside.run("ip", "addr", "add", f"{address}/32", "dev", "lo")
        self.internet = self.outside.popen(PYTHON, INTERNET, self.log, self.certificates.chain_file,
                                           self.certificates.key_file, ORIGIN, NAMES, stdin=-1, stdout=-1, text=True)
        assert self.internet.stdout.readline() == "ready\n"
        self.host.write("/etc/stile/stile.toml", config)
        self.host.write(CA_FILE, Path(self.certificates.ca_file).read_text())
        self.host.run("mkdir", "-p", "/var/log/stile", "/var/lib/stile", "/run/stile")
        self.daemon = None

    def _spawn_daemon(self, *command):
        with open(Path(self.folder.name) / "stiled.log", "a") as log:
            return self.host.popen(*command, stderr=log, stdout=log)

    def take_over(self):
        """Another process serves from here on; returns the one before it."""
        log, old = Path(self.folder.name) / "stiled.log", self.daemon
        before = log.read_text().count("taken over from")
        self.daemon = self._spawn_daemon(BUILD / "cmd" / "stiled", "--take-over")
        wait_until(lambda: log.read_text().count("taken over from") > before, "another process serves")
        return old

    def start_daemon(self, wrapper=()):
        self.daemon = self._spawn_daemon(*wrapper, BUILD / "cmd" / "stiled")
        wait_until(lambda: self.curl_host("http://127.0.0.1:9128/readyz").returncode == 0, "the daemon ready")

    def kill_daemon(self):
        self.daemon.kill()
        self.daemon.wait()

    def curl_host(self, url):
        return self.host.run("curl", "-fsS", "--noproxy", "*", url, check=False)

    def create(self, agent, *arguments, warning=""):
        """Returns when the daemon knows the agent; a warning other than the expected one fails."""
        done = self.host.tool("create", agent, *arguments, "--json")
        assert warning in done.stderr and bool(warning) == bool(done.stderr), done.stderr
        return json.loads(done.stdout)

    def delete(self, agent, *arguments):
        done = self.host.tool("delete", agent, *arguments)
        assert done.stderr == ""

    def curl_command(self, *arguments):
        return ["curl", "-sS", "--max-time", str(PATIENCE_SECONDS), "--cacert", CA_FILE,
                "-w", "%{http_code} %{http_connect}", "-o", "/dev/null", *arguments]

    def curl(self, agent, *arguments):
        """As the agent, through `exec`: status of the answer and of the CONNECT, as the program saw them."""
        done = self.host.tool("exec", agent, "--", *self.curl_command(*arguments), check=False)
        return done.returncode, done.stdout

    def events(self, *kinds):
        """What reached the Internet: `dns`, `request`, `closed`."""
        events = [json.loads(line) for line in self.log.read_text().splitlines()]
        return [event for event in events if event["kind"] in kinds]

    def audit(self):
        return [json.loads(line) for line in self.host.read("/var/log/stile/audit.jsonl").splitlines()]

    def close(self):
        if self.daemon is not None and self.daemon.poll() is None:
            self.daemon.send_signal(signal.SIGTERM)
            self.daemon.send_signal(signal.SIGTERM)
            try:
                self.daemon.wait(timeout=PATIENCE_SECONDS)
            except subprocess.TimeoutExpired:
                self.daemon.kill()
        self.outside.close()
        self.host.close()
        self.folder.cleanup()
