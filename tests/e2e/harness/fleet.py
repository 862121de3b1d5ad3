"""Fleet: keys, objects and hosts of a fleet: each host is a daemon with its stile-fleet."""

import json
import signal
import subprocess
from pathlib import Path

from .cli import environment, stile
from .config import toml
from .control import Control
from .etcd import free_port
from .stiled import SANITIZER_WORDS, Stiled, binary
from .wait import until


class Host:
    """One host. `fleet`: changes to [fleet]."""

    def __init__(self, folder, name, fleet, addresses=None, ca_file="", **sections):
        self.folder, self.name = Path(folder), name
        self.folder.mkdir(parents=True, exist_ok=True)
        (self.folder / "state").mkdir(exist_ok=True)
        settings = {
            "server": {"workers": 1, "listen": [f"127.0.0.1:{free_port()}"],
                       "metrics": f"127.0.0.1:{free_port()}", "control": str(self.folder / "c.sock"),
                       "control_group": "", "state_dir": str(self.folder / "state")},
            "dns": {"servers": ["127.0.0.1:9"]},
            "limits": {"drain_timeout_ms": 500},
            "audit": {"path": str(self.folder / "audit.jsonl")},
            "agents": {"directories": []},
            "intercept": {"ca": str(self.folder / "ca")},
            "fleet": {"host": name, **fleet},
        }
        for section, changes in sections.items():
            if isinstance(changes, list):
                settings[section] = changes
            else:
                settings.setdefault(section, {}).update(changes)
        self.daemon = Stiled(self.folder, settings, addresses or {}, ca_file)
        self.log = self.folder / "fleet.log"
        self.process = None

    def start(self, daemon=True):
        if daemon:
            self.daemon.start()
        return self.join()

    def join(self):
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(
                [binary("stile-fleet"), "-c", str(self.daemon.config), "--socket", self.socket],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=Stiled._environment())
        return self

    def leave(self, number=signal.SIGTERM):
        """Ends stile-fleet, and judges the way it ended."""
        if self.process is None:
            return
        self.process.send_signal(number)
        assert self.process.wait(20) in (0, -number), self.log_text()
        self.process = None
        text = self.log_text()
        assert not [word for word in SANITIZER_WORDS if word in text], text

    def stop(self):
        try:
            self.leave()
        finally:
            self.daemon.stop()

    @property
    def socket(self):
        return self.daemon.settings["server"]["control"]

    def log_text(self):
        return self.log.read_text(errors="replace") if self.log.exists() else ""

    def ask(self, action, **fields):
        with Control(self.socket) as control:
            return control.do(action, **fields)

    def status(self):
        return self.ask("status")

    def fleet(self):
        """What `status` says of the fleet."""
        return self.status().get("fleet", {})

    def serial(self, name):
        return self.fleet().get("serials", {}).get(name, 0)

    def has(self, name, serial, seconds=20):
        until(lambda: self.serial(name) == serial, seconds, f"serial {serial} of {name} on {self.name}")
        return self

    def refuses(self, name, words, seconds=20):
        def found():
            return [one for one in self.fleet().get("refused", ())
                    if one["name"] == name and words in one["reason"]]
        return until(found, seconds, f"{self.name} refusing {name} for {words!r}: {self.fleet()}")

    def is_connected(self, wanted=True, seconds=20):
        until(lambda: self.fleet().get("connected") is wanted, seconds, f"connected: {wanted}")
        return self

    def agents(self):
        return {agent["id"] for agent in self.ask("agents")["agents"]}

    def verdict(self, agent, host):
        answer = self.ask("explain", agent=agent, host=host, port="443")
        return answer["verdict"] if answer["verdict"] == "allow" else answer["reason"]


class Fleet:
    """The key of the fleet and the person who has it, with hosts that are ended at the end."""

    def __init__(self, folder, cluster, **settings):
        self.folder, self.cluster = Path(folder), cluster
        self.folder.mkdir(parents=True, exist_ok=True)
        self.key = self.folder / "fleet.key"
        made = stile("fleet", "keygen", self.key)
        assert made.code == 0, made
        self.settings = {"endpoints": cluster.endpoints, "ca": cluster.certificates.ca,
                         "signers": [str(self.key) + ".pub"], **settings}
        self.config = self.folder / "operator.toml"
        self.write_config()
        self.hosts = []

    def write_config(self):
        self.config.write_text(toml({"fleet": self.settings}))

    def host(self, name, fleet=None, **options):
        made = Host(self.folder / name, name, {**self.settings, **(fleet or {})}, **options)
        self.hosts.append(made)
        return made

    def stile(self, *arguments, **options):
        return stile("fleet", *arguments, env=environment(STILE_FLEET_KEY=str(self.key)), **options)

    def does(self, *arguments):
        done = self.stile(*arguments)
        assert done.code == 0, (arguments, done)
        return done.out

    def policy(self, text, name="policy.toml"):
        path = self.folder / name
        path.write_text(text)
        return path

    def publish(self, name, text, *flags):
        """Returns the serial."""
        file = self.policy(text, f"{name}.toml")
        return json.loads(self.does("publish", name, file, "-c", self.config, "--json", *flags))["serial"]

    def sign(self, name, text, serial, *flags):
        """The object, without the store."""
        return self.does("sign", name, self.policy(text, f"{name}.toml"), "--serial", serial, *flags)

    def switch(self, mode, *flags):
        return json.loads(self.does(mode, "-c", self.config, "--json", *flags))["serial"]

    def status(self):
        return json.loads(self.does("status", "-c", self.config, "--json"))

    def entry(self, host, applied):
        """What a host writes about itself, once it has applied these serials. It writes that after it is connected and
        after it has a policy; `publish` and `publish --try` read it."""
        def found():
            text = self.cluster.get(f"/stile/hosts/{host}")
            told = json.loads(text) if text else {}
            return told if told.get("applied") == applied else None
        return until(found, 20, f"the entry of {host} with {applied}")

    def close(self):
        problems = []
        for host in self.hosts:
            try:
                host.stop()
            except Exception as problem:  # the others have to be ended all the same
                problems.append(problem)
        if problems:
            raise problems[0]
