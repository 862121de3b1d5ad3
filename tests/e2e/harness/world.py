"""World: one test's loopback Internet with its origins, names, agents and proxy."""

import shutil
import tempfile
from pathlib import Path

from .dns import DnsServer
from .http_origin import HttpOrigin
from .origin import Blackhole, TcpOrigin, read_to_end
from .site import Site
from .stiled import Stiled
from .tls_origin import TlsOrigin


class World:
    """Origins made here get a name in DNS and a private exception, unless told otherwise.

    All TLS and raw origins listen on `port`, all HTTP origins on `http_port`, each on an address of
    its own; both ports are allowed by [egress].
    """

    def __init__(self, folder, certificates):
        self.folder, self.certificates = folder, certificates
        self.site = Site()
        self.port, self.http_port = self.site.port, self.site.http_port
        self.dns = DnsServer(self.site.address(2), self.site.dns_port)
        self.exceptions = []
        self.agents = []
        self.secrets = []
        self.scans = []
        self.addresses = {"stranger": self.site.stranger}
        self.proxies = []
        self._closing = []
        self._short_folder = None

    # Places.

    def short_path(self, name):
        """A path that fits into a unix socket's address."""
        if not self._short_folder:
            self._short_folder = tempfile.mkdtemp(prefix="stile-")
        return f"{self._short_folder}/{name}"

    def write(self, name, text):
        path = Path(self.folder) / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def _admit(self, origin, name, opened, ttl):
        self._closing.append(origin)
        if name:
            self.dns.host(name, origin.address, ttl=ttl)
        if opened:
            self.open_address(origin.address)
        return origin

    def open_address(self, address):
        prefix = f"{address}/{128 if ':' in address else 32}"
        if prefix not in self.exceptions:
            self.exceptions.append(prefix)

    def new_address(self):
        return self.site.new_origin_address()

    def tcp_origin(self, name=None, handler=read_to_end, address=None, port=None, opened=True,
                   ttl=60):
        origin = TcpOrigin(address or self.new_address(), port or self.port, handler)
        return self._admit(origin, name, opened, ttl)

    def tls_origin(self, name=None, address=None, port=None, opened=True, ttl=60, **options):
        origin = TlsOrigin(address or self.new_address(), port or self.port, self.certificates,
                           **options)
        return self._admit(origin, name, opened, ttl)

    def http_origin(self, name=None, address=None, port=None, opened=True, ttl=60, **options):
        origin = HttpOrigin(address or self.new_address(), port or self.http_port, **options)
        return self._admit(origin, name, opened, ttl)

    def blackhole(self, port=None):
        hole = Blackhole(self.new_address(), port or self.port)
        self._closing.append(hole)
        self.open_address(hole.address)
        return hole

    def dead_address(self):
        """An address that refuses connections."""
        address = self.new_address()
        self.open_address(address)
        return address

    # Agents and the daemon.

    def agent(self, name="alpha", source=None, **entry):
        """An agent with one address of its own; a key of [[agent]] as keyword."""
        if source is None:
            self.addresses[name] = self.site.new_agent_address()
            source = [self.addresses[name]]
        made = {"id": name, "source": source, **entry}
        self.agents.append(made)
        return made

    def secret(self, name, value, hosts, **entry):
        """A [[secret]] in a file."""
        path = self.write(f"secret-{name}", value + "\n")
        path.chmod(0o600)
        made = {"name": name, "file": str(path), "hosts": hosts, **entry}
        self.secrets.append(made)
        return made

    def settings(self, **sections):
        base = {
            "server": {
                "workers": 1,
                "listen": [f"{self.site.address(1)}:{self.site.proxy_port}"],
                "metrics": f"{self.site.address(1)}:{self.site.metrics_port}",
                "control": self.short_path("control.sock"), "control_group": "",
                "state_dir": str(Path(self.folder) / "state"),
            },
            "egress": {"ports": [self.port], "http_ports": [self.http_port],
                       "private_exceptions": list(self.exceptions)},
            "dns": {"servers": [f"{self.dns.address}:{self.dns.port}"],
                    "hosts_file": str(self.write("hosts", ""))},
            "limits": {"drain_timeout_ms": 500},
            "audit": {"path": str(Path(self.folder) / "audit.jsonl")},
            "agents": {"directories": []},
            "intercept": {"ca": str(Path(self.folder) / "ca"),
                          "trust": [self.certificates.ca_file]},
        }
        for section, changes in sections.items():
            base.setdefault(section, {}).update(changes)
        if self.secrets:
            base["secret"] = self.secrets
        if self.scans:
            base["scan"] = self.scans
        base["agent"] = self.agents
        return base

    def proxy(self, **sections):
        """The daemon, not yet started; keywords are changes to sections of the config."""
        (Path(self.folder) / "state").mkdir(exist_ok=True)
        made = Stiled(Path(self.folder), self.settings(**sections), self.addresses,
                      self.certificates.ca_file)
        self.proxies.append(made)
        return made

    def start(self, **sections):
        return self.proxy(**sections).start()

    # The end.

    def close(self):
        """Ends everything, then raises the first thing that was wrong."""
        problems = []
        for proxy in self.proxies:
            self._try(problems, proxy.stop)
        for part in self._closing:
            self._try(problems, part.close)
        self.dns.close()
        self.site.close()
        if self._short_folder:
            shutil.rmtree(self._short_folder)
        for proxy in self.proxies:
            if proxy.settings["audit"].get("format", "json") == "json":
                chained = proxy.settings["audit"].get("chain", True)
                self._try(problems, lambda: proxy.audit.verify(chained))
        if problems:
            raise problems[0]

    @staticmethod
    def _try(problems, action):
        try:
            action()
        except Exception as error:  # the other parts have to be ended all the same
            problems.append(error)
