"""Case: one client with one set of options, and what it does to an allowed and to a refused host."""

import os
import re
import shutil
import subprocess
from dataclasses import dataclass

from .place import ALLOWED

WORKS = "works"
PATH = "/usr/local/bin:/usr/bin:/bin:/usr/sbin"
CA_VARIABLES = ("SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "NODE_EXTRA_CA_CERTS", "PERL_LWP_SSL_CA_FILE")
STATUS = re.compile(r"\b403\b")  # not a part of a port or of a hash


@dataclass
class Outcome:
    is_fine: bool  # the client said so, and had what it asked for
    text: str  # everything it printed


@dataclass
class Case:
    client: str
    what: str
    command: object  # (place, host) -> the command line
    expected: str = WORKS  # for the allowed host; else the reason of its refusal
    program: str = None  # what has to be installed; else the first word of the command
    version: tuple = ("--version",)
    wanted: str = "stile-ok"  # stands in the output of a client that succeeded
    refusable: bool = True  # whether asking for a refused host tells anything more
    data: bytes = b""
    host: str = ALLOWED
    # (place, host) -> the command line without a proxy; None: it is about the proxy itself.
    direct: object = None

    @property
    def name(self):
        return f"{self.client}: {self.what}"

    def run(self, place, host):
        command = [str(part) for part in self.command(place, host)]
        done = subprocess.run(command, input=self.data, capture_output=True, timeout=50,
                              check=False, env=environment(place), cwd=place.folder)
        text = (done.stdout + b"\n" + done.stderr).decode("latin-1")
        return Outcome(done.returncode == 0 and self.wanted in text, text)

    def run_captured(self, captured):
        """Without a proxy; with the audit lines of that host."""
        command = [str(part) for part in self.direct(captured, self.host)]
        code, text, lines = captured.run(command, self.data)
        return Outcome(code == 0 and self.wanted in text, text), [line for line in lines if line["host"] == self.host]

    def is_installed(self):
        return shutil.which(self.program, path=PATH) is not None

    def version_text(self):
        """The first thing that looks like a version."""
        done = subprocess.run([self.program, *self.version], capture_output=True, check=False,
                              env=environment(None), timeout=30)
        found = re.search(r"\d+\.\d+(\.\d+)*", (done.stdout + done.stderr).decode("latin-1"))
        return found.group() if found else "?"


def environment(place):
    """What an agent finds in its environment, and nothing of whoever runs the tests."""
    found = {"PATH": PATH, "LC_ALL": "C", "HOME": "/nonexistent"}
    if place:
        found["HOME"] = str(place.folder)
        for name in ("http_proxy", "https_proxy", "HTTPS_PROXY"):
            found[name] = place.proxy_url
        for name in CA_VARIABLES:
            found[name] = place.ca_file
    return found


def seen(text, place):
    """The line of a client's output that tells of the refusal, without what differs between runs."""
    lines = [line.strip() for line in re.split(r"[\r\n]+", text) if line.strip()]
    best = ([line for line in lines if "host-not-allowed" in line]
            or [line for line in lines if STATUS.search(line)] or lines[-1:] or ["nothing"])[0]
    for old, new in ((place.proxy.listen, "PROXY"), (str(place.folder), "…"),
                     (str(place.port), "PORT"), (str(place.http_port), "PORT"),
                     (place.proxy.listen.split(":")[0], "PROXY"),
                     (place.proxy.listen.split(":")[1], "PORT")):
        best = best.replace(old, new)
    best = re.sub(r"[0-9A-Fa-f]{12,}|\d{4}-\d\d-\d\d\S*( \d\d:\d\d:\d\d[.\d]*)?", "…", best)
    best = re.sub(r"[^ -~…]", "?", best)
    return (best if len(best) <= 100 else best[:99] + "…").replace("|", "/").replace("`", "'")


def how_told(text):
    """How much of the reason got through the client to its user."""
    if "host-not-allowed" in text:
        return "the reason"
    return "403" if STATUS.search(text) else "no"
